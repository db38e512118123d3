/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Operators that become others when they are added: rnn, lstm, gru and their cells,
 * quantized numbers, and resample2d along any axes. What the device gives is held against the
 * definitions, written out here.
 *
 *     test-ops-composed [cases [seed]]    that many random cases, from that seed on
 */
#include "subject.h"

#include <math.h>

static const struct tdl_build_params exact = {.precision = TDL_PRECISION_FP32};

/* ------------------------------------------------------------ recurrent networks */

/* The arrays of one case, as lstm and gru have them; of those that a case leaves out,
 * zeros. */
struct net {
    uint32_t steps, batch, inputs, hidden, gates, directions;
    enum tdl_recurrent_direction direction;
    enum tdl_activation activations[3];
    bool flipped; /* the other layout */
    bool reset_before, biased, peeping, started;
    const float *x, *weight, *recurrent, *bias, *recurrent_bias, *peephole, *start, *start_cell;
};

static double apply(enum tdl_activation given, enum tdl_activation otherwise, double x)
{
    switch (given == TDL_ACTIVATION_NONE ? otherwise : given) {
    case TDL_ACTIVATION_RELU:
        return fmax(x, 0);
    case TDL_ACTIVATION_SIGMOID:
        return 1 / (1 + exp(-x));
    default:
        return tanh(x);
    }
}

static double dot(const float *weight, uint32_t row, const double *x, uint32_t count)
{
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += (double)weight[(size_t)row * count + i] * x[i];
    return sum;
}

enum { MOST_HIDDEN = 9, MOST_INPUTS = 9 };

/* Products of the input and of the state for unit `k` of a gate, apart. */
static void gate(const struct net *n, uint32_t d, uint32_t number, uint32_t k, const double *x,
                 const double *h, double *from_x, double *from_h)
{
    const uint32_t row = (d * n->gates + number) * n->hidden + k;
    *from_x = dot(n->weight, row, x, n->inputs) + (n->biased ? (double)n->bias[row] : 0);
    *from_h =
        dot(n->recurrent, row, h, n->hidden) + (n->biased ? (double)n->recurrent_bias[row] : 0);
}

static void lstm_step(const struct net *n, uint32_t d, const double *x, double *h, double *c)
{
    /* Positions of the input, output, forget and cell gates. */
    static const uint32_t iofg[] = {0, 1, 2, 3}, ifgo[] = {0, 3, 1, 2};
    const uint32_t *at = n->flipped ? ifgo : iofg;
    const float *p = n->peeping ? n->peephole + (size_t)d * 3 * n->hidden : NULL;
    double next[MOST_HIDDEN];
    for (uint32_t k = 0; k < n->hidden; k++) {
        double sum[4], a, b;
        for (uint32_t g = 0; g < 4; g++) {
            gate(n, d, at[g], k, x, h, &a, &b);
            sum[g] = a + b;
        }
        if (n->peeping) {
            sum[0] += (double)p[k] * c[k];
            sum[2] += (double)p[2 * n->hidden + k] * c[k];
        }
        const enum tdl_activation *f = n->activations;
        c[k] = apply(f[0], TDL_ACTIVATION_SIGMOID, sum[2]) * c[k] +
               apply(f[0], TDL_ACTIVATION_SIGMOID, sum[0]) *
                   apply(f[1], TDL_ACTIVATION_TANH, sum[3]);
        if (n->peeping)
            sum[1] += (double)p[n->hidden + k] * c[k];
        next[k] = apply(f[0], TDL_ACTIVATION_SIGMOID, sum[1]) *
                  apply(f[2], TDL_ACTIVATION_TANH, c[k]);
    }
    memcpy(h, next, n->hidden * sizeof(*h));
}

static void rnn_step(const struct net *n, uint32_t d, const double *x, double *h)
{
    double next[MOST_HIDDEN], a, b;
    for (uint32_t k = 0; k < n->hidden; k++) {
        gate(n, d, 0, k, x, h, &a, &b);
        next[k] = apply(n->activations[0], TDL_ACTIVATION_TANH, a + b);
    }
    memcpy(h, next, n->hidden * sizeof(*h));
}

static void gru_step(const struct net *n, uint32_t d, const double *x, double *h)
{
    const uint32_t z_at = n->flipped, r_at = !n->flipped;
    double next[MOST_HIDDEN], reset[MOST_HIDDEN], held[MOST_HIDDEN], a, b;
    for (uint32_t k = 0; k < n->hidden; k++) {
        gate(n, d, r_at, k, x, h, &a, &b);
        reset[k] = apply(n->activations[0], TDL_ACTIVATION_SIGMOID, a + b);
        held[k] = reset[k] * h[k];
    }
    for (uint32_t k = 0; k < n->hidden; k++) {
        gate(n, d, z_at, k, x, h, &a, &b);
        const double z = apply(n->activations[0], TDL_ACTIVATION_SIGMOID, a + b);
        gate(n, d, 2, k, x, n->reset_before ? held : h, &a, &b);
        const double fresh = apply(n->activations[1], TDL_ACTIVATION_TANH,
                                   a + (n->reset_before ? b : reset[k] * b));
        next[k] = (1 - z) * fresh + z * h[k];
    }
    memcpy(h, next, n->hidden * sizeof(*h));
}

static bool near(const char *what, size_t i, float got, double want)
{
    return CHECK(fabs((double)got - want) <= 2e-4 * (1 + fabs(want)), "%s: %zu is %g instead of %g",
                 what, i, (double)got, want);
}

/* `sequence` may be NULL. */
static void expect_states(const struct net *n, const float *hidden, const float *cell,
                          const float *sequence)
{
    for (uint32_t d = 0; d < n->directions; d++)
        for (uint32_t row = 0; row < n->batch; row++) {
            const bool back = d == 1 || n->direction == TDL_RECURRENT_BACKWARD;
            const size_t at = ((size_t)d * n->batch + row) * n->hidden;
            double h[MOST_HIDDEN] = {0}, c[MOST_HIDDEN] = {0}, x[MOST_INPUTS];
            for (uint32_t k = 0; k < n->hidden && n->started; k++) {
                h[k] = (double)n->start[at + k];
                c[k] = n->gates == 4 ? (double)n->start_cell[at + k] : 0;
            }
            for (uint32_t i = 0; i < n->steps; i++) {
                const uint32_t t = back ? n->steps - 1 - i : i;
                for (uint32_t k = 0; k < n->inputs; k++)
                    x[k] = (double)n->x[((size_t)t * n->batch + row) * n->inputs + k];
                if (n->gates == 4)
                    lstm_step(n, d, x, h, c);
                else if (n->gates == 3)
                    gru_step(n, d, x, h);
                else
                    rnn_step(n, d, x, h);
                const size_t place = (((size_t)t * n->directions + d) * n->batch + row) * n->hidden;
                for (uint32_t k = 0; k < n->hidden && sequence; k++)
                    if (!near("sequence", place + k, sequence[place + k], h[k]))
                        return;
            }
            for (uint32_t k = 0; k < n->hidden; k++)
                if (!near("hidden state", at + k, hidden[at + k], h[k]) ||
                    (cell && !near("cell's state", at + k, cell[at + k], c[k])))
                    return;
        }
}

/* Weights within ±½, so that what is added up stays small. */
static void fill_small(uint32_t index, const struct tdl_tensor_params *desc, struct rng *rng,
                       void *values)
{
    (void)index;
    for (size_t i = 0; i < tdl_tensor_params_size(desc) / sizeof(float); i++)
        ((float *)values)[i] = rng_float(rng, -0.5f, 0.5f);
}

static struct net random_net(struct rng *rng, uint32_t gates)
{
    struct net n = {
        .steps = RNG_PICK(rng, 1, 2, 3, 5, 9),
        .batch = RNG_PICK(rng, 1, 1, 3),
        .inputs = RNG_PICK(rng, 1, 4, 7),
        .hidden = RNG_PICK(rng, 1, 3, 4, 9),
        .gates = gates,
        .direction = rng_below(rng, 3),
        .flipped = rng_one_in(rng, 2),
        .reset_before = rng_one_in(rng, 2),
        .biased = rng_one_in(rng, 2),
        .peeping = gates == 4 && rng_one_in(rng, 2),
        .started = rng_one_in(rng, 2),
    };
    for (int i = 0; i < 3; i++)
        n.activations[i] = RNG_PICK(rng, TDL_ACTIVATION_NONE, TDL_ACTIVATION_NONE,
                                    TDL_ACTIVATION_RELU, TDL_ACTIVATION_SIGMOID,
                                    TDL_ACTIVATION_TANH);
    n.directions = n.direction == TDL_RECURRENT_BOTH ? 2 : 1;
    return n;
}

/* Input number `*next` of the subject; of a cell, without the first dimension. */
static struct tdl_operand *operand(struct tdl_builder *b, bool cell, uint32_t rank, uint32_t first,
                                   uint32_t second, uint32_t third)
{
    static const char *const names[] = {"x", "w", "r", "h", "c", "b", "rb", "p"};
    const uint32_t shape[] = {first, second, third};
    const uint32_t left = cell ? 1 : 0;
    return subject_input(b, names[tdl_builder_ir(b)->input_count],
                         subject_shape(TDL_FLOAT32, rank - left, shape + left));
}

static void check_recurrent(struct tdl_context *ctx, uint64_t seed, uint32_t gates, bool cell)
{
    struct rng rng = {seed};
    struct tdl_builder *b;
    struct subject s;
    struct net n = random_net(&rng, gates);
    struct tdl_operand *out[3] = {0};
    const bool sequence = !cell && rng_one_in(&rng, 2);
    if (cell) {
        n.steps = n.directions = 1;
        n.direction = TDL_RECURRENT_FORWARD;
        n.started = true;
    }
    const uint32_t d = n.directions, h = n.hidden, all = gates * h;
    check_begin("seed %llu: %s%s, %u steps, batch %u, %u to %u, direction %u",
                (unsigned long long)seed,
                gates == 4   ? "lstm"
                : gates == 3 ? "gru"
                             : "rnn",
                cell ? "Cell" : "", n.steps,
                n.batch, n.inputs, h, n.direction);
    OK(check_builder(ctx, &b));
    struct tdl_operand *x = operand(b, cell, 3, n.steps, n.batch, n.inputs);
    struct tdl_operand *w = operand(b, cell, 3, d, all, n.inputs);
    struct tdl_operand *r = operand(b, cell, 3, d, all, h), *start = NULL, *start_cell = NULL;
    struct tdl_lstm_params lstm = {.return_sequence = sequence, .direction = n.direction};
    struct tdl_gru_params gru = {.return_sequence = sequence, .direction = n.direction};
    struct tdl_rnn_params rnn = {.return_sequence = sequence, .direction = n.direction};
    rnn.activation = n.activations[0];
    lstm.layout = n.flipped ? TDL_LSTM_IFGO : TDL_LSTM_IOFG;
    gru.layout = n.flipped ? TDL_GRU_RZN : TDL_GRU_ZRN;
    gru.reset_before = n.reset_before;
    memcpy(lstm.activations, n.activations, sizeof(lstm.activations));
    memcpy(gru.activations, n.activations, sizeof(gru.activations));
    if (n.started) {
        start = operand(b, cell, 3, d, n.batch, h);
        start_cell = gates == 4 ? operand(b, cell, 3, d, n.batch, h) : NULL;
    }
    lstm.initial_hidden = gru.initial_hidden = rnn.initial_hidden = cell ? NULL : start;
    lstm.initial_cell = cell ? NULL : start_cell;
    const uint32_t bias_at = tdl_builder_ir(b)->input_count;
    if (n.biased) {
        lstm.bias = gru.bias = rnn.bias = operand(b, cell, 2, d, all, 1);
        lstm.recurrent_bias = gru.recurrent_bias = rnn.recurrent_bias =
            operand(b, cell, 2, d, all, 1);
    }
    const uint32_t peephole_at = tdl_builder_ir(b)->input_count;
    if (n.peeping)
        lstm.peephole = operand(b, cell, 2, d, 3 * h, 1);
    if (cell && gates == 4)
        OK(tdl_builder_lstm_cell(b, x, w, r, start, start_cell, h, &lstm, out));
    else if (cell)
        out[0] = tdl_builder_gru_cell(b, x, w, r, start, h, &gru);
    else if (gates == 4)
        OK(tdl_builder_lstm(b, x, w, r, n.steps, h, &lstm, out));
    else if (gates == 3)
        OK(tdl_builder_gru(b, x, w, r, n.steps, h, &gru, out));
    else
        OK(tdl_builder_rnn(b, x, w, r, n.steps, h, &rnn, out));
    CHECK(sequence == (out[gates == 4 ? 2 : 1] != NULL) || cell, "a sequence is there, or is not");
    for (int i = 0; i < 3; i++)
        if (out[i])
            subject_output(b, out[i]);
    subject_open_filled(&s, ctx, b, &rng, fill_small);
    n.x = s.inputs[0];
    n.weight = s.inputs[1];
    n.recurrent = s.inputs[2];
    n.start = s.inputs[3];
    n.start_cell = s.inputs[4];
    n.bias = s.inputs[bias_at];
    n.recurrent_bias = s.inputs[bias_at + 1];
    n.peephole = s.inputs[peephole_at];
    if (subject_run(&s, &exact))
        expect_states(&n, s.plain[0], gates == 4 ? s.plain[1] : NULL,
                      sequence ? s.plain[gates == 4 ? 2 : 1] : NULL);
    subject_close(&s);
}

/* --------------------------------------------------------------- quantized numbers */

static int64_t whole_at(enum tdl_dtype dtype, const void *data, size_t i)
{
    return dtype == TDL_INT8    ? ((const int8_t *)data)[i]
           : dtype == TDL_UINT8 ? ((const uint8_t *)data)[i]
           : dtype == TDL_INT32 ? ((const int32_t *)data)[i]
                                : (int64_t)((const uint32_t *)data)[i];
}

/* Scales that are powers of two, of which all that is computed is exact. */
static void fill_scales(uint32_t index, const struct tdl_tensor_params *desc, struct rng *rng,
                        void *values)
{
    for (size_t i = 0; i < tdl_tensor_params_size(desc) / tdl_dtype_size(desc->dtype); i++) {
        const int32_t whole = (int32_t)rng_below(rng, 250) - (desc->dtype == TDL_INT8 ? 125 : 0);
        const float scale = ldexpf(1, (int)rng_below(rng, 5) - 3);
        const float real = (float)((int32_t)rng_below(rng, 4000) - 2000) / 8;
        if (desc->dtype == TDL_FLOAT32)
            ((float *)values)[i] = index == 1 ? scale : real;
        else if (desc->dtype == TDL_INT8 || desc->dtype == TDL_UINT8)
            ((uint8_t *)values)[i] = (uint8_t)whole;
        else
            ((int32_t *)values)[i] = whole;
    }
}

/* The element of a scale that is for element `i` of x. */
static size_t block_of(const struct tdl_tensor_params *x, const struct tdl_tensor_params *scale,
                       size_t i)
{
    size_t at = 0, stride = 1;
    for (uint32_t k = 0; k < x->rank; k++) {
        const uint32_t d = x->rank - 1 - k;
        const uint32_t size = k < scale->rank ? scale->shape[scale->rank - 1 - k] : 1;
        const size_t coordinate = i % x->shape[d];
        i /= x->shape[d];
        at += coordinate / (x->shape[d] / size) * stride;
        stride *= size;
    }
    return at;
}

static void check_quantized(struct tdl_context *ctx, uint64_t seed)
{
    struct rng rng = {seed};
    struct tdl_builder *b;
    struct subject s;
    const enum tdl_dtype dtype =
        RNG_PICK(&rng, TDL_INT8, TDL_UINT8, TDL_UINT8, TDL_INT32, TDL_UINT32);
    const bool quantize = rng_one_in(&rng, 2), pointed = quantize || rng_one_in(&rng, 2);
    struct tdl_tensor_params p = {.dtype = quantize ? TDL_FLOAT32 : dtype,
                                  .rank = rng_below(&rng, 6)};
    const enum tdl_layout layout = rng_one_in(&rng, 2) ? TDL_LAYOUT_NCHW : TDL_LAYOUT_NHWC;
    struct tdl_tensor_params q = {.dtype = TDL_FLOAT32, .rank = rng_below(&rng, p.rank + 1)};
    for (uint32_t i = 0; i < p.rank; i++)
        p.shape[i] = RNG_PICK(&rng, 1, 2, 4, 6);
    for (uint32_t i = 0; i < q.rank; i++) {
        const uint32_t size = p.shape[p.rank - q.rank + i];
        const uint32_t whole = rng_one_in(&rng, 2) ? 1 : size;
        q.shape[i] = size % 2 == 0 && rng_one_in(&rng, 2) ? size / 2 : whole;
    }
    struct tdl_tensor_params z = q;
    z.dtype = dtype;
    OK(check_builder(ctx, &b));
    tdl_builder_set_input_layout(b, layout);
    struct tdl_operand *x = subject_input(b, "x", p), *scale = subject_input(b, "s", q);
    struct tdl_operand *zero = pointed ? subject_input(b, "z", z) : NULL;
    check_begin("seed %llu: %squantizeLinear of %s by %s", (unsigned long long)seed,
                quantize ? "" : "de", tdl_operand_text(x), tdl_operand_text(scale));
    subject_output(b, quantize ? tdl_builder_quantize_linear(b, x, scale, zero)
                               : tdl_builder_dequantize_linear(b, x, scale, zero));
    subject_open_filled(&s, ctx, b, &rng, fill_scales);
    const bool ran = subject_run(&s, &exact);
    const double least = dtype == TDL_INT8 ? -128 : dtype == TDL_INT32 ? -2147483648.0 : 0;
    const double most = dtype == TDL_INT8    ? 127
                        : dtype == TDL_UINT8 ? 255
                        : dtype == TDL_INT32 ? 2147483647.0
                                             : 4294967295.0;
    const size_t count = tdl_tensor_params_size(&p) / tdl_dtype_size(p.dtype);
    for (size_t i = 0; i < count && ran; i++) {
        const size_t k = block_of(&p, &q, i);
        const double factor = (double)((const float *)s.inputs[1])[k];
        const double point = pointed ? (double)whole_at(dtype, s.inputs[2], k) : 0;
        double want;
        if (quantize)
            want = fmin(fmax(rint((double)((const float *)s.inputs[0])[i] / factor) + point, least),
                        most);
        else
            want = ((double)whole_at(dtype, s.inputs[0], i) - point) * factor;
        const double got = quantize ? (double)whole_at(dtype, s.plain[0], i)
                                    : (double)((const float *)s.plain[0])[i];
        if (!CHECK(got == want, "element %zu is %g instead of %g", i, got, want))
            break;
    }
    subject_close(&s);
}

/* ---------------------------------------------------------------------- resample2d */

static void check_axes(struct tdl_context *ctx, uint64_t seed)
{
    struct rng rng = {seed};
    struct tdl_builder *b;
    struct subject s;
    const uint32_t first = rng_below(&rng, 3), second = first + 1 + rng_below(&rng, 3 - first);
    const enum tdl_layout layout = rng_one_in(&rng, 2) ? TDL_LAYOUT_NCHW : TDL_LAYOUT_NHWC;
    struct tdl_tensor_params p = {.rank = 4};
    for (uint32_t i = 0; i < 4; i++)
        p.shape[i] = 1 + rng_below(&rng, 6);
    const struct tdl_resample2d_params how = {
        .mode = TDL_RESAMPLE_LINEAR,
        .size = {1 + rng_below(&rng, 9), 1 + rng_below(&rng, 9)},
        .coordinates = TDL_RESAMPLE_ASYMMETRIC,
        .axes = {first, second},
    };
    OK(check_builder(ctx, &b));
    tdl_builder_set_input_layout(b, layout);
    struct tdl_operand *x = subject_input(b, "x", p);
    check_begin("seed %llu: resample2d of %s along %u and %u", (unsigned long long)seed,
                tdl_operand_text(x), first, second);
    struct tdl_operand *y = tdl_builder_resample2d(b, x, &how);
    subject_output(b, y);
    REQUIRE(y, "%s", tdl_builder_error(b));
    const struct tdl_tensor_params q = *tdl_operand_get_desc(y);
    CHECK(q.shape[first] == how.size[0] && q.shape[second] == how.size[1],
          "the result is %s", tdl_operand_text(y));
    subject_open(&s, ctx, b, &rng);
    if (!subject_run(&s, &exact)) {
        subject_close(&s);
        return;
    }
    for (size_t i = 0; i < tdl_tensor_params_size(&q) / sizeof(float); i++) {
        uint32_t at[4];
        double sum = 0;
        for (size_t d = 4, left = i; d-- > 0; left /= q.shape[d])
            at[d] = (uint32_t)(left % q.shape[d]);
        const uint32_t in[] = {p.shape[first], p.shape[second]};
        const double v = (double)at[first] * in[0] / how.size[0];
        const double u = (double)at[second] * in[1] / how.size[1];
        for (int corner = 0; corner < 4; corner++) {
            const uint32_t dv = corner / 2, du = corner % 2;
            const double fv = v - floor(v), fu = u - floor(u);
            at[first] = TDL_MIN((uint32_t)v + dv, in[0] - 1);
            at[second] = TDL_MIN((uint32_t)u + du, in[1] - 1);
            size_t from = 0;
            for (int d = 0; d < 4; d++)
                from = from * p.shape[d] + at[d];
            sum += (dv ? fv : 1 - fv) * (du ? fu : 1 - fu) *
                   (double)((const float *)s.inputs[0])[from];
        }
        if (!near("result", i, ((const float *)s.plain[0])[i], sum))
            break;
    }
    subject_close(&s);
}

/* -------------------------------------------------------------------------- errors */

#define FAILED(part, call)                                                                         \
    do {                                                                                           \
        struct tdl_builder *b;                                                                     \
        struct tdl_operand *out[3];                                                                \
        OK(check_builder(NULL, &b));                                                          \
        struct tdl_operand *x = subject_input(b, "x", SUBJECT_SHAPE(TDL_FLOAT32, 2, 1, 3));        \
        struct tdl_operand *w = subject_input(b, "w", SUBJECT_SHAPE(TDL_FLOAT32, 1, 16, 3));       \
        struct tdl_operand *r = subject_input(b, "r", SUBJECT_SHAPE(TDL_FLOAT32, 1, 16, 4));       \
        struct tdl_operand *i = subject_input(b, "i", SUBJECT_SHAPE(TDL_INT8, 6));                 \
        struct tdl_operand *f = subject_input(b, "f", SUBJECT_SHAPE(TDL_FLOAT32, 4));              \
        struct tdl_operand *m = subject_input(b, "m", SUBJECT_SHAPE(TDL_FLOAT32, 1, 2, 3, 4));     \
        struct tdl_operand *big =                                                                  \
            subject_input(b, "g", SUBJECT_SHAPE(TDL_FLOAT32, 2000, 1u << 31, 3));                  \
        (void)x, (void)w, (void)r, (void)i, (void)f, (void)m, (void)out, (void)big;                \
        (void)(call);                                                                              \
        CHECK(tdl_builder_status(b) != TDL_OK && strstr(tdl_builder_error(b), part),               \
              "%s: \"%s\" lacks \"%s\"", #call, tdl_builder_error(b), part);                       \
        tdl_builder_destroy(&b);                                                                   \
    } while (0)

static void check_errors(void)
{
    const struct tdl_lstm_params layout = {.layout = 2}, sideways = {.direction = 3};
    const struct tdl_lstm_params both = {.direction = TDL_RECURRENT_BOTH};
    const struct tdl_gru_params activation = {.activations = {0, 99}};
    const struct tdl_resample2d_params apart = {.size = {2, 2}, .axes = {3, 1}};
    check_begin("errors");
    FAILED("there is no layout 2", tdl_builder_lstm(b, x, w, r, 2, 4, &layout, out));
    FAILED("there is no direction 3", tdl_builder_lstm(b, x, w, r, 2, 4, &sideways, out));
    FAILED("there is no activation 99", tdl_builder_gru(b, x, w, r, 2, 4, &activation, out));
    FAILED("it has to be float32[2,16,3]", tdl_builder_lstm(b, x, w, r, 2, 4, &both, out));
    FAILED("[steps, batch, size] with 3 steps", tdl_builder_lstm(b, x, w, r, 3, 4, NULL, out));
    FAILED("no steps", tdl_builder_lstm(b, x, w, r, 0, 4, NULL, out));
    FAILED("2000 steps; up to 1024", tdl_builder_lstm(b, big, w, r, 2000, 4, NULL, out));
    FAILED("a hidden size of 0", tdl_builder_lstm(b, x, w, r, 2, 0, NULL, out));
    FAILED("a hidden size of 4294967295", tdl_builder_gru(b, x, w, r, 2, UINT32_MAX, NULL, out));
    FAILED("it has to be float32[1,12,3]", tdl_builder_gru(b, x, w, r, 2, 4, NULL, out));
    FAILED("input 2 is missing", tdl_builder_lstm(b, x, w, NULL, 2, 4, NULL, out));
    FAILED("out_outputs is NULL", tdl_builder_lstm(b, x, w, r, 2, 4, NULL, NULL));
    FAILED("there are no states", tdl_builder_lstm_cell(b, x, w, r, NULL, NULL, 4, NULL, out));
    FAILED("divides the input's", tdl_builder_dequantize_linear(b, i, f, NULL));
    FAILED("zero point none", tdl_builder_dequantize_linear(b, f, f, NULL));
    FAILED("is missing", tdl_builder_quantize_linear(b, f, f, NULL));
    FAILED("zero point float32[4]", tdl_builder_quantize_linear(b, f, f, f));
    FAILED("axes 3 and 1", tdl_builder_resample2d(b, m, &apart));
}

int main(int argc, char **argv)
{
    const long random = check_cases(argc, argv, 3);
    const uint64_t seed = check_seed(argc, argv, 2);
    check_errors();
    struct tdl_context *ctx = check_context_open();
    for (uint64_t i = seed; i < seed + (uint64_t)random; i++) {
        check_recurrent(ctx, i, 4, false);
        check_recurrent(ctx, i, 3, false);
        check_recurrent(ctx, i, 1, false);
        check_recurrent(ctx, i, i % 2 ? 4 : 3, true);
        check_quantized(ctx, i);
        check_axes(ctx, i);
    }
    check_context_close(ctx);
    return check_result();
}
