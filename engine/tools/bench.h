/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parts of tdl-bench: bench_op.c builds one operator, bench.c runs a graph,
 * bench_tune.c its convolutions in every way, bench_devices.c on every device,
 * bench_frame.c whole frames, bench_streams.c those of several streams,
 * bench_picture.c draws one, bench_print.c, bench_frame_print.c and bench_svg.c
 * report. */
#ifndef TDL_BENCH_H
#define TDL_BENCH_H

#include "measure/measure.h"
#include "model_options.h"
#include "tool.h"

#include <tdl/frame.h>

#define BENCH_MAX_BINDINGS TDL_MAX_INPUTS

/* Values of --op and its options; zero: not given. */
struct bench_operator {
    const char *name;
    uint32_t shape[4], kernel[2], size[2];
    uint32_t out, stride, dilation, groups;
    enum tdl_activation activation;
    bool half; /* matrices of halves */
};

struct bench_frame;

/* Values of --frame and its options; a width of zero: not given. */
struct bench_frame_options {
    uint32_t size[2]; /* width, height, px */
    enum tdl_format format;
    enum tdl_mode mode;
    bool device_memory; /* not mapped: as frames that never see the CPU */
};

#define BENCH_MAX_STREAMS 64
#define BENCH_MAX_BATCH 16
#define BENCH_MAX_LIST 8

/* Rising numbers, such as 1,4,16. */
struct bench_list {
    uint32_t values[BENCH_MAX_LIST], count;
};

/* Values of --streams and --batch; none: not given. */
struct bench_stream_options {
    struct bench_list streams, batches;
};

struct bench {
    const char *model, *device;
    struct tool_model_options model_options;
    uint32_t threads;
    struct bench_frame_options frame_options;
    struct bench_stream_options stream_options;
    struct bench_operator op;
    struct tdl_build_params build;
    uint32_t warmup, iterations;
    bool json;
    bool tune, compare;            /* time the ways to compute; --tune keeps the best */
    double patience;               /* patience of tuning; 0: the library's */
    double seconds;                /* after which tuning ends; 0: never */
    double share;                  /* percent of the time of all layers, of those that are tuned */
    bool told_seconds, told_share; /* else they follow from `tune` */
    const char *svg;               /* file to draw to, or NULL */

    struct tdl_context *context;
    struct tdl_builder *builder;
    struct tdl_graph *graph;
    struct tdl_binding inputs[BENCH_MAX_BINDINGS], outputs[BENCH_MAX_BINDINGS];
    uint32_t input_count, output_count;

    double first_ms, build_ms; /* first run; load and compile */
    struct tdl_times wall;
    struct tdl_times gpu; /* times of a whole run by two timestamps; 0 without them */
    uint32_t step_count;
    double *step_us;                          /* median per dispatch; NULL without timestamps */
    double steps_us;                          /* median of the sum of all dispatches */
    uint64_t allocations, pipelines, submits; /* during the timed runs */

    struct bench_tuned *tuned; /* results of --tune and --compare */
    uint32_t tuned_count;

    struct bench_frame *frame;     /* results of --frame */
    struct bench_streams *streams; /* results of --streams */

    bool every_device; /* --compare-devices */
    struct bench_device *devices;
    uint32_t device_count;
};

/* Run on every device in turns, and report. Prints its own error. */
int bench_devices_run(struct bench *bench);
void bench_devices_finish(struct bench *bench);
void bench_devices_print_text(const struct bench *bench);
void bench_devices_print_json(const struct bench *bench);
/* The device's measurement; NULL past the end. `out_reason`: why there is none, or NULL. */
const struct bench *bench_devices_get(const struct bench *bench, uint32_t index,
                                      const char **out_reason);

/* A layer computed in one way. */
struct bench_tuned {
    char layer[160], algorithm[48];
    double us;
    bool is_default;
    int untuned; /* enum tdl_untuned, of the layer */
};

/* Time the ways to compute each convolution. Prints its own error. */
int bench_tune_run(struct bench *bench);
void bench_tune_print_text(const struct bench *bench);
void bench_tune_print_json(const struct bench *bench);
/* The quickest way for the layer of entry `i`, whose first entry it is; NULL if
 * an earlier entry has the same layer. */
const struct bench_tuned *bench_tune_best(const struct bench *bench, uint32_t i);

/* Before anything is measured: can the file be written? Prints its own error. */
int bench_svg_check(const char *path);
/* Draw what was measured as bars. Prints its own error. */
int bench_svg_write(const struct bench *bench);

/* TOOL_USAGE, after naming those that there are, if there is no such operator. */
int bench_check_operator(const char *name);
/* One operator with random weights into the builder. */
int bench_build_operator(const struct bench_operator *op, struct tdl_builder *builder);

/* Load the model or build the operator, and compile. */
int bench_compile(struct bench *bench);
/* Tensors for inputs and outputs; the inputs have random values. */
int bench_create_tensors(struct bench *bench);
/* Load, compile, run and measure. Prints its own error. */
int bench_run(struct bench *bench);
/* Safe after a bench_run() that failed. */
void bench_finish(struct bench *bench);

void bench_print_text(const struct bench *bench);
void bench_print_json(const struct bench *bench);
/* `  "name": "value",` of a JSON object. */
void bench_print_string(const char *name, const char *value);

/* ---------------------------------------------------------- whole frames */

#define BENCH_FLIGHT 3 /* frames under way at once */

/* GPU times, the stages and then their sum. */
enum bench_stage { BENCH_PREPROCESS, BENCH_NETWORK, BENCH_COMPOSE, BENCH_STAGES };
#define BENCH_TIMES (BENCH_STAGES + 1)

/* Objects that each frame needs for itself. */
struct bench_slot {
    struct tdl_batch *batch;
    struct tdl_frame source, target;
    struct tdl_buffer *source_buffer, *target_buffer;
};

struct bench_frame {
    struct bench_slot slots[BENCH_FLIGHT];
    struct tdl_composer *composer;
    struct tdl_tensor *input, *mask;
    struct tdl_compose_params compose;
    bool network; /* passthrough goes without it */
    enum tdl_format target_format;

    double first_ms;   /* from before the context to the first finished frame */
    double context_ms; /* the part of it until there was a context */
    double foreground; /* share of the mask, 0…1 */
    double *wall_ms, *cpu_ms, *gpu_ms[BENCH_TIMES];
    struct tdl_times wall; /* begin to finished, one frame at a time */
    struct tdl_times cpu;  /* the part of it that records and submits */
    struct tdl_times gpu[BENCH_TIMES];
    double rate;    /* frames/s with BENCH_FLIGHT frames under way */
    uint64_t waits; /* waits of the CPU for the device, in the run of `rate` */
};

/* Run whole frames as the element does. Prints its own error. */
int bench_frame_run(struct bench *bench);
void bench_frame_finish(struct bench *bench);
/* Parts of that: make bench->frame for the compiled graph, with pictures drawn; record a frame
 * into its slot's batch, or its composition into one that is begun. */
int bench_frame_open(struct bench *bench);
enum tdl_result bench_frame_record(struct bench *bench, struct bench_slot *slot);
enum tdl_result bench_frame_compose(struct bench *bench, struct bench_slot *slot);
void bench_frame_print_text(const struct bench *bench);
void bench_frame_print_json(const struct bench *bench);

/* -------------------------------------------------------- several streams */

/* "1,4,16", rising, from 1 to `most`. */
bool bench_streams_parse(const char *text, uint32_t most, struct bench_list *out);
/* Run frames of so many streams each time, with the network on batches of each size. Prints
 * its own error. */
int bench_streams_run(struct bench *bench);
void bench_streams_finish(struct bench *bench);
void bench_streams_print_text(const struct bench *bench);
void bench_streams_print_json(const struct bench *bench);
/* The measurement with so many streams and frames a batch; NULL past the end. */
struct bench_stream_result {
    uint32_t streams, batch;
    double rate, median_ms, p99_ms, network_ms; /* the last of a run; 0 without timestamps */
};
const struct bench_stream_result *bench_streams_get(const struct bench *bench, uint32_t index);

/* Draw somebody in front of a wall into a frame, the same in every run: the
 * work of some kernels depends on what they see. Waits until it is there. */
enum tdl_result bench_picture_draw(struct tdl_context *context, const struct tdl_frame *frame);

#endif
