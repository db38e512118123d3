/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdlvulkan.h"

#include "base/gsttdlerror.h"

#include <gst/vulkan/vulkan.h>
#include <string.h>

#define GST_CAT_DEFAULT gst_tdl_filter_debug

/* Uses of the output's images: written by us, then sampled or copied. */
#define IMAGE_USAGE                                                                                \
    (VK_IMAGE_USAGE_TRANSFER_DST_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_SAMPLED_BIT)

/* Extensions that libtdl makes use of and that a device of GStreamer's may have. */
static const gchar *const extensions[] = {
    VK_KHR_TIMELINE_SEMAPHORE_EXTENSION_NAME,   VK_KHR_SYNCHRONIZATION_2_EXTENSION_NAME,
    VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME,   VK_EXT_EXTERNAL_MEMORY_DMA_BUF_EXTENSION_NAME,
    VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME, VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME,
    VK_EXT_QUEUE_FAMILY_FOREIGN_EXTENSION_NAME, VK_EXT_IMAGE_DRM_FORMAT_MODIFIER_EXTENSION_NAME,
    VK_KHR_IMAGE_FORMAT_LIST_EXTENSION_NAME,    VK_KHR_DRIVER_PROPERTIES_EXTENSION_NAME,
    VK_EXT_PHYSICAL_DEVICE_DRM_EXTENSION_NAME,  VK_KHR_SHADER_FLOAT16_INT8_EXTENSION_NAME,
};

const gboolean gst_tdl_vulkan_built = TRUE;

struct objects {
    GObject *display, *instance, *device, *queue;
};

void gst_tdl_vulkan_init(struct gst_tdl_vulkan *vulkan)
{
    *vulkan = (struct gst_tdl_vulkan){ .device = NULL };
    g_mutex_init(&vulkan->lock);
}

static void objects_clear(struct objects *objects)
{
    g_clear_object(&objects->queue);
    g_clear_object(&objects->device);
    g_clear_object(&objects->instance);
    g_clear_object(&objects->display);
}

/* Takes `objects`; the old ones go without the lock. */
static void put(struct gst_tdl_vulkan *vulkan, const struct objects *objects)
{
    struct objects old;

    g_mutex_lock(&vulkan->lock);
    old = (struct objects){ vulkan->display, vulkan->instance, vulkan->device, vulkan->queue };
    vulkan->display = objects->display;
    vulkan->instance = objects->instance;
    vulkan->device = objects->device;
    vulkan->queue = objects->queue;
    g_mutex_unlock(&vulkan->lock);
    objects_clear(&old);
}

void gst_tdl_vulkan_clear(struct gst_tdl_vulkan *vulkan)
{
    put(vulkan, &(struct objects){ .device = NULL });
}

void gst_tdl_vulkan_finish(struct gst_tdl_vulkan *vulkan)
{
    gst_tdl_vulkan_clear(vulkan);
    g_mutex_clear(&vulkan->lock);
}

static GObject *take(GObject *object)
{
    return object ? g_object_ref(object) : NULL;
}

static void get(struct gst_tdl_vulkan *vulkan, struct objects *out)
{
    g_mutex_lock(&vulkan->lock);
    *out = (struct objects){ take(vulkan->display), take(vulkan->instance), take(vulkan->device),
                             take(vulkan->queue) };
    g_mutex_unlock(&vulkan->lock);
}

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

/* Does the peer of that pad speak of Vulkan images, by name? */
static gboolean peer_has_images(GstElement *element, const gchar *name)
{
    GstPad *pad = gst_element_get_static_pad(element, name);
    GstCaps *caps = gst_pad_peer_query_caps(pad, NULL);
    gboolean yes = FALSE;

    for (guint i = 0; !gst_caps_is_any(caps) && i < gst_caps_get_size(caps); i++) {
        const GstCapsFeatures *features = gst_caps_get_features(caps, i);

        yes |= features && !gst_caps_features_is_any(features) &&
               gst_caps_features_contains(features, GST_TDL_CAPS_VULKAN);
    }
    gst_caps_unref(caps);
    gst_object_unref(pad);
    return yes;
}

/* To others of the pipeline who are no neighbours, as behind a tee. */
static void tell(GstElement *element, GstVulkanDevice *device)
{
    GstContext *context = gst_context_new(GST_VULKAN_DEVICE_CONTEXT_TYPE_STR, TRUE);

    gst_context_set_vulkan_device(context, device);
    gst_element_post_message(element, gst_message_new_have_context(GST_OBJECT(element), context));
}

/* Elements start from the sink up: where the Vulkan ones are upstream, the
 * device is made here, with what libtdl can use, and they will ask for it. */
static GstVulkanDevice *make_device(GstElement *element)
{
    GstVulkanInstance *instance = NULL;
    GstVulkanDevice *device = NULL;
    GError *error = NULL;

    if (!gst_vulkan_ensure_element_data(element, NULL, &instance))
        return NULL;
    device = gst_vulkan_device_new_with_index(instance, 0);
    for (guint i = 0; device && i < G_N_ELEMENTS(extensions); i++)
        gst_vulkan_device_enable_extension(device, extensions[i]);
    if (device && !gst_vulkan_device_open(device, &error)) {
        GST_WARNING_OBJECT(element, "no Vulkan device for the neighbours: %s", error->message);
        g_clear_error(&error);
        gst_clear_object(&device);
    }
    gst_clear_object(&instance);
    if (device)
        tell(element, device);
    return device;
}

gboolean gst_tdl_vulkan_find(struct gst_tdl_vulkan *vulkan, GstElement *element)
{
    gboolean images = peer_has_images(element, "sink") || peer_has_images(element, "src");
    GstVulkanDevice *asked = NULL, *device;
    struct objects objects;

    /* Neighbours fill in `asked`; bins and applications set a context. */
    gst_vulkan_device_run_context_query(element, &asked);
    if (!asked && images)
        gst_element_post_message(
            element,
            gst_message_new_need_context(GST_OBJECT(element), GST_VULKAN_DEVICE_CONTEXT_TYPE_STR));
    get(vulkan, &objects);
    if (asked) {
        g_clear_object(&objects.device);
        objects.device = (GObject *)asked;
    }
    if (!objects.device && images)
        objects.device = (GObject *)make_device(element);
    device = (GstVulkanDevice *)objects.device;
    g_clear_object(&objects.queue);
    if (device) {
        g_clear_object(&objects.instance);
        objects.instance = g_object_ref(G_OBJECT(device->instance));
        objects.queue = (GObject *)find_queue(element, device);
        GST_INFO_OBJECT(element, "the neighbours have %" GST_PTR_FORMAT ", queue %" GST_PTR_FORMAT,
                        (gpointer)device, (gpointer)objects.queue);
    }
    put(vulkan, &objects);
    return device != NULL;
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
    PFN_vkGetPhysicalDeviceFeatures2 read =
        (PFN_vkGetPhysicalDeviceFeatures2)gst_vulkan_instance_get_proc_address(
            device->instance, "vkGetPhysicalDeviceFeatures2");

    *out = (struct features){
        .v10 = { VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &out->v11 },
        .v11 = { VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES, .pNext = &out->v12 },
        .v12 = { VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES },
        .v13 = { VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES },
    };
    if (gst_vulkan_physical_device_check_api_version(device->physical_device, 1, 3, 0))
        out->v12.pNext = &out->v13;
    if (read)
        read(gst_vulkan_device_get_physical_device(device), &out->v10);
}

static struct gst_tdl_device *acquire(GstVulkanDevice *device, GstVulkanQueue *queue,
                                      GError **error)
{
    const gchar *enabled[G_N_ELEMENTS(extensions)];
    struct tdl_vulkan_device description;
    struct features features;
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
        .instance_version = gst_vulkan_instance_check_version(device->instance, 1, 3, 0)
                                ? VK_API_VERSION_1_3
                                : VK_API_VERSION_1_2,
        .extensions = enabled,
        .extension_count = count,
        .features = &features.v10,
        .lock_queue = lock_queue,
        .unlock_queue = unlock_queue,
        .lock_data = queue,
    };
    return gst_tdl_device_acquire_vulkan(&description, G_OBJECT(queue), error);
}

struct gst_tdl_device *gst_tdl_vulkan_acquire(struct gst_tdl_vulkan *vulkan, GError **error)
{
    struct gst_tdl_device *device = NULL;
    struct objects objects;

    get(vulkan, &objects);
    if (objects.device && objects.queue)
        device = acquire((GstVulkanDevice *)objects.device, (GstVulkanQueue *)objects.queue, error);
    objects_clear(&objects);
    return device;
}

void gst_tdl_vulkan_set_context(struct gst_tdl_vulkan *vulkan, GstElement *element,
                                GstContext *context)
{
    struct objects objects;

    get(vulkan, &objects);
    if (!strcmp(gst_context_get_context_type(context), GST_VULKAN_DEVICE_CONTEXT_TYPE_STR))
        gst_context_get_vulkan_device(context, (GstVulkanDevice **)&objects.device);
    else
        gst_vulkan_handle_set_context(element, context, (GstVulkanDisplay **)&objects.display,
                                      (GstVulkanInstance **)&objects.instance);
    put(vulkan, &objects);
}

gboolean gst_tdl_vulkan_answer(struct gst_tdl_vulkan *vulkan, GstElement *element, GstQuery *query)
{
    struct objects objects;
    gboolean answered;

    get(vulkan, &objects);
    answered = objects.device &&
               (gst_vulkan_handle_context_query(element, query, (GstVulkanDisplay *)objects.display,
                                                (GstVulkanInstance *)objects.instance,
                                                (GstVulkanDevice *)objects.device) ||
                (objects.queue && gst_vulkan_queue_handle_context_query(
                                      element, query, (GstVulkanQueue *)objects.queue)));
    objects_clear(&objects);
    return answered;
}

GstBufferPool *gst_tdl_vulkan_pool(const struct gst_tdl_device *device, GstCaps *caps, gsize size,
                                   guint min)
{
    GstVulkanQueue *queue = (GstVulkanQueue *)device->keeper;
    GstBufferPool *pool = gst_vulkan_image_buffer_pool_new(queue->device);
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
