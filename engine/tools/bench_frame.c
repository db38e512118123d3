/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whole frames, as the element makes them: picture to tensor, network and
 * composition in one batch, with the element's defaults for what is not asked
 * for. Three runs: the first frame, counted from before there was a context;
 * one frame at a time, each waited for; and BENCH_FLIGHT frames under way. The
 * GPU's times are of the second run: in the third a frame's first timestamp
 * may be taken while the frame before is still at work.
 */
#include "bench.h"
#include "element_defaults.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define SD_HEIGHT 576 /* px; GStreamer takes what is higher for BT.709 */
#define ROW_ALIGN 64  /* bytes, as in the element's buffers */

/* ------------------------------------------------------------------ set-up */

static enum tdl_format choose_target(const struct bench_frame_options *o)
{
    if (o->mode == TDL_MODE_MASK)
        return TDL_FORMAT_GRAY8;
    if (o->mode != TDL_MODE_ALPHA)
        return o->format;
    switch (o->format) {
    case TDL_FORMAT_BGRA:
    case TDL_FORMAT_BGRX:
    case TDL_FORMAT_BGR:
        return TDL_FORMAT_BGRA;
    case TDL_FORMAT_ARGB:
    case TDL_FORMAT_XRGB:
        return TDL_FORMAT_ARGB;
    case TDL_FORMAT_ABGR:
    case TDL_FORMAT_XBGR:
        return TDL_FORMAT_ABGR;
    default:
        return TDL_FORMAT_RGBA;
    }
}

static bool is_rgb(enum tdl_format format)
{
    const char *name = tdl_format_name(format);

    return strstr(name, "RGB") || strstr(name, "BGR");
}

static int create_frame(struct bench *b, enum tdl_format format, enum tdl_buffer_access access,
                        struct tdl_frame *out_frame, struct tdl_buffer **out_buffer)
{
    const uint32_t *size = b->frame_options.size;
    const size_t bytes = tdl_frame_layout(out_frame, format, size[0], size[1], ROW_ALIGN);

    if (!bytes)
        return tool_fail("frames of %ux%u px are too large: 32767 either way at most", size[0],
                         size[1]);
    if (tdl_buffer_create(b->context, bytes, access, out_buffer) != TDL_OK)
        return tool_fail("%s", tdl_last_error());
    for (uint32_t p = 0; p < tdl_format_planes(format); p++)
        out_frame->planes[p].buffer = *out_buffer;
    out_frame->matrix = size[1] <= SD_HEIGHT ? TDL_COLOR_MATRIX_BT601 : TDL_COLOR_MATRIX_BT709;
    out_frame->range = is_rgb(format) || b->frame_options.mode == TDL_MODE_MASK ? TDL_RANGE_FULL
                                                                                : TDL_RANGE_LIMITED;
    return TOOL_OK;
}

static int create_slot(struct bench *b, struct bench_slot *slot)
{
    const bool device = b->frame_options.device_memory;
    int status =
        create_frame(b, b->frame_options.format, device ? TDL_BUFFER_DEVICE : TDL_BUFFER_UPLOAD,
                     &slot->source, &slot->source_buffer);

    if (status == TOOL_OK)
        status = create_frame(b, b->frame->target_format,
                              device ? TDL_BUFFER_DEVICE : TDL_BUFFER_READBACK, &slot->target,
                              &slot->target_buffer);
    if (status == TOOL_OK && tdl_batch_create(b->context, &slot->batch) != TDL_OK)
        return tool_fail("%s", tdl_last_error());
    return status;
}

static int create_tensor(struct bench *b, const struct tdl_tensor_params *params, uint32_t usage,
                         struct tdl_tensor **out)
{
    struct tdl_tensor_params copy = *params;

    copy.usage = usage;
    if (tdl_tensor_create(b->context, &copy, out) != TDL_OK)
        return tool_fail("%s", tdl_last_error());
    return TOOL_OK;
}

static bool is_floats(const struct tdl_tensor_params *p)
{
    return p->dtype == TDL_FLOAT32 || p->dtype == TDL_FLOAT16;
}

static int create_tensors(struct bench *b)
{
    char texts[2][96];
    const struct tdl_tensor_params *in = tdl_graph_input(b->graph, 0, &b->inputs[0].name);
    const struct tdl_tensor_params *out = tdl_graph_output(b->graph, 0, &b->outputs[0].name);
    int status;

    if (!in || tdl_graph_input(b->graph, 1, NULL) || in->rank != 4 || in->shape[0] != 1 ||
        in->shape[3] != 3 || !out || tdl_graph_output(b->graph, 1, NULL) || out->rank != 4 ||
        out->shape[0] != 1 || out->shape[3] != 1 || !is_floats(in) || !is_floats(out))
        return tool_fail("%s: --frame takes models with one picture of three channels in and one "
                         "mask of one channel out, both of floats and with channels last, not %s "
                         "in and %s out",
                         b->model, in ? tool_shape(in, texts[0], sizeof(texts[0])) : "nothing",
                         out ? tool_shape(out, texts[1], sizeof(texts[1])) : "nothing");
    /* Batches of several streams copy both. */
    status = create_tensor(b, in, TDL_TENSOR_READABLE, &b->frame->input);
    if (status == TOOL_OK)
        status = create_tensor(b, out, TDL_TENSOR_READABLE | TDL_TENSOR_WRITABLE, &b->frame->mask);
    b->inputs[0].tensor = b->frame->input;
    b->outputs[0].tensor = b->frame->mask;
    return status;
}

static void *prepare_reading(void *data)
{
    struct bench_frame *f = data;

    tdl_frame_to_tensor_prepare(&f->slots[0].source, f->input, NULL);
    return NULL;
}

/* As the element does it: the kernel that reads pictures beside those that compose. What failed
 * in the other thread is told by the call behind it. */
static enum tdl_result prepare(struct bench *b)
{
    struct bench_frame *f = b->frame;
    const enum tdl_device_type type = tdl_context_device(b->context)->type;
    const bool software = type == TDL_DEVICE_SOFTWARE || type == TDL_DEVICE_CPU;
    pthread_t thread;
    const bool beside = !software && !pthread_create(&thread, NULL, prepare_reading, f);
    enum tdl_result r = tdl_composer_prepare(f->composer, &f->slots[0].source, &f->slots[0].target,
                                             &f->compose, NULL);

    if (beside)
        pthread_join(thread, NULL);
    return r == TDL_OK ? tdl_frame_to_tensor_prepare(&f->slots[0].source, f->input, NULL) : r;
}

static int set_up(struct bench *b)
{
    struct bench_frame *f = b->frame;
    int status = create_tensors(b);

    for (uint32_t i = 0; i < BENCH_FLIGHT && status == TOOL_OK; i++)
        status = create_slot(b, &f->slots[i]);
    if (status != TOOL_OK)
        return status;
    if (tdl_composer_create(b->context, &f->composer) != TDL_OK || prepare(b) != TDL_OK)
        return tool_fail("%s", tdl_last_error());
    for (uint32_t i = 0; i < BENCH_TIMES; i++)
        f->gpu_ms[i] = calloc(b->iterations, sizeof(*f->gpu_ms[i]));
    f->wall_ms = calloc(b->iterations, sizeof(*f->wall_ms));
    f->cpu_ms = calloc(b->iterations, sizeof(*f->cpu_ms));
    for (uint32_t i = 0; i < BENCH_TIMES; i++)
        status = f->gpu_ms[i] ? status : TOOL_FAILED;
    if (status != TOOL_OK || !f->wall_ms || !f->cpu_ms)
        return tool_fail("no memory for %u times", b->iterations);
    return TOOL_OK;
}

/* -------------------------------------------------------------- one frame */

enum tdl_result bench_frame_compose(struct bench *b, struct bench_slot *slot)
{
    struct bench_frame *f = b->frame;
    enum tdl_result r = tdl_batch_stage(slot->batch, BENCH_COMPOSE);

    return r == TDL_OK ? tdl_compose(slot->batch, f->composer, &slot->source,
                                     f->network ? f->mask : NULL, &slot->target, &f->compose)
                       : r;
}

enum tdl_result bench_frame_record(struct bench *b, struct bench_slot *slot)
{
    struct bench_frame *f = b->frame;
    enum tdl_result r = tdl_batch_begin(slot->batch);

    if (r == TDL_OK && f->network) {
        r = tdl_batch_stage(slot->batch, BENCH_PREPROCESS);
        if (r == TDL_OK)
            r = tdl_frame_to_tensor(slot->batch, &slot->source, f->input, NULL);
        if (r == TDL_OK)
            r = tdl_batch_stage(slot->batch, BENCH_NETWORK);
        if (r == TDL_OK)
            r = tdl_batch_graph(slot->batch, b->graph, b->inputs, 1, b->outputs, 1);
    }
    return r == TDL_OK ? bench_frame_compose(b, slot) : r;
}

static int submit(struct bench *b, uint32_t index, uint64_t *out_point)
{
    struct bench_slot *slot = &b->frame->slots[index % BENCH_FLIGHT];

    if (bench_frame_record(b, slot) != TDL_OK || tdl_batch_submit(slot->batch, out_point) != TDL_OK)
        return tool_fail("%s", tdl_last_error());
    return TOOL_OK;
}

static int finish(struct bench *b, uint64_t point)
{
    if (tdl_context_wait(b->context, point, TDL_WAIT_FOREVER) != TDL_OK)
        return tool_fail("%s", tdl_last_error());
    return TOOL_OK;
}

/* Frames that are not looked at. */
static int run(struct bench *b, uint32_t count)
{
    uint64_t point;

    for (uint32_t i = 0; i < count; i++) {
        if (submit(b, i, &point) != TOOL_OK || finish(b, point) != TOOL_OK)
            return TOOL_FAILED;
    }
    return TOOL_OK;
}

/* -------------------------------------------------------------- measuring */

static int draw(struct bench *b)
{
    for (uint32_t i = 0; i < BENCH_FLIGHT; i++) {
        if (bench_picture_draw(b->context, &b->frame->slots[i].source) != TDL_OK)
            return tool_fail("%s", tdl_last_error());
    }
    return TOOL_OK;
}

static int one_at_a_time(struct bench *b)
{
    struct bench_frame *f = b->frame;
    uint64_t point, stages[BENCH_STAGES];

    for (uint32_t i = 0; i < b->iterations; i++) {
        const uint64_t start = tool_now();

        if (submit(b, i, &point) != TOOL_OK)
            return TOOL_FAILED;
        f->cpu_ms[i] = (double)(tool_now() - start) / 1e6;
        if (finish(b, point) != TOOL_OK)
            return TOOL_FAILED;
        f->wall_ms[i] = (double)(tool_now() - start) / 1e6;
        tdl_batch_stage_times(f->slots[i % BENCH_FLIGHT].batch, stages, BENCH_STAGES);
        f->gpu_ms[BENCH_STAGES][i] = 0;
        for (uint32_t stage = 0; stage < BENCH_STAGES; stage++) {
            f->gpu_ms[stage][i] = (double)stages[stage] / 1e6;
            f->gpu_ms[BENCH_STAGES][i] += f->gpu_ms[stage][i];
        }
    }
    f->wall = tdl_times_of(f->wall_ms, b->iterations);
    f->cpu = tdl_times_of(f->cpu_ms, b->iterations);
    for (uint32_t i = 0; i < BENCH_TIMES; i++)
        f->gpu[i] = tdl_times_of(f->gpu_ms[i], b->iterations);
    return TOOL_OK;
}

/* A slot's batch waits for the frame that it held before. */
static int several_at_once(struct bench *b)
{
    struct tdl_context_stats before, after;
    const uint64_t start = tool_now();
    uint64_t point = 0;

    tdl_context_get_stats(b->context, &before);
    for (uint32_t i = 0; i < b->iterations; i++) {
        if (submit(b, i, &point) != TOOL_OK)
            return TOOL_FAILED;
    }
    if (finish(b, point) != TOOL_OK)
        return TOOL_FAILED;
    b->frame->rate = b->iterations / ((double)(tool_now() - start) / 1e9);
    tdl_context_get_stats(b->context, &after);
    b->frame->waits = after.waits - before.waits;
    return TOOL_OK;
}

static int measure_foreground(struct bench *b)
{
    struct tdl_tensor *mask = b->frame->mask;
    const size_t size = tdl_tensor_params_size(tdl_tensor_get_params(mask));
    const size_t count = size / sizeof(float);
    float *values = b->frame->network ? malloc(size) : NULL;
    size_t foreground = 0;

    if (!values)
        return b->frame->network ? tool_fail("no memory for %zu bytes of mask", size) : TOOL_OK;
    if (tdl_tensor_read(mask, values, size) != TDL_OK) {
        free(values);
        return tool_fail("%s", tdl_last_error());
    }
    for (size_t i = 0; i < count; i++)
        foreground += values[i] > 0.5f;
    b->frame->foreground = (double)foreground / (double)count;
    free(values);
    return TOOL_OK;
}

static int measure(struct bench *b)
{
    struct tdl_context_stats before, after;

    if (draw(b) != TOOL_OK || run(b, b->warmup) != TOOL_OK)
        return TOOL_FAILED;
    tdl_context_get_stats(b->context, &before);
    if (one_at_a_time(b) != TOOL_OK || several_at_once(b) != TOOL_OK)
        return TOOL_FAILED;
    tdl_context_get_stats(b->context, &after);
    b->allocations = after.allocations - before.allocations;
    b->pipelines = after.pipelines - before.pipelines;
    b->submits = after.submits - before.submits;
    return measure_foreground(b);
}

static int create(struct bench *b)
{
    struct bench_frame *f = b->frame = calloc(1, sizeof(*b->frame));

    if (!f)
        return tool_fail("no memory for a frame");
    f->compose = element_defaults;
    f->compose.mode = b->frame_options.mode;
    f->network = f->compose.mode != TDL_MODE_PASSTHROUGH;
    f->target_format = choose_target(&b->frame_options);
    return TOOL_OK;
}

int bench_frame_open(struct bench *b)
{
    int status = create(b);

    if (status == TOOL_OK)
        status = set_up(b);
    return status == TOOL_OK ? draw(b) : status;
}

static void *compile_network(void *data)
{
    struct bench *b = data;
    const uint64_t start = tool_now();
    const bool ok = tdl_graph_compile(b->graph, &b->build.compile) == TDL_OK;

    if (!ok)
        tool_fail("%s: %s", b->model, tdl_last_error());
    b->build_ms += (double)(tool_now() - start) / 1e6;
    return ok ? b : NULL;
}

/* The kernels of frames are compiled beside the network, as in the element. */
static int set_up_beside(struct bench *b)
{
    pthread_t thread;
    void *compiled;
    int status;

    if (pthread_create(&thread, NULL, compile_network, b))
        return tool_fail("no thread to compile the network");
    status = set_up(b);
    pthread_join(thread, &compiled);
    return compiled ? status : TOOL_FAILED;
}

int bench_frame_run(struct bench *b)
{
    const uint64_t start = tool_now();
    int status = create(b);
    struct bench_frame *f = b->frame;

    if (status != TOOL_OK)
        return status;
    b->build.input_packing = TDL_PACKING_C4;
    b->build.defer_compile = true;
    status = tool_create_context(b->device, b->threads, 1, &b->context);
    f->context_ms = (double)(tool_now() - start) / 1e6;
    if (status == TOOL_OK)
        status = bench_compile(b);
    if (status == TOOL_OK)
        status = set_up_beside(b);
    /* The first run is of nothing: there is no picture yet. */
    if (status == TOOL_OK)
        status = run(b, 1);
    f->first_ms = (double)(tool_now() - start) / 1e6;
    return status == TOOL_OK ? measure(b) : status;
}

void bench_frame_finish(struct bench *b)
{
    struct bench_frame *f = b->frame;

    if (!f)
        return;
    for (uint32_t i = 0; i < BENCH_FLIGHT; i++) {
        tdl_batch_destroy(&f->slots[i].batch);
        tdl_buffer_destroy(&f->slots[i].source_buffer);
        tdl_buffer_destroy(&f->slots[i].target_buffer);
    }
    tdl_composer_destroy(&f->composer);
    tdl_tensor_destroy(&f->input);
    tdl_tensor_destroy(&f->mask);
    free(f->wall_ms);
    free(f->cpu_ms);
    for (uint32_t i = 0; i < BENCH_TIMES; i++)
        free(f->gpu_ms[i]);
    free(f);
    b->frame = NULL;
}
