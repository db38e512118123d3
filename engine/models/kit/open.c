/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sizes that a file leaves open, and what the caller says of them. */
#define _GNU_SOURCE /* stpcpy() */
#include "kit.h"

#include <stdio.h>
#include <string.h>

static bool is_place(const struct tdl_kit_input *in, uint32_t i, const char *name)
{
    char place[TDL_KIT_NAME + 16];

    snprintf(place, sizeof(place), "%s:%u", in->name, i);
    return name && !strcmp(name, place);
}

/* Is that the dimension's name in the file, or its place? */
static bool is_called(const struct tdl_kit_input *in, uint32_t i, const char *name)
{
    return is_place(in, i, name) ||
           (name && in->named[i].size > 0 && strlen(name) == in->named[i].size &&
            !memcmp(name, in->named[i].data, in->named[i].size));
}

uint32_t tdl_kit_said(struct tdl_kit *kit, const struct tdl_kit_input *in, uint32_t i)
{
    for (uint32_t k = 0; k < kit->params->dimension_count; k++) {
        if (is_called(in, i, kit->params->dimensions[k].name)) {
            kit->bound |= UINT64_C(1) << (k % 64);
            return kit->params->dimensions[k].size;
        }
    }
    return 0;
}

const struct tdl_model_number *tdl_kit_find_number(struct tdl_kit *kit, const char *name)
{
    for (uint32_t i = 0; i < kit->params->number_count; i++) {
        const struct tdl_model_number *number = &kit->params->numbers[i];

        if (number->input && !strcmp(number->input, name)) {
            kit->numbered |= UINT64_C(1) << (i % 64);
            return number;
        }
    }
    return NULL;
}

/* `i` is −1 for an input that may have any number of dimensions. */
static void note_open(const struct tdl_kit_input *in, int i, struct tdl_kit_open *open)
{
    const size_t used = strlen(open->names);
    char quoted[300];

    if (i < 0)
        snprintf(quoted, sizeof(quoted), "'%.120s:0', if '%.120s' is no number", in->name,
                 in->name);
    else if (in->named[i].size > 0)
        snprintf(quoted, sizeof(quoted), "'%.*s'",
                 (int)(in->named[i].size < 200 ? in->named[i].size : 200), in->named[i].data);
    else
        snprintf(quoted, sizeof(quoted), "'%.200s:%d'", in->name, i);
    if (strstr(open->names, quoted)) /* this size is named already */
        return;
    if (open->count++ == 0) {
        snprintf(open->input, sizeof(open->input), "%.200s", in->name);
        open->dimension = i < 0 ? 0 : (uint32_t)i;
    }
    if (used + strlen(quoted) + 8 < sizeof(open->names)) /* ", " and ", ..." have room */
        stpcpy(used ? stpcpy(open->names + used, ", ") : open->names, quoted);
    else if (!strstr(open->names, "..."))
        stpcpy(open->names + used, ", ...");
}

/* Whether a size that the file leaves open is dynamic, by name and range. */
static bool is_dynamic(const struct tdl_kit *kit, const struct tdl_kit_input *in, uint32_t i,
                       struct tdl_dynamic_dimension *out)
{
    const struct tdl_model_more *more = kit->params->more;

    *out = (struct tdl_dynamic_dimension){0};
    for (uint32_t k = 0; more && k < more->range_count; k++)
        if (is_called(in, i, more->ranges[k].name)) {
            *out = more->ranges[k];
            return true;
        }
    return more && more->dynamic;
}

/* The first size of one that is dynamic, where nobody says it; 0: none. */
static int64_t first_size(const struct tdl_kit *kit, const struct tdl_kit_input *in, uint32_t i,
                          int64_t usual)
{
    struct tdl_dynamic_dimension range;

    if (!is_dynamic(kit, in, i, &range))
        return usual;
    if (range.max && (!usual || usual > range.max))
        return range.max;
    return usual > range.min ? usual : range.min;
}

/* The caller may say one size for a picture's height and width. Else it is what the file
 * notes, and one picture at a time. */
static int64_t default_size(const struct tdl_kit *kit, const struct tdl_kit_input *in,
                            uint32_t rank, uint32_t i)
{
    enum { USUAL = 256 }; /* px, where all sizes will do */
    const uint32_t height = in->layout == TDL_LAYOUT_NCHW ? 2 : 1;
    const bool is_side = rank == 4 && (i == height || i == height + 1);
    const uint32_t size = is_side ? kit->params->size[i - height] : 0;

    if (size)
        return size;
    if (in->hint[i] > 0 || (i == 0 && rank > 1))
        return first_size(kit, in, i, in->hint[i] > 0 ? in->hint[i] : 1);
    return kit->params->more && (kit->params->more->dynamic || kit->params->more->range_count)
               ? first_size(kit, in, i, is_side && kit->params->more->dynamic ? USUAL : 0)
               : 0;
}

bool tdl_kit_bind(struct tdl_kit *kit, const struct tdl_kit_input *in,
                  struct tdl_tensor_params *out, struct tdl_kit_open *open)
{
    uint32_t rank = in->rank;

    while (!in->has_rank && rank < TDL_MAX_RANK && tdl_kit_said(kit, in, rank))
        rank++;
    if (!in->has_rank && rank == 0)
        rank = in->guess;
    if (!in->has_rank && rank == 0)
        note_open(in, -1, open);
    *out = (struct tdl_tensor_params){.dtype = in->dtype, .rank = rank};
    for (uint32_t i = 0; i < rank; i++) {
        int64_t size = in->has_rank ? in->size[i] : 0;

        if (size <= 0)
            size = tdl_kit_said(kit, in, i);
        if (size == 0)
            size = default_size(kit, in, rank, i);
        if (size <= 0) {
            note_open(in, (int)i, open);
            size = 1;
        }
        if (size > INT32_MAX)
            return tdl_kit_damaged(kit, "the input '%.400s' has %lld elements in dimension %u",
                                   in->name, (long long)size, i);
        out->shape[i] = (uint32_t)size;
    }
    return true;
}

/* Names of files can be careless: a size that was said by its place is one of its own. */
static bool is_own(const struct tdl_kit *kit, const struct tdl_kit_input *in, uint32_t i)
{
    for (uint32_t k = 0; k < kit->params->dimension_count; k++)
        if (is_place(in, i, kit->params->dimensions[k].name))
            return true;
    return in->named[i].size == 0;
}

static void set_dynamic(struct tdl_kit *kit, const struct tdl_kit_input *in, uint32_t i)
{
    struct tdl_dynamic_dimension range;
    char name[256];

    if (!is_dynamic(kit, in, i, &range))
        return;
    if (!is_own(kit, in, i)) {
        snprintf(name, sizeof(name), "%.*s",
                 (int)(in->named[i].size < 200 ? in->named[i].size : 200), in->named[i].data);
        range.name = name;
    } else {
        range.name = NULL;
    }
    tdl_builder_set_dynamic(kit->builder, in->name, i, &range);
}

struct tdl_operand *tdl_kit_add_input(struct tdl_kit *kit, const struct tdl_kit_input *in,
                                      const struct tdl_tensor_params *desc)
{
    bool given = false;
    struct tdl_operand *x = tdl_model_input(kit->builder, kit->source, in->name, desc, &given);

    for (uint32_t i = 0; x && !given && i < desc->rank; i++)
        if (!in->has_rank || in->size[i] <= 0)
            set_dynamic(kit, in, i);
    return x;
}

/* A name that the caller bound, and that nothing in the file has; NULL: there is none. */
static const char *find_unbound(const struct tdl_kit *kit)
{
    for (uint32_t i = 0; i < kit->params->dimension_count; i++)
        if (i < 64 && !(kit->bound >> i & 1) && !kit->params->dimensions[i].optional)
            return kit->params->dimensions[i].name ? kit->params->dimensions[i].name : "";
    return NULL;
}

/* Callers have options of their own for this, and know it by the struct's name. */
static bool fail_open(struct tdl_kit *kit, const struct tdl_kit_open *open)
{
    const char *wrong = find_unbound(kit);
    char has[280] = "";

    if (wrong)
        snprintf(has, sizeof(has), ", and none is called '%.200s'", wrong);
    if (open->count == 1)
        return tdl_kit_refuse(kit,
                              "the model leaves dimension %u of its input '%s' open%s: give it a "
                              "size by the name %s (tdl_model_params)",
                              open->dimension, open->input, has, open->names);
    return tdl_kit_refuse(kit,
                          "the model leaves %u sizes of its inputs open%s: give each by its name, "
                          "which are %s (tdl_model_params)",
                          open->count, has, open->names);
}

bool tdl_kit_check_bound(struct tdl_kit *kit, const struct tdl_kit_open *open)
{
    const char *wrong = find_unbound(kit);

    if (open->count)
        return fail_open(kit, open);
    if (wrong)
        return tdl_kit_fail(kit, TDL_ERROR_INVALID_ARGUMENT,
                            "the model leaves no dimension '%.400s' open that could be bound; an "
                            "input's have names as 'input:1'",
                            wrong);
    for (uint32_t i = 0; i < kit->params->number_count && i < 64; i++)
        if (!(kit->numbered >> i & 1))
            return tdl_kit_fail(kit, TDL_ERROR_INVALID_ARGUMENT,
                                "the model has no input '%.400s' that could be a number",
                                kit->params->numbers[i].input ? kit->params->numbers[i].input : "");
    return true;
}
