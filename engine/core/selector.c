/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Selectors: the names that a device may have. */
#include "core.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

bool tdl_device_is_auto(const char *selector)
{
    return !selector || !*selector || !strcmp(selector, "auto");
}

int tdl_device_rank(enum tdl_device_type type)
{
    switch (type) {
    case TDL_DEVICE_DISCRETE_GPU:
        return 0;
    case TDL_DEVICE_INTEGRATED_GPU:
        return 1;
    case TDL_DEVICE_VIRTUAL_GPU:
        return 2;
    case TDL_DEVICE_OTHER:
        return 3;
    case TDL_DEVICE_SOFTWARE:
        return 4;
    case TDL_DEVICE_CPU: /* not behind Vulkan */
        break;
    }
    return 5;
}
