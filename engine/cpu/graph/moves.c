/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Operators that move elements without looking at them. An element of the output is
 * one of the input at strides: slice, transpose, tile, depthToSpace, spaceToDepth. Or
 * rows are joined: concat.
 */
#include "hot.h"
#include "ops.h"

#include "ops/ops.h"

enum { MOST_DIMS = 2 * TDL_MAX_RANK };

/* From the outermost dimension on; in elements. */
struct strided {
    uint32_t rank;
    size_t size[MOST_DIMS];
    int64_t stride[MOST_DIMS], offset;
};

struct work {
    struct strided s;
    const uint8_t *from;
    uint8_t *to;
    size_t bytes; /* per element */
};

/* Neighbours that are one dimension, and those of one element. */
static void join(struct strided *s)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->rank; i++) {
        if (s->size[i] == 1)
            continue;
        if (kept && s->stride[kept - 1] == s->stride[i] * (int64_t)s->size[i]) {
            kept--;
            s->size[i] *= s->size[kept];
        }
        s->size[kept] = s->size[i];
        s->stride[kept++] = s->stride[i];
    }
    if (!kept) {
        s->size[0] = 1;
        s->stride[kept++] = 1;
    }
    s->rank = kept;
}

/* The index in the input where row `row` begins. */
static int64_t row_start(const struct strided *s, size_t row)
{
    int64_t at = s->offset;
    for (uint32_t d = s->rank - 1; d-- > 0; row /= s->size[d])
        at += (int64_t)(row % s->size[d]) * s->stride[d];
    return at;
}

/* `rows` rows whose first elements are neighbours: each of the input's bytes is
 * fetched once. */
#define MOVE(type)                                                                                 \
    static void move_##type(const type *from, type *to, size_t n, int64_t stride, size_t rows)     \
    {                                                                                              \
        if (rows == 1)                                                                             \
            for (size_t i = 0; i < n; i++)                                                         \
                to[i] = from[(int64_t)i * stride];                                                 \
        else                                                                                       \
            for (size_t i = 0; i < n; i++)                                                         \
                for (size_t r = 0; r < rows; r++)                                                  \
                    to[r * n + i] = from[(int64_t)i * stride + (int64_t)r];                        \
    }
MOVE(uint8_t)
MOVE(uint16_t)
MOVE(uint32_t)
MOVE(uint64_t)

static void move_rows(const struct work *w, size_t row, size_t rows)
{
    const size_t n = w->s.size[w->s.rank - 1];
    const int64_t stride = w->s.stride[w->s.rank - 1];
    const void *from = w->from + row_start(&w->s, row) * (int64_t)w->bytes;
    void *to = w->to + row * n * w->bytes;
    if (stride == 1 && rows == 1)
        memcpy(to, from, n * w->bytes);
    else if (w->bytes == 4 && rows > 1 && stride >= 0)
        tdl_cpu_hot()->turn(from, (size_t)stride, n, rows, to, n);
    else if (w->bytes == 1)
        move_uint8_t(from, to, n, stride, rows);
    else if (w->bytes == 2)
        move_uint16_t(from, to, n, stride, rows);
    else if (w->bytes == 4)
        move_uint32_t(from, to, n, stride, rows);
    else
        move_uint64_t(from, to, n, stride, rows);
}

/* Pieces of `size` bytes each. What is short is no call. */
static void copy_pieces(uint8_t *to, size_t to_step, const uint8_t *from, int64_t from_step,
                        size_t size, size_t count)
{
#define COPY(bytes)                                                                                \
    case bytes:                                                                                    \
        for (size_t i = 0; i < count; i++)                                                         \
            memcpy(to + i * to_step, from + (int64_t)i * from_step, bytes);                        \
        return
    switch (size) {
        COPY(4);
        COPY(8);
        COPY(12);
        COPY(16);
        COPY(32);
        COPY(64);
        COPY(128);
    default:
        for (size_t i = 0; i < count; i++)
            memcpy(to + i * to_step, from + (int64_t)i * from_step, size);
    }
#undef COPY
}

/* Rows that lie as they will, in runs whose starts are at one distance. */
static void move_runs(const struct work *w, size_t begin, size_t end)
{
    const uint32_t rank = w->s.rank;
    const size_t bytes = w->s.size[rank - 1] * w->bytes, run = w->s.size[rank - 2];
    for (size_t row = begin, n; row < end; row += n) {
        n = TDL_MIN(run - row % run, end - row);
        copy_pieces(w->to + row * bytes, bytes, w->from + row_start(&w->s, row) * (int64_t)w->bytes,
                    w->s.stride[rank - 2] * (int64_t)w->bytes, bytes, n);
    }
}

static void move(void *data, size_t begin, size_t end)
{
    enum { BLOCK = 16, LONG_BLOCK = 256 }; /* rows, and short ones */
    const struct work *w = data;
    const uint32_t rank = w->s.rank;
    const size_t block = w->s.size[rank - 1] < BLOCK ? LONG_BLOCK : BLOCK;
    if (rank > 1 && w->s.stride[rank - 1] == 1) {
        move_runs(w, begin, end);
        return;
    }
    const bool turns = rank > 1 && w->s.stride[rank - 2] == 1 && w->s.stride[rank - 1] != 1;
    for (size_t row = begin, n; row < end; row += n) {
        n = 1;
        if (turns) {
            const size_t rest = w->s.size[rank - 2] - row % w->s.size[rank - 2];
            n = TDL_MIN(TDL_MIN(rest, end - row), block);
        }
        move_rows(w, row, n);
    }
}

static void move_strided(const struct tdl_cpu_call *call, const struct strided *strided)
{
    struct work w = {.s = *strided,
                     .from = call->inputs[0],
                     .to = call->output,
                     .bytes = tdl_dtype_size(call->node->output->desc.dtype)};
    join(&w.s);
    const size_t n = w.s.size[w.s.rank - 1];
    tdl_cpu_parallel(call->threads, move, &w, tdl_operand_count(call->node->output) / n,
                     tdl_cpu_grain(5 + (double)n));
}

static void strides_of(const struct tdl_tensor_params *p, int64_t *out)
{
    int64_t stride = 1;
    for (uint32_t d = p->rank; d-- > 0; stride *= p->shape[d])
        out[d] = stride;
}

/* ---------------------------------------------------------------- operators */

static void run_slice(const struct tdl_cpu_call *call)
{
    const struct tdl_node *n = call->node;
    struct strided s = {.rank = n->output->desc.rank};
    strides_of(&n->inputs[0]->desc, s.stride);
    for (uint32_t d = 0; d < s.rank; d++) {
        s.size[d] = n->output->desc.shape[d];
        s.offset += s.stride[d] * n->attr.slice.start[d];
        s.stride[d] *= n->attr.slice.step[d];
    }
    move_strided(call, &s);
}

static void run_transpose(const struct tdl_cpu_call *call)
{
    const struct tdl_node *n = call->node;
    struct strided s = {.rank = n->output->desc.rank};
    int64_t strides[TDL_MAX_RANK];
    strides_of(&n->inputs[0]->desc, strides);
    for (uint32_t d = 0; d < s.rank; d++) {
        s.size[d] = n->output->desc.shape[d];
        s.stride[d] = strides[n->attr.transpose.permutation[d]];
    }
    move_strided(call, &s);
}

/* Each dimension is two: its repetitions, and itself. */
static void run_tile(const struct tdl_cpu_call *call)
{
    const struct tdl_node *n = call->node;
    struct strided s = {.rank = 2 * n->output->desc.rank};
    int64_t strides[TDL_MAX_RANK];
    strides_of(&n->inputs[0]->desc, strides);
    for (uint32_t d = 0; d < n->output->desc.rank; d++) {
        s.size[2 * d] = n->attr.tile.repetitions[d];
        s.size[2 * d + 1] = n->inputs[0]->desc.shape[d];
        s.stride[2 * d + 1] = strides[d];
    }
    move_strided(call, &s);
}

/* Strides of n, h, w, c. */
static void image_strides(const struct tdl_operand *o, int64_t out[4])
{
    const bool nchw = o->layout == TDL_LAYOUT_NCHW;
    int64_t s[4];
    strides_of(&o->desc, s);
    out[0] = s[0];
    out[1] = s[nchw ? 2 : 1];
    out[2] = s[nchw ? 3 : 2];
    out[3] = s[nchw ? 1 : 3];
}

/* Rows and columns of the wide image are those of blocks and those in a block: six
 * dimensions, which are put in the order of the output. */
static void run_blocks(const struct tdl_cpu_call *call, bool to_space)
{
    const struct tdl_node *n = call->node;
    const bool depth_first = n->attr.blocks.order == TDL_BLOCK_DEPTH_FIRST;
    const struct tdl_operand *deep = to_space ? n->inputs[0] : n->output;
    const struct tdl_dims d = tdl_operand_dims(deep);
    const int64_t b = n->attr.blocks.size, channels = d.c / (b * b);
    int64_t in_deep[4], in_wide[4];
    image_strides(deep, in_deep);
    image_strides(to_space ? n->output : n->inputs[0], in_wide);
    const struct {
        int64_t size, deep, wide;
    } parts[] = {
        {d.n, in_deep[0], in_wide[0]},
        {d.h, in_deep[1], in_wide[1] * b},
        {d.w, in_deep[2], in_wide[2] * b},
        {b, in_deep[3] * (depth_first ? b * channels : b), in_wide[1]},
        {b, in_deep[3] * (depth_first ? channels : 1), in_wide[2]},
        {channels, in_deep[3] * (depth_first ? 1 : b * b), in_wide[3]},
    };
    struct strided s = {.rank = TDL_COUNT(parts)};
    for (uint32_t i = 0; i < TDL_COUNT(parts); i++) {
        const int64_t mine = to_space ? parts[i].wide : parts[i].deep;
        uint32_t at = 0;
        for (uint32_t j = 0; j < TDL_COUNT(parts); j++) {
            const int64_t other = to_space ? parts[j].wide : parts[j].deep;
            /* Where two have the same stride, one of them has one element. */
            at += other > mine || (other == mine && (parts[j].size < parts[i].size ||
                                                     (parts[j].size == parts[i].size && j < i)));
        }
        s.size[at] = (size_t)parts[i].size;
        s.stride[at] = to_space ? parts[i].deep : parts[i].wide;
    }
    move_strided(call, &s);
}

static void run_depth_to_space(const struct tdl_cpu_call *call)
{
    run_blocks(call, true);
}

static void run_space_to_depth(const struct tdl_cpu_call *call)
{
    run_blocks(call, false);
}

/* ------------------------------------------------------------------- concat */

enum { LONG_ROW = 4096 /* bytes; of less, several rows are a piece of work */ };

struct joining {
    const struct tdl_cpu_call *call;
    size_t outer, row; /* bytes of a row of the output */
    size_t bytes[TDL_MAX_NODE_INPUTS], at[TDL_MAX_NODE_INPUTS];
};

/* A few rows at a time, which stay in the cache until all their parts are there. */
static void join_short_rows(void *data, size_t begin, size_t end)
{
    const struct joining *j = data;
    const size_t block = LONG_ROW * 2 / j->row;
    for (size_t row = begin, n; row < end; row += n) {
        n = TDL_MIN(block, end - row);
        for (uint32_t i = 0; i < j->call->node->input_count; i++)
            copy_pieces((uint8_t *)j->call->output + row * j->row + j->at[i], j->row,
                        (const uint8_t *)j->call->inputs[i] + row * j->bytes[i],
                        (int64_t)j->bytes[i], j->bytes[i], n);
    }
}

static void join_rows(void *data, size_t begin, size_t end)
{
    const struct joining *j = data;
    const uint32_t count = j->call->node->input_count;
    for (size_t i = begin; i < end; i++) {
        const size_t row = i / count, slot = i % count;
        memcpy((uint8_t *)j->call->output + row * j->row + j->at[slot],
               (const uint8_t *)j->call->inputs[slot] + row * j->bytes[slot], j->bytes[slot]);
    }
}

static void run_concat(const struct tdl_cpu_call *call)
{
    const struct tdl_node *n = call->node;
    const struct tdl_tensor_params *out = &n->output->desc;
    struct joining j = {.call = call, .outer = 1};
    for (uint32_t d = 0; d < n->attr.concat.axis; d++)
        j.outer *= out->shape[d];
    for (uint32_t i = 0; i < n->input_count; i++) {
        j.bytes[i] = tdl_tensor_params_size(&n->inputs[i]->desc) / j.outer;
        j.at[i] = j.row;
        j.row += j.bytes[i];
    }
    const double cost = 5 + (double)j.row / 16;
    if (j.row <= LONG_ROW)
        tdl_cpu_parallel(call->threads, join_short_rows, &j, j.outer, tdl_cpu_grain(cost));
    else
        tdl_cpu_parallel(call->threads, join_rows, &j, j.outer * n->input_count,
                         tdl_cpu_grain(cost));
}

const struct tdl_cpu_kernel tdl_cpu_slice = {.run = run_slice};
const struct tdl_cpu_kernel tdl_cpu_transpose = {.run = run_transpose};
const struct tdl_cpu_kernel tdl_cpu_tile = {.run = run_tile};
const struct tdl_cpu_kernel tdl_cpu_depth_to_space = {.run = run_depth_to_space};
const struct tdl_cpu_kernel tdl_cpu_space_to_depth = {.run = run_space_to_depth};
const struct tdl_cpu_kernel tdl_cpu_concat = {.run = run_concat};
