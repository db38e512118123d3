/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of convolution algorithms, and the choice. In this order: what the
 * caller forces, what was measured, the lowest estimate. A candidate is a row
 * with one of its variants.
 */
#include "conv.h"

#include "tuning.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct tdl_conv_algorithm *const rows[] = {
    &tdl_conv_pointwise, &tdl_conv_depthwise,  &tdl_conv_direct,
    &tdl_conv_implicit,  &tdl_conv_winograd23, &tdl_conv_winograd43,
    &tdl_conv_im2col,    &tdl_conv_grouped,    &tdl_conv_cooperative,
};

struct candidate {
    const struct tdl_conv_algorithm *row;
    const struct tdl_conv_variant *variant;
    double cost;
};

enum { MAX_CANDIDATES = 96 };

static void name_of(const struct candidate *c, char *text, size_t size)
{
    snprintf(text, size, "%s%s%s", c->row->name, *c->variant->name ? ":" : "", c->variant->name);
}

/* What decides between candidates, in words: the key of the tuning file. */
static void describe(const struct tdl_conv_geometry *g, char *text, size_t size)
{
    snprintf(text, size, "conv2d-%s-%ux%ux%ux%u-%ux%ux%u-k%ux%u-s%ux%u-d%ux%u-p%ux%u-g%u-pre%d%s%s",
             g->storage == TDL_FLOAT16 ? "f16" : "f32", g->in.n, g->in.h, g->in.w, g->in.c,
             g->out.h, g->out.w, g->out.c, g->kernel[0], g->kernel[1], g->p->stride[0],
             g->p->stride[1], g->p->dilation[0], g->p->dilation[1], g->window.pad_top,
             g->window.pad_left, g->p->groups, (int)g->pre, g->residual ? "-residual" : "",
             g->plain ? "-plain" : "");
}

/* True if `text` is the row's name, or "name:variant" of this variant. */
static bool is_named(const struct candidate *c, const char *text)
{
    char name[64];
    name_of(c, name, sizeof(name));
    return !strcmp(text, name) || !strcmp(text, c->row->name);
}

static uint32_t collect(const struct tdl_conv_geometry *g, struct candidate *out)
{
    uint32_t count = 0;
    for (size_t r = 0; r < TDL_COUNT(rows); r++)
        for (uint32_t v = 0; v < rows[r]->variant_count && count < MAX_CANDIDATES; v++)
            if ((!g->plain || rows[r]->reads_plain) && rows[r]->accepts(g, &rows[r]->variants[v]))
                out[count++] = (struct candidate){rows[r], &rows[r]->variants[v],
                                                  rows[r]->cost(g, &rows[r]->variants[v])};
    return count;
}

static const struct candidate *cheapest(const struct candidate *list, uint32_t count,
                                        const char *named)
{
    const struct candidate *best = NULL;
    for (uint32_t i = 0; i < count; i++)
        if ((!named || is_named(&list[i], named)) && (!best || list[i].cost < best->cost))
            best = &list[i];
    return best;
}

/* The candidate of number policy->candidate; the best one where there are
 * fewer. */
static const struct candidate *numbered(struct tdl_plan_policy *policy,
                                        const struct candidate *list, uint32_t count)
{
    const struct candidate *best = cheapest(list, count, NULL), *found = NULL;
    uint32_t number = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (list[i].cost > best->cost * policy->patience)
            continue;
        number++;
        if (number == policy->candidate)
            found = &list[i];
    }
    policy->more |= number > policy->candidate;
    return found ? found : best;
}

static const struct candidate *choose(struct tdl_plan *plan, const char *layer,
                                      const struct candidate *list, uint32_t count,
                                      enum tdl_choice *out_choice)
{
    struct tdl_plan_policy *policy = &plan->policy;
    const struct candidate *c = NULL;
    const char *measured;
    policy->layers++;
    *out_choice = TDL_CHOICE_FORCED;
    if (policy->candidate)
        return numbered(policy, list, count);
    if (policy->forced && (c = cheapest(list, count, policy->forced))) {
        policy->obeyed++;
        return c;
    }
    *out_choice = TDL_CHOICE_TUNED;
    if ((measured = tdl_tuning_find(policy->tuning, layer)) &&
        (c = cheapest(list, count, measured)))
        return c;
    *out_choice = TDL_CHOICE_DEFAULT;
    return cheapest(list, count, NULL);
}

enum tdl_result tdl_conv_lower(struct tdl_plan *plan, struct tdl_node *n,
                               struct tdl_conv_geometry *g)
{
    struct candidate list[MAX_CANDIDATES];
    char layer[sizeof(plan->steps->layer)];
    enum tdl_choice choice;
    uint32_t first = plan->step_count, count = collect(g, list);
    describe(g, layer, sizeof(layer));
    if (!count)
        return tdl_fail(TDL_ERROR_UNSUPPORTED, "%s: no kernel takes this convolution (%s)",
                        n->label, layer);
    const struct candidate *c = choose(plan, layer, list, count, &choice);
    c->row->lower(plan, n, g, c->variant);
    for (uint32_t i = first; i < plan->step_count; i++) {
        struct tdl_plan_step *s = &plan->steps[i];
        name_of(c, s->algorithm, sizeof(s->algorithm));
        snprintf(s->layer, sizeof(s->layer), "%s", layer);
        s->choice = choice;
        s->layer_start = i == first;
    }
    return plan->status;
}

/* ------------------------------------------------------------- matrix units */

static bool is_forced(const struct tdl_plan_policy *policy, const struct tdl_conv_variant *v)
{
    return policy->forced &&
           is_named(&(struct candidate){&tdl_conv_cooperative, v, 0}, policy->forced);
}

const struct tdl_conv_variant *tdl_conv_choose_units(struct tdl_plan *plan,
                                                     const struct tdl_conv_geometry *g,
                                                     double other, tdl_conv_fits_fn fits,
                                                     const void *data)
{
    const struct tdl_conv_algorithm *row = &tdl_conv_cooperative;
    const struct tdl_conv_variant *best = NULL, *forced = NULL;
    double least = other, least_forced = INFINITY;
    for (uint32_t i = 0; i < row->variant_count; i++) {
        const struct tdl_conv_variant *v = &row->variants[i];
        if (!tdl_conv_is_undivided(v) || !row->accepts(g, v) || (fits && !fits(g, data, v)))
            continue;
        const double cost = row->cost(g, v);
        if (cost < least) {
            least = cost;
            best = v;
        }
        if (is_forced(&plan->policy, v) && cost < least_forced) {
            least_forced = cost;
            forced = v;
        }
    }
    return forced ? forced : best;
}

void tdl_conv_name_units(struct tdl_plan *plan, uint32_t first, const struct tdl_conv_variant *v)
{
    const struct candidate c = {&tdl_conv_cooperative, v, 0};
    const bool forced = is_forced(&plan->policy, v);
    plan->policy.obeyed += forced;
    for (uint32_t i = first; i < plan->step_count; i++) {
        name_of(&c, plan->steps[i].algorithm, sizeof(plan->steps[i].algorithm));
        plan->steps[i].choice = forced ? TDL_CHOICE_FORCED : TDL_CHOICE_DEFAULT;
    }
}

/* ------------------------------------------------------------------- public */

const char *tdl_conv2d_algorithm_name(uint32_t index)
{
    return index < TDL_COUNT(rows) ? rows[index]->name : NULL;
}

bool tdl_conv_reads_plain(const char *forced)
{
    bool found = !forced;
    for (size_t r = 0; r < TDL_COUNT(rows) && !found; r++)
        for (uint32_t v = 0; v < rows[r]->variant_count; v++)
            found |= rows[r]->reads_plain &&
                     is_named(&(struct candidate){rows[r], &rows[r]->variants[v], 0}, forced);
    return found;
}

enum tdl_result tdl_conv_check_forced(const char *name)
{
    char list[256] = "";
    size_t used = 0;
    for (size_t r = 0; r < TDL_COUNT(rows); r++) {
        for (uint32_t v = 0; v < rows[r]->variant_count; v++)
            if (is_named(&(struct candidate){rows[r], &rows[r]->variants[v], 0}, name))
                return TDL_OK;
        if (used < sizeof(list))
            used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", r ? ", " : "",
                                     rows[r]->name);
    }
    return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                    "conv2d_algorithm: there is no \"%s\"; there are %s, each also with a "
                    "variant of its own behind a colon",
                    name, list);
}

enum tdl_result tdl_conv_check_obeyed(const struct tdl_plan_policy *policy)
{
    if (policy->forced && !policy->obeyed)
        return tdl_fail(TDL_ERROR_UNSUPPORTED,
                        "conv2d_algorithm: none of the %u convolutions of this graph can be "
                        "computed by \"%s\"",
                        policy->layers, policy->forced);
    return TDL_OK;
}
