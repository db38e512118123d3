/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ONNX's Einsum: sums of products over named dimensions, as "bhid,bhjd->bhij". Two
 * operands at a time become stacks of matrices: dimensions that both have and the
 * result keeps are the stack, those that it sums over the product's inner one. An
 * ellipsis stands for dimensions that are aligned at the last.
 */
#include "onnx.h"

#include <ctype.h>
#include <string.h>

#define MAX_TERMS 8
#define MAX_EQUATION 128
#define FIRST_HIDDEN '0' /* names of an ellipsis' dimensions, from the last on */

/* An operand, and a letter for each of its dimensions. */
struct term {
    struct tdl_operand *x;
    char labels[TDL_MAX_RANK + 1];
};

static uint32_t length(const char *labels)
{
    return (uint32_t)strlen(labels);
}

static bool has(const char *labels, char label)
{
    return label && strchr(labels, label) != NULL;
}

/* ------------------------------------------------------------------- equations */

/* One side's letters; an ellipsis becomes `hidden` names. False if it is none. */
static bool read_labels(const char **text, uint32_t hidden, char out[TDL_MAX_RANK + 1])
{
    uint32_t count = 0;

    for (; **text && **text != ',' && **text != '-'; ++*text) {
        uint32_t times = 1;
        char label = **text;

        if (label == ' ')
            continue;
        if (!strncmp(*text, "...", 3)) {
            *text += 2;
            times = hidden;
            label = (char)(FIRST_HIDDEN + hidden - 1);
        } else if (!isalpha((unsigned char)label)) {
            return false;
        }
        for (; times > 0; times--, label--) {
            if (count == TDL_MAX_RANK)
                return false;
            out[count++] = label;
        }
    }
    out[count] = 0;
    return true;
}

/* Letters of a term without its ellipsis. */
static uint32_t visible(const char *text)
{
    uint32_t count = 0;

    for (; *text && *text != ',' && *text != '-'; text++)
        count += isalpha((unsigned char)*text) != 0;
    return count;
}

static bool fail_equation(struct onnx_import *im)
{
    return tdl_kit_damaged(&im->kit, "the equation does not fit its inputs");
}

/* Without a right side: what stands once, in the alphabet's order, behind the ellipsis. */
static void imply(const char *equation, uint32_t hidden, char out[TDL_MAX_RANK + 1])
{
    uint32_t count = 0;

    for (; hidden > 0 && strstr(equation, "..."); hidden--)
        out[count++] = (char)(FIRST_HIDDEN + hidden - 1);
    for (char label = 'A'; label <= 'z' && count < TDL_MAX_RANK; label++) {
        const char *first = isalpha((unsigned char)label) ? strchr(equation, label) : NULL;

        if (first && !strchr(first + 1, label))
            out[count++] = label;
    }
    out[count] = 0;
}

static bool read_equation(struct onnx_import *im, struct term *terms, uint32_t count,
                          char result[TDL_MAX_RANK + 1])
{
    struct tdl_pb text;
    char equation[MAX_EQUATION];
    const char *at = equation;
    uint32_t hidden = 0;

    if (!onnx_string(im, "equation", &text) || text.size >= sizeof(equation))
        return fail_equation(im);
    tdl_pb_text(&text, equation, sizeof(equation));
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t rank = tdl_kit_rank(terms[i].x), seen = visible(at);
        const uint32_t more = rank > seen ? rank - seen : 0;
        const char *start = at;

        hidden = more > hidden ? more : hidden;
        if (!read_labels(&at, more, terms[i].labels) || length(terms[i].labels) != rank ||
            (more && !strstr(start, "...")) || (i + 1 < count ? *at++ != ',' : *at == ','))
            return fail_equation(im);
    }
    if (*at == 0) {
        imply(equation, hidden, result);
        return true;
    }
    if (at[0] != '-' || at[1] != '>')
        return fail_equation(im);
    at += 2;
    return (read_labels(&at, hidden, result) && *at == 0) || fail_equation(im);
}

/* ----------------------------------------------------------------------- sums */

/* Dimensions in the order of `labels`, of which the term has all. */
static bool turn(struct onnx_import *im, struct term *t, const char *labels)
{
    uint32_t permutation[TDL_MAX_RANK];
    bool same = true;

    for (uint32_t i = 0; labels[i]; i++) {
        permutation[i] = (uint32_t)(strchr(t->labels, labels[i]) - t->labels);
        same &= permutation[i] == i;
    }
    if (!same)
        t->x = tdl_builder_transpose(im->builder, t->x, permutation);
    memmove(t->labels, labels, strlen(labels) + 1);
    return t->x != NULL;
}

/* Without the dimensions that nobody else has. */
static bool sum_alone(struct onnx_import *im, struct term *t, const char *others)
{
    struct tdl_reduce_params p = {0};
    char left[TDL_MAX_RANK + 1];
    uint32_t count = 0;

    for (uint32_t i = 0; t->labels[i]; i++) {
        if (strchr(t->labels + i + 1, t->labels[i]))
            return tdl_kit_lacks(&im->kit, "a letter twice in one input, which takes a diagonal");
        if (has(others, t->labels[i]))
            left[count++] = t->labels[i];
        else
            p.axes[p.axis_count++] = i;
    }
    left[count] = 0;
    if (p.axis_count)
        t->x = tdl_builder_reduce(im->builder, t->x, TDL_REDUCE_SUM, &p);
    memcpy(t->labels, left, sizeof(left));
    return t->x != NULL;
}

/* Elements of the dimensions that are listed. */
static uint32_t size_of(const struct term *t, const char *labels)
{
    uint32_t size = 1;

    for (; *labels; labels++)
        size *= tdl_kit_shape(t->x)[strchr(t->labels, *labels) - t->labels];
    return size;
}

static void join(char *out, const char *a, const char *b, const char *c)
{
    strcpy(out, a);
    strcat(out, b);
    strcat(out, c);
}

/* a := the product of both, with the dimensions in `keep`. */
static bool multiply(struct onnx_import *im, struct term *a, struct term *b, const char *keep)
{
    struct tdl_builder *builder = im->builder;
    char stack[TDL_MAX_RANK + 1] = "", inner[TDL_MAX_RANK + 1] = "", rows[TDL_MAX_RANK + 1] = "";
    char columns[TDL_MAX_RANK + 1] = "", all[3 * TDL_MAX_RANK + 1];
    uint32_t shape[TDL_MAX_RANK], rank = 0;

    for (uint32_t i = 0; a->labels[i]; i++) {
        char *list = !has(b->labels, a->labels[i]) ? rows : has(keep, a->labels[i]) ? stack : inner;

        list[length(list)] = a->labels[i];
    }
    for (uint32_t i = 0; b->labels[i]; i++)
        if (!has(a->labels, b->labels[i]))
            columns[length(columns)] = b->labels[i];
    if (size_of(a, stack) != size_of(b, stack) || size_of(a, inner) != size_of(b, inner))
        return tdl_kit_lacks(&im->kit, "dimensions of one letter with two sizes");
    if (length(stack) + length(rows) + length(columns) > TDL_MAX_RANK)
        return tdl_kit_lacks(&im->kit, "products of more than %d dimensions", TDL_MAX_RANK);
    const uint32_t s = size_of(a, stack), k = size_of(a, inner), m = size_of(a, rows);
    const uint32_t n = size_of(b, columns);
    for (uint32_t i = 0; i < 2; i++)
        for (const char *c = i ? rows : stack; *c; c++)
            shape[rank++] = size_of(a, (const char[]){*c, 0});
    for (const char *c = columns; *c; c++)
        shape[rank++] = size_of(b, (const char[]){*c, 0});
    join(all, stack, rows, inner);
    if (!turn(im, a, all))
        return false;
    join(all, stack, inner, columns);
    if (!turn(im, b, all))
        return false;
    a->x = tdl_builder_matmul(builder, onnx_reshape(im, a->x, 3, (const uint32_t[]){s, m, k}),
                              onnx_reshape(im, b->x, 3, (const uint32_t[]){s, k, n}));
    a->x = onnx_reshape(im, a->x, rank, shape);
    join(all, stack, rows, columns);
    memcpy(a->labels, all, sizeof(a->labels));
    return a->x != NULL;
}

bool onnx_add_einsum(struct onnx_import *im)
{
    const uint32_t count = im->node.input_count;
    char result[TDL_MAX_RANK + 1], others[(MAX_TERMS + 1) * TDL_MAX_RANK + 1];
    struct term terms[MAX_TERMS];

    if (count > MAX_TERMS)
        return tdl_kit_lacks(&im->kit, "%u inputs; libtdl takes up to %d", count, MAX_TERMS);
    for (uint32_t i = 0; i < count; i++)
        if (!(terms[i].x = onnx_operand(im, i)))
            return false;
    if (!read_equation(im, terms, count, result))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        strcpy(others, result);
        for (uint32_t k = 0; k < count; k++)
            if (k != i)
                strcat(others, terms[k].labels);
        if (!sum_alone(im, &terms[i], others))
            return false;
    }
    for (uint32_t i = 1; i < count; i++) {
        strcpy(others, result);
        for (uint32_t k = i + 1; k < count; k++)
            strcat(others, terms[k].labels);
        if (!multiply(im, &terms[0], &terms[i], others))
            return false;
    }
    if (length(result) != length(terms[0].labels) ||
        strspn(result, terms[0].labels) != length(result))
        return fail_equation(im);
    return turn(im, &terms[0], result) && onnx_give(im, terms[0].x);
}
