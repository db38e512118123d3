/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "importer.h"

#include "gsttdlerror.h"

#define GST_CAT_DEFAULT gst_tdl_filter_debug

/* Two branches of a tee may come with the same memory at once. */
static GMutex lock;

static void cached_free(gpointer data)
{
    struct gst_tdl_cached *cached = data;

    if (cached->context && cached->point)
        cached->ops->wait_point(cached->context, cached->point, TDL_WAIT_FOREVER);
    cached->ops->destroy_buffer(&cached->buffer);
    for (guint i = 0; i < TDL_MAX_PLANES; i++)
        tdl_image_destroy(&cached->images[i]);
    g_free(cached->why);
    tdl_context_destroy(&cached->context);
    g_clear_object(&cached->keeper); /* last: the device that all that was of */
    g_free(cached);
}

/* Per context, as elements on two devices may see the same memory. */
static GQuark quark_of(const struct tdl_context *context, const gchar *kind)
{
    gchar name[96];

    g_snprintf(name, sizeof(name), "tdl-import-%p-%s", (const void *)context, kind);
    return g_quark_from_string(name);
}

struct gst_tdl_cached *gst_tdl_cache_get(struct gst_tdl_importer *importer, GstMemory *memory,
                                         const gchar *kind, gst_tdl_cache_fn make, gpointer data)
{
    GQuark quark = quark_of(importer->context, kind);
    struct gst_tdl_cached *cached;

    g_mutex_lock(&lock);
    cached = gst_mini_object_get_qdata(GST_MINI_OBJECT(memory), quark);
    if (cached) {
        importer->stats.cache_hits += cached->why == NULL;
    } else {
        cached = g_new0(struct gst_tdl_cached, 1);
        cached->ops = importer->ops;
        cached->keeper = importer->keeper ? g_object_ref(importer->keeper) : NULL;
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

void gst_tdl_cache_put(struct tdl_context *context, GObject *keeper, GstMemory *memory,
                       struct tdl_buffer *buffer)
{
    struct gst_tdl_cached *cached = g_new0(struct gst_tdl_cached, 1);

    cached->ops = &gst_tdl_import_engine;
    cached->buffer = buffer;
    cached->keeper = keeper ? g_object_ref(keeper) : NULL;
    gst_mini_object_set_qdata(GST_MINI_OBJECT(memory), quark_of(context, GST_TDL_CACHE_BUFFER), cached,
                              cached_free);
}
