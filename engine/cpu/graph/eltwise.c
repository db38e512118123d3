/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Element-wise functions of one, two or three values that broadcast, of every data
 * type, and casts. A chunk of the output at a time: inputs are read where they lie, or
 * brought together in a buffer where they broadcast along short rows; halves become
 * floats, and integers 64 bits, on the way in and out.
 */
#include "hot.h"
#include "integers.h"
#include "ops.h"

#include "ops/ops.h"

enum { CHUNK = 512, LONG = 256 /* a row that is a chunk's worth of work */ };

enum domain { FLOATS, INTEGERS, RAW };

struct work {
    const struct tdl_cpu_call *call;
    const struct tdl_cpu_hot *hot;
    enum tdl_function function;
    enum domain domain;
    struct tdl_broadcast shape;
    bool contiguous[TDL_MAX_BROADCAST];   /* has the output's shape */
    const float *made[TDL_MAX_BROADCAST]; /* the chunk, where a chain has just made it; or NULL */
};

/* A chunk of an input: one element for all, or one for each. */
union buffer {
    uint8_t bytes[CHUNK * 8];
    float floats[CHUNK];
    int64_t integers[CHUNK];
};
struct chunk {
    const void *data;
    bool one;
};

static size_t element_size(const struct work *w, uint32_t slot)
{
    return tdl_dtype_size(w->call->node->inputs[slot]->desc.dtype);
}

/* Element `i` of the output, in an input. */
static size_t index_of(const struct work *w, uint32_t slot, size_t i)
{
    size_t at = 0;
    for (uint32_t d = 0; d < w->shape.rank; d++) {
        at += i % w->shape.size[d] * w->shape.stride[slot][d];
        i /= w->shape.size[d];
    }
    return at;
}

static void fill(uint8_t *to, const uint8_t *element, size_t size, size_t n)
{
    switch (size) {
    case 1:
        memset(to, *element, n);
        return;
    case 4:
        for (size_t i = 0; i < n; i++)
            memcpy(to + 4 * i, element, 4);
        return;
    default:
        for (size_t i = 0; i < n; i++)
            memcpy(to + size * i, element, size);
    }
}

/* Does it only repeat its row, as a value for each channel does? */
static bool repeats(const struct work *w, uint32_t slot)
{
    for (uint32_t d = 1; d < w->shape.rank; d++)
        if (w->shape.stride[slot][d])
            return false;
    return true;
}

static void fill_repeated(uint8_t *to, const uint8_t *row, size_t row_bytes, size_t start,
                          size_t bytes)
{
    for (size_t at = 0, n; at < TDL_MIN(row_bytes, bytes); at += n, start = 0) {
        n = TDL_MIN(row_bytes - start, TDL_MIN(row_bytes, bytes) - at);
        memcpy(to + at, row + start, n);
    }
    for (size_t at = row_bytes, n; at < bytes; at += n) {
        n = TDL_MIN(at, bytes - at);
        memcpy(to + at, to, n);
    }
}

/* Elements of an input for `n` of the output from `begin` on. */
static struct chunk fetch(const struct work *w, uint32_t slot, size_t begin, size_t n,
                          union buffer *buffer)
{
    const size_t size = element_size(w, slot), row = w->shape.size[0];
    const uint8_t *from = w->call->inputs[slot];
    if (w->made[slot])
        return (struct chunk){w->made[slot], false};
    if (w->contiguous[slot])
        return (struct chunk){from + begin * size, false};
    const bool one = !w->shape.stride[slot][0];
    if (row >= LONG || w->shape.rank == 1)
        return (struct chunk){from + index_of(w, slot, begin) * size, one};
    if (!one && repeats(w, slot)) {
        fill_repeated(buffer->bytes, from, row * size, begin % row * size, n * size);
        return (struct chunk){buffer->bytes, false};
    }
    for (size_t i = 0; i < n;) {
        const size_t part = TDL_MIN(row - (begin + i) % row, n - i);
        const uint8_t *at = from + index_of(w, slot, begin + i) * size;
        if (one)
            fill(buffer->bytes + i * size, at, size, part);
        else
            memcpy(buffer->bytes + i * size, at, part * size);
        i += part;
    }
    return (struct chunk){buffer->bytes, false};
}

/* As floats, or as integers of 64 bits. */
static struct chunk load(const struct work *w, uint32_t slot, size_t begin, size_t n,
                         union buffer *buffer, union buffer *wide)
{
    const enum tdl_dtype dtype = w->call->node->inputs[slot]->desc.dtype;
    struct chunk c = fetch(w, slot, begin, n, buffer);
    const size_t count = c.one ? 1 : n;
    if (w->domain == INTEGERS)
        tdl_cpu_load_integers(dtype, c.data, wide->integers, count);
    else if (w->domain == FLOATS && dtype == TDL_FLOAT16)
        w->hot->widen(c.data, wide->floats, count);
    else
        return c;
    c.data = wide;
    return c;
}

/* ------------------------------------------------------------------- chunks */

static void compute_floats(const struct work *w, size_t begin, size_t n, uint8_t *out)
{
    const struct tdl_node *node = w->call->node;
    const bool halves = node->output->desc.dtype == TDL_FLOAT16;
    union buffer a[2], b[2], result;
    const struct chunk x = load(w, 0, begin, n, &a[0], &a[1]);
    float *to = halves ? result.floats : (float *)out;
    if (w->function < TDL_ADD) {
        w->hot->unary(w->function, node->attr.eltwise.a, node->attr.eltwise.b, x.data, to,
                      x.one ? 1 : n);
    } else {
        const struct chunk y = load(w, 1, begin, n, &b[0], &b[1]);
        if (w->function >= TDL_EQUAL) {
            w->hot->compare(w->function, x.data, x.one, y.data, y.one, out, n);
            return;
        }
        w->hot->binary(w->function, x.data, x.one, y.data, y.one, to, n);
    }
    if (halves)
        w->hot->narrow(to, (uint16_t *)out, n);
}

static void compute_integers(const struct work *w, size_t begin, size_t n, uint8_t *out)
{
    const struct tdl_node *node = w->call->node;
    union buffer a[2], b[2];
    const struct chunk x = load(w, 0, begin, n, &a[0], &a[1]);
    const struct tdl_cpu_integers list = {
        .function = w->function,
        .has_sign = tdl_cpu_has_sign(node->inputs[0]->desc.dtype),
        .bounds = {tdl_cpu_integer(node->inputs[0]->desc.dtype, &node->attr.eltwise.bounds[0]),
                   tdl_cpu_integer(node->inputs[0]->desc.dtype, &node->attr.eltwise.bounds[1])},
        .x = x.data,
        .x_one = x.one,
        .y = x.data,
        .y_one = x.one,
    };
    struct tdl_cpu_integers both = list;
    if (node->input_count > 1) {
        const struct chunk y = load(w, 1, begin, n, &b[0], &b[1]);
        both.y = y.data;
        both.y_one = y.one;
    }
    int64_t result[CHUNK];
    tdl_cpu_compute_integers(&both, result, n);
    tdl_cpu_store_integers(node->output->desc.dtype, result, out, n);
}

/* Operators that only copy, and `where`. */
static void compute_raw(const struct work *w, size_t begin, size_t n, uint8_t *out)
{
    const size_t size = element_size(w, 0);
    union buffer a, b, c;
    const struct chunk x = fetch(w, 0, begin, n, &a);
    if (w->function != TDL_WHERE) {
        if (x.one)
            fill(out, x.data, size, n);
        else
            memcpy(out, x.data, n * size);
        return;
    }
    const struct chunk y = fetch(w, 1, begin, n, &b), is = fetch(w, 2, begin, n, &c);
    const uint8_t *first = x.data, *second = y.data, *truth = is.data;
#define CHOOSE(type)                                                                               \
    for (size_t i = 0; i < n; i++) {                                                               \
        type v, u;                                                                                 \
        memcpy(&v, first + (x.one ? 0 : i) * sizeof(v), sizeof(v));                                \
        memcpy(&u, second + (y.one ? 0 : i) * sizeof(u), sizeof(u));                               \
        v = truth[is.one ? 0 : i] ? v : u;                                                         \
        memcpy(out + i * sizeof(v), &v, sizeof(v));                                                \
    }
    if (size == 1)
        CHOOSE(uint8_t)
    else if (size == 2)
        CHOOSE(uint16_t)
    else if (size == 4)
        CHOOSE(uint32_t)
    else
        CHOOSE(uint64_t)
#undef CHOOSE
}

/* Elements of a chunk from `begin` on: no more than a long row has left. */
static size_t chunk_of(const struct work *w, size_t begin, size_t most)
{
    const size_t row = w->shape.size[0];
    return row >= LONG ? TDL_MIN(most, row - begin % row) : most;
}

static void compute(void *data, size_t begin, size_t end)
{
    static void (*const of[])(const struct work *, size_t, size_t, uint8_t *) = {
        [FLOATS] = compute_floats, [INTEGERS] = compute_integers, [RAW] = compute_raw};
    const struct work *w = data;
    const size_t size = tdl_dtype_size(w->call->node->output->desc.dtype);
    for (size_t i = begin, n; i < end; i += n) {
        n = chunk_of(w, i, TDL_MIN(end - i, (size_t)CHUNK));
        of[w->domain](w, i, n, (uint8_t *)w->call->output + i * size);
    }
}

static double cost_of(enum tdl_function f)
{
    return f == TDL_SIN || f == TDL_COS || f == TDL_TAN || f == TDL_POW ? 20 : 1;
}

static enum domain domain_of(const struct tdl_node *n)
{
    const enum tdl_function f = tdl_function_of(n);
    return f == TDL_WHERE || f == TDL_EXPAND || f == TDL_IDENTITY ? RAW
           : tdl_is_float(n->inputs[0]->desc.dtype)               ? FLOATS
                                                                  : INTEGERS;
}

static struct work work_of(const struct tdl_cpu_call *call)
{
    const struct tdl_node *n = call->node;
    const struct tdl_tensor_params *descs[TDL_MAX_BROADCAST];
    struct work w = {
        .call = call, .hot = tdl_cpu_hot(), .function = tdl_function_of(n), .domain = domain_of(n)};
    for (uint32_t i = 0; i < n->input_count; i++) {
        descs[i] = &n->inputs[i]->desc;
        w.contiguous[i] = tdl_operand_count(n->inputs[i]) == tdl_operand_count(n->output);
    }
    tdl_broadcast_resolve(&n->output->desc, descs, n->input_count, &w.shape);
    return w;
}

static void run(const struct tdl_cpu_call *call)
{
    struct work w = work_of(call);
    tdl_cpu_parallel(call->threads, compute, &w, tdl_operand_count(call->node->output),
                     tdl_cpu_grain(cost_of(w.function)));
}

/* hardSwish is XNNPACK's, too. */
const struct tdl_cpu_kernel tdl_cpu_eltwise = {.run = run, .before_xnn = true, .by_threads = true};

/* ------------------------------------------------------------------- chains */

/* Functions of floats one behind the other, a chunk through all of them: what is between two
 * of them stays in a core's nearest cache, and is nowhere else. */
struct chain {
    struct tdl_cpu_call calls[TDL_CPU_MOST_CHAIN];
    struct work works[TDL_CPU_MOST_CHAIN];
    uint32_t count;
};

static void compute_chain(void *data, size_t begin, size_t end)
{
    const struct chain *c = data;
    float between[2][CHUNK];
    struct work works[TDL_CPU_MOST_CHAIN];
    for (uint32_t k = 0; k < c->count; k++) {
        const struct tdl_node *node = c->works[k].call->node;
        works[k] = c->works[k];
        for (uint32_t slot = 0; k && slot < node->input_count; slot++)
            if (node->inputs[slot] == c->works[k - 1].call->node->output)
                works[k].made[slot] = between[(k - 1) % 2];
    }
    for (size_t i = begin, n; i < end; i += n) {
        n = TDL_MIN(end - i, (size_t)CHUNK);
        for (uint32_t k = 0; k < c->count; k++)
            n = chunk_of(&works[k], i, n);
        for (uint32_t k = 0; k + 1 < c->count; k++)
            compute_floats(&works[k], i, n, (uint8_t *)between[k % 2]);
        compute_floats(&works[c->count - 1], i, n,
                       (uint8_t *)((float *)works[c->count - 1].call->output + i));
    }
}

static void run_chain(const struct tdl_cpu_call *call)
{
    struct chain c = {.count = call->chain_count};
    double cost = 0;
    for (uint32_t k = 0; k < c.count; k++) {
        const struct tdl_node *n = call->chain[k];
        c.calls[k] = (struct tdl_cpu_call){.node = n, .output = call->values[n->output->id]};
        for (uint32_t slot = 0; slot < n->input_count; slot++)
            c.calls[k].inputs[slot] = call->values[n->inputs[slot]->id];
        c.works[k] = work_of(&c.calls[k]);
        cost += cost_of(c.works[k].function);
    }
    tdl_cpu_parallel(call->threads, compute_chain, &c, tdl_operand_count(call->node->output),
                     tdl_cpu_grain(cost));
}

const struct tdl_cpu_kernel tdl_cpu_chain = {.name = "chain", .run = run_chain};

static bool is_chained(const struct tdl_node *n)
{
    bool floats = tdl_cpu_kernel_of(n) == &tdl_cpu_eltwise && domain_of(n) == FLOATS &&
                  tdl_function_of(n) < TDL_EQUAL && n->output->desc.dtype == TDL_FLOAT32;
    for (uint32_t i = 0; i < n->input_count && floats; i++)
        floats = n->inputs[i] && n->inputs[i]->desc.dtype == TDL_FLOAT32;
    return floats;
}

static bool has_shape_of(const struct tdl_tensor_params *a, const struct tdl_tensor_params *b)
{
    return a->rank == b->rank && !memcmp(a->shape, b->shape, a->rank * sizeof(*a->shape));
}

bool tdl_cpu_goes_on(struct tdl_ir *ir, const struct tdl_node *n, const struct tdl_node *next)
{
    struct tdl_operand *o = n->output;
    return is_chained(n) && is_chained(next) && !o->is_output && !o->external && !o->alias &&
           tdl_ir_only_user(ir, o) == next && has_shape_of(&o->desc, &next->output->desc);
}

/* --------------------------------------------------------------------- casts */

static void cast_part(void *data, size_t begin, size_t end)
{
    const struct tdl_cpu_call *call = data;
    const enum tdl_dtype from = call->node->inputs[0]->desc.dtype;
    const enum tdl_dtype to = call->node->output->desc.dtype;
    const struct tdl_cpu_hot *hot = tdl_cpu_hot();
    union buffer wide;
    for (size_t i = begin, n; i < end; i += n) {
        n = TDL_MIN(end - i, (size_t)CHUNK);
        const uint8_t *x = (const uint8_t *)call->inputs[0] + i * tdl_dtype_size(from);
        uint8_t *out = (uint8_t *)call->output + i * tdl_dtype_size(to);
        float floats[CHUNK];
        if (!tdl_is_float(from) && !tdl_is_float(to)) {
            tdl_cpu_load_integers(from, x, wide.integers, n);
            tdl_cpu_store_integers(to, wide.integers, out, n);
            continue;
        }
        if (from == TDL_FLOAT16)
            hot->widen((const uint16_t *)x, floats, n);
        else if (from == TDL_FLOAT32)
            memcpy(floats, x, n * sizeof(*floats));
        else if (tdl_dtype_size(from) == 1)
            hot->widen_bytes(x, from == TDL_INT8, floats, n);
        else
            tdl_cpu_integers_to_floats(from, x, floats, n);
        if (to == TDL_FLOAT16)
            hot->narrow(floats, (uint16_t *)out, n);
        else if (to == TDL_FLOAT32)
            memcpy(out, floats, n * sizeof(*floats));
        else if (tdl_dtype_size(to) == 1)
            hot->cut_to_bytes(floats, to == TDL_INT8, out, n);
        else
            tdl_cpu_floats_to_integers(to, floats, out, n);
    }
}

static void run_cast(const struct tdl_cpu_call *call)
{
    tdl_cpu_parallel(call->threads, cast_part, (void *)call, tdl_operand_count(call->node->output),
                     tdl_cpu_grain(1));
}

const struct tdl_cpu_kernel tdl_cpu_cast = {.run = run_cast};
