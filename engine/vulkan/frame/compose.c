/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "compose_plan.h"

#include "vulkan/table.h"
#include "vulkan/graph/compile.h"

static enum tdl_result get_pipeline(const struct tdl_compose_plan *plan, uint32_t i,
                                    const struct tdl_pipeline **out_pipeline)
{
    return tdl_pipeline_get(plan->composer->ctx, plan->steps[i].shader, plan->steps[i].spec.group,
                            TDL_FRAME_SPEC_COUNT, out_pipeline);
}

/* Guesses at the mask's size, with and without light and the foreground's colours. */
enum { GUESSES = 8 };
struct wanted {
    struct tdl_kernel kernels[GUESSES * TDL_COMPOSE_MAX_STEPS];
    struct tdl_frame_spec specs[GUESSES * TDL_COMPOSE_MAX_STEPS];
    uint32_t count;
};

static void want_steps(struct wanted *wanted, const struct tdl_compose_plan *plan)
{
    for (uint32_t i = 0; i < plan->count; i++) {
        const uint32_t n = wanted->count++;
        wanted->specs[n] = plan->steps[i].spec;
        wanted->kernels[n] = (struct tdl_kernel){.shader = plan->steps[i].shader,
                                                 .spec = wanted->specs[n].group,
                                                 .spec_count = TDL_FRAME_SPEC_COUNT};
    }
}

enum tdl_result tdl_vk_composer_prepare(struct tdl_composer *composer,
                                        const struct tdl_frame *source,
                                        const struct tdl_frame *target,
                                        const struct tdl_compose_params *params,
                                        const struct tdl_compile_params *compile)
{
    const struct tdl_pipeline *made[GUESSES * TDL_COMPOSE_MAX_STEPS] = {NULL};
    struct wanted wanted = {.count = 0};
    enum tdl_result r;
    if (!composer->scratch)
        TRY(tdl_buffer_create_named(composer->ctx, 256, TDL_BUFFER_DEVICE, "nothing",
                                    &composer->scratch));
    /* A slider that leaves 0 while frames are running finds its kernels ready. */
    struct tdl_compose_params all = *params;
    all.min_area = 1;
    all.grow = 1;
    for (int k = 0; k < 4; k++) {
        const bool light = k & 1, colors = k < 2;
        all.light_wrap = light;
        all.more = colors ? params->more : NULL; /* `invert` does without */
        struct tdl_compose_plan plan = tdl_compose_plan_new(composer, source, target, &all);
        plan.colors = tdl_compose_knows_colors(&all, plan.kernel);
        if ((light && !plan.light) || (colors && !plan.colors))
            continue;
        /* As long as no mask has been seen, its size might be either way. */
        for (int guess = composer->mask_width ? 1 : 0; guess < 2; guess++) {
            plan.count = 0;
            tdl_compose_plan_build(&plan, true);
            want_steps(&wanted, &plan);
            plan.rolling = !plan.rolling;
        }
    }
    TRY(tdl_compile_kernels(composer->ctx, wanted.kernels, wanted.count, composer->scratch, compile,
                            made));
fail:
    tdl_pipelines_let_go(composer->ctx, made, TDL_COUNT(made), true);
    return r;
}

/* Frames of equal strides and next to no padding, which may be another
 * picture's, are runs of bytes and need no kernel. */
static bool can_copy_planes(const struct tdl_compose_plan *plan)
{
    bool can = plan->kernel == TDL_KERNEL_COPY;
    for (uint32_t p = 0; p < tdl_format_planes(plan->source->format); p++) {
        const struct tdl_plane *from = &plan->source->planes[p], *to = &plan->target->planes[p];
        can = can && from->stride == to->stride && from->buffer != to->buffer &&
              to->stride - tdl_frame_row_bytes(plan->target, p) < 4;
    }
    return can;
}

static enum tdl_result copy_planes(struct tdl_batch *batch, const struct tdl_compose_plan *plan)
{
    enum tdl_result r = TDL_OK;
    for (uint32_t p = 0; p < tdl_format_planes(plan->source->format) && r == TDL_OK; p++) {
        const struct tdl_plane *from = &plan->source->planes[p], *to = &plan->target->planes[p];
        const uint64_t before = (uint64_t)(tdl_frame_rows(plan->source, p) - 1) * from->stride;
        r = tdl_batch_copy(batch, from->buffer, from->offset, to->buffer, to->offset,
                           before + tdl_frame_row_bytes(plan->source, p));
    }
    return r;
}

static enum tdl_result record(struct tdl_batch *batch, const struct tdl_compose_plan *plan)
{
    const struct tdl_pipeline *pipelines[TDL_COMPOSE_MAX_STEPS];
    enum tdl_result r = TDL_OK;
    /* All of them first: a batch should not be left with half a composition. */
    for (uint32_t i = 0; i < plan->count; i++)
        TRY(get_pipeline(plan, i, &pipelines[i]));
    for (uint32_t i = 0; i < plan->count; i++) {
        const struct tdl_compose_step *s = &plan->steps[i];
        TRY(tdl_batch_dispatch(batch, pipelines[i], s->binds, TDL_MAX_BINDS, &s->push, s->push_size,
                               s->groups[0], s->groups[1], s->groups[2]));
    }
fail:
    return r;
}

enum tdl_result tdl_vk_compose(struct tdl_batch *batch, struct tdl_composer *composer,
                               const struct tdl_frame *source, struct tdl_tensor *mask,
                               const struct tdl_frame *target,
                               const struct tdl_compose_params *params, bool picture_is_stale)
{
    const enum tdl_compose_kernel kernel = tdl_compose_choose(source, target, params);
    const uint32_t small = tdl_compose_small_room(params, kernel);
    enum tdl_result r;
    if (tdl_compose_needs_mask(kernel))
        TRY(tdl_composer_need_room(composer, batch, tdl_compose_knows_colors(params, kernel),
                                   source, kernel == TDL_KERNEL_BLUR ? 0 : small));
    struct tdl_compose_plan plan = tdl_compose_plan_new(composer, source, target, params);
    if (can_copy_planes(&plan))
        return copy_planes(batch, &plan);
    if (tdl_compose_needs_mask(kernel) && !params->reuse_mask) {
        const struct tdl_dims d = tdl_picture_dims(&mask->params, 1);
        plan.mask = mask->buffer;
        plan.part = tdl_mask_part(params, d.w, d.h);
    }
    tdl_compose_plan_build(&plan, picture_is_stale);
    TRY(record(batch, &plan));
fail:
    return r;
}
