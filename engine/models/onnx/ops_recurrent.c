/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ONNX's recurrent networks, RNN, GRU and LSTM: over sequences that are all as long as the
 * input, and with the activations that the builder has.
 */
#include "onnx.h"

#include <string.h>

#define MAX_STEPS 4096 /* of all networks of a model, whose steps become operators */

/* Inputs have these numbers; LSTM alone has the last two. */
enum { X, W, R, B, LENGTHS, START, START_CELL, PEEPHOLE };

struct sizes {
    uint32_t steps, batch, hidden, directions;
    bool batch_first; /* of input, states and sequence */
    enum tdl_recurrent_direction direction;
};

struct operands {
    struct tdl_operand *x, *w, *r, *bias, *recurrent_bias, *start, *start_cell, *peephole;
};

static bool take_direction(struct onnx_import *im, struct sizes *s)
{
    static const char *const names[] = {"forward", "reverse", "bidirectional"};

    s->directions = 1;
    s->direction = TDL_RECURRENT_FORWARD;
    if (!onnx_has(im, "direction"))
        return true;
    for (int i = 0; i < 3; i++)
        if (onnx_string_is(im, "direction", names[i])) {
            s->direction = (enum tdl_recurrent_direction)i;
            s->directions = i == 2 ? 2 : 1;
            return true;
        }
    return tdl_kit_lacks(&im->kit, "a direction by an unknown name");
}

/* All sequences of a batch are as long as the input. */
static bool take_lengths(struct onnx_import *im, const struct sizes *s)
{
    struct tdl_tensor_params desc;
    int64_t lengths[256];
    uint32_t count;

    if (!onnx_given(im, LENGTHS))
        return true;
    if (!onnx_desc(im, LENGTHS, &desc) ||
        !onnx_ints(im, LENGTHS, lengths, sizeof(lengths) / sizeof(*lengths), &count))
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (lengths[i] != s->steps)
            return tdl_kit_lacks(&im->kit, "a sequence of %lld steps among those of %u",
                                 (long long)lengths[i], s->steps);
    return true;
}

static bool take_sizes(struct onnx_import *im, const struct operands *o, struct sizes *s)
{
    s->batch_first = onnx_int(im, "layout", 0);
    if (tdl_kit_rank(o->x) != 3 || tdl_kit_rank(o->r) != 3)
        return tdl_kit_damaged(&im->kit, "input and weights have 3 dimensions each");
    s->steps = tdl_kit_shape(o->x)[s->batch_first ? 1 : 0];
    s->batch = tdl_kit_shape(o->x)[s->batch_first ? 0 : 1];
    s->hidden = tdl_kit_shape(o->r)[2];
    if (onnx_has(im, "clip"))
        return tdl_kit_lacks(&im->kit, "gates that are clipped");
    if (onnx_int(im, "hidden_size", s->hidden) != s->hidden)
        return tdl_kit_damaged(&im->kit, "a hidden size of %lld, and weights for %u",
                               (long long)onnx_int(im, "hidden_size", 0), s->hidden);
    if (!take_direction(im, s) || !take_lengths(im, s))
        return false;
    im->steps += (uint64_t)s->steps * s->directions;
    return im->steps <= MAX_STEPS ||
           tdl_kit_refuse(&im->kit,
                          "%llu steps of recurrent networks; up to %d: export the model for a "
                          "shorter sequence",
                          (unsigned long long)im->steps, MAX_STEPS);
}

/* The first two dimensions change places. */
static struct tdl_operand *swap(struct onnx_import *im, struct tdl_operand *o)
{
    return o ? tdl_builder_transpose(im->builder, o, (const uint32_t[]){1, 0, 2}) : NULL;
}

/* ONNX has both biases, one behind the other, as one. */
static bool take_bias(struct onnx_import *im, struct operands *o)
{
    struct tdl_operand *both;
    struct tdl_slice_params p = {0};

    if (!onnx_optional(im, B, &both) || !both)
        return tdl_builder_status(im->builder) == TDL_OK;
    if (tdl_kit_rank(both) != 2 || tdl_kit_shape(both)[1] % 2)
        return tdl_kit_damaged(&im->kit, "the biases are no pairs of lists");
    p.size[1] = tdl_kit_shape(both)[1] / 2;
    o->bias = tdl_builder_slice(im->builder, both, &p);
    p.start[1] = p.size[1];
    o->recurrent_bias = tdl_builder_slice(im->builder, both, &p);
    return o->recurrent_bias;
}

static bool take_operands(struct onnx_import *im, struct operands *o, struct sizes *s)
{
    *o = (struct operands){.x = onnx_operand(im, X)};
    o->w = o->x ? onnx_operand(im, W) : NULL;
    o->r = o->w ? onnx_operand(im, R) : NULL;
    if (!o->r || !take_sizes(im, o, s) || !take_bias(im, o) ||
        !onnx_optional(im, START, &o->start) || !onnx_optional(im, START_CELL, &o->start_cell) ||
        !onnx_optional(im, PEEPHOLE, &o->peephole))
        return false;
    if (s->batch_first) {
        o->x = swap(im, o->x);
        o->start = swap(im, o->start);
        o->start_cell = swap(im, o->start_cell);
    }
    return true;
}

/* `per` of each direction, which have to be the same; NONE where they are not given. */
static bool take_activations(struct onnx_import *im, const struct sizes *s, uint32_t per,
                             enum tdl_activation *out)
{
    static const struct {
        const char *name;
        enum tdl_activation activation;
    } known[] = {
        {"Sigmoid", TDL_ACTIVATION_SIGMOID},
        {"Tanh", TDL_ACTIVATION_TANH},
        {"Relu", TDL_ACTIVATION_RELU},
    };
    struct tdl_pb names[6];
    uint32_t count;

    if (!onnx_string_list(im, "activations", names, 6, &count))
        return false;
    if (count && count != per * s->directions)
        return tdl_kit_damaged(&im->kit, "%u activations instead of %u", count,
                               per * s->directions);
    for (uint32_t i = 0; i < count; i++) {
        enum tdl_activation found = TDL_ACTIVATION_NONE;

        for (size_t k = 0; k < sizeof(known) / sizeof(*known); k++)
            if (tdl_pb_is(&names[i], known[k].name))
                found = known[k].activation;
        if (found == TDL_ACTIVATION_NONE)
            return tdl_kit_lacks(&im->kit, "activations other than Sigmoid, Tanh and Relu");
        if (i >= per && found != out[i - per])
            return tdl_kit_lacks(&im->kit, "other activations backwards than forwards");
        out[i % per] = found;
    }
    return true;
}

/* The last states and the sequence are outputs 1, 2 and 0. */
static bool give(struct onnx_import *im, const struct sizes *s, struct tdl_operand *sequence,
                 struct tdl_operand *hidden, struct tdl_operand *cell)
{
    struct tdl_operand *states[] = {hidden, cell};

    for (uint32_t i = 0; i < 2; i++)
        if (onnx_wanted(im, 1 + i) && states[i] &&
            !onnx_give_at(im, 1 + i, s->batch_first ? swap(im, states[i]) : states[i]))
            return false;
    if (!onnx_wanted(im, 0))
        return tdl_builder_status(im->builder) == TDL_OK;
    if (s->batch_first)
        sequence = tdl_builder_transpose(im->builder, sequence, (const uint32_t[]){2, 0, 1, 3});
    return onnx_give(im, sequence);
}

static bool add_lstm(struct onnx_import *im)
{
    struct tdl_operand *out[3];
    struct operands o;
    struct sizes s;

    if (!take_operands(im, &o, &s))
        return false;
    if (onnx_int(im, "input_forget", 0))
        return tdl_kit_lacks(&im->kit, "an input gate that is coupled to the forget gate");
    struct tdl_lstm_params p = {
        .bias = o.bias,
        .recurrent_bias = o.recurrent_bias,
        .peephole = o.peephole,
        .initial_hidden = o.start,
        .initial_cell = o.start_cell,
        .return_sequence = true,
        .direction = s.direction,
    };
    return take_activations(im, &s, 3, p.activations) &&
           tdl_builder_lstm(im->builder, o.x, o.w, o.r, s.steps, s.hidden, &p, out) == TDL_OK &&
           give(im, &s, out[2], out[0], out[1]);
}

static bool add_gru(struct onnx_import *im)
{
    struct tdl_operand *out[2];
    struct operands o;
    struct sizes s;

    if (!take_operands(im, &o, &s))
        return false;
    struct tdl_gru_params p = {
        .bias = o.bias,
        .recurrent_bias = o.recurrent_bias,
        .initial_hidden = o.start,
        .reset_before = !onnx_int(im, "linear_before_reset", 0),
        .return_sequence = true,
        .direction = s.direction,
    };
    return take_activations(im, &s, 2, p.activations) &&
           tdl_builder_gru(im->builder, o.x, o.w, o.r, s.steps, s.hidden, &p, out) == TDL_OK &&
           give(im, &s, out[1], out[0], NULL);
}

static bool add_rnn(struct onnx_import *im)
{
    struct tdl_operand *out[2];
    struct operands o;
    struct sizes s;

    if (!take_operands(im, &o, &s))
        return false;
    struct tdl_rnn_params p = {
        .bias = o.bias,
        .recurrent_bias = o.recurrent_bias,
        .initial_hidden = o.start,
        .return_sequence = true,
        .direction = s.direction,
    };
    return take_activations(im, &s, 1, &p.activation) &&
           tdl_builder_rnn(im->builder, o.x, o.w, o.r, s.steps, s.hidden, &p, out) == TDL_OK &&
           give(im, &s, out[1], out[0], NULL);
}

const struct onnx_row onnx_rows_recurrent[] = {
    {"GRU", 3, 6, add_gru},
    {"LSTM", 3, 8, add_lstm},
    {"RNN", 3, 6, add_rnn},
    {0},
};
