/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "kept_picture.h"

static bool same_colors(const struct tdl_frame *a, const struct tdl_frame *b)
{
    return a->format == b->format && a->width == b->width && a->height == b->height &&
           a->matrix == b->matrix && a->range == b->range;
}

static bool same_picture(const struct tdl_frame *a, const struct tdl_frame *b)
{
    bool same = same_colors(a, b);
    for (uint32_t p = 0; p < tdl_format_planes(b->format) && same; p++)
        same = a->planes[p].buffer == b->planes[p].buffer &&
               a->planes[p].offset == b->planes[p].offset &&
               a->planes[p].stride == b->planes[p].stride;
    return same;
}

/* The colour is a part of a transparent picture alone. */
static bool same_look(const struct tdl_kept_picture *k, const struct tdl_compose_params *params)
{
    return k->aspect == params->background_aspect &&
           (!tdl_format_has(tdl_format_info(params->background->format), TDL_TRAIT_ALPHA) ||
            !memcmp(k->color, params->background_color, sizeof(k->color)));
}

static uint64_t last_write(const struct tdl_kept_picture *k)
{
    const struct tdl_buffer *buffer = k->frame.planes[0].buffer;
    return buffer->ctx->on->buffer_point(buffer, false);
}

/* A batch that should make the picture may be cancelled: it is made when its
 * buffer has been written since. */
static void remember_look(struct tdl_kept_picture *k, const struct tdl_compose_params *params)
{
    k->before = last_write(k);
    k->aspect = params->background_aspect;
    memcpy(k->color, params->background_color, sizeof(k->color));
}

void tdl_kept_picture_drop(struct tdl_kept_picture *k)
{
    tdl_buffer_destroy(&k->frame.planes[0].buffer);
    for (uint32_t p = 0; p < TDL_MAX_PLANES; p++)
        tdl_buffer_destroy(&k->refs[p]);
    k->frame = k->source = k->target = (struct tdl_frame){0};
}

enum tdl_result tdl_kept_picture_need(struct tdl_kept_picture *k, struct tdl_context *ctx,
                                      const struct tdl_compose_params *params,
                                      const struct tdl_frame *target, bool *out_stale)
{
    const struct tdl_frame *source = params->background;
    const bool same_frames = same_picture(&k->source, source) && same_colors(&k->target, target);
    enum tdl_result r;
    *out_stale = true;
    if (same_frames && same_look(k, params)) {
        *out_stale = last_write(k) == k->before;
        return TDL_OK;
    }
    if (same_frames) { /* the buffer will do */
        remember_look(k, params);
        return TDL_OK;
    }
    tdl_kept_picture_drop(k);
    struct tdl_buffer *buffer = NULL;
    const size_t size =
        tdl_frame_layout(&k->frame, target->format, target->width, target->height, 4);
    TRY(tdl_buffer_create_named(ctx, size, TDL_BUFFER_DEVICE, "replacement picture", &buffer));
    k->frame.matrix = target->matrix;
    k->frame.range = target->range;
    for (uint32_t i = 0; i < tdl_format_planes(k->frame.format); i++)
        k->frame.planes[i].buffer = buffer;
    k->source = *source;
    k->target = *target;
    /* Held, so that no other buffer can come to have the same address. */
    for (uint32_t i = 0; i < tdl_format_planes(source->format); i++)
        k->refs[i] = tdl_buffer_ref(source->planes[i].buffer);
    remember_look(k, params);
fail:
    return r;
}
