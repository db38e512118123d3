/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdlvulkan.h"

#include "gsttdlcontext.h"

#ifdef TDL_GST_VULKAN
#include <gst/vulkan/vulkan.h>
#include <string.h>

#define GST_CAT_DEFAULT gst_tdl_filter_debug

/* What images of the output are for: written by us, then sampled or copied. */
#define IMAGE_USAGE                                                                                \
    (VK_IMAGE_USAGE_TRANSFER_DST_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_SAMPLED_BIT)

/* Extensions that libtdl makes use of and that a device of GStreamer's may have. */
static const gchar *const extensions[] = {
    VK_KHR_TIMELINE_SEMAPHORE_EXTENSION_NAME,    VK_KHR_SYNCHRONIZATION_2_EXTENSION_NAME,
    VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME,    VK_EXT_EXTERNAL_MEMORY_DMA_BUF_EXTENSION_NAME,
    VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME,  VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME,
    VK_EXT_QUEUE_FAMILY_FOREIGN_EXTENSION_NAME,  VK_EXT_IMAGE_DRM_FORMAT_MODIFIER_EXTENSION_NAME,
    VK_KHR_IMAGE_FORMAT_LIST_EXTENSION_NAME,     VK_KHR_DRIVER_PROPERTIES_EXTENSION_NAME,
    VK_EXT_PHYSICAL_DEVICE_DRM_EXTENSION_NAME,   VK_KHR_SHADER_FLOAT16_INT8_EXTENSION_NAME,
};

static gboolean computes(GstVulkanQueue *queue)
{
    const GstVulkanPhysicalDevice *physical = queue->device->physical_device;

    return queue->family < physical->n_queue_families &&
           physical->queue_family_props[queue->family].queueFlags & VK_QUEUE_COMPUTE_BIT;
}

/* The neighbours' queue spares semaphores; any other of the device will do. */
static GstVulkanQueue *find_queue(GstElement *element, GstVulkanDevice *device)
{
    GstVulkanQueue *queue = NULL;

    if (gst_vulkan_queue_run_context_query(element, &queue) && queue->device == device &&
        computes(queue))
        return queue;
    gst_clear_object(&queue);
    return gst_vulkan_device_select_queue(device, VK_QUEUE_COMPUTE_BIT);
}

gboolean gst_tdl_vulkan_find(struct gst_tdl_vulkan *vulkan, GstElement *element)
{
    GstVulkanDevice *device;

    gst_vulkan_device_run_context_query(element, (GstVulkanDevice **)&vulkan->device);
    device = (GstVulkanDevice *)vulkan->device;
    if (!device)
        return FALSE;
    if (!vulkan->instance)
        vulkan->instance = gst_object_ref(device->instance);
    g_clear_object(&vulkan->queue);
    vulkan->queue = (GObject *)find_queue(element, device);
    GST_INFO_OBJECT(element, "the neighbours have %" GST_PTR_FORMAT ", queue %" GST_PTR_FORMAT,
                    (gpointer)device, (gpointer)vulkan->queue);
    return vulkan->queue != NULL;
}

static void lock_queue(void *data)
{
    gst_vulkan_queue_submit_lock(data);
}

static void unlock_queue(void *data)
{
    gst_vulkan_queue_submit_unlock(data);
}

/* GStreamer enables all features that the device has, of these versions. */
struct features {
    VkPhysicalDeviceFeatures2 v10;
    VkPhysicalDeviceVulkan11Features v11;
    VkPhysicalDeviceVulkan12Features v12;
    VkPhysicalDeviceVulkan13Features v13;
};

static void read_features(GstVulkanDevice *device, struct features *out)
{
    PFN_vkGetPhysicalDeviceFeatures2 get = (PFN_vkGetPhysicalDeviceFeatures2)
        gst_vulkan_instance_get_proc_address(device->instance, "vkGetPhysicalDeviceFeatures2");

    *out = (struct features){
        .v10 = { VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &out->v11 },
        .v11 = { VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES, .pNext = &out->v12 },
        .v12 = { VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES },
        .v13 = { VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES },
    };
    if (gst_vulkan_physical_device_check_api_version(device->physical_device, 1, 3, 0))
        out->v12.pNext = &out->v13;
    if (get)
        get(gst_vulkan_device_get_physical_device(device), &out->v10);
}

struct tdl_context *gst_tdl_vulkan_acquire(const struct gst_tdl_vulkan *vulkan, GError **error)
{
    GstVulkanDevice *device = (GstVulkanDevice *)vulkan->device;
    GstVulkanQueue *queue = (GstVulkanQueue *)vulkan->queue;
    const gchar *enabled[G_N_ELEMENTS(extensions)];
    struct features features;
    struct tdl_vulkan_device description;
    guint count = 0;

    for (guint i = 0; i < G_N_ELEMENTS(extensions); i++)
        if (gst_vulkan_device_is_extension_enabled(device, extensions[i]))
            enabled[count++] = extensions[i];
    read_features(device, &features);
    description = (struct tdl_vulkan_device){
        .instance = device->instance->instance,
        .physical_device = gst_vulkan_device_get_physical_device(device),
        .device = device->device,
        .queue = queue->queue,
        .queue_family = queue->family,
        .instance_version = VK_API_VERSION_1_2,
        .extensions = enabled,
        .extension_count = count,
        .features = &features.v10,
        .lock_queue = lock_queue,
        .unlock_queue = unlock_queue,
        .lock_data = queue,
    };
    if (gst_vulkan_instance_check_version(device->instance, 1, 3, 0))
        description.instance_version = VK_API_VERSION_1_3;
    return gst_tdl_context_acquire_vulkan(&description, vulkan->queue, error);
}

void gst_tdl_vulkan_clear(struct gst_tdl_vulkan *vulkan)
{
    g_clear_object(&vulkan->queue);
    g_clear_object(&vulkan->device);
    g_clear_object(&vulkan->instance);
    g_clear_object(&vulkan->display);
}

void gst_tdl_vulkan_set_context(struct gst_tdl_vulkan *vulkan, GstElement *element,
                                GstContext *context)
{
    const gchar *type = gst_context_get_context_type(context);

    if (!strcmp(type, GST_VULKAN_DEVICE_CONTEXT_TYPE_STR))
        gst_context_get_vulkan_device(context, (GstVulkanDevice **)&vulkan->device);
    else
        gst_vulkan_handle_set_context(element, context, (GstVulkanDisplay **)&vulkan->display,
                                      (GstVulkanInstance **)&vulkan->instance);
}

gboolean gst_tdl_vulkan_answer(const struct gst_tdl_vulkan *vulkan, GstElement *element,
                               GstQuery *query)
{
    if (!vulkan->device)
        return FALSE;
    if (gst_vulkan_handle_context_query(element, query, (GstVulkanDisplay *)vulkan->display,
                                        (GstVulkanInstance *)vulkan->instance,
                                        (GstVulkanDevice *)vulkan->device))
        return TRUE;
    return vulkan->queue && gst_vulkan_queue_handle_context_query(element, query,
                                                                  (GstVulkanQueue *)vulkan->queue);
}

GstBufferPool *gst_tdl_vulkan_pool(GObject *queue, GstCaps *caps, gsize size, guint min)
{
    GstBufferPool *pool = gst_vulkan_image_buffer_pool_new(((GstVulkanQueue *)queue)->device);
    GstStructure *config = gst_buffer_pool_get_config(pool);

    gst_buffer_pool_config_set_params(config, caps, size, min, 0);
    gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
    gst_vulkan_image_buffer_pool_config_set_allocation_params(
        config, IMAGE_USAGE, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
        VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, VK_ACCESS_TRANSFER_WRITE_BIT);
    if (!gst_buffer_pool_set_config(pool, config))
        gst_clear_object(&pool);
    return pool;
}

#else /* TDL_GST_VULKAN */

gboolean gst_tdl_vulkan_find(struct gst_tdl_vulkan *vulkan, GstElement *element)
{
    (void)vulkan;
    (void)element;
    return FALSE;
}

struct tdl_context *gst_tdl_vulkan_acquire(const struct gst_tdl_vulkan *vulkan, GError **error)
{
    (void)vulkan;
    (void)error;
    return NULL;
}

void gst_tdl_vulkan_clear(struct gst_tdl_vulkan *vulkan)
{
    (void)vulkan;
}

void gst_tdl_vulkan_set_context(struct gst_tdl_vulkan *vulkan, GstElement *element,
                                GstContext *context)
{
    (void)vulkan;
    (void)element;
    (void)context;
}

gboolean gst_tdl_vulkan_answer(const struct gst_tdl_vulkan *vulkan, GstElement *element,
                               GstQuery *query)
{
    (void)vulkan;
    (void)element;
    (void)query;
    return FALSE;
}

GstBufferPool *gst_tdl_vulkan_pool(GObject *queue, GstCaps *caps, gsize size, guint min)
{
    (void)queue;
    (void)caps;
    (void)size;
    (void)min;
    return NULL;
}

#endif
