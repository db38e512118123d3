/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Values by the names of an ONNX graph, and inputs and outputs of nodes. */
#include "onnx.h"

#include "shape.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------------------- names */

struct onnx_name onnx_name_key(const struct onnx_import *im, const struct tdl_pb *name)
{
    return (struct onnx_name){
        {tdl_hash_bytes(TDL_HASH_START ^ im->seed, name->data, name->size),
         tdl_hash_bytes(~TDL_HASH_START ^ im->seed, name->data, name->size)},
        name->size,
    };
}

struct onnx_value *onnx_find(struct onnx_import *im, const struct tdl_pb *name)
{
    const struct onnx_name key = onnx_name_key(im, name);
    const uint64_t *place = tdl_map_find(&im->names, &key, sizeof(key));
    struct onnx_value *v = place ? &im->values[*place] : NULL;

    if (v && name->size > 0 && memcmp(v->name.data, name->data, name->size) != 0)
        return NULL;
    while (v && v->alias)
        v = &im->values[v->alias - 1];
    return v;
}

/* For one more value, which may move the others. */
static bool make_room(struct onnx_import *im)
{
    if (im->value_count < im->value_capacity)
        return true;
    const uint32_t capacity = im->value_capacity ? 2 * im->value_capacity : 256;
    struct onnx_value *more = realloc(im->values, capacity * sizeof(*more));

    if (more) {
        im->values = more;
        im->value_capacity = capacity;
    }
    return more != NULL;
}

struct onnx_value *onnx_add_value(struct onnx_import *im, const struct tdl_pb *name)
{
    const struct onnx_name key = onnx_name_key(im, name);
    char text[64];

    if (tdl_map_find(&im->names, &key, sizeof(key))) {
        tdl_kit_damaged(&im->kit,
                        "the model file is damaged: two values are named "
                        "'%s'",
                        tdl_pb_text(name, text, sizeof(text)));
        return NULL;
    }
    if (!make_room(im) || !tdl_map_add(&im->names, &key, sizeof(key), im->value_count)) {
        tdl_kit_fail_memory(&im->kit);
        return NULL;
    }
    im->values[im->value_count] = (struct onnx_value){.name = *name};
    return &im->values[im->value_count++];
}

bool onnx_add_nameless(struct onnx_import *im, struct tdl_operand *operand, uint64_t *out_place)
{
    if (!operand || !make_room(im))
        return operand && tdl_kit_fail_memory(&im->kit);
    *out_place = im->value_count;
    im->values[im->value_count++] = (struct onnx_value){.operand = operand, .given = true};
    return true;
}

bool onnx_add_alias(struct onnx_import *im, const struct tdl_pb *name, uint64_t place)
{
    struct onnx_value *v = onnx_add_value(im, name);

    if (v)
        v->alias = place + 1;
    return v != NULL;
}

bool onnx_settle(struct onnx_import *im, struct onnx_value *v)
{
    struct onnx_tensor t;

    if (v->given)
        return true;
    if (v->turned)
        return v->given = (v->operand = onnx_turned_back(im, v)) != NULL;
    if (!v->initializer.data) {
        char text[64];

        return tdl_kit_damaged(&im->kit,
                               "the model file is damaged: '%s' is read before a node writes it",
                               tdl_pb_text(&v->name, text, sizeof(text)));
    }
    if (!onnx_tensor_read(im, &v->initializer, &t))
        return false;
    t.movable = !v->again;
    v->empty = t.desc;
    const void *data = t.count > 0 ? onnx_tensor_data(im, &t) : NULL;
    if (t.count > 0 && !(v->operand = onnx_tensor_operand_of(im, &t, data)))
        return false;
    if (t.type == ONNX_FLOAT16) {
        v->empty.dtype = TDL_FLOAT32;
        v->stored = data;
    }
    return v->given = true;
}

struct tdl_operand *onnx_reshape(struct onnx_import *im, struct tdl_operand *o, uint32_t rank,
                                 const uint32_t *shape)
{
    return o ? tdl_builder_reshape(im->builder, o, rank, shape) : NULL;
}

/* -------------------------------------------------------------------- inputs */

bool onnx_given(const struct onnx_import *im, uint32_t i)
{
    return i < im->node.input_count && im->node.inputs[i].size > 0;
}

bool onnx_wanted(const struct onnx_import *im, uint32_t i)
{
    return i < im->node.output_count && im->node.outputs[i].size > 0;
}

/* The value of input `i`, read; NULL with the builder in error. */
static struct onnx_value *input(struct onnx_import *im, uint32_t i)
{
    struct onnx_value *v;
    char text[64];

    if (!onnx_given(im, i)) {
        tdl_kit_damaged(&im->kit, "input %u is missing", i);
        return NULL;
    }
    v = onnx_find(im, &im->node.inputs[i]);
    if (!v) {
        tdl_kit_damaged(
            &im->kit,
            "the model file is damaged: input %u, '%s', is no value of the graph before it", i,
            tdl_pb_text(&im->node.inputs[i], text, sizeof(text)));
        return NULL;
    }
    if (v->list) {
        tdl_kit_damaged(&im->kit, "input %u is a list of tensors", i);
        return NULL;
    }
    if (!onnx_takes_wide(im) && !onnx_refuse_wide(im, v))
        return NULL;
    return onnx_settle(im, v) ? v : NULL;
}

static struct onnx_value *input_with_elements(struct onnx_import *im, uint32_t i)
{
    struct onnx_value *v = input(im, i);

    if (v && !v->operand)
        tdl_kit_lacks(&im->kit, "input %u has no elements", i);
    return v && v->operand ? v : NULL;
}

struct tdl_operand *onnx_operand(struct onnx_import *im, uint32_t i)
{
    struct onnx_value *v = input_with_elements(im, i);

    if (v && im->trial && v->range[0])
        return v->range[im->trial->which];
    if (v && i < sizeof(im->node.instead) / sizeof(*im->node.instead) && im->node.instead[i])
        return im->node.instead[i];
    return v ? v->operand : NULL;
}

bool onnx_optional(struct onnx_import *im, uint32_t i, struct tdl_operand **out)
{
    *out = NULL;
    return !onnx_given(im, i) || (*out = onnx_operand(im, i)) != NULL;
}

bool onnx_desc(struct onnx_import *im, uint32_t i, struct tdl_tensor_params *out)
{
    const struct onnx_value *v = input(im, i);

    if (!v)
        return false;
    *out = v->operand ? *tdl_kit_desc(v->operand) : v->empty;
    return true;
}

bool onnx_is_empty(struct onnx_import *im, uint32_t i)
{
    struct onnx_value *v = onnx_given(im, i) ? onnx_find(im, &im->node.inputs[i]) : NULL;

    return v && !v->list && onnx_settle(im, v) && !v->operand;
}

bool onnx_is_constant(struct onnx_import *im, uint32_t i)
{
    struct onnx_value *v = onnx_given(im, i) ? onnx_find(im, &im->node.inputs[i]) : NULL;

    return v && !v->list && onnx_settle(im, v) &&
           (!v->operand || tdl_builder_evaluate(im->builder, v->operand));
}

enum { WHAT = 88 }; /* bytes of "input 1, 'name'," */

/* The operand of input `i` for the kit, which names it; NULL with the builder in error, or
 * without one where it has no elements. */
static struct tdl_operand *known(struct onnx_import *im, uint32_t i, char what[WHAT])
{
    const struct onnx_value *v = input(im, i);
    char name[64] = "";

    if (onnx_given(im, i))
        tdl_pb_text(&im->node.inputs[i], name, sizeof(name));
    snprintf(what, WHAT, "input %u, '%s',", i, name);
    if (v && v->range[0])
        return v->range[im->trial ? im->trial->which : 0];
    return v ? v->operand : NULL;
}

bool onnx_floats(struct onnx_import *im, uint32_t i, double *list, uint32_t capacity,
                 uint32_t *out_count)
{
    char what[WHAT];
    struct tdl_operand *o = known(im, i, what);

    *out_count = 0;
    return o ? tdl_kit_floats(&im->kit, o, what, list, capacity, out_count)
             : tdl_builder_status(im->builder) == TDL_OK;
}

bool onnx_ints(struct onnx_import *im, uint32_t i, int64_t *list, uint32_t capacity,
               uint32_t *out_count)
{
    char what[WHAT];
    struct tdl_operand *o = known(im, i, what);

    *out_count = 0;
    return o ? tdl_kit_ints(&im->kit, o, what, list, capacity, out_count)
             : tdl_builder_status(im->builder) == TDL_OK;
}

/* ------------------------------------------------------------------- outputs */

static bool give(struct onnx_import *im, uint32_t i, struct tdl_operand *operand, bool evaluate)
{
    struct onnx_value *v;

    if (!operand || tdl_builder_status(im->builder) != TDL_OK)
        return false;
    if (!onnx_wanted(im, i))
        return true;
    if (im->trial) {
        if (i < ONNX_TRIED)
            im->trial->outputs[i] = operand;
        return true;
    }
    if (evaluate)
        tdl_builder_evaluate(im->builder, operand);
    v = onnx_add_value(im, &im->node.outputs[i]);
    if (!v)
        return false;
    v->operand = operand;
    v->kept = !evaluate;
    return v->given = true;
}

bool onnx_give_at(struct onnx_import *im, uint32_t i, struct tdl_operand *operand)
{
    return give(im, i, operand, true);
}

bool onnx_give_weights(struct onnx_import *im, struct tdl_operand *operand)
{
    enum { LARGE = 4096 }; /* elements: of sizes and axes there are fewer */
    const struct tdl_tensor_params *desc = tdl_kit_desc(operand);

    return give(im, 0, operand, desc && tdl_tensor_params_size(desc) <= 4 * LARGE);
}

bool onnx_give(struct onnx_import *im, struct tdl_operand *operand)
{
    return onnx_give_at(im, 0, operand);
}

bool onnx_give_like_input(struct onnx_import *im, struct tdl_operand *y)
{
    const struct tdl_operand *x = onnx_operand(im, 0);

    if (y && tdl_kit_rank(y) != tdl_kit_rank(x))
        y = onnx_reshape(im, y, tdl_kit_rank(x), tdl_kit_shape(x));
    return onnx_give(im, y);
}

bool onnx_give_empty(struct onnx_import *im, uint32_t i, const struct tdl_tensor_params *desc)
{
    const struct tdl_tensor_params empty = *desc; /* of another value, it may be, which moves */

    if (im->trial)
        return true;
    struct onnx_value *v = onnx_wanted(im, i) ? onnx_add_value(im, &im->node.outputs[i]) : NULL;

    if (!v)
        return !onnx_wanted(im, i);
    v->empty = empty;
    return v->given = true;
}
