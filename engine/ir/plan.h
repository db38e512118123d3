/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The plan: the list of dispatches ("steps") that a graph becomes, with its
 * weights and its arena. Operators append steps; the plan pass places the
 * operands; pipelines and record turn the steps into Vulkan objects.
 */
#ifndef TDL_PLAN_H
#define TDL_PLAN_H

#include "map.h"
#include "kernels.h"
#include "heuristics.h"
#include "ir.h"

enum tdl_plan_bind_kind {
    TDL_PLAN_BIND_NONE = 0,
    TDL_PLAN_BIND_OPERAND,
    TDL_PLAN_BIND_WEIGHTS,
};

struct tdl_plan_bind {
    enum tdl_plan_bind_kind kind;
    struct tdl_operand *operand;
    uint64_t offset, size; /* place of the weights, bytes */
    uint32_t block;        /* the weights' index in plan->blocks */
    bool write;
};

struct tdl_plan_step {
    const struct tdl_shader *kernel;
    const char *stem; /* the kernel without its variant */
    char label[128];
    uint32_t spec[TDL_MAX_SPEC], spec_count;
    uint32_t chain[TDL_MAX_CHAIN], chain_count;
    struct tdl_plan_bind binds[TDL_MAX_BINDS];
    uint32_t groups[3];
    uint64_t shared_bytes; /* shared memory, as the kernel declares it */
    uint64_t macs, bytes;
    char algorithm[48]; /* the way of an operator with several: "winograd43:64x64" */
    char layer[160];    /* ... and what it was chosen for, as the tuning file has it */
    enum tdl_choice choice;
    bool layer_start; /* the first step of its operator */
    uint32_t level;   /* its place in time; those of one level may run together */
    struct tdl_plan *plan;
};

struct tdl_tuning;

/* How operators with several algorithms choose. */
struct tdl_plan_policy {
    const char *forced;              /* tdl_build_params.conv2d_algorithm, or NULL */
    const struct tdl_tuning *tuning; /* measured choices, or NULL */
    /* While tuning: take the candidate of this number, from 1 on; `more` is set
     * where there is one behind it. Those estimated to take `patience` times
     * as long as the best are none. */
    uint32_t candidate;
    double patience;
    const struct tdl_tuning *only; /* layers that this is for; NULL: all */
    bool more;
    uint32_t layers, obeyed; /* with several ways, and those that took `forced` */
};

struct tdl_plan {
    const struct tdl_device_info *device;
    struct tdl_ir *ir;
    enum tdl_dtype storage; /* storage of activations: float32 or float16 */
    bool no_fuse;           /* each operator is a step of its own */
    struct tdl_plan_step *steps;
    uint32_t step_count, step_capacity;
    float *weights;
    uint64_t weight_count, weight_capacity; /* floats */
    struct tdl_plan_block {
        uint64_t offset, size; /* bytes, those of the guard among them */
    } * blocks;                /* blocks of the weights */
    uint32_t block_count, block_capacity;
    struct tdl_map shared_weights; /* blocks, by struct tdl_weights_key */
    uint64_t arena_size, tensor_bytes;
    /* Bytes kept free behind every value and all weights, and bound with them,
     * so that a test sees a kernel that reaches too far. Values then share no
     * memory over time. 0 but in tests; a multiple of 256. */
    uint64_t guard;
    struct tdl_plan_policy policy;
    enum tdl_result status; /* the first failure of the appending calls */
};

/* Append a step; workgroup size are specialization constants 0–2. The kernel's
 * variant is that of the storage type, and the one that applies a chain if the node
 * has one and the kernel such a variant. Later calls on NULL do nothing. */
struct tdl_plan_step *tdl_plan_add_step(struct tdl_plan *plan, const char *shader,
                                        const struct tdl_node *node, uint32_t local_x,
                                        uint32_t local_y, uint32_t local_z);
/* Appends a step likewise for a kernel on linear values, whose variant is that of the
 * class of elements that it works on ("_float", "_int", "_uint", "_i64", "_u64"; see
 * shaders/common/linear.glsl). */
struct tdl_plan_step *tdl_plan_add_linear_step(struct tdl_plan *plan, const char *shader,
                                               enum tdl_dtype dtype, const struct tdl_node *node,
                                               uint32_t local_x, uint32_t local_y,
                                               uint32_t local_z);
/* Workgroups for one invocation a 32-bit word of `o` (of 64-bit types, an
 * element), as linear_word() in the shader counts them. */
void tdl_plan_linear_groups(struct tdl_plan_step *step, const struct tdl_operand *o);
/* `count` workgroups in a row, folded where that is longer than devices allow:
 * number gl_WorkGroupID.y · gl_NumWorkGroups.x + gl_WorkGroupID.x in the shader. */
void tdl_plan_flat_groups(struct tdl_plan_step *step, uint64_t count);
/* The specialization constants of shaders/KERNEL.comp behind the workgroup size: a `struct
 * tdl_KERNEL_spec`, which shaders/specs.py makes of the shader. The macro tdl_KERNEL_spec()
 * makes one out of initialisers, `.name = value`, of all fields: a missing one is an error. */
#define TDL_PLAN_SPECS(step, kernel, spec)                                                         \
    do {                                                                                           \
        const struct tdl_##kernel##_spec *const spec_ = &(spec);                                   \
        tdl_plan_specs((step), #kernel, spec_, sizeof(*spec_));                                    \
    } while (0)
void tdl_plan_specs(struct tdl_plan_step *step, const char *kernel, const void *spec, size_t size);
/* The functions that a kernel with common/activation.glsl applies for an
 * activation of TDL_ACTIVATION_CHAIN; steps begin with the node's. */
void tdl_plan_chain(struct tdl_plan_step *step, const struct tdl_chain *chain);
/* An operand of a node. A constant is uploaded as it is, once. */
void tdl_plan_read(struct tdl_plan_step *step, uint32_t binding, struct tdl_operand *operand);
void tdl_plan_write(struct tdl_plan_step *step, uint32_t binding, struct tdl_operand *operand);
/* The facts that decide over weights: two steps with equal keys read the same ones. */
struct tdl_weights_key {
    uintptr_t layout; /* the address of the function that fills them, say */
    const struct tdl_operand *constants[6];
    uint32_t params[12];
    const struct tdl_node *gate; /* the gate's weights come first */
};
#define TDL_WEIGHTS_LAYOUT(function) ((uintptr_t) & (function))
/* Room for `count` floats among the weights, zeroed, bound for reading, to be
 * filled by the caller. The pointer is valid until the next call. NULL when
 * nothing is to be filled: earlier weights with this key are bound, or it failed. */
float *tdl_plan_weights(struct tdl_plan *plan, struct tdl_plan_step *step, uint32_t binding,
                        uint64_t count, const struct tdl_weights_key *key);
/* A value of `bytes` that only the steps of one node see. NULL when out of
 * memory. */
struct tdl_operand *tdl_plan_scratch(struct tdl_plan *plan, uint64_t bytes);
void tdl_plan_groups(struct tdl_plan_step *step, uint32_t x, uint32_t y, uint32_t z);
/* Shared memory that the kernel declares; what does not fit is refused. */
void tdl_plan_shared(struct tdl_plan_step *step, uint64_t bytes);

/* The largest minStorageBufferOffsetAlignment there is. */
#define TDL_PLAN_ALIGNMENT 256
/* The least that every Vulkan device has. */
#define TDL_LEAST_SHARED_MEMORY 16384 /* bytes */
#define TDL_LEAST_GROUPS 65535        /* workgroups in each dimension */

/* Packs of four channels. */
static inline uint32_t tdl_packs(uint32_t channels)
{
    return (channels + 3) / 4;
}
/* Bytes of the first channels of a picture in packs, up to a whole pack. */
static inline uint64_t tdl_operand_packs_size(const struct tdl_operand *picture, uint32_t channels)
{
    return picture->size / tdl_packs(tdl_operand_dims(picture).c) * tdl_packs(channels);
}
/* Channels of the last of them; zeros fill it up. */
static inline uint32_t tdl_last_channels(uint32_t channels)
{
    return (channels + 3) % 4 + 1;
}

void tdl_plan_finish(struct tdl_plan *plan);

#endif
