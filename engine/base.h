/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How errors get their text, and small helpers: what every room may include. */
#ifndef TDL_BASE_H
#define TDL_BASE_H

#include <tdl/tdl.h>

#include <string.h>

/* Keeps the sentence for tdl_last_error() and returns `result`. */
enum tdl_result tdl_fail(enum tdl_result result, const char *format, ...) TDL_PRINTF(2, 3);

/* Logs at `level` if the context's level lets it; ctx may be NULL (dropped). */
void tdl_log(const struct tdl_context *ctx, enum tdl_log_level level, const char *format, ...)
    TDL_PRINTF(3, 4);

/* Reports what has just failed, for those who log at TDL_LOG_DEBUG; the result again. */
static inline enum tdl_result tdl_logged(const struct tdl_context *ctx, enum tdl_result r)
{
    if (r != TDL_OK)
        tdl_log(ctx, TDL_LOG_DEBUG, "%s: %s", tdl_result_string(r), tdl_last_error());
    return r;
}

/* For the `fail:` pattern: stores the result in `r` and jumps on an error. */
#define TRY(expr)                                                                                  \
    do {                                                                                           \
        r = (expr);                                                                                \
        if (r != TDL_OK)                                                                           \
            goto fail;                                                                             \
    } while (0)

/* Public functions that return a result begin with this: INVALID_ARGUMENT with text for a
 * NULL where something is needed. `name` is the parameter's in the header. */
#define TDL_NEED(pointer, name)                                                                    \
    do {                                                                                           \
        if (!(pointer))                                                                            \
            return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "%s: %s is NULL; it has to be given",      \
                            __func__, name);                                                       \
    } while (0)

/* Public functions begin with this, too, where they take structs that end with `reserved`
 * (tdl.h): INVALID_ARGUMENT where something is set there. NULL is somebody else's to
 * judge. */
bool tdl_is_set(const uint64_t *reserved, size_t count);
enum tdl_result tdl_fail_unknown(const char *what);
#define TDL_IS_UNKNOWN(s) ((s) && tdl_is_set((s)->reserved, TDL_COUNT((s)->reserved)))
#define TDL_NEED_KNOWN(s)                                                                          \
    do {                                                                                           \
        if (TDL_IS_UNKNOWN(s))                                                                     \
            return tdl_fail_unknown(__func__);                                                     \
    } while (0)
/* For functions that append to a builder, which keeps the error. */
#define TDL_BUILDER_NEED_KNOWN(builder, s)                                                         \
    do {                                                                                           \
        if (TDL_IS_UNKNOWN(s))                                                                     \
            return tdl_builder_fail(builder, tdl_fail_unknown(__func__), "%s", tdl_last_error());  \
    } while (0)

/* Destroy functions begin with this: the object, NULL left in its place. Takes the
 * address of a pointer, which may be NULL itself. */
static inline void *tdl_take(void *address)
{
    void *object = NULL;
    if (address) {
        memcpy(&object, address, sizeof(object));
        memset(address, 0, sizeof(object));
    }
    return object;
}

#define TDL_COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define TDL_DIV_UP(a, b) (((a) + (b)-1) / (b))
#define TDL_ALIGN(a, b) (TDL_DIV_UP(a, b) * (b))
#define TDL_MIN(a, b) ((a) < (b) ? (a) : (b))
#define TDL_MAX(a, b) ((a) > (b) ? (a) : (b))

#endif
