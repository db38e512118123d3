/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Frames of several streams, as elements of one process make them: without batches each frame
 * is a submission; with them each stream submits its picture, the network runs for several,
 * and each stream submits its composition. Two runs for each size of batches: a frame of every
 * stream, all begun at once and waited for, which gives latencies; and with BENCH_FLIGHT of
 * each under way, which gives frames/s.
 */
#include "bench.h"

#include <tdl/models.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A network for several frames, and their room on the device. */
struct stack {
    struct tdl_builder *builder;
    struct tdl_graph *graph;
    struct tdl_buffer *in, *out;
    struct tdl_tensor *input, *output;
    struct tdl_batch *batches[BENCH_FLIGHT][BENCH_MAX_STREAMS]; /* one for each group */
};

struct bench_streams {
    struct bench_frame *frames[BENCH_MAX_STREAMS];
    struct tdl_batch *pictures[BENCH_MAX_STREAMS][BENCH_FLIGHT];
    struct stack stack;
    uint32_t now; /* streams of the run just now: the first ones */
    struct bench_stream_result results[BENCH_MAX_LIST * BENCH_MAX_LIST];
    uint32_t count;
};

bool bench_streams_parse(const char *text, uint32_t most, struct bench_list *out)
{
    uint32_t count = 0, last = 0;

    for (char *end; count < BENCH_MAX_LIST; text = end + 1) {
        const unsigned long number = strtoul(text, &end, 10);

        if (*text < '0' || *text > '9' || number <= last || number > most || (*end && *end != ','))
            return false;
        out->values[count++] = last = (uint32_t)number;
        if (!*end) {
            out->count = count;
            return true;
        }
    }
    return false;
}

static int check(enum tdl_result r)
{
    return r == TDL_OK ? TOOL_OK : tool_fail("%s", tdl_last_error());
}

/* ------------------------------------------------------------------ set-up */

static enum tdl_result create_tensor(struct tdl_context *context,
                                     const struct tdl_tensor_params *params,
                                     struct tdl_buffer **out_buffer, struct tdl_tensor **out)
{
    const size_t size = (tdl_tensor_params_size(params) + 15) / 16 * 16;
    enum tdl_result r = tdl_buffer_create(context, size, TDL_BUFFER_DEVICE, out_buffer);

    return r == TDL_OK ? tdl_tensor_create_on(*out_buffer, params, out) : r;
}

static int open_stack(struct bench *b, uint32_t count)
{
    struct stack *s = &b->streams->stack;
    enum tdl_result r = tdl_builder_create(b->context, &s->builder);

    if (r == TDL_OK)
        r = tdl_model_load(s->builder, b->model, &b->model_options.params);
    if (r == TDL_OK)
        r = tdl_builder_stack(s->builder, count);
    if (r == TDL_OK)
        r = tdl_builder_build(s->builder, &b->build, &s->graph);
    if (r == TDL_OK)
        r = create_tensor(b->context, tdl_graph_input(s->graph, 0, NULL), &s->in, &s->input);
    if (r == TDL_OK)
        r = create_tensor(b->context, tdl_graph_output(s->graph, 0, NULL), &s->out, &s->output);
    for (uint32_t i = 0; i < BENCH_FLIGHT; i++)
        for (uint32_t k = 0; k * count < b->streams->now && r == TDL_OK; k++) {
            r = tdl_batch_create(b->context, &s->batches[i][k]);
            tdl_batch_set_queue(s->batches[i][k], k);
        }
    return check(r);
}

static void close_stack(struct stack *s)
{
    for (uint32_t i = 0; i < BENCH_FLIGHT; i++)
        for (uint32_t k = 0; k < BENCH_MAX_STREAMS; k++)
            tdl_batch_destroy(&s->batches[i][k]);
    tdl_tensor_destroy(&s->input);
    tdl_tensor_destroy(&s->output);
    tdl_buffer_destroy(&s->in);
    tdl_buffer_destroy(&s->out);
    tdl_graph_destroy(&s->graph);
    tdl_builder_destroy(&s->builder);
}

static int open_streams(struct bench *b, uint32_t count)
{
    struct bench_streams *s = b->streams;
    int status = TOOL_OK;

    for (uint32_t i = 0; i < count && status == TOOL_OK; i++) {
        status = bench_frame_open(b);
        s->frames[i] = b->frame;
        b->frame = NULL;
        for (uint32_t k = 0; k < BENCH_FLIGHT && status == TOOL_OK; k++) {
            status = check(tdl_batch_create(b->context, &s->pictures[i][k]));
            tdl_batch_set_queue(s->pictures[i][k], i);
            tdl_batch_set_queue(s->frames[i]->slots[k].batch, i);
        }
    }
    return status;
}

/* ------------------------------------------------------------------- rounds */

static enum tdl_result submit_picture(struct bench *b, uint32_t stream, uint32_t turn)
{
    struct tdl_batch *batch = b->streams->pictures[stream][turn];
    struct bench_frame *f = b->streams->frames[stream];
    enum tdl_result r = tdl_batch_begin(batch);

    if (r == TDL_OK)
        r = tdl_frame_to_tensor(batch, &f->slots[turn].source, f->input, NULL);
    return r == TDL_OK ? tdl_batch_submit(batch, NULL) : r;
}

/* The network on the frames of the streams from `first` on. */
static enum tdl_result submit_network(struct bench *b, uint32_t first, uint32_t count,
                                      struct tdl_batch *batch)
{
    struct bench_streams *streams = b->streams;
    struct stack *s = &streams->stack;
    const size_t in = tdl_tensor_params_size(tdl_graph_input(b->graph, 0, NULL));
    const size_t out = tdl_tensor_params_size(tdl_graph_output(b->graph, 0, NULL));
    const struct tdl_binding input = {b->inputs[0].name, s->input};
    const struct tdl_binding output = {b->outputs[0].name, s->output};
    enum tdl_result r = tdl_batch_begin(batch);

    if (r == TDL_OK)
        r = tdl_batch_stage(batch, BENCH_NETWORK);
    for (uint32_t i = 0; i < count && r == TDL_OK; i++)
        r = tdl_batch_tensor_to_buffer(batch, streams->frames[first + i]->input, 0, s->in, i * in,
                                       in);
    if (r == TDL_OK)
        r = tdl_batch_graph(batch, s->graph, &input, 1, &output, 1);
    for (uint32_t i = 0; i < count && r == TDL_OK; i++)
        r = tdl_batch_buffer_to_tensor(batch, s->out, i * out, streams->frames[first + i]->mask, 0,
                                       out);
    return r == TDL_OK ? tdl_batch_submit(batch, NULL) : r;
}

/* The rest of a frame behind its picture, or all of it. */
static enum tdl_result submit_frame(struct bench *b, uint32_t stream, uint32_t turn, bool all,
                                    uint64_t *out_point)
{
    struct bench_slot *slot = &b->streams->frames[stream]->slots[turn];
    enum tdl_result r = TDL_OK;

    b->frame = b->streams->frames[stream];
    b->inputs[0].tensor = b->frame->input;
    b->outputs[0].tensor = b->frame->mask;
    if (all) {
        r = bench_frame_record(b, slot);
    } else {
        r = tdl_batch_begin(slot->batch);
        if (r == TDL_OK)
            r = bench_frame_compose(b, slot);
    }
    b->frame = NULL;
    return r == TDL_OK ? tdl_batch_submit(slot->batch, out_point) : r;
}

/* A frame of each stream. */
static enum tdl_result submit_round(struct bench *b, uint32_t size, uint32_t turn, uint64_t *points)
{
    const uint32_t streams = b->streams->now;
    enum tdl_result r = TDL_OK;

    for (uint32_t i = 0; i < streams && size > 1 && r == TDL_OK; i++)
        r = submit_picture(b, i, turn);
    for (uint32_t i = 0; i < streams && size > 1 && r == TDL_OK; i += size)
        r = submit_network(b, i, size < streams - i ? size : streams - i,
                           b->streams->stack.batches[turn][i / size]);
    for (uint32_t i = 0; i < streams && r == TDL_OK; i++)
        r = submit_frame(b, i, turn, size == 1, &points[i]);
    return r;
}

/* -------------------------------------------------------------- measuring */

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The times of the batch that ran the first stream's network. */
static double network_ms(const struct bench *b, uint32_t size)
{
    uint64_t ns[BENCH_STAGES] = {0};

    tdl_batch_stage_times(size > 1 ? b->streams->stack.batches[0][0]
                                   : b->streams->frames[0]->slots[0].batch,
                          ns, BENCH_STAGES);
    return (double)ns[BENCH_NETWORK] / 1e6;
}

static int measure_latency(struct bench *b, struct bench_stream_result *result)
{
    const uint32_t streams = b->streams->now, count = b->iterations * streams;
    double *ms = calloc(count, sizeof(*ms));
    uint64_t points[BENCH_MAX_STREAMS];
    enum tdl_result r = TDL_OK;

    if (!ms)
        return tool_fail("no memory for %u times", count);
    for (uint32_t i = 0; i < count && r == TDL_OK; i += streams) {
        const uint64_t start = tool_now();

        r = submit_round(b, result->batch, 0, points);
        for (uint32_t k = 0; k < streams && r == TDL_OK; k++) {
            r = tdl_context_wait(b->context, points[k], TDL_WAIT_FOREVER);
            ms[i + k] = (double)(tool_now() - start) / 1e6;
        }
    }
    qsort(ms, count, sizeof(*ms), compare);
    result->median_ms = ms[count / 2];
    result->p99_ms = ms[(uint64_t)count * 99 / 100];
    result->network_ms = network_ms(b, result->batch);
    free(ms);
    return check(r);
}

static int measure_rate(struct bench *b, struct bench_stream_result *result)
{
    const uint32_t streams = b->streams->now;
    const uint64_t start = tool_now();
    uint64_t points[BENCH_MAX_STREAMS] = {0};
    enum tdl_result r = TDL_OK;

    for (uint32_t i = 0; i < b->iterations && r == TDL_OK; i++)
        r = submit_round(b, result->batch, i % BENCH_FLIGHT, points);
    if (r == TDL_OK)
        r = tdl_context_sync(b->context);
    result->rate = (double)b->iterations * streams / ((double)(tool_now() - start) / 1e9);
    return check(r);
}

static int measure(struct bench *b, uint32_t batch)
{
    struct bench_streams *s = b->streams;
    struct bench_stream_result *result = &s->results[s->count];
    uint64_t points[BENCH_MAX_STREAMS];
    int status = batch > 1 ? open_stack(b, batch) : TOOL_OK;

    result->streams = s->now;
    result->batch = batch;
    for (uint32_t i = 0; i < b->warmup + 1 && status == TOOL_OK; i++)
        status = check(submit_round(b, batch, i % BENCH_FLIGHT, points));
    if (status == TOOL_OK)
        status = check(tdl_context_sync(b->context));
    if (status == TOOL_OK)
        status = measure_latency(b, result);
    if (status == TOOL_OK)
        status = measure_rate(b, result);
    close_stack(&s->stack);
    s->count += status == TOOL_OK;
    return status;
}

/* With so many streams: batches of each size that they can fill. */
static int measure_streams(struct bench *b, uint32_t streams)
{
    static const struct bench_list doubling = {{1, 2, 4, 8, 16}, 5};
    const struct bench_list *asked = &b->stream_options.batches,
                            *sizes = asked->count ? asked : &doubling;
    int status = TOOL_OK;

    b->streams->now = streams;
    for (uint32_t i = 0; i < sizes->count && status == TOOL_OK; i++)
        if (sizes->values[i] <= streams)
            status = measure(b, sizes->values[i]);
    return status;
}

int bench_streams_run(struct bench *b)
{
    const struct bench_list *counts = &b->stream_options.streams;
    const uint32_t most = counts->values[counts->count - 1];
    int status;

    b->streams = calloc(1, sizeof(*b->streams));
    if (!b->streams)
        return tool_fail("no memory for %u streams", most);
    b->build.input_packing = TDL_PACKING_C4;
    status = tool_create_context(b->device, b->threads, 0, &b->context);
    if (status == TOOL_OK)
        status = bench_compile(b);
    if (status == TOOL_OK)
        status = open_streams(b, most);
    for (uint32_t i = 0; i < counts->count && status == TOOL_OK; i++)
        status = measure_streams(b, counts->values[i]);
    return status;
}

const struct bench_stream_result *bench_streams_get(const struct bench *b, uint32_t index)
{
    return index < b->streams->count ? &b->streams->results[index] : NULL;
}

void bench_streams_finish(struct bench *b)
{
    struct bench_streams *s = b->streams;

    if (!s)
        return;
    for (uint32_t i = 0; i < BENCH_MAX_STREAMS; i++) {
        if (!s->frames[i])
            continue;
        b->frame = s->frames[i];
        bench_frame_finish(b);
        for (uint32_t k = 0; k < BENCH_FLIGHT; k++)
            tdl_batch_destroy(&s->pictures[i][k]);
    }
    close_stack(&s->stack);
    free(s);
    b->streams = NULL;
}

/* ---------------------------------------------------------------- printing */

void bench_streams_print_text(const struct bench *b)
{
    const struct tdl_device_info *device = tdl_context_device(b->context);
    const struct bench_frame_options *o = &b->frame_options;
    const struct bench_streams *s = b->streams;

    printf("%s\n", b->model);
    printf("device       %s (%s)\n", device->name, device->driver);
    printf("streams      of %ux%u px %s to %s, %s, in %s memory\n", o->size[0], o->size[1],
           tdl_format_name(o->format), tdl_format_name(s->frames[0]->target_format),
           tool_mode_name(o->mode), o->device_memory ? "device" : "mapped");
    printf("frames       2 x %u of each after %u to warm up; latency of all begun at once, "
           "frames/s with %u of each under way\n",
           b->iterations, b->warmup, BENCH_FLIGHT);
    printf("\n%-9s %-9s %10s %10s %10s %17s\n", "streams", "batch", "frames/s", "median ms",
           "p99 ms", "device network ms");
    for (uint32_t i = 0; i < s->count; i++) {
        const struct bench_stream_result *r = &s->results[i];

        printf("%-9u %-9u %10.1f %10.3f %10.3f %17.4f\n", r->streams, r->batch, r->rate,
               r->median_ms, r->p99_ms, r->network_ms);
    }
    if (!device->timestamps)
        printf("this device has no timestamps\n");
}

void bench_streams_print_json(const struct bench *b)
{
    const struct tdl_device_info *device = tdl_context_device(b->context);
    const struct bench_streams *s = b->streams;

    printf("{\n");
    bench_print_string("model", b->model);
    bench_print_string("device", device->name);
    bench_print_string("driver", device->driver);
    bench_print_string("mode", tool_mode_name(b->frame_options.mode));
    bench_print_string("format", tdl_format_name(b->frame_options.format));
    printf("  \"width\": %u, \"height\": %u,\n", b->frame_options.size[0],
           b->frame_options.size[1]);
    printf("  \"warmup\": %u, \"iterations\": %u, \"in_flight\": %u,\n  \"batches\": [\n",
           b->warmup, b->iterations, BENCH_FLIGHT);
    for (uint32_t i = 0; i < s->count; i++) {
        const struct bench_stream_result *r = &s->results[i];

        printf("    {\"streams\": %u, \"batch\": %u, \"frames_per_second\": %.3f, \"median_ms\": "
               "%.4f, "
               "\"p99_ms\": %.4f, \"gpu_network_ms\": %.4f}%s\n",
               r->streams, r->batch, r->rate, r->median_ms, r->p99_ms, r->network_ms,
               i + 1 < s->count ? "," : "");
    }
    printf("  ]\n}\n");
}
