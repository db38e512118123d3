/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "frame.h"

#include "tensor.h"

#include "frame/compose.h"

#include <math.h>

/* ------------------------------------------------------------------ frames */

static enum tdl_result check_plane(const struct tdl_context *ctx, const struct tdl_frame *frame,
                                   uint32_t p, bool written, const char *what)
{
    const struct tdl_plane *plane = &frame->planes[p];
    const char *name = tdl_format_name(frame->format);
    if (!plane->buffer)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "%s frame: plane %u has no buffer", what, p);
    if (plane->buffer->ctx != ctx)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "%s frame: plane %u lies in a buffer of another context", what, p);
    if (plane->stride < tdl_frame_row_bytes(frame, p))
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "%s frame: plane %u of %s, %u px wide, needs a stride of %u bytes; it is "
                        "%u",
                        what, p, name, frame->width, tdl_frame_row_bytes(frame, p), plane->stride);
    if (written && (plane->stride % 4 || plane->offset % 4))
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "%s frame: plane %u has offset %llu and stride %u; a frame that is written "
                        "needs multiples of 4",
                        what, p, (unsigned long long)plane->offset, plane->stride);
    uint64_t extent = tdl_frame_extent(frame, p);
    if (written)
        extent = TDL_ALIGN(extent, 4);
    if (plane->offset > plane->buffer->size || extent > plane->buffer->size - plane->offset)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "%s frame: plane %u ends at byte %llu of a buffer of %zu", what, p,
                        (unsigned long long)(plane->offset + extent), plane->buffer->size);
    if (extent + 256 > ctx->info.max_buffer_bytes)
        return tdl_fail(TDL_ERROR_UNSUPPORTED,
                        "%s frame: plane %u has %llu bytes; this device's kernels reach %llu", what,
                        p, (unsigned long long)extent,
                        (unsigned long long)ctx->info.max_buffer_bytes);
    return TDL_OK;
}

enum tdl_result tdl_frame_check(const struct tdl_context *ctx, const struct tdl_frame *frame,
                                bool written, const char *what)
{
    const struct tdl_format_info *info = tdl_format_info(frame->format);
    enum tdl_result r = TDL_OK;
    if (TDL_IS_UNKNOWN(frame))
        return tdl_fail_unknown(what);
    if (!info)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "%s frame: %d is no format", what,
                        (int)frame->format);
    if (!tdl_frame_size_ok(frame->width, frame->height))
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "%s frame: %u×%u px; sizes from 1 to %d are possible", what, frame->width,
                        frame->height, TDL_MAX_FRAME_SIZE);
    if ((unsigned)frame->matrix > TDL_COLOR_MATRIX_BT2020 ||
        (unsigned)frame->range > TDL_RANGE_FULL)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "%s frame: unknown matrix %d or range %d", what,
                        (int)frame->matrix, (int)frame->range);
    for (uint32_t p = 0; p < info->planes && r == TDL_OK; p++)
        r = check_plane(ctx, frame, p, written, what);
    return r;
}

enum tdl_result tdl_fail_no_frames(const struct tdl_context *ctx)
{
    return tdl_fail(TDL_ERROR_UNSUPPORTED, "%s has nothing for frames", ctx->info.name);
}

/* --------------------------------------------------------- frame to tensor */

static enum tdl_result check_tensor(const struct tdl_context *ctx, const struct tdl_tensor *tensor)
{
    const struct tdl_tensor_params *p = &tensor->params;
    const struct tdl_dims dims = tdl_tensor_params_dims(p);
    char text[64];
    bool f32 = p->dtype == TDL_FLOAT32;
    bool f16 = p->dtype == TDL_FLOAT16 && p->packing == TDL_PACKING_C4;
    if (tensor->buffer->ctx != ctx)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "the tensor belongs to another context");
    if (tdl_tensor_check_no_constant(tensor) != TDL_OK)
        return TDL_ERROR_INVALID_ARGUMENT;
    if (p->rank != 4 || dims.n != 1 || dims.c != 3 || dims.w > UINT16_MAX || dims.h > UINT16_MAX ||
        !(f32 || f16))
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "tensor %s: a frame goes to [1,H,W,3] float32, in packs or not, or "
                        "float16 in packs",
                        tdl_tensor_params_text(p, text, sizeof(text)));
    return TDL_OK;
}

/* The whole frame, where no part of it is named. */
static enum tdl_result resolve_crop(const struct tdl_frame *frame,
                                    struct tdl_frame_to_tensor_params *params)
{
    const uint32_t x = params->crop.x, y = params->crop.y;
    uint32_t width = params->crop.width, height = params->crop.height;
    if (!x && !y && !width && !height) {
        width = frame->width;
        height = frame->height;
    }
    if (!width || !height || x >= frame->width || y >= frame->height || width > frame->width - x ||
        height > frame->height - y)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "crop %u,%u %u×%u px does not lie in the frame of %u×%u px", x, y, width,
                        height, frame->width, frame->height);
    params->crop.width = width;
    params->crop.height = height;
    return TDL_OK;
}

/* The whole tensor likewise. */
static enum tdl_result resolve_inside(const struct tdl_tensor *tensor,
                                      struct tdl_frame_to_tensor_params *params)
{
    const struct tdl_dims dims = tdl_tensor_params_dims(&tensor->params);
    const uint32_t x = params->inside.x, y = params->inside.y;
    if (!x && !y && !params->inside.width && !params->inside.height) {
        params->inside.width = dims.w;
        params->inside.height = dims.h;
    }
    const uint32_t width = params->inside.width, height = params->inside.height;
    if (!width || !height || x >= dims.w || y >= dims.h || width > dims.w - x ||
        height > dims.h - y)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "inside %u,%u %u×%u px does not lie in the tensor of %u×%u px", x, y, width,
                        height, dims.w, dims.h);
    if (params->filter > TDL_FILTER_BILINEAR)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "there is no filter %llu",
                        (unsigned long long)params->filter);
    if (!(params->pad >= 0 && params->pad <= 1))
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "pad %g is outside 0…1", (double)params->pad);
    return TDL_OK;
}

enum tdl_result tdl_frame_to_tensor(struct tdl_batch *batch, const struct tdl_frame *frame,
                                    struct tdl_tensor *tensor,
                                    const struct tdl_frame_to_tensor_params *params)
{
    TDL_NEED_KNOWN(frame);
    TDL_NEED_KNOWN(params);
    TDL_NEED(batch, "batch");
    TDL_NEED(frame, "frame");
    TDL_NEED(tensor, "tensor");
    struct tdl_frame_to_tensor_params resolved =
        params ? *params : (struct tdl_frame_to_tensor_params){0};
    struct tdl_context *ctx = batch->ctx;
    enum tdl_result r;
    if (!ctx->on->frame_to_tensor)
        return tdl_logged(ctx, tdl_fail_no_frames(ctx));
    TRY(tdl_frame_check(ctx, frame, false, "source"));
    TRY(check_tensor(ctx, tensor));
    TRY(resolve_crop(frame, &resolved));
    TRY(resolve_inside(tensor, &resolved));
    TRY(ctx->on->frame_to_tensor(batch, frame, tensor, &resolved));
fail:
    return tdl_logged(ctx, r);
}

enum tdl_result tdl_frame_to_tensor_prepare(const struct tdl_frame *frame,
                                            struct tdl_tensor *tensor,
                                            const struct tdl_compile_params *compile)
{
    TDL_NEED_KNOWN(frame);
    TDL_NEED_KNOWN(compile);
    TDL_NEED(frame, "frame");
    TDL_NEED(tensor, "tensor");
    struct tdl_context *ctx = tensor->buffer->ctx;
    enum tdl_result r;
    if (!tdl_format_info(frame->format))
        r = tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "the frame has no format");
    else
        r = ctx->on->frame_to_tensor_prepare ? check_tensor(ctx, tensor) : tdl_fail_no_frames(ctx);
    if (r == TDL_OK)
        r = ctx->on->frame_to_tensor_prepare(frame, tensor, compile);
    return tdl_logged(ctx, r);
}

/* --------------------------------------------------------- tensor to frame */

static bool unit(float v)
{
    return v >= 0 && v <= 1; /* false for NaN */
}

static enum tdl_result check_picture(const struct tdl_context *ctx, const struct tdl_tensor *tensor)
{
    const struct tdl_tensor_params *p = &tensor->params;
    const struct tdl_dims dims = tdl_tensor_params_dims(p);
    char text[64];
    if (tensor->buffer->ctx != ctx)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "the tensor belongs to another context");
    if (p->rank != 4 || dims.n != 1 || (dims.c != 1 && dims.c != 3 && dims.c != 4) ||
        dims.w > TDL_MAX_FRAME_SIZE || dims.h > TDL_MAX_FRAME_SIZE || p->dtype != TDL_FLOAT32)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "tensor %s: a frame comes from [1,H,W,C] float32, in packs or not, of 1, "
                        "3 or 4 channels",
                        tdl_tensor_params_text(p, text, sizeof(text)));
    return TDL_OK;
}

static enum tdl_result check_through(const struct tdl_frame *target,
                                     const struct tdl_frame_from_tensor_params *p)
{
    const struct tdl_frame *source = p->source;
    const bool yuv = !tdl_format_has(tdl_format_info(target->format), TDL_TRAIT_RGB);
    if (source->width != target->width || source->height != target->height)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "source has %u×%u px, target %u×%u; they must be equal", source->width,
                        source->height, target->width, target->height);
    if (source->format != target->format ||
        (yuv && (source->matrix != target->matrix || source->range != target->range)))
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "source is %s, target %s; they must agree in format, matrix and range",
                        tdl_format_name(source->format), tdl_format_name(target->format));
    if (!unit(p->opacity))
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "opacity %g is outside 0…1",
                        (double)p->opacity);
    return TDL_OK;
}

/* The params with what zeros stand for. */
static enum tdl_result resolve_picture(const struct tdl_tensor *tensor,
                                       const struct tdl_frame *frame,
                                       struct tdl_frame_from_tensor_params *p)
{
    const struct tdl_dims dims = tdl_tensor_params_dims(&tensor->params);
    if (!p->crop.x && !p->crop.y && !p->crop.width && !p->crop.height) {
        p->crop.width = dims.w;
        p->crop.height = dims.h;
    }
    if (!p->crop.width || !p->crop.height || p->crop.x >= dims.w || p->crop.y >= dims.h ||
        p->crop.width > dims.w - p->crop.x || p->crop.height > dims.h - p->crop.y)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "crop %u,%u %u×%u px does not lie in the tensor of %u×%u px", p->crop.x,
                        p->crop.y, p->crop.width, p->crop.height, dims.w, dims.h);
    const bool scaled = p->scale[0] != 0 || p->scale[1] != 0 || p->scale[2] != 0;
    for (int c = 0; c < 3; c++) {
        p->scale[c] = scaled ? p->scale[c] : 1;
        if (!isfinite(p->scale[c]) || !isfinite(p->bias[c]))
            return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "scale and bias must be finite");
    }
    return p->source ? check_through(frame, p) : TDL_OK;
}

enum tdl_result tdl_frame_from_tensor(struct tdl_batch *batch, struct tdl_tensor *tensor,
                                      const struct tdl_frame *frame,
                                      const struct tdl_frame_from_tensor_params *params)
{
    TDL_NEED_KNOWN(frame);
    TDL_NEED_KNOWN(params);
    TDL_NEED(batch, "batch");
    TDL_NEED(tensor, "tensor");
    TDL_NEED(frame, "frame");
    struct tdl_frame_from_tensor_params resolved =
        params ? *params : (struct tdl_frame_from_tensor_params){.opacity = 1};
    struct tdl_context *ctx = batch->ctx;
    enum tdl_result r;
    if (!ctx->on->frame_from_tensor)
        return tdl_logged(ctx, tdl_fail_no_frames(ctx));
    TRY(tdl_frame_check(ctx, frame, true, "target"));
    TRY(check_picture(ctx, tensor));
    if (resolved.source)
        TRY(tdl_frame_check(ctx, resolved.source, false, "source"));
    TRY(resolve_picture(tensor, frame, &resolved));
    TRY(ctx->on->frame_from_tensor(batch, tensor, frame, &resolved));
fail:
    return tdl_logged(ctx, r);
}

enum tdl_result tdl_frame_from_tensor_prepare(struct tdl_tensor *tensor,
                                              const struct tdl_frame *frame,
                                              const struct tdl_frame_from_tensor_params *params,
                                              const struct tdl_compile_params *compile)
{
    TDL_NEED_KNOWN(frame);
    TDL_NEED_KNOWN(compile);
    TDL_NEED_KNOWN(params);
    TDL_NEED(tensor, "tensor");
    TDL_NEED(frame, "frame");
    struct tdl_frame_from_tensor_params resolved =
        params ? *params : (struct tdl_frame_from_tensor_params){.opacity = 1};
    struct tdl_context *ctx = tensor->buffer->ctx;
    enum tdl_result r;
    if (!tdl_format_info(frame->format) ||
        (resolved.source && !tdl_format_info(resolved.source->format)))
        return tdl_logged(ctx, tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "the frame has no format"));
    if (!ctx->on->frame_from_tensor_prepare)
        return tdl_logged(ctx, tdl_fail_no_frames(ctx));
    TRY(check_picture(ctx, tensor));
    TRY(resolve_picture(tensor, frame, &resolved));
    TRY(ctx->on->frame_from_tensor_prepare(tensor, frame, &resolved, compile));
fail:
    return tdl_logged(ctx, r);
}

/* ----------------------------------------------------------------- compose */

static const float MAX_ASPECT = 1024; /* keeps positions in the picture finite */

static enum tdl_result check_params(const struct tdl_compose_params *p)
{
    for (int i = 0; i < 4; i++)
        if (!unit(p->background_color[i]) || !unit(p->overlay_color[i]))
            return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "compose: a colour is outside 0…1");
    if (!unit(p->opacity) || !unit(p->threshold) || !unit(p->feather))
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "compose: opacity, threshold or feather is outside 0…1");
    if (!unit(p->min_area))
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "compose: min_area %g is outside 0…1",
                        (double)p->min_area);
    if (!(p->grow >= -TDL_MAX_GROW && p->grow <= TDL_MAX_GROW))
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "compose: grow %g px is outside ±%d",
                        (double)p->grow, TDL_MAX_GROW);
    if (!(p->smoothing >= 0 && p->smoothing < 1))
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "compose: smoothing %g is outside 0…0.99",
                        (double)p->smoothing);
    if (!(p->light_wrap >= 0 && p->light_wrap <= 1))
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "compose: light_wrap %g is not in 0…1",
                        p->light_wrap);
    if (!(p->blur_radius >= 0 && p->blur_radius <= 128))
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "compose: blur radius %g px is outside 0…128",
                        (double)p->blur_radius);
    if (!p->mask_part.width != !p->mask_part.height ||
        (!p->mask_part.width && (p->mask_part.x || p->mask_part.y)) ||
        p->mask_part.width > TDL_MAX_FRAME_SIZE || p->mask_part.height > TDL_MAX_FRAME_SIZE ||
        p->mask_part.x > TDL_MAX_FRAME_SIZE || p->mask_part.x < -TDL_MAX_FRAME_SIZE ||
        p->mask_part.y > TDL_MAX_FRAME_SIZE || p->mask_part.y < -TDL_MAX_FRAME_SIZE)
        return tdl_fail(
            TDL_ERROR_INVALID_ARGUMENT,
            "compose: the mask's part %d,%d %u×%u px; sizes from 1 to %d px are possible",
            (int)p->mask_part.x, (int)p->mask_part.y, p->mask_part.width, p->mask_part.height,
            TDL_MAX_FRAME_SIZE);
    if (p->mask_value > 255)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "compose: a mask's value %llu is above 255",
                        (unsigned long long)p->mask_value);
    if (!(p->background_aspect >= 0 && p->background_aspect <= MAX_ASPECT) ||
        (p->background_aspect > 0 && p->background_aspect < 1 / MAX_ASPECT))
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "compose: an aspect ratio of the background's pixels of %g",
                        (double)p->background_aspect);
    return TDL_OK;
}

enum tdl_result tdl_compose_check(const struct tdl_frame *source, const struct tdl_frame *target,
                                  const struct tdl_compose_params *p)
{
    if ((unsigned)p->mode > TDL_MODE_PASSTHROUGH)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "compose: %d is no mode", (int)p->mode);
    if (!tdl_format_info(source->format) || !tdl_format_info(target->format))
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "compose: a frame has no format");
    if (source->width != target->width || source->height != target->height)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "compose: source has %u×%u px, target %u×%u; they must be equal",
                        source->width, source->height, target->width, target->height);
    if (p->mode == TDL_MODE_MASK && target->format != TDL_FORMAT_GRAY8)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "compose: mode mask makes GRAY8, not %s",
                        tdl_format_name(target->format));
    if (p->mode == TDL_MODE_ALPHA &&
        !tdl_format_has(tdl_format_info(target->format), TDL_TRAIT_ALPHA))
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "compose: mode alpha makes RGBA or BGRA, not %s",
                        tdl_format_name(target->format));
    return check_params(p);
}

enum tdl_result tdl_mask_check(const struct tdl_context *ctx, const struct tdl_tensor *mask)
{
    char text[64];
    const struct tdl_dims d = tdl_picture_dims(&mask->params, 1);
    if (mask->buffer->ctx != ctx)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "compose: the mask is of another context");
    if (mask->params.rank != 4 || d.n != 1 || d.c != 1 || mask->params.dtype != TDL_FLOAT32 ||
        mask->params.packing == TDL_PACKING_C4 || d.w > TDL_MAX_FRAME_SIZE ||
        d.h > TDL_MAX_FRAME_SIZE)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "compose: a mask is [1,h,w,1] float32, not %s",
                        tdl_tensor_params_text(&mask->params, text, sizeof(text)));
    return TDL_OK;
}
