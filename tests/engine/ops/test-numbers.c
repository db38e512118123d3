/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Functions of float32 against C's in double precision: densely, with the tails and what is
 * near 0, where the result must be right by its own size; and what is no number.
 */
#include "subject.h"

#include <float.h>
#include <math.h>

typedef struct tdl_operand *O;

enum { POINTS = 1 << 14, TINY = 64, CORNERS = 18 };

static struct tdl_context *ctx;

/* ---------------------------------------------------------------- functions */

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

static double softplus(double x)
{
    return x > 30 ? x : log1p(exp(x));
}

static double elu(double x)
{
    return x < 0 ? 0.75 * expm1(x) : x;
}

static double gelu(double x)
{
    return 0.5 * x * erfc(-x / sqrt(2));
}

static O build_elu(struct tdl_builder *b, O x)
{
    return tdl_builder_elu(b, x, 0.75f);
}

static const struct function {
    const char *name;
    O (*build)(struct tdl_builder *b, O x);
    double (*is)(double x);
    double low, high;
} functions[] = {
    {"tanh", tdl_builder_tanh, tanh, -12, 12},
    {"erf", tdl_builder_erf, erf, -6, 6},
    {"elu", build_elu, elu, -20, 4},
    {"softplus", tdl_builder_softplus, softplus, -80, 40},
    {"gelu", tdl_builder_gelu, gelu, -12.5, 8},
    {"sigmoid", tdl_builder_sigmoid, sigmoid, -80, 30},
    {"exp", tdl_builder_exp, exp, -80, 80},
};

/* ------------------------------------------------------------------- running */

/* y of x, and of z where the graph has it. */
static void run(struct tdl_builder *b, const float *x, const float *z, uint32_t count, float *y,
                uint32_t outputs)
{
    const struct tdl_tensor_params p = {
        .rank = 1, .shape = {count}, .usage = TDL_TENSOR_READABLE | TDL_TENSOR_WRITABLE};
    static const char *const names[] = {"0", "1", "2", "3", "4", "5", "6", "7", "8"};
    struct tdl_binding in[2] = {{"x"}, {"z"}}, out[COUNT(names)];
    struct tdl_graph *g;
    OK(tdl_builder_build(b, NULL, &g));
    for (uint32_t i = 0; i < (z ? 2 : 1); i++) {
        OK(tdl_tensor_create(ctx, &p, &in[i].tensor));
        OK(tdl_tensor_write(in[i].tensor, i ? z : x, count * sizeof(*x), NULL));
    }
    for (uint32_t i = 0; i < outputs; i++) {
        struct tdl_tensor_params q = *tdl_graph_output(g, i, NULL);
        q.usage = TDL_TENSOR_READABLE;
        out[i].name = names[i];
        OK(tdl_tensor_create(ctx, &q, &out[i].tensor));
    }
    OK(tdl_graph_dispatch(g, in, z ? 2 : 1, out, outputs, NULL));
    for (uint32_t i = 0; i < outputs; i++) {
        const struct tdl_tensor_params *q = tdl_graph_output(g, i, NULL);
        OK(tdl_tensor_read(out[i].tensor, y + (size_t)i * count, tdl_tensor_params_size(q)));
        tdl_tensor_destroy(&out[i].tensor);
    }
    for (uint32_t i = 0; i < (z ? 2 : 1); i++)
        tdl_tensor_destroy(&in[i].tensor);
    tdl_graph_destroy(&g);
    tdl_builder_destroy(&b);
}

static struct tdl_builder *open(uint32_t count, O *x)
{
    struct tdl_builder *b;
    OK(check_builder(ctx, &b));
    *x = subject_input(b, "x", SUBJECT_SHAPE(TDL_FLOAT32, count));
    return b;
}

static void add_output(struct tdl_builder *b, uint32_t index, O y)
{
    char name[8];
    snprintf(name, sizeof(name), "%u", index);
    OK(tdl_builder_output(b, name, y));
}

/* -------------------------------------------------------------------- sweeps */

/* Relative 1e-5, and what exponents of e lose: products with log2 e are rounded as floats.
 * What is below the normal numbers may be 0 on a device. */
static void check_sweep(const struct function *f, const float *x, const float *y)
{
    double worst = 0;
    uint32_t at = 0;
    check_begin("numbers: %s", f->name);
    for (uint32_t i = 0; i < POINTS; i++) {
        const double want = f->is((double)x[i]), error = fabs((double)y[i] - want);
        const double limit =
            1e-5 * fabs(want) + (fabs(want) < 2 * (double)FLT_MIN ? 2 * (double)FLT_MIN : 0);
        const double share = isnan(y[i]) ? INFINITY : error / limit;
        if (share > worst) {
            worst = share;
            at = i;
        }
    }
    CHECK(worst <= 1, "of %.9g: %.9g instead of %.9g, %g of what is allowed", (double)x[at],
          (double)y[at], f->is((double)x[at]), worst);
    if (getenv("TEST_NUMBERS"))
        printf("%s: %g of 1e-5, at %.9g\n", f->name, worst, (double)x[at]);
}

static void check_sweeps(void)
{
    static float x[POINTS], y[POINTS];
    for (size_t k = 0; k < COUNT(functions); k++) {
        const struct function *f = &functions[k];
        O in;
        struct tdl_builder *b = open(POINTS, &in);
        for (uint32_t i = 0; i < POINTS; i++)
            x[i] = (float)(f->low + (f->high - f->low) * i / (POINTS - 1));
        for (uint32_t i = 0; i < TINY; i++) /* near 0, of both signs */
            x[i * 2] = (float)((i % 2 ? -1.37 : 1.37) * pow(2, -(int)i / 2 - 1));
        add_output(b, 0, f->build(b, in));
        run(b, x, NULL, POINTS, y, 1);
        check_sweep(f, x, y);
    }
}

/* --------------------------------------------------------------- no numbers */

static void check_nan(void)
{
    const float x[] = {NAN, INFINITY, -INFINITY, 0}, least = -1, most = 1;
    float y[9][4];
    O in;
    struct tdl_builder *b = open(4, &in);
    check_begin("numbers: NaN and infinity");
    add_output(b, 0, tdl_builder_linear(b, in, 2, 1));
    add_output(b, 1, tdl_builder_hard_sigmoid(b, in, 0.2f, 0.5f));
    add_output(b, 2, tdl_builder_clamp(b, in, &least, &most));
    add_output(b, 3, tdl_builder_relu(b, in));
    add_output(b, 4, tdl_builder_leaky_relu(b, in, 0.5f));
    add_output(b, 5, tdl_builder_elu(b, in, 1));
    add_output(b, 6, tdl_builder_tanh(b, in));
    add_output(b, 7, tdl_builder_erf(b, in));
    add_output(b, 8, tdl_builder_softplus(b, in));
    run(b, x, NULL, 4, &y[0][0], 9);
    const float want[9][3] = {
        {INFINITY, -INFINITY, 1}, {1, 0, 0.5f},      {1, -1, 0}, {INFINITY, 0, 0},
        {INFINITY, -INFINITY},    {INFINITY, -1, 0}, {1, -1, 0}, {1, -1, 0},
        {INFINITY, 0, 0.693147f}};
    for (uint32_t i = 0; i < 9; i++) {
        CHECK(isnan(y[i][0]), "function %u of NaN is %g", i, (double)y[i][0]);
        for (uint32_t k = 0; k < 3; k++)
            CHECK(y[i][k + 1] == want[i][k] || fabsf(y[i][k + 1] - want[i][k]) < 1e-6f,
                  "function %u of %g is %g", i, (double)x[k + 1], (double)y[i][k + 1]);
    }
}

/* A graph's last convolution, with what may follow it. On the CPU XNNPACK loses NaN. */
static void check_last_convolution(void)
{
    const float x[] = {NAN, INFINITY, -INFINITY, 2}, two = 2;
    const struct tdl_tensor_params filter = {.rank = 4, .shape = {1, 1, 1, 1}};
    float y[4][4];
    O in;
    struct tdl_builder *b = open(4, &in);
    check_begin("numbers: the last convolution");
    O image = tdl_builder_reshape(b, in, 4, (const uint32_t[]){1, 2, 2, 1});
    O w = tdl_builder_constant(b, &filter, &two, sizeof(two));
    O conv = tdl_builder_conv2d(b, image, w, NULL);
    add_output(b, 0, conv);
    add_output(b, 1, tdl_builder_sigmoid(b, conv));
    add_output(b, 2, tdl_builder_conv_transpose2d(b, image, w, NULL));
    add_output(b, 3, tdl_builder_sigmoid(b, tdl_builder_conv2d(b, conv, w, NULL)));
    run(b, x, NULL, 4, &y[0][0], 4);
    const float want[4][3] = {{INFINITY, -INFINITY, 4},
                              {1, 0, 0.982013790f},
                              {INFINITY, -INFINITY, 4},
                              {1, 0, 0.999664650f}};
    for (uint32_t i = 0; i < 4; i++) {
        CHECK(isnan(y[i][0]), "output %u of NaN is %g", i, (double)y[i][0]);
        for (uint32_t k = 0; k < 3; k++)
            CHECK(y[i][k + 1] == want[i][k] || fabsf(y[i][k + 1] - want[i][k]) < 1e-6f,
                  "output %u of %g is %g", i, (double)x[k + 1], (double)y[i][k + 1]);
    }
}

/* Sums inside of a network that overflow float32. */
static void check_overflow(void)
{
    const float x[] = {1, 2, 0, -3}, large[] = {3e38f, 3e38f}, differ[] = {1, -1};
    const struct tdl_tensor_params first = {.rank = 4, .shape = {2, 1, 1, 1}};
    const struct tdl_tensor_params second = {.rank = 4, .shape = {1, 1, 1, 2}};
    float y[4];
    O in;
    struct tdl_builder *b = open(4, &in);
    check_begin("numbers: overflow");
    O image = tdl_builder_reshape(b, in, 4, (const uint32_t[]){1, 2, 2, 1});
    O a = tdl_builder_conv2d(b, image, tdl_builder_constant(b, &first, large, sizeof(large)), NULL);
    O c = tdl_builder_conv2d(b, a, tdl_builder_constant(b, &second, differ, sizeof(differ)), NULL);
    add_output(b, 0, tdl_builder_sigmoid(b, c));
    run(b, x, NULL, 4, y, 1);
    CHECK(y[0] == 0.5f && isnan(y[1]) && y[2] == 0.5f && isnan(y[3]),
          "%g, %g, %g, %g instead of 0.5, NaN, 0.5, NaN", (double)y[0], (double)y[1], (double)y[2],
          (double)y[3]);
}

/* The greatest of several, one of which is NaN; and of nothing but -infinity. */
static void check_reductions(void)
{
    static const float x[8] = {1, NAN, 3, 2, -INFINITY, -INFINITY, -INFINITY, -INFINITY};
    float y[3][8];
    O in;
    struct tdl_builder *b = open(8, &in);
    check_begin("numbers: reductions");
    const struct tdl_reduce_params rows = {.axes = {1}, .axis_count = 1};
    O two = tdl_builder_reshape(b, in, 2, (const uint32_t[]){2, 4});
    O image = tdl_builder_reshape(b, in, 4, (const uint32_t[]){1, 2, 4, 1});
    add_output(b, 0, tdl_builder_reduce(b, two, TDL_REDUCE_MAX, &rows));
    add_output(b, 1, tdl_builder_reduce(b, two, TDL_REDUCE_MIN, &rows));
    add_output(b, 2,
               tdl_builder_max_pool2d(b, image, &(struct tdl_pool2d_params){.window = {1, 4}}));
    run(b, x, NULL, 8, &y[0][0], 3);
    CHECK(isnan(y[0][0]) && isnan(y[1][0]), "max %g, min %g of a row with NaN", (double)y[0][0],
          (double)y[1][0]);
    CHECK(y[0][1] == -INFINITY && y[1][1] == -INFINITY, "max %g, min %g of -infinity",
          (double)y[0][1], (double)y[1][1]);
    CHECK(y[2][1] == -INFINITY, "the pool's max of -infinity is %g", (double)y[2][1]);
}

static void check_power(void)
{
    static const float corners[CORNERS] = {0,        -0.0f,     1,   -1,    0.5f,   -0.5f,
                                           2,        -2,        3,   -3,    2.5f,   -2.5f,
                                           INFINITY, -INFINITY, NAN, 1e30f, -1e30f, 16777216};
    static float x[CORNERS * CORNERS], z[CORNERS * CORNERS], y[CORNERS * CORNERS];
    O in;
    struct tdl_builder *b = open(CORNERS * CORNERS, &in);
    check_begin("numbers: pow");
    O to = subject_input(b, "z", SUBJECT_SHAPE(TDL_FLOAT32, CORNERS * CORNERS));
    for (uint32_t i = 0; i < CORNERS * CORNERS; i++) {
        x[i] = corners[i / CORNERS];
        z[i] = corners[i % CORNERS];
    }
    add_output(b, 0, tdl_builder_pow(b, in, to));
    run(b, x, z, CORNERS * CORNERS, y, 1);
    for (uint32_t i = 0; i < CORNERS * CORNERS; i++) {
        const float want = powf(x[i], z[i]);
        const bool same = isnan(want) || isnan(y[i]) ? isnan(want) && isnan(y[i])
                          : isinf(want) || want == 0 ? want == y[i]
                                                     : fabsf(want / y[i] - 1) < 1e-5f;
        CHECK(same, "%g to the power of %g is %g instead of %g", (double)x[i], (double)z[i],
              (double)y[i], (double)want);
    }
}

/* ------------------------------------------------- differences of large parts */

/* Shades of 8 bits with flat parts, slopes and noise, and a mask that follows them. */
enum { BOX_SIDE = 24, LARGE = 2 * BOX_SIDE, BOX_C = 4 };

/* How the parts of a guided filter are written. */
enum how { SUMS, DIFFERENCES, RECIPROCALS, POOLS, HOWS };

static O number(struct tdl_builder *b, float value)
{
    return subject_constant(b, 0, NULL, &value);
}

/* Means of 3x3, without padding. */
static O mean(struct tdl_builder *b, O x, enum how how)
{
    static const float third[3 * BOX_C] = {1 / 3.f, 1 / 3.f, 1 / 3.f, 1 / 3.f, 1 / 3.f, 1 / 3.f,
                                           1 / 3.f, 1 / 3.f, 1 / 3.f, 1 / 3.f, 1 / 3.f, 1 / 3.f};
    const struct tdl_conv2d_params depthwise = {.groups = BOX_C};
    const struct tdl_pool2d_params window = {.window = {3, 3}, .stride = {1, 1}};
    if (how == POOLS)
        return tdl_builder_average_pool2d(b, x, &window);
    O down = subject_constant(b, 4, (const uint32_t[]){BOX_C, 3, 1, 1}, third);
    O across = subject_constant(b, 4, (const uint32_t[]){BOX_C, 1, 3, 1}, third);
    return tdl_builder_conv2d(b, tdl_builder_conv2d(b, x, down, &depthwise), across, &depthwise);
}

/* The slope of the mask over the picture, and what it is at 0, both enlarged, of the large
 * picture: He, Sun, Tang, "Guided image filtering", 2013. */
static O guided_filter(struct tdl_builder *b, enum how how, O picture, O mask, O large)
{
    const struct tdl_resample2d_params twice = {.mode = TDL_RESAMPLE_LINEAR,
                                                .size = {LARGE, LARGE}};
    const float least = 0, most = 1;
    O m = mean(b, picture, how), p = mean(b, mask, how), eps = number(b, 1e-5f);
    O product = tdl_builder_mul(b, m, p), square = tdl_builder_mul(b, m, m);
    O both = mean(b, tdl_builder_mul(b, picture, mask), how);
    O squares = mean(b, tdl_builder_mul(b, picture, picture), how);
    O covariance = tdl_builder_sub(b, both, product);
    O variance = how == SUMS ? tdl_builder_add(b, squares, tdl_builder_sub(b, eps, square))
                             : tdl_builder_add(b, tdl_builder_sub(b, squares, square), eps);
    O slope = how == RECIPROCALS
                  ? tdl_builder_mul(b, covariance, tdl_builder_reciprocal(b, variance))
                  : tdl_builder_div(b, covariance, variance);
    O rest = tdl_builder_sub(b, p, tdl_builder_mul(b, slope, m));
    O y = tdl_builder_mul(b, tdl_builder_resample2d(b, slope, &twice), large);
    y = tdl_builder_add(b, y, tdl_builder_resample2d(b, rest, &twice));
    return tdl_builder_clamp(b, y, &least, &most);
}

/* Deviations of a pixel from its neighbours, in these. */
static O normalization(struct tdl_builder *b, O picture)
{
    O m = mean(b, picture, POOLS);
    O squares = mean(b, tdl_builder_mul(b, picture, picture), POOLS);
    O variance = tdl_builder_sub(b, squares, tdl_builder_mul(b, m, m));
    O deviation = tdl_builder_sqrt(b, tdl_builder_add(b, variance, number(b, 1e-4f)));
    return tdl_builder_mul(b, tdl_builder_div(b, m, deviation), number(b, 0.01f));
}

/* A typical picture and its mask, of `side` px. */
static void draw(float *picture, float *mask, int side)
{
    struct rng rng = {5};
    for (int y = 0; y < side; y++)
        for (int x = 0; x < side; x++) {
            const bool flat = 3 * x < side, noisy = 3 * y > 2 * side;
            const float slope = 0.3f + 0.6f * (float)x / (float)side;
            for (int c = 0; c < BOX_C; c++, picture++, mask++) {
                const float shade = (flat ? 0.8f : slope) - 0.05f * (float)c +
                                    (noisy ? rng_float(&rng, -0.02f, 0.02f) : 0);
                *picture = rintf(shade * 255) / 255;
                *mask = 3 * x > 2 * side ? 1 : flat ? 0.02f : *picture;
            }
        }
}

static void run_image(enum how how, enum tdl_precision precision, bool no_fuse, float *y)
{
    static float picture[BOX_SIDE * BOX_SIDE * BOX_C], mask[BOX_SIDE * BOX_SIDE * BOX_C],
        large[LARGE * LARGE * BOX_C], unused[LARGE * LARGE * BOX_C];
    const struct tdl_build_params params = {.precision = precision, .no_fuse = no_fuse};
    struct tdl_binding in[3], out = {"y", NULL};
    const float *const data[] = {picture, mask, large};
    struct tdl_builder *b;
    struct tdl_graph *g;
    O inputs[3];
    draw(picture, mask, BOX_SIDE);
    draw(large, unused, LARGE);
    OK(check_builder(ctx, &b));
    for (uint32_t i = 0; i < 3; i++) {
        static const char *const names[] = {"picture", "mask", "large"};
        const uint32_t side = i < 2 ? BOX_SIDE : LARGE;
        in[i].name = names[i];
        inputs[i] = subject_input(b, names[i],
                                  subject_image(TDL_LAYOUT_NHWC, 1, side, side, BOX_C));
    }
    O result = how < HOWS ? guided_filter(b, how, inputs[0], inputs[1], inputs[2])
                          : normalization(b, inputs[0]);
    OK(tdl_builder_output(b, "y", result));
    OK(tdl_builder_build(b, &params, &g));
    tdl_builder_destroy(&b);
    for (uint32_t i = 0; i < 3; i++) {
        struct tdl_tensor_params p = *tdl_graph_input(g, i, NULL);
        p.usage = TDL_TENSOR_WRITABLE;
        OK(tdl_tensor_create(ctx, &p, &in[i].tensor));
        OK(tdl_tensor_write(in[i].tensor, data[i], tdl_tensor_params_size(&p), NULL));
    }
    struct tdl_tensor_params p = *tdl_graph_output(g, 0, NULL);
    p.usage = TDL_TENSOR_READABLE;
    OK(tdl_tensor_create(ctx, &p, &out.tensor));
    OK(tdl_graph_dispatch(g, in, 3, &out, 1, NULL));
    OK(tdl_tensor_read(out.tensor, y, tdl_tensor_params_size(&p)));
    for (uint32_t i = 0; i < 3; i++)
        tdl_tensor_destroy(&in[i].tensor);
    tdl_tensor_destroy(&out.tensor);
    tdl_graph_destroy(&g);
}

/* The mean of squares without the square of the mean is small where both are not: in 16 bits
 * nothing, or less, would be left to divide by. */
static void check_differences(void)
{
    static float full[LARGE * LARGE * BOX_C], half[LARGE * LARGE * BOX_C];
    for (int how = 0; how <= HOWS; how++)
        for (int k = 0; k < 2; k++) {
            double worst = 0;
            check_begin("numbers: fp16, differences of large parts, as %d%s", how,
                        k ? ", unfused" : "");
            memset(full, 0, sizeof(full));
            memset(half, 0, sizeof(half));
            run_image((enum how)how, TDL_PRECISION_FP32, k, full);
            run_image((enum how)how, TDL_PRECISION_FP16, k, half);
            for (size_t i = 0; i < COUNT(full); i++) {
                const double off = fabs((double)full[i] - (double)half[i]);
                worst = isnan(half[i]) ? INFINITY : fmax(worst, off);
                REQUIRE(isfinite(full[i]), "fp32 has no number at %zu", i);
            }
            CHECK(worst <= 0.02, "fp16 is off by %g", worst);
        }
}

int main(void)
{
    ctx = check_context_open();
    check_sweeps();
    check_nan();
    check_last_convolution();
    check_overflow();
    check_reductions();
    check_power();
    check_differences();
    check_context_close(ctx);
    return check_result();
}
