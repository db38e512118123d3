/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Error texts, one per thread. */
#include "base.h"

#include <stdarg.h>
#include <stdio.h>

static _Thread_local char last_error[1024];

uint32_t tdl_version(void)
{
    return TDL_VERSION_NUMBER(TDL_VERSION_MAJOR, TDL_VERSION_MINOR, TDL_VERSION_MICRO);
}

const char *tdl_result_string(enum tdl_result result)
{
    switch (result) {
    case TDL_OK:
        return "ok";
    case TDL_ERROR_INVALID_ARGUMENT:
        return "invalid argument";
    case TDL_ERROR_INVALID_STATE:
        return "invalid state";
    case TDL_ERROR_OUT_OF_MEMORY:
        return "out of memory";
    case TDL_ERROR_NO_DEVICE:
        return "no device";
    case TDL_ERROR_DEVICE_LOST:
        return "device lost";
    case TDL_ERROR_UNSUPPORTED:
        return "unsupported";
    case TDL_ERROR_INVALID_MODEL:
        return "invalid model";
    case TDL_ERROR_IO:
        return "input/output error";
    case TDL_ERROR_TIMEOUT:
        return "timeout";
    case TDL_ERROR_CANCELED:
        return "cancelled";
    case TDL_ERROR_BUSY:
        return "busy";
    }
    return "unknown result";
}

const char *tdl_last_error(void)
{
    return last_error;
}

enum tdl_result tdl_fail(enum tdl_result result, const char *format, ...)
{
    /* An argument may be the previous text, so print beside it first. */
    char text[sizeof(last_error)];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    snprintf(last_error, sizeof(last_error), "%s", text);
    return result;
}

bool tdl_is_set(const uint64_t *reserved, size_t count)
{
    uint64_t set = 0;
    for (size_t i = 0; i < count; i++)
        set |= reserved[i];
    return set != 0;
}

enum tdl_result tdl_fail_unknown(const char *what)
{
    return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                    "%s: a field that this version does not know is set; zero the struct before "
                    "filling it in, or use a newer libtdl than %d.%d.%d",
                    what, TDL_VERSION_MAJOR, TDL_VERSION_MINOR, TDL_VERSION_MICRO);
}
