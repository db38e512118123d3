/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where a run is cut into submissions. Drivers end work that takes one submission too long,
 * and the device is lost then. So a step's time is estimated by what the slowest device of
 * the kind does, and what is more than half of the bound is timed by the device: from then
 * on the estimate is scaled by what was measured, and a device that is fast enough gets
 * the run in one piece.
 */
#include "split.h"

#include <string.h>

uint64_t tdl_split_ns;

static double bound_of(const struct tdl_device_info *device)
{
    const double told = (double)tdl_split_ns;
    return told > 0 ? told : tdl_watchdog_of(device)->submission_ms * 1e6;
}

static double estimate(const struct tdl_watchdog *dog, const struct tdl_graph_step *s)
{
    const double macs = (double)s->macs / dog->slowest.macs;
    const double bytes = (double)s->bytes / dog->slowest.bytes;
    return TDL_MAX(macs, bytes);
}

void tdl_split_init(struct tdl_split *split, const struct tdl_device_info *device)
{
    *split = (struct tdl_split){.bound_ns = bound_of(device), .scale = 1};
}

/* The bound, or more, so that there are not too many parts: two together hold more than it. */
static double most_of(const struct tdl_split *split, double all_ns)
{
    const double least = 2 * all_ns / TDL_MAX_PARTS;
    return TDL_MAX(split->bound_ns, least);
}

static double sum(const struct tdl_split *split, const struct tdl_watchdog *dog,
                  const struct tdl_graph_step *steps, uint32_t count)
{
    double all = 0;
    for (uint32_t i = 0; i < count; i++)
        all += estimate(dog, &steps[i]) * split->scale;
    return all;
}

void tdl_split_steps(const struct tdl_split *split, const struct tdl_device_info *device,
                     const struct tdl_graph_step *steps, uint32_t count, struct tdl_parts *out)
{
    const struct tdl_watchdog *dog = tdl_watchdog_of(device);
    const double all = split->bound_ns > 0 ? sum(split, dog, steps, count) : 0;
    const double most = most_of(split, all);
    *out = (struct tdl_parts){.count = 1, .timed = all > split->bound_ns / 2};
    for (uint32_t i = 0; i < count && split->bound_ns > 0; i++) {
        const double ns = estimate(dog, &steps[i]) * split->scale;
        double *part = &out->ns[out->count - 1];
        if (*part > 0 && *part + ns > most && out->count < TDL_MAX_PARTS) {
            out->starts[out->count++] = i;
            part++;
        }
        *part += ns;
    }
}

bool tdl_split_learn(struct tdl_split *split, const struct tdl_parts *parts, uint64_t run_ns)
{
    double all = 0;
    for (uint32_t i = 0; i < parts->count; i++)
        all += parts->ns[i];
    if (!(all > 0) || split->measured)
        return false;
    split->measured = true;
    split->scale *= (double)run_ns / all;
    return true;
}
