/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tdl-info: the devices there are, and what becomes of a model on one. */
#include "model_options.h"
#include "tool.h"

#include <tdl/models.h>

#include "ir/builder.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "Usage: tdl-info [OPTION]...\n"
    "       tdl-info [OPTION]... MODEL\n"
    "       tdl-info --limits [-d DEVICE]\n"
    "\n"
    "Without a model, list the devices (or DEVICE) and what they can do. With one, list\n"
    "its operators, then the dispatches that it becomes on a device, and the memory.\n"
    "\n"
    "  -d, --device DEVICE    auto (default), cpu, gpu, vulkan, an index, a UUID, a DRM\n"
    "                         node or part of a name\n"
    "  -t, --threads N        on the CPU; 0 (default): as many as cores that the process\n"
    "                         may use, a small network one\n"
    "  -p, --precision P      auto (default), fp32 or fp16\n"
    "  -n, --no-fuse          every operator its own dispatch\n"
    "  -a, --algorithm NAME   compute convolutions so where that takes their shape:\n"
    "                         implicit, winograd43, ... or with a variant, as\n"
    "                         implicit:64x64. The column algorithm says what was\n"
    "                         taken, and whether it is the default, was tuned\n"
    "                         (tdl-bench --tune) or forced\n"
    "  -o, --operators-only   do not compile: works without a device\n"
    "  -l, --limits           list the data types and ranks that operators take on DEVICE\n"
    "  -k, --known            list the operators that libtdl knows, by kind of "
    "file\n" TOOL_MODEL_HELP "  -h, --help             show this\n"
    "\n"
    "TDL_DUMP=fuse (or another pass, or all) in the environment prints the graph\n"
    "after a pass.\n";

struct options {
    const char *model, *device;
    uint32_t threads;
    struct tdl_build_params build;
    struct tool_model_options model_options;
    bool operators_only, known, limits;
};

/* ---------------------------------------------------------------- devices */

static const char *yes_no(bool yes)
{
    return yes ? "yes" : "no";
}

static void print_device(uint32_t index, const struct tdl_device_info *info)
{
    printf("%u: %s%s\n", index, info->name, info->usable ? "" : " (not usable)");
    if (!info->usable)
        printf("   why not              %s\n", info->unusable_reason);
    printf("   driver               %s\n", info->driver);
    printf("   type                 %s\n", tool_device_type_name(info->type));
    if (info->type == TDL_DEVICE_CPU) {
        printf("   memory               %.1f GiB\n", (double)info->memory_bytes / (1 << 30));
        return;
    }
    printf("   Vulkan               %u.%u.%u\n", info->api_version >> 22,
           info->api_version >> 12 & 0x3ff, info->api_version & 0xfff);
    printf("   PCI                  %04x:%04x\n", info->vendor_id, info->device_id);
    printf("   UUID                 ");
    for (int i = 0; i < TDL_UUID_SIZE; i++)
        printf("%02x", info->uuid[i]);
    printf("\n   DRM node             %s\n", info->drm_node[0] ? info->drm_node : "none");
    printf("   memory               %.1f GiB\n", (double)info->memory_bytes / (1 << 30));
    printf("   subgroup             %u invocations\n", info->subgroup_size);
    printf("   workgroup            up to %u invocations, %u KiB shared memory\n",
           info->max_workgroup_invocations, info->max_shared_memory / 1024);
    if (info->cooperative_matrix[0])
        printf("   matrix units         %u×%u×%u, float16 with float32 sums\n",
               info->cooperative_matrix[0], info->cooperative_matrix[1],
               info->cooperative_matrix[2]);
    else
        printf("   matrix units         none, or not in this build\n");
    if (info->workgroup_matrix)
        printf("   of workgroups        up to %llu invocations\n",
               (unsigned long long)info->workgroup_matrix);
    printf("   fp16 storage         %s\n", yes_no(info->storage_16bit));
    printf("   GPU timestamps       %s\n", yes_no(info->timestamps));
    printf("   host memory import   %s\n", yes_no(info->external_memory_host));
    printf("   dma-buf import       %s\n", yes_no(info->external_memory_dma_buf));
    printf("   dma-buf export       %s\n", yes_no(info->dma_buf_export));
    printf("   tiled dma-bufs       %s\n", yes_no(info->drm_format_modifiers));
    printf("   opaque fds           %s\n", yes_no(info->external_memory_fd));
    printf("   sync files           %s\n", yes_no(info->sync_fd));
    printf("   shared timelines     %s\n", yes_no(info->timeline_fd));
    printf("   queues               %llu\n", (unsigned long long)info->queues);
}

/* What "auto" takes of them, and why. */
static void print_auto(const struct tdl_device_info *infos, uint32_t count)
{
    const char *told = getenv("TDL_DEVICE");
    struct tdl_auto found = {.measures = false};
    uint32_t taken = count - 1; /* the CPU */
    bool software = false;

    printf("\n");
    if (told && *told && strcmp(told, "auto") != 0) {
        printf("device=auto takes what TDL_DEVICE in the environment says: %s\n", told);
        return;
    }
    tdl_auto_find(&(struct tdl_auto_params){.model = "", .cache_dir = ""}, &found);
    for (uint32_t i = 0; i < count; i++) {
        software |= infos[i].usable && infos[i].type == TDL_DEVICE_SOFTWARE;
        if (infos[i].usable && infos[i].type == TDL_DEVICE_DISCRETE_GPU && taken == count - 1)
            taken = i;
    }
    if (found.measures)
        printf("device=auto measures %s beside the CPU with each model, and takes the faster\n",
               found.name);
    else if (infos[taken].type != TDL_DEVICE_CPU)
        printf("device=auto takes %u, a card: %s\n", taken, infos[taken].name);
    else
        printf("device=auto takes the CPU, as there is %s\n",
               software ? "no GPU but software, which runs on the same processor"
                        : "no GPU that can be used");
}

/* All of them, or that which an option names. */
static int list_devices(const struct options *options)
{
    struct tdl_device_info infos[16];
    struct tdl_context *context = NULL;
    uint32_t count = 0;

    if (options->device &&
        tool_create_context(options->device, options->threads, 1, &context) != TOOL_OK)
        return TOOL_FAILED;
    if (tdl_device_list(infos, 16, &count) != TDL_OK) {
        tdl_context_destroy(&context);
        return tool_fail("%s", tdl_last_error());
    }
    for (uint32_t i = 0; i < count && i < 16; i++) {
        const struct tdl_device_info *chosen = context ? tdl_context_device(context) : &infos[i];

        if (!strcmp(infos[i].name, chosen->name) &&
            !memcmp(infos[i].uuid, chosen->uuid, sizeof(chosen->uuid)))
            print_device(i, &infos[i]);
    }
    tdl_context_destroy(&context);
    if (infos[0].type == TDL_DEVICE_CPU && !options->device)
        printf("\nNothing but the CPU: %s\n", tdl_last_error());
    else if (!options->device && count <= 16)
        print_auto(infos, count);
    return TOOL_OK;
}

/* ------------------------------------------------------------------ model */

static void print_bindings(const char *kind, struct tdl_operand *const *operands, uint32_t count)
{
    char text[96];

    for (uint32_t i = 0; i < count; i++)
        printf("%-8s %-24s %s\n", kind, operands[i]->name,
               tool_shape(&operands[i]->desc, text, sizeof(text)));
}

/* Names that are dynamic, once each, with the size that is shown here. */
static void print_dynamic(const struct tdl_builder *builder)
{
    const struct tdl_dynamic_list *l = &builder->dynamic;

    for (uint32_t i = 0; i < l->count; i++) {
        const struct tdl_dynamic_dimension *range = &l->list[i].range;
        const struct tdl_operand *input = builder->ir->inputs[l->list[i].input];
        bool again = false;

        for (uint32_t k = 0; k < i; k++)
            again |= !strcmp(l->list[k].range.name, range->name);
        if (again)
            continue;
        printf("%-8s %-24s %u here; ", "dynamic", range->name,
               input->desc.shape[l->list[i].dimension]);
        if (range->max == INT32_MAX)
            printf("%u or more\n", range->min);
        else
            printf("%u to %u\n", range->min, range->max);
    }
}

/* The fate of a file's operators: those that left no node were computed when it was read,
 * as what shapes are made of, or gave what they took. */
static void print_read(const struct tdl_ir *ir)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < ir->node_count; i++)
        kept += !i || strcmp(ir->nodes[i]->label, ir->nodes[i - 1]->label) != 0;
    if (ir->labels >= kept)
        printf("%u operators in the file, %u of them computed when it was read\n", ir->labels,
               ir->labels - kept);
}

/* Operators as the file has them; constants are only counted. */
static void print_operators(const struct tdl_builder *builder)
{
    const struct tdl_ir *ir = builder->ir;
    uint64_t macs = 0, weights = 0, values = 0;
    char in[96], out[96];

    print_bindings("input", ir->inputs, ir->input_count);
    print_bindings("output", ir->outputs, ir->output_count);
    print_dynamic(builder);
    printf("\n%-52s %-26s %-26s %12s\n", "operator", "input", "output", "MACs");
    for (uint32_t i = 0; i < ir->node_count; i++) {
        const struct tdl_node *node = ir->nodes[i];
        const uint64_t node_macs = tdl_node_macs(node);

        if (node->inputs[0]->kind == TDL_OPERAND_CONSTANT)
            continue; /* casts of weights */
        printf("%-52s %-26s %-26s %12llu\n", node->label,
               tool_shape(&node->inputs[0]->desc, in, sizeof(in)),
               tool_shape(&node->output->desc, out, sizeof(out)), (unsigned long long)node_macs);
        macs += node_macs;
        values += tdl_tensor_params_size(&node->output->desc);
    }
    for (uint32_t i = 0; i < ir->operand_count; i++) {
        if (ir->operands[i]->kind == TDL_OPERAND_CONSTANT)
            weights += tdl_tensor_params_size(&ir->operands[i]->desc);
    }
    printf("\n%.2f million multiply-accumulates, %.1f KiB of constants, %.2f MiB of results\n",
           (double)macs / 1e6, (double)weights / 1024, (double)values / (1 << 20));
    print_read(ir);
}

/* Does the model quantize what it computes? */
static bool quantizes(const struct tdl_ir *ir)
{
    for (uint32_t i = 0; i < ir->node_count; i++) {
        const struct tdl_node *n = ir->nodes[i];
        const enum tdl_dtype dtype = n->output->desc.dtype;
        if ((dtype == TDL_INT8 || dtype == TDL_UINT8) && n->input_count &&
            n->inputs[0]->desc.dtype == TDL_FLOAT32 && !strcmp(n->op->name, "cast"))
            return true;
    }
    return false;
}

static void print_quantized(const struct tdl_ir *ir, const struct tdl_graph_stats *stats)
{
    if (stats->quantized_steps)
        printf("int8                 %llu of %u dispatches compute on quantized numbers\n",
               (unsigned long long)stats->quantized_steps, stats->steps);
    else if (quantizes(ir))
        printf("int8                 none: quantized numbers are computed in floats here\n");
}

static void print_plan(const struct tdl_context *context, const struct tdl_ir *ir,
                       const struct tdl_graph *graph)
{
    struct tdl_graph_stats stats;
    const struct tdl_graph_step *step;

    tdl_graph_get_stats(graph, &stats);
    printf("\nOn %s, %s: %u operators in %u dispatches\n\n", tdl_context_device(context)->name,
           tool_precision_name(stats.precision), stats.operators, stats.steps);
    printf("%4s %-26s %-22s %-14s %5s %12s %12s  %s\n", "step", "kernel", "algorithm", "workgroups",
           "local", "MACs", "bytes", "computes");
    for (uint32_t i = 0; (step = tdl_graph_get_step(graph, i)); i++) {
        char groups[40], algorithm[64];

        snprintf(groups, sizeof(groups), "%ux%ux%u", step->groups[0], step->groups[1],
                 step->groups[2]);
        printf("%4u %-26s %-22s %-14s %5u %12llu %12llu  %s\n", i, step->kernel,
               tool_algorithm(step, algorithm, sizeof(algorithm)), groups, step->local_size,
               (unsigned long long)step->macs, (unsigned long long)step->bytes, step->label);
    }
    printf("\nmultiply-accumulates %llu\n", (unsigned long long)stats.macs);
    printf("weights              %.1f KiB\n", (double)stats.weight_bytes / 1024);
    printf("activations          %.2f MiB in one arena; %.2f MiB if none shared memory\n",
           (double)stats.arena_bytes / (1 << 20), (double)stats.tensor_bytes / (1 << 20));
    print_quantized(ir, &stats);
}

static int show_model(const struct options *options)
{
    struct tdl_context *context = NULL;
    struct tdl_builder *builder = NULL;
    struct tdl_graph *graph = NULL;
    static const struct tdl_model_more more = {.dynamic = true};
    struct tdl_model_params params = options->model_options.params;
    int status = TOOL_OK;

    params.more = &more;
    if (!options->operators_only)
        status = tool_create_context(options->device, options->threads, 1, &context);
    if (status == TOOL_OK && (tdl_builder_create(context, &builder) != TDL_OK ||
                              tdl_model_load(builder, options->model, &params) != TDL_OK))
        status = tool_model_fail(options->model, tdl_last_error());
    if (status == TOOL_OK) {
        print_operators(builder);
        if (context && tdl_builder_build(builder, &options->build, &graph) != TDL_OK)
            status = tool_fail("%s: %s", options->model, tdl_last_error());
    }
    if (graph)
        print_plan(context, tdl_builder_ir(builder), graph);
    tdl_graph_destroy(&graph);
    tdl_builder_destroy(&builder);
    tdl_context_destroy(&context);
    return status;
}

/* ----------------------------------------------------------------- limits */

static void print_ranks(uint32_t ranks)
{
    const char *between = "";

    for (uint32_t i = 0; i <= TDL_MAX_RANK; i++) {
        uint32_t last = i;

        while (ranks >> (last + 1) & 1)
            last++;
        if (!(ranks >> i & 1))
            continue;
        printf(last > i ? "%s%u–%u" : "%s%u", between, i, last);
        between = ", ";
        i = last;
    }
}

static void print_operand(const char *name, const struct tdl_operand_limits *limits)
{
    const uint32_t all = (1u << (TDL_UINT64 + 1)) - 1;

    printf("%-24s %-17s rank ", name, limits->name);
    print_ranks(limits->ranks);
    printf(";%s", limits->dtypes == all ? " any data type" : "");
    for (uint32_t i = 0; limits->dtypes != all && i <= TDL_UINT64; i++)
        if (limits->dtypes >> i & 1)
            printf(" %s", tdl_dtype_name((enum tdl_dtype)i));
    printf("%s%s\n", limits->constant ? "; a constant" : "",
           limits->optional ? "; may be left out" : "");
}

static void print_bound(const char *what, uint64_t bound)
{
    if (bound)
        printf("%-34s %llu\n", what, (unsigned long long)bound);
    else
        printf("%-34s no bound\n", what);
}

static int list_limits(const struct options *options)
{
    struct tdl_context *context = NULL;
    struct tdl_operator_limits op;
    struct tdl_limits limits;
    const char *name;
    int status = tool_create_context(options->device, options->threads, 1, &context);

    if (status != TOOL_OK)
        return status;
    tdl_context_get_limits(context, &limits);
    printf("On %s\n\n", tdl_context_device(context)->name);
    print_bound("inputs of a graph", limits.max_inputs);
    print_bound("outputs of a graph", limits.max_outputs);
    print_bound("bytes of a tensor", limits.max_tensor_bytes);
    print_bound("bytes of a value inside a graph", limits.max_value_bytes);
    print_bound("pictures times packs of channels", limits.max_planes);
    print_bound("graphs in a batch", limits.max_batch_graphs);
    printf("\n");
    for (uint32_t i = 0; status == TOOL_OK && (name = tdl_operator_name(i)); i++) {
        if (tdl_context_get_operator_limits(context, name, &op) != TDL_OK)
            status = tool_fail("%s", tdl_last_error());
        for (uint32_t j = 0; status == TOOL_OK && j < op.operand_count; j++)
            print_operand(j ? "" : name, &op.operands[j]);
        if (status == TOOL_OK)
            print_operand("", &op.output);
    }
    tdl_context_destroy(&context);
    return status;
}

static int list_known(void)
{
    const char *format, *name;

    for (uint32_t f = 0; (format = tdl_model_format_name(f)); f++) {
        int column = printf("%s:", format);

        for (uint32_t i = 0; (name = tdl_model_operator_name(f, i)); i++) {
            if (column + 1 + (int)strlen(name) > 80)
                column = printf("\n   ") - 1;
            column += printf(" %s", name);
        }
        printf("\n");
    }
    return TOOL_OK;
}

static int parse(int argc, char **argv, struct options *out)
{
    static const struct option table[] = {
        {"device", required_argument, NULL, 'd'},
        {"threads", required_argument, NULL, 't'},
        {"precision", required_argument, NULL, 'p'},
        {"no-fuse", no_argument, NULL, 'n'},
        {"algorithm", required_argument, NULL, 'a'},
        {"operators-only", no_argument, NULL, 'o'},
        {"limits", no_argument, NULL, 'l'},
        {"known", no_argument, NULL, 'k'},
        TOOL_MODEL_OPTIONS,
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    int c;

    while ((c = getopt_long(argc, argv, "d:t:p:na:olkh", table, NULL)) != -1) {
        switch (c) {
        case 'd':
            out->device = optarg;
            break;
        case 't':
            if (!tool_parse_u32(optarg, 0, 1024, &out->threads))
                return tool_usage_error("'%s' is not a number of threads: 0 to 1024", optarg);
            break;
        case 'p':
            if (!tool_parse_precision(optarg, &out->build.precision))
                return tool_usage_error("precision '%s' is none of auto, fp32, fp16", optarg);
            break;
        case 'n':
            out->build.no_fuse = true;
            break;
        case 'a':
            out->build.conv2d_algorithm = optarg;
            break;
        case 'o':
            out->operators_only = true;
            break;
        case 'l':
            out->limits = true;
            break;
        case 'k':
            out->known = true;
            break;
        case TOOL_OPTION_BIND:
        case TOOL_OPTION_NUMBER:
        case TOOL_OPTION_SIZE:
            if (!tool_model_option(&out->model_options, c, optarg))
                return tool_usage_error("'%s' is no such value: %s", optarg,
                                        tool_model_option_wants(c));
            break;
        case 'h':
            fputs(help, stdout);
            exit(tool_end(TOOL_OK));
        default:
            return tool_usage_error("that option is not known or lacks its value");
        }
    }
    if (optind + 1 < argc)
        return tool_usage_error("one model at a time, not also '%s'", argv[optind + 1]);
    out->model = argv[optind];
    return TOOL_OK;
}

int main(int argc, char **argv)
{
    struct options options = {0};
    int status;

    tool_set_name("tdl-info");
    status = parse(argc, argv, &options);
    if (status != TOOL_OK)
        return status;
    return tool_end(options.known    ? list_known()
                    : options.limits ? list_limits(&options)
                    : options.model  ? show_model(&options)
                                     : list_devices(&options));
}
