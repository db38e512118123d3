/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tdl-run: any model on files. */
#include "model_options.h"
#include "run_files.h"
#include "tool.h"

#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FILES TDL_MAX_INPUTS

static const char help[] =
    "Usage: tdl-run [OPTION]... MODEL --input NAME=FILE... [--output NAME=FILE]...\n"
    "\n"
    "Run a model on files: NumPy arrays (.npy) of an input's type and count, or\n"
    "pictures (.png), which are scaled to its size. Outputs go to .npy, or, one image\n"
    "of 1, 3 or 4 channels of floats from 0 to 1, to .png. Without outputs, their\n"
    "shapes and ranges are printed. Where sizes depend on numbers, outputs are cut to\n"
    "what exists, and NAME.shape has the sizes. NAME= may be left out of the first of\n"
    "each. Sizes that the model leaves open are those of the files.\n"
    "\n"
    "  -i, --input [NAME=]FILE    elements of an input; zeros where none is given\n"
    "  -o, --output [NAME=]FILE   where an output goes\n"
    "      --range LOW,HIGH       of pictures as the model wants them (default 0,1;\n"
    "                             of uint8 0,255)\n"
    "      --mean R,G,B           taken off then (default 0,0,0)\n"
    "      --deviation R,G,B      divided by at last (default 1,1,1)\n" TOOL_MODEL_HELP
    "  -d, --device DEVICE        auto (default), cpu, gpu, vulkan, an index, a UUID, a\n"
    "                             DRM node or part of a name\n"
    "  -t, --threads N            on the CPU; 0 (default): as many as cores that the\n"
    "                             process may use, a small network one\n"
    "  -p, --precision P          auto (default), fp32 or fp16\n"
    "  -n, --no-fuse              every operator its own dispatch\n"
    "  -r, --runs N               run so often, and say how long it took (default 1)\n"
    "  -h, --help                 show this\n"
    "\n"
    "Example: tdl-run isnet.onnx -i photo.png --mean 0.5,0.5,0.5 -o mask.png\n";

struct file {
    char *name; /* NULL: the first */
    const char *path;
};

struct options {
    const char *model, *device;
    uint32_t threads, runs;
    struct tdl_build_params build;
    struct tool_model_options model_options;
    struct file inputs[MAX_FILES], outputs[MAX_FILES];
    uint32_t input_count, output_count;
    struct run_range range;
};

struct run {
    const struct options *options;
    struct tdl_context *context;
    struct tdl_graph *graph;
    uint64_t start; /* of loading, ns */
    struct tdl_binding inputs[MAX_FILES], outputs[MAX_FILES];
    uint32_t input_count, output_count;
};

/* ------------------------------------------------------------------- tensors */

static const char *file_of(const struct file *files, uint32_t count, const char *name,
                           bool is_first)
{
    for (uint32_t i = 0; i < count; i++)
        if (files[i].name ? !strcmp(files[i].name, name) : is_first)
            return files[i].path;
    return NULL;
}

static int check_names(const struct run *r)
{
    const struct options *o = r->options;

    for (uint32_t out = 0; out < 2; out++) {
        const struct file *files = out ? o->outputs : o->inputs;
        const struct tdl_binding *bindings = out ? r->outputs : r->inputs;

        for (uint32_t i = 0; i < (out ? o->output_count : o->input_count); i++) {
            bool found = !files[i].name;

            if (files[i].name && !files[0].name && !strcmp(files[i].name, bindings[0].name))
                return tool_fail("%s '%s' is given twice: one without a name is the model's first",
                                 out ? "output" : "input", files[i].name);
            for (uint32_t k = 0; k < (out ? r->output_count : r->input_count); k++)
                found |= files[i].name && !strcmp(bindings[k].name, files[i].name);
            if (!found)
                return tool_fail("the model has no %s '%s'; tdl-run %s lists those it has",
                                 out ? "output" : "input", files[i].name, o->model);
        }
    }
    return TOOL_OK;
}

/* ---------------------------------------------------------------------- sizes */

/* Height and width of a picture's file, in a tensor with channels there. */
static void take_picture(struct run *r, uint32_t index, const uint32_t *sides,
                         struct tdl_tensor_params *p)
{
    const uint32_t h = tdl_graph_input_layout(r->graph, index) == TDL_LAYOUT_NCHW ? 2 : 1;

    for (uint32_t i = 0; p->rank == 4 && i < 2; i++)
        if (tdl_graph_input_dimension(r->graph, index, h + i))
            p->shape[h + i] = sides[i];
}

/* Dimensions that are dynamic become those of the input's file; a picture is scaled to the size
 * that was asked for, if any was. */
static bool take_size(struct run *r, uint32_t index, const char *path, struct tdl_tensor_params *p)
{
    const struct tdl_model_params *said = &r->options->model_options.params;
    uint32_t shape[TDL_MAX_RANK];
    const uint32_t rank = run_file_shape(path, shape);

    if (run_is_picture(path)) {
        if (rank && !said->size[0] && !said->dimension_count)
            take_picture(r, index, shape, p);
        return rank != 0;
    }
    for (uint32_t i = 0; i < rank && rank == p->rank; i++)
        if (tdl_graph_input_dimension(r->graph, index, i))
            p->shape[i] = shape[i];
    return rank != 0 && rank == p->rank;
}

/* The shapes of all inputs and outputs: of inputs with a file the file's, of others what follows;
 * and the plan for them. */
static int settle_sizes(struct run *r, struct tdl_tensor_params *inputs,
                        struct tdl_tensor_params *outputs)
{
    const struct options *o = r->options;
    const struct tdl_compile_params compile = {.progress = tool_progress};
    struct tdl_input_size sizes[MAX_FILES] = {{0}};
    const struct tdl_tensor_params *p;
    uint32_t count = 0;

    for (; r->input_count < MAX_FILES &&
           (p = tdl_graph_input(r->graph, r->input_count, &r->inputs[r->input_count].name));
         r->input_count++) {
        const char *name = r->inputs[r->input_count].name;
        const char *path = file_of(o->inputs, o->input_count, name, r->input_count == 0);
        struct tdl_tensor_params own = *p;

        if (!path || !take_size(r, r->input_count, path, &own))
            continue;
        sizes[count].name = name;
        memcpy(sizes[count++].shape, own.shape, sizeof(own.shape));
    }
    while (r->output_count < MAX_FILES &&
           tdl_graph_output(r->graph, r->output_count, &r->outputs[r->output_count].name))
        r->output_count++;
    if (tdl_graph_compute_inputs(r->graph, sizes, count, inputs, r->input_count) != TDL_OK)
        return tool_model_fail(o->model, tdl_last_error());
    for (uint32_t i = 0; i < r->input_count; i++) {
        sizes[i].name = r->inputs[i].name;
        memcpy(sizes[i].shape, inputs[i].shape, sizeof(sizes[i].shape));
    }
    if (tdl_graph_prepare(r->graph, sizes, r->input_count, &compile) != TDL_OK ||
        tdl_graph_compute_shapes(r->graph, sizes, r->input_count, outputs, r->output_count) !=
            TDL_OK)
        return tool_model_fail(o->model, tdl_last_error());
    return TOOL_OK;
}

static int create_tensor(struct run *r, const struct tdl_tensor_params *params,
                         struct tdl_tensor **out)
{
    struct tdl_tensor_params p = *params;

    p.usage = TDL_TENSOR_READABLE | TDL_TENSOR_WRITABLE;
    return tdl_tensor_create(r->context, &p, out) == TDL_OK ? TOOL_OK
                                                            : tool_fail("%s", tdl_last_error());
}

static int bind_tensors(struct run *r)
{
    struct tdl_tensor_params inputs[MAX_FILES], outputs[MAX_FILES];
    int status = settle_sizes(r, inputs, outputs);

    for (uint32_t i = 0; status == TOOL_OK && i < r->input_count; i++)
        status = create_tensor(r, &inputs[i], &r->inputs[i].tensor);
    for (uint32_t i = 0; status == TOOL_OK && i < r->output_count; i++)
        status = create_tensor(r, &outputs[i], &r->outputs[i].tensor);
    if (status == TOOL_OK)
        printf("load   %.1f ms\n", (double)(tool_now() - r->start) / 1e6);
    return status == TOOL_OK ? check_names(r) : status;
}

static int read_inputs(struct run *r)
{
    const struct options *o = r->options;

    for (uint32_t i = 0; i < r->input_count; i++) {
        const struct tdl_tensor_params *p = tdl_tensor_get_params(r->inputs[i].tensor);
        const char *path = file_of(o->inputs, o->input_count, r->inputs[i].name, i == 0);
        char shape[96];
        enum tdl_result result;
        void *data;

        printf("input  %-24s %s%s%s\n", r->inputs[i].name, tool_shape(p, shape, sizeof(shape)),
               path ? " from " : ", zeros", path ? path : "");
        if (!path)
            continue;
        data = run_read(path, p, tdl_graph_input_layout(r->graph, i), &o->range);
        if (!data)
            return TOOL_FAILED;
        result = tdl_tensor_write(r->inputs[i].tensor, data, tdl_tensor_params_size(p), NULL);
        free(data);
        if (result != TDL_OK)
            return tool_fail("%s", tdl_last_error());
    }
    return TOOL_OK;
}

static void print_range(const struct tdl_tensor_params *p, const float *data)
{
    const size_t count = tdl_tensor_params_size(p) / sizeof(*data);
    float low = INFINITY, high = -INFINITY;
    size_t numbers = 0;
    double sum = 0;

    for (size_t i = 0; i < count; i++) {
        if (isnan(data[i]))
            continue;
        low = fminf(low, data[i]);
        high = fmaxf(high, data[i]);
        sum += (double)data[i];
        numbers++;
    }
    if (numbers == 0) {
        printf(", all NaN");
        return;
    }
    printf(", %g to %g, mean %g", (double)low, (double)high, sum / (double)numbers);
    if (numbers < count)
        printf(", %zu of %zu NaN", count - numbers, count);
}

/* The sizes of an output that depend on numbers: the output NAME.shape has them. */
static int read_shape(const struct run *r, uint32_t i, struct tdl_tensor_params *shape)
{
    char name[2 * TDL_MAX_NAME];
    int32_t sizes[TDL_MAX_RANK];

    snprintf(name, sizeof(name), "%s.shape", r->outputs[i].name);
    for (uint32_t k = 0; k < r->output_count; k++) {
        const struct tdl_tensor_params *p = tdl_tensor_get_params(r->outputs[k].tensor);

        if (strcmp(r->outputs[k].name, name) || p->dtype != TDL_INT32 || p->rank != 1 ||
            p->shape[0] != shape->rank)
            continue;
        if (tdl_tensor_read(r->outputs[k].tensor, sizes, sizeof(*sizes) * shape->rank) != TDL_OK)
            return tool_fail("%s", tdl_last_error());
        for (uint32_t d = 0; d < shape->rank; d++)
            if (sizes[d] >= 0 && (uint32_t)sizes[d] < shape->shape[d])
                shape->shape[d] = (uint32_t)sizes[d];
    }
    return TOOL_OK;
}

/* Moves the elements of the smaller shape together, and makes the tensor that large. */
static void cut(struct tdl_tensor_params *p, const struct tdl_tensor_params *to, char *data)
{
    const size_t size = tdl_dtype_size(p->dtype), count = tdl_tensor_params_size(to) / size;

    for (size_t i = 0; i < count; i++) {
        size_t from = 0, stride = 1, left = i;

        for (uint32_t d = p->rank; d-- > 0; stride *= p->shape[d]) {
            from += left % to->shape[d] * stride;
            left /= to->shape[d];
        }
        memmove(data + i * size, data + from * size, size);
    }
    *p = *to;
}

/* An output's elements, malloc'ed, those that exist, and their shape. */
static void *read_output(const struct run *r, uint32_t i, struct tdl_tensor_params *out)
{
    struct tdl_tensor_params shape = *tdl_tensor_get_params(r->outputs[i].tensor);
    const size_t size = tdl_tensor_params_size(&shape);
    void *data = malloc(size);

    *out = shape;
    if (!data)
        tool_fail("no memory for an output");
    else if (tdl_tensor_read(r->outputs[i].tensor, data, size) != TDL_OK)
        tool_fail("%s", tdl_last_error());
    else if (read_shape(r, i, &shape) == TOOL_OK) {
        cut(out, &shape, data);
        return data;
    }
    free(data);
    return NULL;
}

static int write_outputs(struct run *r)
{
    const struct options *o = r->options;
    int status = TOOL_OK;

    for (uint32_t i = 0; i < r->output_count && status == TOOL_OK; i++) {
        const struct tdl_tensor_params *most = tdl_tensor_get_params(r->outputs[i].tensor);
        const char *path = file_of(o->outputs, o->output_count, r->outputs[i].name, i == 0);
        struct tdl_tensor_params p;
        void *data = read_output(r, i, &p);
        char shape[96];

        if (!data)
            return TOOL_FAILED;
        printf("output %-24s %s", r->outputs[i].name, tool_shape(&p, shape, sizeof(shape)));
        if (memcmp(p.shape, most->shape, sizeof(p.shape)))
            printf(" of %s", tool_shape(most, shape, sizeof(shape)));
        if (p.dtype == TDL_FLOAT32 && tdl_tensor_params_size(&p) > 0)
            print_range(&p, data);
        printf("%s%s\n", path ? " to " : "", path ? path : "");
        if (path)
            status = run_write(path, &p, tdl_graph_output_layout(r->graph, i), data);
        free(data);
    }
    return status;
}

/* ----------------------------------------------------------------------- runs */

static int compare_times(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static int run(struct run *r)
{
    const uint32_t runs = r->options->runs;
    double *times = calloc(runs, sizeof(*times));
    uint64_t point;

    if (!times)
        return tool_fail("no memory for %u times", runs);
    for (uint32_t i = 0; i < runs; i++) {
        const uint64_t start = tool_now();

        if (tdl_graph_dispatch(r->graph, r->inputs, r->input_count, r->outputs, r->output_count,
                               &point) != TDL_OK ||
            tdl_context_wait(r->context, point, TDL_WAIT_FOREVER) != TDL_OK) {
            free(times);
            return tool_fail("%s", tdl_last_error());
        }
        times[i] = (double)(tool_now() - start) / 1e6;
    }
    qsort(times, runs, sizeof(*times), compare_times);
    printf("run    %u times on %s: %.3f ms at least, %.3f ms in the median\n", runs,
           tdl_context_device(r->context)->name, times[0], times[runs / 2]);
    free(times);
    return TOOL_OK;
}

/* Sizes that are known before the model is: of arrays whose input is named. */
struct known_sizes {
    struct tdl_model_dimension list[TOOL_MAX_BOUND + MAX_FILES * TDL_MAX_RANK];
    char *names[MAX_FILES * TDL_MAX_RANK];
    uint32_t count, named;
};

static bool know_sizes(const struct options *o, struct known_sizes *k)
{
    const struct tdl_model_params *said = &o->model_options.params;

    for (; k->count < said->dimension_count; k->count++)
        k->list[k->count] = said->dimensions[k->count];
    for (uint32_t i = 0; i < o->input_count; i++) {
        const struct file *f = &o->inputs[i];
        uint32_t shape[TDL_MAX_RANK];
        const uint32_t rank =
            f->name && !run_is_picture(f->path) ? run_file_shape(f->path, shape) : 0;

        for (uint32_t d = 0; d < rank; d++) {
            const size_t room = strlen(f->name) + 16;
            char *name = k->names[k->named++] = malloc(room);

            if (!name)
                return false;
            snprintf(name, room, "%s:%u", f->name, d);
            k->list[k->count++] =
                (struct tdl_model_dimension){.name = name, .size = shape[d], .optional = true};
        }
    }
    return true;
}

static int load(struct run *r)
{
    static const struct tdl_model_more more = {.dynamic = true};
    const struct options *o = r->options;
    struct tdl_model_params params = o->model_options.params;
    struct tdl_build_params build = o->build;
    struct tdl_builder *builder = NULL;
    struct known_sizes known = {.count = 0};
    int status = TOOL_OK;

    r->start = tool_now();
    build.defer_compile = true; /* of sizes that files may not have */
    params.output_shapes = true;
    params.more = &more;
    if (!know_sizes(o, &known))
        status = tool_fail("no memory for sizes");
    params.dimensions = known.list;
    params.dimension_count = known.count;
    if (status == TOOL_OK && (tdl_builder_create(r->context, &builder) != TDL_OK ||
                              tdl_model_load(builder, o->model, &params) != TDL_OK ||
                              tdl_builder_build(builder, &build, &r->graph) != TDL_OK))
        status = tool_model_fail(o->model, tdl_last_error());
    if (status == TOOL_OK)
        tool_model_note_size(&o->model_options, r->graph);
    tdl_builder_destroy(&builder);
    for (uint32_t i = 0; i < known.named; i++)
        free(known.names[i]);
    return status;
}

/* -------------------------------------------------------------------- options */

static int parse_file(struct file *files, uint32_t *count, char *text, bool is_output)
{
    const char *what = is_output ? "output" : "input";
    char *equals = strchr(text, '=');
    struct file file = {equals ? text : NULL, equals ? equals + 1 : text};

    if (*count == MAX_FILES)
        return tool_usage_error("'%s' is one %s more than the %d that there may be", text, what,
                                MAX_FILES);
    if (!equals && *count > 0)
        return tool_usage_error("which %s is '%s'? From the second on, say NAME=FILE", what, text);
    if (equals)
        *equals = 0;
    if (!*file.path || equals == text)
        return tool_usage_error("--%s wants a file, or NAME=FILE", what);
    for (uint32_t i = 0; i < *count; i++)
        if (files[i].name && !strcmp(files[i].name, text))
            return tool_usage_error("%s '%s' is given twice", what, text);
    files[(*count)++] = file;
    return run_check_name(file.path, is_output);
}

static bool parse_numbers(const char *text, float *out, uint32_t count)
{
    char *end = NULL;

    for (uint32_t i = 0; i < count; i++, text = end + 1) {
        out[i] = strtof(text, &end);
        if (end == text || *end != (i + 1 < count ? ',' : 0) || !isfinite(out[i]))
            return false;
    }
    return true;
}

static bool parse_range(const char *text, struct run_range *out)
{
    float range[2];

    if (!parse_numbers(text, range, 2) || range[0] == range[1])
        return false;
    out->low = range[0];
    out->high = range[1];
    out->said = true;
    return true;
}

static bool parse_deviation(const char *text, float out[3])
{
    return parse_numbers(text, out, 3) && out[0] != 0 && out[1] != 0 && out[2] != 0;
}

static const char *wants(int c)
{
    switch (c) {
    case 'R':
        return "--range wants LOW,HIGH, two numbers that differ, such as -1,1";
    case 'M':
        return "--mean wants R,G,B, three numbers";
    case 'D':
        return "--deviation wants R,G,B, three numbers that are not 0";
    case 't':
        return "--threads wants a number, 0 to 1024";
    case 'p':
        return "--precision wants auto, fp32 or fp16";
    case 'r':
        return "--runs wants a number, 1 to 1000000";
    default:
        return tool_model_option_wants(c);
    }
}

static bool parse_option(struct options *o, int c, char *text)
{
    switch (c) {
    case 'R':
        return parse_range(text, &o->range);
    case 'M':
        return parse_numbers(text, o->range.mean, 3);
    case 'D':
        return parse_deviation(text, o->range.deviation);
    case 't':
        return tool_parse_u32(text, 0, 1024, &o->threads);
    case 'p':
        return tool_parse_precision(text, &o->build.precision);
    case 'r':
        return tool_parse_u32(text, 1, 1000000, &o->runs);
    default:
        return tool_model_option(&o->model_options, c, text);
    }
}

static int parse(int argc, char **argv, struct options *o)
{
    static const struct option table[] = {
        {"input", required_argument, NULL, 'i'},
        {"output", required_argument, NULL, 'o'},
        {"range", required_argument, NULL, 'R'},
        {"mean", required_argument, NULL, 'M'},
        {"deviation", required_argument, NULL, 'D'},
        {"device", required_argument, NULL, 'd'},
        {"threads", required_argument, NULL, 't'},
        {"precision", required_argument, NULL, 'p'},
        {"no-fuse", no_argument, NULL, 'n'},
        {"runs", required_argument, NULL, 'r'},
        TOOL_MODEL_OPTIONS,
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    int c, status = TOOL_OK;

    while ((c = getopt_long(argc, argv, "i:o:d:t:p:nr:h", table, NULL)) != -1) {
        if (c == '?')
            return tool_usage_error("that option is not known or lacks its value");
        if (c == 'h') {
            fputs(help, stdout);
            exit(tool_end(TOOL_OK));
        }
        if (c == 'd')
            o->device = optarg;
        else if (c == 'n')
            o->build.no_fuse = true;
        else if (c == 'i')
            status = parse_file(o->inputs, &o->input_count, optarg, false);
        else if (c == 'o')
            status = parse_file(o->outputs, &o->output_count, optarg, true);
        else if (!parse_option(o, c, optarg))
            status = tool_usage_error("'%s' is no such value: %s", optarg, wants(c));
        if (status != TOOL_OK)
            return status;
    }
    if (optind == argc)
        return tool_usage_error("one model is needed");
    if (optind + 1 < argc)
        return tool_usage_error("one model at a time, not also '%s'; files for its inputs go "
                                "behind -i (--input)",
                                argv[optind + 1]);
    o->model = argv[optind];
    return TOOL_OK;
}

int main(int argc, char **argv)
{
    struct options options = {
        .runs = 1,
        .range = {.high = 1, .deviation = {1, 1, 1}},
    };
    struct run r = {.options = &options};
    int status;

    tool_set_name("tdl-run");
    status = parse(argc, argv, &options);
    if (status == TOOL_OK)
        status = tool_create_context(options.device, options.threads, 1, &r.context);
    if (status == TOOL_OK)
        status = load(&r);
    if (status == TOOL_OK)
        status = bind_tensors(&r);
    if (status == TOOL_OK)
        status = read_inputs(&r);
    if (status == TOOL_OK)
        status = run(&r);
    if (status == TOOL_OK)
        status = write_outputs(&r);
    for (uint32_t i = 0; i < r.input_count; i++)
        tdl_tensor_destroy(&r.inputs[i].tensor);
    for (uint32_t i = 0; i < r.output_count; i++)
        tdl_tensor_destroy(&r.outputs[i].tensor);
    tdl_graph_destroy(&r.graph);
    tdl_context_destroy(&r.context);
    return tool_end(status);
}
