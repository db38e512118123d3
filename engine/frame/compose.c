/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "compose.h"

#include "shape.h"

#include "color.h"

#include <math.h>

/* A hole that is nowhere surer to be background than this share of the
 * threshold begins to be closed, and is closed from the second share on. */
static const float DOUBT[2] = {0.6f, 0.9f};
/* Half the width, of the mask's 0…1, of what is soft at the threshold: with
 * more feather than twice this, faint regions are not looked at. */
static const float MOST_SOFT = 0.2f;
/* Reach of one pass that grows the mask, mask pixels: its work grows with the
 * square, and two circles make a greater one. */
static const float GROWTH = 2.5f;
/* The least variance of the blur's sweeps, of reduced pixels squared: enough
 * to fill what the foreground left empty from the background beside it. */
static const float LEAST_VARIANCE = 0.1225f;
/* Variance of the blur by a shrinking box (1/12) and by growing lines (1/6). */
static const float RESIZE_VARIANCE = 0.25f;

/* How far the means of foreground and background look, and light reaches, standard
 * deviation: a share of the frame's height, px at least. An outline is as wide as two or
 * three pixels of a mask of 256, and they have to reach over it. */
static const float MEAN_REACH = 1 / 45.f, LEAST_MEAN = 3;

static bool same_coding(const struct tdl_frame *a, const struct tdl_frame *b)
{
    return a->format == b->format && (tdl_format_has(tdl_format_info(a->format), TDL_TRAIT_RGB) ||
                                      (a->range == b->range && a->matrix == b->matrix));
}

enum tdl_compose_kernel tdl_compose_choose(const struct tdl_frame *source,
                                           const struct tdl_frame *target,
                                           const struct tdl_compose_params *p)
{
    const enum tdl_compose_kernel unchanged =
        same_coding(source, target) ? TDL_KERNEL_COPY : TDL_KERNEL_CONVERT;
    switch (p->mode) {
    case TDL_MODE_MASK:
        return TDL_KERNEL_MASK;
    case TDL_MODE_OVERLAY:
        return TDL_KERNEL_OVERLAY;
    case TDL_MODE_BLUR:
        return p->blur_radius > 0 ? TDL_KERNEL_BLUR : unchanged;
    case TDL_MODE_REPLACE:
        return p->background ? TDL_KERNEL_PICTURE : TDL_KERNEL_COLOR;
    case TDL_MODE_ALPHA:
        return TDL_KERNEL_ALPHA;
    case TDL_MODE_PASSTHROUGH:
        break;
    }
    return unchanged;
}

bool tdl_compose_needs_mask(enum tdl_compose_kernel kernel)
{
    return kernel != TDL_KERNEL_CONVERT && kernel != TDL_KERNEL_COPY;
}

/* ------------------------------------------------------ at mask resolution */

struct tdl_mask_steps tdl_mask_steps(const struct tdl_compose_params *p, bool before)
{
    struct tdl_mask_steps s = {
        .keep = before ? p->smoothing : 0,
        .look = p->refine || (p->smoothing > 0 && !p->reuse_mask),
        .holes = p->close_holes || p->min_area > 0,
        /* Islands count in the mask that is left: a ring goes with its hole. */
        .islands = p->min_area > 0,
        .refines = p->refine,
    };
    /* Growing by nothing turns guide and mask into coefficients. */
    s.grows = p->grow < 0 || p->grow > 0 || (s.holes && !p->refine);
    s.plain = !s.holes && !s.grows && !s.refines;
    return s;
}

static uint32_t unorm16(float v)
{
    return (uint32_t)(TDL_MIN(TDL_MAX(v, 0), 1) * 65535 + 0.5f);
}

struct tdl_mask_part tdl_mask_part(const struct tdl_compose_params *params, uint32_t mask_width,
                                   uint32_t mask_height)
{
    const bool whole = !params->mask_part.width;
    return (struct tdl_mask_part){
        .mask_width = (int32_t)mask_width,
        .mask_height = (int32_t)mask_height,
        .x = params->mask_part.x,
        .y = params->mask_part.y,
        .width = whole ? mask_width : params->mask_part.width,
        .height = whole ? mask_height : params->mask_part.height,
    };
}

struct tdl_mask_regions tdl_mask_regions(const struct tdl_compose_params *p, uint32_t mask_width,
                                         uint32_t mask_height)
{
    const float soft = TDL_MIN(p->feather / 2, MOST_SOFT);
    const float doubt = p->close_holes ? p->threshold : 2;
    const double pixels = (double)mask_width * mask_height;
    return (struct tdl_mask_regions){
        .low = unorm16(p->threshold + soft),
        .high = unorm16(p->threshold - soft),
        .doubt = {unorm16(DOUBT[0] * doubt), unorm16(DOUBT[1] * doubt)},
        /* Whatever its size, a hole with a sure pixel is none: so they are few. */
        .least_value = p->min_area > 0 ? 0 : unorm16(DOUBT[0] * doubt),
        .least_area = (uint32_t)ceil((double)p->min_area * pixels),
    };
}

struct tdl_mask_growth tdl_mask_growth(const struct tdl_compose_params *p,
                                       const struct tdl_frame *source, uint32_t mask_width,
                                       uint32_t mask_height)
{
    const float most = TDL_COMPOSE_MAX_GROWTH * TDL_COMPOSE_MAX_REACH, grow = fabsf(p->grow);
    const float across = TDL_MIN(grow * (float)mask_width / (float)source->width, most);
    const float down = TDL_MIN(grow * (float)mask_height / (float)source->height, most);
    const uint32_t wanted = (uint32_t)ceilf(TDL_MAX(across, down) / GROWTH);
    const uint32_t passes = TDL_MIN(TDL_MAX(wanted, 1), TDL_COMPOSE_MAX_GROWTH);
    return (struct tdl_mask_growth){passes, across / (float)passes, down / (float)passes};
}

struct tdl_soft_step tdl_soft_step(const struct tdl_compose_params *p)
{
    /* A hard edge: what is above the threshold by more than rounding is in, and
     * everything at a threshold of 0. */
    const float hardness = 65536;
    struct tdl_soft_step s;
    if (p->feather > 1 / hardness) {
        s.scale = 1 / p->feather;
        s.offset = 0.5f - p->threshold * s.scale;
    } else {
        s.scale = hardness;
        s.offset = p->threshold > 0 ? -p->threshold * hardness : hardness;
    }
    if (p->invert) {
        s.scale = -s.scale;
        s.offset = 1 - s.offset;
    }
    return s;
}

/* --------------------------------------------------------- at reduced size */

/* The share of the blurred picture in the background. A quarter of the size cannot be
 * blurred by less than about two pixels; for less, some of the sharp picture makes the
 * variance right. */
static float blur_share(float sigma)
{
    const float least = 16 * (RESIZE_VARIANCE + LEAST_VARIANCE);
    return TDL_MIN(sigma * sigma / least, 1);
}

static struct tdl_blur_steps blur_steps(const struct tdl_compose_params *p,
                                        const struct tdl_frame *source)
{
    /* Reduced as far as leaves a deviation of a pixel and a half. */
    const uint32_t factor = p->blur_radius >= 24 ? 16 : p->blur_radius >= 12 ? 8 : 4;
    const float sigma = p->blur_radius / (float)factor;
    const float variance = TDL_MAX(sigma * sigma - RESIZE_VARIANCE, LEAST_VARIANCE);
    struct tdl_blur_steps b = {
        .factor = factor,
        .width = TDL_DIV_UP(source->width, factor),
        .height = TDL_DIV_UP(source->height, factor),
        .radius = (int32_t)ceilf(3 * sqrtf(variance)),
        .exponent = -0.5f * (float)M_LOG2E / variance,
        .share = blur_share(p->blur_radius),
    };
    float sum = 1;
    for (int k = 1; k <= b.radius; k++)
        sum += 2 * exp2f(b.exponent * (float)(k * k));
    b.scale = 1 / sum;
    return b;
}

/* The foreground is seen apart from its background. */
static bool is_cut_out(enum tdl_compose_kernel kernel)
{
    return kernel == TDL_KERNEL_COLOR || kernel == TDL_KERNEL_PICTURE || kernel == TDL_KERNEL_ALPHA;
}

bool tdl_compose_knows_colors(const struct tdl_compose_params *p, enum tdl_compose_kernel kernel)
{
    return p->more && (p->more->foreground || p->more->keep_foreground) && !p->invert &&
           is_cut_out(kernel);
}

void tdl_compose_color_steps(const struct tdl_frame *target, bool bgr, float out[3][3])
{
    const float most = (float)((1 << tdl_format_info(target->format)->bits) - 1);
    float map[3][4];
    tdl_color_from_rgb(target, map);
    for (int i = 0; i < 3; i++)
        for (int c = 0; c < 3; c++)
            out[i][c] = map[i][bgr ? 2 - c : c] / most;
}

struct tdl_color_reading tdl_compose_color_reading(const struct tdl_compose_more *more,
                                                   const struct tdl_tensor_params *tensor,
                                                   bool picture)
{
    const bool scaled = more->scale[0] != 0 || more->scale[1] != 0 || more->scale[2] != 0;
    struct tdl_color_reading r = {.pixel = 3, .channel = 1, .half = tensor->dtype == TDL_FLOAT16};
    if (tensor->packing == TDL_PACKING_C4)
        r.pixel = 4;
    if (tdl_has_channels_first(tensor, 3)) {
        r.pixel = 1;
        r.channel = tensor->shape[2] * tensor->shape[3];
    }
    for (int c = 0; c < 3; c++) {
        r.scale[c] = picture && scaled ? 1 / more->scale[c] : 1;
        r.offset[c] = picture ? -more->bias[c] * r.scale[c] : 0;
    }
    return r;
}

bool tdl_compose_despills(const struct tdl_compose_params *p, enum tdl_compose_kernel kernel)
{
    return p->despill && is_cut_out(kernel) && !tdl_compose_knows_colors(p, kernel);
}

bool tdl_compose_wraps(const struct tdl_compose_params *p, enum tdl_compose_kernel kernel)
{
    return p->light_wrap > 0 && (kernel == TDL_KERNEL_COLOR || kernel == TDL_KERNEL_PICTURE);
}

uint32_t tdl_compose_small(const struct tdl_compose_params *p, enum tdl_compose_kernel kernel)
{
    return kernel == TDL_KERNEL_BLUR
               ? 1
               : (tdl_compose_despills(p, kernel) ? 2 : 0) + tdl_compose_wraps(p, kernel);
}

uint32_t tdl_compose_small_room(const struct tdl_compose_params *params,
                                enum tdl_compose_kernel kernel)
{
    struct tdl_compose_params plain = *params;
    plain.more = NULL;
    return tdl_compose_small(&plain, kernel);
}

struct tdl_blur_steps tdl_small_steps(const struct tdl_compose_params *params,
                                      enum tdl_compose_kernel kernel,
                                      const struct tdl_frame *source)
{
    if (kernel == TDL_KERNEL_BLUR)
        return blur_steps(params, source);
    const float sigma = TDL_MAX((float)source->height * MEAN_REACH, LEAST_MEAN);
    const struct tdl_compose_params p = {.blur_radius = TDL_MIN(sigma, 128)};
    return blur_steps(&p, source);
}

/* ------------------------------------------------------------ at full size */

struct tdl_picture_place tdl_picture_place(const struct tdl_compose_params *p,
                                           const struct tdl_frame *target)
{
    const struct tdl_frame *from = p->background;
    const float aspect = p->background_aspect > 0 ? p->background_aspect : 1;
    const float across = (float)from->width * aspect / (float)target->width;
    const float down = (float)from->height / (float)target->height;
    const float step_size = TDL_MIN(across, down);
    struct tdl_picture_place place = {.step = {step_size / aspect, step_size}};
    place.origin[0] = ((float)from->width - place.step[0] * (float)target->width) / 2;
    place.origin[1] = ((float)from->height - place.step[1] * (float)target->height) / 2;
    return place;
}
