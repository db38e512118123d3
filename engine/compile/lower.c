/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* plan: lowers nodes to steps. */
#include "passes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void dump(const struct tdl_plan *plan)
{
    const char *wanted = getenv("TDL_DUMP");
    if (!wanted || (strcmp(wanted, "all") != 0 && !strstr(wanted, "plan")))
        return;
    fprintf(stderr, "after plan: %u steps, arena %llu of %llu bytes\n", plan->step_count,
            (unsigned long long)plan->arena_size, (unsigned long long)plan->tensor_bytes);
    for (uint32_t i = 0; i < plan->step_count; i++) {
        const struct tdl_plan_step *s = &plan->steps[i];
        fprintf(stderr, "  %3u %3u %-28s %ux%ux%u %s\n", i, s->level, s->kernel->name, s->groups[0],
                s->groups[1], s->groups[2], s->label);
    }
}

/* A chain must not be lost: some step of the node has a kernel for it. */
static enum tdl_result check_chain(const struct tdl_plan *plan, const struct tdl_node *node,
                                   uint32_t first)
{
    bool found = !node->chain.count;
    for (uint32_t i = first; i < plan->step_count; i++)
        found |= plan->steps[i].kernel->chain;
    return found ? TDL_OK
                 : tdl_fail(TDL_ERROR_UNSUPPORTED,
                            "%s: its kernel has no variant for the functions behind it; switch "
                            "fusion off",
                            node->label);
}

enum tdl_result tdl_plan_build(struct tdl_plan *plan)
{
    tdl_nodes_count_readers(plan->ir->nodes, plan->ir->node_count);
    if (!plan->no_fuse && !plan->guard) /* a guard stands behind every value */
        tdl_plan_find_parts(plan);
    const enum tdl_dtype storage = plan->storage;
    for (uint32_t i = 0; i < plan->ir->node_count; i++) {
        const uint32_t first = plan->step_count;
        enum tdl_result r = tdl_node_expand(plan->ir->nodes[i]);
        plan->storage = plan->ir->nodes[i]->wide ? TDL_FLOAT32 : storage;
        if (r == TDL_OK)
            r = plan->ir->nodes[i]->op->lower(plan, plan->ir->nodes[i]);
        plan->storage = storage;
        tdl_node_shrink(plan->ir->nodes[i]);
        if (r == TDL_OK)
            r = plan->status;
        if (r == TDL_OK)
            r = check_chain(plan, plan->ir->nodes[i], first);
        if (r != TDL_OK)
            return r;
    }
    tdl_plan_schedule(plan);
    enum tdl_result r = tdl_plan_place(plan);
    if (r == TDL_OK)
        dump(plan);
    return r;
}
