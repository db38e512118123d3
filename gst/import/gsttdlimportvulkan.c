/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Images of GStreamer's Vulkan elements, on the device that is shared with
 * them. Their memory says in which state it is and which value its timeline
 * has reached: the batch waits for that, signals the next value, and leaves
 * the state that the next element will find. Behind a tee two of us may have
 * the same image: from reading its state to having submitted it is one's own.
 */
#include "gsttdlimporter.h"

#include <gst/vulkan/vulkan.h>

struct span {
    const struct gst_tdl_import *import;
    guint plane, count; /* planes of the picture that are in this memory */
};

static enum tdl_result make(struct gst_tdl_importer *importer, GstMemory *memory, gpointer data,
                            struct gst_tdl_import_cached *out)
{
    static const VkImageAspectFlags aspects[TDL_MAX_PLANES] = { VK_IMAGE_ASPECT_PLANE_0_BIT,
                                                                VK_IMAGE_ASPECT_PLANE_1_BIT,
                                                                VK_IMAGE_ASPECT_PLANE_2_BIT };
    const GstVulkanImageMemory *image = (const GstVulkanImageMemory *)memory;
    const struct span *span = data;
    enum tdl_result r = TDL_OK;

    for (guint i = 0; i < span->count && r == TDL_OK; i++)
        r = tdl_image_wrap(importer->device->context,
                           &(struct tdl_image_wrap_params){
                               .image = image->image,
                               .vk_format = image->create_info.format,
                               .format = span->import->frame.format,
                               .plane = span->plane + i,
                               .width = span->import->frame.width,
                               .height = span->import->frame.height,
                               .aspect = span->count > 1 ? aspects[i] : 0,
                               .usage = image->create_info.usage,
                           },
                           &out->images[i]);
    return r;
}

static void order_free(gpointer order)
{
    g_mutex_clear(order);
    g_free(order);
}

/* The holder of this lock has the image's state and timeline. */
static GMutex *order_of(GstMemory *memory)
{
    static GMutex lock;
    static GQuark quark;
    GMutex *order;

    g_mutex_lock(&lock);
    if (!quark)
        quark = g_quark_from_static_string("tdl-image-order");
    order = gst_mini_object_get_qdata(GST_MINI_OBJECT(memory), quark);
    if (!order) {
        order = g_new0(GMutex, 1);
        g_mutex_init(order);
        gst_mini_object_set_qdata(GST_MINI_OBJECT(memory), quark, order, order_free);
    }
    g_mutex_unlock(&lock);
    return order;
}

static void describe(struct gst_tdl_image_use *use, GstVulkanImageMemory *image,
                     struct gst_tdl_import_cached *cached)
{
    const GstVulkanBarrierImageInfo *barrier = &image->barrier;

    *use = (struct gst_tdl_image_use){
        .cached = cached,
        .memory = image,
        .semaphore = barrier->parent.semaphore,
        .value = barrier->parent.semaphore_value,
        .state = {
            .layout = barrier->image_layout,
            .access = barrier->parent.access_flags,
            .stage = barrier->parent.pipeline_stages,
            .queue_family = VK_QUEUE_FAMILY_IGNORED, /* theirs are shared, or of our queue */
        },
    };
}

static const gchar *take_memory(struct gst_tdl_importer *importer, GstMemory *memory,
                                struct span *span, struct gst_tdl_import *out)
{
    struct gst_tdl_image_use *use = &out->uses[out->n_uses];
    struct tdl_vulkan_device device;
    struct gst_tdl_import_cached *cached;

    if (!gst_is_vulkan_image_memory(memory))
        return "the memory is not a Vulkan image";
    tdl_context_get_vulkan(importer->device->context, &device);
    if (((GstVulkanImageMemory *)memory)->device->device != device.device)
        return "the image is of another Vulkan device";
    cached = gst_tdl_import_cache_get(importer, memory, GST_TDL_IMPORT_CACHE_IMAGE, make, span);
    if (cached->why)
        return cached->why;
    g_mutex_lock(order_of(memory));
    describe(use, (GstVulkanImageMemory *)memory, cached);
    out->n_uses++;
    for (guint i = 0; i < span->count; i++) {
        out->images[span->plane + i] = cached->images[i];
        out->states[span->plane + i] = &use->state;
    }
    out->n_images += span->count;
    return NULL;
}

static const gchar *import(struct gst_tdl_importer *importer,
                           struct gst_tdl_import_request *request, struct gst_tdl_import *out)
{
    guint memories = gst_buffer_n_memory(request->buffer);
    const gchar *why = NULL;

    if (request->video->memory != GST_TDL_MEMORY_VULKAN)
        return "the caps are not of Vulkan images";
    if (memories != 1 && memories != request->planes)
        return "its images are neither one nor one a plane";
    for (guint i = 0; i < memories && !why; i++) {
        struct span span = { out, i, memories == 1 ? request->planes : 1 };

        why = take_memory(importer, gst_buffer_peek_memory(request->buffer, i), &span, out);
    }
    if (why)
        return why;
    return request->for_write
               ? gst_tdl_import_images_stage(importer, request, &request->staging->target, out)
               : gst_tdl_import_images_read(importer, request, out);
}

const struct gst_tdl_import_method gst_tdl_import_vulkan = {
    .path = "vulkan-image",
    .import = import,
    .gpu = TRUE,
    .writes = TRUE,
};

void gst_tdl_import_submitted(const struct gst_tdl_import *import, guint64 point)
{
    for (guint i = 0; i < import->n_uses; i++) {
        const struct gst_tdl_image_use *use = &import->uses[i];
        GstVulkanBarrierImageInfo *barrier = &((GstVulkanImageMemory *)use->memory)->barrier;

        use->cached->point = point;
        barrier->image_layout = use->state.layout;
        barrier->parent.access_flags = use->state.access;
        barrier->parent.pipeline_stages = use->state.stage;
        if (use->semaphore)
            barrier->parent.semaphore_value = use->value + 1;
    }
}

void gst_tdl_import_vulkan_release(struct gst_tdl_import *import)
{
    while (import->n_uses)
        g_mutex_unlock(order_of(import->uses[--import->n_uses].memory));
}
