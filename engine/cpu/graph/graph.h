/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A graph on the CPU: its operators in an order, cut into steps. A step is a run of
 * operators that XNNPACK computes, or one operator that is computed here: by a row of
 * the table in ops.c, or by the operator's reference. Before that the operators are
 * rewritten (prepare.c) until every value is row-major in the order of its shape,
 * images that windows work on are NHWC, and nothing but moves and element-wise
 * functions sees float16.
 */
#ifndef TDL_CPU_GRAPH_H
#define TDL_CPU_GRAPH_H

#include "core/weights.h"
#include "cpu/cpu.h"

struct tdl_cpu_xnn;

/* ------------------------------------------------------------ own operators */

/* Memory for each thread that works at a kernel, as much as the largest of the graph wants,
 * at lines of the cache. What is in it may be left from others. */
struct tdl_cpu_scratch {
    uint8_t *memory;
    size_t each;                /* bytes */
    atomic_uint_fast64_t taken; /* a bit for each thread */
};

static inline void *tdl_cpu_scratch_take(struct tdl_cpu_scratch *s)
{
    uint_fast64_t taken = atomic_load(&s->taken), mine;
    do
        mine = ~taken & (taken + 1); /* the lowest that is not: there are as many as threads */
    while (!atomic_compare_exchange_weak(&s->taken, &taken, taken | mine));
    return s->memory + (size_t)__builtin_ctzll(mine) * s->each;
}

static inline void tdl_cpu_scratch_give(struct tdl_cpu_scratch *s, const void *memory)
{
    const size_t i = (size_t)((const uint8_t *)memory - s->memory) / s->each;
    atomic_fetch_and(&s->taken, ~((uint_fast64_t)1 << i));
}

struct tdl_cpu_call {
    const struct tdl_node *node;
    const void *inputs[TDL_MAX_NODE_INPUTS]; /* by slot */
    void *output;
    struct tdl_cpu_scratch *scratch;
    void *state;         /* made by prepare() */
    const float *packed; /* made by prepare(), too */
    struct tdl_cpu_threads *threads;
    /* Of tdl_cpu_chain: its nodes, of which `node` is the last, and values by operand. */
    struct tdl_node *const *chain;
    uint32_t chain_count;
    void *const *values;
};

/* Data that runs need beside constants, each from one malloc(), or NULL. */
struct tdl_cpu_prepared {
    void *state;   /* freed with the graph */
    float *packed; /* never changes; graphs may share it */
    size_t packed_bytes;
    size_t scratch_bytes; /* of each thread, while it runs */
    uint32_t slots;       /* bits of those that runs do not read, beside the kernel's `packs` */
};

/* How operators are computed here. Memory is aligned to elements at least. */
struct tdl_cpu_kernel {
    const char *name; /* "cpu: conv" */
    /* NULL: all nodes of the operators that the table has it for. */
    bool (*takes)(const struct tdl_node *n);
    /* While constants' data are there; `out` is zeroed. NULL: nothing. */
    enum tdl_result (*prepare)(const struct tdl_node *n, struct tdl_cpu_prepared *out);
    void (*run)(const struct tdl_cpu_call *call);
    uint32_t packs;  /* bits of the slots that prepare() reads, and run() does not */
    bool before_xnn; /* it takes what XNNPACK would, and more slowly */
    bool by_threads; /* ... where there are several threads */
};

/* NULL: by the reference. */
const struct tdl_cpu_kernel *tdl_cpu_kernel_of(const struct tdl_node *n);

/* eltwise.c: nodes that are computed together, a part of all their elements after the other.
 * Only the last one's value has a place. */
enum { TDL_CPU_MOST_CHAIN = 8 };
extern const struct tdl_cpu_kernel tdl_cpu_chain;
/* Can `next` stand behind `n` in one of them? */
bool tdl_cpu_goes_on(struct tdl_ir *ir, const struct tdl_node *n, const struct tdl_node *next);

/* How many elements are worth a thread's while, `cost` being about ns each. */
static inline size_t tdl_cpu_grain(double cost)
{
    return (size_t)(TDL_CPU_LEAST_NS / cost) + 1;
}

/* ----------------------------------------------------------------- programs */

struct tdl_cpu_step {
    struct tdl_node **nodes; /* a part of the program's list */
    uint32_t node_count;
    bool by_xnn;
    bool goes_on;                        /* continues the step before, which would be too long */
    struct tdl_cpu_xnn *xnn;             /* the run, where it is one of XNNPACK's */
    const struct tdl_cpu_kernel *kernel; /* others'; NULL: by the reference */
    /* For a run of XNNPACK's: computes its last node anew where the result has infinities, which
     * may have been NaN. */
    const struct tdl_cpu_kernel *exact;
    struct tdl_cpu_prepared made;
    uint32_t block; /* packed data's index among the weights */
    char name[48], label[160];
};

struct tdl_program {
    atomic_int refs; /* the graph's, and those of runs that are queued */
    struct tdl_cpu_threads *threads;
    struct tdl_ir *ir;
    struct tdl_node **nodes; /* nodes of the IR that do something */
    uint32_t node_count;
    uint32_t *chain_ends; /* by node: the last of its chain, which may be itself */
    struct tdl_cpu_step *steps;
    uint32_t step_count;
    uint64_t arena_size, tensor_bytes, weight_bytes;
    uint64_t xnn_bytes; /* share of weight_bytes that XNNPACK has packed, for each graph anew */
    struct tdl_context *ctx;    /* outlives the runs, and so their programs */
    bool counted;               /* the arena, and what XNNPACK has, in the context's memory */
    struct tdl_weights weights; /* constants that runs read, and what steps have packed */
    struct tdl_cpu_scratch scratch;
    uint64_t scratch_bytes; /* of all threads */
    uint8_t *arena;         /* holds one run's values: a context's runs are in order */
    /* By operand: where its value lies; of bound ones, in the run that is on. */
    void **values;
    void **constants; /* by operand: copies, while steps are made */
    uint64_t *ns;     /* by step, of the last profile */
    uint64_t runs;    /* on the worker alone: begun so far */
};

/* conv2d of one filter for each channel, and nothing fused into it. */
static inline bool tdl_cpu_is_depthwise(const struct tdl_node *n)
{
    const struct tdl_dims f = tdl_operand_dims(n->inputs[TDL_CONV_FILTER]);
    const uint32_t channels = tdl_operand_dims(n->inputs[TDL_CONV_INPUT]).c;
    return n->attr.conv.pre == TDL_PRE_NONE && n->input_count <= TDL_CONV_BIAS + 1 &&
           n->attr.conv.p.groups == channels && f.n == channels && f.c == 1;
}

/* Values in bound tensors of packs are unpacked by this operator, and others packed:
 * from, or to, an external operand. */
static inline bool tdl_cpu_is_packs(const struct tdl_operand *o)
{
    return o->external && o->bound.packing == TDL_PACKING_C4;
}

/* A block of the weights. */
static inline void *tdl_cpu_weights(const struct tdl_program *p, uint32_t block)
{
    const struct tdl_weights_place *place = &p->weights.places[block];
    return tdl_cpu_memory(p->weights.buffers[place->buffer]) + place->offset;
}

/* prepare.c: rewrite the operators as said above. */
enum tdl_result tdl_cpu_prepare(struct tdl_ir *ir, bool no_fuse,
                                const struct tdl_cpu_threads *threads);
/* plan.c: order, steps, arena. */
enum tdl_result tdl_cpu_plan(struct tdl_program *p, const struct tdl_graph *graph,
                             const struct tdl_compile_params *params);
/* program.c: does whoever compiles want to go on? TDL_OK, or CANCELED with text. */
enum tdl_result tdl_cpu_ask(const struct tdl_compile_params *params);
void tdl_cpu_drop_steps(struct tdl_program *p);
/* Drop the copies of the constants. */
void tdl_cpu_drop_copies(struct tdl_program *p);
/* For people: what the steps are, in graph->steps. */
enum tdl_result tdl_cpu_describe_steps(struct tdl_graph *graph);

/* ------------------------------------------------------------------- XNNPACK */

/* True if XNNPACK computes the node, as its reference does. */
bool tdl_cpu_xnn_takes(const struct tdl_node *n);
/* Is a conv2d of int8 to int8, as this one would be, computed faster than one of floats with what
 * quantizes around it? The second: where there is one thread, and no pool to wait for. */
bool tdl_cpu_xnn_takes_bytes(const struct tdl_node *conv);
bool tdl_cpu_xnn_takes_bytes_alone(const struct tdl_node *conv);
/* Can it start? Not where it cannot look at the processor, as without /proc. Thread-safe. */
bool tdl_cpu_xnn_starts(void);
/* True if it reads what is in the slot when the runtime is created, and not later. */
bool tdl_cpu_xnn_packs(const struct tdl_node *n, uint32_t slot);
/* A runtime for nodes in their order, of a run of so many multiply-accumulates. */
enum tdl_result tdl_cpu_xnn_create(struct tdl_node *const *nodes, uint32_t count, uint64_t macs,
                                   struct tdl_cpu_threads *threads, struct tdl_cpu_xnn **out_xnn);
void tdl_cpu_xnn_destroy(struct tdl_cpu_xnn **xnn);
/* Have the tables that runs need; where `values` has none, as if at `stand_in`, of which
 * nothing is read. A run does it anew for what lies elsewhere, in the same memory. */
enum tdl_result tdl_cpu_xnn_setup(struct tdl_cpu_xnn *xnn, void *const *values, void *stand_in);
enum tdl_result tdl_cpu_xnn_run(struct tdl_cpu_xnn *xnn, void *const *values);

#endif
