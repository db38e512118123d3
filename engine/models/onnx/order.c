/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The order in which nodes are added. ONNX asks for one in which they can run; tools
 * that change models, to float16 for one, do not always keep it. So a node waits for
 * the nodes that write what it reads.
 */
#include "onnx.h"

#include <stdlib.h>

enum state { WAITING, BEGUN, DONE };

struct order {
    struct tdl_pb *nodes;
    uint8_t *states;
    uint32_t *stack;      /* nodes that wait for the one above them */
    struct tdl_pb *rests; /* inputs that each of the stack has not looked at yet */
    uint32_t count;
    struct tdl_map writers; /* nodes by the names of their outputs */
};

static bool collect(struct onnx_import *im, const struct tdl_pb *graph, uint32_t number,
                    struct order *o)
{
    struct tdl_pb g = *graph;
    struct tdl_pb_field f, h;
    uint32_t i = 0;

    while (tdl_pb_next(&g, &f))
        o->count += f.number == number;
    o->nodes = calloc(o->count + (size_t)1, sizeof(*o->nodes));
    o->states = calloc(o->count + (size_t)1, sizeof(*o->states));
    o->stack = calloc(o->count + (size_t)1, sizeof(*o->stack));
    o->rests = calloc(o->count + (size_t)1, sizeof(*o->rests));
    if (!o->nodes || !o->states || !o->stack || !o->rests)
        return tdl_kit_fail_memory(&im->kit);
    for (g = *graph; tdl_pb_next(&g, &f);) {
        if (f.number != number)
            continue;
        for (struct tdl_pb node = o->nodes[i] = f.in; tdl_pb_next(&node, &h);) {
            struct onnx_value *v = h.number == ONNX_NODE_INPUT ? onnx_find(im, &h.in) : NULL;

            if (v)
                v->readers++;
            if (h.number != ONNX_NODE_OUTPUT || h.in.size == 0)
                continue;
            const struct onnx_name key = onnx_name_key(im, &h.in);
            /* The second of two that write one name is refused when it is added. */
            if (!tdl_map_find(&o->writers, &key, sizeof(key)) &&
                !tdl_map_add(&o->writers, &key, sizeof(key), i))
                return tdl_kit_fail_memory(&im->kit);
        }
        i++;
    }
    return true;
}

/* The node that must be added before the one whose fields these are. What it read
 * before is there and stays there: nothing is looked at twice. */
static bool waits_for(struct onnx_import *im, const struct order *o, struct tdl_pb *rest,
                      uint32_t *out)
{
    struct tdl_pb_field f;

    while (tdl_pb_next(rest, &f)) {
        if (f.number != ONNX_NODE_INPUT || f.in.size == 0 || onnx_find(im, &f.in))
            continue;
        const struct onnx_name key = onnx_name_key(im, &f.in);
        const uint64_t *writer = tdl_map_find(&o->writers, &key, sizeof(key));

        if (writer && o->states[*writer] != DONE) {
            *out = (uint32_t)*writer;
            return true;
        }
    }
    return false;
}

static void begin(struct order *o, uint32_t depth, uint32_t i)
{
    o->states[i] = BEGUN;
    o->stack[depth] = i;
    o->rests[depth] = o->nodes[i];
}

/* Node `first`, behind all that it waits for. */
static bool add_behind(struct onnx_import *im, struct order *o, uint32_t first)
{
    uint32_t depth = 0, before;

    begin(o, depth++, first);
    while (depth > 0) {
        const uint32_t i = o->stack[depth - 1];

        if (!waits_for(im, o, &o->rests[depth - 1], &before)) {
            im->node_number = i;
            if (!im->add_node(im, &o->nodes[i]))
                return false;
            o->states[i] = DONE;
            depth--;
            continue;
        }
        if (o->states[before] == BEGUN)
            return tdl_kit_damaged(
                &im->kit, "the model file is damaged: node %u waits for its own output", before);
        begin(o, depth++, before);
    }
    return true;
}

bool onnx_add_nodes(struct onnx_import *im, const struct tdl_pb *graph, uint32_t number)
{
    struct order o = {0};
    bool ok = collect(im, graph, number, &o);

    for (uint32_t i = 0; i < o.count && ok; i++)
        if (o.states[i] == WAITING)
            ok = add_behind(im, &o, i);
    tdl_map_finish(&o.writers);
    free(o.nodes);
    free(o.states);
    free(o.stack);
    free(o.rests);
    return ok;
}
