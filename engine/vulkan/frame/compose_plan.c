/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "compose_plan.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

static_assert(sizeof(((struct tdl_compose_step *)NULL)->push) <= TDL_MAX_PUSH, "push constants");

enum {
    BLOCK_X = 32, /* workgroups of blocks of 4×2 pixels (see frame_target.glsl), and … */
    BLOCK_Y = 4,
    PIXEL_X = 16, /* … of pixels of small pictures */
    PIXEL_Y = 8,
};

/* A step whose kernel has these constants. What a kernel does not look at is 0, so that
 * frames share what pipelines they can. */
static struct tdl_compose_step *add_step(struct tdl_compose_plan *plan, const char *shader,
                                         struct tdl_frame_spec spec, uint32_t group_x,
                                         uint32_t group_y, size_t push_size)
{
    struct tdl_compose_step *s = &plan->steps[plan->count++];
    memset(s, 0, sizeof(*s));
    s->shader = shader;
    s->push_size = (uint32_t)push_size;
    s->spec = spec;
    tdl_frame_set_group(&s->spec, group_x, group_y);
    return s;
}

static bool is_guided(const struct tdl_compose_plan *plan)
{
    return tdl_compose_needs_mask(plan->kernel) && plan->params->refine;
}
static bool is_rolling(const struct tdl_compose_plan *plan)
{
    return tdl_compose_needs_mask(plan->kernel) && plan->rolling;
}

static struct tdl_bind reads(struct tdl_buffer *buffer)
{
    return (struct tdl_bind){.buffer = buffer, .read = true};
}
static struct tdl_bind writes(struct tdl_buffer *buffer)
{
    return (struct tdl_bind){.buffer = buffer, .write = true};
}

static void set_groups(struct tdl_compose_step *s, uint32_t x, uint32_t y, uint32_t z)
{
    s->groups[0] = TDL_DIV_UP(x, s->spec.group[0]);
    s->groups[1] = TDL_DIV_UP(y, s->spec.group[1]);
    s->groups[2] = z;
}

/* Invocations that own blocks of the target; see frame_target.glsl. */
static void set_block_groups(const struct tdl_compose_plan *plan, struct tdl_compose_step *s)
{
    const uint32_t wide = 4 * tdl_format_blocks(plan->target->format, plan->few);
    set_groups(s, TDL_DIV_UP(plan->target->width, wide), TDL_DIV_UP(plan->target->height, 2), 1);
}

static uint32_t frame_size(const struct tdl_frame *frame)
{
    return TDL_PACK_SIZE(frame->width, frame->height);
}
static uint32_t mask_size(const struct tdl_compose_plan *plan)
{
    return TDL_PACK_SIZE(plan->composer->mask_width, plan->composer->mask_height);
}

/* ------------------------------------------------------ at mask resolution */

static void add_guided(struct tdl_compose_plan *plan, struct tdl_buffer *pairs, bool fit)
{
    const struct tdl_composer *c = plan->composer;
    /* ACROSS and STRIP in guided.comp. */
    const uint32_t across = plan->few ? 4 : 1, strip = plan->few ? 16 : 1;
    const struct tdl_frame_spec spec = tdl_frame_guided_spec(.fit = fit, .few = plan->few);
    struct tdl_compose_step *s =
        add_step(plan, "frame_guided", spec, PIXEL_X, PIXEL_Y, sizeof(s->push.guided));
    s->push.guided = (struct tdl_frame_guided_push){mask_size(plan), TDL_GUIDED_PENALTY};
    s->binds[0] = reads(fit ? pairs : c->lines);
    s->binds[1] = fit ? writes(c->lines)
                      : (struct tdl_bind){.buffer = c->coefficients, .read = true, .write = true};
    s->binds[2] = fit ? writes(c->coefficients) : reads(pairs);
    set_groups(s, TDL_DIV_UP(c->mask_width, across), TDL_DIV_UP(c->mask_height, strip), 1);
}

/* Finds holes or islands of the mask in `pairs`, and removes some. */
static void add_regions(struct tdl_compose_plan *plan, bool islands)
{
    enum { LABEL, MERGE, COUNT, CLEAN, STRIP = 32 }; /* modes of regions.comp */
    const struct tdl_composer *c = plan->composer;
    const struct tdl_mask_regions r = tdl_mask_regions(plan->params, c->mask_width, c->mask_height);
    const struct tdl_frame_regions_push push = {
        .mask_size = mask_size(plan),
        .levels = r.low | r.high << 16,
        .doubt = r.doubt[0] | r.doubt[1] << 16,
        .least_value = r.least_value,
        .least_area = r.least_area,
        .kind = islands,
    };
    for (uint32_t pass = LABEL; pass <= CLEAN; pass++) {
        const struct tdl_frame_spec spec = tdl_frame_regions_spec(.pass = pass, .few = plan->few);
        struct tdl_compose_step *s =
            add_step(plan, "frame_regions", spec, 4, PIXEL_Y, sizeof(push));
        const bool finds = pass < CLEAN;
        s->push.regions = push;
        s->binds[0] = (struct tdl_bind){.buffer = c->pairs, .read = true, .write = !finds};
        s->binds[1] =
            (struct tdl_bind){.buffer = c->own[TDL_VK_BITS], .read = true, .write = pass == LABEL};
        s->binds[2] =
            (struct tdl_bind){.buffer = c->own[TDL_VK_LABELS], .read = true, .write = finds};
        s->binds[3] =
            (struct tdl_bind){.buffer = c->own[TDL_VK_REGIONS], .read = true, .write = finds};
        set_groups(s, TDL_DIV_UP(c->mask_width, STRIP), c->mask_height, 1);
    }
}

/* Grows the mask in `pairs`, pass by pass, to and fro between it and `other`;
 * the end of it, if no guided filter follows, are the coefficients. Returns
 * where it ends. */
static struct tdl_buffer *add_growth(struct tdl_compose_plan *plan)
{
    const struct tdl_composer *c = plan->composer;
    const struct tdl_mask_growth growth =
        tdl_mask_growth(plan->params, plan->source, c->mask_width, c->mask_height);
    struct tdl_buffer *from, *to = c->pairs;
    for (uint32_t i = 0; i < growth.passes; i++) {
        struct tdl_compose_step *s = add_step(plan, "frame_grow", (struct tdl_frame_spec){0},
                                              PIXEL_X, PIXEL_Y, sizeof(s->push.grow));
        from = to;
        to = from == c->pairs ? c->grown : c->pairs;
        if (!plan->params->refine && i + 1 == growth.passes)
            to = c->coefficients;
        s->push.grow = (struct tdl_frame_grow_push){
            .mask_size = mask_size(plan),
            .across = growth.across,
            .down = growth.down,
            .shrink = plan->params->grow < 0,
            .coefficients = to == c->coefficients,
        };
        s->binds[0] = reads(from);
        s->binds[1] = writes(to);
        set_groups(s, c->mask_width, c->mask_height, 1);
    }
    return to;
}

/* Elements to 32-bit words, as the shader counts. */
static void set_reading(const struct tdl_color_reading *r, uint32_t out[2])
{
    out[0] = r->half ? r->pixel / 2 : r->pixel;
    out[1] = r->half ? 0 : r->channel;
}

/* Without tensors, as when kernels are prepared, only the step's kernel is right. */
static void add_colors(struct tdl_compose_plan *plan)
{
    const struct tdl_composer *c = plan->composer;
    const struct tdl_compose_more *more = plan->params->more;
    float map[3][3];
    struct tdl_compose_step *s = add_step(plan, "frame_foreground", (struct tdl_frame_spec){0},
                                          PIXEL_X, PIXEL_Y, sizeof(s->push.foreground));
    struct tdl_frame_foreground_push *push = &s->push.foreground;
    set_groups(s, c->mask_width, c->mask_height, 1);
    if (!more->foreground)
        return;
    const struct tdl_tensor *front = more->foreground, *seen = more->picture;
    const struct tdl_color_reading f = tdl_compose_color_reading(more, &front->params, false);
    const struct tdl_color_reading p = tdl_compose_color_reading(more, &seen->params, true);
    tdl_compose_color_steps(plan->target, more->bgr, map);
    for (int i = 0; i < 3; i++)
        memcpy(push->matrix[i], map[i], sizeof(map[i]));
    memcpy(push->scale, p.scale, sizeof(push->scale));
    memcpy(push->offset, p.offset, sizeof(push->offset));
    set_reading(&f, push->foreground);
    set_reading(&p, push->picture);
    push->mask_size = mask_size(plan);
    const struct tdl_mask_part *part = &c->part;
    push->tensor_size = TDL_PACK_SIZE((uint32_t)part->mask_width, (uint32_t)part->mask_height);
    push->part_x = part->x;
    push->part_y = part->y;
    s->binds[0] = (struct tdl_bind){.buffer = front->buffer, .size = front->size, .read = true};
    s->binds[1] = (struct tdl_bind){.buffer = seen->buffer, .size = seen->size, .read = true};
    s->binds[2] = writes(c->coefficients);
    s->binds[3] = reads(c->state);
}

static void add_mask(struct tdl_compose_plan *plan)
{
    const struct tdl_composer *c = plan->composer;
    const struct tdl_compose_params *p = plan->params;
    const uint32_t side = plan->few ? 2 : 1;
    const struct tdl_mask_steps steps = tdl_mask_steps(p, c->have_state);
    struct tdl_buffer *pairs = c->pairs;
    const struct tdl_frame_spec spec =
        tdl_frame_guide_spec(.source = tdl_format_traits(plan->source->format),
                             .source_aligned = tdl_frame_is_aligned(plan->source),
                             .few = plan->few);
    struct tdl_compose_step *s =
        add_step(plan, "frame_guide", spec, PIXEL_X, PIXEL_Y, sizeof(s->push.guide));
    s->push.guide = (struct tdl_frame_guide_push){
        .source_size = frame_size(plan->source),
        .mask_size = mask_size(plan),
        .keep = steps.keep,
        .flags = (p->reuse_mask ? TDL_GUIDE_REUSE : 0) | (steps.plain ? 0 : TDL_GUIDE_PAIRS) |
                 (steps.look ? TDL_GUIDE_LOOK : 0) | (p->invert ? TDL_GUIDE_INVERTED : 0),
        .tensor_size =
            TDL_PACK_SIZE((uint32_t)plan->part.mask_width, (uint32_t)plan->part.mask_height),
        .part_x = plan->part.x,
        .part_y = plan->part.y,
    };
    tdl_frame_bind(plan->source, false, s->binds, s->push.guide.source);
    s->binds[3] = reads(plan->mask ? plan->mask : c->state);
    s->binds[4] = (struct tdl_bind){.buffer = c->state, .read = true, .write = true};
    s->binds[5] = writes(steps.plain ? c->coefficients : c->pairs);
    set_groups(s, TDL_DIV_UP(c->mask_width, side), TDL_DIV_UP(c->mask_height, side), 1);
    if (steps.holes)
        add_regions(plan, false);
    if (steps.islands)
        add_regions(plan, true);
    if (steps.grows)
        pairs = add_growth(plan);
    if (steps.refines) {
        add_guided(plan, pairs, true);
        add_guided(plan, pairs, false);
    }
}

/* --------------------------------------------------------- at reduced size */

static void add_blur_down(struct tdl_compose_plan *plan)
{
    const struct tdl_composer *c = plan->composer;
    const struct tdl_soft_step soft = tdl_soft_step(plan->params);
    const struct tdl_frame_spec spec =
        tdl_frame_blur_down_spec(.source = tdl_format_traits(plan->source->format),
                                 .source_aligned = tdl_frame_is_aligned(plan->source),
                                 .target = tdl_format_traits(plan->target->format),
                                 .rematrix = tdl_color_rematrix(plan->source, plan->target),
                                 .guided = is_guided(plan), .both = plan->despills,
                                 .rolling = false, .few = plan->few);
    struct tdl_compose_step *s =
        add_step(plan, "frame_blur_down", spec, PIXEL_X, PIXEL_Y, sizeof(s->push.blur_down));
    struct tdl_frame_blur_down_push *push = &s->push.blur_down;
    *push = (struct tdl_frame_blur_down_push){
        .source_size = frame_size(plan->source),
        .mask_size = mask_size(plan),
        .mask_scale = soft.scale,
        .mask_offset = soft.offset,
        .blur_size = TDL_PACK_SIZE(plan->blur.width, plan->blur.height),
        .factor = plan->blur.factor,
    };
    tdl_color_convert(plan->source, plan->target, push->matrix);
    tdl_frame_bind(plan->source, false, s->binds, push->source);
    s->binds[3] = writes(c->blur[TDL_VK_SUMS]);
    s->binds[6] = reads(c->coefficients);
    set_groups(s, plan->blur.width, plan->blur.height, 1);
}

static void add_light(struct tdl_compose_plan *plan)
{
    const struct tdl_composer *c = plan->composer;
    const struct tdl_soft_step soft = tdl_soft_step(plan->params);
    const float most = (float)((1 << tdl_format_info(plan->target->format)->bits) - 1);
    const struct tdl_frame_spec spec =
        tdl_frame_light_spec(.source = tdl_format_traits(plan->source->format),
                             .source_aligned = tdl_frame_is_aligned(plan->source),
                             .target = tdl_format_traits(plan->target->format), .rematrix = false,
                             .guided = is_guided(plan),
                             .picture = plan->kernel == TDL_KERNEL_PICTURE, .rolling = false,
                             .few = plan->few);
    struct tdl_compose_step *s =
        add_step(plan, "frame_light", spec, PIXEL_X, PIXEL_Y, sizeof(s->push.light));
    struct tdl_frame_light_push *push = &s->push.light;
    *push = (struct tdl_frame_light_push){
        .source_size = frame_size(plan->source),
        .mask_size = mask_size(plan),
        .mask_scale = soft.scale,
        .mask_offset = soft.offset,
        .blur_size = TDL_PACK_SIZE(plan->blur.width, plan->blur.height),
        .factor = plan->blur.factor,
        .first = (plan->light - 1) * plan->blur.width * plan->blur.height,
    };
    tdl_color_code(plan->target, plan->params->background_color, push->color);
    tdl_color_luma(plan->target, &push->luma_scale, &push->luma_offset);
    push->luma_scale *= most;
    tdl_frame_bind(plan->source, false, s->binds, push->source);
    s->binds[6] = reads(c->coefficients);
    s->binds[7] =
        plan->kernel == TDL_KERNEL_PICTURE ? reads(c->picture.frame.planes[0].buffer) : s->binds[6];
    s->binds[3] = writes(c->blur[TDL_VK_SUMS]);
    set_groups(s, plan->blur.width, plan->blur.height, 1);
}

/* Where frame_spill.glsl looks for small pictures. */
static struct tdl_bind writes_small(const struct tdl_compose_plan *plan)
{
    return (struct tdl_bind){.buffer = plan->composer->coefficients,
                             .offset = tdl_composer_small_offset(plan->composer),
                             .size = 4ull * plan->small * plan->blur.width * plan->blur.height,
                             .write = true};
}

static void add_blur_sweep(struct tdl_compose_plan *plan, bool last)
{
    const struct tdl_composer *c = plan->composer;
    const struct tdl_blur_steps blur = plan->blur;
    const uint32_t run = plan->few ? 4 : 1; /* RUN in blur.comp */
    const struct tdl_frame_spec spec =
        tdl_frame_blur_spec(.pass = !last                             ? 0
                                    : plan->kernel == TDL_KERNEL_BLUR ? 1
                                                                      : 2,
                            .few = plan->few, .light = last ? plan->light : 0);
    struct tdl_compose_step *s =
        add_step(plan, "frame_blur", spec, PIXEL_X, PIXEL_Y, sizeof(s->push.blur));
    s->push.blur = (struct tdl_frame_blur_push){
        .size = TDL_PACK_SIZE(blur.width, blur.height),
        .radius = blur.radius,
        .exponent = blur.exponent,
        .scale = blur.scale,
    };
    s->binds[0] = reads(last ? c->blur[TDL_VK_SWEPT] : c->blur[TDL_VK_SUMS]);
    s->binds[1] = !last                             ? writes(c->blur[TDL_VK_SWEPT])
                  : plan->kernel == TDL_KERNEL_BLUR ? writes(c->blur[TDL_VK_BLURRED])
                                                    : writes_small(plan);
    set_groups(s, last ? blur.width : TDL_DIV_UP(blur.width, run),
               last ? TDL_DIV_UP(blur.height, run) : blur.height, plan->small);
}

/* ------------------------------------------------------------ at full size */

static void add_picture(struct tdl_compose_plan *plan)
{
    const struct tdl_frame *from = plan->params->background, *to = &plan->composer->picture.frame;
    const struct tdl_picture_place place = tdl_picture_place(plan->params, plan->target);
    const struct tdl_frame_spec spec =
        tdl_frame_picture_spec(.source = tdl_format_traits(from->format),
                               .source_aligned = tdl_frame_is_aligned(from),
                               .target = tdl_format_traits(plan->target->format), .few = plan->few);
    struct tdl_compose_step *s =
        add_step(plan, "frame_picture", spec, BLOCK_X, BLOCK_Y, sizeof(s->push.picture));
    struct tdl_frame_picture_push *push = &s->push.picture;
    push->source_size = frame_size(from);
    push->target_size = frame_size(plan->target);
    memcpy(push->origin, place.origin, sizeof(push->origin));
    push->step_x = place.step[0];
    push->step_y = place.step[1];
    tdl_color_code(from, plan->params->background_color, push->color);
    tdl_color_convert(from, plan->target, push->matrix);
    tdl_frame_bind(from, false, &s->binds[0], push->source);
    if (to->format)
        tdl_frame_bind(to, true, &s->binds[3], push->target);
    set_block_groups(plan, s);
}

static void add_copy(struct tdl_compose_plan *plan)
{
    const uint32_t planes = tdl_format_planes(plan->source->format);
    const struct tdl_frame_spec spec =
        tdl_frame_copy_spec(.source = tdl_format_traits(plan->source->format),
                            .source_aligned = tdl_frame_is_aligned(plan->source), .target = 0,
                            .few = plan->few);
    struct tdl_compose_step *s = add_step(plan, "frame_copy", spec, 32, 4, sizeof(s->push.copy));
    struct tdl_frame_copy_push *push = &s->push.copy;
    push->source_size = frame_size(plan->source);
    for (uint32_t p = 0; p < planes; p++) {
        push->row_bytes[p] = tdl_frame_row_bytes(plan->source, p);
        push->rows[p] = tdl_frame_rows(plan->source, p);
    }
    tdl_frame_bind(plan->source, false, &s->binds[0], push->source);
    tdl_frame_bind(plan->target, true, &s->binds[3], push->target);
    set_groups(s, TDL_DIV_UP(push->row_bytes[0], 4), push->rows[0], planes);
}

static void fill_compose(const struct tdl_compose_plan *plan, struct tdl_frame_compose_push *push)
{
    const struct tdl_compose_params *p = plan->params;
    const struct tdl_soft_step soft = tdl_soft_step(p);
    const bool overlay = p->mode == TDL_MODE_OVERLAY;
    *push = (struct tdl_frame_compose_push){
        .source_size = frame_size(plan->source),
        .mask_size = mask_size(plan),
        .mask_scale = soft.scale,
        .mask_offset = soft.offset,
        .opacity = p->mode == TDL_MODE_MASK ? tdl_mask_value(p) : p->opacity * p->overlay_color[3],
        .blur_size = TDL_PACK_SIZE(plan->blur.width, plan->blur.height),
        .blur_step = 1 / (float)plan->blur.factor,
        .blur_share = plan->light ? (float)p->light_wrap : plan->blur.share,
    };
    tdl_color_convert(plan->source, plan->target, push->matrix);
    tdl_color_code(plan->target, overlay ? p->overlay_color : p->background_color, push->color);
}

/* The step at full size. Its three kernels begin with the same constants. */
static struct tdl_compose_step *add_compose_step(struct tdl_compose_plan *plan)
{
    const size_t push = sizeof(struct tdl_frame_compose_push);
    const uint32_t source = tdl_format_traits(plan->source->format);
    const uint32_t target = tdl_format_traits(plan->target->format);
    const bool aligned = tdl_frame_is_aligned(plan->source);
    const bool rematrix = tdl_color_rematrix(plan->source, plan->target);
    const bool colors = tdl_compose_knows_colors(plan->params, plan->kernel);
    if (plan->kernel == TDL_KERNEL_BLUR)
        return add_step(plan, "frame_compose_blur",
                        tdl_frame_compose_blur_spec(.source = source, .source_aligned = aligned,
                                                    .target = target, .rematrix = rematrix,
                                                    .guided = is_guided(plan),
                                                    .rolling = is_rolling(plan), .few = plan->few),
                        BLOCK_X, BLOCK_Y, push);
    if (plan->kernel == TDL_KERNEL_PICTURE)
        return add_step(plan, "frame_compose_picture",
                        tdl_frame_compose_picture_spec(.source = source, .source_aligned = aligned,
                                                       .target = target, .rematrix = rematrix,
                                                       .guided = is_guided(plan),
                                                       .rolling = is_rolling(plan),
                                                       .few = plan->few, .despill = plan->despills,
                                                       .light = plan->light, .foreground = colors),
                        BLOCK_X, BLOCK_Y, push);
    return add_step(plan, "frame_compose",
                    tdl_frame_compose_spec(.source = source, .source_aligned = aligned,
                                           .target = target, .rematrix = rematrix,
                                           .guided = is_guided(plan), .mode = plan->kernel,
                                           .rolling = is_rolling(plan), .few = plan->few,
                                           .despill = plan->despills, .light = plan->light,
                                           .foreground = colors),
                    BLOCK_X, BLOCK_Y, push);
}

static void add_compose(struct tdl_compose_plan *plan)
{
    const struct tdl_composer *c = plan->composer;
    struct tdl_compose_step *s = add_compose_step(plan);
    fill_compose(plan, &s->push.compose);
    tdl_frame_bind(plan->source, false, &s->binds[0], s->push.compose.source);
    tdl_frame_bind(plan->target, true, &s->binds[3], s->push.compose.target);
    /* A binding that is not read still has to be there. */
    s->binds[6] = plan->kernel == TDL_KERNEL_CONVERT ? s->binds[0] : reads(c->coefficients);
    if (plan->kernel == TDL_KERNEL_BLUR)
        s->binds[7] = reads(c->blur[TDL_VK_BLURRED]);
    if (plan->kernel == TDL_KERNEL_PICTURE)
        s->binds[7] = reads(c->picture.frame.planes[0].buffer);
    set_block_groups(plan, s);
}

struct tdl_compose_plan tdl_compose_plan_new(const struct tdl_composer *c,
                                             const struct tdl_frame *source,
                                             const struct tdl_frame *target,
                                             const struct tdl_compose_params *params)
{
    const enum tdl_compose_kernel kernel = tdl_compose_choose(source, target, params);
    const uint32_t small = tdl_compose_small(params, kernel);
    return (struct tdl_compose_plan){
        .composer = c,
        .source = source,
        .target = target,
        .params = params,
        .kernel = kernel,
        .blur = tdl_small_steps(params, kernel, source),
        .small = small,
        .light = tdl_compose_wraps(params, kernel) ? small : 0,
        .colors = tdl_compose_knows_colors(params, kernel) && params->more->foreground,
        .despills = tdl_compose_despills(params, kernel),
        .few = tdl_frame_wants_few(c->ctx),
        .rolling = 4 * c->mask_width <= source->width && c->mask_height <= source->height,
    };
}

void tdl_compose_plan_build(struct tdl_compose_plan *plan, bool picture_stale)
{
    if (plan->kernel == TDL_KERNEL_COPY) {
        add_copy(plan);
        return;
    }
    if (tdl_compose_needs_mask(plan->kernel))
        add_mask(plan);
    if (plan->colors)
        add_colors(plan);
    if (plan->kernel == TDL_KERNEL_PICTURE && picture_stale)
        add_picture(plan);
    if (plan->kernel == TDL_KERNEL_BLUR || plan->despills)
        add_blur_down(plan);
    if (plan->light)
        add_light(plan);
    if (plan->small) {
        add_blur_sweep(plan, false);
        add_blur_sweep(plan, true);
    }
    add_compose(plan);
}
