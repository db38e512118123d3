/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Preloaded: a machine on which Vulkan's loader is not installed. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include <dlfcn.h>
#include <string.h>

__attribute__((visibility("default"))) void *dlopen(const char *name, int flags)
{
    static void *(*next)(const char *, int);

    if (!next)
        next = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
    return next(name && strstr(name, "libvulkan.so") ? "/nowhere/libvulkan.so.1" : name, flags);
}
