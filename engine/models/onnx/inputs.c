/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Inputs of ONNX graphs: their shapes, with what the file leaves open bound. */
#include "onnx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of an input, with its NUL; one byte more than the builder takes, which says so. */
#define MAX_NAME (TDL_MAX_NAME + 2)

#define PICTURE_CHANNELS 3 /* of what says nothing of its shape */
#define LEAST_PICTURE 16   /* px; what is smaller may as well be channels */

struct dimension {
    int64_t size; /* 0 or less: open */
    struct tdl_pb name;
};

struct input {
    struct tdl_pb name;
    char text[MAX_NAME];
    int64_t type;
    bool is_tensor, has_shape;
    uint32_t rank;
    struct dimension dimensions[TDL_MAX_RANK];
    bool too_many;
};

static bool read_dimensions(struct tdl_pb shape, struct input *in)
{
    struct tdl_pb_field f, g;

    while (tdl_pb_next(&shape, &f)) {
        struct dimension d = {0};

        if (f.number != ONNX_SHAPE_DIMENSION)
            continue;
        while (tdl_pb_next(&f.in, &g)) {
            if (g.number == ONNX_DIMENSION_VALUE)
                d.size = (int64_t)g.value;
            else if (g.number == ONNX_DIMENSION_NAME)
                d.name = g.in;
        }
        if (in->rank < TDL_MAX_RANK)
            in->dimensions[in->rank++] = d;
        else
            in->too_many = true;
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
                ok = in->has_shape = read_dimensions(g.in, in);
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
    tdl_pb_name(&in->name, in->text, sizeof(in->text));
    return (ok && !message.broken) || onnx_fail_damaged(im, "an input");
}

/* --------------------------------------------------------------- what is open */

/* The size that the caller gave dimension `i`, by the file's name or by its place. */
static uint32_t bound_size(struct onnx_import *im, const struct input *in, uint32_t i)
{
    char place[MAX_NAME + 16];

    snprintf(place, sizeof(place), "%s:%u", in->text, i);
    for (uint32_t k = 0; k < im->kit.params->dimension_count; k++) {
        const struct tdl_model_dimension *d = &im->kit.params->dimensions[k];

        if (d->name && (!strcmp(d->name, place) || (in->dimensions[i].name.size > 0 &&
                                                    tdl_pb_is(&in->dimensions[i].name, d->name)))) {
            im->kit.bound |= UINT64_C(1) << (k % 64);
            return d->size;
        }
    }
    return 0;
}

/* Channels last: few there, and pictures before them. */
static bool is_nhwc(const struct input *in)
{
    const int64_t h = in->dimensions[1].size, w = in->dimensions[2].size;
    const int64_t channels = in->dimensions[3].size;

    return in->rank == 4 && (channels == 1 || channels == 3 || channels == 4) &&
           (h <= 0 || h >= LEAST_PICTURE) && (w <= 0 || w >= LEAST_PICTURE);
}

static uint32_t default_size(const struct onnx_import *im, const struct input *in, uint32_t i)
{
    const uint32_t height = is_nhwc(in) ? 1 : 2;

    if (in->rank == 4 && (i == height || i == height + 1))
        return im->kit.params->size[i - height];
    if (!in->has_shape && in->rank == 4 && i == 1)
        return PICTURE_CHANNELS;
    return i == 0 && in->rank > 1 ? 1 : 0;
}

/* What is still open, of all inputs: told at once. */
struct open_sizes {
    uint32_t count, dimension;
    char input[MAX_NAME], names[640]; /* the first one's; "'h', 'w'" */
};

static void note_open(const struct input *in, uint32_t i, struct open_sizes *open)
{
    const size_t used = strlen(open->names);
    char name[MAX_NAME + 16], quoted[sizeof(name) + 2];

    if (in->dimensions[i].name.size > 0)
        tdl_pb_name(&in->dimensions[i].name, name, sizeof(name));
    else
        snprintf(name, sizeof(name), "%s:%u", in->text, i);
    snprintf(quoted, sizeof(quoted), "'%s'", name);
    if (strstr(open->names, quoted))
        return;
    if (open->count++ == 0) {
        memcpy(open->input, in->text, sizeof(open->input));
        open->dimension = i;
    }
    if (used + strlen(quoted) + 8 < sizeof(open->names)) /* ", " and ", ..." have room */
        stpcpy(used ? stpcpy(open->names + used, ", ") : open->names, quoted);
    else if (!strstr(open->names, "..."))
        stpcpy(open->names + used, ", ...");
}

/* A name that the caller bound, and that nothing in the file has; NULL: there is none. */
static const char *find_unbound(const struct onnx_import *im)
{
    for (uint32_t i = 0; i < im->kit.params->dimension_count; i++)
        if (i < 64 && !(im->kit.bound >> i & 1) && !im->kit.params->dimensions[i].optional)
            return im->kit.params->dimensions[i].name ? im->kit.params->dimensions[i].name : "";
    return NULL;
}

/* Callers have options of their own for this, and know it by the struct's name. */
static bool fail_open(struct onnx_import *im, const struct open_sizes *open)
{
    const char *wrong = find_unbound(im);
    char has[280] = "";

    if (wrong)
        snprintf(has, sizeof(has), ", and none is called '%.200s'", wrong);
    if (open->count == 1)
        return tdl_kit_lacks(
            &im->kit,
            "the model leaves dimension %u of its input '%.200s' open%s: give it a size by "
            "the name %s (tdl_model_params)",
            open->dimension, open->input, has, open->names);
    return tdl_kit_lacks(&im->kit,
                         "the model leaves %u sizes of its inputs open%s: give each by its name, "
                         "which are %s (tdl_model_params)",
                         open->count, has, open->names);
}

/* Are the picture's height and width one size to the file, and two to the caller? By their
 * places they may be given nevertheless, as names can be careless. */
static bool check_square(struct onnx_import *im, const struct input *in)
{
    const uint32_t height = is_nhwc(in) ? 1 : 2, *size = im->kit.params->size;
    const struct dimension *h = &in->dimensions[height], *w = h + 1;
    char name[64];

    if (in->rank != 4 || h->size > 0 || w->size > 0 || h->name.size == 0 ||
        h->name.size != w->name.size || memcmp(h->name.data, w->name.data, h->name.size) != 0 ||
        size[0] == size[1] || bound_size(im, in, height) || bound_size(im, in, height + 1))
        return true;
    return tdl_kit_lacks(
        &im->kit,
        "height and width of the input '%.200s' are one size, '%s', and %ux%u px were "
        "asked for: give it pictures as high as wide",
        in->text, tdl_pb_text(&h->name, name, sizeof(name)), size[1], size[0]);
}

/* What is open is noted, and 1 meanwhile. */
static bool bind(struct onnx_import *im, const struct input *in, struct tdl_tensor_params *desc,
                 struct open_sizes *open)
{
    desc->rank = in->rank;
    for (uint32_t i = 0; i < in->rank; i++) {
        int64_t size = in->dimensions[i].size;

        if (size <= 0)
            size = bound_size(im, in, i);
        if (size == 0)
            size = default_size(im, in, i);
        if (size <= 0) {
            note_open(in, i, open);
            size = 1;
        }
        if (size > INT32_MAX)
            return tdl_kit_damaged(&im->kit, "the input '%.400s' has %lld elements in dimension %u",
                                   in->text, (long long)size, i);
        desc->shape[i] = (uint32_t)size;
    }
    return check_square(im, in);
}

/* ---------------------------------------------------------------------- inputs */

static const struct tdl_model_number *find_number(struct onnx_import *im, const char *name)
{
    for (uint32_t i = 0; i < im->kit.params->number_count; i++) {
        if (im->kit.params->numbers[i].input && !strcmp(im->kit.params->numbers[i].input, name)) {
            im->kit.numbered |= UINT64_C(1) << (i % 64);
            return &im->kit.params->numbers[i];
        }
    }
    return NULL;
}

/* A constant of one number over and over. */
static struct tdl_operand *number_operand(struct onnx_import *im,
                                          const struct tdl_tensor_params *desc, double value)
{
    struct tdl_operand *o = onnx_number(im, desc->dtype, value);

    if (o && desc->rank)
        o = tdl_builder_expand(im->builder, o, desc->rank, desc->shape);
    if (o)
        tdl_builder_evaluate(im->builder, o);
    return o;
}

/* Of an input whose shape the file does not tell: as many dimensions as the caller binds by
 * their places from the first on, else those of a picture. All are open. */
static void guess_rank(struct onnx_import *im, struct input *in)
{
    if (in->has_shape || !in->is_tensor)
        return;
    while (in->rank < TDL_MAX_RANK && bound_size(im, in, in->rank))
        in->rank++;
    if (in->rank == 0)
        in->rank = 4;
}

static bool add_input(struct onnx_import *im, struct input *in, struct open_sizes *open)
{
    struct tdl_tensor_params desc = {0};
    const struct tdl_model_number *number = find_number(im, in->text);
    struct onnx_value *v;

    if (!in->is_tensor)
        return tdl_kit_lacks(&im->kit, "the input '%.400s' is no tensor; libtdl takes tensors only",
                             in->text);
    if (!number)
        guess_rank(im, in);
    if (in->too_many)
        return tdl_kit_lacks(&im->kit, "the input '%.400s' has more than %d dimensions", in->text,
                             TDL_MAX_RANK);
    desc.layout = is_nhwc(in) ? TDL_LAYOUT_NHWC : TDL_LAYOUT_NCHW;
    if (!onnx_dtype(im, in->type, &desc.dtype) || !bind(im, in, &desc, open))
        return false;
    v = onnx_add_value(im, &in->name);
    if (!v)
        return false;
    if (number) {
        v->operand = number_operand(im, &desc, number->value);
    } else if (in->type == ONNX_FLOAT16) {
        desc.dtype = TDL_FLOAT16; /* as the file says; inside it is float32 */
        v->operand = tdl_model_input(im->builder, im->source, in->text, &desc);
        if (v->operand && tdl_operand_get_desc(v->operand)->dtype == TDL_FLOAT16)
            v->operand = tdl_builder_cast(im->builder, v->operand, TDL_FLOAT32);
    } else {
        v->operand = tdl_model_input(im->builder, im->source, in->text, &desc);
    }
    return v->given = v->operand != NULL;
}

/* Names that the caller bound, and that nothing in the file has. */
static bool check_bound(struct onnx_import *im)
{
    const char *wrong = find_unbound(im);

    if (wrong)
        return tdl_kit_fail(&im->kit, TDL_ERROR_INVALID_ARGUMENT,
                            "the model leaves no dimension '%.400s' open that could be bound",
                            wrong);
    for (uint32_t i = 0; i < im->kit.params->number_count; i++)
        if (i < 64 && !(im->kit.numbered >> i & 1))
            return tdl_kit_fail(&im->kit, TDL_ERROR_INVALID_ARGUMENT,
                                "the model has no input '%.400s' that could be a number",
                                im->kit.params->numbers[i].input ? im->kit.params->numbers[i].input
                                                                 : "");
    return true;
}

bool onnx_add_inputs(struct onnx_import *im, const struct tdl_pb *graph)
{
    struct tdl_pb g = *graph;
    struct tdl_pb_field f;
    struct open_sizes open = {0};
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
    return open.count ? fail_open(im, &open) : check_bound(im);
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
    if (!place || !read_input(im, im->declared[*place], &in) || !in.has_shape || in.too_many ||
        in.rank != rank)
        return false;
    for (uint32_t i = 0; i < rank; i++) {
        const int64_t size = in.dimensions[i].size;

        shape[i] = size > 0 && size <= INT32_MAX ? (uint32_t)size : 0;
    }
    return true;
}

void onnx_forget_declared(struct onnx_import *im)
{
    free(im->declared);
    tdl_map_finish(&im->declared_names);
}
