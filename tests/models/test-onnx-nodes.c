/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ONNX's published node tests (Debian package libonnx-testdata) as an
 * independent reference: each case of an operator that libtdl has is run on
 * the device and compared with the outputs that ONNX gives. Cases of others
 * are listed as not covered. They go through the reader that models go through.
 *
 *     test-onnx-nodes [-v] [FOLDER [PART]]    only cases with PART in the name
 */
#include "../engine/check.h"

#ifdef HAVE_ONNX
#include "onnx-file.h"

#include <tdl/models.h>

#include <dirent.h>
#include <math.h>

#define DEFAULT_FOLDER "/usr/share/libonnx-testdata/data/node"
/* More or fewer would mean that operators got lost; see the last line printed. The newer
 * package has cases of bfloat16, float8 and strings, and of operators that came since. */
static const struct {
    int cases;
    unsigned least_passed, most_not_covered;
} packages[] = {
    {932, 815, 95},    /* ONNX 1.12, Debian 12 */
    {1288, 1040, 220}, /* ONNX 1.17, Debian 13 */
    {1653, 1305, 320}, /* ONNX 1.20, Debian sid */
};
/* Software Vulkan compiles kernels for each: there it is one of so many, by the seed. */
#define STRIDE 6

/* FOLDED: all of it was computed when the model was loaded. */
enum verdict { PASSED, FOLDED, FAILED, NOT_COVERED };

static float half_value(uint16_t half)
{
    int exponent = half >> 10 & 31;
    double v = exponent == 31  ? (half & 1023 ? NAN : INFINITY)
               : exponent == 0 ? ldexp(half & 1023, -24)
                               : ldexp((half & 1023) + 1024, exponent - 25);
    return (float)(half & 0x8000 ? -v : v);
}

static double float_at(enum tdl_dtype dtype, const void *data, size_t i)
{
    uint16_t half;
    float value;
    if (dtype == TDL_FLOAT16) {
        memcpy(&half, (const uint8_t *)data + 2 * i, 2);
        return half_value(half);
    }
    memcpy(&value, (const uint8_t *)data + 4 * i, 4);
    return value;
}

/* Integers have to be equal, reals to agree as ONNX's own runner asks. */
static bool compare(const struct tdl_tensor_params *p, const void *want, const void *got)
{
    const bool half = p->dtype == TDL_FLOAT16;
    size_t size = tdl_tensor_params_size(p), count = size / tdl_dtype_size(p->dtype);
    if (p->dtype != TDL_FLOAT32 && !half)
        return CHECK(!memcmp(want, got, size), "integers differ");
    for (size_t i = 0; i < count; i++) {
        double w = float_at(p->dtype, want, i), g = float_at(p->dtype, got, i);
        bool same = w == g || (isnan(w) && isnan(g)) ||
                    fabs(w - g) <= (half ? 1e-3 : 1e-6) + 1e-3 * fabs(w);
        if (!CHECK(same, "element %zu is %.9g instead of %.9g", i, g, w))
            return false;
    }
    return true;
}

static struct tdl_tensor *tensor_of(struct tdl_context *ctx, const struct tdl_tensor_params *p)
{
    struct tdl_tensor_params q = *p;
    struct tdl_tensor *t;
    q.usage = TDL_TENSOR_READABLE | TDL_TENSOR_WRITABLE;
    OK(tdl_tensor_create(ctx, &q, &t));
    return t;
}

static struct tdl_tensor *input_tensor(struct tdl_context *ctx, const Onnx__TensorProto *data)
{
    struct tdl_tensor_params p;
    struct tdl_tensor *t;
    size_t size;
    void *bytes = onnx_case_data(data, &size);
    REQUIRE(bytes && !onnx_case_params(data, &p), "the input cannot be read");
    t = tensor_of(ctx, &p);
    OK(tdl_tensor_write(t, bytes, size, NULL));
    free(bytes);
    return t;
}

/* The sizes of what exists of an output that has its largest shape: those of NAME.shape. */
static struct tdl_tensor_params existing(const struct tdl_binding *out, uint32_t count, uint32_t i)
{
    struct tdl_tensor_params p = *tdl_tensor_get_params(out[i].tensor);
    int32_t sizes[TDL_MAX_RANK];
    char name[TDL_MAX_NAME + 8];
    snprintf(name, sizeof(name), "%s.shape", out[i].name);
    for (uint32_t k = 0; k < count; k++)
        if (!strcmp(out[k].name, name)) {
            OK(tdl_tensor_read(out[k].tensor, sizes, p.rank * sizeof(*sizes)));
            for (uint32_t d = 0; d < p.rank; d++)
                p.shape[d] = (uint32_t)sizes[d];
        }
    return p;
}

/* Moves the elements of a part of a shape together. */
static void cut(uint8_t *data, const struct tdl_tensor_params *whole,
                const struct tdl_tensor_params *part)
{
    const size_t size = tdl_dtype_size(part->dtype), count = tdl_tensor_params_size(part) / size;
    for (size_t i = 0; i < count; i++) {
        size_t from = 0, stride = 1, rest = i;
        for (uint32_t d = part->rank; d-- > 0; rest /= part->shape[d], stride *= whole->shape[d])
            from += rest % part->shape[d] * stride;
        memmove(data + i * size, data + from * size, size);
    }
}

static bool check_output(const struct tdl_binding *out, uint32_t count, uint32_t i,
                         const Onnx__TensorProto *expected)
{
    const struct tdl_tensor_params *whole = tdl_tensor_get_params(out[i].tensor);
    const struct tdl_tensor_params have = existing(out, count, i);
    struct tdl_tensor_params p;
    const char *why = onnx_case_params(expected, &p);
    if (!CHECK(!why && p.dtype == have.dtype && p.rank == have.rank &&
                   !memcmp(p.shape, have.shape, p.rank * sizeof(*p.shape)),
               "the output is of another type or shape"))
        return false;
    size_t size;
    void *want = onnx_case_data(expected, &size), *got = malloc(tdl_tensor_params_size(whole));
    REQUIRE(want && got, "out of memory");
    OK(tdl_tensor_read(out[i].tensor, got, tdl_tensor_params_size(whole)));
    cut(got, whole, &have);
    bool ok = compare(&p, want, got);
    free(want);
    free(got);
    return ok;
}

/* The tensor of the case's input by its name in the model. */
static const Onnx__TensorProto *input_of(const struct onnx_case *c, const char *name)
{
    for (size_t i = 0; i < c->input_count; i++)
        if (!strcmp(c->model->graph->input[i]->name, name))
            return c->inputs[i];
    return NULL;
}

static bool run(struct tdl_context *ctx, struct tdl_builder *b, const struct onnx_case *c)
{
    struct tdl_graph *graph;
    struct tdl_binding in[ONNX_MAX_TENSORS], out[ONNX_MAX_TENSORS];
    uint32_t in_count = 0, out_count = 0;
    bool ok = true;
    if (!CHECK(tdl_builder_build(b, &(struct tdl_build_params){.precision = TDL_PRECISION_FP32},
                                 &graph) == TDL_OK,
               "%s", tdl_last_error()))
        return false;
    const struct tdl_tensor_params *p;
    while (in_count < ONNX_MAX_TENSORS &&
           (p = tdl_graph_input(graph, in_count, &in[in_count].name))) {
        const Onnx__TensorProto *data = input_of(c, in[in_count].name);
        REQUIRE(data, "the graph has an input that the model has not");
        in[in_count++].tensor = input_tensor(ctx, data);
    }
    for (; out_count < ONNX_MAX_TENSORS &&
           (p = tdl_graph_output(graph, out_count, &out[out_count].name));
         out_count++) {
        REQUIRE(out_count >= c->output_count ||
                    !strcmp(out[out_count].name, c->model->graph->output[out_count]->name),
                "outputs are not those of the model");
        out[out_count].tensor = tensor_of(ctx, p);
    }
    REQUIRE(out_count >= c->output_count, "outputs of the model are missing");
    OK(tdl_graph_dispatch(graph, in, in_count, out, out_count, NULL));
    for (uint32_t i = 0; i < c->output_count; i++)
        ok &= check_output(out, out_count, i, c->outputs[i]);
    for (uint32_t i = 0; i < out_count; i++)
        tdl_tensor_destroy(&out[i].tensor);
    for (uint32_t i = 0; i < in_count; i++)
        tdl_tensor_destroy(&in[i].tensor);
    tdl_graph_destroy(&graph);
    return ok;
}

/* The model's bytes, the inputs from number `first` on as constants of it. */
static uint8_t *pack(struct onnx_case *c, size_t first, size_t *out_size)
{
    Onnx__GraphProto *g = c->model->graph, old = *g;
    Onnx__TensorProto **all = calloc(g->n_initializer + c->input_count, sizeof(*all));
    char *names[ONNX_MAX_TENSORS];
    REQUIRE(all, "out of memory");
    if (g->n_initializer)
        memcpy(all, g->initializer, g->n_initializer * sizeof(*all));
    g->initializer = all;
    for (size_t i = first; i < c->input_count; i++) {
        names[i] = c->inputs[i]->name;
        c->inputs[i]->name = g->input[i]->name;
        all[g->n_initializer++] = c->inputs[i];
    }
    uint8_t *bytes = malloc(onnx__model_proto__get_packed_size(c->model));
    REQUIRE(bytes, "out of memory");
    *out_size = onnx__model_proto__pack(c->model, bytes);
    for (size_t i = first; i < c->input_count; i++)
        c->inputs[i]->name = names[i];
    *g = old;
    free(all);
    return bytes;
}

/* Cases whose data are not what the standard says, as other runners find, too. */
static const struct {
    const char *begin, *why;
} other_cases[] = {
    {"test_bernoulli", "its numbers are random"},
    {"test_bitwise_not_3d", "libtdl has int32 where it has uint16"},
    {"test_cast_FLOAT_to_BFLOAT16", "libtdl keeps float32 where it has bfloat16"},
    {"test_castlike_FLOAT_to_BFLOAT16", "libtdl keeps float32 where it has bfloat16"},
    {"test_l2normalization_axis_0", "it divides 0 by 0, where ONNX Runtime's result is 0 as here"},
    {"test_qlinearmatmul_2D_int8_", "its data wrap where the standard saturates"},
    {"test_qlinearmatmul_3D_int8_", "its data wrap where the standard saturates"},
    {"test_averagepool_3d_dilations_large_count_include_pad_is_1_ceil_mode_is_True",
     "its data of ONNX 1.17 count what is behind the padding, those of later ones do not"},
};

/* Sizes, axes and filters are inputs in these cases. libtdl has to know them when a
 * model is loaded: so constants are made of as few inputs as it takes. */
static enum verdict run_case(struct tdl_context *ctx, const char *folder, const char *name)
{
    char path[512], missing[256] = "";
    struct onnx_case c;
    enum verdict verdict = NOT_COVERED;
    check_begin("%s", name);
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    for (size_t i = 0; i < COUNT(other_cases); i++)
        if (!strncmp(name, other_cases[i].begin, strlen(other_cases[i].begin))) {
            printf("not covered: %s: %s\n", name, other_cases[i].why);
            return NOT_COVERED;
        }
    const char *why = onnx_case_read(path, &c);
    if (why) {
        printf("not covered: %s: %s\n", name, why);
        return NOT_COVERED;
    }
    for (int way = 0; way < 3 && verdict == NOT_COVERED; way++) {
        const size_t first = way == 0 ? c.input_count : way == 1 && c.input_count;
        struct tdl_builder *builder;
        size_t size;
        uint8_t *bytes = pack(&c, first, &size);
        OK(tdl_builder_create(ctx, &builder));
        const enum tdl_result r = tdl_model_import(
            builder, bytes, size, &(struct tdl_model_params){.output_shapes = true});
        if (r == TDL_ERROR_UNSUPPORTED) {
            if (!*missing)
                snprintf(missing, sizeof(missing), "%s", tdl_builder_error(builder));
        } else {
            bool ok = CHECK(r == TDL_OK, "%s", tdl_builder_error(builder));
            struct tdl_graph *graph = NULL;
            if (ok && tdl_builder_build(builder, NULL, &graph) == TDL_ERROR_UNSUPPORTED)
                snprintf(missing, sizeof(missing), "%s", tdl_last_error());
            else
                verdict = !ok || !run(ctx, builder, &c) ? FAILED : first ? PASSED : FOLDED;
            tdl_graph_destroy(&graph);
        }
        tdl_builder_destroy(&builder);
        free(bytes);
    }
    if (verdict == NOT_COVERED)
        printf("not covered: %s: %s\n", name, missing);
    onnx_case_finish(&c);
    return verdict;
}

static int is_case(const struct dirent *d)
{
    return !strncmp(d->d_name, "test_", 5);
}

int main(int argc, char **argv)
{
    const bool verbose = argc > 1 && !strcmp(argv[1], "-v");
    const char *folder = argc > 1 + verbose ? argv[1 + verbose] : DEFAULT_FOLDER;
    const char *part = argc > 2 + verbose ? argv[2 + verbose] : NULL;
    unsigned counts[4] = {0}, left_out = 0;
    struct dirent **names;
    int count = scandir(folder, &names, is_case, alphasort);
    if (count <= 0) {
        printf("skipped: no test cases in %s; install libonnx-testdata\n", folder);
        return EXIT_SKIP;
    }
    struct tdl_context *ctx = check_context_open();
    const bool sampled = argc == 1 && tdl_context_device(ctx)->type == TDL_DEVICE_SOFTWARE;
    const uint64_t stride = sampled ? check_stride(STRIDE) : 1, seed = check_seed(0, NULL, 0);
    for (int i = 0; i < count; i++) {
        if ((uint64_t)i % stride != seed % stride)
            left_out++;
        else if (!part || strstr(names[i]->d_name, part)) {
            enum verdict v = run_case(ctx, folder, names[i]->d_name);
            counts[v]++;
            if (verbose && v <= FOLDED)
                printf("passed: %s\n", names[i]->d_name);
        }
        free(names[i]);
    }
    free(names);
    check_context_close(ctx);
    size_t p = COUNT(packages) - 1;
    while (p && count < packages[p].cases)
        p--;
    CHECK(counts[NOT_COVERED] <= packages[p].most_not_covered || argc > 1,
          "%u cases are not covered, %u at most are known to be", counts[NOT_COVERED],
          packages[p].most_not_covered);
    if (argc == 1 && stride == 1)
        CHECK(counts[PASSED] >= packages[p].least_passed,
              "%u cases passed, %u at least are known to", counts[PASSED],
              packages[p].least_passed);
    printf("%u passed, %u more folded, %u failed, %u not covered, %u left out, of %d cases\n",
           counts[PASSED], counts[FOLDED], counts[FAILED], counts[NOT_COVERED], left_out, count);
    return check_result();
}

#else
int main(void)
{
    printf("skipped: built without libonnx-dev, protobuf-c-compiler and libprotobuf-c-dev\n");
    return EXIT_SKIP;
}
#endif
