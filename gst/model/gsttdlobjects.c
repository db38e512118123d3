/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdlobjects.h"

#define NOWHERE 1e4f /* a sum so far down has a sigmoid of 0 */

enum tdl_layout gst_tdl_objects_layout(const struct tdl_builder *b, const struct tdl_operand *x)
{
    const enum tdl_layout layout = tdl_operand_get_layout(x);

    return layout ? layout : tdl_builder_get_input_layout(b);
}

gboolean gst_tdl_objects_is_real(const struct tdl_tensor_params *p)
{
    return p->dtype == TDL_FLOAT32 || p->dtype == TDL_FLOAT16;
}

gboolean gst_tdl_objects_check_classes(struct tdl_builder *builder, const GArray *classes,
                                       guint count)
{
    for (guint i = 0; i < classes->len; i++)
        if (g_array_index(classes, gint, i) >= (gint)count) {
            if (count == 1)
                tdl_builder_fail(builder, TDL_ERROR_UNSUPPORTED,
                                 "\"classes\" has %d, and the model has one class: 0, or leave it "
                                 "empty",
                                 g_array_index(classes, gint, i));
            else
                tdl_builder_fail(builder, TDL_ERROR_UNSUPPORTED,
                                 "\"classes\" has %d, and the model has %u classes: 0 to %u",
                                 g_array_index(classes, gint, i), count, count - 1);
            return FALSE;
        }
    return TRUE;
}

struct tdl_operand *gst_tdl_objects_numbers(struct tdl_builder *b, const gfloat *values, guint rank,
                                            guint rows, guint columns)
{
    const struct tdl_tensor_params desc = { .rank = rank, .shape = { rows, columns } };
    const gsize size = tdl_tensor_params_size(&desc);
    gpointer copy = g_memdup2(values, size);

    tdl_builder_own(b, copy, g_free);
    return tdl_builder_constant(b, &desc, copy, size);
}

struct tdl_operand *gst_tdl_objects_number(struct tdl_builder *b, gfloat value)
{
    return gst_tdl_objects_numbers(b, &value, 0, 1, 1);
}

struct tdl_operand *gst_tdl_objects_as_float(struct tdl_builder *b, struct tdl_operand *x)
{
    return tdl_builder_cast(b, x, TDL_FLOAT32);
}

struct tdl_operand *gst_tdl_objects_largest(struct tdl_builder *b, struct tdl_operand *x)
{
    return tdl_builder_reduce(b, x, TDL_REDUCE_MAX,
                              &(struct tdl_reduce_params){ .axes = { 0 }, .axis_count = 1 });
}

struct tdl_operand *gst_tdl_objects_best(struct tdl_builder *b, struct tdl_operand *scores,
                                         guint count)
{
    return tdl_builder_top_k(b, scores, 0, &(struct tdl_top_k_params){ .count = count });
}

struct tdl_operand *gst_tdl_objects_choose(struct tdl_builder *b, struct tdl_operand *scores,
                                           struct tdl_operand *class, const GArray *classes)
{
    struct tdl_operand *any = NULL;

    for (guint i = 0; i < classes->len; i++) {
        struct tdl_operand *is =
            tdl_builder_equal(b, class, gst_tdl_objects_number(b, g_array_index(classes, gint, i)));

        any = any ? tdl_builder_logical_or(b, any, is) : is;
    }
    return any ? tdl_builder_mul(b, scores, gst_tdl_objects_as_float(b, any)) : scores;
}

struct tdl_operand *gst_tdl_objects_above(struct tdl_builder *b, struct tdl_operand *scores,
                                          gfloat threshold)
{
    struct tdl_operand *above =
        tdl_builder_greater(b, scores, gst_tdl_objects_number(b, threshold));

    return tdl_builder_mul(b, scores, gst_tdl_objects_as_float(b, above));
}

struct tdl_operand *gst_tdl_objects_or_nowhere(struct tdl_builder *b, struct tdl_operand *condition)
{
    return tdl_builder_linear(b, gst_tdl_objects_as_float(b, condition), NOWHERE, -NOWHERE);
}
