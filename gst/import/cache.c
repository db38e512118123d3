/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "importer.h"

#include "gsttdlerror.h"

#define GST_CAT_DEFAULT gst_tdl_filter_debug

/* Two branches of a tee may come with the same memory at once. */
static GMutex lock;

static void cached_free(gpointer data)
{
    struct gst_tdl_cached *cached = data;

    cached->ops->destroy_buffer(&cached->buffer);
    g_free(cached->why);
    g_free(cached);
}

/* Per context, as elements on two devices may see the same memory. */
static GQuark quark_of(const struct tdl_context *context)
{
    gchar name[48];

    g_snprintf(name, sizeof(name), "tdl-import-%p", (const void *)context);
    return g_quark_from_string(name);
}

const struct gst_tdl_cached *gst_tdl_cache_get(struct gst_tdl_importer *importer,
                                               GstMemory *memory, gst_tdl_cache_fn make,
                                               gpointer data)
{
    GQuark quark = quark_of(importer->context);
    struct gst_tdl_cached *cached;

    g_mutex_lock(&lock);
    cached = gst_mini_object_get_qdata(GST_MINI_OBJECT(memory), quark);
    if (cached) {
        importer->stats.cache_hits += cached->buffer != NULL;
    } else {
        cached = g_new0(struct gst_tdl_cached, 1);
        cached->ops = importer->ops;
        if (make(importer, memory, data, cached) == TDL_OK) {
            importer->stats.imports++;
        } else {
            cached->why = g_strdup(tdl_last_error());
            GST_INFO("import of %s memory %p declined: %s", memory->allocator->mem_type,
                     (gpointer)memory, cached->why);
        }
        gst_mini_object_set_qdata(GST_MINI_OBJECT(memory), quark, cached, cached_free);
    }
    g_mutex_unlock(&lock);
    return cached;
}

void gst_tdl_cache_put(struct tdl_context *context, GstMemory *memory, struct tdl_buffer *buffer)
{
    struct gst_tdl_cached *cached = g_new0(struct gst_tdl_cached, 1);

    cached->ops = &gst_tdl_import_engine;
    cached->buffer = buffer;
    gst_mini_object_set_qdata(GST_MINI_OBJECT(memory), quark_of(context), cached, cached_free);
}
