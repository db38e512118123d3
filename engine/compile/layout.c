/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * layout: where every value lies. Operators say what they work on, packs of
 * four channels or linear memory (enum tdl_storage); for those that can do either
 * storage.c chooses. Tensors bound at dispatch are linear, and linear
 * operators read and write them in place. Where a reader differs from what it
 * reads, a repack node stands between, one for all readers.
 */
#include "layout.h"
#include "passes.h"

#include "ops/ops.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct layout {
    struct tdl_ir *ir;
    enum tdl_dtype packs;  /* storage of values in packs */
    const char *algorithm; /* for convolutions, or NULL */
};

static enum tdl_result out_of_memory(void)
{
    return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory in the layout pass");
}

static bool writes_linear(const struct tdl_node *n)
{
    return n->op->writes_linear && n->op->writes_linear(n);
}

/* ------------------------------------------------------------ conversions */

static enum tdl_result add_repack(struct tdl_ir *ir, struct tdl_operand *from,
                                  struct tdl_operand *to)
{
    struct tdl_node *n = tdl_ir_add_node(ir, &tdl_op_repack);
    if (!n)
        return out_of_memory();
    n->input_count = 1;
    tdl_ir_set_input(ir, n, 0, from);
    n->output = to;
    to->producer = n;
    n->storage = to->storage;
    n->wide = to->storage == TDL_STORAGE_PACKED ? to->wide : from->wide;
    if (tdl_is_between_widths(n))
        n->wide = false;
    snprintf(n->label, sizeof(n->label), "repack %s",
             from->kind == TDL_OPERAND_CONSTANT ? "constant"
             : from->external                   ? from->name
                                                : to->name);
    return TDL_OK;
}

/* Gives the value in the other storage; `wide`: in packs of float32, if in packs. NULL
 * when out of memory. */
static struct tdl_operand *twin_of(struct tdl_ir *ir, struct tdl_operand *o,
                                   enum tdl_storage storage, bool wide, enum tdl_layout layout)
{
    struct tdl_tensor_params desc = o->desc;
    if (storage == TDL_STORAGE_PACKED && desc.rank < 4) {
        /* Broadcasting puts ones in front. */
        uint32_t more = 4 - desc.rank;
        memmove(desc.shape + more, desc.shape, desc.rank * sizeof(desc.shape[0]));
        for (uint32_t i = 0; i < more; i++)
            desc.shape[i] = 1;
        desc.rank = 4;
    } else {
        layout = o->layout;
    }
    wide &= storage == TDL_STORAGE_PACKED;
    if (o->twin && o->twin->storage == storage && o->twin->wide == wide &&
        o->twin->layout == layout)
        return o->twin;
    /* Packs of a constant lie among the weights: nothing is to be done when the graph runs. */
    const bool constant = o->kind == TDL_OPERAND_CONSTANT && storage == TDL_STORAGE_PACKED &&
                          tdl_is_float(o->desc.dtype);
    struct tdl_operand *twin =
        tdl_ir_add_operand(ir, constant ? TDL_OPERAND_CONSTANT : TDL_OPERAND_VALUE, &desc);
    if (!twin) {
        out_of_memory();
        return NULL;
    }
    twin->layout = layout;
    twin->storage = storage;
    twin->wide = wide;
    o->twin = twin;
    if (constant) {
        twin->data = o->data == o->expanded ? NULL : o->data;
        twin->compact = o->compact;
        return twin;
    }
    return add_repack(ir, o, twin) == TDL_OK ? twin : NULL;
}

/* Let the node read what it can read. */
static enum tdl_result place_read(struct layout *l, struct tdl_node *n, uint32_t slot)
{
    struct tdl_operand *o = tdl_layout_value(n, slot);
    enum tdl_layout layout = n->output->layout;
    if (!o)
        return TDL_OK;
    /* A tensor of float32 packs is of use for no kernel but repack, if the
     * graph's own packs are others. */
    if (o->bound.packing && l->packs != TDL_FLOAT32 && o->kind == TDL_OPERAND_INPUT)
        o = twin_of(l->ir, o, TDL_STORAGE_PACKED, n->wide, layout);
    /* Packs of the other width: of float32, they are what a bound tensor of packs is. */
    if (o && o->storage == TDL_STORAGE_PACKED && o->wide != n->wide)
        o = twin_of(l->ir, o, n->storage, n->wide, layout);
    if (o && o->storage != n->storage && !tdl_layout_reads_other(n, slot, o->storage, l->algorithm))
        o = twin_of(l->ir, o, n->storage, n->wide, layout);
    tdl_ir_set_input(l->ir, n, slot, o);
    return o ? TDL_OK : TDL_ERROR_OUT_OF_MEMORY;
}

/* ------------------------------------------------------- inputs and outputs */

static bool has_packs_outside(const struct tdl_operand *o, enum tdl_packing packing)
{
    return packing == TDL_PACKING_C4 && o->desc.rank == 4 && o->desc.dtype == TDL_FLOAT32;
}

/* The tensor that is bound has the operand's shape, or packs if `packing` says
 * so; true if it has packs. */
static bool bind_outside(struct tdl_operand *o, enum tdl_packing packing)
{
    o->external = true;
    o->bound = o->desc;
    o->storage = TDL_STORAGE_LINEAR;
    if (!has_packs_outside(o, packing))
        return false;
    /* Packs: shape as NHWC, whatever the model's order was. */
    const struct tdl_dims d = tdl_operand_dims(o);
    const uint32_t nhwc[] = {d.n, d.h, d.w, d.c};
    memcpy(o->bound.shape, nhwc, sizeof(nhwc));
    o->bound.packing = TDL_PACKING_C4;
    return true;
}

static void place_input(struct tdl_operand *input, const struct tdl_build_params *params)
{
    if (bind_outside(input, params->input_packing))
        input->storage = TDL_STORAGE_PACKED;
}

void tdl_pass_bind(struct tdl_ir *ir, const struct tdl_build_params *params)
{
    for (uint32_t i = 0; i < ir->input_count; i++) {
        ir->inputs[i]->binding = (int32_t)i;
        bind_outside(ir->inputs[i], params->input_packing);
    }
    for (uint32_t i = 0; i < ir->output_count; i++) {
        ir->outputs[i]->binding = (int32_t)(ir->input_count + i);
        bind_outside(ir->outputs[i], params->output_packing);
    }
}

/* Written in place, or by a repack node. */
static enum tdl_result place_output(struct layout *l, struct tdl_operand *output,
                                    const struct tdl_build_params *params)
{
    struct tdl_ir *ir = l->ir;
    const bool packs = bind_outside(output, params->output_packing);
    const enum tdl_storage made = output->producer->storage;
    if (packs && l->packs == TDL_FLOAT32)
        output->storage = TDL_STORAGE_PACKED; /* without this, repack makes floats of the packs */
    if (packs ? made == output->storage && made == TDL_STORAGE_PACKED
              : made == TDL_STORAGE_LINEAR ||
                    (!tdl_ir_is_read(ir, output) && writes_linear(output->producer)))
        return TDL_OK;
    struct tdl_operand *inside = tdl_ir_add_operand(ir, TDL_OPERAND_VALUE, &output->desc);
    if (!inside)
        return out_of_memory();
    inside->producer = output->producer;
    inside->producer->output = inside;
    inside->layout = output->layout;
    inside->storage = made;
    inside->wide = output->wide;
    tdl_ir_replace(ir, output, inside);
    if (packs && made == TDL_STORAGE_LINEAR && output->storage == TDL_STORAGE_LINEAR)
        inside = twin_of(ir, inside, TDL_STORAGE_PACKED, inside->wide, output->layout);
    else if (!packs)
        inside->twin = output; /* for others that read it linear */
    return inside ? add_repack(ir, inside, output) : TDL_ERROR_OUT_OF_MEMORY;
}

/* ------------------------------------------------------------------- sizes */

/* Kernels count with 32 bits, and no device's buffers are larger. */
static enum tdl_result find_size(struct tdl_operand *o, enum tdl_dtype packs)
{
    struct tdl_dims d = tdl_operand_dims(o);
    const uint64_t factors[] = {d.n, ((uint64_t)d.c + 3) / 4, d.h, d.w,
                                tdl_dtype_size(o->wide ? TDL_FLOAT32 : packs)};
    bool fits = true;
    o->size = 4;
    if (o->external || o->storage == TDL_STORAGE_LINEAR)
        o->size =
            TDL_ALIGN((uint64_t)tdl_tensor_params_size(o->external ? &o->bound : &o->desc), 16);
    else
        for (size_t i = 0; i < TDL_COUNT(factors) && fits; i++)
            fits = !__builtin_mul_overflow(o->size, factors[i], &o->size);
    if (!fits || !o->size || o->size > UINT32_MAX)
        return tdl_fail(TDL_ERROR_UNSUPPORTED, "%.400s: a value of %s is more than 4 GiB",
                        o->producer ? o->producer->label : o->name, tdl_operand_text(o));
    return TDL_OK;
}

/* A renamed value is its input under another name; packs are the same in either layout. Into
 * a bound tensor the input is written at once, if it is not one itself. */
static void alias_renamed(const struct tdl_node *n)
{
    const bool same = n->op->renames || (n->op->relabels && n->storage == TDL_STORAGE_PACKED);
    struct tdl_operand *from, *to;
    if (!same)
        return;
    from = tdl_operand_root(n->inputs[0]);
    to = tdl_operand_root(n->output);
    if (from->kind == TDL_OPERAND_CONSTANT)
        return;
    if (!to->external)
        to->alias = from;
    else if (!from->external)
        from->alias = to;
}

static uint64_t packed_outputs(const struct tdl_ir *ir, const struct tdl_build_params *params)
{
    uint64_t packed = 0;
    for (uint32_t i = 0; i < ir->output_count; i++)
        packed |= (uint64_t)has_packs_outside(ir->outputs[i], params->output_packing) << i;
    return packed;
}

enum tdl_result tdl_pass_layout(struct tdl_ir *ir, const struct tdl_build_params *params,
                                enum tdl_dtype storage)
{
    struct layout l = {ir, storage, params->conv2d_algorithm};
    enum tdl_result r;
    for (uint32_t i = 0; i < ir->input_count; i++) {
        ir->inputs[i]->binding = (int32_t)i;
        place_input(ir->inputs[i], params);
    }
    TRY(tdl_choose_storages(ir, params->conv2d_algorithm, packed_outputs(ir, params)));
    for (uint32_t i = 0; i < ir->operand_count; i++) {
        struct tdl_operand *o = ir->operands[i];
        if (!o->external)
            o->storage = o->producer ? o->producer->storage : TDL_STORAGE_LINEAR;
    }
    uint32_t count = ir->node_count;
    for (uint32_t i = 0; i < count; i++)
        ir->nodes[i]->wide = ir->nodes[i]->output->wide;
    for (uint32_t i = 0; i < ir->output_count; i++) {
        ir->outputs[i]->binding = (int32_t)(ir->input_count + i);
        TRY(place_output(&l, ir->outputs[i], params));
    }
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < ir->nodes[i]->input_count; j++)
            TRY(place_read(&l, ir->nodes[i], j));
    TRY(tdl_ir_sort(ir));
    for (uint32_t i = 0; i < ir->node_count; i++) {
        struct tdl_node *n = ir->nodes[i];
        for (uint32_t j = 0; j < n->input_count; j++)
            if (n->inputs[j] && n->inputs[j]->kind != TDL_OPERAND_CONSTANT)
                TRY(find_size(n->inputs[j], storage));
        TRY(find_size(n->output, storage));
        alias_renamed(n);
    }
    tdl_ir_dump(ir, "layout");
fail:
    return r;
}
