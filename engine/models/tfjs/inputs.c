/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Inputs and outputs of a graph model, by the names of its signature. */
#include "tfjs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_PICTURE 16 /* px; what is smaller may as well be channels */

/* TensorFlow's ":0", the first output, says nothing. */
void tfjs_copy_name(const char *from, char to[TDL_KIT_NAME])
{
    size_t length = strlen(from), used = 0;

    if (length > 2 && !strcmp(from + length - 2, ":0"))
        length -= 2;
    for (size_t i = 0; i < length && used + 1 < TDL_KIT_NAME; i++)
        if ((unsigned char)from[i] >= 0x20 && from[i] != 0x7f)
            to[used++] = from[i];
    to[used] = '\0';
}

static bool is_placeholder(const struct tfjs_node *n)
{
    return !strcmp(n->type, "Placeholder") || !strcmp(n->type, "PlaceholderWithDefault");
}

/* ------------------------------------------------------------------- shapes */

/* TensorFlow's TensorShapeProto: false where it says nothing of the rank. */
static bool read_dimensions(const json_t *shape, uint32_t *out_rank, int64_t size[TDL_MAX_RANK + 1])
{
    const json_t *dim = json_object_get(shape, "dim");
    uint32_t rank = 0;

    if (!json_is_object(shape) || json_is_true(json_object_get(shape, "unknownRank")))
        return false;
    for (size_t i = 0; i < json_array_size(dim) && rank <= TDL_MAX_RANK; i++) {
        int64_t value = 1;

        tfjs_json_int(json_object_get(json_array_get(dim, i), "size"), &value);
        size[rank++] = value;
    }
    *out_rank = rank;
    return true;
}

/* Channels first: few there, and pictures behind them. */
static bool is_nchw(const struct tdl_kit_input *in)
{
    const int64_t c = in->size[1], h = in->size[2], w = in->size[3];

    return in->rank == 4 && (c == 1 || c == 3 || c == 4) && (h <= 0 || h >= LEAST_PICTURE) &&
           (w <= 0 || w >= LEAST_PICTURE);
}

static bool read_placeholder(struct tfjs_import *im, const struct tfjs_node *n, const json_t *said,
                             struct tdl_kit_input *in, enum tdl_dtype *inside)
{
    json_t *attr = json_object_get(n->json, "attr"), *type;
    const json_t *shape = json_object_get(json_object_get(attr, "shape"), "shape");
    int64_t size[TDL_MAX_RANK + 1], hint[TDL_MAX_RANK + 1];
    uint32_t hints = 0;

    type = json_object_get(json_object_get(attr, "dtype"), "type");
    if (!tfjs_dtype(im, type, inside))
        return false;
    in->dtype = *inside;
    if (json_is_string(type) && !strcmp(json_string_value(type), "DT_UINT8"))
        in->dtype = TDL_UINT8;
    in->has_rank = read_dimensions(shape, &in->rank, size);
    if (in->has_rank && in->rank > TDL_MAX_RANK)
        return tdl_kit_lacks(&im->kit, "the input '%.400s' has more than %d dimensions", in->name,
                             TDL_MAX_RANK);
    if (!in->has_rank)
        in->rank = 0;
    memcpy(in->size, size, in->rank * sizeof(*size));
    if (read_dimensions(json_object_get(said, "tensorShape"), &hints, hint) && hints == in->rank)
        memcpy(in->hint, hint, hints * sizeof(*hint));
    in->layout = is_nchw(in) ? TDL_LAYOUT_NCHW : TDL_LAYOUT_NHWC;
    return true;
}

/* -------------------------------------------------------------------- inputs */

/* The picture as operators of TensorFlow.js see it: NHWC, bytes as int32. */
static bool settle_input(struct tfjs_import *im, struct tfjs_node *n, struct tdl_operand *x,
                         enum tdl_dtype dtype)
{
    if (x && tdl_kit_desc(x)->dtype != dtype)
        x = tdl_builder_cast(im->builder, x, dtype);
    im->node = n;
    n->state = TFJS_DONE;
    return tfjs_give(im, x);
}

/* In a trial it has one element where the shape is open, and then that of its output. */
static bool bind_state(struct tfjs_import *im, struct tfjs_state *state,
                       const struct tdl_kit_input *in, struct tdl_tensor_params *out,
                       struct tdl_kit_open *open)
{
    struct tdl_kit_open own = {0};

    if (!tdl_kit_bind(&im->kit, in, out, &own))
        return false;
    state->open = own.count > 0;
    state->any_rank = state->open && !in->has_rank;
    if (!state->open || im->trial)
        return true;
    if (!state->known)
        return tdl_kit_bind(&im->kit, in, out, open);
    out->rank = state->shape.rank;
    memcpy(out->shape, state->shape.shape, sizeof(out->shape));
    return true;
}

static bool add_input(struct tfjs_import *im, struct tfjs_node *n, const char *key,
                      const json_t *said, struct tdl_kit_open *open)
{
    struct tdl_kit_input in = {0};
    struct tdl_tensor_params desc;
    enum tdl_dtype inside;
    struct tdl_operand *x;

    tfjs_copy_name(key, in.name);
    const struct tdl_model_number *number = tdl_kit_find_number(&im->kit, in.name);
    if (!read_placeholder(im, n, said, &in, &inside))
        return false;
    if (number && !in.has_rank)
        in.has_rank = true; /* a scalar */
    struct tfjs_state *state = number ? NULL : tfjs_find_state(im, key);
    if (!(state ? bind_state(im, state, &in, &desc, open)
                : tdl_kit_bind(&im->kit, &in, &desc, open)))
        return false;
    tdl_builder_set_input_layout(im->kit.builder, in.layout);
    if (number)
        x = tdl_kit_fill(&im->kit, &desc, number->value);
    else if (im->trial)
        x = tdl_builder_input(im->builder, in.name, &desc);
    else
        x = tdl_kit_add_input(&im->kit, &in, &desc);
    tdl_builder_set_input_layout(im->builder, TDL_LAYOUT_NHWC);
    return settle_input(im, n, x, inside);
}

/* A value that the file has for it, unless the caller says more. */
static bool has_default(struct tfjs_import *im, const struct tfjs_node *n, const char *key)
{
    char name[TDL_KIT_NAME];

    tfjs_copy_name(key, name);
    return !strcmp(n->type, "PlaceholderWithDefault") && n->data_inputs == 1 &&
           !tdl_kit_find_number(&im->kit, name);
}

bool tfjs_add_inputs(struct tfjs_import *im)
{
    json_t *inputs = json_object_get(im->signature, "inputs"), *said;
    struct tdl_kit_open open = {0};
    const char *key;

    json_object_foreach(inputs, key, said)
    {
        const char *name = json_string_value(json_object_get(said, "name"));
        uint32_t index;
        struct tfjs_node *n = tfjs_find_node(im, name ? name : key, &index);

        if (!n || !is_placeholder(n) || n->state != TFJS_WAITING)
            return tdl_kit_damaged(&im->kit,
                                   "the model file is damaged: its input '%.200s' is no node that "
                                   "takes one",
                                   key);
        if (!has_default(im, n, key) && !add_input(im, n, key, said, &open))
            return false;
    }
    for (uint32_t i = 0; i < im->node_count; i++) {
        struct tfjs_node *n = &im->nodes[i];

        if (is_placeholder(n) && n->state == TFJS_WAITING && !has_default(im, n, n->name) &&
            !add_input(im, n, n->name, NULL, &open))
            return false;
    }
    return tdl_kit_check_bound(&im->kit, &open);
}

/* ------------------------------------------------------------------- outputs */

static bool add_output(struct tfjs_import *im, const char *key, const char *reference)
{
    char name[TDL_KIT_NAME];
    struct tfjs_value *v = tfjs_require(im, reference);

    tfjs_copy_name(key, name);
    if (!v)
        return false;
    if (!v->operand)
        return tdl_kit_lacks(&im->kit, "the output '%.400s' has no elements", name);
    if (v->block[0]) {
        v->operand = tdl_kit_exchange_blocks(&im->kit, v->operand, v->block, 2, false);
        v->block[0] = v->block[1] = 0;
    }
    return tdl_model_output(im->builder, im->kit.source, name, v->operand);
}

/* Without a signature: what no other node reads. */
static bool add_ends(struct tfjs_import *im)
{
    bool *read = calloc(im->node_count, sizeof(*read)), ok = true;
    uint32_t index, count = 0;

    if (!read)
        return tdl_kit_fail_memory(&im->kit);
    for (uint32_t i = 0; i < im->node_count; i++)
        for (size_t k = 0; k < json_array_size(im->nodes[i].inputs); k++) {
            const char *reference = json_string_value(json_array_get(im->nodes[i].inputs, k));
            const struct tfjs_node *from = tfjs_find_node(im, reference, &index);

            if (from)
                read[from - im->nodes] = true;
        }
    for (uint32_t i = 0; i < im->node_count && ok; i++) {
        const struct tfjs_node *n = &im->nodes[i];

        if (read[i] || !strcmp(n->type, "NoOp") || !strcmp(n->type, "Const") || is_placeholder(n))
            continue;
        ok = add_output(im, n->name, n->name);
        count++;
    }
    free(read);
    return ok && (count > 0 || tdl_kit_damaged(&im->kit, "the model has no outputs"));
}

bool tfjs_add_outputs(struct tfjs_import *im)
{
    json_t *outputs = json_object_get(im->signature, "outputs"), *said;
    const char *key;

    if (json_object_size(outputs) == 0)
        return add_ends(im);
    json_object_foreach(outputs, key, said)
    {
        const char *name = json_string_value(json_object_get(said, "name"));

        if (!add_output(im, key, name ? name : key))
            return false;
    }
    return true;
}
