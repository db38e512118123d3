/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "choice.h"

#include "tuning.h"

#include <stdio.h>
#include <string.h>

static void name_of(const struct tdl_candidate *c, char *text, size_t size)
{
    snprintf(text, size, "%s%s%s", c->name, *c->variant ? ":" : "", c->variant);
}

bool tdl_candidate_is_named(const struct tdl_candidate *c, const char *text)
{
    char name[64];
    name_of(c, name, sizeof(name));
    return !strcmp(text, name) || !strcmp(text, c->name);
}

static const struct tdl_candidate *cheapest(const struct tdl_candidate *list, uint32_t count,
                                            const char *named)
{
    const struct tdl_candidate *best = NULL;
    for (uint32_t i = 0; i < count; i++)
        if ((!named || tdl_candidate_is_named(&list[i], named)) &&
            (!best || list[i].cost < best->cost))
            best = &list[i];
    return best;
}

/* The candidate of number policy->candidate; the best one, by default, where there are
 * fewer, or where the layer is not tuned. */
static const struct tdl_candidate *numbered(struct tdl_plan_policy *policy, const char *layer,
                                            const struct tdl_candidate *list, uint32_t count,
                                            enum tdl_choice *out_choice)
{
    const struct tdl_candidate *best = cheapest(list, count, NULL), *found = NULL;
    const bool tuned = !policy->only || tdl_tuning_find(policy->only, layer);
    uint32_t number = 0;
    for (uint32_t i = 0; i < count && tuned; i++) {
        if (list[i].cost > best->cost * policy->patience)
            continue;
        number++;
        if (number == policy->candidate)
            found = &list[i];
    }
    policy->more |= number > policy->candidate;
    if (!found)
        *out_choice = TDL_CHOICE_DEFAULT;
    return found ? found : best;
}

const struct tdl_candidate *tdl_choose(struct tdl_plan *plan, const char *layer,
                                       const struct tdl_candidate *list, uint32_t count,
                                       enum tdl_choice *out_choice)
{
    struct tdl_plan_policy *policy = &plan->policy;
    const struct tdl_candidate *c = NULL;
    const char *measured;
    policy->layers++;
    *out_choice = TDL_CHOICE_FORCED;
    if (policy->candidate)
        return numbered(policy, layer, list, count, out_choice);
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

void tdl_name_layer(struct tdl_plan *plan, uint32_t first, const struct tdl_candidate *c,
                    const char *layer, enum tdl_choice choice)
{
    for (uint32_t i = first; i < plan->step_count; i++) {
        struct tdl_plan_step *s = &plan->steps[i];
        name_of(c, s->algorithm, sizeof(s->algorithm));
        snprintf(s->layer, sizeof(s->layer), "%s", layer);
        s->choice = choice;
        s->layer_start = i == first;
    }
}
