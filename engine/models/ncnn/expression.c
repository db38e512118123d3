/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sizes that ncnn's newer files leave to the input's: "*(0w,2),-1" is a list of two, in which
 * 0w is the width of the first bottom. Functions stand before their operands. */
#include "ncnn.h"

#include <math.h>
#include <string.h>

#define MAX_DEPTH 32 /* values that wait for their functions */

struct stack {
    double values[MAX_DEPTH];
    uint32_t count;
};

static const struct {
    const char *name;
    uint8_t operands;
} functions[] = {{"+", 2},      {"-", 2},     {"*", 2},    {"/", 2},     {"//", 2},
                 {"max", 2},    {"min", 2},   {"abs", 1},  {"neg", 1},   {"sign", 1},
                 {"square", 1}, {"trunc", 1}, {"ceil", 1}, {"floor", 1}, {"round", 1}};

/* Function `f` of the table. */
static double apply(uint32_t f, double a, double b)
{
    switch (f) {
    case 0:
        return a + b;
    case 1:
        return a - b;
    case 2:
        return a * b;
    case 3:
        return a / b;
    case 4:
        return floor(a / b);
    case 5:
        return fmax(a, b);
    case 6:
        return fmin(a, b);
    case 7:
        return fabs(a);
    case 8:
        return -a;
    case 9:
        return a > 0 ? 1 : a < 0 ? -1 : 0;
    case 10:
        return a * a;
    case 11:
        return trunc(a);
    case 12:
        return ceil(a);
    case 13:
        return floor(a);
    default:
        return round(a);
    }
}

/* "0w": the digit is a bottom's, the letter one of its sizes. False if it is none. */
static bool size_of(struct ncnn_import *im, const struct ncnn_layer *l, const char *token,
                    uint32_t length, double *out)
{
    static const char letters[] = "whdc";
    /* The letters of dimensions, innermost first. */
    static const char dims_letters[][5] = {"w", "wh", "whc", "whdc"};
    const bool is_size = length == 2 && memchr(letters, token[1], 4);
    const uint32_t bottom = (uint32_t)(token[0] - '0');
    const uint32_t *shape;

    if (!is_size || bottom >= l->bottom_count || !ncnn_bottom(im, l, bottom))
        return false;
    const uint32_t dims = ncnn_dims(ncnn_bottom(im, l, bottom), &shape);
    const char *own = strchr(dims_letters[dims - 1], token[1]);
    *out = own ? shape[dims - 1 - (uint32_t)(own - dims_letters[dims - 1])] : 1;
    return true;
}

static bool take_token(struct ncnn_import *im, const struct ncnn_layer *l, struct stack *s,
                       const char *token, uint32_t length)
{
    const uint32_t count = sizeof(functions) / sizeof(functions[0]);
    double value;
    uint32_t f = 0;

    while (f < count &&
           (strlen(functions[f].name) != length || memcmp(functions[f].name, token, length) != 0))
        f++;
    if (f == count) {
        if (s->count == MAX_DEPTH ||
            (!size_of(im, l, token, length, &value) && !ncnn_number(token, length, &value)))
            return false;
        s->values[s->count++] = value;
        return true;
    }
    if (s->count < functions[f].operands)
        return false;
    s->count -= functions[f].operands;
    value = apply(f, s->values[s->count + functions[f].operands - 1], s->values[s->count]);
    s->values[s->count++] = value;
    return true;
}

bool ncnn_evaluate(struct ncnn_import *im, const struct ncnn_layer *l, uint32_t id, int32_t *out,
                   uint32_t capacity, uint32_t *out_count)
{
    const char *text = l->params[id].text;
    uint32_t end = l->params[id].length;
    struct stack s = {0};
    bool ok = true;

    while (ok && end > 0) { /* from the end, where operands stand */
        uint32_t begin = end;

        while (begin > 0 && !memchr("(),", text[begin - 1], 3))
            begin--;
        ok = begin == end || take_token(im, l, &s, text + begin, end - begin);
        end = begin > 0 ? begin - 1 : 0;
    }
    ok = ok && s.count >= 1 && s.count <= capacity;
    for (uint32_t i = 0; ok && i < s.count; i++) {
        const double value = trunc(s.values[s.count - 1 - i]);

        ok = value >= INT32_MIN && value <= INT32_MAX;
        out[i] = ok ? (int32_t)value : 0;
    }
    *out_count = s.count;
    return ok ||
           tdl_kit_damaged(&im->kit, "'%.*s' is no list of sizes",
                           (int)(l->params[id].length < 80 ? l->params[id].length : 80), text);
}
