/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Vulkan's functions under their own names, hidden in whatever this is linked into:
 * each passes its call on through a table, which the first call fills. The list of
 * them, and what they take, is made by loader.py of the sources and of Vulkan's
 * header.
 *
 * They are looked up in the whole process rather than in the loader alone, as they
 * would be if it were linked: what a program or LD_PRELOAD puts before them counts.
 * The loader is never closed, since drivers have threads.
 */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include "loader.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

#define LOADER "libvulkan.so.1"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char missing[256]; /* why there is no loader */

static struct {
#define MEMBER(name, parameters, arguments) PFN_##name name;
#define RESULT MEMBER
#define FUNCTION MEMBER
#define NOTHING MEMBER
#include <vulkan-functions.h>
#undef RESULT
#undef FUNCTION
#undef NOTHING
} table;

static void fill(void)
{
    const bool found = dlopen(LOADER, RTLD_NOW | RTLD_GLOBAL) != NULL;
    const char *why = found ? NULL : dlerror();
    snprintf(missing, sizeof(missing), "%s%s", why ? why : LOADER,
             found ? " has no vkCreateInstance" : "");
#define FIND(name, parameters, arguments) table.name = (PFN_##name)dlsym(RTLD_DEFAULT, #name);
#define RESULT FIND
#define FUNCTION FIND
#define NOTHING FIND
#include <vulkan-functions.h>
#undef RESULT
#undef FUNCTION
#undef NOTHING
}

enum tdl_result tdl_loader_open(void)
{
    pthread_once(&once, fill);
    return table.vkCreateInstance
               ? TDL_OK
               : tdl_fail(TDL_ERROR_NO_DEVICE,
                          "there is no Vulkan loader (%s): install it and a driver (on Debian: "
                          "libvulkan1 and mesa-vulkan-drivers), or use device cpu",
                          missing);
}

static pthread_mutex_t lists = PTHREAD_MUTEX_INITIALIZER;

void tdl_loader_lock(void)
{
    pthread_mutex_lock(&lists);
}

void tdl_loader_unlock(void)
{
    pthread_mutex_unlock(&lists);
}

#define DEFINE(type, name, parameters)                                                             \
    __attribute__((visibility("hidden"))) VKAPI_ATTR type VKAPI_CALL name parameters
#define RESULT(name, parameters, arguments)                                                        \
    DEFINE(VkResult, name, parameters)                                                             \
    {                                                                                              \
        pthread_once(&once, fill);                                                                 \
        return table.name ? table.name arguments : VK_ERROR_INITIALIZATION_FAILED;                 \
    }
#define FUNCTION(name, parameters, arguments)                                                      \
    DEFINE(PFN_vkVoidFunction, name, parameters)                                                   \
    {                                                                                              \
        pthread_once(&once, fill);                                                                 \
        return table.name ? table.name arguments : NULL;                                           \
    }
#define NOTHING(name, parameters, arguments)                                                       \
    DEFINE(void, name, parameters)                                                                 \
    {                                                                                              \
        pthread_once(&once, fill);                                                                 \
        if (table.name)                                                                            \
            table.name arguments;                                                                  \
    }
#include <vulkan-functions.h>
