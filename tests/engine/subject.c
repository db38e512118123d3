/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "subject.h"

#include <math.h>

enum { GUARD = 16 << 10 };

/* A NaN in float32 and in both halves. It is a signalling one, so that what a
 * kernel computes from it is never the same bits. */
static const uint32_t pattern = 0xffa5fda5;

static void fill_pattern(uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(pattern >> i % 4 * 8);
}

/* ------------------------------------------------------------------ graphs */

struct tdl_operand *subject_constant(struct tdl_builder *b, uint32_t rank, const uint32_t *shape,
                                     const float *values)
{
    struct tdl_tensor_params desc = {.dtype = TDL_FLOAT32, .rank = rank};
    memcpy(desc.shape, shape, rank * sizeof(*shape));
    size_t size = tdl_tensor_params_size(&desc);
    float *copy = malloc(size);
    REQUIRE(size && copy, "a constant without size");
    memcpy(copy, values, size);
    tdl_builder_own(b, copy, free);
    return tdl_builder_constant(b, &desc, copy, size);
}

static struct tdl_operand *random_constant(struct tdl_builder *b, struct rng *rng, uint32_t rank,
                                           const uint32_t *shape, float scale)
{
    size_t count = 1;
    for (uint32_t i = 0; i < rank; i++)
        count *= shape[i];
    float *values = malloc(count * sizeof(*values));
    REQUIRE(values, "out of memory");
    for (size_t i = 0; i < count; i++)
        values[i] = rng_float(rng, -scale, scale);
    struct tdl_operand *o = subject_constant(b, rank, shape, values);
    free(values);
    return o;
}

struct tdl_operand *subject_filter(struct tdl_builder *b, struct rng *rng, uint32_t out,
                                   uint32_t kh, uint32_t kw, uint32_t in)
{
    return random_constant(b, rng, 4, (uint32_t[]){out, kh, kw, in},
                           1.5f / sqrtf((float)(kh * kw * in)));
}

struct tdl_operand *subject_bias(struct tdl_builder *b, struct rng *rng, uint32_t out)
{
    return random_constant(b, rng, 1, &out, 1.0f);
}

struct tdl_tensor_params subject_image(enum tdl_layout layout, uint32_t n, uint32_t h, uint32_t w,
                                       uint32_t c)
{
    struct tdl_tensor_params p = {.dtype = TDL_FLOAT32, .rank = 4, .layout = layout};
    const uint32_t nhwc[] = {n, h, w, c}, nchw[] = {n, c, h, w};
    memcpy(p.shape, layout == TDL_LAYOUT_NCHW ? nchw : nhwc, sizeof(nhwc));
    return p;
}

static size_t element_count(struct tdl_dims d)
{
    return (size_t)d.n * d.h * d.w * d.c;
}

void subject_pretend_gpu(struct tdl_context *ctx, bool gpu)
{
    if (ctx->properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU)
        ctx->info.type = gpu ? TDL_DEVICE_DISCRETE_GPU : TDL_DEVICE_CPU;
}

void subject_open(struct subject *s, struct tdl_context *ctx, struct tdl_builder *builder,
                  struct rng *rng)
{
    *s = (struct subject){
        .ctx = ctx, .builder = builder, .ir = tdl_builder_ir(builder), .slack = 1};
    REQUIRE(tdl_builder_status(builder) == TDL_OK, "%s", tdl_builder_error(builder));
    for (uint32_t i = 0; i < s->ir->input_count; i++) {
        size_t count = element_count(tdl_operand_dims(s->ir->inputs[i]));
        s->inputs[i] = malloc(count * sizeof(float));
        REQUIRE(s->inputs[i], "out of memory");
        for (size_t k = 0; k < count; k++)
            s->inputs[i][k] = rng_float(rng, -4, 4);
    }
    s->values = calloc(s->ir->operand_count, sizeof(*s->values));
    REQUIRE(s->values, "out of memory");
    OK(tdl_ir_run_reference(s->ir, (const float *const *)s->inputs, s->values));
    for (uint32_t i = 0; i < s->ir->output_count; i++) {
        s->plain[i] = malloc(element_count(tdl_operand_dims(s->ir->outputs[i])) * sizeof(float));
        REQUIRE(s->plain[i], "out of memory");
    }
}

void subject_close(struct subject *s)
{
    for (uint32_t i = 0; s->values && i < s->ir->operand_count; i++)
        free(s->values[i]);
    for (uint32_t i = 0; i < s->ir->input_count; i++)
        free(s->inputs[i]);
    for (uint32_t i = 0; i < s->ir->output_count; i++)
        free(s->plain[i]);
    free(s->values);
    tdl_builder_destroy(&s->builder);
}

/* ------------------------------------------------------------------ storage */

/* Round to the nearest float16, ties to even. */
static uint16_t half_from_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    uint32_t sign = bits >> 16 & 0x8000;
    double v = fabs((double)value);
    if (v >= 65520)
        return (uint16_t)(sign | 0x7c00);
    if (v < 0x1p-14) /* subnormal: units of 2^-24 */
        return (uint16_t)(sign | (uint32_t)nearbyint(v * 0x1p24));
    int exponent;
    double fraction = frexp(v, &exponent); /* v = fraction · 2^exponent, ½ … 1 */
    uint32_t mantissa = (uint32_t)nearbyint(fraction * 2048);
    return (uint16_t)(sign | (((uint32_t)(exponent + 14) << 10) + mantissa - 1024));
}

/* Where element (n, y, x, c) lies in a tensor of these params. */
static size_t index_of(const struct tdl_tensor_params *p, uint32_t n, uint32_t y, uint32_t x,
                       uint32_t c)
{
    struct tdl_dims d = tdl_tensor_params_dims(p);
    if (p->layout == TDL_LAYOUT_NCHW)
        return (((size_t)n * d.c + c) * d.h + y) * d.w + x;
    if (p->layout == TDL_LAYOUT_NC4HW4)
        return ((((size_t)n * ((d.c + 3) / 4) + c / 4) * d.h + y) * d.w + x) * 4 + c % 4;
    return (((size_t)n * d.h + y) * d.w + x) * d.c + c;
}

static void store(const struct tdl_tensor_params *p, const float *nhwc, uint8_t *bytes)
{
    struct tdl_dims d = tdl_tensor_params_dims(p);
    memset(bytes, 0, tdl_tensor_params_size(p));
    for (uint32_t n = 0; n < d.n; n++)
        for (uint32_t y = 0; y < d.h; y++)
            for (uint32_t x = 0; x < d.w; x++)
                for (uint32_t c = 0; c < d.c; c++, nhwc++) {
                    size_t at = index_of(p, n, y, x, c);
                    if (p->dtype == TDL_FLOAT16)
                        ((uint16_t *)bytes)[at] = half_from_float(*nhwc);
                    else
                        ((float *)bytes)[at] = *nhwc;
                }
}

static void load(const struct tdl_tensor_params *p, const uint8_t *bytes, float *nhwc)
{
    struct tdl_dims d = tdl_tensor_params_dims(p);
    for (uint32_t n = 0; n < d.n; n++)
        for (uint32_t y = 0; y < d.h; y++)
            for (uint32_t x = 0; x < d.w; x++)
                for (uint32_t c = 0; c < d.c; c++)
                    *nhwc++ = ((const float *)bytes)[index_of(p, n, y, x, c)];
}

/* A tensor whose buffer goes on for GUARD bytes of the pattern. `whole` sees
 * them too. */
struct guarded {
    struct tdl_tensor *whole, *tensor;
    size_t size;
};

static void guarded_create(struct tdl_context *ctx, const struct tdl_tensor_params *params,
                           struct guarded *g)
{
    g->size = tdl_tensor_params_size(params);
    OK(tdl_tensor_create(ctx,
                         &(struct tdl_tensor_params){
                             .dtype = TDL_UINT8,
                             .rank = 1,
                             .shape = {(uint32_t)g->size + GUARD},
                             .usage = TDL_TENSOR_READABLE | TDL_TENSOR_WRITABLE,
                         },
                         &g->whole));
    g->tensor = calloc(1, sizeof(*g->tensor));
    REQUIRE(g->tensor, "out of memory");
    g->tensor->buffer = tdl_buffer_ref(g->whole->buffer);
    g->tensor->params = *params;
    g->tensor->size = g->size;
}

/* `nhwc` NULL: all sentinels. */
static void guarded_write(struct guarded *g, const float *nhwc)
{
    uint8_t *bytes = malloc(g->size + GUARD);
    REQUIRE(bytes, "out of memory");
    fill_pattern(bytes, g->size + GUARD);
    if (nhwc)
        store(&g->tensor->params, nhwc, bytes);
    OK(tdl_tensor_write(g->whole, bytes, g->size + GUARD, NULL));
    free(bytes);
}

/* The sentinels from `size` on. */
static bool check_pattern(const char *what, const uint8_t *bytes, size_t size)
{
    for (size_t i = size; i < size + GUARD; i++)
        if (bytes[i] != (uint8_t)(pattern >> i % 4 * 8))
            return CHECK(false, "byte %zu behind %s was overwritten (with %#x)", i - size, what,
                         bytes[i]);
    return true;
}

static bool guarded_read(struct guarded *g, const char *what, float *nhwc)
{
    uint8_t *bytes = malloc(g->size + GUARD);
    REQUIRE(bytes, "out of memory");
    OK(tdl_tensor_read(g->whole, bytes, g->size + GUARD));
    bool ok = check_pattern(what, bytes, g->size);
    if (nhwc)
        load(&g->tensor->params, bytes, nhwc);
    free(bytes);
    return ok;
}

static void guarded_destroy(struct guarded *g)
{
    tdl_tensor_destroy(&g->tensor);
    tdl_tensor_destroy(&g->whole);
}

/* Fill the arena with sentinels, or (out_bytes) read it. */
static void move_arena(struct tdl_graph *graph, uint8_t *out_bytes)
{
    struct tdl_buffer *staging;
    struct tdl_batch *batch;
    uint64_t point;
    size_t size = tdl_buffer_size(graph->arena);
    OK(tdl_buffer_create(graph->ctx, size, out_bytes ? TDL_BUFFER_READBACK : TDL_BUFFER_UPLOAD,
                         &staging));
    if (!out_bytes)
        fill_pattern(tdl_buffer_data(staging), size);
    OK(tdl_batch_borrow(graph->ctx, &batch));
    if (out_bytes)
        OK(tdl_batch_copy(batch, graph->arena, 0, staging, 0, size));
    else
        OK(tdl_batch_copy(batch, staging, 0, graph->arena, 0, size));
    OK(tdl_batch_submit(batch, &point));
    OK(tdl_context_wait(graph->ctx, point, TDL_WAIT_FOREVER));
    if (out_bytes)
        memcpy(out_bytes, tdl_buffer_data(staging), size);
    tdl_batch_give_back(&batch);
    tdl_buffer_destroy(&staging);
}

static bool check_arena(struct tdl_graph *graph)
{
    uint8_t *bytes = malloc(tdl_buffer_size(graph->arena));
    bool ok = true;
    REQUIRE(bytes, "out of memory");
    move_arena(graph, bytes);
    for (uint32_t i = 0; i < graph->plan.ir->operand_count; i++) {
        const struct tdl_operand *o = graph->plan.ir->operands[i];
        char what[96];
        if (o->external || o->first_step == UINT32_MAX)
            continue;
        snprintf(what, sizeof(what), "operand %u (%s)", o->id, tdl_operand_text(o));
        ok &= check_pattern(what, bytes + o->offset, o->size);
    }
    free(bytes);
    return ok;
}

/* -------------------------------------------------------------- comparison */

bool subject_compare(const char *what, struct tdl_dims d, const float *want, const float *got,
                     bool half, double slack)
{
    const double tolerance = slack * (half ? 5e-3 : 1e-4), limit = slack * (half ? 5e-6 : 1e-9);
    size_t count = element_count(d), first = SIZE_MAX;
    double error = 0, power = 0, worst = 0;
    for (size_t i = 0; i < count; i++) {
        double e = fabs((double)got[i] - (double)want[i]);
        error += e * e;
        power += (double)want[i] * want[i];
        worst = e > worst ? e : worst;
        if (!(e <= tolerance * (1 + fabs((double)want[i]))) && first == SIZE_MAX)
            first = i;
    }
    double nmse = power > 0 ? error / power : error;
    if (first != SIZE_MAX) {
        size_t c = first % d.c, x = first / d.c % d.w, y = first / d.c / d.w % d.h;
        return CHECK(false,
                     "%s: element [n %zu, y %zu, x %zu, c %zu] is %.7g instead of %.7g "
                     "(worst error %.3g, NMSE %.3g)",
                     what, first / d.c / d.w / d.h, y, x, c, (double)got[first],
                     (double)want[first], worst, nmse);
    }
    return CHECK(nmse <= limit, "%s: NMSE %.3g is more than %.3g (worst error %.3g)", what, nmse,
                 limit, worst);
}

bool subject_run(struct subject *s, const struct tdl_build_params *params)
{
    struct tdl_graph *graph;
    struct tdl_binding bindings[32];
    struct guarded guarded[32];
    const uint32_t inputs = s->ir->input_count, outputs = s->ir->output_count;
    bool half = params->precision == TDL_PRECISION_FP16, ok = true;
    OK(tdl_builder_build_guarded(s->builder, params, GUARD, &graph));
    for (uint32_t i = 0; i < inputs + outputs; i++) {
        bool in = i < inputs;
        const struct tdl_tensor_params *p =
            in ? tdl_graph_input(graph, i, &bindings[i].name)
               : tdl_graph_output(graph, i - inputs, &bindings[i].name);
        guarded_create(s->ctx, p, &guarded[i]);
        guarded_write(&guarded[i], in ? s->inputs[i] : NULL);
        bindings[i].tensor = guarded[i].tensor;
    }
    move_arena(graph, NULL);
    /* Twice: the second run replays, over what the first one left. */
    for (int run = 0; run < 2; run++)
        OK(tdl_graph_dispatch(graph, bindings, inputs, bindings + inputs, outputs, NULL));
    for (uint32_t i = 0; i < inputs + outputs; i++) {
        ok &= guarded_read(&guarded[i], bindings[i].name,
                           i < inputs ? NULL : s->plain[i - inputs]);
        if (i >= inputs) {
            const struct tdl_operand *o = s->ir->outputs[i - inputs];
            ok &= subject_compare(o->name, tdl_operand_dims(o), s->values[o->id],
                                  s->plain[i - inputs], half, s->slack);
        }
        guarded_destroy(&guarded[i]);
    }
    ok &= check_arena(graph);
    tdl_graph_destroy(&graph);
    return ok;
}
