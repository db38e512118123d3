/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The devices that there are, and the choice of one. */
#include "core.h"
#include "thread.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum tdl_result tdl_device_list(struct tdl_device_info *out_infos, uint32_t capacity,
                                uint32_t *out_count)
{
    TDL_NEED(out_count, "out_count");
    sigset_t before;
    tdl_signals_block(&before); /* of drivers' threads */
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

static bool contains_ignoring_case(const char *text, const char *part)
{
    size_t length = strlen(part);
    for (; *text; text++) {
        size_t i = 0;
        while (i < length && tolower((unsigned char)text[i]) == tolower((unsigned char)part[i]))
            i++;
        if (i == length)
            return true;
    }
    return false;
}

bool tdl_device_matches(const struct tdl_device_info *info, uint32_t index, const char *selector)
{
    char *end;
    unsigned long number = strtoul(selector, &end, 10);
    if (*selector && !*end && end - selector < 4)
        return number == index;

    char hex[2 * TDL_UUID_SIZE + 1], plain[2 * TDL_UUID_SIZE + 1];
    size_t n = 0;
    for (size_t i = 0; i < TDL_UUID_SIZE; i++)
        snprintf(&hex[2 * i], 3, "%02x", info->uuid[i]);
    for (const char *p = selector; *p && n < sizeof(plain) - 1; p++)
        if (*p != '-')
            plain[n++] = (char)tolower((unsigned char)*p);
    plain[n] = 0;
    if (!strcmp(hex, plain))
        return true;
    if (*info->drm_node && !strcmp(info->drm_node, selector))
        return true;
    return contains_ignoring_case(info->name, selector);
}

/* Does it say what the CPU alone is? Vulkan's devices come first. */
static bool names_cpu(const char *selector)
{
    struct tdl_device_info info;
    uint32_t count = 0;
    tdl_cpu_describe(&info);
    return tdl_device_list(NULL, 0, &count) == TDL_OK &&
           tdl_device_matches(&info, count - 1, selector);
}

static bool is_auto(const char *selector)
{
    return !selector || !*selector || !strcmp(selector, "auto");
}

static enum tdl_result create_named(const struct tdl_context_params *params,
                                    struct tdl_context **out_context)
{
    if (!strcasecmp(params->device, "cpu"))
        return tdl_cpu_context_create(params, out_context);
    enum tdl_result r = tdl_vulkan_context_create(params, out_context);
    return r == TDL_ERROR_NO_DEVICE && names_cpu(params->device)
               ? tdl_cpu_context_create(params, out_context)
               : r;
}

static enum tdl_result create(struct tdl_context_params *params, struct tdl_context **out_context)
{
    const char *instead = getenv("TDL_DEVICE");
    if (!is_auto(params->device))
        return create_named(params, out_context);
    if (is_auto(instead))
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
    tdl_signals_block(&before); /* of drivers' threads */
    enum tdl_result r = create(&chosen, out_context);
    tdl_signals_restore(&before);
    return r;
}
