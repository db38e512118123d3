/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tdl-bench: how long a model, one operator or a whole frame takes on a device. */
#include "bench.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "Usage: tdl-bench [OPTION]... MODEL\n"
    "       tdl-bench [OPTION]... --op NAME [--shape N,H,W,C] [...]\n"
    "       tdl-bench [OPTION]... --frame WxH [--format F] [--mode M] MODEL\n"
    "\n"
    "Run a model, or one operator with random weights, and report the wall time of\n"
    "each run (from the call until the result is there) and the device's own time of\n"
    "each dispatch. With --frame: run whole frames as the element tdlfilter does, with\n"
    "its defaults, from picture to tensor, through the network, to the finished frame.\n"
    "\n"
    "  -d, --device DEVICE     auto (default), cpu, gpu, vulkan, an index, a UUID, a DRM\n"
    "                          node or part of a name; tdl-info lists them\n"
    "  -t, --threads N         on the CPU; 0 (default): as many as cores that the process\n"
    "                          may use, a small network one\n"
    "  -p, --precision P       auto (default), fp32 or fp16\n"
    "  -n, --no-fuse           every operator its own dispatch\n"
    "  -w, --warmup N          runs before the clock starts (10)\n"
    "  -i, --iterations N      runs that count (100)\n"
    "  -j, --json              one JSON object instead of text\n"
    "      --svg FILE          draw the times as bars: of each dispatch, with --compare\n"
    "                          and --tune of each layer by algorithm, with\n"
    "                          --compare-devices of each device\n"
    "  -h, --help              show this\n"
    "\n"
    "Models:\n"
    "      --batch N           so many inputs at once (1); with --frame see below\n" TOOL_MODEL_HELP
    "\n"
    "Devices side by side:\n"
    "      --compare-devices   run on every device there is, in turns, and show them\n"
    "                          side by side\n"
    "\n"
    "Ways to compute convolutions and products:\n"
    "  -a, --algorithm NAME    compute convolutions so where that takes their shape:\n"
    "                          pointwise, depthwise, direct, implicit, winograd23,\n"
    "                          winograd43, im2col, grouped, ... or with a variant, as\n"
    "                          implicit:64x64\n"
    "      --compare           time every way to compute each convolution, matmul\n"
    "                          and gemm, on the device's own clock, side by side\n"
    "      --tune              the same, and keep the fastest for later: they are used\n"
    "                          on this device from now on (a file beside the pipeline\n"
    "                          cache, safe to delete)\n"
    "      --patience X        of --compare and --tune: leave out ways whose estimate is\n"
    "                          more than X times the best one's (8)\n"
    "      --seconds X         end --compare or --tune after X s, with what was timed by\n"
    "                          then (--tune: 10); 0: when all is timed\n"
    "      --share X           time the layers that make up X percent of the time of all\n"
    "                          such layers (--tune: 90); 100: all\n"
    "\n"
    "Operators (float32, NHWC; matmul and gemm float16 with -p fp16):\n"
    "      --op NAME           conv2d, conv_transpose2d, average_pool2d, max_pool2d,\n"
    "                          global_average_pool, resample2d, resample2d_nearest,\n"
    "                          instance_normalization, layer_normalization,\n"
    "                          depth_to_space, concat, add, mul, matmul, gemm,\n"
    "                          or a function: relu, relu6, sigmoid, hard_swish, tanh\n"
    "      --shape N,H,W,C     of the input (1,64,64,16); of matmul and gemm B,M,K,N: B\n"
    "                          matrices M x K by K x N, which gemm has as one constant\n"
    "      --kernel KxK        window, height x width (3x3)\n"
    "      --out C             output channels (as many as the input has)\n"
    "      --stride S          in both directions (1)\n"
    "      --dilation D        in both directions (1)\n"
    "      --groups G          groups; as many as channels: depthwise (1)\n"
    "      --activation A      after a convolution or gemm: relu, ... (none)\n"
    "      --size HxW          resample2d: of the output (twice the input)\n"
    "\n"
    "Frames (of a picture that is always the same):\n"
    "      --frame WxH         size in px, width x height\n"
    "      --format F          NV12 (default); the finished frame has the same, but with\n"
    "                          mask it is GRAY8, with alpha RGBA or BGRA. There are\n"
    "                          ";

static const char help_behind_formats[] =
    "      --mode M            mask, overlay (default), blur, replace (by a colour),\n"
    "                          alpha, passthrough (without the network)\n"
    "      --frame-memory M    mapped (default): written and read by the CPU, without\n"
    "                          a copy; device: as frames that never see the CPU\n"
    "      --streams LIST      frames of so many streams (1 to 64, as 1,4,16: one after the\n"
    "                          other), each with its own pictures, as elements with\n"
    "                          batch-size run them; --svg draws them\n"
    "      --batch LIST        of them, how many frames the network takes at once, as 1,4,16\n"
    "                          (1,2,4,8,16), where there are as many streams; a batch is\n"
    "                          gathered when each of its streams has submitted its picture\n"
    "They are run twice: one at a time, which gives wall time and GPU time of a frame,\n"
    "and with three under way, which gives frames/s. first_frame_ms in --json counts\n"
    "from before the device was opened; it is much shorter when the pipeline cache\n"
    "(~/.cache/tdl, or $XDG_CACHE_HOME/tdl) is warm.\n"
    "\n"
    "Example: tdl-bench --frame 1280x720 --mode blur MODEL.tflite\n"
    "Example: tdl-bench --op conv2d --shape 1,32,32,96 --kernel 5x5 --groups 96 --stride 2\n";

enum {
    OPT_OP = 256,
    OPT_SHAPE,
    OPT_KERNEL,
    OPT_OUT,
    OPT_STRIDE,
    OPT_DILATION,
    OPT_GROUPS,
    OPT_ACTIVATION,
    OPT_SIZE,
    OPT_FRAME,
    OPT_FORMAT,
    OPT_MODE,
    OPT_FRAME_MEMORY,
    OPT_STREAMS,
    OPT_BATCH,
    OPT_COMPARE,
    OPT_COMPARE_DEVICES,
    OPT_TUNE,
    OPT_PATIENCE,
    OPT_SECONDS,
    OPT_SHARE,
    OPT_SVG,
};

static const struct option long_options[] = {
    {"device", required_argument, NULL, 'd'},
    {"precision", required_argument, NULL, 'p'},
    {"no-fuse", no_argument, NULL, 'n'},
    {"warmup", required_argument, NULL, 'w'},
    {"iterations", required_argument, NULL, 'i'},
    {"json", no_argument, NULL, 'j'},
    TOOL_MODEL_OPTIONS,
    {"help", no_argument, NULL, 'h'},
    {"op", required_argument, NULL, OPT_OP},
    {"shape", required_argument, NULL, OPT_SHAPE},
    {"kernel", required_argument, NULL, OPT_KERNEL},
    {"out", required_argument, NULL, OPT_OUT},
    {"stride", required_argument, NULL, OPT_STRIDE},
    {"dilation", required_argument, NULL, OPT_DILATION},
    {"groups", required_argument, NULL, OPT_GROUPS},
    {"activation", required_argument, NULL, OPT_ACTIVATION},
    {"size", required_argument, NULL, OPT_SIZE},
    {"frame", required_argument, NULL, OPT_FRAME},
    {"format", required_argument, NULL, OPT_FORMAT},
    {"mode", required_argument, NULL, OPT_MODE},
    {"frame-memory", required_argument, NULL, OPT_FRAME_MEMORY},
    {"streams", required_argument, NULL, OPT_STREAMS},
    {"batch", required_argument, NULL, OPT_BATCH},
    {"algorithm", required_argument, NULL, 'a'},
    {"compare", no_argument, NULL, OPT_COMPARE},
    {"compare-devices", no_argument, NULL, OPT_COMPARE_DEVICES},
    {"threads", required_argument, NULL, 't'},
    {"tune", no_argument, NULL, OPT_TUNE},
    {"patience", required_argument, NULL, OPT_PATIENCE},
    {"seconds", required_argument, NULL, OPT_SECONDS},
    {"share", required_argument, NULL, OPT_SHARE},
    {"svg", required_argument, NULL, OPT_SVG},
    {0},
};

/* The argument of an option. */
static const struct {
    int option;
    const char *takes;
} values[] = {
    {'p', "auto, fp32 or fp16"},
    {'w', "a number, 0 to 1000000"},
    {'i', "a number, 1 to 1000000"},
    {'t', "a number, 0 to 1024"},
    {OPT_SHAPE, "N,H,W,C, of matmul and gemm B,M,K,N, such as 1,64,64,16"},
    {OPT_KERNEL, "height x width, such as 3x3"},
    {OPT_SIZE, "height x width, such as 128x128"},
    {OPT_OUT, "a number, 1 to 65536"},
    {OPT_STRIDE, "a number, 1 to 64"},
    {OPT_DILATION, "a number, 1 to 64"},
    {OPT_GROUPS, "a number, 1 to 65536"},
    {OPT_ACTIVATION, "none, relu, relu6, sigmoid, hard_swish or tanh"},
    {OPT_FRAME, "width x height in px, such as 1280x720"},
    {OPT_MODE, "mask, overlay, blur, replace, alpha or passthrough"},
    {OPT_FRAME_MEMORY, "mapped or device"},
    {OPT_STREAMS, "up to 8 rising numbers, 1 to 64, such as 1,4,16"},
    {OPT_BATCH, "up to 8 rising numbers, 1 to 16, such as 1,4,16"},
    {OPT_PATIENCE, "a number of 1 or more"},
    {OPT_SECONDS, "a number of 0 or more"},
    {OPT_SHARE, "a number above 0, up to 100"},
};

static int refuse(int option, const char *text)
{
    const char *name = "", *takes = NULL;
    char formats[1024];

    for (size_t i = 0; long_options[i].name; i++)
        if (long_options[i].val == option)
            name = long_options[i].name;
    if (option == OPT_FORMAT)
        takes = tool_format_names(formats, sizeof(formats));
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
        if (values[i].option == option)
            takes = values[i].takes;
    if (!takes)
        return tool_usage_error("'%s' is no such value: %s", text, tool_model_option_wants(option));
    return tool_usage_error("'%s' is not a value of --%s, which takes %s", text, name, takes);
}

/* Options of --op. */
static int parse_operator(int option, const char *text, struct bench_operator *op)
{
    bool ok = true;

    switch (option) {
    case OPT_OP:
        op->name = text;
        break;
    case OPT_SHAPE:
        ok = tool_parse_list(text, ',', 4, op->shape);
        break;
    case OPT_KERNEL:
        ok = tool_parse_list(text, 'x', 2, op->kernel);
        break;
    case OPT_SIZE:
        ok = tool_parse_list(text, 'x', 2, op->size);
        break;
    case OPT_OUT:
        ok = tool_parse_u32(text, 1, 65536, &op->out);
        break;
    case OPT_STRIDE:
        ok = tool_parse_u32(text, 1, 64, &op->stride);
        break;
    case OPT_DILATION:
        ok = tool_parse_u32(text, 1, 64, &op->dilation);
        break;
    case OPT_GROUPS:
        ok = tool_parse_u32(text, 1, 65536, &op->groups);
        break;
    case OPT_ACTIVATION:
        ok = tool_parse_activation(text, &op->activation);
        break;
    default:
        return tool_usage_error("that option is not known or lacks its value");
    }
    return ok ? TOOL_OK : refuse(option, text);
}

static bool parse_memory(const char *text, bool *out_device)
{
    *out_device = strcmp(text, "device") == 0;
    return *out_device || strcmp(text, "mapped") == 0;
}

/* Options of --frame; false in `out_ok` for a wrong value. */
static bool parse_frame(int option, const char *text, struct bench_frame_options *frame,
                        bool *out_ok)
{
    switch (option) {
    case OPT_FRAME:
        *out_ok = tool_parse_list(text, 'x', 2, frame->size);
        return true;
    case OPT_FORMAT:
        *out_ok = tool_parse_format(text, &frame->format);
        return true;
    case OPT_MODE:
        *out_ok = tool_parse_mode(text, &frame->mode);
        return true;
    case OPT_FRAME_MEMORY:
        *out_ok = parse_memory(text, &frame->device_memory);
        return true;
    default:
        return false;
    }
}

static bool parse_number(const char *text, double least, double most, double *out)
{
    char *end;

    *out = strtod(text, &end);
    return end != text && !*end && *out >= least && *out <= most;
}

/* Options of measuring; false if it is none of them. */
static bool parse_measure(int option, char *text, struct bench *b, bool *out_ok)
{
    switch (option) {
    case OPT_COMPARE:
        b->compare = true;
        return true;
    case OPT_COMPARE_DEVICES:
        b->every_device = true;
        return true;
    case OPT_TUNE:
        b->tune = true;
        return true;
    case OPT_SVG:
        b->svg = text;
        return true;
    case OPT_STREAMS:
        *out_ok = bench_streams_parse(text, BENCH_MAX_STREAMS, &b->stream_options.streams);
        return true;
    case OPT_BATCH:
        *out_ok = bench_streams_parse(text, BENCH_MAX_BATCH, &b->stream_options.batches);
        return true;
    case TOOL_OPTION_BIND:
    case TOOL_OPTION_NUMBER:
    case TOOL_OPTION_SIZE:
        *out_ok = tool_model_option(&b->model_options, option, text);
        return true;
    case OPT_PATIENCE:
        *out_ok = parse_number(text, 1, 1e9, &b->patience);
        return true;
    case OPT_SECONDS:
        b->told_seconds = *out_ok = parse_number(text, 0, 1e6, &b->seconds);
        return true;
    case OPT_SHARE:
        b->told_share = *out_ok = parse_number(text, 0.001, 100, &b->share);
        return true;
    default:
        return false;
    }
}

static int check(int argc, char **argv, bool frame_option, const struct bench *b)
{
    const struct bench_list *streams = &b->stream_options.streams,
                            *batches = &b->stream_options.batches;

    if (b->frame_options.size[0] && (b->tune || b->compare || (b->svg && !streams->count)))
        return tool_usage_error("--tune, --compare and, without --streams, --svg do not go with "
                                "--frame");
    if (streams->count && !b->frame_options.size[0])
        return tool_usage_error("--streams belongs to --frame WxH");
    if (batches->count && !streams->count && (b->frame_options.size[0] || batches->count > 1))
        return tool_usage_error("--batch takes one number for a model or an operator, and with "
                                "--frame WxH it belongs to --streams");
    if (streams->count && batches->count &&
        batches->values[0] > streams->values[streams->count - 1])
        return tool_usage_error("--batch asks for more frames at once than there are --streams");
    if (streams->count && b->frame_options.mode == TDL_MODE_PASSTHROUGH)
        return tool_usage_error("--streams is for modes that run the network");
    if (b->every_device && (b->frame_options.size[0] || b->tune || b->compare || b->device))
        return tool_usage_error("--compare-devices goes without --frame, --tune, --compare and "
                                "--device");
    if (optind + 1 < argc)
        return tool_usage_error("one model at a time, not also '%s'", argv[optind + 1]);
    if (frame_option && !b->frame_options.size[0])
        return tool_usage_error("--format, --mode and --frame-memory belong to --frame WxH");
    if (frame_option && b->op.name)
        return tool_usage_error("--frame goes with a model, not with --op");
    if (frame_option && !b->model)
        return tool_usage_error("--frame needs a model, such as models/selfie_segmentation.tflite");
    if (!b->model == !b->op.name)
        return tool_usage_error("give a model or --op, one of the two");
    if (b->op.name && bench_check_operator(b->op.name) != TOOL_OK)
        return TOOL_USAGE;
    return b->svg ? bench_svg_check(b->svg) : TOOL_OK;
}

static int parse(int argc, char **argv, struct bench *out)
{
    int c, status = TOOL_OK;
    bool frame_option = false;

    while (status == TOOL_OK &&
           (c = getopt_long(argc, argv, "d:p:nw:i:a:t:jh", long_options, NULL)) != -1) {
        bool ok = true;

        switch (c) {
        case 'd':
            out->device = optarg;
            break;
        case 'p':
            ok = tool_parse_precision(optarg, &out->build.precision);
            break;
        case 'n':
            out->build.no_fuse = true;
            break;
        case 'w':
            ok = tool_parse_u32(optarg, 0, 1000000, &out->warmup);
            break;
        case 'i':
            ok = tool_parse_u32(optarg, 1, 1000000, &out->iterations);
            break;
        case 'a':
            out->build.conv2d_algorithm = optarg;
            break;
        case 't':
            ok = tool_parse_u32(optarg, 0, 1024, &out->threads);
            break;
        case 'j':
            out->json = true;
            break;
        case 'h':
            fputs(help, stdout);
            tool_print_formats(stdout, 26);
            fputs(help_behind_formats, stdout);
            exit(tool_end(TOOL_OK));
        default:
            if (c != '?' && parse_frame(c, optarg, &out->frame_options, &ok))
                frame_option = true;
            else if (c == '?' || !parse_measure(c, optarg, out, &ok))
                status = parse_operator(c, optarg, &out->op);
            break;
        }
        if (!ok)
            status = refuse(c, optarg);
    }
    if (status != TOOL_OK)
        return status;
    out->model = argv[optind];
    out->op.half = out->build.precision == TDL_PRECISION_FP16;
    return check(argc, argv, frame_option, out);
}

static void print(const struct bench *bench)
{
    if (bench->devices && bench->json)
        bench_devices_print_json(bench);
    else if (bench->devices)
        bench_devices_print_text(bench);
    else if (bench->streams && bench->json)
        bench_streams_print_json(bench);
    else if (bench->streams)
        bench_streams_print_text(bench);
    else if (bench->frame && bench->json)
        bench_frame_print_json(bench);
    else if (bench->frame)
        bench_frame_print_text(bench);
    else if (bench->tuned && bench->json)
        bench_tune_print_json(bench);
    else if (bench->tuned)
        bench_tune_print_text(bench);
    else if (bench->json)
        bench_print_json(bench);
    else
        bench_print_text(bench);
}

int main(int argc, char **argv)
{
    struct bench bench = {
        .warmup = 10,
        .iterations = 100,
        .op = {.shape = {1, 64, 64, 16}, .kernel = {3, 3}, .stride = 1, .dilation = 1, .groups = 1},
        .frame_options = {.format = TDL_FORMAT_NV12, .mode = TDL_MODE_OVERLAY},
    };
    int status;

    tool_set_name("tdl-bench");
    status = parse(argc, argv, &bench);
    if (status == TOOL_OK)
        status = bench.every_device                   ? bench_devices_run(&bench)
                 : bench.stream_options.streams.count ? bench_streams_run(&bench)
                 : bench.frame_options.size[0]        ? bench_frame_run(&bench)
                                                      : bench_run(&bench);
    if (status == TOOL_OK)
        print(&bench);
    if (status == TOOL_OK && bench.svg)
        status = bench_svg_write(&bench);
    bench_finish(&bench);
    return tool_end(status);
}
