/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The picture that --frame works on: head and shoulders before a striped
 * wall, plain enough to be drawn here and like enough to a person that the
 * bundled models find one. Later shapes cover earlier ones. libtdl itself
 * brings it into the format and the memory of a frame.
 */
#include "bench.h"

#include <math.h>

enum shape { ELLIPSE, BOX };

/* Coordinates in picture heights, x from the middle, y from the top. */
static const struct {
    enum shape shape;
    float x, y, radius_x, radius_y;
    uint8_t rgb[3];
} shapes[] = {
    {ELLIPSE, 0.000f, 0.360f, 0.180f, 0.225f, {52, 36, 26}}, /* hair */
    {BOX, 0.000f, 0.640f, 0.072f, 0.120f, {205, 158, 132}},  /* neck */
    {ELLIPSE, 0.000f, 1.020f, 0.460f, 0.330f, {38, 52, 92}}, /* shoulders */
    {ELLIPSE, 0.000f, 0.715f, 0.085f, 0.050f, {205, 158, 132}},
    {ELLIPSE, 0.000f, 0.410f, 0.140f, 0.190f, {228, 182, 154}}, /* face */
    {ELLIPSE, -0.055f, 0.375f, 0.026f, 0.012f, {245, 245, 245}},
    {ELLIPSE, 0.055f, 0.375f, 0.026f, 0.012f, {245, 245, 245}},
    {ELLIPSE, -0.055f, 0.375f, 0.011f, 0.012f, {40, 30, 25}},
    {ELLIPSE, 0.055f, 0.375f, 0.011f, 0.012f, {40, 30, 25}},
    {BOX, -0.055f, 0.340f, 0.034f, 0.006f, {60, 42, 32}}, /* brows */
    {BOX, 0.055f, 0.340f, 0.034f, 0.006f, {60, 42, 32}},
    {ELLIPSE, 0.000f, 0.440f, 0.022f, 0.030f, {206, 156, 130}}, /* nose */
    {ELLIPSE, 0.000f, 0.510f, 0.048f, 0.013f, {176, 84, 80}},   /* mouth */
};

static bool covers(size_t i, float x, float y)
{
    const float dx = (x - shapes[i].x) / shapes[i].radius_x;
    const float dy = (y - shapes[i].y) / shapes[i].radius_y;

    return shapes[i].shape == BOX ? fabsf(dx) <= 1 && fabsf(dy) <= 1 : dx * dx + dy * dy <= 1;
}

static void color_at(float x, float y, uint8_t out[4])
{
    const float wall = 150 - 40 * y + (fmodf(fabsf(x) * 9, 1) < 0.5f ? 12.0f : 0.0f);
    /* Light from the left gives shapes a little depth. */
    const float light = 1 - 0.35f * x;

    out[0] = (uint8_t)(wall * 0.9f);
    out[1] = (uint8_t)wall;
    out[2] = (uint8_t)(wall * 0.95f);
    out[3] = 255;
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        if (!covers(i, x, y))
            continue;
        for (int c = 0; c < 3; c++)
            out[c] = (uint8_t)fminf((float)shapes[i].rgb[c] * light, 255);
    }
}

static void draw(uint8_t *pixels, const struct tdl_frame *frame)
{
    const float step = 1 / (float)frame->height;

    for (uint32_t y = 0; y < frame->height; y++) {
        uint8_t *row = pixels + (size_t)y * frame->planes[0].stride;

        for (uint32_t x = 0; x < frame->width; x++)
            color_at(((float)x + 0.5f - 0.5f * (float)frame->width) * step,
                     ((float)y + 0.5f) * step, row + (size_t)x * 4);
    }
}

static enum tdl_result convert(struct tdl_context *context, const struct tdl_frame *from,
                               const struct tdl_frame *to)
{
    const struct tdl_compose_params params = {.mode = TDL_MODE_PASSTHROUGH};
    struct tdl_composer *composer = NULL;
    struct tdl_batch *batch = NULL;
    uint64_t point;
    enum tdl_result r = tdl_composer_create(context, &composer);

    if (r == TDL_OK)
        r = tdl_batch_create(context, &batch);
    if (r == TDL_OK)
        r = tdl_batch_begin(batch);
    if (r == TDL_OK)
        r = tdl_compose(batch, composer, from, NULL, to, &params);
    if (r == TDL_OK)
        r = tdl_batch_submit(batch, &point);
    if (r == TDL_OK)
        r = tdl_context_wait(context, point, TDL_WAIT_FOREVER);
    tdl_batch_destroy(&batch);
    tdl_composer_destroy(&composer);
    return r;
}

enum tdl_result bench_picture_draw(struct tdl_context *context, const struct tdl_frame *frame)
{
    struct tdl_frame picture = {.range = TDL_RANGE_FULL};
    struct tdl_buffer *buffer = NULL;
    const size_t size = tdl_frame_layout(&picture, TDL_FORMAT_RGBA, frame->width, frame->height, 4);
    enum tdl_result r = tdl_buffer_create(context, size, TDL_BUFFER_UPLOAD, &buffer);

    if (r == TDL_OK) {
        picture.planes[0].buffer = buffer;
        draw(tdl_buffer_data(buffer), &picture);
        r = convert(context, &picture, frame);
    }
    tdl_buffer_destroy(&buffer);
    return r;
}
