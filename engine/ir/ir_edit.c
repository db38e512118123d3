/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Questions about the graph, and changes to it: none of them takes longer than
 * in proportion to the graph, or to its logarithm more, however it is shaped.
 */
#include "ir.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ readers */

/* A reader of a value: one that was, and it may stand there twice. */
struct tdl_use {
    struct tdl_use *next;
    struct tdl_node *node;
};

enum { USES_A_CHUNK = 1000 };
struct tdl_use_chunk {
    struct tdl_use_chunk *next;
    uint32_t count;
    struct tdl_use uses[USES_A_CHUNK];
};

void tdl_ir_forget_uses(struct tdl_ir *ir)
{
    for (struct tdl_use_chunk *c = ir->use_chunks, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    ir->use_chunks = NULL;
    ir->indexed = false;
}

static bool add_use(struct tdl_ir *ir, struct tdl_operand *o, struct tdl_node *n)
{
    struct tdl_use_chunk *c = ir->use_chunks;
    if (!c || c->count == USES_A_CHUNK) {
        c = malloc(sizeof(*c));
        if (!c)
            return false;
        c->next = ir->use_chunks;
        c->count = 0;
        ir->use_chunks = c;
    }
    struct tdl_use *use = &c->uses[c->count++];
    *use = (struct tdl_use){o->uses, n};
    o->uses = use;
    return true;
}

void tdl_ir_index(struct tdl_ir *ir)
{
    tdl_ir_forget_uses(ir);
    for (uint32_t i = 0; i < ir->operand_count; i++)
        ir->operands[i]->uses = NULL;
    ir->indexed = !ir->no_index;
    for (uint32_t i = 0; i < ir->node_count; i++)
        for (uint32_t j = 0; j < ir->nodes[i]->input_count && ir->indexed; j++)
            tdl_ir_set_input(ir, ir->nodes[i], j, ir->nodes[i]->inputs[j]);
}

void tdl_ir_set_input(struct tdl_ir *ir, struct tdl_node *n, uint32_t slot, struct tdl_operand *o)
{
    n->inputs[slot] = o;
    /* Nobody asks who reads a constant. */
    if (ir->indexed && o && o->kind != TDL_OPERAND_CONSTANT && !add_use(ir, o, n))
        tdl_ir_forget_uses(ir);
}

static uint32_t slots_reading(const struct tdl_node *n, const struct tdl_operand *o)
{
    uint32_t count = 0;
    for (uint32_t j = 0; j < n->input_count && !n->dead; j++)
        count += n->inputs[j] == o;
    return count;
}

/* As tdl_ir_only_reader(), from the list, of which is dropped what is no more. */
static struct tdl_node *only_listed(struct tdl_operand *o)
{
    struct tdl_node *reader = NULL;
    for (struct tdl_use **p = &o->uses; *p;) {
        struct tdl_node *n = (*p)->node;
        if (n == reader || !slots_reading(n, o)) {
            *p = (*p)->next;
            continue;
        }
        if (reader)
            return NULL;
        reader = n;
        p = &(*p)->next;
    }
    return reader;
}

struct tdl_node *tdl_ir_only_reader(struct tdl_ir *ir, struct tdl_operand *operand)
{
    struct tdl_node *reader = NULL;
    if (operand->is_output)
        return NULL;
    if (ir->indexed && operand->kind != TDL_OPERAND_CONSTANT)
        return only_listed(operand);
    for (uint32_t i = 0; i < ir->node_count; i++)
        if (slots_reading(ir->nodes[i], operand)) {
            if (reader)
                return NULL;
            reader = ir->nodes[i];
        }
    return reader;
}

struct tdl_node *tdl_ir_only_user(struct tdl_ir *ir, struct tdl_operand *operand)
{
    struct tdl_node *reader = tdl_ir_only_reader(ir, operand);
    return reader && slots_reading(reader, operand) == 1 ? reader : NULL;
}

bool tdl_ir_is_read(const struct tdl_ir *ir, const struct tdl_operand *operand)
{
    const bool listed = ir->indexed && operand->kind != TDL_OPERAND_CONSTANT;
    for (const struct tdl_use *use = operand->uses; listed && use; use = use->next)
        if (slots_reading(use->node, operand))
            return true;
    for (uint32_t i = 0; i < ir->node_count && !listed; i++)
        if (slots_reading(ir->nodes[i], operand))
            return true;
    return false;
}

struct tdl_node *tdl_ir_next_reader(const struct tdl_operand *operand, const struct tdl_use **state)
{
    *state = *state ? (*state)->next : operand->uses;
    return *state ? (*state)->node : NULL;
}

uint32_t tdl_ir_count_unlisted(const struct tdl_ir *ir)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < ir->node_count && ir->indexed; i++)
        for (uint32_t j = 0; j < ir->nodes[i]->input_count && !ir->nodes[i]->dead; j++) {
            const struct tdl_operand *o = ir->nodes[i]->inputs[j];
            const struct tdl_use *use = o ? o->uses : NULL;
            while (use && use->node != ir->nodes[i])
                use = use->next;
            count += o && o->kind != TDL_OPERAND_CONSTANT && !use;
        }
    return count;
}

void tdl_ir_replace(struct tdl_ir *ir, struct tdl_operand *from, struct tdl_operand *to)
{
    const bool listed = ir->indexed && from->kind != TDL_OPERAND_CONSTANT;
    const struct tdl_use *state = NULL;
    struct tdl_node *n;
    for (uint32_t i = 0; (n = listed               ? tdl_ir_next_reader(from, &state)
                              : i < ir->node_count ? ir->nodes[i]
                                                   : NULL);
         i++)
        for (uint32_t j = 0; j < n->input_count; j++)
            if (n->inputs[j] == from)
                tdl_ir_set_input(ir, n, j, to);
}

/* ----------------------------------------------------------------- sweeping */

static void count_readers(const struct tdl_ir *ir, uint32_t *readers)
{
    for (uint32_t i = 0; i < ir->operand_count; i++)
        readers[i] = ir->operands[i]->is_output;
    for (uint32_t i = 0; i < ir->node_count; i++)
        for (uint32_t j = 0; j < ir->nodes[i]->input_count && !ir->nodes[i]->dead; j++)
            if (ir->nodes[i]->inputs[j])
                readers[ir->nodes[i]->inputs[j]->id]++;
}

static bool makes(const struct tdl_node *n, const struct tdl_operand *o)
{
    return n->output == o || n->means == o;
}

static bool outputs_read(const struct tdl_node *n, const uint32_t *readers)
{
    return readers[n->output->id] || (n->means && readers[n->means->id]);
}

/* Marks what nobody reads, and what only that reads: `readers` of each operand,
 * and a list that is as long as all nodes. */
static void mark_dead(struct tdl_ir *ir, uint32_t *readers, struct tdl_node **list)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < ir->node_count; i++)
        if (!ir->nodes[i]->dead && !outputs_read(ir->nodes[i], readers))
            list[count++] = ir->nodes[i];
    while (count) {
        struct tdl_node *n = list[--count];
        n->dead = true;
        for (uint32_t j = 0; j < n->input_count; j++) {
            const struct tdl_operand *o = n->inputs[j];
            if (o && --readers[o->id] == 0 && o->producer && !o->producer->dead &&
                makes(o->producer, o) && !outputs_read(o->producer, readers))
                list[count++] = o->producer;
        }
    }
}

void tdl_ir_sweep(struct tdl_ir *ir)
{
    uint32_t *readers = calloc(ir->operand_count + 1, sizeof(*readers)), kept = 0;
    struct tdl_node **list = calloc(ir->node_count + 1, sizeof(*list));
    if (readers && list) { /* without this, work that nobody needs is done, too */
        count_readers(ir, readers);
        mark_dead(ir, readers, list);
    }
    free(readers);
    free(list);
    tdl_ir_forget_uses(ir);
    /* A node that was fused makes something else than before. */
    for (uint32_t i = 0; i < ir->operand_count; i++) {
        struct tdl_operand *o = ir->operands[i];
        if (o->producer && (o->producer->dead || !makes(o->producer, o)))
            o->producer = NULL;
    }
    for (uint32_t i = 0; i < ir->node_count; i++) {
        if (ir->nodes[i]->dead)
            free(ir->nodes[i]);
        else
            ir->nodes[kept++] = ir->nodes[i];
    }
    ir->node_count = kept;
}

/* ------------------------------------------------------------------ sorting */

/* A heap of places in the old order, the first on top. */
struct heap {
    uint32_t *places, count;
};

static void heap_push(struct heap *h, uint32_t place)
{
    uint32_t i = h->count++;
    for (; i && h->places[(i - 1) / 2] > place; i = (i - 1) / 2)
        h->places[i] = h->places[(i - 1) / 2];
    h->places[i] = place;
}

static uint32_t heap_pop(struct heap *h)
{
    uint32_t top = h->places[0], last = h->places[--h->count], i = 0;
    for (uint32_t child; (child = 2 * i + 1) < h->count; i = child) {
        if (child + 1 < h->count && h->places[child + 1] < h->places[child])
            child++;
        if (h->places[child] >= last)
            break;
        h->places[i] = h->places[child];
    }
    h->places[i] = last;
    return top;
}

/* The nodes that wait for an operand: a list through the slots of all nodes. */
struct sorting {
    struct tdl_node **nodes; /* in the old order */
    struct heap ready;
    uint32_t *missing;      /* by node: inputs that are not made yet */
    uint32_t *first, *next; /* by operand, by slot: a slot + 1, or 0 */
};

static bool sorting_init(struct sorting *s, const struct tdl_ir *ir)
{
    size_t nodes = ir->node_count + (size_t)1;
    s->nodes = malloc(nodes * sizeof(*s->nodes));
    s->ready.places = malloc(nodes * sizeof(*s->ready.places));
    s->missing = calloc(nodes, sizeof(*s->missing));
    s->first = calloc(ir->operand_count + (size_t)1, sizeof(*s->first));
    s->next = calloc(nodes * TDL_MAX_NODE_INPUTS, sizeof(*s->next));
    return s->nodes && s->ready.places && s->missing && s->first && s->next;
}

static void sorting_finish(struct sorting *s)
{
    free(s->nodes);
    free(s->ready.places);
    free(s->missing);
    free(s->first);
    free(s->next);
}

/* The nodes that wait for each operand. */
static void sorting_start(struct sorting *s, const struct tdl_ir *ir)
{
    memcpy(s->nodes, ir->nodes, ir->node_count * sizeof(*s->nodes));
    for (uint32_t i = 0; i < ir->node_count; i++) {
        for (uint32_t j = 0; j < ir->nodes[i]->input_count; j++) {
            const struct tdl_operand *o = ir->nodes[i]->inputs[j];
            uint32_t slot = i * TDL_MAX_NODE_INPUTS + j;
            if (!o || o->kind != TDL_OPERAND_VALUE)
                continue;
            s->next[slot] = s->first[o->id];
            s->first[o->id] = slot + 1;
            s->missing[i]++;
        }
        if (!s->missing[i])
            heap_push(&s->ready, i);
    }
}

/* The value is there: who waited for it alone is ready. */
static void sorting_release(struct sorting *s, const struct tdl_operand *o)
{
    uint32_t *waiting = &s->first[o->id];
    for (uint32_t slot = *waiting; slot; slot = s->next[slot - 1])
        if (--s->missing[(slot - 1) / TDL_MAX_NODE_INPUTS] == 0)
            heap_push(&s->ready, (slot - 1) / TDL_MAX_NODE_INPUTS);
    *waiting = 0;
}

/* Kahn's algorithm, stable: keeps the given order where it may. */
enum tdl_result tdl_ir_sort(struct tdl_ir *ir)
{
    struct sorting s = {0};
    enum tdl_result r = TDL_OK;
    uint32_t placed = 0;
    tdl_ir_forget_uses(ir);
    if (!sorting_init(&s, ir)) {
        r = tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while sorting the graph");
        goto done;
    }
    sorting_start(&s, ir);
    while (s.ready.count) {
        struct tdl_node *n = s.nodes[heap_pop(&s.ready)];
        ir->nodes[placed++] = n;
        sorting_release(&s, n->output);
        if (n->means)
            sorting_release(&s, n->means);
    }
    if (placed < ir->node_count) {
        memcpy(ir->nodes, s.nodes, ir->node_count * sizeof(*s.nodes));
        r = tdl_fail(TDL_ERROR_INVALID_MODEL, "the graph has a cycle or reads a value that "
                                              "no operator makes");
    }
done:
    sorting_finish(&s);
    return r;
}
