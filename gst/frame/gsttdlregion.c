/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdlregion.h"

#include "gsttdlmeta.h"

#define STEPS 8
#define LEAST 2  /* steps: the mask of the whole frame grows with what is left out */
#define MARGIN 8 /* divisor: each end gets a margin of this part of the wanted length */

gboolean gst_tdl_region_find(GstBuffer *buffer, struct gst_tdl_rect *out_rect)
{
    gpointer state = NULL;
    GstMeta *meta;

    *out_rect = (struct gst_tdl_rect){ 0 };
    while ((meta = gst_buffer_iterate_meta_filtered(buffer, &state,
                                                    GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))) {
        const GstVideoRegionOfInterestMeta *roi = (const GstVideoRegionOfInterestMeta *)meta;

        gst_tdl_rect_unite(out_rect, roi->x, roi->y, roi->w, roi->h);
    }
    gst_tdl_analytics_regions(buffer, out_rect);
    return out_rect->width > 0;
}

/* Start and length of the region along one axis. */
static void place(guint *steps, gint64 first, gint64 length, gint64 frame, guint out[2])
{
    const gint64 last = MIN(first + length + length / MARGIN, frame);
    guint need;

    first = CLAMP(first - length / MARGIN, 0, frame - 1);
    need = CLAMP(((last - first) * STEPS + frame - 1) / frame, LEAST, STEPS);
    if (need > *steps || need + 1 < *steps)
        *steps = need;
    length = MAX(frame * *steps / STEPS, 1);
    out[0] = CLAMP((first + last - length) / 2, 0, frame - length);
    out[1] = length;
}

gboolean gst_tdl_region_choose(struct gst_tdl_region *region, const struct gst_tdl_rect *wanted,
                               const guint frame[2], guint out_region[4])
{
    guint across[2], down[2];

    if (!wanted->width || wanted->x >= frame[0] || wanted->y >= frame[1])
        return FALSE;
    place(&region->steps[0], wanted->x, wanted->width, frame[0], across);
    place(&region->steps[1], wanted->y, wanted->height, frame[1], down);
    out_region[0] = across[0];
    out_region[1] = down[0];
    out_region[2] = across[1];
    out_region[3] = down[1];
    return region->steps[0] < STEPS || region->steps[1] < STEPS;
}
