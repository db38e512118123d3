/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Preloaded by tests/lib/sanitized.sh, for the leak checker's sake.
 *
 * - Libraries stay loaded to the end, so that a leak's call stack can be told
 *   by library.
 * - GLib and GStreamer drop a few old tables on purpose when these grow, as
 *   another thread may still be reading them. What they allocate before main(),
 *   in gst_init() and in the functions below is left out of the check. This is
 *   here and not in lsan.supp since their libraries have no frame pointers, so
 *   that the stacks do not name the functions.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

void __lsan_disable(void) __attribute__((weak));
void __lsan_enable(void) __attribute__((weak));
int dlclose(void *handle);

__attribute__((visibility("default"))) int dlclose(void *handle)
{
    (void)handle;
    return 0;
}

static void ignore(void)
{
    if (__lsan_disable)
        __lsan_disable();
}

static void heed(void)
{
    if (__lsan_enable)
        __lsan_enable();
}

/* Linked with -z initfirst: runs before every other library's constructors. */
__attribute__((constructor)) static void before_all(void)
{
    ignore();
}

typedef int main_function(int, char **, char **);
typedef int start_function(main_function *, int, char **, void (*)(void), void (*)(void),
                           void (*)(void), void *);
static main_function *real_main;

static int heeding_main(int argc, char **argv, char **environment)
{
    heed();
    return real_main(argc, argv, environment);
}

start_function __libc_start_main;
__attribute__((visibility("default"))) int
__libc_start_main(main_function *program, int argc, char **argv, void (*init)(void),
                  void (*fini)(void), void (*rtld_fini)(void), void *stack_end)
{
    start_function *real = (start_function *)(uintptr_t)dlsym(RTLD_NEXT, "__libc_start_main");
    real_main = program;
    return real(heeding_main, argc, argv, init, fini, rtld_fini, stack_end);
}

/* Call the real function with what it allocates left out of the check. */
#define LEAKY(name, arguments, ...)                                      \
    uintptr_t name arguments;                                            \
    __attribute__((visibility("default"))) uintptr_t name arguments      \
    {                                                                    \
        uintptr_t(*real) arguments = (uintptr_t(*) arguments)(uintptr_t) \
            dlsym(RTLD_NEXT, #name);                                     \
        ignore();                                                        \
        uintptr_t result = real(__VA_ARGS__);                            \
        heed();                                                          \
        return result;                                                   \
    }

LEAKY(gst_init, (int *argc, char ***argv), argc, argv)
LEAKY(gst_check_init, (int *argc, char ***argv), argc, argv)
LEAKY(g_quark_from_string, (const char *string), string)
LEAKY(g_quark_from_static_string, (const char *string), string)
LEAKY(g_intern_string, (const char *string), string)
LEAKY(g_intern_static_string, (const char *string), string)
LEAKY(gst_debug_add_log_function, (void *function, void *data, void *destroy), function, data,
      destroy)
LEAKY(gst_debug_remove_log_function, (void *function), function)
