/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "random-graph.h"

enum { MAX_VALUES = 96 };

struct graph {
    struct tdl_builder *b;
    struct rng rng;
    struct tdl_operand *values[MAX_VALUES]; /* images that blocks may start from */
    uint32_t count;
    uint32_t outputs;
    bool calm; /* nobody else reads what is inside of a pattern */
};

static struct tdl_dims dims(const struct tdl_operand *o)
{
    return subject_dims(o);
}

static void keep(struct graph *g, struct tdl_operand *o)
{
    if (o && g->count < MAX_VALUES)
        g->values[g->count++] = o;
}

/* Mostly the newest value. */
static struct tdl_operand *take(struct graph *g)
{
    return g->values[rng_one_in(&g->rng, 4) ? rng_below(&g->rng, g->count) : g->count - 1];
}

static void add_output(struct graph *g, struct tdl_operand *o)
{
    char name[16];
    if (!o || o->is_output || o->kind != TDL_OPERAND_VALUE || g->outputs == 8)
        return;
    snprintf(name, sizeof(name), "y%u", g->outputs++);
    tdl_builder_output(g->b, name, o);
}

/* Now and then somebody else reads a value inside a pattern. */
static struct tdl_operand *disturb(struct graph *g, struct tdl_operand *o)
{
    if (g->calm)
        return o;
    if (rng_one_in(&g->rng, 12))
        add_output(g, o);
    else if (rng_one_in(&g->rng, 12))
        keep(g, o);
    return o;
}

/* As an operator of its own half of the time. */
static struct tdl_operand *activate(struct graph *g, struct tdl_operand *o,
                                    enum tdl_activation activation)
{
    return disturb(g, tdl_builder_activation(g->b, disturb(g, o), activation));
}

static enum tdl_activation some_activation(struct graph *g)
{
    return RNG_PICK(&g->rng, TDL_ACTIVATION_NONE, TDL_ACTIVATION_RELU, TDL_ACTIVATION_RELU6,
                    TDL_ACTIVATION_HARD_SWISH, TDL_ACTIVATION_SIGMOID);
}

static struct tdl_operand *conv(struct graph *g, struct tdl_operand *x, uint32_t out, uint32_t k,
                                uint32_t stride, uint32_t groups, enum tdl_activation activation)
{
    bool inside = rng_one_in(&g->rng, 2);
    struct tdl_conv2d_params p = {
        .stride = {stride, stride},
        .padding = TDL_PADDING_SAME_UPPER,
        .groups = groups,
        .activation = inside ? activation : TDL_ACTIVATION_NONE,
    };
    if (!rng_one_in(&g->rng, 4))
        p.bias = subject_bias(g->b, &g->rng, out);
    struct tdl_operand *y = tdl_builder_conv2d(
        g->b, x, subject_filter(g->b, &g->rng, out, k, k, dims(x).c / groups), &p);
    return inside ? disturb(g, y) : activate(g, y, activation);
}

static struct tdl_operand *pointwise(struct graph *g, struct tdl_operand *x, uint32_t out,
                                     enum tdl_activation activation)
{
    return conv(g, x, out, 1, 1, 1, activation);
}

static uint32_t some_channels(struct graph *g)
{
    return RNG_PICK(&g->rng, 1, 3, 4, 5, 8, 12, 16, 17);
}

static struct tdl_operand *sum(struct graph *g, struct tdl_operand *x, struct tdl_operand *y)
{
    return disturb(g, rng_one_in(&g->rng, 2) ? tdl_builder_add(g->b, x, y)
                                             : tdl_builder_add(g->b, y, x));
}

static struct tdl_operand *product(struct graph *g, struct tdl_operand *x, struct tdl_operand *y)
{
    return disturb(g, rng_one_in(&g->rng, 2) ? tdl_builder_mul(g->b, x, y)
                                             : tdl_builder_mul(g->b, y, x));
}

static struct tdl_operand *resample(struct graph *g, struct tdl_operand *x, uint32_t h, uint32_t w)
{
    return disturb(
        g, tdl_builder_resample2d(g->b, x,
                                  &(struct tdl_resample2d_params){
                                      .mode = TDL_RESAMPLE_LINEAR,
                                      .size = {h, w},
                                      .coordinates = g->calm ? 0 : RNG_PICK(&g->rng, 0, 0, 1, 2),
                                  }));
}

/* Pool, one or two layers. */
static struct tdl_operand *gate(struct graph *g, struct tdl_operand *x, uint32_t out)
{
    struct tdl_operand *v = disturb(g, tdl_builder_global_average_pool(g->b, x));
    if (!rng_one_in(&g->rng, 3))
        v = pointwise(g, v, some_channels(g), some_activation(g));
    return pointwise(g, v, out, TDL_ACTIVATION_SIGMOID);
}

/* -------------------------------------------------------------------- blocks */

static void bottleneck(struct graph *g)
{
    struct tdl_operand *x = take(g);
    uint32_t wide = some_channels(g), stride = rng_one_in(&g->rng, 4) ? 2 : 1;
    struct tdl_operand *y = pointwise(g, x, wide, some_activation(g));
    struct tdl_operand *d =
        conv(g, y, wide, RNG_PICK(&g->rng, 3, 5), stride, wide, some_activation(g));
    if (stride == 1 && rng_one_in(&g->rng, 3))
        d = sum(g, d, y);
    if (rng_one_in(&g->rng, 3))
        d = product(g, d, gate(g, d, wide));
    struct tdl_operand *z = pointwise(
        g, d, dims(x).c, rng_one_in(&g->rng, 3) ? TDL_ACTIVATION_RELU : TDL_ACTIVATION_NONE);
    keep(g, stride == 1 && !rng_one_in(&g->rng, 3) ? sum(g, z, x) : z);
}

static void decoder(struct graph *g)
{
    struct tdl_operand *x = take(g);
    struct tdl_dims d = dims(x);
    struct tdl_operand *low = conv(g, x, some_channels(g), 3, 2, 1, some_activation(g));
    struct tdl_operand *up, *mixed;
    /* The resampling before or behind the 1×1. */
    if (rng_one_in(&g->rng, 2))
        up = pointwise(g, resample(g, low, d.h, d.w), d.c, TDL_ACTIVATION_NONE);
    else
        up = resample(g, pointwise(g, low, d.c, TDL_ACTIVATION_NONE), d.h, d.w);
    struct tdl_operand *source = rng_one_in(&g->rng, 3) ? x : sum(g, x, up);
    mixed = sum(g, product(g, x, gate(g, source, d.c)), up);
    keep(g, pointwise(g, mixed, some_channels(g), some_activation(g)));
}

/* An expansion and its depthwise convolution. */
static struct tdl_operand *deep(struct graph *g, struct tdl_operand *x, uint32_t stride)
{
    uint32_t wide = some_channels(g);
    struct tdl_operand *y = pointwise(g, x, wide, some_activation(g));
    return conv(g, y, wide, RNG_PICK(&g->rng, 3, 5), stride, wide, some_activation(g));
}

/* Gated bottlenecks one behind the other, down and up again: what each leaves to the next
 * is mixed channels alone. */
static void there_and_back(struct graph *g)
{
    g->calm = !rng_one_in(&g->rng, 3);
    struct tdl_operand *x = take(g), *d = deep(g, x, 1);
    struct tdl_operand *end =
        pointwise(g, product(g, d, gate(g, d, dims(d).c)), dims(x).c, TDL_ACTIVATION_NONE);
    if (rng_one_in(&g->rng, 2))
        end = sum(g, end, x);
    struct tdl_operand *low = pointwise(g, deep(g, end, 2), dims(x).c, TDL_ACTIVATION_NONE);
    struct tdl_operand *up = resample(g, low, dims(x).h, dims(x).w);
    struct tdl_operand *both = product(g, x, gate(g, sum(g, x, up), dims(x).c));
    struct tdl_operand *last = deep(g, sum(g, both, up), 1);
    g->calm = false;
    keep(g, last);
}

static void plain(struct graph *g)
{
    struct tdl_operand *x = take(g);
    struct tdl_dims d = dims(x);
    uint32_t factor = RNG_PICK(&g->rng, 1, 2);
    if (factor == 2 && d.h * d.w < 600 && rng_one_in(&g->rng, 2))
        x = resample(g, x, d.h * 2, d.w * 2);
    keep(g, conv(g, x, some_channels(g), RNG_PICK(&g->rng, 1, 1, 2, 3), 1, 1, some_activation(g)));
}

/* Two values of one shape, or a value with itself. */
static void join(struct graph *g)
{
    struct tdl_operand *x = take(g), *y = x;
    for (uint32_t i = 0; i < g->count && rng_one_in(&g->rng, 2); i++) {
        struct tdl_dims a = dims(x), b = dims(g->values[i]);
        if (a.n == b.n && a.h == b.h && a.w == b.w && a.c == b.c)
            y = g->values[i];
    }
    keep(g, activate(g, sum(g, x, pointwise(g, y, dims(x).c, some_activation(g))),
                     some_activation(g)));
}

static struct tdl_operand *normalized(struct graph *g, struct tdl_operand *x)
{
    float values[32];
    uint32_t c = dims(x).c;
    REQUIRE(c <= COUNT(values), "too many channels");
    for (uint32_t i = 0; i < c; i++)
        values[i] = rng_float(&g->rng, 1, 3);
    struct tdl_instance_normalization_params p = {.epsilon = 1}; /* lets roundings be small */
    return disturb(g, rng_one_in(&g->rng, 4) ? tdl_builder_instance_normalization(g->b, x, &p)
                                             : tdl_builder_batch_normalization(
                                                   g->b, x, subject_bias(g->b, &g->rng, c),
                                                   subject_constant(g->b, 1, &c, values), NULL));
}

/* Zeros around, then a convolution or a pool without padding. */
static struct tdl_operand *padded(struct graph *g, struct tdl_operand *x, uint32_t out)
{
    const struct tdl_pad_params pad = {.before = {0, 1, 1}, .after = {0, 1, 1}};
    const struct tdl_pool2d_params pool = {.window = {3, 3}};
    uint32_t kind = rng_below(&g->rng, 3);
    x = disturb(g, tdl_builder_pad(g->b, x, &pad));
    if (kind == 0)
        return disturb(g, tdl_builder_conv2d(
                              g->b, x, subject_filter(g->b, &g->rng, out, 3, 3, dims(x).c), NULL));
    x = disturb(g,
                (kind == 1 ? tdl_builder_max_pool2d : tdl_builder_average_pool2d)(g->b, x, &pool));
    return pointwise(g, x, out, some_activation(g));
}

/* Branches of one input side by side, then a part of the channels. */
static void branches(struct graph *g)
{
    struct tdl_operand *x = take(g), *parts[2];
    struct tdl_operand *sides[3] = {x, normalized(g, padded(g, x, some_channels(g)))};
    sides[2] = conv(g, x, some_channels(g), 3, 1, 1, TDL_ACTIVATION_NONE);
    sides[2] = activate(g, normalized(g, sides[2]), TDL_ACTIVATION_RELU);
    x = disturb(g, tdl_builder_concat(g->b, sides, rng_one_in(&g->rng, 2) ? 3 : 2, 3));
    const uint32_t sizes[] = {1 + rng_below(&g->rng, dims(x).c - 1), dims(x).c};
    tdl_builder_split(g->b, x, 2, (const uint32_t[]){sizes[0], sizes[1] - sizes[0]}, 3, parts);
    x = disturb(g, parts[rng_below(&g->rng, 2)]);
    keep(g, pointwise(g, x, some_channels(g), some_activation(g)));
}

/* A gate of the small input's: one image's for all of a batch. */
static void foreign_gate(struct graph *g, struct tdl_operand *small)
{
    struct tdl_operand *x = take(g);
    struct tdl_operand *y = product(g, x, gate(g, small, dims(x).c));
    keep(g, pointwise(g, y, some_channels(g), some_activation(g)));
}

/* In linear memory, under another shape. */
static struct tdl_operand *view_and_back(struct graph *g, struct tdl_operand *x)
{
    struct tdl_operand *y = tdl_builder_abs(g->b, tdl_builder_flatten(g->b, x, 1));
    return tdl_builder_reshape(g->b, y, 4, x->desc.shape);
}

/* One to three element-wise operators, alone or with a constant: a number or one
 * a channel. Tame ones: whole graphs go through them. */
static void elements(struct graph *g)
{
    struct tdl_operand *x = take(g);
    if (rng_one_in(&g->rng, 2))
        x = pointwise(g, x, some_channels(g), TDL_ACTIVATION_NONE);
    for (uint32_t i = 1 + rng_below(&g->rng, 3); i; i--) {
        float number = rng_float(&g->rng, 0.5f, 1.5f);
        struct tdl_operand *c = rng_one_in(&g->rng, 2) ? subject_bias(g->b, &g->rng, dims(x).c)
                                                       : subject_constant(g->b, 0, NULL, &number);
        switch (rng_below(&g->rng, 9)) {
        case 0:
            x = sum(g, x, c);
            break;
        case 1:
            x = product(g, x, c);
            break;
        case 2:
            x = disturb(g, tdl_builder_sub(g->b, x, c));
            break;
        case 3:
            x = disturb(g, tdl_builder_max(g->b, c, x));
            break;
        case 4:
            x = disturb(g, tdl_builder_prelu(g->b, x, c));
            break;
        case 5:
            x = disturb(g, tdl_builder_leaky_relu(g->b, x, 0.2f));
            break;
        case 6:
            x = disturb(g, tdl_builder_gelu(g->b, x));
            break;
        case 7:
            x = disturb(g, tdl_builder_clamp(g->b, x, &(float){-3}, &number));
            break;
        default:
            x = view_and_back(g, x);
        }
    }
    keep(g, x);
}

static void head(struct graph *g)
{
    struct tdl_operand *x = take(g);
    struct tdl_conv_transpose2d_params p = {.stride = {2, 2},
                                            .activation = TDL_ACTIVATION_SIGMOID,
                                            .bias = subject_bias(g->b, &g->rng, 1)};
    if (dims(x).h * dims(x).w > 4000)
        return;
    add_output(g, tdl_builder_conv_transpose2d(
                      g->b, x, subject_filter(g->b, &g->rng, 1, 2, 2, dims(x).c), &p));
}

void random_graph(struct tdl_builder *b, uint64_t seed)
{
    struct graph g = {.b = b, .rng = {seed}};
    uint32_t n = RNG_PICK(&g.rng, 1, 1, 2), size = RNG_PICK(&g.rng, 3, 8, 12, 16, 17);
    uint32_t width = RNG_PICK(&g.rng, 2, 8, 15, 16, 20);
    /* Large enough for means in parts. */
    if (rng_one_in(&g.rng, 8))
        size = 64, width = 128;
    struct tdl_tensor_params image = subject_image(TDL_LAYOUT_NHWC, n, size, width, 3);
    struct tdl_tensor_params other = subject_image(TDL_LAYOUT_NHWC, 1, 5, 4, 6);
    keep(&g, tdl_builder_input(b, "x", &image));
    struct tdl_operand *small = tdl_builder_input(b, "small", &other);
    if (rng_one_in(&g.rng, 2))
        keep(&g, conv(&g, take(&g), 16, 3, rng_one_in(&g.rng, 2) ? 2 : 1, 1,
                      TDL_ACTIVATION_HARD_SWISH));
    for (uint32_t blocks = 1 + rng_below(&g.rng, 5); blocks; blocks--) {
        switch (rng_below(&g.rng, 10)) {
        case 9:
            there_and_back(&g);
            break;
        case 0:
        case 1:
            bottleneck(&g);
            break;
        case 2:
            decoder(&g);
            break;
        case 3:
            plain(&g);
            break;
        case 4:
            join(&g);
            break;
        case 5:
            branches(&g);
            break;
        case 6:
        case 7:
            elements(&g);
            break;
        default:
            foreign_gate(&g, small);
        }
    }
    if (rng_one_in(&g.rng, 3))
        head(&g);
    add_output(&g, g.values[g.count - 1]);
    if (!g.outputs)
        add_output(&g, tdl_builder_add(b, g.values[0], g.values[0]));
}
