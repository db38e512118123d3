/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Convolutions of int8 in XNNPACK's words, and when they pay. By instructions made for products
 * of bytes they take a quarter of the time of floats: on ARM in all releases, on x86 in later
 * ones. Earlier ones multiply bytes as numbers of 16 bits there, which is a third faster than
 * floats where a pixel has many channels, and slower where it has few; and convolutions of larger
 * windows have a faster way in floats (winograd.c).
 */
#include "xnn_define.h"

#include "ops/conv/conv.h"
#include "ops/ops.h"
#include "ops/quantized.h"

#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

/* Has XNNPACK instructions here that multiply four bytes at once? */
static bool has_dot_products(void)
{
#if defined(__x86_64__) && defined(TDL_XNNPACK_HAS_VNNI)
    return __builtin_cpu_supports("avx512vnni");
#elif defined(__aarch64__) && defined(__linux__)
    return getauxval(AT_HWCAP) >> 20 & 1; /* HWCAP_ASIMDDP */
#else
    return false;
#endif
}

static bool is_depthwise(const struct tdl_conv_geometry *g)
{
    return g->p->groups == g->in.c && g->in_per_group == 1 && g->out_per_group == 1;
}

bool tdl_cpu_xnn_takes_bytes(const struct tdl_node *conv)
{
    enum { MOST_TAPS = 25, LEAST_DEPTH = 16 };
    struct tdl_conv_geometry g = {0};
    tdl_conv_describe(conv, &g);
    const uint32_t taps = tdl_conv_taps(&g);
    if (!has_dot_products() || !tdl_cpu_xnn_starts())
        return false;
    if (g.p->groups > 1)
        return is_depthwise(&g) && taps <= MOST_TAPS;
    return taps * g.in.c >= LEAST_DEPTH;
}

bool tdl_cpu_xnn_takes_bytes_alone(const struct tdl_node *conv)
{
    enum { LEAST_DEPTH = 128 };
    struct tdl_conv_geometry g = {0};
    tdl_conv_describe(conv, &g);
    const bool deep = tdl_conv_taps(&g) == 1 && g.p->groups == 1 && g.in.c >= LEAST_DEPTH;
    return tdl_cpu_xnn_takes_bytes(conv) || (deep && tdl_cpu_xnn_starts());
}

/* What a runtime is made of. */
struct parameters {
    float *scales, *bias_scales;
    int32_t *bias;
    int8_t *filter;
};

/* [out, kh, kw, 1] as [kh, kw, out]. */
static void turn(const int8_t *filter, size_t taps, size_t channels, int8_t *turned)
{
    for (size_t i = 0; i < taps * channels; i++)
        turned[i % taps * channels + i / taps] = filter[i];
}

static bool take_parameters(struct tdl_cpu_xnn_making *m, const struct tdl_node *n,
                            struct parameters *out)
{
    const size_t count = tdl_operand_count(n->inputs[TDL_CONV_FILTER]);
    const size_t channels = tdl_operand_dims(n->output).c;
    float *memory = tdl_cpu_xnn_memory(m, 3 * channels + TDL_DIV_UP(2 * count, sizeof(*memory)));
    if (!memory)
        return false;
    out->scales = memory;
    out->bias_scales = memory + channels;
    out->bias = (int32_t *)(memory + 2 * channels);
    out->filter = (int8_t *)(memory + 3 * channels);
    if (!tdl_quantized_scales(n, out->scales)) {
        tdl_fail(TDL_ERROR_UNSUPPORTED, "%s: the filter is not quantized", n->label);
        return false;
    }
    for (size_t i = 0; i < channels; i++)
        out->bias_scales[i] = n->attr.quantized_conv.in.scale * out->scales[i];
    tdl_quantized_bias(n, out->scales, out->bias);
    tdl_quantized_filter(n, out->scales, out->filter);
    return true;
}

enum tdl_result tdl_cpu_xnn_define_quantized(struct tdl_cpu_xnn_making *m, const struct tdl_node *n)
{
    const struct tdl_quantized_conv_attr *p = &n->attr.quantized_conv;
    const struct tdl_cpu_xnn_bounds bounds = tdl_cpu_xnn_bounds_of(p->conv.p.activation);
    const struct tdl_window *w = &n->window;
    struct tdl_conv_geometry g = {0};
    struct parameters k;
    uint32_t x, f, b, y;
    enum tdl_result r;
    tdl_conv_describe(n, &g);
    const bool depthwise = g.p->groups > 1;
    const size_t channels = g.out.c, taps = tdl_conv_taps(&g);
    const size_t dims[2][4] = {{g.out.c, w->kernel[0], w->kernel[1], g.in_per_group},
                               {1, w->kernel[0], w->kernel[1], g.out.c}};
    if (!take_parameters(m, n, &k))
        return TDL_ERROR_OUT_OF_MEMORY;
    if (depthwise) {
        turn(k.filter, taps, channels, k.filter + taps * channels);
        k.filter += taps * channels;
    }
    TRY(tdl_cpu_xnn_bytes(m, n->inputs[TDL_CONV_INPUT], &p->in, false, &x));
    TRY(tdl_cpu_xnn_bytes(m, n->output, &p->out, true, &y));
    TRY(tdl_cpu_xnn_check(xnn_define_channelwise_quantized_tensor_value(
                              m->subgraph, xnn_datatype_qcint8, k.scales, 4, depthwise ? 3 : 0,
                              dims[depthwise], k.filter, XNN_INVALID_VALUE_ID, 0, &f),
                          "defining a filter"));
    TRY(tdl_cpu_xnn_check(xnn_define_channelwise_quantized_tensor_value(
                              m->subgraph, xnn_datatype_qcint32, k.bias_scales, 1, 0, &channels,
                              k.bias, XNN_INVALID_VALUE_ID, 0, &b),
                          "defining a bias"));
    if (depthwise)
        return tdl_cpu_xnn_check(
            xnn_define_depthwise_convolution_2d(m->subgraph, w->pad[0], w->pad[3], w->pad[1],
                                                w->pad[2], w->kernel[0], w->kernel[1], w->stride[0],
                                                w->stride[1], w->dilation[0], w->dilation[1], 1,
                                                g.in.c, bounds.least, bounds.most, x, f, b, y, 0),
            n->label);
    return tdl_cpu_xnn_check(xnn_define_convolution_2d(m->subgraph, w->pad[0], w->pad[3], w->pad[1],
                                                       w->pad[2], w->kernel[0], w->kernel[1],
                                                       w->stride[0], w->stride[1], w->dilation[0],
                                                       w->dilation[1], 1, g.in.c, g.out.c,
                                                       bounds.least, bounds.most, x, f, b, y, 0),
                             n->label);
fail:
    return r;
}
