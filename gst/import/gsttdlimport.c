/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Importers stand in a table in the order of what they cost. Each either
 * fills in the planes of the frame or says why it declines; the last one
 * copies, and the element announces that.
 */
#include "gsttdlimport.h"

#include "base/gsttdlerror.h"
#include "gsttdlimporter.h"

#include <string.h>

#define GST_CAT_DEFAULT gst_tdl_filter_debug

static const struct gst_tdl_import_method *const methods[] = {
    &gst_tdl_import_vulkan,         &gst_tdl_import_dma_buf, &gst_tdl_import_dma_buf_image,
    &gst_tdl_import_mapped_dma_buf, &gst_tdl_import_pool,    &gst_tdl_import_host,
    &gst_tdl_import_mapped,         &gst_tdl_import_copy,
};

gboolean gst_tdl_import_fits(GstBuffer *buffer, const struct gst_tdl_video *video, GError **error)
{
    struct gst_tdl_import_request request = { .buffer = buffer, .video = video };

    return gst_tdl_import_find_places(&request, error);
}

/* --------------------------------------------------------------------- door */

void gst_tdl_importer_init(struct gst_tdl_importer *importer, struct gst_tdl_device *device)
{
    *importer = (struct gst_tdl_importer){ .device = device, .path = "none" };
}

void gst_tdl_import_release(struct gst_tdl_import *import)
{
    gst_tdl_import_vulkan_release(import);
    while (import->n_accesses) {
        gst_tdl_access_unref(import->accesses[--import->n_accesses]);
        tdl_buffer_destroy(&import->mapped[import->n_accesses]);
    }
}

/* The first method that takes the request; NULL: none. */
static const struct gst_tdl_import_method *find_method(struct gst_tdl_importer *importer,
                                                       struct gst_tdl_import_request *request,
                                                       gchar declined[GST_TDL_DECLINED_MAX],
                                                       struct gst_tdl_import *out)
{
    gsize length = 0;

    for (guint i = 0; i < G_N_ELEMENTS(methods); i++) {
        const gchar *why;

        if (!methods[i]->import || (request->for_write && !methods[i]->writes) ||
            (methods[i]->maps && !importer->device->able.maps))
            continue;
        *out = (struct gst_tdl_import){ 0 };
        gst_tdl_caps_frame(&request->video->info, &out->frame);
        why = methods[i]->import(importer, request, out);
        if (!why)
            return methods[i];
        gst_tdl_import_release(out);
        g_snprintf(declined + length, GST_TDL_DECLINED_MAX - length, "%s%s: %s", length ? "; " : "",
                   methods[i]->path, why);
        length = strlen(declined);
    }
    return NULL;
}

gboolean gst_tdl_import(struct gst_tdl_importer *importer, GstBuffer *buffer,
                        const struct gst_tdl_video *video, gboolean may_copy,
                        struct tdl_batch *batch, struct gst_tdl_staging *staging,
                        struct gst_tdl_import *out_import, GError **error)
{
    struct gst_tdl_import_request request = {
        .buffer = buffer, .video = video, .batch = batch, .staging = staging, .may_copy = may_copy
    };
    const struct gst_tdl_import_method *method;
    const gchar *why;

    importer->declined[0] = '\0';
    if (!gst_tdl_import_find_places(&request, error))
        return FALSE;
    method = find_method(importer, &request, importer->declined, out_import);
    if (!method) {
        g_set_error(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                    "No way to give the frame to the device (%s). Let the element before tdlfilter "
                    "use the buffer pool that it is offered%s.",
                    importer->declined,
                    may_copy ? "" : ", or set require-zero-copy=false to let the CPU copy");
        return FALSE;
    }
    why = gst_tdl_staging_fetch(importer, &request, out_import);
    if (why) {
        gst_tdl_import_release(out_import);
        g_set_error(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
                    "The frame cannot be brought into the device's memory: %s", why);
        return FALSE;
    }
    if (importer->path != method->path)
        GST_INFO("frames come by \"%s\"%s%s", method->path,
                 importer->declined[0] ? ", as others decline: " : "", importer->declined);
    importer->path = method->path;
    importer->gpu = method->gpu;
    importer->stats.pool_frames += method == &gst_tdl_import_pool;
    importer->stats.copied_frames += method == &gst_tdl_import_copy;
    return TRUE;
}

gboolean gst_tdl_import_target(struct gst_tdl_importer *importer, GstBuffer *buffer,
                               const struct gst_tdl_video *video, struct gst_tdl_staging *staging,
                               struct gst_tdl_import *out_import, GError **error)
{
    struct gst_tdl_import_request request = {
        .buffer = buffer, .video = video, .staging = staging, .for_write = TRUE
    };
    gchar declined[GST_TDL_DECLINED_MAX] = "";

    if (!gst_tdl_import_find_places(&request, error))
        return FALSE;
    if (find_method(importer, &request, declined, out_import))
        return TRUE;
    g_set_error(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_WRITE,
                "The output frame cannot be written by the device (%s). Please report this with a "
                "log of GST_DEBUG=tdl*:6.",
                declined);
    return FALSE;
}
