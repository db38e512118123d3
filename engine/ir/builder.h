/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TDL_BUILDER_H
#define TDL_BUILDER_H

#include "dynamic.h"
#include "map.h"

#include <stdatomic.h>

/* The functions that a builder wants of its context, which is further up
 * (core/builder.c). */
struct tdl_builder_host {
    const struct tdl_device_info *(*device)(const struct tdl_context *ctx);
    void (*log_failure)(const struct tdl_context *ctx, enum tdl_result result);
};

/* How what a builder holds is made for other sizes; the builder's, and its graphs'. */
struct tdl_remake {
    atomic_int refs;
    tdl_remake_fn function;
    void *data;
    void (*release)(void *); /* may be NULL */
};
struct tdl_remake *tdl_remake_ref(struct tdl_remake *remake);
void tdl_remake_release(struct tdl_remake *remake);

struct tdl_builder {
    atomic_int refs;         /* the caller's, and those of graphs that read its constants later */
    struct tdl_context *ctx; /* may be NULL */
    const struct tdl_builder_host *host;
    struct tdl_ir *ir;
    enum tdl_result status;
    char error[1024];
    char label[96];
    bool sizes_fixed; /* tdl_builder_fix_sizes() */
    bool stacked;     /* tdl_builder_stack(), of two or more */
    struct tdl_dynamic_list dynamic;
    struct tdl_remake *remake; /* NULL: by resizing */
    uint32_t remake_nodes;     /* nodes that there were when it was set */
    struct tdl_map constants;  /* operands by data and description */
    struct tdl_owned {
        struct tdl_owned *next;
        void *memory;
        void (*release)(void *);
    } * owned;
};

/* A builder holds `ctx`, which may be NULL, for its caller, who lets go of it. */
enum tdl_result tdl_builder_open(const struct tdl_builder_host *host, struct tdl_context *ctx,
                                 struct tdl_builder **out_builder);
void tdl_builder_close(struct tdl_builder *builder);

/* resize.c: give the inputs other sizes, as tdl_builder_resize(). */
enum tdl_result tdl_ir_resize(struct tdl_ir *ir, const struct tdl_input_size *sizes,
                              uint32_t count);

/* NULL and an error for what is no name. */
const char *tdl_builder_check_name(struct tdl_builder *b, const char *what, const char *name);

/* For the operators' functions. Appends a node: checks that the inputs belong
 * here (the first `required` of them must be there), infers the output. NULL
 * when that failed, or when the builder had failed before. */
struct tdl_operand *tdl_builder_add_node(struct tdl_builder *b, const struct tdl_op *op,
                                         const union tdl_attr *attr,
                                         struct tdl_operand *const *inputs, uint32_t count,
                                         uint32_t required);
/* The same, of an operator that has channels, as this layout has them. */
struct tdl_operand *tdl_builder_add_told(struct tdl_builder *b, const struct tdl_op *op,
                                         enum tdl_layout layout, const union tdl_attr *attr,
                                         struct tdl_operand *const *inputs, uint32_t count,
                                         uint32_t required);
/* What an operator's `input_layout` says, or the builder for it; an error for a number that
 * there is not. */
enum tdl_layout tdl_builder_layout(struct tdl_builder *b, const struct tdl_op *op,
                                   uint64_t input_layout);
/* False, with an error, if `value` is past the last of its enum. */
bool tdl_builder_known(struct tdl_builder *b, const struct tdl_op *op, const char *what,
                       unsigned value, unsigned last);
/* Checks the sizes that an operator with a window is given, likewise; `pad` may be NULL. */
bool tdl_builder_known_window(struct tdl_builder *b, const struct tdl_op *op,
                              enum tdl_padding padding, const uint32_t pad[4],
                              enum tdl_activation activation);
/* False, with an error that names them, for pads, strides or dilations that no picture has. */
bool tdl_builder_fits_window(struct tdl_builder *b, const struct tdl_op *op, const char *what,
                             const uint32_t *pixels, uint32_t count);
/* Zero means 1, as for strides. */
static inline uint32_t tdl_or_one(uint32_t value)
{
    return value ? value : 1;
}

#endif
