/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The device on Vulkan: its table, and how contexts on it come and go. */
#include "device.h"

#include "batch.h"
#include "cache_path.h"
#include "instance.h"
#include "loader.h"
#include "open.h"
#include "table.h"

#include "core/tuning_file.h"
#include "vulkan/share/rental.h"

#include <stdio.h>
#include <stdlib.h>

/* Memory that may go to others is made by those who rent it out. */
static enum tdl_result create_buffer(struct tdl_context *ctx, const struct tdl_buffer_wish *wish,
                                     struct tdl_buffer **out_buffer)
{
    return (wish->exportable ? tdl_rentable_create : tdl_vk_buffer_create)(ctx, wish, out_buffer);
}

/* Kernels have packs and pictures in the later dimensions of their workgroups. */
static void context_limits(const struct tdl_context *ctx, struct tdl_limits *limits)
{
    const uint32_t *groups = tdl_vk(ctx)->properties.limits.maxComputeWorkGroupCount;
    limits->max_planes = TDL_MIN(groups[1], groups[2]);
    limits->max_batch_graphs = TDL_BATCH_GRAPHS;
}

static const struct tdl_device tdl_device_vulkan = {
    .name = "vulkan",
    .wants_steps = true,
    .context_create = tdl_vulkan_context_create,
    .context_destroy = tdl_vk_context_destroy,
    .context_wait = tdl_vk_context_wait,
    .context_last_point = tdl_vk_context_last_point,
    .context_passed = tdl_vk_context_passed,
    .context_collect = tdl_vk_context_collect,
    .context_save_cache = tdl_vk_context_save_cache,
    .context_cache_path = tdl_cache_path,
    .context_limits = context_limits,
    .buffer_create = create_buffer,
    .buffer_import_host = tdl_vk_buffer_import_host,
    .buffer_destroy = tdl_vk_buffer_destroy,
    .buffer_point = tdl_vk_buffer_point,
    .buffer_wait = tdl_vk_buffer_wait,
    .buffer_is_local = tdl_vk_buffer_is_local,
    .batch_create = tdl_vk_batch_create,
    .batch_destroy = tdl_vk_batch_destroy,
    .batch_set_queue = tdl_vk_batch_set_queue,
    .batch_begin = tdl_vk_batch_begin,
    .batch_cancel = tdl_vk_batch_cancel,
    .batch_submit = tdl_vk_batch_submit,
    .batch_stage = tdl_vk_batch_stage,
    .batch_stage_times = tdl_vk_batch_stage_times,
    .batch_point = tdl_vk_batch_point,
    .batch_free = tdl_vk_batch_free,
    .batch_copy = tdl_vk_batch_copy,
    .batch_fill_zero = tdl_vk_batch_fill_zero,
    .program_create = tdl_vk_program_create,
    .program_compile = tdl_vk_program_compile,
    .program_destroy = tdl_vk_program_destroy,
    .program_run = tdl_vk_program_run,
    .program_profile = tdl_vk_program_profile,
    .frame_to_tensor = tdl_vk_frame_to_tensor,
    .frame_to_tensor_prepare = tdl_vk_frame_to_tensor_prepare,
    .frame_from_tensor = tdl_vk_frame_from_tensor,
    .frame_from_tensor_prepare = tdl_vk_frame_from_tensor_prepare,
    .composer_mask = tdl_vk_composer_mask,
    .composer_blur = tdl_vk_composer_blur,
    .composer_prepare = tdl_vk_composer_prepare,
    .compose = tdl_vk_compose,
};

/* ------------------------------------------------------------- creation */

static VKAPI_ATTR VkBool32 VKAPI_CALL on_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                                 VkDebugUtilsMessageTypeFlagsEXT types,
                                                 const VkDebugUtilsMessengerCallbackDataEXT *data,
                                                 void *user)
{
    struct tdl_context *ctx = user;
    (void)severity;
    (void)types;
    atomic_fetch_add(&ctx->stats.validation_errors, 1);
    if (ctx->log)
        tdl_log(ctx, TDL_LOG_ERROR, "validation: %s", data->pMessage);
    else
        fprintf(stderr, "tdl validation: %s\n", data->pMessage);
    return VK_FALSE;
}

static enum tdl_result create_messenger(struct tdl_context *ctx)
{
    PFN_vkCreateDebugUtilsMessengerEXT create =
        (PFN_vkCreateDebugUtilsMessengerEXT)vkGetInstanceProcAddr(tdl_vk(ctx)->instance,
                                                                  "vkCreateDebugUtilsMessengerEXT");
    if (!create)
        return TDL_OK;
    return VK(ctx, create(tdl_vk(ctx)->instance,
                          &(VkDebugUtilsMessengerCreateInfoEXT){
                              .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
                              .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT |
                                                 VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT,
                              .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT,
                              .pfnUserCallback = on_message,
                              .pUserData = ctx,
                          },
                          NULL, &tdl_vk(ctx)->messenger));
}

static void query_limits(struct tdl_context *ctx)
{
    VkPhysicalDeviceExternalMemoryHostPropertiesEXT host = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT};
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
        .pNext = ctx->info.external_memory_host ? &host : NULL};
    vkGetPhysicalDeviceProperties2(tdl_vk(ctx)->physical, &properties);
    tdl_vk(ctx)->properties = properties.properties;
    tdl_vk(ctx)->host_pointer_alignment = host.minImportedHostPointerAlignment;
    vkGetPhysicalDeviceMemoryProperties(tdl_vk(ctx)->physical, &tdl_vk(ctx)->memory_properties);
}

/* A command buffer with nothing but a barrier, put in front of a submission
 * that depends on earlier ones. */
static enum tdl_result record_barrier(struct tdl_context *ctx)
{
    enum tdl_result r;
    TRY(VK(ctx, vkCreateCommandPool(tdl_vk(ctx)->device,
                                    &(VkCommandPoolCreateInfo){
                                        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                        .queueFamilyIndex = tdl_vk(ctx)->queue_family,
                                    },
                                    NULL, &tdl_vk(ctx)->barrier_pool)));
    TRY(VK(ctx,
           vkAllocateCommandBuffers(tdl_vk(ctx)->device,
                                    &(VkCommandBufferAllocateInfo){
                                        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                        .commandPool = tdl_vk(ctx)->barrier_pool,
                                        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                        .commandBufferCount = 1,
                                    },
                                    &tdl_vk(ctx)->barrier_commands)));
    TRY(VK(ctx, vkBeginCommandBuffer(tdl_vk(ctx)->barrier_commands,
                                     &(VkCommandBufferBeginInfo){
                                         .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                         .flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT,
                                     })));
    vkCmdPipelineBarrier(
        tdl_vk(ctx)->barrier_commands,
        VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT,
        VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 1,
        &(VkMemoryBarrier){
            .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
            .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
            .dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT |
                             VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
        },
        0, NULL, 0, NULL);
    TRY(VK(ctx, vkEndCommandBuffer(tdl_vk(ctx)->barrier_commands)));
    return TDL_OK;
fail:
    return r;
}

static bool env_is_on(const char *name)
{
    const char *value = getenv(name);
    return value && *value && strcmp(value, "0") != 0;
}

static struct tdl_context *context_new(const struct tdl_context_params *params)
{
    struct tdl_vk_context *vk = calloc(1, sizeof(*vk));
    if (!vk) {
        tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while creating a context");
        return NULL;
    }
    tdl_context_init(&vk->base, &tdl_device_vulkan, params);
    pthread_mutex_init(&vk->lock, NULL);
    pthread_cond_init(&vk->returned, NULL);
    pthread_mutex_init(&vk->queue_lock, NULL);
    tdl_stale_init(&vk->stale);
    for (uint32_t i = 0; i < TDL_MAX_QUEUES; i++)
        tdl_waiters_init(&vk->queues[i].waiters);
    pthread_mutex_init(&vk->pipeline_lock, NULL);
    pthread_mutex_init(&vk->compile_turn, NULL);
    return &vk->base;
}

/* Create the objects that a context has on its device, whoever made the device. */
static enum tdl_result create_objects(struct tdl_context *ctx)
{
    enum tdl_result r;
    query_limits(ctx);
    TRY(tdl_queues_init(ctx));
    TRY(record_barrier(ctx));
    TRY(tdl_pipelines_init(ctx));
    tdl_tuning_load(ctx, &ctx->tuning);
    tdl_log(ctx, TDL_LOG_INFO, "device: %s (%s)%s", ctx->info.name, ctx->info.driver,
            tdl_vk(ctx)->setup.borrowed ? ", from outside" : "");
fail:
    return r;
}

enum tdl_result tdl_vulkan_context_create(const struct tdl_context_params *params,
                                          struct tdl_context **out_context)
{
    enum tdl_result r;
    *out_context = NULL;
    struct tdl_context *ctx = context_new(params);
    if (!ctx)
        return TDL_ERROR_OUT_OF_MEMORY;

    bool wanted = params->validation || env_is_on("TDL_VALIDATION"), validation;
    TRY(tdl_instance_create(wanted, &tdl_vk(ctx)->instance, &validation));
    if (wanted && !validation)
        tdl_log(ctx, TDL_LOG_WARNING,
                "validation was asked for, but VK_LAYER_KHRONOS_validation is not installed "
                "(on Debian: vulkan-validationlayers)");
    if (validation) {
        TRY(create_messenger(ctx));
        tdl_vk(ctx)->fn.set_object_name = (PFN_vkSetDebugUtilsObjectNameEXT)vkGetInstanceProcAddr(
            tdl_vk(ctx)->instance, "vkSetDebugUtilsObjectNameEXT");
    }
    TRY(tdl_device_select(tdl_vk(ctx)->instance, params->device, &tdl_vk(ctx)->physical,
                          &ctx->info));
    TRY(tdl_setup_create_device(ctx, params->max_queues));
    TRY(create_objects(ctx));
    *out_context = ctx;
    return TDL_OK;
fail:
    tdl_vk_context_destroy(ctx);
    if (r == TDL_ERROR_NO_DEVICE)
        tdl_instance_unload();
    return r;
}

enum tdl_result tdl_context_create_from_vulkan(const struct tdl_context_params *params,
                                               const struct tdl_vulkan_device *device,
                                               struct tdl_context **out_context)
{
    TDL_NEED_KNOWN(device);
    TDL_NEED_KNOWN(params);
    TDL_NEED(device, "device");
    TDL_NEED(out_context, "out_context");
    static const struct tdl_context_params defaults;
    enum tdl_result r;
    *out_context = NULL;
    if (params && (unsigned)params->log_level > TDL_LOG_TRACE)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "tdl_context_params.log_level: there is no level %d; the last is %d",
                        params->log_level, TDL_LOG_TRACE);
    struct tdl_context *ctx = context_new(params ? params : &defaults);
    if (!ctx)
        return TDL_ERROR_OUT_OF_MEMORY;
    TRY(tdl_setup_adopt_device(ctx, device));
    TRY(create_objects(ctx));
    *out_context = ctx;
    return TDL_OK;
fail:
    tdl_vk_context_destroy(ctx);
    return r;
}

/* ----------------------------------------------------------- destruction */

void tdl_vk_context_destroy(struct tdl_context *ctx)
{
    if (tdl_vk(ctx)->device) {
        tdl_context_wait_idle(ctx);
        tdl_context_free_deferred(ctx);
        tdl_kept_batches_finish(ctx);
        if (!atomic_load(&ctx->lost))
            tdl_vk_context_save_cache(ctx);
        tdl_pipelines_finish(ctx);
        vkDestroyCommandPool(tdl_vk(ctx)->device, tdl_vk(ctx)->barrier_pool, NULL);
        tdl_queues_finish(ctx);
        if (!tdl_vk(ctx)->setup.borrowed) {
            tdl_loader_lock();
            vkDestroyDevice(tdl_vk(ctx)->device, NULL);
            tdl_loader_unlock();
        }
    }
    if (tdl_vk(ctx)->messenger) {
        PFN_vkDestroyDebugUtilsMessengerEXT destroy =
            (PFN_vkDestroyDebugUtilsMessengerEXT)vkGetInstanceProcAddr(
                tdl_vk(ctx)->instance, "vkDestroyDebugUtilsMessengerEXT");
        destroy(tdl_vk(ctx)->instance, tdl_vk(ctx)->messenger, NULL);
    }
    if (!tdl_vk(ctx)->setup.borrowed)
        tdl_instance_destroy(tdl_vk(ctx)->instance);
    tdl_setup_finish(&tdl_vk(ctx)->setup);
    pthread_cond_destroy(&tdl_vk(ctx)->returned);
    pthread_mutex_destroy(&tdl_vk(ctx)->lock);
    pthread_mutex_destroy(&tdl_vk(ctx)->queue_lock);
    tdl_stale_finish(&tdl_vk(ctx)->stale);
    for (uint32_t i = 0; i < TDL_MAX_QUEUES; i++)
        tdl_waiters_finish(&tdl_vk(ctx)->queues[i].waiters);
    pthread_mutex_destroy(&tdl_vk(ctx)->pipeline_lock);
    pthread_mutex_destroy(&tdl_vk(ctx)->compile_turn);
    tdl_context_finish(ctx);
    free(ctx);
}

/* --------------------------------------------------------------- interop */

/* For those who were given our device: their lock is ours. */
static void lock_for_others(void *data)
{
    tdl_context_lock_queue(data);
}

static void unlock_for_others(void *data)
{
    tdl_context_unlock_queue(data);
}

void tdl_context_get_vulkan(struct tdl_context *ctx, struct tdl_vulkan_device *out)
{
    if (out)
        *out = (struct tdl_vulkan_device){.instance = VK_NULL_HANDLE};
    if (!out || !ctx || ctx->on != &tdl_device_vulkan)
        return;
    *out = (struct tdl_vulkan_device){
        .instance = tdl_vk(ctx)->instance,
        .physical_device = tdl_vk(ctx)->physical,
        .device = tdl_vk(ctx)->device,
        .queue = tdl_vk(ctx)->queues[0].handle,
        .queue_family = tdl_vk(ctx)->queue_family,
        .instance_version = tdl_vk(ctx)->setup.instance_version,
        .extensions = tdl_vk(ctx)->setup.extensions,
        .extension_count = tdl_vk(ctx)->setup.extension_count,
        .features = &tdl_vk(ctx)->setup.features,
        .lock_queue = lock_for_others,
        .unlock_queue = unlock_for_others,
        .lock_data = ctx,
    };
}
