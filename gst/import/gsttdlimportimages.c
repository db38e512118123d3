/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pictures in VkImages. The kernels read and write buffers, so images are
 * copied by the GPU, in the batch of the frame: from those of the input before
 * anything else, into those of the output behind everything else.
 */
#include "gsttdlimporter.h"

#include "caps/gsttdlgeometry.h"

#define ROW_ALIGN 256 /* bytes; what copies of images like best */

const gchar *gst_tdl_import_images_stage(struct gst_tdl_importer *importer,
                                         struct gst_tdl_import_request *request,
                                         struct tdl_buffer **staging, struct gst_tdl_import *out)
{
    struct tdl_frame layout;
    gsize size = tdl_frame_layout(&layout, out->frame.format, out->frame.width, out->frame.height,
                                  ROW_ALIGN);
    const gchar *why;

    why = size ? gst_tdl_staging_reserve(staging, importer->device, size, TDL_BUFFER_DEVICE)
               : tdl_last_error();
    for (guint p = 0; p < request->planes && !why; p++) {
        gst_tdl_import_set_plane(out, p, *staging, layout.planes[p].offset,
                                 layout.planes[p].stride);
        /* Read once more and written once more than without images. */
        importer->stats.gpu_bytes +=
            2 * (guint64)gst_tdl_geometry_plane_row(request->video->info.finfo, p, layout.width) *
            gst_tdl_geometry_plane_rows(request->video->info.finfo, p, layout.height);
    }
    return why;
}

/* Wait until after whatever others do with the images, and before what they do next. */
static enum tdl_result order(const struct gst_tdl_import *import, struct tdl_batch *batch)
{
    enum tdl_result r = TDL_OK;

    for (guint i = 0; i < import->n_uses && r == TDL_OK; i++) {
        const struct gst_tdl_image_use *use = &import->uses[i];

        if (!use->semaphore)
            continue; /* all is on one queue */
        r = tdl_batch_wait_semaphore(batch, use->semaphore, use->value);
        if (r == TDL_OK)
            r = tdl_batch_signal_semaphore(batch, use->semaphore, use->value + 1);
    }
    return r;
}

const gchar *gst_tdl_import_images_read(struct gst_tdl_importer *importer,
                                        struct gst_tdl_import_request *request,
                                        struct gst_tdl_import *out)
{
    const gchar *why =
        gst_tdl_import_images_stage(importer, request, &request->staging->device, out);

    if (why)
        return why;
    if (order(out, request->batch) != TDL_OK ||
        importer->device->ops->images_to_frame(request->batch, out->images, out->states,
                                               &out->frame) != TDL_OK)
        return tdl_last_error();
    return NULL;
}

enum tdl_result gst_tdl_import_images_write(const struct gst_tdl_importer *importer,
                                            struct gst_tdl_import *target, struct tdl_batch *batch)
{
    enum tdl_result r;

    if (!target->n_images)
        return TDL_OK;
    r = order(target, batch);
    return r == TDL_OK ? importer->device->ops->frame_to_images(batch, &target->frame,
                                                                target->images, target->states)
                       : r;
}
