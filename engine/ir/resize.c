/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Other sizes of a builder's inputs: shapes are inferred anew, in the order of the nodes.
 * What an operator was told, or took from its inputs' shapes when it was added, may not
 * hold for others; so only those are taken that say of themselves that it does
 * (tdl_op.resize). Those that several operators stand for, and models' readers, have
 * reshapes or slices somewhere, or say so (tdl_builder_fix_sizes()).
 */
#include "builder.h"

#include <stdlib.h>
#include <string.h>

/* As it was before, to go back to. */
struct kept {
    struct tdl_tensor_params *descs; /* by operand */
    union tdl_attr *attrs;           /* by node */
    bool *changed;                   /* by operand */
};

static void finish(struct kept *k)
{
    free(k->descs);
    free(k->attrs);
    free(k->changed);
}

static enum tdl_result keep(const struct tdl_ir *ir, struct kept *k)
{
    k->descs = calloc(ir->operand_count + (size_t)1, sizeof(*k->descs));
    k->attrs = calloc(ir->node_count + (size_t)1, sizeof(*k->attrs));
    k->changed = calloc(ir->operand_count + (size_t)1, sizeof(*k->changed));
    if (!k->descs || !k->attrs || !k->changed)
        return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while resizing a builder's inputs");
    for (uint32_t i = 0; i < ir->operand_count; i++)
        k->descs[i] = ir->operands[i]->desc;
    for (uint32_t i = 0; i < ir->node_count; i++)
        k->attrs[i] = ir->nodes[i]->attr;
    return TDL_OK;
}

static void go_back(struct tdl_ir *ir, const struct kept *k)
{
    for (uint32_t i = 0; i < ir->operand_count; i++)
        ir->operands[i]->desc = k->descs[i];
    for (uint32_t i = 0; i < ir->node_count; i++) {
        ir->nodes[i]->attr = k->attrs[i];
        tdl_node_resolve(ir->nodes[i]);
    }
}

static enum tdl_result resize_input(struct tdl_ir *ir, const struct tdl_input_size *size,
                                    struct kept *k)
{
    for (uint32_t i = 0; i < ir->input_count && size->name; i++) {
        struct tdl_operand *o = ir->inputs[i];
        if (strcmp(o->name, size->name) != 0)
            continue;
        memcpy(o->desc.shape, size->shape, o->desc.rank * sizeof(*size->shape));
        k->changed[o->id] = memcmp(&o->desc, &k->descs[o->id], sizeof(o->desc)) != 0;
        return tdl_tensor_params_check(&o->desc);
    }
    return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "tdl_builder_resize: there is no input \"%s\"",
                    size->name ? size->name : "");
}

static enum tdl_result fail_fixed(const struct tdl_node *n, const struct kept *k)
{
    struct tdl_operand *now = n->inputs[0];
    for (uint32_t i = 0; i < n->input_count; i++)
        if (n->inputs[i] && k->changed[n->inputs[i]->id])
            now = n->inputs[i];
    char before[96], text[96];
    return tdl_fail(TDL_ERROR_UNSUPPORTED,
                    "tdl_builder_resize: %s was added for %s, and its options may not hold for %s: "
                    "build graphs of that size by a builder of their own; they share weights",
                    n->label, tdl_tensor_params_text(&k->descs[now->id], before, sizeof(before)),
                    tdl_tensor_params_text(&now->desc, text, sizeof(text)));
}

static enum tdl_result infer(struct tdl_node *n, struct kept *k)
{
    struct tdl_tensor_params desc;
    bool changed = false;
    enum tdl_result r;
    for (uint32_t i = 0; i < n->input_count; i++)
        changed |= n->inputs[i] && k->changed[n->inputs[i]->id];
    if (!changed)
        return TDL_OK;
    if (!tdl_node_resize(n))
        return fail_fixed(n, k);
    TRY(tdl_node_infer(n, &desc));
    TRY(tdl_tensor_params_check(&desc));
    k->changed[n->output->id] =
        memcmp(desc.shape, n->output->desc.shape, desc.rank * sizeof(*desc.shape)) != 0;
    memcpy(n->output->desc.shape, desc.shape, sizeof(desc.shape));
fail:
    return r;
}

enum tdl_result tdl_ir_resize(struct tdl_ir *ir, const struct tdl_input_size *sizes, uint32_t count)
{
    struct kept k = {NULL, NULL, NULL};
    enum tdl_result r = keep(ir, &k);
    if (r != TDL_OK) {
        finish(&k);
        return r;
    }
    for (uint32_t i = 0; i < count; i++)
        TRY(resize_input(ir, &sizes[i], &k));
    for (uint32_t i = 0; i < ir->node_count; i++)
        TRY(infer(ir->nodes[i], &k));
fail:
    if (r != TDL_OK)
        go_back(ir, &k);
    finish(&k);
    return r;
}

enum tdl_result tdl_builder_resize(struct tdl_builder *b, const struct tdl_input_size *sizes,
                                   uint32_t count)
{
    TDL_NEED(b, "builder");
    if (count)
        TDL_NEED(sizes, "sizes");
    for (uint32_t i = 0; i < count; i++)
        TDL_NEED_KNOWN(&sizes[i]);
    if (b->status != TDL_OK)
        return tdl_fail(b->status, "%s", b->error);
    if (b->sizes_fixed)
        return tdl_fail(TDL_ERROR_UNSUPPORTED,
                        "tdl_builder_resize: what the builder holds was computed from the sizes of "
                        "its inputs; read the model at the other size into a builder of its own "
                        "(struct tdl_model_params): the graphs share weights");
    return tdl_ir_resize(b->ir, sizes, count);
}

void tdl_builder_fix_sizes(struct tdl_builder *builder)
{
    if (builder)
        builder->sizes_fixed = true;
}

bool tdl_resize_freely(struct tdl_node *n)
{
    (void)n;
    return true;
}

/* ---------------------------------------------------------------- several pictures */

/*
 * Several pictures in the place of one: the first dimension alone changes, so that what was
 * computed from widths and heights holds, in models that were read, too. But each operator
 * has to keep the pictures apart.
 */

bool tdl_stack_first(struct tdl_node *n, uint32_t stacked)
{
    (void)n;
    return stacked == 1;
}

bool tdl_stack_broadcast(struct tdl_node *n, uint32_t stacked)
{
    const uint32_t rank = n->output->desc.rank;
    for (uint32_t i = 0; i < n->input_count; i++) {
        const struct tdl_tensor_params *p = n->inputs[i] ? &n->inputs[i]->desc : NULL;
        if (p && (stacked >> i & 1 ? p->rank != rank : p->rank == rank && p->shape[0] != 1))
            return false;
    }
    return true;
}

static enum tdl_result fail_apart(const struct tdl_node *n)
{
    return tdl_fail(TDL_ERROR_UNSUPPORTED,
                    "tdl_builder_stack: %s (%s) may not keep several pictures apart: run graphs of "
                    "one picture",
                    n->label, n->op->name);
}

/* Only what outputs need has to keep pictures apart: readers of files leave outputs out. The
 * nodes stand in the order of their running. */
static void mark_needed(const struct tdl_ir *ir, bool *needed)
{
    for (uint32_t i = 0; i < ir->output_count; i++)
        needed[ir->outputs[i]->id] = true;
    for (uint32_t i = ir->node_count; i-- > 0;) {
        const struct tdl_node *n = ir->nodes[i];
        for (uint32_t k = 0; k < n->input_count && needed[n->output->id]; k++)
            if (n->inputs[k])
                needed[n->inputs[k]->id] = true;
    }
}

static enum tdl_result stack_node(struct tdl_node *n, struct kept *k)
{
    struct tdl_tensor_params desc, *was = &n->output->desc;
    uint32_t stacked = 0, count = 0;
    enum tdl_result r;
    for (uint32_t i = 0; i < n->input_count; i++)
        if (n->inputs[i] && k->changed[n->inputs[i]->id]) {
            stacked |= 1u << i;
            count = n->inputs[i]->desc.shape[0];
        }
    if (!stacked)
        return TDL_OK;
    if (!tdl_node_stack(n, stacked))
        return fail_apart(n);
    TRY(tdl_node_infer(n, &desc));
    TRY(tdl_tensor_params_check(&desc));
    if (!was->rank || was->shape[0] != 1 || desc.rank != was->rank || desc.shape[0] != count ||
        memcmp(desc.shape + 1, was->shape + 1, (was->rank - 1) * sizeof(*was->shape)) != 0)
        return fail_apart(n);
    k->changed[n->output->id] = true;
    was->shape[0] = count;
fail:
    return r;
}

static enum tdl_result stack_input(struct tdl_operand *o, uint32_t count, struct kept *k)
{
    char text[96];
    if (!o->desc.rank || o->desc.shape[0] != 1)
        return tdl_fail(
            TDL_ERROR_UNSUPPORTED,
            "tdl_builder_stack: input \"%.400s\" is %s; the first dimension of all has to "
            "be 1",
            o->name, tdl_tensor_params_text(&o->desc, text, sizeof(text)));
    o->desc.shape[0] = count;
    k->changed[o->id] = true;
    return tdl_tensor_params_check(&o->desc);
}

static enum tdl_result stack(struct tdl_ir *ir, uint32_t count)
{
    struct kept k = {NULL, NULL, NULL};
    enum tdl_result r = keep(ir, &k);
    bool *needed = r == TDL_OK ? calloc(ir->operand_count + (size_t)1, sizeof(*needed)) : NULL;
    if (!needed) {
        finish(&k);
        return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while stacking a builder's inputs");
    }
    mark_needed(ir, needed);
    for (uint32_t i = 0; i < ir->input_count; i++)
        TRY(stack_input(ir->inputs[i], count, &k));
    for (uint32_t i = 0; i < ir->node_count; i++)
        if (needed[ir->nodes[i]->output->id])
            TRY(stack_node(ir->nodes[i], &k));
fail:
    free(needed);
    if (r != TDL_OK)
        go_back(ir, &k);
    finish(&k);
    return r;
}

enum tdl_result tdl_builder_stack(struct tdl_builder *b, uint32_t count)
{
    TDL_NEED(b, "builder");
    if (b->status != TDL_OK)
        return tdl_fail(b->status, "%s", b->error);
    if (!count)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "tdl_builder_stack: 0 pictures; 1 or more");
    if (count == 1 && !b->stacked)
        return TDL_OK;
    const enum tdl_result r = stack(b->ir, count); /* of what is stacked: an error */
    b->stacked |= r == TDL_OK;
    return r;
}
