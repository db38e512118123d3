/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A composition is a short list of steps: the mask's at its own resolution,
 * the blur's at reduced size, and one at full size. The list is made first and
 * recorded or compiled after, so that tdl_composer_prepare() cannot forget a
 * pipeline. What a slider moves is a push constant, never a specialization.
 */
#ifndef TDL_FRAME_COMPOSE_PLAN_H
#define TDL_FRAME_COMPOSE_PLAN_H

#include "rooms.h"

#include "frame/compose.h"

/* Steps of the longest plan: the foreground's colours, guide, holes and islands (4 each), growing,
 * the guided filter (2), the picture, light, blur (3) and the target. */
enum { TDL_COMPOSE_MAX_STEPS = 18 + TDL_COMPOSE_MAX_GROWTH };

/* Flags of shaders/frame/guide.comp. */
enum tdl_guide_flags {
    TDL_GUIDE_REUSE = 1,
    TDL_GUIDE_LOOK = 2,
    TDL_GUIDE_PAIRS = 4,
    TDL_GUIDE_INVERTED = 8,
};
struct tdl_compose_step {
    const char *shader;
    struct tdl_frame_spec spec;
    struct tdl_bind binds[TDL_MAX_BINDS];
    union {
        struct tdl_frame_compose_push compose;
        struct tdl_frame_guide_push guide;
        struct tdl_frame_regions_push regions;
        struct tdl_frame_grow_push grow;
        struct tdl_frame_guided_push guided;
        struct tdl_frame_picture_push picture;
        struct tdl_frame_blur_down_push blur_down;
        struct tdl_frame_light_push light;
        struct tdl_frame_blur_push blur;
        struct tdl_frame_foreground_push foreground;
        struct tdl_frame_copy_push copy;
    } push;
    uint32_t push_size;
    uint32_t groups[3];
};

struct tdl_compose_plan {
    const struct tdl_composer *composer;
    const struct tdl_frame *source, *target;
    const struct tdl_compose_params *params;
    enum tdl_compose_kernel kernel;
    struct tdl_buffer *mask;    /* NULL with reuse_mask */
    struct tdl_mask_part part;  /* the mask's */
    struct tdl_blur_steps blur; /* for the small pictures */
    uint32_t small, light;      /* … their number, and which is the light, from 1 on */
    bool colors;                /* the foreground's colours come with the mask */
    bool despills, few, rolling;
    struct tdl_compose_step steps[TDL_COMPOSE_MAX_STEPS];
    uint32_t count;
};

/* A plan without steps, for the mask's size of now. The frames and params stay
 * the caller's. */
struct tdl_compose_plan tdl_compose_plan_new(const struct tdl_composer *composer,
                                             const struct tdl_frame *source,
                                             const struct tdl_frame *target,
                                             const struct tdl_compose_params *params);
/* Add the steps; `picture_stale`: the replacement picture has to be made. */
void tdl_compose_plan_build(struct tdl_compose_plan *plan, bool picture_stale);

#endif
