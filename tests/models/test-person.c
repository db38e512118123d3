/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The person models against what another runtime computed for the portrait
 * (tests/data/README.md), and every value inside them against the plain C
 * references of the operators, which are first held against the same data.
 *
 *   test-person square|landscape network        fp32, fp16, fused, unfused
 *   test-person square|landscape intermediates  every value, fp32 unfused
 *
 * Where kernels are compiled by software, which takes longer than all the rest, a run has
 * what other tests want compiled, too, and one thing more, by TDL_TEST_SEED: see in_run().
 *
 * The validation layers are on, and any message of theirs fails the test.
 */
#include "../../engine/ir/ir.h"

#include <tdl/models.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SKIP 77

struct model {
    const char *name, *file, *rgb, *mask;
    uint32_t width, height;
    uint64_t macs;      /* tests/data/selfie-models-ops.txt */
    uint32_t operators; /* there, without DEQUANTIZE */
};

static const struct model models[] = {
    {"square", "selfie_segmentation.tflite", "grace_hopper.256.rgb", "grace_hopper.256.mask.f32",
     256, 256, 59215744, 136},
    {"landscape", "selfie_segmentation_landscape.tflite", "grace_hopper.land.rgb",
     "grace_hopper.land.mask.f32", 256, 144, 33324928, 136},
};

static int failures;

#define CHECK(condition, ...)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("FAIL %s:%d %s: ", __FILE__, __LINE__, #condition);                             \
            printf(__VA_ARGS__);                                                                   \
            printf("\n");                                                                          \
            failures++;                                                                            \
        }                                                                                          \
    } while (0)

/* For what the rest cannot do without. */
static void require(enum tdl_result r, const char *what)
{
    if (r == TDL_OK)
        return;
    printf("FAIL %s: %s: %s\n", what, tdl_result_string(r), tdl_last_error());
    exit(1);
}

static void *allocate(size_t size)
{
    void *memory = calloc(1, size);

    if (!memory)
        abort();
    return memory;
}

/* ------------------------------------------------------------------- data */

static const char *folder(const char *variable, const char *fallback)
{
    const char *value = getenv(variable);

    return value ? value : fallback;
}

static void read_data(const char *name, void *out, size_t size)
{
    char path[1024];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", folder("TDL_TEST_DATA", "tests/data"), name);
    file = fopen(path, "rb");
    if (!file || fread(out, 1, size, file) != size || fgetc(file) != EOF) {
        printf("FAIL: %s is not there or not of %zu bytes\n", path, size);
        exit(1);
    }
    fclose(file);
}

static float *read_picture(const struct model *model)
{
    const size_t count = (size_t)model->width * model->height * 3;
    uint8_t *bytes = allocate(count);
    float *picture = allocate(count * sizeof(*picture));

    read_data(model->rgb, bytes, count);
    for (size_t i = 0; i < count; i++)
        picture[i] = (float)bytes[i] / 255.0f;
    free(bytes);
    return picture;
}

static float *read_mask(const struct model *model)
{
    const size_t size = (size_t)model->width * model->height * sizeof(float);
    float *mask = allocate(size);

    read_data(model->mask, mask, size); /* little-endian, as all our machines */
    return mask;
}

static struct tdl_builder *load(const struct model *model, struct tdl_context *context)
{
    struct tdl_builder *builder = NULL;
    char path[1024];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", folder("TDL_TEST_MODELS", "models"), model->file);
    file = fopen(path, "rb");
    if (!file) {
        printf("SKIP: %s is missing; run pipelines/fetch-models.sh\n", path);
        exit(SKIP);
    }
    fclose(file);
    require(tdl_builder_create(context, &builder), "builder");
    require(tdl_model_load(builder, path, NULL), path);
    return builder;
}

/* ---------------------------------------------------------------- drawing */

/* Everything on the CPU and on GPUs. On software Vulkan the fused networks of fp32, and of the
 * landscape's the one that is not fused, whose kernels the tools run, too, and the fused one
 * of halves. The others run at night. */
static bool in_run(const struct model *model, struct tdl_context *context, bool half, bool no_fuse)
{
    const char *cases = getenv("TDL_TEST_CASES");
    const bool landscape = model != &models[0];

    if (tdl_context_device(context)->type != TDL_DEVICE_SOFTWARE || (cases && atol(cases) >= 100))
        return true;
    return half ? landscape && !no_fuse : landscape || !no_fuse;
}

/* ------------------------------------------------------------- comparison */

struct difference {
    double max;
    size_t at;
    double iou; /* intersection over union of pixels above 0.5 */
};

static struct difference compare(const float *got, const float *expected, size_t count)
{
    struct difference d = {0};
    size_t both = 0, either = 0;

    for (size_t i = 0; i < count; i++) {
        const double error = fabs((double)got[i] - expected[i]);

        if (!(error <= d.max)) { /* NaN is the largest error of all */
            d.max = isnan(error) ? INFINITY : error;
            d.at = i;
        }
        both += got[i] > 0.5f && expected[i] > 0.5f;
        either += got[i] > 0.5f || expected[i] > 0.5f;
    }
    d.iou = either ? (double)both / (double)either : 1;
    return d;
}

/* ---------------------------------------------------------------- running */

/* A graph with tensors for all it takes and gives. */
struct run {
    struct tdl_context *context;
    struct tdl_graph *graph;
    struct tdl_binding input;
    struct tdl_binding outputs[16 + 1]; /* room to ask for one more than there can be */
    uint32_t output_count;
};

static void start_run(struct run *run, struct tdl_context *context, struct tdl_builder *builder,
                      const struct tdl_build_params *params, const float *picture)
{
    const struct tdl_tensor_params *desc;
    struct tdl_tensor_params copy;

    *run = (struct run){.context = context};
    require(tdl_builder_build(builder, params, &run->graph), "build");
    copy = *tdl_graph_input(run->graph, 0, &run->input.name);
    copy.usage = TDL_TENSOR_WRITABLE;
    require(tdl_tensor_create(context, &copy, &run->input.tensor), "input tensor");
    require(tdl_tensor_write(run->input.tensor, picture, tdl_tensor_params_size(&copy), NULL),
            "write");
    while ((desc = tdl_graph_output(run->graph, run->output_count,
                                    &run->outputs[run->output_count].name))) {
        copy = *desc;
        copy.usage = TDL_TENSOR_READABLE;
        require(tdl_tensor_create(context, &copy, &run->outputs[run->output_count++].tensor),
                "output tensor");
    }
}

static void dispatch(struct run *run)
{
    require(tdl_graph_dispatch(run->graph, &run->input, 1, run->outputs, run->output_count, NULL),
            "dispatch");
}

static float *read_output(struct run *run, uint32_t index)
{
    const size_t size = tdl_tensor_params_size(tdl_tensor_get_params(run->outputs[index].tensor));
    float *values = allocate(size);

    require(tdl_tensor_read(run->outputs[index].tensor, values, size), "read");
    return values;
}

static void finish_run(struct run *run)
{
    tdl_tensor_destroy(&run->input.tensor);
    for (uint32_t i = 0; i < run->output_count; i++)
        tdl_tensor_destroy(&run->outputs[i].tensor);
    tdl_graph_destroy(&run->graph);
}

/* ---------------------------------------------------------------- network */

/* The second run must cost nothing but its submission, and give every bit of
 * the first one again. */
static void check_replay(struct run *run, const float *first, size_t count)
{
    struct tdl_context_stats before, after;
    float *second;

    tdl_context_get_stats(run->context, &before);
    dispatch(run);
    tdl_context_get_stats(run->context, &after);
    CHECK(after.submits == before.submits + 1, "%llu submits",
          (unsigned long long)(after.submits - before.submits));
    CHECK(after.allocations == before.allocations, "memory was allocated");
    CHECK(after.pipelines == before.pipelines, "pipelines were created");
    CHECK(after.waits == before.waits, "the CPU waited");
    second = read_output(run, 0);
    CHECK(memcmp(first, second, count * sizeof(*first)) == 0, "two runs differ");
    free(second);
}

static void test_network(const struct model *model, struct tdl_context *context,
                         const struct tdl_build_params *params)
{
    const size_t count = (size_t)model->width * model->height;
    const bool half = params->precision == TDL_PRECISION_FP16;
    struct tdl_builder *builder = load(model, context);
    float *picture = read_picture(model), *mask = read_mask(model), *got;
    struct tdl_graph_stats stats;
    struct difference d;
    struct run run;

    start_run(&run, context, builder, params, picture);
    tdl_builder_destroy(&builder); /* the graph needs it no more */
    tdl_graph_get_stats(run.graph, &stats);
    const bool cpu = tdl_context_device(context)->type == TDL_DEVICE_CPU;
    CHECK(stats.precision == (cpu ? TDL_PRECISION_FP32 : params->precision), "precision %d",
          stats.precision);
    if (params->no_fuse)
        CHECK(stats.macs == model->macs, "%llu multiply-accumulates instead of %llu",
              (unsigned long long)stats.macs, (unsigned long long)model->macs);
    else
        CHECK(stats.steps < model->operators / (cpu ? 1 : 2), "%u dispatches", stats.steps);
    CHECK(stats.arena_bytes < stats.tensor_bytes, "activations share no memory");
    dispatch(&run);
    got = read_output(&run, 0);
    d = compare(got, mask, count);
    printf("%s %s %s: max error %.3g at %zu, IoU %.5f; %u dispatches\n", model->name,
           half ? "fp16" : "fp32", params->no_fuse ? "unfused" : "fused", d.max, d.at, d.iou,
           stats.steps);
    /* Rounding operators' results to halves moves single pixels by up to 0.06, says a
     * simulation in C: most of them at edges, where the mask is steep. */
    const double limit = half ? 5e-2 : 1e-3;
    CHECK(d.max <= limit, "max error %g at %zu: %g instead of %g", d.max, d.at, got[d.at],
          mask[d.at]);
    CHECK(d.iou >= (half ? 0.995 : 0.999), "IoU %g", d.iou);
    check_replay(&run, got, count);
    finish_run(&run);
    free(picture);
    free(mask);
    free(got);
}

static void test_all_networks(const struct model *model, struct tdl_context *context)
{
    for (int i = 0; i < 4; i++) {
        const struct tdl_build_params params = {
            .precision = i & 1 ? TDL_PRECISION_FP16 : TDL_PRECISION_FP32,
            .no_fuse = i & 2,
        };

        /* Halves are packed by the shaders: no device lacks them. */
        if (in_run(model, context, i & 1, i & 2))
            test_network(model, context, &params);
        else
            printf("%s %s %s: in another run\n", model->name, i & 1 ? "fp16" : "fp32",
                   i & 2 ? "unfused" : "fused");
    }
}

/* ---------------------------------------------------------- intermediates */

/* One build gives only so many outputs; the model's own comes first. */
#define BATCH 15

static void mark(struct tdl_ir *ir, struct tdl_operand *operand)
{
    char name[32];

    snprintf(name, sizeof(name), "value %u", operand->id);
    if (!tdl_operand_set_name(operand, name))
        abort();
    operand->is_output = true;
    ir->outputs[ir->output_count++] = operand;
}

static void unmark_all_but_first(struct tdl_ir *ir)
{
    while (ir->output_count > 1)
        ir->outputs[--ir->output_count]->is_output = false;
}

static double largest(const float *values, size_t count)
{
    double max = 0;

    for (size_t i = 0; i < count; i++)
        max = fabs(values[i]) > max ? fabs(values[i]) : max;
    return max;
}

static void check_value(const struct tdl_operand *operand, const float *got, const float *expected)
{
    const size_t count = tdl_tensor_params_size(&operand->desc) / sizeof(float);
    const struct difference d = compare(got, expected, count);
    const double scale = largest(expected, count);

    /* float32 sums in another order, carried through up to 130 layers. (At the
     * worst pixel of the last one our reference is 3.6e-5 from ONNX Runtime.) */
    CHECK(d.max <= 5e-5 * (scale > 1 ? scale : 1),
          "%s: error %g at %zu of %zu (%g instead of %g; values up to %g)",
          operand->producer->label, d.max, d.at, count, got[d.at], expected[d.at], scale);
}

static uint32_t check_batch(struct tdl_context *context, struct tdl_builder *builder,
                            const float *picture, void *const *expected)
{
    const struct tdl_build_params params = {.precision = TDL_PRECISION_FP32, .no_fuse = true};
    struct tdl_ir *ir = tdl_builder_ir(builder);
    struct run run;

    start_run(&run, context, builder, &params, picture);
    CHECK(run.output_count == ir->output_count, "%u outputs", run.output_count);
    dispatch(&run);
    for (uint32_t i = 0; i < run.output_count; i++) {
        float *got = read_output(&run, i);

        check_value(ir->outputs[i], got, expected[ir->outputs[i]->id]);
        free(got);
    }
    finish_run(&run);
    return ir->output_count - 1;
}

static void test_intermediates(const struct model *model, struct tdl_context *context)
{
    struct tdl_builder *builder = load(model, context);
    struct tdl_ir *ir = tdl_builder_ir(builder);
    float *picture = read_picture(model), *mask = read_mask(model);
    void **expected = allocate(ir->operand_count * sizeof(*expected));
    const void *const inputs[] = {picture};
    struct difference d;
    uint32_t checked = 0, values = 0;

    require(tdl_ir_run_reference(ir, inputs, expected), "reference");
    d = compare(expected[ir->outputs[0]->id], mask, (size_t)model->width * model->height);
    printf("%s reference: max error %.3g at %zu, IoU %.5f\n", model->name, d.max, d.at, d.iou);
    CHECK(d.max <= 2e-4 && d.iou >= 0.9999, "the references do not compute this network");
    const bool all = in_run(model, context, false, true);
    for (uint32_t i = 0; i < ir->operand_count && all; i++) {
        struct tdl_operand *operand = ir->operands[i];

        if (operand->kind != TDL_OPERAND_VALUE || operand->is_output ||
            operand->producer->inputs[0]->kind == TDL_OPERAND_CONSTANT)
            continue; /* a cast of a constant is folded away */
        values++;
        mark(ir, operand);
        if (ir->output_count <= BATCH)
            continue;
        checked += check_batch(context, builder, picture, expected);
        unmark_all_but_first(ir);
    }
    if (all) {
        checked += check_batch(context, builder, picture, expected);
        CHECK(checked == values && values == model->operators - 1, "%u of %u values", checked,
              values);
    }
    printf("%s: %u values inside checked%s\n", model->name, checked,
           all ? "" : "; all of them in another run");
    for (uint32_t i = 0; i < ir->operand_count; i++)
        free(expected[i]);
    free(expected);
    free(picture);
    free(mask);
    tdl_builder_destroy(&builder);
}

/* ------------------------------------------------------------------- main */

static void print_log(void *data, enum tdl_log_level level, const char *message)
{
    unsigned *lines = data;

    /* A wrong descriptor is reported once for every dispatch. */
    if ((*lines)++ < 5)
        printf("log %d: %.500s\n", level, message);
}

int main(int argc, char **argv)
{
    unsigned log_lines = 0;
    const struct tdl_context_params params = {
        .validation = true, .log = print_log, .log_data = &log_lines};
    struct tdl_context *context = NULL;
    struct tdl_context_stats stats;
    const struct model *model = NULL;
    enum tdl_result r;

    for (size_t i = 0; argc == 3 && i < TDL_COUNT(models); i++)
        model = strcmp(argv[1], models[i].name) ? model : &models[i];
    if (!model) {
        printf("usage: test-person square|landscape network|intermediates\n");
        return 2;
    }
    r = tdl_context_create(&params, &context);
    if (r == TDL_ERROR_NO_DEVICE) {
        printf("SKIP: %s\n", tdl_last_error());
        return SKIP;
    }
    require(r, "context");
    printf("on %s\n", tdl_context_device(context)->name);
    if (strcmp(argv[2], "network") == 0)
        test_all_networks(model, context);
    else
        test_intermediates(model, context);
    require(tdl_context_sync(context), "sync");
    tdl_context_get_stats(context, &stats);
    CHECK(stats.validation_errors == 0, "%llu messages of the validation layers",
          (unsigned long long)stats.validation_errors);
    tdl_context_destroy(&context);
    return failures ? 1 : 0;
}
