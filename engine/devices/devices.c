/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The devices that there are, and the choice of one. */
#include "core/core.h"
#include "cpu/device.h"
#include "vulkan/device.h"
#include "core/thread.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum tdl_result tdl_device_list(struct tdl_device_info *out_infos, uint32_t capacity,
                                uint32_t *out_count)
{
    TDL_NEED(out_count, "out_count");
    sigset_t before;
    tdl_signals_block(&before); /* drivers' threads get no signals */
    /* No loader, no driver: there is the CPU. */
    if (tdl_vulkan_device_list(out_infos, capacity, out_count) != TDL_OK)
        *out_count = 0;
    tdl_signals_restore(&before);
    if (out_infos && *out_count < capacity)
        tdl_cpu_describe(&out_infos[*out_count]);
    ++*out_count;
    return TDL_OK;
}

/* A GPU, or else the CPU, and why. One that there is and that does not work is an
 * error: it would not be missed otherwise. */
static enum tdl_result create_best(struct tdl_context_params *params,
                                   struct tdl_context **out_context)
{
    params->device = "gpu";
    enum tdl_result r = tdl_vulkan_context_create(params, out_context);
    if (r != TDL_ERROR_NO_DEVICE)
        return r;
    char why[512];
    snprintf(why, sizeof(why), "%s", tdl_last_error());
    r = tdl_cpu_context_create(params, out_context);
    if (r == TDL_OK)
        tdl_log(*out_context, TDL_LOG_INFO, "device cpu computes: %s", why);
    return r;
}

/* A device that Vulkan does not have may be the CPU, last in the list; or else the CPU is
 * told behind the devices that are. */
static enum tdl_result create_unknown(const struct tdl_context_params *params,
                                      struct tdl_context **out_context)
{
    struct tdl_device_info cpu;
    uint32_t count = 0;
    char why[1024];
    snprintf(why, sizeof(why), "%s", tdl_last_error());
    tdl_cpu_describe(&cpu);
    const bool listed = tdl_vulkan_device_list(NULL, 0, &count) == TDL_OK && count > 0;
    if (tdl_device_matches(&cpu, count, params->device))
        return tdl_cpu_context_create(params, out_context);
    if (!listed || !strcmp(params->device, "gpu") || !strcmp(params->device, "vulkan"))
        return tdl_fail(TDL_ERROR_NO_DEVICE, "%s", why);
    return tdl_fail(TDL_ERROR_NO_DEVICE, "%s; %u: %.64s (\"cpu\")", why, count, cpu.name);
}

static enum tdl_result create_named(const struct tdl_context_params *params,
                                    struct tdl_context **out_context)
{
    if (!strcasecmp(params->device, "cpu"))
        return tdl_cpu_context_create(params, out_context);
    enum tdl_result r = tdl_vulkan_context_create(params, out_context);
    return r == TDL_ERROR_NO_DEVICE ? create_unknown(params, out_context) : r;
}

static enum tdl_result create(struct tdl_context_params *params, struct tdl_context **out_context)
{
    const char *instead = getenv("TDL_DEVICE");
    if (!tdl_device_is_auto(params->device))
        return create_named(params, out_context);
    if (tdl_device_is_auto(instead))
        return create_best(params, out_context);
    params->device = instead;
    enum tdl_result r = create_named(params, out_context);
    if (r != TDL_OK) /* nobody who asked for "auto" would know which device that is about */
        tdl_fail(r, "%s (TDL_DEVICE=%.100s in the environment asks for it: change or unset that)",
                 tdl_last_error(), instead);
    return r;
}

enum tdl_result tdl_context_create(const struct tdl_context_params *params,
                                   struct tdl_context **out_context)
{
    TDL_NEED_KNOWN(params);
    TDL_NEED(out_context, "out_context");
    static const struct tdl_context_params defaults;
    struct tdl_context_params chosen = params ? *params : defaults;
    sigset_t before;
    *out_context = NULL;
    if ((unsigned)chosen.log_level > TDL_LOG_TRACE)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "tdl_context_params.log_level: there is no level %d; the last is %d",
                        chosen.log_level, TDL_LOG_TRACE);
    tdl_signals_block(&before); /* drivers' threads get no signals */
    enum tdl_result r = create(&chosen, out_context);
    tdl_signals_restore(&before);
    return r;
}
