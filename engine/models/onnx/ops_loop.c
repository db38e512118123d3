/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ONNX's Loop: its body is added as often as it runs, or, where that depends on counts
 * (counts.c), as often as it may run. What iterations beyond the count make is not carried on,
 * and rows that they make do not exist. A body sees the names of the graphs round it, and its
 * own are forgotten behind it.
 */
#include "onnx.h"

#include <stdlib.h>
#include <string.h>

/* All loops of a file together: iterations, and bytes of their bodies. */
#define MAX_ITERATIONS 1024
#define MAX_BYTES (1u << 22)
#define MAX_RESULTS 32

struct loop {
    struct tdl_pb body;
    struct tdl_pb inputs[2 + MAX_RESULTS], outputs[1 + MAX_RESULTS]; /* names */
    uint32_t input_count, output_count, carried, scanned;
    uint64_t places[MAX_RESULTS]; /* values that are carried on, among all */
    bool grows[MAX_RESULTS];      /* carried values that begin empty, and rows are joined */
    struct tdl_operand **rows;    /* iterations of each carried and scanned output in turn */
    struct tdl_operand *count;    /* iterations, where these depend on counts; else NULL */
    uint32_t iterations;
};

/* The names of values of the body, in a list of its fields. */
static bool read_names(struct onnx_import *im, const struct loop *l, uint32_t number,
                       struct tdl_pb *names, uint32_t capacity, uint32_t *out_count)
{
    struct tdl_pb g = l->body;
    struct tdl_pb_field f, h;

    for (*out_count = 0; tdl_pb_next(&g, &f);) {
        if (f.number != number)
            continue;
        if (*out_count == capacity)
            return tdl_kit_lacks(&im->kit, "more than %d values of a loop", MAX_RESULTS);
        names[*out_count] = (struct tdl_pb){0};
        while (tdl_pb_next(&f.in, &h))
            if (h.number == ONNX_VALUE_NAME)
                names[*out_count] = h.in;
        ++*out_count;
    }
    return true;
}

static bool read_body(struct onnx_import *im, struct loop *l)
{
    struct tdl_pb attribute;
    struct tdl_pb_field f;

    if (!onnx_attribute(im, "body", &attribute))
        return tdl_kit_damaged(&im->kit, "it has no body");
    while (tdl_pb_next(&attribute, &f))
        if (f.number == ONNX_ATTRIBUTE_GRAPH)
            l->body = f.in;
    if (!read_names(im, l, ONNX_GRAPH_INPUT, l->inputs, 2 + MAX_RESULTS, &l->input_count) ||
        !read_names(im, l, ONNX_GRAPH_OUTPUT, l->outputs, 1 + MAX_RESULTS, &l->output_count))
        return false;
    l->carried = im->node.input_count > 2 ? im->node.input_count - 2 : 0;
    if (l->input_count != 2 + l->carried || l->output_count < 1 + l->carried ||
        im->node.output_count > l->output_count - 1)
        return tdl_kit_damaged(&im->kit, "%u inputs and %u outputs of its body, of %u carried on",
                               l->input_count, l->output_count, l->carried);
    l->scanned = l->output_count - 1 - l->carried;
    return true;
}

/* A node of the body, as far as it is known without adding it. */
struct body_node {
    struct tdl_pb message, type, first; /* the first input */
};

static bool writes(const struct tdl_pb *node, const struct tdl_pb *name, struct body_node *out)
{
    struct tdl_pb m = *node;
    struct tdl_pb_field f;
    bool found = false;

    *out = (struct body_node){.message = *node};
    while (tdl_pb_next(&m, &f)) {
        found |= f.number == ONNX_NODE_OUTPUT && tdl_pb_equal(&f.in, name);
        if (f.number == ONNX_NODE_TYPE)
            out->type = f.in;
        else if (f.number == ONNX_NODE_INPUT && !out->first.data)
            out->first = f.in;
    }
    return found;
}

/* The node of the body that writes a name; false where there is none. */
static bool find_writer(const struct loop *l, const struct tdl_pb *name, struct body_node *out)
{
    struct tdl_pb g = l->body;
    struct tdl_pb_field f;

    while (tdl_pb_next(&g, &f))
        if (f.number == ONNX_GRAPH_NODE && writes(&f.in, name, out))
            return true;
    return false;
}

/* How many inputs of the body's nodes it is; many, where there are graphs in these. */
static uint32_t count_readers(const struct loop *l, const struct tdl_pb *name)
{
    struct tdl_pb g = l->body;
    struct tdl_pb_field f, h, a;
    uint32_t count = 0;

    while (tdl_pb_next(&g, &f))
        while (f.number == ONNX_GRAPH_NODE && tdl_pb_next(&f.in, &h)) {
            count += h.number == ONNX_NODE_INPUT && tdl_pb_equal(&h.in, name);
            while (h.number == ONNX_NODE_ATTRIBUTE && tdl_pb_next(&h.in, &a))
                count += a.number == ONNX_ATTRIBUTE_GRAPH ? 2 : 0;
        }
    return count;
}

/* The value of the body that this one is by another name, or in another type, and which nothing
 * else reads. */
static struct tdl_pb source_of(const struct loop *l, struct tdl_pb name)
{
    struct body_node node;

    for (int i = 0; i < 8 && find_writer(l, &name, &node); i++) {
        if ((!tdl_pb_is(&node.type, "Cast") && !tdl_pb_is(&node.type, "Identity")) ||
            count_readers(l, &node.first) != 1)
            break;
        name = node.first;
    }
    return name;
}

static bool joins_rows(const struct body_node *node)
{
    struct tdl_pb m = node->message;
    struct tdl_pb_field f, a;
    int64_t axis = -1;

    while (tdl_pb_next(&m, &f))
        while (f.number == ONNX_NODE_ATTRIBUTE && tdl_pb_next(&f.in, &a))
            if (a.number == ONNX_ATTRIBUTE_INT)
                axis = (int64_t)a.value;
    return tdl_pb_is(&node->type, "Concat") && axis == 0;
}

/* Carried value `i` is joined with what an iteration makes, and read by nothing else that would
 * see what was before: as exporters write a list of tensors, which begins without elements. */
static bool is_joined(const struct loop *l, uint32_t i)
{
    const struct tdl_pb output = source_of(l, l->outputs[1 + i]);
    struct body_node node;

    if (!find_writer(l, &output, &node) || !joins_rows(&node) ||
        count_readers(l, &l->inputs[2 + i]) != 1)
        return false;
    node.first = source_of(l, node.first);
    return tdl_pb_equal(&node.first, &l->inputs[2 + i]);
}

/* How often it runs, unless its condition ends it before. */
static bool read_count(struct onnx_import *im, struct loop *l, int64_t *out, int64_t *condition)
{
    uint32_t count;

    *out = INT64_MAX;
    *condition = 1;
    l->count = onnx_counted_at(im, 0, 0);
    return (!onnx_given(im, 0) || onnx_ints(im, 0, out, 1, &count)) &&
           (!onnx_given(im, 1) || onnx_ints(im, 1, condition, 1, &count));
}

/* A name of the body for a constant. */
static bool name_number(struct onnx_import *im, const struct tdl_pb *name, enum tdl_dtype dtype,
                        int64_t number)
{
    struct tdl_operand *o = tdl_kit_number(&im->kit, dtype, (double)number);
    struct onnx_value *v = o ? onnx_add_value(im, name) : NULL;

    if (v)
        v->operand = o;
    return v && (v->given = true);
}

/* The value that the body has by a name; NULL with the builder in error. */
static struct onnx_value *result(struct onnx_import *im, const struct tdl_pb *name)
{
    struct onnx_value *v = onnx_find(im, name);
    char text[64];

    if (v && onnx_settle(im, v))
        return v;
    if (tdl_builder_status(im->builder) == TDL_OK)
        tdl_kit_damaged(&im->kit, "no node of the body writes '%s'",
                        tdl_pb_text(name, text, sizeof(text)));
    return NULL;
}

/* A row of what is joined: without counts of its own. */
static bool take_row(struct onnx_import *im, struct loop *l, const struct onnx_value *v, uint32_t i)
{
    if (!v->operand || v->wide || v->counts || tdl_kit_rank(v->operand) == TDL_MAX_RANK)
        return tdl_kit_lacks(&im->kit, "rows of a size that is not known or 0, or of too many "
                                       "dimensions");
    l->rows[l->iterations * (l->carried + l->scanned) + i] = v->operand;
    return true;
}

/* Carried on where the iteration is one of the count, else what was before. */
static bool choose(struct onnx_import *im, const struct loop *l, uint64_t before, uint64_t *place)
{
    const struct onnx_value *a = &im->values[*place], *b = &im->values[before];
    struct tdl_operand *number = onnx_count_number(im, l->iterations), *is, *chosen;
    const struct tdl_tensor_params *p, *q;

    if (!number || !a->operand || !b->operand || a->wide || b->wide || a->counts || b->counts)
        return number && tdl_kit_lacks(&im->kit, "a loop of a count that depends on numbers, "
                                                 "which carries sizes on that do, too");
    p = tdl_kit_desc(a->operand);
    q = tdl_kit_desc(b->operand);
    if (p->rank != q->rank || p->dtype != q->dtype ||
        memcmp(p->shape, q->shape, p->rank * sizeof(*p->shape)) != 0)
        return tdl_kit_lacks(&im->kit, "a loop of a count that depends on numbers, and whose "
                                       "values grow");
    is = onnx_reshape(im, tdl_builder_lesser(im->builder, number, l->count), 0, NULL);
    chosen = is ? tdl_builder_where(im->builder, is, a->operand, b->operand) : NULL;
    return onnx_add_nameless(im, chosen, place);
}

static bool take_carried(struct onnx_import *im, struct loop *l, uint32_t i)
{
    const struct onnx_value *v = result(im, &l->outputs[1 + i]);
    const uint64_t before = l->places[i];

    if (!v)
        return false;
    if (l->grows[i])
        return take_row(im, l, v, i);
    l->places[i] = (uint64_t)(v - im->values);
    return !l->count || choose(im, l, before, &l->places[i]);
}

/* Takes from the body the condition, values that are carried on, and rows. */
static bool take_results(struct onnx_import *im, struct loop *l, int64_t *condition)
{
    struct onnx_value *v = result(im, &l->outputs[0]);
    uint32_t count;

    if (!v ||
        !tdl_kit_ints(&im->kit, v->operand, "the condition of the loop", condition, 1, &count))
        return false;
    for (uint32_t i = 0; i < l->carried; i++)
        if (!take_carried(im, l, i))
            return false;
    for (uint32_t i = l->carried; i < l->carried + l->scanned; i++)
        if (!(v = result(im, &l->outputs[1 + i])) || !take_row(im, l, v, i))
            return false;
    return true;
}

static bool spend(struct onnx_import *im, const struct loop *l)
{
    im->looped++;
    im->loop_bytes += l->body.size;
    return (im->looped <= MAX_ITERATIONS && im->loop_bytes <= MAX_BYTES) ||
           tdl_kit_lacks(&im->kit, "loops of more than %d iterations", MAX_ITERATIONS);
}

/* The names that are there, with room for more. */
static bool copy_names(struct onnx_import *im, const struct tdl_map *from, struct tdl_map *out)
{
    const size_t size = from->capacity * sizeof(*from->entries);

    *out = *from;
    out->entries = malloc(size ? size : 1);
    if (!out->entries)
        return tdl_kit_fail_memory(&im->kit);
    if (size)
        memcpy(out->entries, from->entries, size);
    return true;
}

/* The body once, whose names are its own. */
static bool iterate(struct onnx_import *im, struct loop *l, int64_t *condition)
{
    const struct tdl_map outside = im->names;
    const struct onnx_node node = im->node;
    const uint32_t number = im->node_number;
    const bool again = im->again;
    struct tdl_map inside;
    bool ok = spend(im, l) && copy_names(im, &outside, &inside);

    if (!ok)
        return false;
    im->names = inside;
    im->again = true;
    ok = name_number(im, &l->inputs[0], TDL_INT64, l->iterations) &&
         name_number(im, &l->inputs[1], TDL_UINT8, 1);
    for (uint32_t i = 0; ok && i < l->carried; i++)
        ok = onnx_add_alias(im, &l->inputs[2 + i], l->places[i]);
    ok = ok && onnx_add_graph(im, &l->body) && take_results(im, l, condition);
    tdl_map_finish(&im->names);
    im->names = outside;
    im->node = node;
    im->node_number = number;
    im->again = again;
    return ok;
}

/* Rows of all iterations, one behind the other, as output `at`; `joined`: along a dimension that
 * they have. */
static bool give_rows(struct onnx_import *im, const struct loop *l, uint32_t at, bool joined)
{
    const uint32_t results = l->carried + l->scanned;
    struct tdl_operand **rows, *o = NULL, *count = l->count;
    uint32_t shape[TDL_MAX_RANK] = {1};

    if (!onnx_wanted(im, at))
        return true;
    if (l->iterations == 0)
        return tdl_kit_lacks(&im->kit, "rows of a loop that never runs");
    if (!(rows = calloc(l->iterations, sizeof(struct tdl_operand *))))
        return tdl_kit_fail_memory(&im->kit);
    for (uint32_t k = 0; k < l->iterations; k++) {
        struct tdl_operand *row = l->rows[k * results + at];

        memcpy(shape + 1, tdl_kit_shape(row), tdl_kit_rank(row) * sizeof(*shape));
        rows[k] = joined ? row : onnx_reshape(im, row, tdl_kit_rank(row) + 1, shape);
        if (joined && count && k == 0 && shape[1] > 1)
            count = tdl_builder_mul(im->builder, count, onnx_count_number(im, shape[1]));
    }
    if (tdl_builder_status(im->builder) == TDL_OK)
        o = tdl_builder_concat(im->builder, rows, l->iterations, 0);
    free(rows);
    return onnx_give_at(im, at, o) && (!count || onnx_set_count(im, at, 0, count));
}

/* Carried values are known by other names behind the loop. */
static bool give_results(struct onnx_import *im, const struct loop *l)
{
    for (uint32_t i = 0; i < l->carried; i++)
        if (l->grows[i]
                ? !give_rows(im, l, i, true)
                : onnx_wanted(im, i) && !onnx_add_alias(im, &im->node.outputs[i], l->places[i]))
            return false;
    for (uint32_t i = 0; i < l->scanned; i++)
        if (!give_rows(im, l, l->carried + i, false))
            return false;
    return true;
}

bool onnx_add_loop(struct onnx_import *im)
{
    struct loop l = {.rows = NULL};
    int64_t count, condition;
    bool ok = read_body(im, &l) && read_count(im, &l, &count, &condition);

    if (ok && l.count && onnx_paste_masks(im, &l.body, &l.inputs[0], l.count, &ok))
        return ok;
    for (uint32_t i = 0; ok && i < l.carried; i++) {
        struct onnx_value *v =
            onnx_given(im, 2 + i) ? onnx_find(im, &im->node.inputs[2 + i]) : NULL;

        ok = v != NULL || tdl_kit_damaged(&im->kit, "input %u is missing", 2 + i);
        l.places[i] = ok ? (uint64_t)(v - im->values) : 0;
        l.grows[i] = ok && l.count && onnx_is_empty(im, 2 + i) && is_joined(&l, i);
    }
    if (ok &&
        !(l.rows = calloc((size_t)MAX_ITERATIONS * (l.carried + l.scanned + 1), sizeof(*l.rows))))
        ok = tdl_kit_fail_memory(&im->kit);
    for (; ok && condition && l.iterations < count; l.iterations++)
        ok = iterate(im, &l, &condition);
    ok = ok && give_results(im, &l);
    free(l.rows);
    return ok;
}
