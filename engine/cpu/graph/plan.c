/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From operators to steps. Values lie in one arena, and live from operator to
 * operator: XNNPACK is told where each of them lies, so that a run of its operators
 * needs no memory of its own for them.
 */
#include "graph.h"

#include "cpu/memory.h"
#include "compile/passes.h"
#include "ops/ops.h"

#include <stdio.h>
#include <stdlib.h>

static enum tdl_result out_of_memory(void)
{
    return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while planning a graph for the CPU");
}

/* ------------------------------------------------------------------- values */

/* A renamed value is its input's memory, where either may lie in the other's place. */
static bool alias_renamed(const struct tdl_node *n)
{
    struct tdl_operand *from = tdl_operand_root(n->inputs[0]), *to = tdl_operand_root(n->output);
    if (!n->op->renames || from->kind == TDL_OPERAND_CONSTANT || (to->external && from->external))
        return false;
    *(to->external ? &from->alias : &to->alias) = to->external ? to : from;
    return true;
}

/* The nodes that do something. */
static enum tdl_result list_nodes(struct tdl_program *p, struct tdl_node ***out_list,
                                  uint32_t *out_count)
{
    struct tdl_node **list = calloc(p->ir->node_count + (size_t)1, sizeof(*list));
    *out_list = list;
    *out_count = 0;
    if (!list)
        return out_of_memory();
    for (uint32_t i = 0; i < p->ir->node_count; i++)
        if (!alias_renamed(p->ir->nodes[i]))
            list[(*out_count)++] = p->ir->nodes[i];
    return TDL_OK;
}

static void live(struct tdl_operand *o, uint32_t at)
{
    struct tdl_operand *root = tdl_operand_root(o);
    root->first_step = TDL_MIN(root->first_step, at);
    root->last_step = TDL_MAX(root->last_step, at);
}

static uint32_t chain_start(const struct tdl_program *p, uint32_t i)
{
    const uint32_t end = p->chain_ends[i];
    while (i && p->chain_ends[i - 1] == end)
        i--;
    return i;
}

/* Values that node `i` of the chain from `start` on touches. The first part of a chain's result is
 * there before the last of what it reads has been read, and what is between has no place. */
static void live_chain(const struct tdl_program *p, uint32_t i, uint32_t start)
{
    const struct tdl_node *n = p->nodes[i];
    const uint32_t end = p->chain_ends[i];
    for (uint32_t j = 0; j < n->input_count; j++) {
        if (!n->inputs[j] || n->inputs[j]->kind == TDL_OPERAND_CONSTANT ||
            (i > start && n->inputs[j] == p->nodes[i - 1]->output))
            continue;
        live(n->inputs[j], start);
        live(n->inputs[j], end);
    }
    if (i < end)
        return;
    live(n->output, start);
    live(n->output, end);
}

static enum tdl_result place_values(struct tdl_program *p, uint64_t guard)
{
    for (uint32_t i = 0; i < p->ir->operand_count; i++) {
        struct tdl_operand *o = p->ir->operands[i];
        o->first_step = UINT32_MAX;
        o->last_step = 0;
        o->size = tdl_tensor_params_size(&o->desc);
        if (!o->size || o->size > UINT32_MAX) /* as everywhere; references count with 32 bits */
            return tdl_fail(TDL_ERROR_UNSUPPORTED, "%.400s: a value of %s is more than 4 GiB",
                            o->producer ? o->producer->label : o->name, tdl_operand_text(o));
        o->size = TDL_ALIGN(o->size, 64);
    }
    for (uint32_t i = 0; i < p->node_count; i++)
        live_chain(p, i, chain_start(p, i));
    return tdl_arena_place(p->ir, guard, &p->arena_size, &p->tensor_bytes);
}

/* Is there room for values, for tensors that runs are bound to, and for `more`, before any of
 * it is touched? Values of a deferred graph are touched later, and looked at again then. */
static enum tdl_result check_memory(const struct tdl_program *p, uint64_t more)
{
    uint64_t bytes = p->arena_size + more;
    for (uint32_t i = 0; i < p->ir->operand_count; i++)
        if (p->ir->operands[i]->external)
            bytes += p->ir->operands[i]->size;
    return tdl_cpu_memory_check("the graph", bytes);
}

/* For as many threads as can be at it. */
static enum tdl_result place_scratch(struct tdl_program *p)
{
    void *memory;
    for (uint32_t i = 0; i < p->step_count; i++)
        p->scratch.each = TDL_MAX(p->scratch.each, p->steps[i].made.scratch_bytes);
    p->scratch.each = TDL_ALIGN(p->scratch.each, (size_t)64);
    p->scratch_bytes = p->scratch.each * tdl_cpu_threads_count(p->threads);
    if (!p->scratch_bytes)
        return TDL_OK;
    const enum tdl_result r = check_memory(p, p->scratch_bytes);
    if (r != TDL_OK)
        return r;
    if (posix_memalign(&memory, TDL_PLAN_ALIGNMENT, p->scratch_bytes))
        return out_of_memory();
    p->scratch.memory = memory;
    memset(memory, 0, p->scratch_bytes);
    return TDL_OK;
}

static enum tdl_result place_memory(struct tdl_program *p)
{
    enum { SLACK = 256 }; /* XNNPACK reads a little too far */
    void *arena;
    if (posix_memalign(&arena, TDL_PLAN_ALIGNMENT, p->arena_size + SLACK))
        return tdl_fail(TDL_ERROR_OUT_OF_MEMORY,
                        "out of memory: the graph needs %llu bytes for its values",
                        (unsigned long long)p->arena_size);
    p->arena = arena;
    for (uint32_t i = 0; i < p->ir->operand_count; i++) {
        const struct tdl_operand *root = tdl_operand_root(p->ir->operands[i]);
        if (root->first_step != UINT32_MAX && !root->external && root->kind != TDL_OPERAND_CONSTANT)
            p->values[i] = p->arena + root->offset;
    }
    return TDL_OK;
}

/* --------------------------------------------------------------- constants */

/* A copy of one, or that of another with the same data. */
static enum tdl_result copy_constant(struct tdl_program *p, struct tdl_operand *o,
                                     struct tdl_map *copied)
{
    enum { SLACK = 64 };
    const size_t size = tdl_tensor_params_size(&o->desc);
    const uint64_t key[] = {(uintptr_t)o->data, size};
    const uint64_t *same = tdl_map_find(copied, key, sizeof(key));
    if (same) {
        o->alias = p->ir->operands[*same];
    } else {
        void *copy = p->constants[o->id] = calloc(1, size + SLACK);
        if (!copy || !tdl_map_add(copied, key, sizeof(key), o->id))
            return out_of_memory();
        memcpy(copy, o->data, size);
        p->weight_bytes += size;
    }
    o->compact = NULL;
    o->data = p->values[o->id] = p->constants[tdl_operand_root(o)->id];
    return TDL_OK;
}

/* Large ones that are no other's, too, are copied when their step is made: most of them
 * XNNPACK packs, and then nobody reads the copy. */
static enum tdl_result put_off_large(struct tdl_program *p)
{
    const uint32_t count = p->ir->operand_count;
    bool *shared = calloc(count + (size_t)1, sizeof(*shared));
    struct tdl_map seen = {0};
    enum tdl_result r = shared ? TDL_OK : out_of_memory();
    for (uint32_t i = 0; i < count && r == TDL_OK; i++) {
        const struct tdl_operand *o = p->ir->operands[i];
        const uint64_t key = (uintptr_t)o->data, *same = tdl_map_find(&seen, &key, sizeof(key));
        if (same)
            shared[i] = shared[*same] = true;
        else if (o->data && !tdl_map_add(&seen, &key, sizeof(key), i))
            r = out_of_memory();
    }
    for (uint32_t i = 0; i < count && r == TDL_OK; i++) {
        struct tdl_operand *o = p->ir->operands[i];
        const size_t elements = tdl_operand_count(o);
        if (!tdl_constant_data(o) || shared[i] || elements <= TDL_COMPACT_LEAST)
            continue;
        struct tdl_compact *c = tdl_ir_alloc(p->ir, sizeof(*c));
        if (!c) {
            r = out_of_memory();
            break;
        }
        *c = (struct tdl_compact){.data = o->data, .dtype = TDL_FLOAT32, .count = 1, .stride = 1};
        tdl_compact_order(c, elements);
        o->compact = c;
        o->data = NULL;
    }
    tdl_map_finish(&seen);
    free(shared);
    return r;
}

/* Copies of those that are read: the caller's memory may go, need not be aligned, and
 * may end where it ends. What was given in fewer bits is so until its step is made. */
static enum tdl_result copy_constants(struct tdl_program *p)
{
    struct tdl_map copied = {0};
    enum tdl_result r = TDL_OK;
    for (uint32_t i = 0; i < p->node_count; i++)
        for (uint32_t j = 0; j < p->nodes[i]->input_count; j++) {
            struct tdl_operand *o = p->nodes[i]->inputs[j];
            if (o && o->data && o->kind == TDL_OPERAND_CONSTANT && !p->values[o->id])
                TRY(copy_constant(p, o, &copied));
        }
fail:
    tdl_map_finish(&copied);
    return r;
}

static bool reads_later(const struct tdl_cpu_step *s, const struct tdl_node *n, uint32_t slot)
{
    const uint32_t packs = s->kernel ? s->kernel->packs | s->made.slots : 0;
    return s->xnn ? !tdl_cpu_xnn_packs(n, slot) : !(packs >> slot & 1);
}

enum { RUNS_READ = 1, XNN_HAS = 2, STEP_HAS = 4 };

/* Find how operands' copies are used. XNNPACK packs its constants for each graph anew: releases
 * before 2023 share nothing between runtimes. */
static void find_uses(struct tdl_program *p, uint8_t *uses)
{
    for (uint32_t i = 0; i < p->step_count; i++)
        for (uint32_t k = 0; k < p->steps[i].node_count; k++) {
            const struct tdl_node *n = p->steps[i].nodes[k];
            for (uint32_t j = 0; j < n->input_count; j++)
                if (n->inputs[j] && reads_later(&p->steps[i], n, j))
                    uses[tdl_operand_root(n->inputs[j])->id] |= RUNS_READ;
                else if (n->inputs[j])
                    uses[tdl_operand_root(n->inputs[j])->id] |=
                        p->steps[i].xnn ? XNN_HAS : STEP_HAS;
        }
    for (uint32_t i = 0; i < p->ir->operand_count; i++) {
        const struct tdl_operand *o = p->ir->operands[i];
        const uint64_t size = tdl_tensor_params_size(&o->desc);
        if ((p->constants[i] || o->compact) && uses[i] == XNN_HAS)
            p->xnn_bytes += size;
        if (o->compact && uses[i])
            p->weight_bytes += size;
    }
}

/* List the constants that runs read, and the data that steps have made of them; where[] is by
 * operand. */
static uint32_t list_blocks(struct tdl_program *p, const uint8_t *uses,
                            struct tdl_weights_block *blocks, uint32_t *where)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->ir->operand_count; i++) {
        where[i] = count;
        if (p->constants[i] && uses[i] & RUNS_READ)
            blocks[count++] = (struct tdl_weights_block){
                p->constants[i], tdl_tensor_params_size(&p->ir->operands[i]->desc)};
    }
    for (uint32_t i = 0; i < p->step_count; i++) {
        p->steps[i].block = count;
        if (p->steps[i].made.packed)
            blocks[count++] =
                (struct tdl_weights_block){p->steps[i].made.packed, p->steps[i].made.packed_bytes};
    }
    return count;
}

void tdl_cpu_drop_copies(struct tdl_program *p)
{
    for (uint32_t i = 0; p->constants && i < p->ir->operand_count; i++) {
        free(p->constants[i]);
        p->constants[i] = NULL;
    }
}

/* From here on they lie where other graphs have them, too. */
static enum tdl_result share_constants(struct tdl_program *p)
{
    const size_t operands = p->ir->operand_count + (size_t)1;
    uint8_t *uses = calloc(operands, sizeof(*uses));
    uint32_t *where = calloc(operands, sizeof(*where));
    struct tdl_weights_block *blocks = calloc(operands + p->step_count, sizeof(*blocks));
    enum tdl_result r = TDL_OK;
    if (!uses || !where || !blocks) {
        r = out_of_memory();
        goto fail;
    }
    find_uses(p, uses);
    TRY(tdl_weights_share(p->ctx, blocks, list_blocks(p, uses, blocks, where), TDL_BUFFER_UPLOAD,
                          &p->weights));
    for (uint32_t i = 0; i < p->ir->operand_count; i++) {
        struct tdl_operand *o = p->ir->operands[i];
        const uint32_t root = tdl_operand_root(o)->id;
        if (o->kind == TDL_OPERAND_CONSTANT)
            p->values[i] = uses[root] & RUNS_READ ? tdl_cpu_weights(p, where[root]) : NULL;
    }
    for (uint32_t i = 0; i < p->step_count; i++)
        free(tdl_take(&p->steps[i].made.packed));
    tdl_cpu_drop_copies(p);
    tdl_ir_forget_constants(p->ir); /* and what preparing made of them */
fail:
    free(uses);
    free(where);
    free(blocks);
    return r;
}

/* -------------------------------------------------------------------- steps */

static void begin_step(struct tdl_program *p, struct tdl_node **nodes, bool xnn)
{
    struct tdl_cpu_step *s = &p->steps[p->step_count++];
    s->nodes = nodes;
    s->node_count = 1;
    s->by_xnn = xnn;
    s->kernel = xnn ? NULL : tdl_cpu_kernel_of(nodes[0]);
}

/* Floats that making a step of the node makes of what was given in fewer bits. */
static uint64_t bytes_expanded(const struct tdl_node *n)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < n->input_count; i++)
        if (n->inputs[i] && n->inputs[i]->compact)
            bytes += tdl_tensor_params_size(&n->inputs[i]->desc);
    return bytes;
}

static bool is_conv(const struct tdl_node *n)
{
    return n->op->filter_channel;
}

/* By operand: an output follows from it with no sums of products in between. */
static bool *find_last(const struct tdl_program *p)
{
    bool *last = calloc(p->ir->operand_count + (size_t)1, sizeof(*last));
    for (uint32_t i = 0; last && i < p->ir->output_count; i++)
        last[tdl_operand_root(p->ir->outputs[i])->id] = true;
    for (uint32_t i = p->node_count; last && i-- > 0;) {
        const struct tdl_node *n = p->nodes[i];
        if (n->op->macs || !last[tdl_operand_root(n->output)->id])
            continue;
        for (uint32_t k = 0; k < n->input_count; k++)
            if (n->inputs[k])
                last[tdl_operand_root(n->inputs[k])->id] = true;
    }
    return last;
}

/* XNNPACK's bounds, infinite as they may be, make infinities of NaN. What a network's last
 * convolutions compute is what a mask is made of, and so is looked at; looking at them all
 * would be a pass over every value. */
static const struct tdl_cpu_kernel *exact_of(const struct tdl_node *n, const bool *last)
{
    const bool unbounded =
        is_conv(n) && *n->op->activation((struct tdl_node *)n) == TDL_ACTIVATION_NONE;
    return unbounded && last[tdl_operand_root(n->output)->id] ? tdl_cpu_kernel_of(n) : NULL;
}

static uint64_t macs_of(const struct tdl_node *n)
{
    return n->op->macs ? n->op->macs(n) : 0;
}

/* Nobody can stop an operator of XNNPACK's: more multiply-accumulates than any network of
 * today has in one are computed here, if more slowly. */
static bool goes_to_xnn(const struct tdl_program *p, const struct tdl_node *n)
{
    const struct tdl_cpu_kernel *own = tdl_cpu_kernel_of(n);
    const bool before =
        own && own->before_xnn && (!own->by_threads || tdl_cpu_threads_count(p->threads) > 1);
    return tdl_cpu_xnn_takes(n) && !before && (macs_of(n) >> 39 == 0 || !own);
}

/* Functions of elements that stand one behind the other are one step. */
static enum tdl_result find_chains(struct tdl_program *p, bool no_fuse)
{
    p->chain_ends = calloc(p->node_count + (size_t)1, sizeof(*p->chain_ends));
    if (!p->chain_ends)
        return out_of_memory();
    for (uint32_t i = p->node_count, length = 1; i-- > 0;) {
        const bool goes_on = !no_fuse && i + 1 < p->node_count && length < TDL_CPU_MOST_CHAIN &&
                             tdl_cpu_goes_on(p->ir, p->nodes[i], p->nodes[i + 1]) &&
                             !goes_to_xnn(p, p->nodes[i]) && !goes_to_xnn(p, p->nodes[i + 1]);
        p->chain_ends[i] = goes_on ? p->chain_ends[i + 1] : i;
        length = goes_on ? length + 1 : 1;
    }
    return TDL_OK;
}

/* Runs of XNNPACK's are as long as can be, but that all their weights are floats while they
 * are made, that one ends where its result is looked at, and that none goes on for long
 * when nobody wants its result any more. */
static enum tdl_result cut(struct tdl_program *p, bool no_fuse, bool without_xnn)
{
    enum { MOST_EXPANDED = 16 << 20, MOST_MACS = 2000000000 };
    uint64_t expanded = 0, macs = 0;
    bool *seen_last = find_last(p);
    for (uint32_t i = 0; seen_last && i < p->node_count; i++) {
        const bool xnn = !without_xnn && goes_to_xnn(p, p->nodes[i]);
        struct tdl_cpu_step *last = p->step_count ? &p->steps[p->step_count - 1] : NULL;
        if (i && p->chain_ends[i - 1] == p->chain_ends[i]) {
            last->node_count++;
            last->kernel = &tdl_cpu_chain;
            continue;
        }
        const bool goes_on = xnn && !no_fuse && last && last->by_xnn;
        const uint64_t bytes = bytes_expanded(p->nodes[i]), work = macs_of(p->nodes[i]);
        if (goes_on && !last->exact && (!bytes || expanded + bytes <= MOST_EXPANDED) &&
            macs + work <= MOST_MACS) {
            last->node_count++;
            expanded += bytes;
            macs += work;
        } else {
            begin_step(p, p->nodes + i, xnn);
            last = &p->steps[p->step_count - 1];
            last->goes_on = goes_on;
            expanded = bytes;
            macs = work;
        }
        if (xnn)
            last->exact = exact_of(p->nodes[i], seen_last);
    }
    const bool done = seen_last != NULL;
    free(seen_last);
    return done ? TDL_OK : out_of_memory();
}

/* Multiply-adds of the whole run that the step is a part of, with the steps before and behind. */
static uint64_t macs_of_run(const struct tdl_program *p, const struct tdl_cpu_step *s)
{
    const struct tdl_cpu_step *end = p->steps + p->step_count;
    uint64_t macs = 0;
    while (s->goes_on)
        s--;
    do
        for (uint32_t i = 0; i < s->node_count; i++)
            macs += macs_of(s->nodes[i]);
    while (++s < end && s->goes_on);
    return macs;
}

/* Floats of what was given in fewer bits, which the node reads: kept for runs that do, too. */
static void keep_read(struct tdl_program *p, const struct tdl_cpu_step *s, const struct tdl_node *n)
{
    for (uint32_t j = 0; j < n->input_count; j++) {
        struct tdl_operand *o = n->inputs[j];
        if (o && o->expanded && reads_later(s, n, j))
            p->constants[o->id] = p->values[o->id] = tdl_take(&o->expanded);
    }
}

/* Filters are constants, as the operators' documentation says. */
static enum tdl_result check_constants(const struct tdl_node *n)
{
    for (uint32_t i = 0; i < n->input_count; i++)
        if (n->op->reference && n->inputs[i] && n->op->weight_slots >> i & 1 &&
            !tdl_is_known(n->inputs[i]))
            return tdl_fail(TDL_ERROR_UNSUPPORTED,
                            "%s: filters, biases and other parameters of %s must be "
                            "constants, given by tdl_builder_constant; those that are computed "
                            "or bound at dispatch are not supported",
                            n->label, n->op->name);
    return TDL_OK;
}

static enum tdl_result make_step(struct tdl_program *p, struct tdl_cpu_step *s)
{
    enum tdl_result r = TDL_OK;
    for (uint32_t i = 0; i < s->node_count; i++)
        TRY(tdl_node_expand(s->nodes[i]));
    if (s->by_xnn)
        TRY(tdl_cpu_xnn_create(s->nodes, s->node_count, macs_of_run(p, s), p->threads, &s->xnn));
    const struct tdl_cpu_kernel *kernel = s->by_xnn ? s->exact : s->kernel;
    if (kernel && kernel->prepare)
        TRY(kernel->prepare(s->nodes[s->node_count - 1], &s->made));
    for (uint32_t i = 0; i < s->node_count; i++)
        keep_read(p, s, s->nodes[i]);
fail:
    for (uint32_t i = 0; i < s->node_count; i++)
        tdl_node_shrink(s->nodes[i]);
    return r;
}

/* Weights are packed here, which takes its time where there are many. */
static enum tdl_result make_steps(struct tdl_program *p, bool no_fuse, bool without_xnn,
                                  const struct tdl_compile_params *params)
{
    enum tdl_result r = cut(p, no_fuse, without_xnn);
    tdl_nodes_count_readers(p->nodes, p->node_count);
    for (uint32_t i = 0; i < p->step_count && r == TDL_OK; i++) {
        r = tdl_cpu_ask(params);
        if (r == TDL_OK)
            r = make_step(p, &p->steps[i]);
    }
    return r;
}

void tdl_cpu_drop_steps(struct tdl_program *p)
{
    for (uint32_t i = 0; i < p->step_count; i++) {
        tdl_cpu_xnn_destroy(&p->steps[i].xnn);
        free(p->steps[i].made.state);
        free(p->steps[i].made.packed);
        p->steps[i] = (struct tdl_cpu_step){0};
    }
    p->step_count = 0;
}

/* Steps that XNNPACK refuses after all, on an old processor say, are computed here. */
static enum tdl_result make_steps_somehow(struct tdl_program *p, const struct tdl_graph *g,
                                          const struct tdl_compile_params *params)
{
    enum tdl_result r = make_steps(p, g->plan.no_fuse, false, params);
    bool xnn = false;
    for (uint32_t i = 0; i < p->step_count; i++)
        xnn |= p->steps[i].by_xnn;
    if (r != TDL_ERROR_UNSUPPORTED || !xnn)
        return r;
    tdl_log(g->ctx, TDL_LOG_WARNING,
            "a graph is computed without XNNPACK, which takes several times as long: %s",
            tdl_last_error());
    tdl_cpu_drop_steps(p);
    return make_steps(p, g->plan.no_fuse, true, params);
}

enum tdl_result tdl_cpu_plan(struct tdl_program *p, const struct tdl_graph *g,
                             const struct tdl_compile_params *params)
{
    const size_t operands = p->ir->operand_count + (size_t)1;
    enum tdl_result r;
    p->values = calloc(operands, sizeof(*p->values));
    p->constants = calloc(operands, sizeof(*p->constants));
    if (!p->values || !p->constants)
        return out_of_memory();
    TRY(list_nodes(p, &p->nodes, &p->node_count));
    p->steps = calloc(p->node_count + (size_t)1, sizeof(*p->steps));
    if (!p->steps)
        return out_of_memory();
    for (uint32_t i = 0; i < p->node_count; i++)
        TRY(check_constants(p->nodes[i]));
    TRY(find_chains(p, g->plan.no_fuse));
    TRY(place_values(p, g->plan.guard));
    TRY(check_memory(p, p->ir->budget.given)); /* constants as the floats that are kept of them */
    TRY(place_memory(p));
    TRY(put_off_large(p));
    TRY(copy_constants(p));
    TRY(make_steps_somehow(p, g, params));
    TRY(place_scratch(p));
    TRY(share_constants(p));
fail:
    return r;
}

/* ------------------------------------------------------------- description */

static void add_label(char *text, size_t size, const char *label)
{
    const size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%s", used ? " + " : "", label);
}

static uint64_t bytes_of(const struct tdl_node *n)
{
    uint64_t bytes = tdl_tensor_params_size(&n->output->desc);
    for (uint32_t i = 0; i < n->input_count; i++)
        if (n->inputs[i])
            bytes += tdl_tensor_params_size(&n->inputs[i]->desc);
    return bytes;
}

static bool is_quantized(const struct tdl_cpu_step *s)
{
    bool any = false;
    for (uint32_t i = 0; i < s->node_count; i++)
        any |= s->nodes[i]->op == &tdl_op_quantized || s->nodes[i]->op == &tdl_op_quantized_conv2d;
    return any;
}

enum tdl_result tdl_cpu_describe_steps(struct tdl_graph *g)
{
    struct tdl_program *p = g->program;
    g->steps = calloc(p->step_count + (size_t)1, sizeof(*g->steps));
    if (!g->steps)
        return out_of_memory();
    for (uint32_t i = 0; i < p->step_count; i++) {
        struct tdl_cpu_step *s = &p->steps[i];
        const struct tdl_node *first = s->nodes[0];
        if (s->by_xnn)
            snprintf(s->name, sizeof(s->name), "xnnpack");
        else
            snprintf(s->name, sizeof(s->name), "%s: %s", s->kernel ? "cpu" : "reference",
                     s->kernel && s->kernel->name ? s->kernel->name : first->op->name);
        g->steps[i].kernel = s->name;
        g->steps[i].label = s->label;
        g->steps[i].algorithm = "";
        g->quantized_steps += is_quantized(s);
        for (uint32_t k = 0; k < s->node_count; k++) {
            const struct tdl_node *n = s->nodes[k];
            add_label(s->label, sizeof(s->label), *n->label ? n->label : n->op->name);
            g->steps[i].macs += n->op->macs ? n->op->macs(n) : 0;
            g->steps[i].bytes += bytes_of(n);
        }
    }
    g->step_count = p->step_count;
    g->plan.arena_size = p->arena_size;
    g->plan.tensor_bytes = p->tensor_bytes;
    g->plan.weight_count = p->weight_bytes / sizeof(float);
    return TDL_OK;
}
