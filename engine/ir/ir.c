/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ir.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tdl_ir *tdl_ir_create(void)
{
    return calloc(1, sizeof(struct tdl_ir));
}

void tdl_ir_destroy(struct tdl_ir **pointer)
{
    struct tdl_ir *ir = *pointer;
    *pointer = NULL;
    if (!ir)
        return;
    tdl_ir_forget_constants(ir);
    tdl_ir_forget_uses(ir);
    for (uint32_t i = 0; i < ir->operand_count; i++) {
        if (*ir->operands[i]->name)
            free((char *)ir->operands[i]->name);
        free(ir->operands[i]);
    }
    for (uint32_t i = 0; i < ir->node_count; i++)
        free(ir->nodes[i]);
    free(ir->operands);
    free(ir->nodes);
    free(ir);
}

void tdl_ir_forget_constants(struct tdl_ir *ir)
{
    for (uint32_t i = 0; i < ir->operand_count; i++) {
        tdl_operand_shrink(ir->operands[i]);
        ir->operands[i]->data = NULL;
        ir->operands[i]->compact = NULL;
    }
    for (uint32_t i = 0; i < ir->owned_count; i++)
        free(ir->owned[i]);
    free(ir->owned);
    ir->owned = NULL;
    ir->owned_count = ir->owned_capacity = 0;
}

/* Grow a pointer array to hold one more. */
static bool reserve(void *array, uint32_t count, uint32_t *capacity)
{
    void **old;
    memcpy(&old, array, sizeof(old));
    if (count < *capacity)
        return true;
    uint32_t grown = *capacity ? *capacity * 2 : 64;
    void **bigger = realloc(old, grown * sizeof(void *));
    if (!bigger)
        return false;
    memcpy(array, &bigger, sizeof(bigger));
    *capacity = grown;
    return true;
}

struct tdl_operand *tdl_ir_add_operand(struct tdl_ir *ir, enum tdl_operand_kind kind,
                                       const struct tdl_tensor_params *desc)
{
    struct tdl_operand *o = calloc(1, sizeof(*o));
    if (!o || !reserve(&ir->operands, ir->operand_count, &ir->operand_capacity)) {
        free(o);
        return NULL;
    }
    o->ir = ir;
    o->id = ir->operand_count;
    o->kind = kind;
    o->name = "";
    o->desc = *desc;
    o->desc.label = NULL;
    ir->operands[ir->operand_count++] = o;
    return o;
}

bool tdl_operand_set_name(struct tdl_operand *o, const char *name)
{
    const size_t size = strlen(name) + 1;
    char *copy = malloc(size);
    if (copy)
        o->name = memcpy(copy, name, size);
    return copy != NULL;
}

struct tdl_node *tdl_ir_add_node(struct tdl_ir *ir, const struct tdl_op *op)
{
    struct tdl_node *n = calloc(1, sizeof(*n));
    if (!n || !reserve(&ir->nodes, ir->node_count, &ir->node_capacity)) {
        free(n);
        return NULL;
    }
    n->op = op;
    ir->nodes[ir->node_count++] = n;
    return n;
}

struct tdl_node *tdl_ir_insert_after(struct tdl_ir *ir, const struct tdl_node *before,
                                     const struct tdl_op *op)
{
    struct tdl_node *n = tdl_ir_add_node(ir, op);
    uint32_t last = ir->node_count - 1, place = last;
    if (!n)
        return NULL;
    while (place > 0 && ir->nodes[place - 1] != before)
        place--;
    memmove(&ir->nodes[place + 1], &ir->nodes[place], (last - place) * sizeof(n));
    ir->nodes[place] = n;
    return n;
}

void *tdl_ir_alloc(struct tdl_ir *ir, size_t size)
{
    void *memory = calloc(1, size);
    if (!memory || !reserve(&ir->owned, ir->owned_count, &ir->owned_capacity)) {
        free(memory);
        return NULL;
    }
    ir->owned[ir->owned_count++] = memory;
    return memory;
}

struct tdl_ir *tdl_ir_clone(const struct tdl_ir *ir)
{
    struct tdl_ir *copy = tdl_ir_create();
    if (!copy)
        return NULL;
    for (uint32_t i = 0; i < ir->operand_count; i++) {
        const struct tdl_operand *from = ir->operands[i];
        struct tdl_operand *o = tdl_ir_add_operand(copy, from->kind, &from->desc);
        if (!o || (*from->name && !tdl_operand_set_name(o, from->name)))
            goto fail;
        o->is_output = from->is_output;
        o->layout = from->layout;
        o->usual = from->usual;
        o->data = from->expanded ? NULL : from->data;
        o->compact = from->compact;
    }
    for (uint32_t i = 0; i < ir->node_count; i++) {
        const struct tdl_node *from = ir->nodes[i];
        struct tdl_node *n = tdl_ir_add_node(copy, from->op);
        if (!n)
            goto fail;
        *n = *from;
        for (uint32_t j = 0; j < n->input_count; j++)
            n->inputs[j] = from->inputs[j] ? copy->operands[from->inputs[j]->id] : NULL;
        n->output = copy->operands[from->output->id];
        n->output->producer = n;
        if (from->means) {
            n->means = copy->operands[from->means->id];
            n->means->producer = n;
        }
    }
    for (uint32_t i = 0; i < ir->input_count; i++)
        copy->inputs[i] = copy->operands[ir->inputs[i]->id];
    for (uint32_t i = 0; i < ir->output_count; i++)
        copy->outputs[i] = copy->operands[ir->outputs[i]->id];
    copy->input_count = ir->input_count;
    copy->output_count = ir->output_count;
    copy->whole_attention = ir->whole_attention;
    if (!tdl_ir_budget_init(copy))
        goto fail;
    return copy;
fail:
    tdl_ir_destroy(&copy);
    return NULL;
}

/* ------------------------------------------------------------------ texts */

const char *tdl_operand_text(const struct tdl_operand *operand)
{
    static _Thread_local char texts[8][96];
    static _Thread_local unsigned next;
    char *text = texts[next++ % TDL_COUNT(texts)];
    return tdl_tensor_params_text(&operand->desc, text, sizeof(texts[0]));
}

void tdl_ir_dump(const struct tdl_ir *ir, const char *pass)
{
    const char *wanted = getenv("TDL_DUMP");
    if (!wanted || (strcmp(wanted, "all") != 0 && !strstr(wanted, pass)))
        return;
    fprintf(stderr, "after %s: %u nodes\n", pass, ir->node_count);
    for (uint32_t i = 0; i < ir->node_count; i++) {
        const struct tdl_node *n = ir->nodes[i];
        fprintf(stderr, "  %3u %-18s %%%u = %s%s (", i, n->op->name, n->output->id,
                tdl_operand_text(n->output), n->output->wide ? " wide" : "");
        for (uint32_t j = 0; j < n->input_count; j++)
            if (n->inputs[j])
                fprintf(stderr, " %u:%s%u", j,
                        n->inputs[j]->kind == TDL_OPERAND_CONSTANT ? "const" : "%",
                        n->inputs[j]->id);
        fprintf(stderr, " ) %s\n", n->label);
    }
}
