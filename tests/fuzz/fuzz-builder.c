/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libFuzzer target: any bytes are a sequence of calls on a builder, right ones
 * and wrong ones: operands that are missing or another builder's, shapes that
 * do not fit, sizes that overflow. A builder may refuse, with a text; what it
 * takes goes on through the compiler.
 */
#include "compile.h"
#include "examples.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_OPERANDS = 48, MAX_CALLS = 48, MAX_CONSTANT = 4096 };

struct fuzz {
    const uint8_t *data;
    size_t size;
    struct tdl_builder *builder;
    struct tdl_operand *operands[MAX_OPERANDS];
    uint32_t count;
};

/* ------------------------------------------------------- what bytes become */

static uint8_t byte(struct fuzz *f)
{
    if (!f->size)
        return 0;
    f->size--;
    return *f->data++;
}

static bool one_in_16(struct fuzz *f)
{
    return byte(f) >= 240;
}

/* Mostly small, sometimes where 32 bits end. */
static uint32_t number(struct fuzz *f)
{
    static const uint32_t telling[] = {0x7f, 0x80, 0xffff, 0x10000, 0x7fffffff, 0x80000000u,
                                       0xffffffffu, 0x55555556};
    uint8_t b = byte(f);
    return b < 224 ? b % 9 : telling[b % 8];
}

static void numbers(struct fuzz *f, uint32_t *out, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        out[i] = number(f);
}

static float real(struct fuzz *f)
{
    uint32_t bits = (uint32_t)byte(f) << 24 | (uint32_t)byte(f) << 16;
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* An operand; now and then none. */
static struct tdl_operand *pick(struct fuzz *f)
{
    uint8_t b = byte(f);
    return !f->count || b >= 250 ? NULL : f->operands[b % f->count];
}

static struct tdl_operand *pick_or_none(struct fuzz *f)
{
    return byte(f) % 2 ? pick(f) : NULL;
}

static void keep(struct fuzz *f, struct tdl_operand *operand)
{
    if (operand && f->count < MAX_OPERANDS)
        f->operands[f->count++] = operand;
}

static struct tdl_tensor_params desc_of(struct fuzz *f)
{
    struct tdl_tensor_params p = {0};
    p.dtype = one_in_16(f) ? byte(f) : byte(f) % 2 ? TDL_FLOAT32 : byte(f) % 8;
    p.rank = one_in_16(f) ? byte(f) : byte(f) % 2 ? 4 : byte(f) % (TDL_MAX_RANK + 1);
    p.packing = one_in_16(f) ? byte(f) : TDL_PACKING_NONE;
    for (uint32_t i = 0; i < TDL_MAX_RANK; i++)
        p.shape[i] = one_in_16(f) ? number(f) : 1 + byte(f) % 8;
    return p;
}

/* Layout of the channels; now and then one that does not exist. */
static uint64_t told(struct fuzz *f)
{
    return one_in_16(f) ? number(f) : byte(f) % 3;
}

/* --------------------------------------------------------------- the calls */

static void call_layout(struct fuzz *f)
{
    tdl_builder_set_input_layout(f->builder, (enum tdl_layout)(byte(f) % 3));
}

static void call_input(struct fuzz *f)
{
    static const char *const names[] = {"a", "b", "c", "d", "", "e", "f", "g"};
    struct tdl_tensor_params p = desc_of(f);
    keep(f, tdl_builder_input(f->builder, names[byte(f) % 8], &p));
}

static void call_constant(struct fuzz *f)
{
    static const uint8_t zeros[MAX_CONSTANT];
    struct tdl_tensor_params p = desc_of(f);
    size_t size = tdl_tensor_params_size(&p);
    if (size > sizeof(zeros) || one_in_16(f)) /* a wrong size */
        size = byte(f);
    keep(f, tdl_builder_constant(f->builder, &p, zeros, size));
}

static void call_output(struct fuzz *f)
{
    static const char *const names[] = {"x", "y", "z", "a"};
    tdl_builder_output(f->builder, names[byte(f) % 4], pick(f));
}

static void call_conv2d(struct fuzz *f)
{
    struct tdl_conv2d_params p = {0};
    struct tdl_operand *input = pick(f), *filter = pick(f);
    numbers(f, p.stride, 2);
    numbers(f, p.dilation, 2);
    numbers(f, p.pad, 4);
    p.padding = byte(f) % 3;
    p.groups = number(f);
    p.bias = pick_or_none(f);
    p.activation = byte(f) % 8;
    p.input_layout = told(f);
    keep(f, tdl_builder_conv2d(f->builder, input, filter, byte(f) % 8 ? &p : NULL));
}

/* A convolution that fits, so that deeper passes are reached often. */
static void call_good_conv2d(struct fuzz *f)
{
    static const float zeros[16 * 9 * 16];
    struct tdl_operand *input = pick(f);
    if (!input)
        return;
    const struct tdl_tensor_params *in = tdl_operand_get_desc(input);
    const uint64_t layout = told(f);
    const bool first =
        (layout ? layout : tdl_builder_get_input_layout(f->builder)) == TDL_LAYOUT_NCHW;
    uint32_t channels = in->shape[first ? 1 : 3];
    uint32_t kernel = byte(f) % 2 ? 3 : 1;
    bool depthwise = byte(f) % 2;
    struct tdl_tensor_params filter = {
        .rank = 4, .shape = {depthwise ? channels : 1 + byte(f) % 16, kernel, kernel,
                             depthwise ? 1 : channels}};
    if (in->rank != 4 || !channels || channels > 16)
        return;
    struct tdl_conv2d_params p = {.padding = TDL_PADDING_SAME_UPPER,
                                  .groups = depthwise ? channels : 1,
                                  .activation = byte(f) % 6,
                                  .input_layout = layout,
                                  .stride = {1 + byte(f) % 2, 1}};
    struct tdl_operand *w =
        tdl_builder_constant(f->builder, &filter, zeros, tdl_tensor_params_size(&filter));
    keep(f, tdl_builder_conv2d(f->builder, input, w, &p));
}

static void call_conv_transpose2d(struct fuzz *f)
{
    struct tdl_conv_transpose2d_params p = {0};
    struct tdl_operand *input = pick(f), *filter = pick(f);
    numbers(f, p.stride, 2);
    numbers(f, p.dilation, 2);
    numbers(f, p.pad, 4);
    numbers(f, p.output_padding, 2);
    if (byte(f) % 4 == 0)
        numbers(f, p.output_size, 2);
    p.groups = number(f);
    p.padding = byte(f) % 3;
    p.bias = pick_or_none(f);
    p.activation = byte(f) % 8;
    p.input_layout = told(f);
    keep(f, tdl_builder_conv_transpose2d(f->builder, input, filter, byte(f) % 8 ? &p : NULL));
}

static void call_pool2d(struct fuzz *f)
{
    struct tdl_pool2d_params p = {0};
    struct tdl_operand *input = pick(f);
    numbers(f, p.window, 2);
    numbers(f, p.stride, 2);
    numbers(f, p.dilation, 2);
    numbers(f, p.pad, 4);
    if (byte(f) % 4 == 0)
        numbers(f, p.output_size, 2);
    p.padding = byte(f) % 3;
    p.rounding = byte(f) % 3;
    p.count_include_pad = byte(f) % 2;
    p.activation = byte(f) % 8;
    p.input_layout = told(f);
    uint8_t kind = byte(f) % 3;
    keep(f, (kind == 0   ? tdl_builder_average_pool2d
             : kind == 1 ? tdl_builder_max_pool2d
                         : tdl_builder_l2_pool2d)(f->builder, input, byte(f) % 8 ? &p : NULL));
}

static void call_resample2d(struct fuzz *f)
{
    struct tdl_resample2d_params p = {0};
    struct tdl_operand *input = pick(f);
    if (byte(f) % 2)
        numbers(f, p.size, 2);
    for (int i = 0; i < 2; i++)
        p.scale[i] = (float)number(f) / (float)number(f);
    p.mode = byte(f) % 3;
    p.rounding = byte(f) % 5;
    p.coordinates = byte(f) % 5;
    if (byte(f) % 4 == 0) {
        p.axes[0] = byte(f) % 4;
        p.axes[1] = one_in_16(f) ? number(f) : p.axes[0] + 1;
    }
    p.input_layout = told(f);
    keep(f, tdl_builder_resample2d(f->builder, input, byte(f) % 8 ? &p : NULL));
}

static void call_grid_sample(struct fuzz *f)
{
    struct tdl_operand *input = pick(f), *grid = pick(f);
    const struct tdl_grid_sample_params p = {.mode = byte(f) % 4,
                                             .padding = byte(f) % 4,
                                             .align_corners = byte(f) % 2,
                                             .input_layout = told(f)};
    if (input && byte(f) % 2) { /* one that fits */
        const struct tdl_tensor_params places = {
            .rank = 4,
            .shape = {tdl_operand_get_desc(input)->shape[0], 1 + byte(f) % 8, 1 + byte(f) % 8, 2}};
        grid = tdl_builder_input(f->builder, "grid", &places);
    }
    keep(f, tdl_builder_grid_sample(f->builder, input, grid, byte(f) % 8 ? &p : NULL));
}

static void call_binary(struct fuzz *f)
{
    struct tdl_operand *a = pick(f), *b = pick(f);
    keep(f, (byte(f) % 2 ? tdl_builder_add : tdl_builder_mul)(f->builder, a, b));
}

static void call_activation(struct fuzz *f)
{
    struct tdl_operand *x = pick(f);
    keep(f, tdl_builder_activation(f->builder, x, byte(f) % 8));
}

static void call_cast(struct fuzz *f)
{
    struct tdl_operand *x = pick(f);
    keep(f, tdl_builder_cast(f->builder, x, byte(f) % 9));
}

static void call_slice(struct fuzz *f)
{
    struct tdl_slice_params p = {0};
    struct tdl_operand *x = pick(f);
    numbers(f, p.start, TDL_MAX_RANK);
    if (byte(f) % 2)
        numbers(f, p.size, TDL_MAX_RANK);
    for (int i = 0; i < TDL_MAX_RANK; i++)
        p.step[i] = one_in_16(f) ? (int32_t)number(f) : byte(f) % 4 - 1;
    keep(f, tdl_builder_slice(f->builder, x, byte(f) % 8 ? &p : NULL));
}

static void call_split(struct fuzz *f)
{
    struct tdl_operand *parts[8], *x = pick(f);
    uint32_t count = byte(f) % 8, sizes[8];
    numbers(f, sizes, 8);
    tdl_builder_split(f->builder, x, count, byte(f) % 2 ? sizes : NULL, byte(f) % 8,
                      byte(f) % 16 ? parts : NULL);
    for (uint32_t i = 0; i < count && tdl_builder_status(f->builder) == TDL_OK; i++)
        keep(f, parts[i]);
}

static void call_concat(struct fuzz *f)
{
    struct tdl_operand *inputs[20], *x = pick(f);
    uint32_t count = byte(f) % 20;
    for (uint32_t i = 0; i < 20; i++)
        inputs[i] = byte(f) % 8 ? x : pick(f);
    keep(f, tdl_builder_concat(f->builder, byte(f) % 16 ? inputs : NULL, count, byte(f) % 8));
}

static void call_pad(struct fuzz *f)
{
    struct tdl_pad_params p = {.mode = byte(f) % 4, .value = number(f)};
    struct tdl_operand *x = pick(f);
    numbers(f, p.before, TDL_MAX_RANK);
    numbers(f, p.after, TDL_MAX_RANK);
    if (one_in_16(f))
        p.value = real(f) * 1e300;
    keep(f, tdl_builder_pad(f->builder, x, byte(f) % 8 ? &p : NULL));
}

static void call_blocks(struct fuzz *f)
{
    struct tdl_operand *x = pick(f);
    uint32_t size = number(f), order = byte(f) % 3;
    keep(f, (byte(f) % 2 ? tdl_builder_depth_to_space
                         : tdl_builder_space_to_depth)(f->builder, x, size, order));
}

static void call_normalization(struct fuzz *f)
{
    struct tdl_batch_normalization_params batch = {
        .scale = pick_or_none(f), .bias = pick_or_none(f), .activation = byte(f) % 8,
        .input_layout = told(f)};
    struct tdl_instance_normalization_params instance = {
        .scale = batch.scale, .bias = batch.bias, .activation = batch.activation,
        .input_layout = batch.input_layout};
    struct tdl_layer_normalization_params layer = {
        .scale = batch.scale, .bias = batch.bias, .activation = batch.activation};
    struct tdl_operand *x = pick(f), *mean = pick(f), *variance = pick(f);
    layer.axis_count = one_in_16(f) ? number(f) : byte(f) % 4;
    for (int i = 0; i < TDL_MAX_RANK; i++)
        layer.axes[i] = one_in_16(f) ? number(f) : (uint32_t)i + byte(f) % 2;
    switch (byte(f) % 4) {
    case 0:
        keep(f, tdl_builder_batch_normalization(f->builder, x, mean, variance, &batch));
        break;
    case 1:
        keep(f, tdl_builder_instance_normalization(f->builder, x, &instance));
        break;
    case 2:
        keep(f, tdl_builder_layer_normalization(f->builder, x, &layer));
        break;
    default:
        keep(f, tdl_builder_layer_normalization(f->builder, x, NULL));
    }
}

static void call_elements(struct fuzz *f)
{
    typedef struct tdl_operand *(*one_fn)(struct tdl_builder *, struct tdl_operand *);
    typedef struct tdl_operand *(*two_fn)(struct tdl_builder *, struct tdl_operand *,
                                          struct tdl_operand *);
    static const one_fn one[] = {
        tdl_builder_identity, tdl_builder_abs,   tdl_builder_neg,       tdl_builder_sign,
        tdl_builder_ceil,     tdl_builder_floor, tdl_builder_exp,       tdl_builder_log,
        tdl_builder_erf,      tdl_builder_relu,  tdl_builder_gelu,      tdl_builder_sigmoid,
        tdl_builder_tanh,     tdl_builder_sqrt,  tdl_builder_hard_swish, tdl_builder_softplus,
        tdl_builder_logical_not};
    static const two_fn two[] = {
        tdl_builder_sub,     tdl_builder_div,         tdl_builder_max,        tdl_builder_min,
        tdl_builder_pow,     tdl_builder_equal,       tdl_builder_greater,    tdl_builder_lesser,
        tdl_builder_prelu,   tdl_builder_logical_and, tdl_builder_logical_or, tdl_builder_add,
        tdl_builder_bitwise_xor};
    struct tdl_operand *x = pick(f), *y = pick(f);
    const float alpha = real(f);
    uint64_t bounds[2] = {number(f), number(f)};
    switch (byte(f) % 8) {
    case 0:
    case 1:
        keep(f, one[byte(f) % (sizeof(one) / sizeof(one[0]))](f->builder, x));
        break;
    case 2:
    case 3:
    case 4:
        keep(f, two[byte(f) % (sizeof(two) / sizeof(two[0]))](f->builder, x, y));
        break;
    case 5:
        keep(f, tdl_builder_where(f->builder, x, y, pick(f)));
        break;
    case 6:
        keep(f, tdl_builder_leaky_relu(f->builder, x, alpha));
        break;
    default:
        keep(f, tdl_builder_clamp(f->builder, x, byte(f) % 4 ? &bounds[0] : NULL,
                                  byte(f) % 4 ? &bounds[1] : NULL));
    }
}

static void call_matrices(struct fuzz *f)
{
    struct tdl_operand *a = pick(f), *b = pick(f);
    struct tdl_gemm_params p = {.c = pick_or_none(f), .alpha = real(f), .beta = real(f)};
    p.a_transpose = byte(f) % 2;
    p.b_transpose = byte(f) % 2;
    p.activation = byte(f) % 8;
    if (byte(f) % 2)
        keep(f, tdl_builder_matmul(f->builder, a, b));
    else
        keep(f, tdl_builder_gemm(f->builder, a, b, byte(f) % 8 ? &p : NULL));
}

/* Along one axis or several. */
static void call_along(struct fuzz *f)
{
    struct tdl_operand *x = pick(f), *indices = pick(f);
    const uint32_t axis = number(f);
    struct tdl_arg_min_max_params arg = {byte(f) % 2, byte(f) % 2, byte(f) % 9};
    struct tdl_reduce_params reduce = {.axis_count = number(f), .keep_dimensions = byte(f) % 2};
    struct tdl_cumulative_sum_params sum = {byte(f) % 2, byte(f) % 2};
    struct tdl_top_k_params top = {number(f), byte(f) % 2};
    switch (byte(f) % 9) {
    case 0:
        keep(f, tdl_builder_softmax(f->builder, x, axis));
        break;
    case 1:
        keep(f, tdl_builder_arg_max(f->builder, x, axis, &arg));
        break;
    case 2:
        keep(f, tdl_builder_arg_min(f->builder, x, axis, byte(f) % 2 ? &arg : NULL));
        break;
    case 3:
        numbers(f, reduce.axes, TDL_MAX_RANK);
        keep(f, tdl_builder_reduce(f->builder, x, byte(f) % 11, byte(f) % 4 ? &reduce : NULL));
        break;
    case 4:
        keep(f, tdl_builder_cumulative_sum(f->builder, x, axis, byte(f) % 2 ? &sum : NULL));
        break;
    case 5:
        keep(f, tdl_builder_top_k(f->builder, x, axis, byte(f) % 4 ? &top : NULL));
        break;
    case 6:
        keep(f, tdl_builder_non_max_suppression(f->builder, x, real(f)));
        break;
    case 7:
        keep(f, tdl_builder_gather(f->builder, x, indices, axis));
        break;
    default:
        keep(f, tdl_builder_gather_elements(f->builder, x, indices, axis));
    }
}

/* Indices that are computed, too. */
static void call_places(struct fuzz *f)
{
    struct tdl_operand *x = pick(f), *indices = pick(f), *updates = pick(f);
    const uint32_t axis = number(f);
    struct tdl_scatter_params p = {.reduction = byte(f) % 6};
    uint32_t axes[TDL_MAX_RANK];
    if (byte(f) % 2)
        indices = tdl_builder_cast(f->builder, indices, TDL_INT32);
    switch (byte(f) % 6) {
    case 0:
        keep(f, tdl_builder_gather_nd(f->builder, x, indices, axis));
        break;
    case 1:
        keep(f, tdl_builder_scatter_nd(f->builder, x, indices, updates, byte(f) % 4 ? &p : NULL));
        break;
    case 2:
        keep(f, tdl_builder_scatter_elements(f->builder, x, indices, updates, axis,
                                             byte(f) % 4 ? &p : NULL));
        break;
    case 3:
        numbers(f, axes, TDL_MAX_RANK);
        keep(f, tdl_builder_reverse(f->builder, x, byte(f) % 5, byte(f) % 16 ? axes : NULL));
        break;
    case 4:
        keep(f, tdl_builder_is_nan(f->builder, x));
        break;
    default:
        keep(f, tdl_builder_is_infinite(f->builder, x));
    }
}

/* Mostly of operands that fit, as by chance they never do. */
static void call_recurrent(struct fuzz *f)
{
    struct tdl_operand *out[3] = {0}, *x = pick(f), *w = pick(f), *r = pick(f);
    const uint32_t hidden = number(f), steps = one_in_16(f) ? number(f) : byte(f) % 5;
    struct tdl_lstm_params lstm = {.bias = pick_or_none(f), .peephole = pick_or_none(f)};
    struct tdl_gru_params gru = {.bias = lstm.bias, .recurrent_bias = pick_or_none(f)};
    gru.reset_before = byte(f) % 2;
    gru.return_sequence = lstm.return_sequence = byte(f) % 2;
    gru.direction = lstm.direction = byte(f) % 4;
    gru.layout = byte(f) % 3;
    lstm.layout = byte(f) % 3;
    gru.activations[0] = lstm.activations[2] = byte(f) % 8;
    const uint32_t gates = byte(f) % 2 ? 4 : 3;
    if (byte(f) % 8 && steps && hidden && hidden < 9) {
        const uint32_t d = gru.direction == TDL_RECURRENT_BOTH ? 2 : 1;
        const struct tdl_tensor_params shapes[] = {
            {.rank = 3, .shape = {steps, 1, 3}},
            {.rank = 3, .shape = {d, gates * hidden, 3}},
            {.rank = 3, .shape = {d, gates * hidden, hidden}}};
        static const float zeros[2 * 4 * 9 * 9];
        struct tdl_operand *made[3];
        for (int i = 0; i < 3; i++)
            made[i] = tdl_builder_constant(f->builder, &shapes[i], zeros,
                                           tdl_tensor_params_size(&shapes[i]));
        x = made[0];
        w = made[1];
        r = made[2];
    }
    switch (byte(f) % 4) {
    case 0:
        keep(f, tdl_builder_gru_cell(f->builder, x, w, r, pick(f), hidden, &gru));
        break;
    case 1:
        tdl_builder_lstm_cell(f->builder, x, w, r, pick(f), pick(f), hidden, &lstm, out);
        break;
    default:
        if (byte(f) % 8 == 0)
            tdl_builder_rnn(f->builder, x, w, r, steps, hidden, NULL, out);
        else if (gates == 4)
            tdl_builder_lstm(f->builder, x, w, r, steps, hidden, &lstm, out);
        else
            tdl_builder_gru(f->builder, x, w, r, steps, hidden, &gru, out);
    }
    for (int i = 0; i < 3; i++)
        keep(f, out[i]);
}

static void call_quantize(struct fuzz *f)
{
    struct tdl_operand *x = pick(f), *scale = pick(f), *zero = pick_or_none(f);
    if (byte(f) % 2)
        x = tdl_builder_cast(f->builder, x, byte(f) % 2 ? TDL_INT8 : TDL_FLOAT32);
    keep(f, (byte(f) % 2 ? tdl_builder_quantize_linear
                         : tdl_builder_dequantize_linear)(f->builder, x, scale, zero));
}

static void call_triangular(struct fuzz *f)
{
    struct tdl_operand *x = pick(f);
    struct tdl_triangular_params p = {byte(f) % 2, (int32_t)number(f)};
    keep(f, tdl_builder_triangular(f->builder, x, byte(f) % 4 ? &p : NULL));
}

static void call_order(struct fuzz *f)
{
    struct tdl_operand *x = pick(f);
    uint32_t list[TDL_MAX_RANK];
    numbers(f, list, TDL_MAX_RANK);
    if (byte(f) % 2)
        keep(f, tdl_builder_transpose(f->builder, x, byte(f) % 4 ? list : NULL));
    else
        keep(f, tdl_builder_tile(f->builder, x, byte(f) % 16 ? list : NULL));
}

/* Any operator with plain options, and operands that it may not take. */
static void call_example(struct fuzz *f)
{
    struct tdl_operand *operands[TDL_MAX_OPERATOR_OPERANDS] = {NULL};
    uint32_t count = 0;
    while (tdl_example_get(count))
        count++;
    const struct tdl_example *e = tdl_example_get(byte(f) % count);
    for (uint32_t i = 0; i < TDL_MAX_OPERATOR_OPERANDS && e->slots[i].name; i++) {
        const bool optional = e->slots[i].flags & TDL_EXAMPLE_OPTIONAL;
        operands[i] = optional ? pick_or_none(f) : pick(f);
        if (!operands[i] && !optional) /* examples look at their shapes */
            return;
    }
    keep(f, e->call(f->builder, operands));
}

static void (*const calls[])(struct fuzz *) = {
    call_input,         call_constant,         call_output, call_conv2d,
    call_good_conv2d,   call_conv_transpose2d, call_pool2d, call_resample2d,
    call_binary,        call_activation,       call_cast,   call_slice,
    call_split,         call_concat,           call_pad,    call_blocks,
    call_normalization, call_matrices,         call_along,  call_triangular,
    call_order,         call_elements,         call_places, call_recurrent,
    call_quantize,      call_example,          call_layout, call_grid_sample,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz f = {.data = data, .size = size}, other = {0};
    const struct tdl_tensor_params image = {.rank = 4, .shape = {1, 4, 4, 8}};

    if (tdl_builder_create(fuzz_context(), &f.builder) != TDL_OK ||
        tdl_builder_create(fuzz_context(), &other.builder) != TDL_OK)
        return 0;
    keep(&f, tdl_builder_input(f.builder, "image", &image));
    if (size && data[0] > 250) /* a stranger among the operands */
        keep(&f, tdl_builder_input(other.builder, "image", &image));
    for (int i = 0; i < MAX_CALLS && f.size; i++)
        calls[byte(&f) % (sizeof(calls) / sizeof(calls[0]))](&f);
    if (f.count && tdl_builder_status(f.builder) == TDL_OK)
        tdl_builder_output(f.builder, "last", f.operands[f.count - 1]);
    fuzz_check_status(f.builder, tdl_builder_status(f.builder));
    if (size) /* most graphs refuse another size */
        tdl_builder_resize(f.builder,
                           &(struct tdl_input_size){"image", {1, 1 + data[size / 2] % 9, 4, 8}}, 1);
    if (size && data[size / 3] % 4 == 0) /* most graphs refuse this, too */
        tdl_builder_stack(f.builder, 1 + data[size / 3] % 5);
    if (tdl_builder_status(f.builder) == TDL_OK)
        fuzz_compile(f.builder);
    tdl_builder_destroy(&other.builder);
    tdl_builder_destroy(&f.builder);
    return 0;
}
