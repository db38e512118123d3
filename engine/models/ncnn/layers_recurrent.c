/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ncnn's recurrent layers. A blob of two dimensions has a row for each step; tops are the
 * sequence and, if they are asked for, the states behind the last step. */
#include "ncnn.h"

struct recurrence {
    uint32_t gates, biases; /* rows for each hidden element */
    uint32_t directions, hidden, size, steps;
    enum tdl_recurrent_direction direction;
    struct tdl_operand *x;         /* [steps, 1, size] */
    struct tdl_operand *weight;    /* [directions, gates, hidden, size] */
    struct tdl_operand *bias;      /* [directions, biases, hidden] */
    struct tdl_operand *recurrent; /* [directions, gates, hidden, hidden] */
    struct tdl_operand *states[2]; /* [directions, 1, hidden] or NULL */
};

static bool read_sizes(struct ncnn_import *im, const struct ncnn_layer *l, struct recurrence *r)
{
    const int32_t hidden = ncnn_int(l, 0, 0), direction = ncnn_int(l, 2, 0);
    struct tdl_operand *x = ncnn_bottom(im, l, 0);

    if (!x || !ncnn_in_range(im, "outputs", hidden, 1))
        return false;
    if (tdl_kit_rank(x) != 2 || direction < 0 || direction > 2)
        return tdl_kit_damaged(&im->kit, "a blob of %u dimensions, direction %d", tdl_kit_rank(x),
                               direction);
    if (ncnn_int(l, 8, 0) != 0 || ncnn_int(l, 3, hidden) != hidden)
        return tdl_kit_lacks(&im->kit,
                             "int8 weights, or a projection of %d hidden elements to %d, "
                             "are not supported",
                             ncnn_int(l, 3, hidden), hidden);
    r->hidden = (uint32_t)hidden;
    r->direction = (enum tdl_recurrent_direction)direction;
    r->directions = direction == 2 ? 2 : 1;
    r->steps = tdl_kit_shape(x)[0];
    r->size = tdl_kit_shape(x)[1];
    const uint64_t wanted = (uint64_t)r->directions * r->gates * r->hidden * r->size;
    if (wanted != (uint64_t)ncnn_int(l, 1, 0))
        return tdl_kit_damaged(&im->kit, "%d weights instead of %llu", ncnn_int(l, 1, 0),
                               (unsigned long long)wanted);
    r->x = ncnn_reshape(im, x, 3, (const uint32_t[]){r->steps, 1, r->size});
    return r->x != NULL;
}

static bool read_recurrence(struct ncnn_import *im, const struct ncnn_layer *l,
                            struct recurrence *r)
{
    if (!read_sizes(im, l, r))
        return false;
    const uint32_t weight[] = {r->directions, r->gates, r->hidden, r->size};
    const uint32_t recurrent[] = {r->directions, r->gates, r->hidden, r->hidden};
    const uint32_t state[] = {r->directions, 1, r->hidden};

    r->weight = ncnn_weights(im, true, 4, weight);
    r->bias = r->weight ? ncnn_weights(im, true, 3,
                                       (const uint32_t[]){r->directions, r->biases, r->hidden})
                        : NULL;
    r->recurrent = r->bias ? ncnn_weights(im, true, 4, recurrent) : NULL;
    for (uint32_t i = 1; r->recurrent && i < l->bottom_count; i++) {
        r->states[i - 1] = ncnn_reshape(im, ncnn_bottom(im, l, i), 3, state);
        if (!r->states[i - 1])
            return false;
    }
    return r->recurrent != NULL;
}

/* `count` gates from `first` on. */
static struct tdl_operand *rows(struct ncnn_import *im, struct tdl_operand *x, uint32_t first,
                                uint32_t count)
{
    struct tdl_slice_params params = {0};

    params.start[1] = first;
    params.size[1] = count;
    return tdl_builder_slice(im->builder, x, &params);
}

/* Gates of ncnn are input, forget, output and cell: with the second and third exchanged. */
static struct tdl_operand *exchanged(struct ncnn_import *im, struct tdl_operand *x)
{
    struct tdl_operand *parts[] = {rows(im, x, 0, 1), rows(im, x, 2, 1), rows(im, x, 1, 1),
                                   rows(im, x, 3, 1)};

    return parts[3] ? tdl_builder_concat(im->builder, parts, 4, 1) : NULL;
}

/* All gates as rows of one matrix, for each direction. */
static struct tdl_operand *flat(struct ncnn_import *im, const struct recurrence *r,
                                struct tdl_operand *x, uint32_t columns)
{
    const uint32_t shape[] = {r->directions, r->gates * r->hidden, columns};

    return ncnn_reshape(im, x, columns ? 3 : 2, shape);
}

/* The sequence, and states as the layer's bottoms have them. */
static bool give(struct ncnn_import *im, const struct ncnn_layer *l, const struct recurrence *r,
                 struct tdl_operand *sequence, struct tdl_operand *const *states,
                 struct tdl_operand **tops)
{
    const uint32_t whole[] = {r->steps, r->directions * r->hidden};
    const uint32_t state[] = {r->directions, r->hidden};

    tops[0] = ncnn_reshape(im, sequence, 2, whole);
    for (uint32_t i = 1; i < l->top_count; i++) {
        const struct tdl_operand *like = i < l->bottom_count ? ncnn_bottom(im, l, i) : NULL;

        tops[i] = like ? ncnn_reshape(im, states[i - 1], tdl_kit_rank(like), tdl_kit_shape(like))
                       : ncnn_reshape(im, states[i - 1], 2, state);
    }
    return tops[0] != NULL;
}

static bool check_counts(struct ncnn_import *im, const struct ncnn_layer *l, uint32_t states)
{
    return ((l->bottom_count == 1 || l->bottom_count == 1 + states) &&
            (l->top_count == 1 || l->top_count == 1 + states)) ||
           tdl_kit_damaged(&im->kit, "%u bottoms and %u tops", l->bottom_count, l->top_count);
}

static bool add_lstm(struct ncnn_import *im, const struct ncnn_layer *l, struct tdl_operand **tops)
{
    struct recurrence r = {.gates = 4, .biases = 4};
    struct tdl_operand *outputs[3];

    if (!check_counts(im, l, 2) || !read_recurrence(im, l, &r))
        return false;
    const struct tdl_lstm_params params = {
        .bias = flat(im, &r, exchanged(im, r.bias), 0),
        .initial_hidden = r.states[0],
        .initial_cell = r.states[1],
        .return_sequence = true,
        .direction = r.direction,
        .layout = TDL_LSTM_IOFG,
    };
    return tdl_builder_lstm(im->builder, r.x, flat(im, &r, exchanged(im, r.weight), r.size),
                            flat(im, &r, exchanged(im, r.recurrent), r.hidden), r.steps, r.hidden,
                            &params, outputs) == TDL_OK &&
           give(im, l, &r, outputs[2], outputs, tops);
}

/* Biases of reset, update and new; the new one's state has another, behind its gate. */
static bool add_gru(struct ncnn_import *im, const struct ncnn_layer *l, struct tdl_operand **tops)
{
    struct recurrence r = {.gates = 3, .biases = 4};
    struct tdl_operand *outputs[2], *parts[2];

    if (!check_counts(im, l, 1) || !read_recurrence(im, l, &r))
        return false;
    const struct tdl_tensor_params gates = {
        .dtype = TDL_FLOAT32, .rank = 3, .shape = {r.directions, 2, r.hidden}};
    parts[0] = tdl_kit_fill(&im->kit, &gates, 0);
    parts[1] = rows(im, r.bias, 3, 1);
    if (!parts[0] || !parts[1])
        return false;
    const struct tdl_gru_params params = {
        .bias = flat(im, &r, rows(im, r.bias, 0, 3), 0),
        .recurrent_bias = flat(im, &r, tdl_builder_concat(im->builder, parts, 2, 1), 0),
        .initial_hidden = r.states[0],
        .return_sequence = true,
        .direction = r.direction,
        .layout = TDL_GRU_RZN,
    };
    return tdl_builder_gru(im->builder, r.x, flat(im, &r, r.weight, r.size),
                           flat(im, &r, r.recurrent, r.hidden), r.steps, r.hidden, &params,
                           outputs) == TDL_OK &&
           give(im, l, &r, outputs[1], outputs, tops);
}

static bool add_rnn(struct ncnn_import *im, const struct ncnn_layer *l, struct tdl_operand **tops)
{
    struct recurrence r = {.gates = 1, .biases = 1};
    struct tdl_operand *outputs[2];

    if (!check_counts(im, l, 1) || !read_recurrence(im, l, &r))
        return false;
    const struct tdl_rnn_params params = {
        .bias = flat(im, &r, r.bias, 0),
        .initial_hidden = r.states[0],
        .return_sequence = true,
        .direction = r.direction,
    };
    return tdl_builder_rnn(im->builder, r.x, flat(im, &r, r.weight, r.size),
                           flat(im, &r, r.recurrent, r.hidden), r.steps, r.hidden, &params,
                           outputs) == TDL_OK &&
           give(im, l, &r, outputs[1], outputs, tops);
}

const struct ncnn_row ncnn_rows_recurrent[] = {
    {"GRU", 1, 2, NULL, .add_tops = add_gru},
    {"LSTM", 1, 3, NULL, .add_tops = add_lstm},
    {"RNN", 1, 2, NULL, .add_tops = add_rnn},
    {0},
};
