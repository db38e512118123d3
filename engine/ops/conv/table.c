/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of convolution algorithms. A candidate (../choice.h) is a row with one of its
 * variants.
 */
#include "conv.h"

#include <stdio.h>
#include <string.h>

static const struct tdl_conv_algorithm *const rows[] = {
    &tdl_conv_pointwise,   &tdl_conv_depthwise,  &tdl_conv_direct, &tdl_conv_implicit,
    &tdl_conv_winograd23,  &tdl_conv_winograd43, &tdl_conv_im2col, &tdl_conv_grouped,
    &tdl_conv_cooperative, &tdl_conv_patch,
};

static struct tdl_candidate candidate(const struct tdl_conv_algorithm *row,
                                      const struct tdl_conv_variant *v, double cost)
{
    return (struct tdl_candidate){row->name, v->name, cost, row, v};
}

/* The facts that decide between candidates, in words: the key of the tuning file. */
static void describe(const struct tdl_conv_geometry *g, char *text, size_t size)
{
    snprintf(text, size,
             "conv2d-%s-%ux%ux%ux%u-%ux%ux%u-k%ux%u-s%ux%u-d%ux%u-p%ux%u-g%u-pre%d%s%s%s",
             g->storage == TDL_FLOAT16 ? "f16" : "f32", g->in.n, g->in.h, g->in.w, g->in.c,
             g->out.h, g->out.w, g->out.c, g->window.kernel[0], g->window.kernel[1],
             g->window.stride[0], g->window.stride[1], g->window.dilation[0], g->window.dilation[1],
             g->window.pad[0], g->window.pad[2], g->p->groups, (int)g->pre,
             g->residual ? "-residual" : "", g->plain ? "-plain" : "",
             g->resampled ? "-resampled"
             : g->mixed   ? "-mixed"
                          : "");
}

static bool is_named(const struct tdl_conv_algorithm *row, const struct tdl_conv_variant *v,
                     const char *text)
{
    const struct tdl_candidate c = candidate(row, v, 0);
    return tdl_candidate_is_named(&c, text);
}

static uint32_t collect(const struct tdl_conv_geometry *g, struct tdl_candidate *out)
{
    uint32_t count = 0;
    for (size_t r = 0; r < TDL_COUNT(rows); r++)
        for (uint32_t i = 0; i < rows[r]->variant_count && count < TDL_MAX_CANDIDATES; i++) {
            const struct tdl_conv_variant *v = &rows[r]->variants[i];
            if ((!g->plain || rows[r]->reads_plain) && (!g->mixed || rows[r] == &tdl_conv_patch) &&
                rows[r]->accepts(g, v))
                out[count++] = candidate(rows[r], v, rows[r]->cost(g, v));
        }
    return count;
}

bool tdl_conv_is_patch(const struct tdl_node *n, const struct tdl_device_info *device,
                       enum tdl_dtype storage)
{
    struct tdl_conv_geometry g = {.device = device, .storage = storage};
    bool found = false;
    tdl_conv_describe(n, &g);
    if (g.pre != TDL_PRE_NONE || n->means)
        return false;
    for (uint32_t i = 0; i < tdl_conv_patch.variant_count && !found; i++)
        found = tdl_conv_patch.accepts(&g, &tdl_conv_patch.variants[i]);
    return found;
}

enum tdl_result tdl_conv_lower(struct tdl_plan *plan, struct tdl_node *n,
                               struct tdl_conv_geometry *g)
{
    struct tdl_candidate list[TDL_MAX_CANDIDATES];
    char layer[sizeof(plan->steps->layer)];
    enum tdl_choice choice;
    uint32_t first = plan->step_count, count = collect(g, list);
    describe(g, layer, sizeof(layer));
    if (!count)
        return tdl_fail(TDL_ERROR_UNSUPPORTED, "%s: no kernel takes this convolution (%s)",
                        n->label, layer);
    const struct tdl_candidate *c = tdl_choose(plan, layer, list, count, &choice);
    c->row->lower(plan, n, g, c->sizes);
    tdl_name_layer(plan, first, c, layer, choice);
    return plan->status;
}

uint32_t tdl_conv_collect_units(const struct tdl_conv_geometry *g, tdl_conv_fits_fn fits,
                                const void *data, struct tdl_candidate *list, uint32_t count)
{
    const struct tdl_conv_algorithm *row = &tdl_conv_cooperative;
    for (uint32_t i = 0; i < row->variant_count && count < TDL_MAX_CANDIDATES; i++) {
        const struct tdl_conv_variant *v = &row->variants[i];
        if (row->accepts(g, v) && fits(g, data, v))
            list[count++] = candidate(row, v, row->cost(g, v));
    }
    return count;
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
            found |= rows[r]->reads_plain && is_named(rows[r], &rows[r]->variants[v], forced);
    return found;
}

enum tdl_result tdl_conv_check_forced(const char *name)
{
    char list[256] = "";
    size_t used = 0;
    for (uint32_t v = 0; v < tdl_matmul_tensors.variant_count; v++)
        if (is_named(&tdl_matmul_tensors, &tdl_matmul_tensors.variants[v], name))
            return TDL_OK;
    for (size_t r = 0; r < TDL_COUNT(rows); r++) {
        for (uint32_t v = 0; v < rows[r]->variant_count; v++)
            if (is_named(rows[r], &rows[r]->variants[v], name))
                return TDL_OK;
        if (used < sizeof(list))
            used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", r ? ", " : "",
                                     rows[r]->name);
    }
    return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                    "conv2d_algorithm: there is no \"%s\"; there are %s, and of products %s, each "
                    "also with a variant of its own behind a colon",
                    name, list, tdl_matmul_tensors.name);
}

enum tdl_result tdl_conv_check_obeyed(const struct tdl_plan_policy *policy)
{
    if (policy->forced && !policy->obeyed)
        return tdl_fail(
            TDL_ERROR_UNSUPPORTED,
            "conv2d_algorithm: none of the %u convolutions and products of this graph can "
            "be computed by \"%s\"",
            policy->layers, policy->forced);
    return TDL_OK;
}
