/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What decoders of networks that find objects share: outputs that belong together, and operators
 * that choose objects by score and class and unite their masks. All functions run while a model
 * is read, by one thread. */
#ifndef GST_TDL_OBJECTS_H
#define GST_TDL_OBJECTS_H

#include <tdl/tdl.h>

#include "settings/gsttdlsettings.h"

#define GST_TDL_OBJECTS_MOST 64 /* objects that have masks, the best by score */
#define GST_TDL_OBJECTS_PARTS 4 /* outputs that make one mask */

/* What is known of a model whose objects are sought; all is the caller's. */
struct gst_tdl_objects {
    struct tdl_builder *builder;
    struct tdl_operand *const *outputs;
    guint count; /* of outputs */
    const struct gst_tdl_sources *sources;
    guint height, width; /* px of the picture that the model gets; 0: not known */
};

/* The layout that the model's operators or its format give to an operand. */
enum tdl_layout gst_tdl_objects_layout(const struct tdl_builder *builder,
                                       const struct tdl_operand *operand);
gboolean gst_tdl_objects_is_real(const struct tdl_tensor_params *params);
/* Are all of "classes" among the model's `count`? Otherwise the builder has failed. */
gboolean gst_tdl_objects_check_classes(struct tdl_builder *builder, const GArray *classes,
                                       guint count);

/* float32 numbers that the builder gets a copy of: rank 0, [rows] or [rows, columns]. */
struct tdl_operand *gst_tdl_objects_numbers(struct tdl_builder *builder, const gfloat *values,
                                            guint rank, guint rows, guint columns);
struct tdl_operand *gst_tdl_objects_number(struct tdl_builder *builder, gfloat value);
struct tdl_operand *gst_tdl_objects_as_float(struct tdl_builder *builder,
                                             struct tdl_operand *operand);
/* The maximum over the first dimension, which goes. */
struct tdl_operand *gst_tdl_objects_largest(struct tdl_builder *builder,
                                            struct tdl_operand *operand);
/* [count] int32: the indices of the highest of scores [N], the highest first. */
struct tdl_operand *gst_tdl_objects_best(struct tdl_builder *builder, struct tdl_operand *scores,
                                         guint count);
/* Scores [N], 0 where the class, a float32 number [N], is none of `classes`; an empty list has
 * all classes. */
struct tdl_operand *gst_tdl_objects_choose(struct tdl_builder *builder, struct tdl_operand *scores,
                                           struct tdl_operand *class, const GArray *classes);
/* Scores [N], 0 where they are not above `threshold`. */
struct tdl_operand *gst_tdl_objects_above(struct tdl_builder *builder, struct tdl_operand *scores,
                                          gfloat threshold);
/* 0 where the condition holds; elsewhere a number that brings a sum so far down that its sigmoid
 * is 0. */
struct tdl_operand *gst_tdl_objects_or_nowhere(struct tdl_builder *builder,
                                               struct tdl_operand *condition);

#endif
