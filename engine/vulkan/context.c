/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "context.h"

#include "batch.h"
#include "device.h"
#include "tuning_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tdl_deferred {
    struct tdl_deferred *next;
    uint64_t point;
    tdl_free_fn free_fn;
    void *data;
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
    PFN_vkCreateDebugUtilsMessengerEXT create = (PFN_vkCreateDebugUtilsMessengerEXT)
        vkGetInstanceProcAddr(ctx->instance, "vkCreateDebugUtilsMessengerEXT");
    if (!create)
        return TDL_OK;
    return VK(ctx, create(ctx->instance,
                          &(VkDebugUtilsMessengerCreateInfoEXT){
                              .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
                              .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT |
                                                 VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT,
                              .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT,
                              .pfnUserCallback = on_message,
                              .pUserData = ctx,
                          },
                          NULL, &ctx->messenger));
}

static void query_limits(struct tdl_context *ctx)
{
    VkPhysicalDeviceExternalMemoryHostPropertiesEXT host = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT};
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
        .pNext = ctx->info.external_memory_host ? &host : NULL};
    vkGetPhysicalDeviceProperties2(ctx->physical, &properties);
    ctx->properties = properties.properties;
    ctx->host_pointer_alignment = host.minImportedHostPointerAlignment;
    vkGetPhysicalDeviceMemoryProperties(ctx->physical, &ctx->memory_properties);
}

/* A command buffer with nothing but a barrier, put in front of a submission
 * that depends on earlier ones. */
static enum tdl_result record_barrier(struct tdl_context *ctx)
{
    enum tdl_result r;
    TRY(VK(ctx, vkCreateCommandPool(ctx->device,
                                    &(VkCommandPoolCreateInfo){
                                        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                        .queueFamilyIndex = ctx->queue_family,
                                    },
                                    NULL, &ctx->barrier_pool)));
    TRY(VK(ctx, vkAllocateCommandBuffers(ctx->device,
                                         &(VkCommandBufferAllocateInfo){
                                             .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                             .commandPool = ctx->barrier_pool,
                                             .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                             .commandBufferCount = 1,
                                         },
                                         &ctx->barrier_commands)));
    TRY(VK(ctx, vkBeginCommandBuffer(ctx->barrier_commands,
                                     &(VkCommandBufferBeginInfo){
                                         .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                         .flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT,
                                     })));
    vkCmdPipelineBarrier(
        ctx->barrier_commands,
        VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT,
        VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 1,
        &(VkMemoryBarrier){
            .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
            .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
            .dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT |
                             VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
        },
        0, NULL, 0, NULL);
    TRY(VK(ctx, vkEndCommandBuffer(ctx->barrier_commands)));
    return TDL_OK;
fail:
    return r;
}

static enum tdl_result create_timeline(struct tdl_context *ctx)
{
    return VK(ctx, vkCreateSemaphore(
                       ctx->device,
                       &(VkSemaphoreCreateInfo){
                           .sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                           .pNext =
                               &(VkSemaphoreTypeCreateInfo){
                                   .sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                   .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
                               },
                       },
                       NULL, &ctx->timeline));
}

/* The folder that the pipeline cache lives in, or NULL for none. */
static char *find_cache_dir(const char *wanted)
{
    const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    char path[1024];
    int length;
    if (wanted)
        return *wanted ? strdup(wanted) : NULL;
    if (base && *base)
        length = snprintf(path, sizeof(path), "%s/tdl", base);
    else if (home && *home)
        length = snprintf(path, sizeof(path), "%s/.cache/tdl", home);
    else
        return NULL;
    return length < (int)sizeof(path) ? strdup(path) : NULL;
}

static bool env_is_on(const char *name)
{
    const char *value = getenv(name);
    return value && *value && strcmp(value, "0") != 0;
}

static void context_free(struct tdl_context *ctx);

static struct tdl_context *context_new(const struct tdl_context_params *params)
{
    struct tdl_context *ctx = calloc(1, sizeof(*ctx));
    if (!ctx) {
        tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while creating a context");
        return NULL;
    }
    atomic_init(&ctx->refs, 1);
    pthread_mutex_init(&ctx->lock, NULL);
    pthread_mutex_init(&ctx->queue_lock, NULL);
    pthread_mutex_init(&ctx->pipeline_lock, NULL);
    ctx->log = params->log;
    ctx->log_data = params->log_data;
    ctx->log_level = params->log_level ? params->log_level : TDL_LOG_WARNING;
    ctx->cache_dir = find_cache_dir(params->cache_dir);
    return ctx;
}

/* What every context has on its device, whoever made that. */
static enum tdl_result create_objects(struct tdl_context *ctx)
{
    enum tdl_result r;
    query_limits(ctx);
    TRY(create_timeline(ctx));
    TRY(record_barrier(ctx));
    TRY(tdl_pipelines_init(ctx));
    TRY(tdl_context_init_tuning(ctx));
    tdl_context_name(ctx, VK_OBJECT_TYPE_SEMAPHORE, (uint64_t)(uintptr_t)ctx->timeline, "timeline");
    tdl_log(ctx, TDL_LOG_INFO, "device: %s (%s)%s", ctx->info.name, ctx->info.driver,
            ctx->setup.borrowed ? ", from outside" : "");
fail:
    return r;
}

enum tdl_result tdl_context_create(const struct tdl_context_params *params,
                                   struct tdl_context **out_context)
{
    static const struct tdl_context_params defaults;
    enum tdl_result r;
    *out_context = NULL;
    if (!params)
        params = &defaults;
    struct tdl_context *ctx = context_new(params);
    if (!ctx)
        return TDL_ERROR_OUT_OF_MEMORY;

    bool wanted = params->validation || env_is_on("TDL_VALIDATION"), validation;
    TRY(tdl_instance_create(wanted, &ctx->instance, &validation));
    if (wanted && !validation)
        tdl_log(ctx, TDL_LOG_WARNING,
                "validation was asked for, but VK_LAYER_KHRONOS_validation is not installed "
                "(on Debian: vulkan-validationlayers)");
    if (validation) {
        TRY(create_messenger(ctx));
        ctx->fn.set_object_name = (PFN_vkSetDebugUtilsObjectNameEXT)vkGetInstanceProcAddr(
            ctx->instance, "vkSetDebugUtilsObjectNameEXT");
    }
    TRY(tdl_device_select(ctx->instance, params->device, &ctx->physical, &ctx->info));
    ctx->queue_family = tdl_device_queue_family(ctx->physical, &ctx->timestamp_bits);
    TRY(tdl_setup_create_device(ctx));
    TRY(create_objects(ctx));
    *out_context = ctx;
    return TDL_OK;
fail:
    context_free(ctx);
    return r;
}

enum tdl_result tdl_context_create_from_vulkan(const struct tdl_context_params *params,
                                               const struct tdl_vulkan_device *device,
                                               struct tdl_context **out_context)
{
    static const struct tdl_context_params defaults;
    enum tdl_result r;
    *out_context = NULL;
    if (!device)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "no Vulkan device was given");
    struct tdl_context *ctx = context_new(params ? params : &defaults);
    if (!ctx)
        return TDL_ERROR_OUT_OF_MEMORY;
    TRY(tdl_setup_adopt_device(ctx, device));
    TRY(create_objects(ctx));
    *out_context = ctx;
    return TDL_OK;
fail:
    context_free(ctx);
    return r;
}

/* ----------------------------------------------------------- destruction */

/* A borrowed device may be busy with what is none of ours. */
static void wait_idle(struct tdl_context *ctx)
{
    if (ctx->setup.borrowed) {
        if (ctx->timeline && ctx->last_point)
            ctx->fn.wait_semaphores(
                ctx->device,
                &(VkSemaphoreWaitInfo){.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                       .semaphoreCount = 1,
                                       .pSemaphores = &ctx->timeline,
                                       .pValues = &ctx->last_point},
                UINT64_MAX);
        return;
    }
    pthread_mutex_lock(&ctx->queue_lock);
    vkDeviceWaitIdle(ctx->device);
    pthread_mutex_unlock(&ctx->queue_lock);
}

static void context_free(struct tdl_context *ctx)
{
    if (ctx->device) {
        wait_idle(ctx);
        for (struct tdl_deferred *d; (d = ctx->deferred);) {
            ctx->deferred = d->next; /* what is freed may defer more */
            d->free_fn(ctx, d->data);
            free(d);
        }
        tdl_batches_finish(ctx);
        if (!atomic_load(&ctx->lost))
            tdl_context_save_cache(ctx);
        tdl_pipelines_finish(ctx);
        vkDestroyCommandPool(ctx->device, ctx->barrier_pool, NULL);
        vkDestroySemaphore(ctx->device, ctx->timeline, NULL);
        if (!ctx->setup.borrowed)
            vkDestroyDevice(ctx->device, NULL);
    }
    if (ctx->messenger) {
        PFN_vkDestroyDebugUtilsMessengerEXT destroy = (PFN_vkDestroyDebugUtilsMessengerEXT)
            vkGetInstanceProcAddr(ctx->instance, "vkDestroyDebugUtilsMessengerEXT");
        destroy(ctx->instance, ctx->messenger, NULL);
    }
    if (!ctx->setup.borrowed)
        tdl_instance_destroy(ctx->instance);
    tdl_setup_finish(&ctx->setup);
    pthread_mutex_destroy(&ctx->lock);
    pthread_mutex_destroy(&ctx->queue_lock);
    pthread_mutex_destroy(&ctx->pipeline_lock);
    tdl_context_finish_tuning(ctx);
    free(ctx->cache_dir);
    free(ctx);
}

struct tdl_context *tdl_context_ref(struct tdl_context *context)
{
    atomic_fetch_add(&context->refs, 1);
    return context;
}

void tdl_context_destroy(struct tdl_context **context)
{
    struct tdl_context *ctx = tdl_take(context);
    if (ctx && atomic_fetch_sub(&ctx->refs, 1) == 1)
        context_free(ctx);
}

/* -------------------------------------------------------------- timeline */

enum tdl_result tdl_context_check(struct tdl_context *ctx)
{
    if (atomic_load(&ctx->lost))
        return tdl_fail(TDL_ERROR_DEVICE_LOST,
                        "the device %s was lost: destroy this context and create a new one",
                        ctx->info.name);
    return TDL_OK;
}

void tdl_context_lock_queue(struct tdl_context *ctx)
{
    if (!ctx->setup.borrowed)
        pthread_mutex_lock(&ctx->queue_lock);
    else if (ctx->setup.lock_queue)
        ctx->setup.lock_queue(ctx->setup.lock_data);
}

void tdl_context_unlock_queue(struct tdl_context *ctx)
{
    if (!ctx->setup.borrowed)
        pthread_mutex_unlock(&ctx->queue_lock);
    else if (ctx->setup.unlock_queue)
        ctx->setup.unlock_queue(ctx->setup.lock_data);
}

/* The two halves of VkSubmitInfo and its timeline values. */
struct semaphores {
    VkSemaphore handles[TDL_MAX_SEMAPHORES + 1];
    uint64_t values[TDL_MAX_SEMAPHORES + 1];
    uint32_t count;
};

static void add_semaphores(struct semaphores *list, const struct tdl_semaphore_op *ops,
                           uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        list->handles[list->count] = ops[i].semaphore;
        list->values[list->count++] = ops[i].value;
    }
}

enum tdl_result tdl_context_submit_locked(struct tdl_context *ctx, const struct tdl_submission *s,
                                          uint64_t *out_point)
{
    enum { MAX_COMMANDS = 32 };
    VkCommandBuffer list[MAX_COMMANDS];
    VkPipelineStageFlags stages[TDL_MAX_SEMAPHORES];
    struct semaphores waits = {.count = 0}, signals = {.count = 0};
    uint32_t n = 0;
    if (s->command_count >= MAX_COMMANDS)
        return tdl_fail(TDL_ERROR_UNSUPPORTED, "a batch holds more than %d parts: submit earlier",
                        MAX_COMMANDS - 1);
    if (s->prepend_barrier)
        list[n++] = ctx->barrier_commands;
    memcpy(&list[n], s->commands, s->command_count * sizeof(*s->commands));
    n += s->command_count;

    const struct tdl_semaphore_op point = {ctx->timeline, ctx->last_point + 1};
    /* Ours last: drivers signal in this order, and whoever has waited for the
     * point may destroy the others. */
    add_semaphores(&signals, s->signals, s->signal_count);
    add_semaphores(&signals, &point, 1);
    add_semaphores(&waits, s->waits, s->wait_count);
    for (uint32_t i = 0; i < s->wait_count; i++)
        stages[i] = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    const VkTimelineSemaphoreSubmitInfo timeline = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = waits.count,
        .pWaitSemaphoreValues = waits.values,
        .signalSemaphoreValueCount = signals.count,
        .pSignalSemaphoreValues = signals.values,
    };
    const VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = &timeline,
        .waitSemaphoreCount = waits.count,
        .pWaitSemaphores = waits.handles,
        .pWaitDstStageMask = stages,
        .commandBufferCount = n,
        .pCommandBuffers = list,
        .signalSemaphoreCount = signals.count,
        .pSignalSemaphores = signals.handles,
    };
    tdl_context_lock_queue(ctx);
    enum tdl_result r = VK(ctx, vkQueueSubmit(ctx->queue, 1, &submit, VK_NULL_HANDLE));
    tdl_context_unlock_queue(ctx);
    if (r != TDL_OK)
        return r;
    if (s->prepend_barrier)
        ctx->barrier_point = ctx->last_point;
    ctx->last_point = point.value;
    *out_point = point.value;
    atomic_fetch_add(&ctx->stats.submits, 1);
    return TDL_OK;
}

enum tdl_result tdl_context_wait(struct tdl_context *ctx, uint64_t point, uint64_t timeout_ns)
{
    uint64_t value = 0;
    enum tdl_result r = tdl_context_check(ctx);
    if (r != TDL_OK)
        return r;
    if (point > tdl_context_last_point(ctx))
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "point %llu has not been submitted yet: waiting for it would not end",
                        (unsigned long long)point);
    r = VK(ctx, ctx->fn.get_semaphore_value(ctx->device, ctx->timeline, &value));
    if (r != TDL_OK || value >= point)
        return r;
    if (timeout_ns)
        atomic_fetch_add(&ctx->stats.waits, 1);
    VkResult result = ctx->fn.wait_semaphores(
        ctx->device,
        &(VkSemaphoreWaitInfo){.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                               .semaphoreCount = 1,
                               .pSemaphores = &ctx->timeline,
                               .pValues = &point},
        timeout_ns);
    if (result == VK_TIMEOUT)
        return tdl_fail(TDL_ERROR_TIMEOUT, "point %llu was not reached in %llu ns",
                        (unsigned long long)point, (unsigned long long)timeout_ns);
    return result < 0 ? tdl_vk_fail(ctx, result, "vkWaitSemaphores(") : TDL_OK;
}

uint64_t tdl_context_last_point(struct tdl_context *ctx)
{
    pthread_mutex_lock(&ctx->lock);
    uint64_t point = ctx->last_point;
    pthread_mutex_unlock(&ctx->lock);
    return point;
}

enum tdl_result tdl_context_sync(struct tdl_context *ctx)
{
    enum tdl_result r = tdl_context_wait(ctx, tdl_context_last_point(ctx), TDL_WAIT_FOREVER);
    tdl_context_collect(ctx);
    return r;
}

/* ------------------------------------------------------ deferred destroy */

void tdl_context_defer(struct tdl_context *ctx, uint64_t point, tdl_free_fn free_fn, void *data)
{
    struct tdl_deferred *d = malloc(sizeof(*d));
    if (!d) { /* no memory to remember it by: wait instead */
        wait_idle(ctx);
        free_fn(ctx, data);
        return;
    }
    *d = (struct tdl_deferred){.point = point, .free_fn = free_fn, .data = data};
    pthread_mutex_lock(&ctx->lock);
    d->next = ctx->deferred;
    ctx->deferred = d;
    pthread_mutex_unlock(&ctx->lock);
    tdl_context_collect(ctx);
}

void tdl_context_collect(struct tdl_context *ctx)
{
    struct tdl_deferred *done = NULL;
    pthread_mutex_lock(&ctx->lock);
    uint64_t value = 0;
    if (ctx->deferred &&
        ctx->fn.get_semaphore_value(ctx->device, ctx->timeline, &value) == VK_SUCCESS) {
        for (struct tdl_deferred **p = &ctx->deferred; *p;) {
            struct tdl_deferred *d = *p;
            if (d->point <= value) {
                *p = d->next;
                d->next = done;
                done = d;
            } else {
                p = &d->next;
            }
        }
    }
    pthread_mutex_unlock(&ctx->lock);
    while (done) {
        struct tdl_deferred *next = done->next;
        done->free_fn(ctx, done->data);
        free(done);
        done = next;
    }
}

/* ----------------------------------------------------------------- other */

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
    *out = (struct tdl_vulkan_device){
        .instance = ctx->instance,
        .physical_device = ctx->physical,
        .device = ctx->device,
        .queue = ctx->queue,
        .queue_family = ctx->queue_family,
        .instance_version = ctx->setup.instance_version,
        .extensions = ctx->setup.extensions,
        .extension_count = ctx->setup.extension_count,
        .features = &ctx->setup.features,
        .lock_queue = lock_for_others,
        .unlock_queue = unlock_for_others,
        .lock_data = ctx,
    };
}

const struct tdl_device_info *tdl_context_device(const struct tdl_context *ctx)
{
    return &ctx->info;
}

uint64_t tdl_context_ticks_ns(const struct tdl_context *ctx, uint64_t from, uint64_t to)
{
    uint64_t mask = ctx->timestamp_bits >= 64 ? UINT64_MAX : (1ull << ctx->timestamp_bits) - 1;
    return (uint64_t)((double)((to - from) & mask) *
                      (double)ctx->properties.limits.timestampPeriod);
}

void tdl_context_name(struct tdl_context *ctx, VkObjectType type, uint64_t handle,
                      const char *name)
{
    if (ctx->fn.set_object_name && name)
        ctx->fn.set_object_name(ctx->device,
                                &(VkDebugUtilsObjectNameInfoEXT){
                                    .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT,
                                    .objectType = type,
                                    .objectHandle = handle,
                                    .pObjectName = name,
                                });
}

void tdl_context_get_stats(struct tdl_context *ctx, struct tdl_context_stats *out)
{
    *out = (struct tdl_context_stats){
        .submits = atomic_load(&ctx->stats.submits),
        .dispatches = atomic_load(&ctx->stats.dispatches),
        .waits = atomic_load(&ctx->stats.waits),
        .pipelines = atomic_load(&ctx->stats.pipelines),
        .allocations = atomic_load(&ctx->stats.allocations),
        .memory_bytes = atomic_load(&ctx->stats.memory_bytes),
        .validation_errors = atomic_load(&ctx->stats.validation_errors),
    };
}
