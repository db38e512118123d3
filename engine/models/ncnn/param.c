/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The text of ncnn's models: words and numbers of lines. Read by hand, as the
 * text may end anywhere and numbers must not depend on the locale. */
#include "ncnn.h"

#include <limits.h>
#include <math.h>
#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

uint32_t ncnn_word(struct ncnn_text *text, char *out, uint32_t size, const char **out_start)
{
    uint32_t length = 0;

    while (text->at < text->end && is_blank(*text->at))
        text->at++;
    *out_start = text->at;
    while (text->at < text->end && !is_blank(*text->at) && *text->at != '\n' &&
           length < UINT32_MAX) {
        if (length + 1 < size)
            out[length] = *text->at;
        length++;
        text->at++;
    }
    out[length + 1 < size ? length : size - 1] = 0;
    return length;
}

bool ncnn_next_line(struct ncnn_text *text)
{
    while (text->at < text->end && *text->at != '\n')
        text->at++;
    if (text->at < text->end)
        text->at++;
    text->line++;
    return text->at < text->end;
}

static uint32_t digits(const char *word, uint32_t length, uint32_t at, double *value,
                       int *out_count)
{
    for (*out_count = 0; at < length && word[at] >= '0' && word[at] <= '9'; at++, ++*out_count)
        *value = *value * 10 + (word[at] - '0');
    return at;
}

bool ncnn_number(const char *word, uint32_t length, double *out)
{
    const bool negative = length > 0 && word[0] == '-';
    uint32_t at = length > 0 && (word[0] == '-' || word[0] == '+');
    int whole, fraction = 0, exponent_digits = 1, exponent = 0;
    double value = 0, power = 0;

    at = digits(word, length, at, &value, &whole);
    if (at < length && word[at] == '.')
        at = digits(word, length, at + 1, &value, &fraction);
    if (at < length && (word[at] == 'e' || word[at] == 'E')) {
        const bool below = at + 1 < length && word[at + 1] == '-';

        at += 1 + (at + 1 < length && (word[at + 1] == '-' || word[at + 1] == '+'));
        at = digits(word, length, at, &power, &exponent_digits);
        exponent = power > 400 ? 400 : (int)power;
        exponent = below ? -exponent : exponent;
    }
    *out = (negative ? -value : value) * pow(10, exponent - fraction);
    return at == length && whole + fraction > 0 && exponent_digits > 0 && isfinite(*out);
}

bool ncnn_count(struct ncnn_text *text, uint32_t most, uint32_t *out)
{
    const char *start;
    char word[24];
    const uint32_t length = ncnn_word(text, word, sizeof(word), &start);
    double value;

    if (length == 0 || length >= sizeof(word) || !ncnn_number(word, length, &value) || value < 0 ||
        value > most || floor(value) != value)
        return false;
    *out = (uint32_t)value;
    return true;
}

/* ---------------------------------------------------------------- parameters */

/* "3,1.5,2": how many, if it is `counted`, then they. */
static bool read_array(struct ncnn_layer *l, uint32_t id, bool counted, const char *at,
                       const char *end)
{
    double count = 0, value;

    l->params[id].first = l->value_count;
    for (uint32_t i = 0; at < end; i++) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        const char *stop = comma ? comma : end;

        if (!ncnn_number(at, (uint32_t)(stop - at), &value))
            return false;
        if (i == 0 && counted) {
            count = value;
        } else {
            if (l->value_count == NCNN_MAX_VALUES)
                return false;
            l->values[l->value_count++] = value;
            l->params[id].count++;
        }
        at = comma ? comma + 1 : end;
    }
    return !counted || count == l->params[id].count;
}

/* A text in quotes, or a function, which begins with a letter. Who asks for a number there
 * has its default. */
static bool read_text(struct ncnn_layer *l, uint32_t id, const char *at, const char *end)
{
    const bool quoted = *at == '"';

    if (quoted && (end - at < 2 || end[-1] != '"'))
        return false;
    l->params[id].set = false;
    l->params[id].text = at + quoted;
    l->params[id].length = (uint32_t)(end - at) - 2 * quoted;
    return true;
}

static bool is_text(const char *at, const char *end)
{
    const bool letter = at < end && ((*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z'));

    return at < end && (*at == '"' || (letter && memchr(at, '(', (size_t)(end - at))));
}

/* "key=value"; arrays have keys of -23300 and below, or commas. */
static bool read_param(struct ncnn_layer *l, const char *word, uint32_t length)
{
    const char *equals = memchr(word, '=', length), *end = word + length;
    double key, value = 0;

    if (!equals || !ncnn_number(word, (uint32_t)(equals - word), &key) || floor(key) != key)
        return false;
    const bool array = key <= -23300;
    if (array)
        key = -23300 - key;
    if (key < 0 || key >= NCNN_MAX_PARAMS || l->params[(uint32_t)key].set)
        return false;
    const uint32_t id = (uint32_t)key;
    l->params[id].set = true;
    if (!array && is_text(equals + 1, end))
        return read_text(l, id, equals + 1, end);
    if (array || memchr(equals, ',', (size_t)(end - equals)))
        return read_array(l, id, array, equals + 1, end);
    if (!ncnn_number(equals + 1, (uint32_t)(end - equals - 1), &value))
        return false;
    l->params[id].number = value;
    return true;
}

bool ncnn_read_params(struct ncnn_import *im, struct ncnn_layer *l)
{
    const char *start;
    char word[24];
    uint32_t length;

    while ((length = ncnn_word(&im->text, word, sizeof(word), &start)) > 0)
        if (!read_param(l, start, length)) {
            tdl_kit_damaged(&im->kit, "the model file is damaged: '%s' in line %u is no parameter",
                            word, im->text.line);
            return false;
        }
    return true;
}

static int32_t saturate(double value)
{
    return value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : (int32_t)value;
}

int32_t ncnn_int(const struct ncnn_layer *l, uint32_t id, int32_t fallback)
{
    return l->params[id].set ? saturate(l->params[id].number) : fallback;
}

int32_t ncnn_int_at(const struct ncnn_layer *l, uint32_t id, uint32_t i, int32_t fallback)
{
    return i < l->params[id].count ? saturate(l->values[l->params[id].first + i]) : fallback;
}

float ncnn_float(const struct ncnn_layer *l, uint32_t id, float fallback)
{
    return l->params[id].set ? (float)l->params[id].number : fallback;
}

float ncnn_value(const struct ncnn_layer *l, uint32_t id, uint32_t i, float fallback)
{
    return i < l->params[id].count ? (float)l->values[l->params[id].first + i] : fallback;
}
