/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * to-onnx MODEL.tflite OUT.onnx: the person models for engines that read ONNX, to
 * compare with. Operators are put down one by one, as NCHW between two transposes;
 * field numbers are those of onnx.proto (ONNX IR version 7, operators of version 14).
 */
#include <tdl/models.h>

#include "compile/passes.h"
#include "ops/conv/conv.h"

#include <stdio.h>
#include <stdlib.h>

/* ---------------------------------------------------------------- protobuf */

struct bytes {
    uint8_t *data;
    size_t size, room;
};

static void put(struct bytes *b, const void *data, size_t size)
{
    if (b->room - b->size < size) {
        b->room = 2 * b->room + size + 64;
        b->data = realloc(b->data, b->room);
        if (!b->data)
            abort();
    }
    if (size)
        memcpy(b->data + b->size, data, size);
    b->size += size;
}

static void put_varint(struct bytes *b, uint64_t value)
{
    do {
        const uint8_t byte = (uint8_t)(value & 0x7f) | (value > 0x7f ? 0x80 : 0);
        put(b, &byte, 1);
        value >>= 7;
    } while (value);
}

enum { VARINT = 0, LENGTH = 2, FIXED32 = 5 }; /* wire types */

static void put_int(struct bytes *b, uint32_t field, int64_t value)
{
    put_varint(b, field << 3 | VARINT);
    put_varint(b, (uint64_t)value);
}

static void put_block(struct bytes *b, uint32_t field, const void *data, size_t size)
{
    put_varint(b, field << 3 | LENGTH);
    put_varint(b, size);
    put(b, data, size);
}

static void put_text(struct bytes *b, uint32_t field, const char *text)
{
    put_block(b, field, text, strlen(text));
}

/* A message inside; it is used up. */
static void put_message(struct bytes *b, uint32_t field, struct bytes *inner)
{
    put_block(b, field, inner->data, inner->size);
    free(inner->data);
    *inner = (struct bytes){0};
}

/* -------------------------------------------------------------------- nodes */

static struct bytes graph, node;
static uint32_t values; /* names given so far */

static void name_of(const struct tdl_operand *o, char name[32])
{
    snprintf(name, 32, "v%u", o->id);
}

static void new_name(char name[32])
{
    snprintf(name, 32, "t%u", values++);
}

static void set_ints(const char *name, const int64_t *list, uint32_t count)
{
    struct bytes a = {0};
    put_text(&a, 1, name);
    for (uint32_t i = 0; i < count; i++)
        put_int(&a, 8, list[i]);
    put_int(&a, 20, 7); /* INTS */
    put_message(&node, 5, &a);
}

static void set_int(const char *name, int64_t value)
{
    struct bytes a = {0};
    put_text(&a, 1, name);
    put_int(&a, 3, value);
    put_int(&a, 20, 2); /* INT */
    put_message(&node, 5, &a);
}

static void set_text(const char *name, const char *value)
{
    struct bytes a = {0};
    put_text(&a, 1, name);
    put_text(&a, 4, value);
    put_int(&a, 20, 3); /* STRING */
    put_message(&node, 5, &a);
}

static void end_node(const char *type, const char *output)
{
    put_text(&node, 2, output);
    put_text(&node, 4, type);
    put_message(&graph, 1, &node);
}

static void add_constant(const char *name, int type, const int64_t *dims, uint32_t rank,
                         const void *data, size_t size)
{
    struct bytes t = {0};
    for (uint32_t i = 0; i < rank; i++)
        put_int(&t, 1, dims[i]);
    put_int(&t, 2, type);
    put_text(&t, 8, name);
    put_block(&t, 9, data, size);
    put_message(&graph, 5, &t);
}

enum { FLOAT = 1, INT64 = 7 };

/* Of a filter in OHWI: OIHW, or with `transposed` IOHW. */
static void add_filter(const char *name, const struct tdl_operand *o, bool transposed)
{
    const struct tdl_dims d = tdl_operand_dims(o); /* n: out, c: in */
    const uint32_t outer = transposed ? d.c : d.n, inner = transposed ? d.n : d.c;
    const int64_t dims[] = {outer, inner, d.h, d.w};
    const float *from = o->data;
    float *to = malloc(tdl_operand_count(o) * sizeof(*to));
    size_t at = 0;
    if (!to)
        abort();
    for (uint32_t a = 0; a < outer; a++)
        for (uint32_t b = 0; b < inner; b++)
            for (uint32_t tap = 0; tap < d.h * d.w; tap++)
                to[at++] = from[((size_t)(transposed ? b : a) * d.h * d.w + tap) * d.c +
                                (transposed ? a : b)];
    add_constant(name, FLOAT, dims, 4, to, at * sizeof(*to));
    free(to);
}

/* The activation behind what was written to `before`; that of the node `output`. */
static const char *begin_activation(enum tdl_activation activation, const char *output,
                                    char before[32])
{
    static const char *const types[] = {[TDL_ACTIVATION_RELU] = "Relu",
                                        [TDL_ACTIVATION_SIGMOID] = "Sigmoid",
                                        [TDL_ACTIVATION_HARD_SWISH] = "HardSwish"};
    snprintf(before, 32, "%s", output);
    if (activation == TDL_ACTIVATION_NONE)
        return NULL;
    if ((unsigned)activation >= TDL_COUNT(types) || !types[activation]) {
        fprintf(stderr, "to-onnx: the activation %s is not written\n",
                tdl_activation_name(activation));
        exit(EXIT_FAILURE);
    }
    new_name(before);
    return types[activation];
}

static void end_activation(const char *type, const char *before, const char *output)
{
    if (!type)
        return;
    put_text(&node, 1, before);
    end_node(type, output);
}

/* Of a convolution: input, filter, and the bias if there is one. */
static void put_operands(const struct tdl_node *n, const char *input, bool transposed)
{
    const struct tdl_operand *b = n->inputs[TDL_CONV_BIAS];
    char filter[32], bias[32];
    new_name(filter);
    new_name(bias);
    add_filter(filter, n->inputs[TDL_CONV_FILTER], transposed);
    put_text(&node, 1, input);
    put_text(&node, 1, filter);
    if (b) {
        add_constant(bias, FLOAT, (int64_t[]){b->desc.shape[0]}, 1, b->data,
                     tdl_tensor_params_size(&b->desc));
        put_text(&node, 1, bias);
    }
}

static void add_convolution(const struct tdl_node *n, const char *input, const char *output)
{
    struct tdl_conv_geometry g = {0};
    char before[32];
    const struct tdl_conv2d_params *p = &n->attr.conv.p;
    if (!tdl_conv_resolve(n, &g))
        exit(EXIT_FAILURE);
    const char *type = begin_activation(p->activation, output, before);
    const int64_t pads[] = {
        g.window.pad_top, g.window.pad_left,
        TDL_MAX((int64_t)(g.out.h - 1) * p->stride[0] + (g.kernel[0] - 1) * p->dilation[0] + 1 -
                    g.in.h - g.window.pad_top,
                0),
        TDL_MAX((int64_t)(g.out.w - 1) * p->stride[1] + (g.kernel[1] - 1) * p->dilation[1] + 1 -
                    g.in.w - g.window.pad_left,
                0)};
    put_operands(n, input, false);
    set_ints("strides", (int64_t[]){p->stride[0], p->stride[1]}, 2);
    set_ints("dilations", (int64_t[]){p->dilation[0], p->dilation[1]}, 2);
    set_ints("pads", pads, 4);
    set_int("group", p->groups);
    end_node("Conv", before);
    end_activation(type, before, output);
}

static void add_transposed(const struct tdl_node *n, const char *input, const char *output)
{
    const struct tdl_conv_transpose2d_params *p = &n->attr.conv_transpose;
    char before[32];
    const struct tdl_dims f = tdl_operand_dims(n->inputs[TDL_CONV_FILTER]);
    const char *type = begin_activation(p->activation, output, before);
    if (f.h != p->stride[0] || f.w != p->stride[1] || p->groups > 1) {
        fprintf(stderr, "to-onnx: a transposed convolution %ux%u, stride %u %u, groups %u, is not "
                        "written\n", f.h, f.w, p->stride[0], p->stride[1], p->groups);
        exit(EXIT_FAILURE);
    }
    put_operands(n, input, true);
    set_ints("strides", (int64_t[]){p->stride[0], p->stride[1]}, 2);
    end_node("ConvTranspose", before);
    end_activation(type, before, output);
}

static void add_resize(const struct tdl_node *n, const char *input, const char *output)
{
    static const char *const coordinates[] = {[TDL_RESAMPLE_HALF_PIXEL] = "half_pixel",
                                              [TDL_RESAMPLE_ALIGN_CORNERS] = "align_corners",
                                              [TDL_RESAMPLE_ASYMMETRIC] = "asymmetric"};
    const struct tdl_dims d = tdl_operand_dims(n->output);
    const int64_t sizes[] = {d.n, d.c, d.h, d.w};
    char name[32];
    new_name(name);
    add_constant(name, INT64, (int64_t[]){4}, 1, sizes, sizeof(sizes));
    put_text(&node, 1, input);
    put_text(&node, 1, "");
    put_text(&node, 1, "");
    put_text(&node, 1, name);
    set_text("mode", "linear");
    set_text("coordinate_transformation_mode", coordinates[n->attr.resample.coordinates]);
    end_node("Resize", output);
}

static void add_node(const struct tdl_node *n)
{
    static const char *const functions[] = {
        [TDL_RELU] = "Relu", [TDL_SIGMOID] = "Sigmoid", [TDL_HARD_SWISH] = "HardSwish",
        [TDL_ADD] = "Add",   [TDL_MUL] = "Mul"};
    char input[32], output[32], second[32];
    const uint32_t function = (uint32_t)(n->op - tdl_op_eltwise);
    name_of(n->inputs[0], input);
    name_of(n->output, output);
    if (n->op == &tdl_op_conv2d) {
        add_convolution(n, input, output);
    } else if (n->op == &tdl_op_conv_transpose2d) {
        add_transposed(n, input, output);
    } else if (n->op == &tdl_op_resample2d && tdl_resample2d_is_linear(n)) {
        add_resize(n, input, output);
    } else if (n->op == &tdl_op_average_pool2d && tdl_pool2d_is_global(n)) {
        put_text(&node, 1, input);
        end_node("GlobalAveragePool", output);
    } else if (n->op >= tdl_op_eltwise && function < TDL_COUNT(functions) && functions[function]) {
        put_text(&node, 1, input);
        if (n->input_count > 1 && n->inputs[1]) {
            name_of(n->inputs[1], second);
            put_text(&node, 1, second);
        }
        end_node(functions[function], output);
    } else {
        fprintf(stderr, "to-onnx: %s is not written\n", n->op->name);
        exit(EXIT_FAILURE);
    }
}

/* --------------------------------------------------------------------- model */

static void add_value(uint32_t field, const char *name, const struct tdl_operand *o)
{
    struct bytes shape = {0}, tensor = {0}, type = {0}, value = {0};
    for (uint32_t i = 0; i < o->desc.rank; i++) {
        struct bytes dim = {0};
        put_int(&dim, 1, o->desc.shape[i]);
        put_message(&shape, 1, &dim);
    }
    put_int(&tensor, 1, FLOAT);
    put_message(&tensor, 2, &shape);
    put_message(&type, 1, &tensor);
    put_text(&value, 1, name);
    put_message(&value, 2, &type);
    put_message(&graph, field, &value);
}

static void transpose(const char *from, const char *to, const int64_t permutation[4])
{
    put_text(&node, 1, from);
    set_ints("perm", permutation, 4);
    end_node("Transpose", to);
}

static int write_model(const struct tdl_ir *ir, const char *path)
{
    struct bytes model = {0}, opset = {0};
    char inside[32];
    FILE *f = fopen(path, "wb");
    name_of(ir->inputs[0], inside);
    transpose("input", inside, (int64_t[]){0, 3, 1, 2});
    for (uint32_t i = 0; i < ir->node_count; i++)
        add_node(ir->nodes[i]);
    name_of(ir->outputs[0], inside);
    transpose(inside, "output", (int64_t[]){0, 2, 3, 1});
    put_text(&graph, 2, "person");
    add_value(11, "input", ir->inputs[0]);
    add_value(12, "output", ir->outputs[0]);
    put_int(&model, 1, 7);
    put_message(&model, 7, &graph);
    put_int(&opset, 2, 14);
    put_message(&model, 8, &opset);
    const bool ok = f && fwrite(model.data, 1, model.size, f) == model.size && fclose(f) == 0;
    free(model.data);
    if (!ok)
        perror(path);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    struct tdl_builder *builder = NULL;
    struct tdl_ir *ir = NULL;
    if (argc != 3) {
        fprintf(stderr, "Usage: to-onnx MODEL.tflite OUT.onnx\n");
        return 2;
    }
    if (tdl_builder_create(NULL, &builder) != TDL_OK ||
        tdl_model_load(builder, argv[1], NULL) != TDL_OK ||
        !(ir = tdl_ir_clone(tdl_builder_ir(builder))) || tdl_pass_fold(ir) != TDL_OK) {
        fprintf(stderr, "to-onnx: %s: %s\n", argv[1], tdl_last_error());
        return EXIT_FAILURE;
    }
    const int status = write_model(ir, argv[2]);
    tdl_ir_destroy(&ir);
    tdl_builder_destroy(&builder);
    return status;
}
