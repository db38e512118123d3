/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tdl-bench: how long a model or one operator takes on a device. */
#include "bench.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "Usage: tdl-bench [OPTION]... MODEL.tflite\n"
    "       tdl-bench [OPTION]... --op NAME [--shape N,H,W,C] [...]\n"
    "\n"
    "Run a model, or one operator with random weights, and report the wall time of\n"
    "each run (from the call until the result is there) and the device's own time of\n"
    "each dispatch.\n"
    "\n"
    "  -d, --device DEVICE     auto (default), an index, a UUID, a DRM node or part\n"
    "                          of a name; tdl-info lists them\n"
    "  -p, --precision P       auto (default), fp32 or fp16\n"
    "  -n, --no-fuse           every operator its own dispatch\n"
    "  -w, --warmup N          runs before the clock starts (10)\n"
    "  -i, --iterations N      runs that count (100)\n"
    "  -j, --json              one JSON object instead of text\n"
    "  -h, --help              show this\n"
    "\n"
    "Operators (float32, NHWC):\n"
    "      --op NAME           conv2d, conv_transpose2d, average_pool2d,\n"
    "                          global_average_pool, resample2d, add, mul, or a\n"
    "                          function: relu, relu6, sigmoid, hard_swish, tanh\n"
    "      --shape N,H,W,C     of the input (1,64,64,16)\n"
    "      --kernel KxK        window, height x width (3x3)\n"
    "      --out C             output channels (as many as the input has)\n"
    "      --stride S          in both directions (1)\n"
    "      --dilation D        in both directions (1)\n"
    "      --groups G          groups; as many as channels: depthwise (1)\n"
    "      --activation A      after a convolution: relu, ... (none)\n"
    "      --size HxW          resample2d: of the output (twice the input)\n"
    "\n"
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
};

static const struct option long_options[] = {
    {"device", required_argument, NULL, 'd'},
    {"precision", required_argument, NULL, 'p'},
    {"no-fuse", no_argument, NULL, 'n'},
    {"warmup", required_argument, NULL, 'w'},
    {"iterations", required_argument, NULL, 'i'},
    {"json", no_argument, NULL, 'j'},
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
    {0},
};

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
    return ok ? TOOL_OK : tool_usage_error("'%s' is not a value that this option takes", text);
}

static int parse(int argc, char **argv, struct bench *out)
{
    int c, status = TOOL_OK;

    while (status == TOOL_OK &&
           (c = getopt_long(argc, argv, "d:p:nw:i:jh", long_options, NULL)) != -1) {
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
        case 'j':
            out->json = true;
            break;
        case 'h':
            fputs(help, stdout);
            exit(TOOL_OK);
        default:
            status = parse_operator(c, optarg, &out->op);
            break;
        }
        if (!ok)
            status = tool_usage_error("'%s' is not a value that -%c takes", optarg, c);
    }
    if (status != TOOL_OK)
        return status;
    out->model = argv[optind];
    if (optind + 1 < argc)
        return tool_usage_error("one model at a time, not also '%s'", argv[optind + 1]);
    if (!out->model == !out->op.name)
        return tool_usage_error("give a model or --op, one of the two");
    return TOOL_OK;
}

int main(int argc, char **argv)
{
    struct bench bench = {
        .warmup = 10,
        .iterations = 100,
        .op = {.shape = {1, 64, 64, 16}, .kernel = {3, 3}, .stride = 1, .dilation = 1,
               .groups = 1},
    };
    int status;

    tool_set_name("tdl-bench");
    status = parse(argc, argv, &bench);
    if (status == TOOL_OK)
        status = bench_run(&bench);
    if (status == TOOL_OK && bench.json)
        bench_print_json(&bench);
    else if (status == TOOL_OK)
        bench_print_text(&bench);
    bench_finish(&bench);
    return status;
}
