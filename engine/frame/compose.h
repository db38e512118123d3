/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A composition in numbers: which steps it takes and what they are told, of frames, masks
 * and parameters alone. Devices make them.
 */
#ifndef TDL_FRAME_COMPOSE_H
#define TDL_FRAME_COMPOSE_H

#include "format.h"

/* The kernel that makes the target. The first five are values of MODE in
 * shaders/frame/compose.comp; the others are kernels of their own. */
enum tdl_compose_kernel {
    TDL_KERNEL_MASK = 0,
    TDL_KERNEL_OVERLAY,
    TDL_KERNEL_COLOR,
    TDL_KERNEL_ALPHA,
    TDL_KERNEL_CONVERT,
    TDL_KERNEL_PICTURE,
    TDL_KERNEL_BLUR,
    TDL_KERNEL_COPY,
};
enum tdl_compose_kernel tdl_compose_choose(const struct tdl_frame *source,
                                           const struct tdl_frame *target,
                                           const struct tdl_compose_params *params);
/* The kernel reads a mask. */
bool tdl_compose_needs_mask(enum tdl_compose_kernel kernel);

/* The guided filter's penalty, of squared luma of 0…1: edges of less contrast
 * than about its root are left to the mask. */
#define TDL_GUIDED_PENALTY 1e-3f
/* A variance of the mask in a window that is as good as none. */
#define TDL_GUIDED_LEAST 1e-4f

/* The steps of a mask, at its own size and in this order. */
struct tdl_mask_steps {
    float keep;   /* most that the mask before may weigh */
    bool look;    /* the guide is needed */
    bool holes;   /* holes are looked for */
    bool islands; /* and islands */
    bool grows;   /* the mask grows, or is handed on by growing by nothing */
    bool refines;
    bool plain; /* none of the last four */
};
/* `before`: there is a mask of the frame before. */
struct tdl_mask_steps tdl_mask_steps(const struct tdl_compose_params *params, bool before);

/* The place in its tensor of a mask's pixels that cover the frame. */
struct tdl_mask_part {
    int32_t mask_width, mask_height; /* size of the tensor, px */
    int32_t x, y;
    uint32_t width, height;
};
struct tdl_mask_part tdl_mask_part(const struct tdl_compose_params *params, uint32_t mask_width,
                                   uint32_t mask_height);

/* Rules for holes and islands, and for what becomes of them; masks are 0…65535. */
struct tdl_mask_regions {
    uint32_t low, high; /* holes are below, islands above */
    /* The lowest value of a hole that begins to be closed, and of one that is
     * closed wholly; both 65535 where none is. */
    uint32_t doubt[2];
    uint32_t least_value; /* smaller values are not looked at */
    uint32_t least_area;  /* px */
};
struct tdl_mask_regions tdl_mask_regions(const struct tdl_compose_params *params,
                                         uint32_t mask_width, uint32_t mask_height);

/* Passes that grow the mask, and the half axes of each in mask pixels. What a frame
 * asks for that is far smaller than its mask ends at the most of both. */
enum { TDL_COMPOSE_MAX_GROWTH = 8, TDL_COMPOSE_MAX_REACH = 8 };
struct tdl_mask_growth {
    uint32_t passes;
    float across, down;
};
struct tdl_mask_growth tdl_mask_growth(const struct tdl_compose_params *params,
                                       const struct tdl_frame *source, uint32_t mask_width,
                                       uint32_t mask_height);

/* The soft step as value · scale + offset, to be clamped to 0…1. */
struct tdl_soft_step {
    float scale, offset;
};
struct tdl_soft_step tdl_soft_step(const struct tdl_compose_params *params);

/* The value of foreground in TDL_MODE_MASK. */
static inline float tdl_mask_value(const struct tdl_compose_params *params)
{
    return params->mask_value ? (float)params->mask_value : 255;
}

/* The blur: `factor` times smaller, two sweeps with weights 2^(exponent · distance²)
 * · scale. `share`: how much of the blurred picture is in the background. */
struct tdl_blur_steps {
    uint32_t factor, width, height;
    int32_t radius;
    float exponent, scale, share;
};
/* The network's own colours of the foreground count: those of `more`, or that were kept. */
bool tdl_compose_knows_colors(const struct tdl_compose_params *params,
                              enum tdl_compose_kernel kernel);
/* R, G, B of 0…1, or as `bgr` has it B, G, R, to shares of the target's codes: what a
 * difference of colours is a difference of. */
void tdl_compose_color_steps(const struct tdl_frame *target, bool bgr, float out[3][3]);
/* How a picture's tensor is read: elements from pixel to pixel and from channel to
 * channel, and a colour of 0…1 as value · scale + offset. */
struct tdl_color_reading {
    uint32_t pixel, channel;
    bool half; /* float16, else float32 */
    float scale[3], offset[3];
};
/* The reading of the foreground, or of the picture. */
struct tdl_color_reading tdl_compose_color_reading(const struct tdl_compose_more *more,
                                                   const struct tdl_tensor_params *tensor,
                                                   bool picture);
/* The background's colour is taken out of the foreground's outline. */
bool tdl_compose_despills(const struct tdl_compose_params *params, enum tdl_compose_kernel kernel);
/* The background's light falls on the foreground's edge. */
bool tdl_compose_wraps(const struct tdl_compose_params *params, enum tdl_compose_kernel kernel);
/* Small pictures, one behind the other: of blur; or of despill two, and one of light. */
uint32_t tdl_compose_small(const struct tdl_compose_params *params, enum tdl_compose_kernel kernel);
/* As many as there may be while these params stand: `invert` may move, and a mask come
 * without the foreground's colours. */
uint32_t tdl_compose_small_room(const struct tdl_compose_params *params,
                                enum tdl_compose_kernel kernel);
/* How they are blurred. */
struct tdl_blur_steps tdl_small_steps(const struct tdl_compose_params *params,
                                      enum tdl_compose_kernel kernel,
                                      const struct tdl_frame *source);

/* The place of the replacement picture: the target's corner, and the way from pixel to
 * pixel, in pixels of the picture. */
struct tdl_picture_place {
    float origin[2], step[2];
};
struct tdl_picture_place tdl_picture_place(const struct tdl_compose_params *params,
                                           const struct tdl_frame *target);

#endif
