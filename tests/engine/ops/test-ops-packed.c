/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Operators that work on linear values or on packs, on packs: against their
 * plain C references, and without conversions that are not needed.
 *
 *     test-ops-packed [cases [seed]]    that many random cases, from that seed on
 */
#include "subject.h"

/* A value that lies in packs: the mean of windows of one pixel. */
static struct tdl_operand *packed(struct tdl_builder *b, struct tdl_operand *x)
{
    return tdl_builder_average_pool2d(b, x, &(struct tdl_pool2d_params){.window = {1, 1}});
}

/* Of what a transposition has brought to the other layout. */
static struct tdl_operand *packed_as(struct tdl_builder *b, struct tdl_operand *x,
                                     enum tdl_layout layout)
{
    return tdl_builder_average_pool2d(
        b, x, &(struct tdl_pool2d_params){.window = {1, 1}, .input_layout = layout});
}

static void check_packed(struct tdl_context *ctx, uint64_t seed)
{
    struct rng rng = {seed};
    struct tdl_builder *b;
    const bool half = rng_one_in(&rng, 2);
    const enum tdl_layout layout = seed % 2 ? TDL_LAYOUT_NCHW : TDL_LAYOUT_NHWC;
    subject_pretend_gpu(ctx, rng_one_in(&rng, 2));
    struct tdl_tensor_params p =
        subject_image(layout, RNG_PICK(&rng, 1, 2), RNG_PICK(&rng, 1, 3, 9),
                      RNG_PICK(&rng, 1, 5, 14), RNG_PICK(&rng, 1, 2, 3, 4, 5, 17, 21));
    OK(check_builder(ctx, &b));
    tdl_builder_set_input_layout(b, layout);
    struct tdl_operand *x = packed(b, subject_input(b, "x", p));
    check_begin("seed %llu: in packs, %s layout %d, %s", (unsigned long long)seed,
                tdl_operand_text(x), layout, half ? "fp16" : "fp32");
    for (uint32_t axis = 0; axis < 4; axis++)
        subject_output(b, tdl_builder_softmax(b, x, axis));
    for (int i = 0; i < 4; i++) {
        struct tdl_reduce_params params = {.keep_dimensions = true};
        enum tdl_reduction reduction = rng_below(&rng, TDL_REDUCE_LOG_SUM_EXP + 1);
        for (uint32_t axis = 0; axis < 4; axis++)
            if (rng_one_in(&rng, 2))
                params.axes[params.axis_count++] = axis;
        if (reduction == TDL_REDUCE_LOG_SUM || reduction == TDL_REDUCE_PRODUCT)
            reduction = TDL_REDUCE_L2;
        /* Sums near 0 cannot be compared relatively where halves are rounded. */
        if (half && (reduction == TDL_REDUCE_SUM || reduction == TDL_REDUCE_MEAN))
            reduction = TDL_REDUCE_L1;
        subject_output(b, tdl_builder_reduce(b, x, reduction, &params));
    }
    /* To the other layout and on, for readers of both storages. */
    const uint32_t to_nchw[] = {0, 3, 1, 2}, to_nhwc[] = {0, 2, 3, 1};
    const enum tdl_layout other = layout == TDL_LAYOUT_NCHW ? TDL_LAYOUT_NHWC : TDL_LAYOUT_NCHW;
    struct tdl_operand *z =
        tdl_builder_transpose(b, x, layout == TDL_LAYOUT_NCHW ? to_nhwc : to_nchw);
    subject_output(b, tdl_builder_softmax(b, packed_as(b, z, other), 3));
    const enum tdl_dtype type = RNG_PICK(&rng, TDL_INT32, TDL_UINT32, TDL_INT32);
    struct tdl_operand *indices = subject_input(b, "indices", SUBJECT_SHAPE(type, 2));
    subject_output(b, tdl_builder_gather(b, z, indices, 1));
    subject_output(b, z);
    if (!half) { /* halves round near values to equal ones */
        uint32_t axis = layout == TDL_LAYOUT_NCHW ? 1 : 3;
        struct tdl_arg_min_max_params arg = {.keep_dimensions = rng_one_in(&rng, 2)};
        subject_output(b, tdl_builder_arg_max(b, x, axis, &arg));
        subject_output(b, tdl_builder_arg_min(b, x, axis, &arg));
        subject_output(b, tdl_builder_arg_max(b, x, 2, &arg));
    }
    subject_check(ctx, b, &rng, half);
}

/* Takes the builder. */
static uint32_t count_steps(struct tdl_builder *b, const char *kernel)
{
    uint32_t count = subject_steps(b, false, kernel);
    tdl_builder_destroy(&b);
    return count;
}

/* A segmentation head: from packs to the mask without a conversion between. */
static void check_heads(struct tdl_context *ctx)
{
    struct tdl_builder *b;
    check_begin("heads in packs");
    for (enum tdl_layout layout = TDL_LAYOUT_NCHW; layout <= TDL_LAYOUT_NHWC; layout++) {
        struct tdl_tensor_params p = subject_image(layout, 1, 6, 7, 21);
        uint32_t axis = layout == TDL_LAYOUT_NCHW ? 1 : 3, count;
        OK(check_builder(ctx, &b));
        tdl_builder_set_input_layout(b, layout);
        subject_output(b, tdl_builder_softmax(b, packed(b, subject_input(b, "x", p)), axis));
        count = count_steps(b, "repack");
        CHECK(count == 2, "softmax of packs has %u conversions round it instead of 2", count);
        OK(check_builder(ctx, &b));
        tdl_builder_set_input_layout(b, layout);
        subject_output(b, tdl_builder_arg_max(b, packed(b, subject_input(b, "x", p)), axis, NULL));
        count = count_steps(b, "repack");
        CHECK(count == 1, "argMax of packs has %u conversions round it instead of 1", count);
        const uint32_t y = layout == TDL_LAYOUT_NCHW ? 2 : 1;
        OK(check_builder(ctx, &b));
        tdl_builder_set_input_layout(b, layout);
        subject_output(b,
                       tdl_builder_reduce(b, packed(b, subject_input(b, "x", p)), TDL_REDUCE_MEAN,
                                          &(struct tdl_reduce_params){{y, y + 1}, 2}));
        count = count_steps(b, "reduce_packed");
        CHECK(count == 1, "the mean of an image's pixels takes %u steps in packs", count);
    }
}

/* Moves that move nothing take no step. */
static void check_relabels(struct tdl_context *ctx)
{
    static const uint32_t to_nchw[] = {0, 3, 1, 2}, to_nhwc[] = {0, 2, 3, 1};
    struct tdl_builder *b;
    check_begin("moves that move nothing");
    OK(check_builder(ctx, &b));
    struct tdl_tensor_params p = subject_image(TDL_LAYOUT_NHWC, 1, 5, 6, 7);
    struct tdl_operand *x = tdl_builder_transpose(b, packed(b, subject_input(b, "x", p)), to_nchw);
    struct tdl_operand *v = subject_input(b, "v", SUBJECT_SHAPE(TDL_INT32, 1, 9, 1));
    subject_output(b, packed_as(b, x, TDL_LAYOUT_NCHW));
    subject_output(b,
                   tdl_builder_reduce(b, tdl_builder_transpose(b, v, NULL), TDL_REDUCE_SUM, NULL));
    uint32_t count = count_steps(b, "");
    CHECK(count == 5, "%u steps instead of convert, pool, pool, convert and reduce", count);
    OK(check_builder(ctx, &b));
    x = tdl_builder_transpose(b, packed(b, subject_input(b, "x", p)), to_nchw);
    subject_output(b, tdl_builder_softmax(b, tdl_builder_transpose(b, x, to_nhwc), 3));
    count = count_steps(b, "");
    CHECK(count == 4, "%u steps instead of convert, pool, softmax and convert", count);
    for (uint32_t rows = 8; rows <= 9; rows++) {
        OK(check_builder(ctx, &b));
        v = tdl_builder_slice(b, subject_input(b, "v", SUBJECT_SHAPE(TDL_INT32, 9, 2)),
                              &(struct tdl_slice_params){.size = {rows}});
        subject_output(b, tdl_builder_reduce(b, v, TDL_REDUCE_SUM, NULL));
        count = count_steps(b, "move_linear");
        CHECK(count == 9 - rows, "a slice of %u rows of 9 takes %u steps", rows, count);
    }
}

int main(int argc, char **argv)
{
    const long random = check_cases(argc, argv, 3);
    uint64_t seed = check_seed(argc, argv, 2);
    struct tdl_context *ctx = check_context_open();
    if (argc <= 2) {
        if (subject_has_kernels(ctx))
            check_heads(ctx);
        if (subject_has_kernels(ctx))
            check_relabels(ctx);
    }
    for (long i = 0; i < random; i++)
        check_packed(ctx, seed / 2 + (uint64_t)i);
    check_context_close(ctx);
    return check_result();
}
