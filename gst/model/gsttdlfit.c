/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdlfit.h"

#define MAX_MASK 32767 /* px that libtdl takes */
/* A middle is at most so many times as small as the frame: masks grow with it. */
#define MAX_SHARE 8

/* The frame as it is seen, in pixels as high as wide. */
static void seen(const struct gst_tdl_fit_sizes *s, gdouble out[2])
{
    out[0] = s->frame[0] * (s->pixel_aspect > 0 ? (gdouble)s->pixel_aspect : 1);
    out[1] = s->frame[1];
}

/* A length of `of` that begins and ends with pixels of the mask, in the middle. */
static void place(gdouble length, guint of, guint mask, guint *out_origin, guint *out_length)
{
    const guint step = of % mask == 0 ? of / mask : 1;
    const guint steps = CLAMP((guint)(length / step + 0.5), 1, of / step);

    *out_length = steps * step;
    *out_origin = (of / step - steps) / 2 * step;
}

static void letterbox(const struct gst_tdl_fit_sizes *s, struct tdl_frame_to_tensor_params *picture,
                      struct gst_tdl_mask_part *part)
{
    guint origin[2], length[2], first[2], last[2];
    gdouble size[2], scale;

    seen(s, size);
    scale = MIN(s->input[0] / size[0], s->input[1] / size[1]);
    for (guint i = 0; i < 2; i++) {
        place(size[i] * scale, s->input[i], s->mask[i], &origin[i], &length[i]);
        first[i] = origin[i] * (guint64)s->mask[i] / s->input[i];
        last[i] = ((guint64)(origin[i] + length[i]) * s->mask[i] + s->input[i] - 1) / s->input[i];
    }
    picture->inside.x = origin[0];
    picture->inside.y = origin[1];
    picture->inside.width = length[0];
    picture->inside.height = length[1];
    picture->pad = GST_TDL_FIT_PAD;
    *part =
        (struct gst_tdl_mask_part){ first[0], first[1], last[0] - first[0], last[1] - first[1] };
}

/* The mask of the whole frame would be so much larger, with the same borders at both
 * ends; the middle of the frame follows from it. */
static void crop(const struct gst_tdl_fit_sizes *s, struct tdl_frame_to_tensor_params *picture,
                 struct gst_tdl_mask_part *part)
{
    guint whole[2], length[2], border[2];
    gdouble size[2], scale;

    seen(s, size);
    scale = MAX(s->input[0] / size[0], s->input[1] / size[1]);
    for (guint i = 0; i < 2; i++) {
        const gdouble share = CLAMP(size[i] * scale / s->input[i], 1, MAX_SHARE);

        border[i] = MIN((guint)(s->mask[i] * (share - 1) / 2 + 0.5),
                        (MAX_MASK - MIN(s->mask[i], MAX_MASK)) / 2);
        whole[i] = s->mask[i] + 2 * border[i];
        length[i] = MAX((guint)(s->frame[i] * (gdouble)s->mask[i] / whole[i] + 0.5), 1);
    }
    picture->crop.width = length[0];
    picture->crop.height = length[1];
    picture->crop.x = (s->frame[0] - length[0]) / 2;
    picture->crop.y = (s->frame[1] - length[1]) / 2;
    *part = (struct gst_tdl_mask_part){ -(gint)border[0], -(gint)border[1], whole[0], whole[1] };
}

/* Whole px of the mask, and the px of the frame that these are nearest to. */
static void look_at(const struct gst_tdl_fit_sizes *s, struct tdl_frame_to_tensor_params *picture,
                    struct gst_tdl_mask_part *part)
{
    guint whole[2], origin[2], first[2], last[2];

    for (guint i = 0; i < 2; i++) {
        const gdouble share = s->frame[i] / (gdouble)s->region[2 + i];

        whole[i] = CLAMP((guint)(s->mask[i] * share + 0.5), s->mask[i], MAX_MASK);
        origin[i] = MIN((guint)(s->region[i] * (gdouble)whole[i] / s->frame[i] + 0.5),
                        whole[i] - s->mask[i]);
        first[i] = (guint)(origin[i] * (gdouble)s->frame[i] / whole[i] + 0.5);
        last[i] = (guint)((origin[i] + s->mask[i]) * (gdouble)s->frame[i] / whole[i] + 0.5);
    }
    picture->crop.x = MIN(first[0], s->frame[0] - 1);
    picture->crop.y = MIN(first[1], s->frame[1] - 1);
    picture->crop.width = MAX(last[0], picture->crop.x + 1) - picture->crop.x;
    picture->crop.height = MAX(last[1], picture->crop.y + 1) - picture->crop.y;
    *part = (struct gst_tdl_mask_part){ -(gint)origin[0], -(gint)origin[1], whole[0], whole[1] };
}

void gst_tdl_fit(gint fit, const struct gst_tdl_fit_sizes *sizes,
                 struct tdl_frame_to_tensor_params *picture, struct gst_tdl_mask_part *out_part)
{
    *out_part = (struct gst_tdl_mask_part){ 0 };
    if (sizes->region[2])
        look_at(sizes, picture, out_part);
    else if (fit == GST_TDL_FIT_LETTERBOX)
        letterbox(sizes, picture, out_part);
    else if (fit == GST_TDL_FIT_CROP)
        crop(sizes, picture, out_part);
}

/* A share of a side of the frame as one of the picture's: what is read of it, and where that goes;
 * lengths of 0 are all of it. */
static gdouble place_in(gdouble share, guint frame, const guint read[2], const guint input,
                        const guint inside[2])
{
    const gdouble px = read[1] ? (share * frame - read[0]) / read[1] : share;

    return inside[1] ? (inside[0] + px * inside[1]) / input : px;
}

struct gst_tdl_point gst_tdl_fit_point(const struct gst_tdl_point *point,
                                       const struct gst_tdl_fit_sizes *s,
                                       const struct tdl_frame_to_tensor_params *p)
{
    struct gst_tdl_point to = { .label = point->label };

    to.x = place_in((gdouble)point->x, s->frame[0], (guint[]){ p->crop.x, p->crop.width },
                    s->input[0], (guint[]){ p->inside.x, p->inside.width });
    to.y = place_in((gdouble)point->y, s->frame[1], (guint[]){ p->crop.y, p->crop.height },
                    s->input[1], (guint[]){ p->inside.y, p->inside.height });
    if (to.label <= GST_TDL_POINT_FOREGROUND &&
        (to.x != CLAMP(to.x, 0, 1) || to.y != CLAMP(to.y, 0, 1)))
        return (struct gst_tdl_point){ 0, 0, GST_TDL_POINT_NONE };
    to.x = CLAMP(to.x, 0, 1);
    to.y = CLAMP(to.y, 0, 1);
    return to;
}
