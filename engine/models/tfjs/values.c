/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Inputs of the node that is being added, and what it gives. */
#include "tfjs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_OUTPUTS 4096 /* of one node */

/* -------------------------------------------------------------------- inputs */

struct tfjs_node *tfjs_find_node(struct tfjs_import *im, const char *reference, uint32_t *out_index)
{
    const char *name = reference + (reference[0] == '^'), *colon = strrchr(name, ':');
    size_t length = strlen(name);
    unsigned long index = 0;

    if (colon && colon[1] && strspn(colon + 1, "0123456789") == strlen(colon + 1)) {
        index = strtoul(colon + 1, NULL, 10);
        length = (size_t)(colon - name);
    }
    const json_t *place = json_object_getn(im->node_names, name, length);
    *out_index = index > UINT32_MAX ? UINT32_MAX : (uint32_t)index;
    return place ? &im->nodes[json_integer_value(place)] : NULL;
}

struct tfjs_value *tfjs_in_value(struct tfjs_import *im, uint32_t i)
{
    const char *reference = json_string_value(json_array_get(im->node->inputs, i));
    uint32_t index = 0;
    struct tfjs_node *from = reference ? tfjs_find_node(im, reference, &index) : NULL;

    if (from && index < from->value_count && from->values[index].given)
        return &from->values[index];
    tdl_kit_damaged(&im->kit, "the model file is damaged: input %u, '%.200s', is no value", i,
                    reference ? reference : "");
    return NULL;
}

struct tdl_operand *tfjs_operand(struct tfjs_import *im, uint32_t i)
{
    struct tfjs_value *v = tfjs_in_value(im, i);

    if (!v)
        return NULL;
    if (!v->operand) {
        tdl_kit_lacks(&im->kit, "input %u has no elements", i);
        return NULL;
    }
    if (v->block[0]) { /* nobody made a dilation of it */
        v->operand = tdl_kit_exchange_blocks(&im->kit, v->operand, v->block, 2, false);
        v->block[0] = v->block[1] = 0;
    }
    return v->operand;
}

bool tfjs_is_empty(struct tfjs_import *im, uint32_t i)
{
    const struct tfjs_value *v = tfjs_in_value(im, i);

    return v && !v->operand;
}

/* "input 1, 'name'," for messages. */
static void name_input(struct tfjs_import *im, uint32_t i, char *text, size_t size)
{
    const char *name = json_string_value(json_array_get(im->node->inputs, i));

    snprintf(text, size, "input %u, '%.60s',", i, name ? name : "");
}

bool tfjs_ints(struct tfjs_import *im, uint32_t i, int64_t *list, uint32_t capacity,
               uint32_t *out_count)
{
    const struct tfjs_value *v = tfjs_in_value(im, i);
    char what[88];

    *out_count = 0;
    if (!v || !v->operand)
        return v != NULL;
    name_input(im, i, what, sizeof(what));
    return tdl_kit_ints(&im->kit, v->operand, what, list, capacity, out_count);
}

bool tfjs_int_at(struct tfjs_import *im, uint32_t i, int64_t *out)
{
    uint32_t count;

    if (!tfjs_ints(im, i, out, 1, &count))
        return false;
    return count == 1 || tdl_kit_damaged(&im->kit, "input %u has no number", i);
}

bool tfjs_floats(struct tfjs_import *im, uint32_t i, double *list, uint32_t capacity,
                 uint32_t *out_count)
{
    const struct tfjs_value *v = tfjs_in_value(im, i);
    char what[88];

    *out_count = 0;
    if (!v || !v->operand)
        return v != NULL;
    name_input(im, i, what, sizeof(what));
    return tdl_kit_floats(&im->kit, v->operand, what, list, capacity, out_count);
}

bool tfjs_shape_at(struct tfjs_import *im, uint32_t i, uint32_t *shape, uint32_t *out_rank)
{
    int64_t list[TDL_MAX_RANK];

    if (!tfjs_ints(im, i, list, TDL_MAX_RANK, out_rank))
        return false;
    for (uint32_t d = 0; d < *out_rank; d++) {
        if (list[d] < 1 || list[d] > INT32_MAX)
            return tdl_kit_lacks(&im->kit, "a shape with %lld elements in dimension %u",
                                 (long long)list[d], d);
        shape[d] = (uint32_t)list[d];
    }
    return true;
}

/* ------------------------------------------------------------------- outputs */

bool tfjs_give_value(struct tfjs_import *im, uint32_t i, const struct tfjs_value *value)
{
    struct tfjs_node *n = im->node;
    const struct tfjs_value copy = *value; /* it may lie in what moves here */

    if (i >= MAX_OUTPUTS)
        return tdl_kit_lacks(&im->kit, "a node with more than %d outputs", MAX_OUTPUTS);
    if (i >= n->value_count) {
        struct tfjs_value *more = realloc(n->values, (i + (size_t)1) * sizeof(*more));

        if (!more)
            return tdl_kit_fail_memory(&im->kit);
        memset(more + n->value_count, 0, (i + (size_t)1 - n->value_count) * sizeof(*more));
        n->values = more;
        n->value_count = i + 1;
    }
    n->values[i] = copy;
    n->values[i].given = true;
    return true;
}

bool tfjs_give_at(struct tfjs_import *im, uint32_t i, struct tdl_operand *operand)
{
    struct tfjs_value value = {.operand = tdl_kit_settle(&im->kit, operand)};

    if (!value.operand || tdl_builder_status(im->builder) != TDL_OK)
        return false;
    return tfjs_give_value(im, i, &value);
}

bool tfjs_give(struct tfjs_import *im, struct tdl_operand *operand)
{
    return tfjs_give_at(im, 0, operand);
}

bool tfjs_give_empty(struct tfjs_import *im, uint32_t i, const struct tdl_tensor_params *desc)
{
    const struct tfjs_value value = {.empty = *desc};

    return tfjs_give_value(im, i, &value);
}

/* ------------------------------------------------------------------- operands */

struct tdl_operand *tfjs_reshape(struct tfjs_import *im, struct tdl_operand *x, uint32_t rank,
                                 const uint32_t *shape)
{
    return x ? tdl_builder_reshape(im->builder, x, rank, shape) : NULL;
}
