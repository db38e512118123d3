/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdlcompose.h"

#include "network/gsttdlflight.h"

#include <math.h>

enum tdl_result gst_tdl_compose_init(struct gst_tdl_compose *compose, struct tdl_context *context)
{
    const struct tdl_tensor_params nobody = {
        .dtype = TDL_FLOAT32, .rank = 4, .shape = { 1, 1, 1, 1 }, .label = "nobody"
    };
    enum tdl_result r = tdl_composer_create(context, &compose->composer);

    compose->mask_time = GST_CLOCK_TIME_NONE;
    if (r == TDL_OK)
        r = tdl_composer_create(context, &compose->around);
    return r == TDL_OK ? tdl_tensor_create(context, &nobody, &compose->nobody) : r;
}

void gst_tdl_compose_finish(struct gst_tdl_compose *compose)
{
    tdl_composer_destroy(&compose->composer);
    tdl_composer_destroy(&compose->around);
    tdl_tensor_destroy(&compose->nobody);
    g_clear_pointer(&compose->picture, gst_tdl_picture_free);
}

void gst_tdl_compose_reset(struct gst_tdl_compose *compose)
{
    tdl_composer_reset(compose->composer);
    compose->mask_time = GST_CLOCK_TIME_NONE;
}

static void color(guint argb, float out[4])
{
    for (guint i = 0; i < 4; i++)
        out[i] = ((argb >> (i == 3 ? 24 : 16 - 8 * i)) & 0xff) / 255.0f;
}

gfloat gst_tdl_compose_blur(const struct gst_tdl_live *live, guint height)
{
    return live->blur_share > 0 ? MIN(live->blur_share * height, GST_TDL_BLUR_MAX)
                                : live->blur_radius;
}

static const enum tdl_mode engine_modes[] = {
    [GST_TDL_MODE_MASK] = TDL_MODE_MASK,
    [GST_TDL_MODE_OVERLAY] = TDL_MODE_OVERLAY,
    [GST_TDL_MODE_BLUR] = TDL_MODE_BLUR,
    [GST_TDL_MODE_REPLACE] = TDL_MODE_REPLACE,
    [GST_TDL_MODE_ALPHA] = TDL_MODE_ALPHA,
    [GST_TDL_MODE_PASSTHROUGH] = TDL_MODE_PASSTHROUGH,
    [GST_TDL_MODE_PICTURE] = TDL_MODE_PASSTHROUGH,
    [GST_TDL_MODE_CLASSES] = TDL_MODE_PASSTHROUGH,
};
G_STATIC_ASSERT(G_N_ELEMENTS(engine_modes) == GST_TDL_MODE_COUNT);

enum tdl_mode gst_tdl_compose_mode(enum gst_tdl_mode mode)
{
    return engine_modes[mode];
}

void gst_tdl_compose_params(const struct gst_tdl_live *live, enum gst_tdl_mode mode,
                            const struct tdl_frame *background,
                            struct tdl_compose_params *out_params)
{
    *out_params = (struct tdl_compose_params){
        .mode = gst_tdl_compose_mode(mode),
        .opacity = live->opacity,
        .blur_radius = live->blur_radius,
        .threshold = live->threshold,
        .feather = live->feather,
        .smoothing = live->smoothing,
        .refine = live->refine,
        .close_holes = live->close_holes,
        .despill = live->despill,
        .light_wrap = live->light_wrap,
        .min_area = live->min_area,
        .grow = live->grow,
        .invert = live->invert,
        .background = background,
    };
    color(live->background_color, out_params->background_color);
    color(live->overlay_color, out_params->overlay_color);
}

gfloat gst_tdl_compose_smoothing(gfloat left, GstClockTime before, GstClockTime now)
{
    gdouble elapsed = 1 / 30.0; /* s */

    if (GST_CLOCK_TIME_IS_VALID(before) && GST_CLOCK_TIME_IS_VALID(now) && now != before)
        elapsed = (now > before ? now - before : before - now) / (gdouble)GST_SECOND;
    return MIN(pow(left, 30 * elapsed), 0.99);
}

/* The mask says how much of a pixel is foreground: 0 is black, 255 white,
 * whatever range the caps of GRAY8 have. */
static struct tdl_frame written(const struct tdl_frame *target, enum gst_tdl_mode mode)
{
    struct tdl_frame frame = *target;

    if (mode == GST_TDL_MODE_MASK)
        frame.range = TDL_RANGE_FULL;
    return frame;
}

/* Circles of the picture stay circles on the screen. */
static gfloat background_aspect(const struct gst_tdl_compose *compose,
                                const struct gst_tdl_frames *frames)
{
    gfloat frame = frames->pixel_aspect > 0 ? frames->pixel_aspect : 1;

    return compose->picture ? CLAMP(compose->picture->aspect / frame, 0.001f, 1000) : 0;
}

enum tdl_result gst_tdl_compose_closed(struct gst_tdl_compose *compose, struct tdl_batch *batch,
                                       const struct gst_tdl_live *live, enum gst_tdl_mode mode,
                                       const struct gst_tdl_frames *frames)
{
    const struct gst_tdl_live worn = gst_tdl_live_with(live, &compose->look);
    const struct gst_tdl_live all_background = {
        .background_color = live->background_color,
        .threshold = 0.5f,
        .refine = worn.refine, /* the kernels are those of other frames */
        .despill = live->despill,
        .light_wrap = live->light_wrap,
    };
    const struct tdl_frame target = written(&frames->target, mode);
    struct tdl_compose_params params;

    gst_tdl_compose_params(&all_background, mode,
                           compose->picture ? &compose->picture->frame : NULL, &params);
    params.background_aspect = background_aspect(compose, frames);
    params.blur_radius = gst_tdl_compose_blur(live, frames->source.height);
    return tdl_compose(batch, compose->around, &frames->source, compose->nobody, &target, &params);
}

enum tdl_result gst_tdl_compose_around(struct gst_tdl_compose *compose, struct tdl_batch *batch,
                                       const struct gst_tdl_live *live, enum gst_tdl_mode mode,
                                       const struct gst_tdl_frames *frames)
{
    struct tdl_compose_params params;

    if (gst_tdl_live_guards(live) || frames->label)
        return gst_tdl_compose_closed(compose, batch, live, mode, frames);
    gst_tdl_compose_params(live, GST_TDL_MODE_PASSTHROUGH, NULL, &params);
    return tdl_compose(batch, compose->around, &frames->source, NULL, &frames->target, &params);
}

enum tdl_result gst_tdl_compose_record(struct gst_tdl_compose *compose, struct tdl_batch *batch,
                                       const struct gst_tdl_live *live, enum gst_tdl_mode mode,
                                       const struct gst_tdl_frames *frames, struct tdl_tensor *mask,
                                       GstClockTime time)
{
    const struct gst_tdl_live worn = gst_tdl_live_with(live, &compose->look);
    struct tdl_frame target = written(&frames->target_part, mode);
    struct tdl_compose_params params;
    enum tdl_result r = tdl_batch_stage(batch, GST_TDL_STAGE_COMPOSE);

    if (r == TDL_OK && frames->cropped)
        r = gst_tdl_compose_around(compose, batch, live, mode, frames);
    if (r != TDL_OK)
        return r;
    gst_tdl_compose_params(&worn, mode, compose->picture ? &compose->picture->frame : NULL,
                           &params);
    params.background_aspect = background_aspect(compose, frames);
    params.blur_radius = gst_tdl_compose_blur(live, frames->source.height);
    params.reuse_mask = mask == NULL;
    params.more = &compose->colors;
    params.mask_value = frames->label;
    params.mask_part.x = compose->mask_part.x;
    params.mask_part.y = compose->mask_part.y;
    params.mask_part.width = compose->mask_part.width;
    params.mask_part.height = compose->mask_part.height;
    params.smoothing = gst_tdl_compose_smoothing(worn.smoothing, compose->mask_time, time);
    if (mask)
        compose->mask_time = time;
    return tdl_compose(batch, compose->composer, &frames->source_part, mask, &target, &params);
}

enum tdl_result gst_tdl_compose_prepare(struct gst_tdl_compose *compose,
                                        const struct gst_tdl_live *live, enum gst_tdl_mode mode,
                                        const struct gst_tdl_frames *frames,
                                        const struct tdl_compile_params *compile)
{
    const struct gst_tdl_live worn = gst_tdl_live_with(live, &compose->look);
    struct tdl_frame target = written(&frames->target_part, mode);
    struct tdl_compose_params params;

    gst_tdl_compose_params(&worn, mode, compose->picture ? &compose->picture->frame : NULL,
                           &params);
    params.background_aspect = background_aspect(compose, frames);
    params.blur_radius = gst_tdl_compose_blur(live, frames->source_part.height);
    params.more = &compose->colors;
    return tdl_composer_prepare(compose->composer, &frames->source_part, &target, &params, compile);
}
