/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "dynamic.h"

#include "builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------- the list */

static struct tdl_dynamic *find(const struct tdl_dynamic_list *l, uint32_t input,
                                uint32_t dimension)
{
    for (uint32_t i = 0; i < l->count; i++)
        if (l->list[i].input == input && l->list[i].dimension == dimension)
            return &l->list[i];
    return NULL;
}

const struct tdl_dynamic *tdl_dynamic_find(const struct tdl_dynamic_list *l, uint32_t input,
                                           uint32_t dimension)
{
    return find(l, input, dimension);
}

static char *copy_name(const char *input_name, const struct tdl_dynamic *d)
{
    enum { MOST = 200 }; /* bytes, for messages */
    char text[MOST + 1];
    if (d->range.name)
        snprintf(text, sizeof(text), "%s", d->range.name);
    else
        snprintf(text, sizeof(text), "%.180s:%u", input_name, d->dimension);
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = '?';
    return strdup(text);
}

bool tdl_dynamic_add(struct tdl_dynamic_list *l, const char *input_name,
                     const struct tdl_dynamic *added)
{
    struct tdl_dynamic *d = find(l, added->input, added->dimension);
    char *name = copy_name(input_name, added);
    if (!d && name) {
        struct tdl_dynamic *list = realloc(l->list, (l->count + (size_t)1) * sizeof(*list));
        if (list) {
            l->list = list;
            d = &list[l->count++];
            d->range.name = NULL;
        }
    }
    if (!d || !name) {
        free(name);
        return false;
    }
    free((char *)d->range.name);
    *d = *added;
    d->range.name = name;
    d->range.min = added->range.min ? added->range.min : 1;
    d->range.max = added->range.max ? added->range.max : INT32_MAX;
    return true;
}

bool tdl_dynamic_copy(const struct tdl_dynamic_list *from, struct tdl_dynamic_list *out)
{
    *out = (struct tdl_dynamic_list){0};
    for (uint32_t i = 0; i < from->count; i++)
        if (!tdl_dynamic_add(out, "", &from->list[i])) {
            tdl_dynamic_finish(out);
            return false;
        }
    return true;
}

void tdl_dynamic_finish(struct tdl_dynamic_list *l)
{
    for (uint32_t i = 0; i < l->count; i++)
        free((char *)l->list[i].range.name);
    free(l->list);
    *l = (struct tdl_dynamic_list){0};
}

/* ---------------------------------------------------------------------- checks */

static enum tdl_result check_range(const struct tdl_dynamic *d, const char *input, uint32_t size)
{
    if (size >= d->range.min && size <= d->range.max)
        return TDL_OK;
    return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                    "input \"%.400s\": dimension %u, \"%s\", is %u; the graph takes %u to %u",
                    input, d->dimension, d->range.name, size, d->range.min, d->range.max);
}

static enum tdl_result check_equal(const struct tdl_dynamic_list *l, const struct tdl_ir *ir,
                                   const tdl_shapes shapes, uint32_t index)
{
    const struct tdl_dynamic *d = &l->list[index];
    for (uint32_t i = 0; i < index; i++) {
        const struct tdl_dynamic *other = &l->list[i];
        const uint32_t a = shapes[other->input][other->dimension],
                       b = shapes[d->input][d->dimension];
        if (a != b && !strcmp(d->range.name, other->range.name))
            return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                            "\"%s\" is %u in dimension %u of input \"%.300s\", and %u in dimension "
                            "%u of input \"%.300s\": one name has one size",
                            d->range.name, a, other->dimension, ir->inputs[other->input]->name, b,
                            d->dimension, ir->inputs[d->input]->name);
    }
    return TDL_OK;
}

enum tdl_result tdl_dynamic_check(const struct tdl_dynamic_list *l, const struct tdl_ir *ir,
                                  const tdl_shapes shapes)
{
    enum tdl_result r = TDL_OK;
    for (uint32_t i = 0; i < ir->input_count; i++) {
        const struct tdl_tensor_params *fixed = &ir->inputs[i]->bound;
        for (uint32_t k = 0; k < fixed->rank; k++) {
            const struct tdl_dynamic *d = find(l, i, k);
            if (d)
                TRY(check_range(d, ir->inputs[i]->name, shapes[i][k]));
            else if (shapes[i][k] != fixed->shape[k])
                return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                                "input \"%.400s\": dimension %u is %u; it is fixed, and %u in the "
                                "graph",
                                ir->inputs[i]->name, k, shapes[i][k], fixed->shape[k]);
        }
    }
    for (uint32_t i = 0; i < l->count; i++)
        TRY(check_equal(l, ir, shapes, i));
fail:
    return r;
}

void tdl_dynamic_spread(const struct tdl_dynamic_list *l, uint64_t inputs, tdl_shapes shapes)
{
    for (uint32_t i = 0; i < l->count; i++) {
        const struct tdl_dynamic *d = &l->list[i];
        for (uint32_t k = 0; k < l->count && !(inputs >> d->input & 1); k++) {
            const struct tdl_dynamic *said = &l->list[k];
            if (inputs >> said->input & 1 && !strcmp(said->range.name, d->range.name))
                shapes[d->input][d->dimension] = shapes[said->input][said->dimension];
        }
    }
}

/* --------------------------------------------------------------------- builders */

static struct tdl_operand *find_input(const struct tdl_builder *b, const char *name,
                                      uint32_t *out_index)
{
    for (uint32_t i = 0; i < b->ir->input_count; i++)
        if (!strcmp(b->ir->inputs[i]->name, name)) {
            *out_index = i;
            return b->ir->inputs[i];
        }
    return NULL;
}

static enum tdl_result fail(struct tdl_builder *b, enum tdl_result r)
{
    char text[sizeof(b->error)];
    snprintf(text, sizeof(text), "%s", tdl_last_error());
    tdl_builder_fail(b, r, "%s", text);
    return b->status;
}

enum tdl_result tdl_builder_set_dynamic(struct tdl_builder *b, const char *input,
                                        uint32_t dimension,
                                        const struct tdl_dynamic_dimension *dynamic)
{
    TDL_NEED(b, "builder");
    struct tdl_dynamic d = {.dimension = dimension};
    if (b->status != TDL_OK)
        return tdl_fail(b->status, "%s", b->error);
    if (TDL_IS_UNKNOWN(dynamic))
        return fail(b, tdl_fail_unknown(__func__));
    const struct tdl_operand *o = find_input(b, input ? input : "", &d.input);
    if (!o)
        return fail(b, tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                                "tdl_builder_set_dynamic: there is no input \"%.400s\"",
                                input ? input : ""));
    if (dimension >= o->desc.rank)
        return fail(b, tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                                "tdl_builder_set_dynamic: input \"%.400s\" has %u dimensions, and "
                                "none of number %u",
                                input, o->desc.rank, dimension));
    if (dynamic)
        d.range = *dynamic;
    if (d.range.max > INT32_MAX || (d.range.max && d.range.min > d.range.max))
        return fail(b, tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                                "tdl_builder_set_dynamic: input \"%.400s\", dimension %u: there "
                                "are no sizes from %u to %u",
                                input, dimension, d.range.min, d.range.max));
    if (!tdl_dynamic_add(&b->dynamic, input, &d))
        return fail(b, tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory in a builder"));
    const enum tdl_result r =
        check_range(find(&b->dynamic, d.input, dimension), input, o->desc.shape[dimension]);
    return r == TDL_OK ? r : fail(b, r);
}

static void drop_remake(struct tdl_remake *m)
{
    if (m->release)
        m->release(m->data);
    free(m);
}

void tdl_remake_release(struct tdl_remake *m)
{
    if (m && atomic_fetch_sub(&m->refs, 1) == 1)
        drop_remake(m);
}

struct tdl_remake *tdl_remake_ref(struct tdl_remake *m)
{
    if (m)
        atomic_fetch_add(&m->refs, 1);
    return m;
}

void tdl_builder_set_remake(struct tdl_builder *b, tdl_remake_fn function, void *data,
                            void (*release)(void *))
{
    struct tdl_remake *m = b && function ? calloc(1, sizeof(*m)) : NULL;
    if (m)
        *m = (struct tdl_remake){1, function, data, release};
    else if (release)
        release(data);
    if (!b)
        return;
    if (function && !m)
        tdl_builder_fail(b, TDL_ERROR_OUT_OF_MEMORY, "out of memory in a builder");
    tdl_remake_release(b->remake);
    b->remake = m;
    b->remake_nodes = b->ir->node_count;
}
