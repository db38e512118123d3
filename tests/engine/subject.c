/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "subject.h"

#include "condition.h"

#include <math.h>
#include <ops/conv/conv.h>
#include <ops/ops.h>

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

struct tdl_operand *subject_typed_constant(struct tdl_builder *b,
                                           const struct tdl_tensor_params *desc,
                                           const void *bytes)
{
    size_t size = tdl_tensor_params_size(desc);
    void *copy = malloc(size);
    REQUIRE(size && copy, "a constant without size");
    memcpy(copy, bytes, size);
    tdl_builder_own(b, copy, free);
    return tdl_builder_constant(b, desc, copy, size);
}

struct tdl_operand *subject_constant(struct tdl_builder *b, uint32_t rank, const uint32_t *shape,
                                     const float *values)
{
    struct tdl_tensor_params desc = {.dtype = TDL_FLOAT32, .rank = rank};
    for (uint32_t i = 0; i < rank; i++) /* `shape` of a scalar may be NULL */
        desc.shape[i] = shape[i];
    return subject_typed_constant(b, &desc, values);
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
    struct tdl_tensor_params p = {.dtype = TDL_FLOAT32, .rank = 4};
    const uint32_t nhwc[] = {n, h, w, c}, nchw[] = {n, c, h, w};
    memcpy(p.shape, layout == TDL_LAYOUT_NCHW ? nchw : nhwc, sizeof(nhwc));
    return p;
}

const enum tdl_dtype subject_dtypes[8] = {TDL_FLOAT32, TDL_FLOAT16, TDL_INT32, TDL_UINT32,
                                          TDL_INT8,    TDL_UINT8,   TDL_INT64, TDL_UINT64};

struct tdl_tensor_params subject_shape(enum tdl_dtype dtype, uint32_t rank, const uint32_t *shape)
{
    struct tdl_tensor_params p = {.dtype = dtype, .rank = rank};
    memcpy(p.shape, shape, rank * sizeof(*shape));
    return p;
}

struct tdl_operand *subject_input(struct tdl_builder *b, const char *name,
                                  struct tdl_tensor_params desc)
{
    return tdl_builder_input(b, name, &desc);
}

void subject_output(struct tdl_builder *b, struct tdl_operand *o)
{
    char name[16];
    snprintf(name, sizeof(name), "y%u", tdl_builder_ir(b)->output_count);
    tdl_builder_output(b, name, o);
}

uint32_t subject_steps(struct tdl_builder *b, bool no_fuse, const char *kernel)
{
    const struct tdl_graph_step *s;
    struct tdl_graph *graph;
    uint32_t count = 0;
    OK(tdl_builder_build(b,
                         &(struct tdl_build_params){.precision = TDL_PRECISION_FP32,
                                                    .no_fuse = no_fuse,
                                                    .defer_compile = true},
                         &graph));
    for (uint32_t i = 0; (s = tdl_graph_get_step(graph, i)); i++)
        count += !strncmp(s->kernel, kernel, strlen(kernel));
    tdl_graph_destroy(&graph);
    return count;
}

static size_t element_count(const struct tdl_tensor_params *p)
{
    return tdl_tensor_params_size(p) / tdl_dtype_size(p->dtype);
}

bool subject_has_kernels(const struct tdl_context *ctx)
{
    return ctx->on->wants_steps;
}

uint64_t subject_stride(const struct tdl_context *ctx, uint64_t n)
{
    return check_stride(subject_has_kernels(ctx) ? n : 1);
}

void subject_pretend_gpu(struct tdl_context *ctx, bool gpu)
{
    static bool is_software; /* the one device of this process, whatever it pretends */
    is_software |= ctx->info.type == TDL_DEVICE_SOFTWARE;
    if (is_software && subject_has_kernels(ctx))
        ctx->info.type = gpu ? TDL_DEVICE_DISCRETE_GPU : TDL_DEVICE_SOFTWARE;
}

void subject_fill(const struct tdl_tensor_params *desc, struct rng *rng, void *values)
{
    uint8_t *bytes = values;
    size_t size = tdl_dtype_size(desc->dtype), count = element_count(desc);
    for (size_t i = 0; i < count; i++) {
        if (desc->dtype == TDL_FLOAT32) {
            ((float *)values)[i] = rng_float(rng, -4, 4);
        } else if (desc->dtype == TDL_FLOAT16) {
            ((uint16_t *)values)[i] = tdl_float_to_half(rng_float(rng, -4, 4));
        } else {
            bool is_signed = desc->dtype == TDL_INT32 || desc->dtype == TDL_INT8 ||
                             desc->dtype == TDL_INT64;
            uint64_t v = rng_one_in(rng, 2) ? rng_next(rng) : rng_below(rng, 20) - 9ull * is_signed;
            memcpy(bytes + i * size, &v, size);
        }
    }
}

static void fill_input(uint32_t index, const struct tdl_tensor_params *desc, struct rng *rng,
                       void *values)
{
    (void)index;
    subject_fill(desc, rng, values);
}

void subject_open(struct subject *s, struct tdl_context *ctx, struct tdl_builder *builder,
                  struct rng *rng)
{
    subject_open_filled(s, ctx, builder, rng, fill_input);
}

void subject_open_filled(struct subject *s, struct tdl_context *ctx, struct tdl_builder *builder,
                         struct rng *rng, subject_fill_fn fill)
{
    *s = (struct subject){
        .ctx = ctx, .builder = builder, .ir = tdl_builder_ir(builder), .slack = 1};
    REQUIRE(tdl_builder_status(builder) == TDL_OK, "%s", tdl_builder_error(builder));
    for (uint32_t i = 0; i < s->ir->input_count; i++) {
        const struct tdl_tensor_params *desc = &s->ir->inputs[i]->desc;
        s->inputs[i] = malloc(tdl_tensor_params_size(desc));
        REQUIRE(s->inputs[i], "out of memory");
        fill(i, desc, rng, s->inputs[i]);
    }
    s->values = calloc(s->ir->operand_count, sizeof(*s->values));
    REQUIRE(s->values, "out of memory");
    OK(tdl_ir_run_reference(s->ir, (const void *const *)s->inputs, s->values));
    for (uint32_t i = 0; i < s->ir->output_count; i++) {
        s->plain[i] = malloc(tdl_tensor_params_size(&s->ir->outputs[i]->desc));
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

/* Row-major elements of desc to, or from, what a tensor of params `p` holds:
 * the same bytes, unless it is one of packs. */
static void convert(const struct tdl_tensor_params *p, const struct tdl_operand *o, void *values,
                    uint8_t *bytes, bool to_tensor)
{
    const enum tdl_layout said = o ? tdl_operand_get_layout(o) : TDL_LAYOUT_DEFAULT;
    const enum tdl_layout layout = said || !o ? said : o->ir->layout;
    if (p->packing != TDL_PACKING_C4) {
        memcpy(to_tensor ? (void *)bytes : values, to_tensor ? values : (void *)bytes,
               tdl_tensor_params_size(p));
        return;
    }
    struct tdl_dims d = tdl_tensor_params_dims(p);
    if (to_tensor)
        memset(bytes, 0, tdl_tensor_params_size(p));
    for (uint32_t n = 0; n < d.n; n++)
        for (uint32_t y = 0; y < d.h; y++)
            for (uint32_t x = 0; x < d.w; x++)
                for (uint32_t c = 0; c < d.c; c++) {
                    float *packed = (float *)bytes +
                                    ((((size_t)n * ((d.c + 3) / 4) + c / 4) * d.h + y) * d.w + x) *
                                        4 + c % 4;
                    float *plain = (float *)values +
                                   (layout == TDL_LAYOUT_NCHW
                                        ? (((size_t)n * d.c + c) * d.h + y) * d.w + x
                                        : (((size_t)n * d.h + y) * d.w + x) * d.c + c);
                    *(to_tensor ? packed : plain) = *(to_tensor ? plain : packed);
                }
}

/* Kernels write whole words: end of the last one. */
static size_t word_end(const struct tdl_tensor_params *p)
{
    return TDL_ALIGN(tdl_tensor_params_size(p), 4);
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

/* `values` NULL: all sentinels. */
static void guarded_write(struct guarded *g, const struct tdl_operand *o, void *values)
{
    uint8_t *bytes = malloc(g->size + GUARD);
    REQUIRE(bytes, "out of memory");
    fill_pattern(bytes, g->size + GUARD);
    if (values)
        convert(&g->tensor->params, o, values, bytes, true);
    OK(tdl_tensor_write(g->whole, bytes, g->size + GUARD, NULL));
    free(bytes);
}

/* The sentinels from `size` on. */
static bool check_pattern(const char *what, const uint8_t *bytes, size_t size)
{
    for (size_t i = size; i < size + GUARD - 16; i++)
        if (bytes[i] != (uint8_t)(pattern >> i % 4 * 8))
            return CHECK(false, "byte %zu behind %s was overwritten (with %#x)", i - size, what,
                         bytes[i]);
    return true;
}

/* The channels that fill up the last pack must be zero: `bits` is 128 for floats, 64 for the 16-bit
 * kind (shaders/common/storage.glsl). */
static bool check_filling(const char *what, struct tdl_dims d, uint32_t bits, const uint8_t *bytes)
{
    const size_t packs = (d.c + 3) / 4, pixels = (size_t)d.h * d.w;
    const uint32_t words = bits / 32;
    for (size_t i = 0; d.c % 4 && i < d.n * pixels; i++) {
        const size_t at = (i / pixels * packs + packs - 1) * pixels + i % pixels;
        for (uint32_t lane = d.c % 4; lane < 4; lane++) {
            uint32_t word;
            memcpy(&word, bytes + (at * words + (bits == 128 ? lane : lane / 2)) * 4, 4);
            if (bits == 64)
                word = word >> lane % 2 * 16 & 0xffff;
            if (word)
                return CHECK(false, "%s: lane %u of the last pack of pixel %zu is %#x, not 0", what,
                             lane, i, word);
        }
    }
    return true;
}

static bool guarded_read(struct guarded *g, const char *what, const struct tdl_operand *o,
                         void *values)
{
    uint8_t *bytes = malloc(g->size + GUARD);
    REQUIRE(bytes, "out of memory");
    OK(tdl_tensor_read(g->whole, bytes, g->size + GUARD));
    bool ok = check_pattern(what, bytes, word_end(&g->tensor->params));
    if (g->tensor->params.packing == TDL_PACKING_C4)
        ok &= check_filling(what, tdl_tensor_params_dims(&g->tensor->params), 128, bytes);
    if (values)
        convert(&g->tensor->params, o, values, bytes, false);
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
    struct tdl_buffer *arena = subject_arena(graph);
    if (!arena)
        return;
    size_t size = tdl_buffer_size(arena);
    OK(tdl_buffer_create(graph->ctx, size, out_bytes ? TDL_BUFFER_READBACK : TDL_BUFFER_UPLOAD,
                         &staging));
    if (!out_bytes)
        fill_pattern(tdl_buffer_data(staging), size);
    OK(tdl_batch_borrow(graph->ctx, &batch));
    if (out_bytes)
        OK(tdl_batch_copy(batch, arena, 0, staging, 0, size));
    else
        OK(tdl_batch_copy(batch, staging, 0, arena, 0, size));
    OK(tdl_batch_submit(batch, &point));
    OK(tdl_context_wait(graph->ctx, point, TDL_WAIT_FOREVER));
    if (out_bytes)
        memcpy(out_bytes, tdl_buffer_data(staging), size);
    tdl_batch_give_back(&batch);
    tdl_buffer_destroy(&staging);
}

static bool check_arena(struct tdl_graph *graph)
{
    if (!subject_arena(graph))
        return true;
    uint8_t *bytes = malloc(tdl_buffer_size(subject_arena(graph)));
    bool ok = true;
    REQUIRE(bytes, "out of memory");
    move_arena(graph, bytes);
    for (uint32_t i = 0; i < graph->plan.ir->operand_count; i++) {
        const struct tdl_operand *o = graph->plan.ir->operands[i];
        char what[96];
        if (o->external || o->first_step == UINT32_MAX || o->kind == TDL_OPERAND_CONSTANT)
            continue;
        snprintf(what, sizeof(what), "operand %u (%s)", o->id, tdl_operand_text(o));
        ok &= check_pattern(what, bytes + o->offset,
                            o->storage == TDL_STORAGE_LINEAR ? word_end(&o->desc) : o->size);
        if (o->producer && o->storage == TDL_STORAGE_PACKED)
            ok &= check_filling(what, tdl_operand_dims(o),
                                graph->plan.storage == TDL_FLOAT16 ? 64 : 128, bytes + o->offset);
    }
    free(bytes);
    return ok;
}

/* -------------------------------------------------------------- comparison */

static double element(const struct tdl_tensor_params *p, const void *values, size_t i)
{
    switch (p->dtype) {
    case TDL_FLOAT32:
        return (double)((const float *)values)[i];
    case TDL_FLOAT16:
        return (double)tdl_half_to_float(((const uint16_t *)values)[i]);
    case TDL_INT32:
        return ((const int32_t *)values)[i];
    case TDL_UINT32:
        return ((const uint32_t *)values)[i];
    case TDL_INT8:
        return ((const int8_t *)values)[i];
    case TDL_UINT8:
        return ((const uint8_t *)values)[i];
    case TDL_INT64:
        return (double)((const int64_t *)values)[i];
    case TDL_UINT64:
        return (double)((const uint64_t *)values)[i];
    }
    return 0;
}

/* "[1, 0, 7]" of element `i`. */
static const char *index_text(const struct tdl_tensor_params *p, size_t i, char *text, size_t size)
{
    size_t step = element_count(p), used = 1;
    snprintf(text, size, "[");
    for (uint32_t d = 0; d < p->rank; d++) {
        step /= p->shape[d];
        used += (size_t)snprintf(text + used, size - used, "%s%zu", d ? ", " : "",
                                 i / step % p->shape[d]);
    }
    snprintf(text + used, size - used, "]");
    return text;
}

static bool compare_integers(const char *what, const struct tdl_tensor_params *p, const void *want,
                             const void *got)
{
    size_t size = tdl_dtype_size(p->dtype), count = element_count(p);
    char where[96];
    for (size_t i = 0; i < count; i++)
        if (memcmp((const uint8_t *)want + i * size, (const uint8_t *)got + i * size, size) != 0)
            return CHECK(false, "%s: element %s is %.0f instead of %.0f", what,
                         index_text(p, i, where, sizeof(where)), element(p, got, i),
                         element(p, want, i));
    return true;
}

/* Error of a float32 function near 1: where 1 + erf(x) cancels, a small tensor may consist of it,
 * so a share of its own power is no bound. */
#define ROUNDING 4.8e-7
/* Rounding of a half just below 1, half of its last place, where activations are kept as halves. */
#define HALF_ROUNDING 0x1p-12

/* Result of a comparison. */
struct difference {
    double worst, nmse, limit;
    size_t first; /* the first element that is too far off, or SIZE_MAX */
};

/* `room`: how far each element may be off beside the tolerances; or NULL. */
static struct difference differ(const struct tdl_tensor_params *p, const void *want,
                                const void *got, bool half, double slack, const double *room)
{
    const double rounding = half ? HALF_ROUNDING : ROUNDING;
    half |= p->dtype == TDL_FLOAT16;
    const double tolerance = slack * (half ? 5e-3 : 1e-4);
    struct difference d = {.limit = slack * (half ? 5e-6 : 1e-9), .first = SIZE_MAX};
    double error = 0, power = 0;
    for (size_t i = 0; i < element_count(p); i++) {
        double w = element(p, want, i), g = element(p, got, i), e = fabs(g - w);
        if ((isnan(w) && isnan(g)) || (isinf(w) && w == g))
            continue;
        if (room)
            e = e <= room[i] ? 0 : e - room[i];
        if ((isinf(w) || !(e <= tolerance * (1 + fabs(w)))) && d.first == SIZE_MAX)
            d.first = i;
        d.worst = e > d.worst ? e : d.worst;
        e = e > rounding ? e : 0;
        error += e * e;
        power += w * w;
    }
    d.nmse = power > 0 ? error / power : error;
    return d;
}

static bool is_near(const struct difference *d)
{
    return d->first == SIZE_MAX && d->nmse <= d->limit;
}

static bool report(const char *what, const struct tdl_tensor_params *p, const void *want,
                   const void *got, const struct difference *d)
{
    char where[96];
    if (d->first != SIZE_MAX)
        return CHECK(false, "%s: element %s is %.7g instead of %.7g (worst error %.3g, NMSE %.3g)",
                     what, index_text(p, d->first, where, sizeof(where)), element(p, got, d->first),
                     element(p, want, d->first), d->worst, d->nmse);
    return CHECK(is_near(d), "%s: NMSE %.3g is more than %.3g (worst error %.3g)", what, d->nmse,
                 d->limit, d->worst);
}

bool subject_compare(const char *what, const struct tdl_tensor_params *p, const void *want,
                     const void *got, bool half, double slack)
{
    if (p->dtype != TDL_FLOAT32 && p->dtype != TDL_FLOAT16)
        return compare_integers(what, p, want, got);
    const struct difference d = differ(p, want, got, half, slack, NULL);
    return report(what, p, want, got, &d);
}

/* Output `i` of a run. Where it is farther off than is usual, the case may be a bad one: the
 * reference is asked how much the roundings on the way make there. */
static bool compare_output(struct subject *s, uint32_t i, bool half)
{
    const struct tdl_operand *o = s->ir->outputs[i];
    const struct tdl_tensor_params *p = &o->desc;
    const void *want = s->values[o->id], *got = s->plain[i];
    double *rooms[TDL_MAX_OUTPUTS];
    if (p->dtype != TDL_FLOAT32 && p->dtype != TDL_FLOAT16)
        return compare_integers(o->name, p, want, got);
    struct difference d = differ(p, want, got, half, s->slack, NULL);
    if (!is_near(&d)) {
        OK(condition_rooms(s->ir, (const void *const *)s->inputs, s->values, half, rooms));
        d = differ(p, want, got, half, s->slack, rooms[i]);
        for (uint32_t k = 0; k < s->ir->output_count; k++)
            free(rooms[k]);
    }
    return report(o->name, p, want, got, &d);
}

/* How many constants a kernel declares, beside a chain's. Newer SPIR-V has several of one
 * number. */
static uint32_t count_constants(const struct tdl_shader *shader)
{
    enum { OP_DECORATE = 71, DECORATION_SPEC_ID = 1 }; /* Khronos numbers of SPIR-V */
    const uint32_t *code = shader->code, words = (uint32_t)(shader->size / 4);
    bool seen[TDL_MAX_SPEC] = {false};
    uint32_t count = 0;
    for (uint32_t at = 5; at < words && code[at] >> 16; at += code[at] >> 16)
        if ((code[at] & 0xffff) == OP_DECORATE && code[at + 2] == DECORATION_SPEC_ID &&
            code[at + 3] < TDL_MAX_SPEC) {
            count += !seen[code[at + 3]];
            seen[code[at + 3]] = true;
        }
    return count;
}

static bool check_constants(const struct tdl_plan *plan)
{
    bool ok = true;
    for (uint32_t i = 0; i < plan->step_count; i++) {
        const struct tdl_plan_step *step = &plan->steps[i];
        const uint32_t declared = count_constants(step->kernel);
        ok &= CHECK(step->spec_count == declared, "%s declares %u constants and is given %u",
                    step->kernel->name, declared, step->spec_count);
    }
    return ok;
}

bool subject_units_fit(const struct tdl_context *ctx, const struct tdl_conv_variant *v)
{
    /* Every device has room for the small ones, and 48 KiB are enough for all. */
    enum { SMALL = 768, BESIDE = 16384 };
    const uint32_t packs = (v->v[0] + v->v[1]) * v->v[4]; /* packs of a step: 8 bytes each, twice */
    return packs <= SMALL || 16 * packs + BESIDE <= tdl_context_device(ctx)->max_shared_memory;
}

/* Steps that ran on matrix units, by kernel: told when the program ends, so that one can see
 * that there were any. */
static struct {
    const char *kernel;
    uint32_t steps;
} on_units[8];

static void tell_units(void)
{
    fprintf(stderr, "on matrix units:");
    for (size_t i = 0; i < COUNT(on_units) && on_units[i].steps; i++)
        fprintf(stderr, "%s %u of %s", i ? "," : "", on_units[i].steps, on_units[i].kernel);
    fputc('\n', stderr);
}

static void count_units(const struct tdl_graph *graph)
{
    const struct tdl_graph_step *step;
    for (uint32_t n = 0; (step = tdl_graph_get_step(graph, n)); n++) {
        size_t i = 0;
        if (!strstr(step->kernel, "_cooperative") && !strstr(step->kernel, "_patch"))
            continue;
        if (!on_units[0].steps)
            atexit(tell_units);
        while (i < COUNT(on_units) - 1 && on_units[i].steps &&
               strcmp(on_units[i].kernel, step->kernel))
            i++;
        on_units[i].kernel = step->kernel; /* the library's own text */
        on_units[i].steps++;
    }
}

bool subject_run(struct subject *s, const struct tdl_build_params *params)
{
    struct tdl_graph *graph;
    struct tdl_binding bindings[TDL_MAX_INPUTS + TDL_MAX_OUTPUTS];
    struct guarded guarded[TDL_MAX_INPUTS + TDL_MAX_OUTPUTS];
    const uint32_t inputs = s->ir->input_count, outputs = s->ir->output_count;
    bool half = params->precision == TDL_PRECISION_FP16, ok = true;
    if (s->candidate)
        OK(tdl_builder_build_by(
            s->builder, params, GUARD,
            &(struct tdl_plan_policy){.candidate = s->candidate, .patience = INFINITY}, &graph));
    else
        OK(tdl_builder_build_guarded(s->builder, params, s->unguarded ? 0 : GUARD, &graph));
    s->more = graph->plan.policy.more;
    for (uint32_t i = 0; i < inputs + outputs; i++) {
        bool in = i < inputs;
        const struct tdl_tensor_params *p =
            in ? tdl_graph_input(graph, i, &bindings[i].name)
               : tdl_graph_output(graph, i - inputs, &bindings[i].name);
        guarded_create(s->ctx, p, &guarded[i]);
        guarded_write(&guarded[i], in ? s->ir->inputs[i] : NULL, in ? s->inputs[i] : NULL);
        bindings[i].tensor = guarded[i].tensor;
    }
    if (!s->unguarded)
        move_arena(graph, NULL);
    /* Twice: the second run replays, over what the first one left. */
    for (int run = 0; run < 2; run++)
        OK(tdl_graph_dispatch(graph, bindings, inputs, bindings + inputs, outputs, NULL));
    for (uint32_t i = 0; i < inputs + outputs; i++) {
        const struct tdl_operand *o = i < inputs ? s->ir->inputs[i] : s->ir->outputs[i - inputs];
        void *plain = i < inputs ? NULL : s->plain[i - inputs];
        ok &= guarded_read(&guarded[i], bindings[i].name, o, plain);
        if (plain)
            ok &= compare_output(s, i - inputs, half);
        guarded_destroy(&guarded[i]);
    }
    ok &= s->unguarded || check_arena(graph);
    ok &= check_constants(&graph->plan);
    count_units(graph);
    tdl_graph_destroy(&graph);
    return ok;
}

void subject_check(struct tdl_context *ctx, struct tdl_builder *builder, struct rng *rng, bool half)
{
    struct subject s;
    subject_open(&s, ctx, builder, rng);
    subject_run(&s, &(struct tdl_build_params){
                        .precision = half ? TDL_PRECISION_FP16 : TDL_PRECISION_FP32});
    subject_close(&s);
}
