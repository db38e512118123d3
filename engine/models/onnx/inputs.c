/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Inputs of ONNX graphs: their shapes, with what the file leaves open bound. */
#include "onnx.h"

#include <stdlib.h>
#include <string.h>

#define PICTURE_CHANNELS 3 /* of what says nothing of its shape */
#define LEAST_PICTURE 16   /* px; what is smaller may as well be channels */

struct input {
    struct tdl_pb name;
    struct tdl_kit_input kit; /* has_rank: the file has a shape */
    int64_t type;
    bool is_tensor, too_many;
};

static bool read_dimensions(struct tdl_pb shape, struct input *in)
{
    struct tdl_kit_input *kit = &in->kit;
    struct tdl_pb_field f, g;

    while (tdl_pb_next(&shape, &f)) {
        struct tdl_pb name = {0};
        int64_t size = 0;

        if (f.number != ONNX_SHAPE_DIMENSION)
            continue;
        while (tdl_pb_next(&f.in, &g)) {
            if (g.number == ONNX_DIMENSION_VALUE)
                size = (int64_t)g.value;
            else if (g.number == ONNX_DIMENSION_NAME)
                name = g.in;
        }
        in->too_many |= kit->rank == TDL_MAX_RANK;
        if (kit->rank < TDL_MAX_RANK) {
            kit->size[kit->rank] = size;
            kit->named[kit->rank].data = (const char *)name.data;
            kit->named[kit->rank++].size = name.size;
        }
        shape.broken |= f.in.broken;
    }
    return !shape.broken;
}

static bool read_type(struct tdl_pb type, struct input *in)
{
    struct tdl_pb_field f, g;
    bool ok = true;

    while (tdl_pb_next(&type, &f)) {
        if (f.number != ONNX_TYPE_TENSOR)
            continue;
        in->is_tensor = true;
        while (ok && tdl_pb_next(&f.in, &g)) {
            if (g.number == ONNX_TENSOR_TYPE_ELEMENT)
                in->type = (int64_t)g.value;
            else if (g.number == ONNX_TENSOR_TYPE_SHAPE)
                ok = in->kit.has_rank = read_dimensions(g.in, in);
        }
        ok &= !f.in.broken;
    }
    return ok && !type.broken;
}

static bool read_input(struct onnx_import *im, struct tdl_pb message, struct input *in)
{
    struct tdl_pb_field f;
    bool ok = true;

    *in = (struct input){0};
    while (ok && tdl_pb_next(&message, &f)) {
        if (f.number == ONNX_VALUE_NAME)
            in->name = f.in;
        else if (f.number == ONNX_VALUE_TYPE)
            ok = read_type(f.in, in);
    }
    tdl_pb_name(&in->name, in->kit.name, sizeof(in->kit.name));
    return (ok && !message.broken) || onnx_fail_damaged(im, "an input");
}

/* --------------------------------------------------------------- what is open */

/* Channels last: few there, and pictures before them. */
static bool is_nhwc(const struct tdl_kit_input *in)
{
    const int64_t h = in->size[1], w = in->size[2], channels = in->size[3];

    return in->rank == 4 && (channels == 1 || channels == 3 || channels == 4) &&
           (h <= 0 || h >= LEAST_PICTURE) && (w <= 0 || w >= LEAST_PICTURE);
}

/* Are the picture's height and width one size to the file, and two to the caller? By their
 * places they may be given nevertheless, as names can be careless. */
static bool check_square(struct onnx_import *im, const struct tdl_kit_input *in)
{
    const uint32_t height = is_nhwc(in) ? 1 : 2, width = height + 1, *size = im->kit.params->size;
    const size_t length = in->named[height].size;

    if (in->rank != 4 || in->size[height] > 0 || in->size[width] > 0 || length == 0 ||
        length != in->named[width].size ||
        memcmp(in->named[height].data, in->named[width].data, length) != 0 || size[0] == size[1] ||
        tdl_kit_said(&im->kit, in, height) || tdl_kit_said(&im->kit, in, width))
        return true;
    return tdl_kit_refuse(&im->kit,
                          "height and width of the input '%.200s' are one size, '%.*s', and %ux%u "
                          "px were asked for: give it pictures as high as wide",
                          in->name, (int)(length < 64 ? length : 64), in->named[height].data,
                          size[1], size[0]);
}

/* ---------------------------------------------------------------------- inputs */

static bool add_input(struct onnx_import *im, struct input *input, struct tdl_kit_open *open)
{
    struct tdl_kit_input *in = &input->kit;
    const struct tdl_model_number *number = tdl_kit_find_number(&im->kit, in->name);
    struct tdl_tensor_params desc;
    struct onnx_value *v;

    if (!input->is_tensor)
        return tdl_kit_lacks(&im->kit, "the input '%.400s' is no tensor; libtdl takes tensors only",
                             in->name);
    if (input->too_many)
        return tdl_kit_lacks(&im->kit, "the input '%.400s' has more than %d dimensions", in->name,
                             TDL_MAX_RANK);
    in->layout = is_nhwc(in) ? TDL_LAYOUT_NHWC : TDL_LAYOUT_NCHW;
    in->has_rank |= number != NULL; /* a scalar */
    if (!in->has_rank) {            /* a picture, if nobody says more */
        in->guess = 4;
        in->hint[1] = PICTURE_CHANNELS;
    }
    if (!onnx_dtype(im, input->type, &in->dtype) || !tdl_kit_bind(&im->kit, in, &desc, open) ||
        !check_square(im, in))
        return false;
    v = onnx_add_value(im, &input->name);
    if (!v)
        return false;
    if (number) {
        v->operand = tdl_kit_fill(&im->kit, &desc, number->value);
        return v->given = v->operand != NULL;
    }
    if (input->type == ONNX_FLOAT16)
        desc.dtype = TDL_FLOAT16; /* as the file says; inside it is float32 */
    tdl_builder_set_input_layout(im->builder, in->layout);
    v->operand = tdl_kit_add_input(&im->kit, in, &desc);
    tdl_builder_set_input_layout(im->builder, TDL_LAYOUT_NCHW);
    if (v->operand && tdl_kit_desc(v->operand)->dtype == TDL_FLOAT16)
        v->operand = tdl_builder_cast(im->builder, v->operand, TDL_FLOAT32);
    return v->given = v->operand != NULL;
}

bool onnx_add_inputs(struct onnx_import *im, const struct tdl_pb *graph)
{
    struct tdl_pb g = *graph;
    struct tdl_pb_field f;
    struct tdl_kit_open open = {0};
    struct input in;

    while (tdl_pb_next(&g, &f)) {
        if (f.number != ONNX_GRAPH_INPUT)
            continue;
        if (!read_input(im, f.in, &in))
            return false;
        /* Older files list initializers among the inputs. */
        const struct onnx_value *v = onnx_find(im, &in.name);
        if (!(v && v->initializer.data) && !add_input(im, &in, &open))
            return false;
    }
    return tdl_kit_check_bound(&im->kit, &open);
}

/* ------------------------------------------------------------ declared shapes */

/* Finds them all once: a search for each node would take long in a large file. */
static bool note_declared(struct onnx_import *im)
{
    struct tdl_pb g = im->graph, v;
    struct tdl_pb_field f, h;
    size_t count = 0, i = 0;

    while (tdl_pb_next(&g, &f))
        count += f.number == ONNX_GRAPH_VALUE_INFO || f.number == ONNX_GRAPH_OUTPUT;
    im->declared = calloc(count + 1, sizeof(*im->declared));
    for (g = im->graph; im->declared && i < count && tdl_pb_next(&g, &f);) {
        if (f.number != ONNX_GRAPH_VALUE_INFO && f.number != ONNX_GRAPH_OUTPUT)
            continue;
        im->declared[i] = v = f.in;
        while (tdl_pb_next(&v, &h)) {
            const struct onnx_name key = onnx_name_key(im, &h.in);

            if (h.number == ONNX_VALUE_NAME &&
                !tdl_map_find(&im->declared_names, &key, sizeof(key)) &&
                !tdl_map_add(&im->declared_names, &key, sizeof(key), i))
                return tdl_kit_fail_memory(&im->kit);
        }
        i++;
    }
    return im->declared || tdl_kit_fail_memory(&im->kit);
}

bool onnx_declared_shape(struct onnx_import *im, uint32_t rank, uint32_t *shape)
{
    struct input in;

    /* Names inside of functions and branches are others. */
    if (im->call || im->depth != 1 || !onnx_wanted(im, 0) || (!im->declared && !note_declared(im)))
        return false;
    const struct onnx_name key = onnx_name_key(im, &im->node.outputs[0]);
    const uint64_t *place = tdl_map_find(&im->declared_names, &key, sizeof(key));
    if (!place || !read_input(im, im->declared[*place], &in) || !in.kit.has_rank || in.too_many ||
        in.kit.rank != rank)
        return false;
    for (uint32_t i = 0; i < rank; i++) {
        const int64_t size = in.kit.size[i];

        shape[i] = size > 0 && size <= INT32_MAX ? (uint32_t)size : 0;
    }
    return true;
}

void onnx_forget_declared(struct onnx_import *im)
{
    free(im->declared);
    tdl_map_finish(&im->declared_names);
}
