/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "builder.h"

#include "evaluate.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum tdl_result tdl_builder_open(const struct tdl_builder_host *host, struct tdl_context *ctx,
                                 struct tdl_builder **out_builder)
{
    struct tdl_builder *b = calloc(1, sizeof(*b));
    struct tdl_ir *ir = tdl_ir_create();
    *out_builder = NULL;
    if (!b || !ir) {
        free(b);
        tdl_ir_destroy(&ir);
        return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while creating a builder");
    }
    atomic_init(&b->refs, 1);
    b->ir = ir;
    ir->layout = TDL_LAYOUT_NCHW;
    ir->budget.made_limit = TDL_EVALUATED_BYTES;
    ir->budget.work_limit = TDL_EVALUATED_WORK;
    b->host = host;
    b->ctx = ctx;
    *out_builder = b;
    return TDL_OK;
}

void tdl_builder_close(struct tdl_builder *b)
{
    tdl_ir_destroy(&b->ir);
    tdl_map_finish(&b->constants);
    tdl_dynamic_finish(&b->dynamic);
    tdl_remake_release(b->remake);
    for (struct tdl_owned *o = b->owned, *next; o; o = next) {
        next = o->next;
        o->release(o->memory);
        free(o);
    }
    free(b);
}

struct tdl_ir *tdl_builder_ir(struct tdl_builder *builder)
{
    return builder->ir;
}

/* ----------------------------------------------------------------- errors */

enum tdl_result tdl_builder_status(const struct tdl_builder *builder)
{
    TDL_NEED(builder, "builder");
    return builder->status;
}

const char *tdl_builder_error(const struct tdl_builder *builder)
{
    return builder ? builder->error : "there is no builder";
}

struct tdl_operand *tdl_builder_fail(struct tdl_builder *b, enum tdl_result result,
                                     const char *format, ...)
{
    if (!b)
        tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "the builder is NULL; tdl_builder_create() makes one");
    if (!b || b->status != TDL_OK)
        return NULL;
    if (result == TDL_OK) /* the caller has failed */
        result = TDL_ERROR_INVALID_STATE;
    va_list args;
    size_t used = 0;
    if (*b->label)
        used = (size_t)snprintf(b->error, sizeof(b->error), "%s: ", b->label);
    va_start(args, format);
    vsnprintf(b->error + used, sizeof(b->error) - used, format ? format : "no reason was given",
              args);
    va_end(args);
    b->status = tdl_fail(result, "%s", b->error);
    if (b->ctx)
        b->host->log_failure(b->ctx, b->status);
    return NULL;
}

/* Takes over the text that tdl_fail() left. */
static struct tdl_operand *fail_with_last(struct tdl_builder *b, enum tdl_result result)
{
    char text[sizeof(b->error)];
    snprintf(text, sizeof(text), "%s", tdl_last_error());
    return tdl_builder_fail(b, result, "%s", text);
}

void tdl_builder_own(struct tdl_builder *builder, void *memory, void (*release)(void *))
{
    struct tdl_owned *o = builder && release ? malloc(sizeof(*o)) : NULL;
    if (!release)
        return;
    if (!o) {
        /* Freed at once; the error keeps anybody from reading it. */
        tdl_builder_fail(builder, TDL_ERROR_OUT_OF_MEMORY, "out of memory in a builder");
        release(memory);
        return;
    }
    *o = (struct tdl_owned){builder->owned, memory, release};
    builder->owned = o;
}

void tdl_builder_set_label(struct tdl_builder *builder, const char *label)
{
    if (!builder)
        return;
    builder->ir->labels += label != NULL;
    snprintf(builder->label, sizeof(builder->label), "%s", label ? label : "");
}

void tdl_builder_set_input_layout(struct tdl_builder *b, enum tdl_layout layout)
{
    if (!b || (unsigned)layout > TDL_LAYOUT_NHWC)
        tdl_builder_fail(b, TDL_ERROR_INVALID_ARGUMENT, "there is no input layout %u",
                         (unsigned)layout);
    else
        b->ir->layout = layout ? layout : TDL_LAYOUT_NCHW;
}

enum tdl_layout tdl_builder_get_input_layout(const struct tdl_builder *b)
{
    return b ? b->ir->layout : TDL_LAYOUT_NCHW;
}

/* ------------------------------------------------- inputs and constants */

const struct tdl_tensor_params *tdl_operand_get_desc(const struct tdl_operand *operand)
{
    return operand ? &operand->desc : NULL;
}

static struct tdl_operand *add_operand(struct tdl_builder *b, enum tdl_operand_kind kind,
                                       const struct tdl_tensor_params *desc)
{
    if (b->status != TDL_OK)
        return NULL;
    enum tdl_result r = tdl_tensor_params_check(desc);
    if (r != TDL_OK)
        return fail_with_last(b, r);
    if (desc->packing)
        return tdl_builder_fail(b, TDL_ERROR_INVALID_ARGUMENT,
                                "operands are in no packs; those are chosen in tdl_build_params");
    struct tdl_operand *o = tdl_ir_add_operand(b->ir, kind, desc);
    return o ? o : tdl_builder_fail(b, TDL_ERROR_OUT_OF_MEMORY, "out of memory in a builder");
}

/* NULL and an error for what is none. */
const char *tdl_builder_check_name(struct tdl_builder *b, const char *what, const char *name)
{
    const size_t length = name ? strnlen(name, TDL_MAX_NAME + 1) : 0;
    if (length > 0 && length <= TDL_MAX_NAME)
        return name;
    tdl_builder_fail(b, TDL_ERROR_INVALID_ARGUMENT, "an %s needs a name of 1 to %d bytes%s%.60s",
                     what, TDL_MAX_NAME, length ? "; this one is longer: " : "",
                     length ? name : "");
    return NULL;
}

struct tdl_operand *tdl_builder_input(struct tdl_builder *b, const char *name,
                                      const struct tdl_tensor_params *desc)
{
    if (tdl_builder_status(b) != TDL_OK)
        return NULL;
    if (!tdl_builder_check_name(b, "input", name))
        return NULL;
    for (uint32_t i = 0; i < b->ir->input_count; i++)
        if (!strcmp(b->ir->inputs[i]->name, name))
            return tdl_builder_fail(b, TDL_ERROR_INVALID_ARGUMENT,
                                    "there are two inputs named \"%.400s\"", name);
    if (b->ir->input_count == TDL_COUNT(b->ir->inputs))
        return tdl_builder_fail(b, TDL_ERROR_UNSUPPORTED, "more than %zu inputs",
                                TDL_COUNT(b->ir->inputs));
    if (!desc)
        return tdl_builder_fail(b, TDL_ERROR_INVALID_ARGUMENT,
                                "input \"%.400s\" has no description", name);
    if ((desc->dtype == TDL_INT64 || desc->dtype == TDL_UINT64) && b->ctx &&
        !b->host->device(b->ctx)->shader_int64)
        return tdl_builder_fail(b, TDL_ERROR_UNSUPPORTED,
                                "input \"%.300s\": %s needs shaderInt64, which %s lacks", name,
                                tdl_dtype_name(desc->dtype), b->host->device(b->ctx)->name);
    struct tdl_operand *o = add_operand(b, TDL_OPERAND_INPUT, desc);
    if (!o)
        return NULL;
    o->usual = b->ir->layout;
    if (!tdl_operand_set_name(o, name))
        return tdl_builder_fail(b, TDL_ERROR_OUT_OF_MEMORY, "out of memory in a builder");
    b->ir->inputs[b->ir->input_count++] = o;
    return o;
}

struct tdl_operand *tdl_builder_constant(struct tdl_builder *b,
                                         const struct tdl_tensor_params *desc, const void *data,
                                         size_t size)
{
    if (!b || !desc)
        return tdl_builder_fail(b, TDL_ERROR_INVALID_ARGUMENT, "a constant has no description");
    /* Equal bytes in equal shapes are one constant. */
    struct {
        uint64_t data;
        uint32_t dtype, rank, shape[TDL_MAX_RANK];
    } key = {(uintptr_t)data, desc->dtype, desc->rank, {0}};
    for (uint32_t i = 0; i < desc->rank && i < TDL_MAX_RANK; i++)
        key.shape[i] = desc->shape[i];
    const uint64_t *found = tdl_map_find(&b->constants, &key, sizeof(key));
    if (found && b->status == TDL_OK && size == tdl_tensor_params_size(desc))
        return (struct tdl_operand *)(uintptr_t)*found;
    struct tdl_operand *o = add_operand(b, TDL_OPERAND_CONSTANT, desc);
    if (!o)
        return NULL;
    if (!data || size != tdl_tensor_params_size(desc))
        return tdl_builder_fail(b, TDL_ERROR_INVALID_ARGUMENT,
                                "a constant %s was given %zu bytes; it has %zu",
                                tdl_operand_text(o), data ? size : 0, tdl_tensor_params_size(desc));
    o->data = data;
    if (!tdl_map_add(&b->constants, &key, sizeof(key), (uintptr_t)o))
        return tdl_builder_fail(b, TDL_ERROR_OUT_OF_MEMORY, "out of memory in a builder");
    return o;
}

/* -------------------------------------------------------------- operators */

struct tdl_operand *tdl_builder_add_node(struct tdl_builder *b, const struct tdl_op *op,
                                         const union tdl_attr *attr,
                                         struct tdl_operand *const *inputs, uint32_t count,
                                         uint32_t required)
{
    return tdl_builder_add_told(b, op, TDL_LAYOUT_DEFAULT, attr, inputs, count, required);
}

struct tdl_operand *tdl_builder_add_told(struct tdl_builder *b, const struct tdl_op *op,
                                         enum tdl_layout layout, const union tdl_attr *attr,
                                         struct tdl_operand *const *inputs, uint32_t count,
                                         uint32_t required)
{
    struct tdl_tensor_params desc;
    if (tdl_builder_status(b) != TDL_OK)
        return NULL;
    for (uint32_t i = 0; i < count; i++) {
        if (inputs[i] ? inputs[i]->ir != b->ir : i < required)
            return tdl_builder_fail(b, TDL_ERROR_INVALID_ARGUMENT,
                                    "%s: input %u is missing or of another builder", op->name, i);
        if (op->storage == TDL_STORAGE_PACKED && inputs[i] && !tdl_is_float(inputs[i]->desc.dtype))
            return tdl_builder_fail(b, TDL_ERROR_INVALID_ARGUMENT,
                                    "%s: input %u is %s; float32 or float16 is needed, cast it",
                                    op->name, i, tdl_operand_text(inputs[i]));
    }
    struct tdl_node *n = tdl_ir_add_node(b->ir, op);
    if (!n)
        return tdl_builder_fail(b, TDL_ERROR_OUT_OF_MEMORY, "out of memory in a builder");
    n->attr = *attr;
    n->layout = layout;
    n->input_count = count;
    memcpy(n->inputs, inputs, count * sizeof(*inputs));
    snprintf(n->label, sizeof(n->label), "%s", *b->label ? b->label : op->name);
    enum tdl_result r = tdl_node_infer(n, &desc);
    if (r == TDL_OK)
        r = tdl_tensor_params_check(&desc);
    if (r == TDL_OK)
        n->output = tdl_ir_add_operand(b->ir, TDL_OPERAND_VALUE, &desc);
    if (!n->output) {
        b->ir->node_count--;
        free(n);
        return r != TDL_OK
                   ? fail_with_last(b, r)
                   : tdl_builder_fail(b, TDL_ERROR_OUT_OF_MEMORY, "out of memory in a builder");
    }
    n->output->producer = n;
    return n->output;
}

enum tdl_layout tdl_builder_layout(struct tdl_builder *b, const struct tdl_op *op,
                                   uint64_t input_layout)
{
    if (input_layout > TDL_LAYOUT_NHWC)
        tdl_builder_fail(b, TDL_ERROR_INVALID_ARGUMENT, "%s: there is no input layout %llu",
                         op->name, (unsigned long long)input_layout);
    else if (input_layout)
        return (enum tdl_layout)input_layout;
    return b ? b->ir->layout : TDL_LAYOUT_NCHW;
}

bool tdl_builder_known(struct tdl_builder *b, const struct tdl_op *op, const char *what,
                       unsigned value, unsigned last)
{
    if (value > last)
        tdl_builder_fail(b, TDL_ERROR_INVALID_ARGUMENT, "%s: there is no %s %u", op->name, what,
                         value);
    return value <= last;
}

bool tdl_builder_fits_window(struct tdl_builder *b, const struct tdl_op *op, const char *what,
                             const uint32_t *pixels, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (pixels[i] > INT32_MAX) {
            tdl_builder_fail(b, TDL_ERROR_INVALID_ARGUMENT,
                             "%s: %s %u is more than %d px; is it a negative number?", op->name,
                             what, pixels[i], INT32_MAX);
            return false;
        }
    return true;
}

bool tdl_builder_known_window(struct tdl_builder *b, const struct tdl_op *op,
                              enum tdl_padding padding, const uint32_t pad[4],
                              enum tdl_activation activation)
{
    const bool twice =
        padding != TDL_PADDING_EXPLICIT && pad && (pad[0] | pad[1] | pad[2] | pad[3]);
    if (twice)
        tdl_builder_fail(b, TDL_ERROR_INVALID_ARGUMENT,
                         "%s: pad is %u,%u,%u,%u, and padding chooses its own: give one of them",
                         op->name, pad[0], pad[1], pad[2], pad[3]);
    return !twice && (!pad || tdl_builder_fits_window(b, op, "pad", pad, 4)) &&
           tdl_builder_known(b, op, "padding", padding, TDL_PADDING_SAME_UPPER) &&
           tdl_builder_known(b, op, "activation", activation, TDL_ACTIVATION_TANH);
}
