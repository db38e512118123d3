/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tool.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

static const char *program = "tdl";

void tool_set_name(const char *name)
{
    program = name;
}

TDL_PRINTF(1, 0)
static void say(const char *format, va_list args)
{
    fprintf(stderr, "%s: ", program);
    vfprintf(stderr, format, args);
}

int tool_fail(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say(format, args);
    va_end(args);
    fputc('\n', stderr);
    return TOOL_FAILED;
}

void tool_note(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say(format, args);
    va_end(args);
    fputc('\n', stderr);
}

int tool_usage_error(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say(format, args);
    va_end(args);
    fprintf(stderr, "\nTry '%s --help'.\n", program);
    return TOOL_USAGE;
}

int tool_end(int status)
{
    const bool lost = ferror(stdout) != 0;

    if (fclose(stdout) == 0 && !lost)
        return status;
    tool_fail("cannot write the output: %s", errno ? strerror(errno) : "it was lost");
    return status == TOOL_OK ? TOOL_FAILED : status;
}

static void log_to_stderr(void *data, enum tdl_log_level level, const char *message)
{
    (void)data;
    fprintf(stderr, "%s: %s%s\n", program, level == TDL_LOG_ERROR ? "error: " : "", message);
}

int tool_create_context(const char *device, uint32_t threads, uint32_t queues,
                        struct tdl_context **out)
{
    const struct tdl_context_params params = {
        .device = device,
        .threads = threads,
        .max_queues = queues,
        .log = log_to_stderr,
        .log_level = getenv("TDL_DEBUG") ? TDL_LOG_DEBUG : TDL_LOG_WARNING,
    };

    if (tdl_context_create(&params, out) != TDL_OK)
        return tool_fail("%s", tdl_last_error());
    return TOOL_OK;
}

/* ----------------------------------------------------------------- parsing */

bool tool_parse_precision(const char *text, enum tdl_precision *out)
{
    static const char *const names[] = {"auto", "fp32", "fp16"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcasecmp(text, names[i]) == 0) {
            *out = (enum tdl_precision)i;
            return true;
        }
    }
    return false;
}

bool tool_parse_activation(const char *text, enum tdl_activation *out)
{
    static const char *const names[] = {"none", "relu", "relu6", "sigmoid", "hard_swish", "tanh"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcasecmp(text, names[i]) == 0) {
            *out = (enum tdl_activation)i;
            return true;
        }
    }
    return false;
}

bool tool_parse_format(const char *text, enum tdl_format *out)
{
    for (int i = TDL_FORMAT_UNKNOWN + 1; i < TDL_FORMAT_COUNT; i++) {
        if (strcasecmp(text, tdl_format_name((enum tdl_format)i)) == 0) {
            *out = (enum tdl_format)i;
            return true;
        }
    }
    return false;
}

static const char *const mode_names[] = {
    [TDL_MODE_MASK] = "mask",   [TDL_MODE_OVERLAY] = "overlay",
    [TDL_MODE_BLUR] = "blur",   [TDL_MODE_REPLACE] = "replace",
    [TDL_MODE_ALPHA] = "alpha", [TDL_MODE_PASSTHROUGH] = "passthrough",
};

bool tool_parse_mode(const char *text, enum tdl_mode *out)
{
    for (size_t i = 0; i < sizeof(mode_names) / sizeof(mode_names[0]); i++) {
        if (strcasecmp(text, mode_names[i]) == 0) {
            *out = (enum tdl_mode)i;
            return true;
        }
    }
    return false;
}

/* Digits only: strtoul() would take signs and blanks. */
static bool parse_digits(const char **text, uint32_t *out)
{
    uint64_t value = 0;
    const char *c = *text;

    if (*c < '0' || *c > '9')
        return false;
    for (; *c >= '0' && *c <= '9'; c++) {
        value = value * 10 + (uint64_t)(*c - '0');
        if (value > UINT32_MAX)
            return false;
    }
    *text = c;
    *out = (uint32_t)value;
    return true;
}

bool tool_parse_u32(const char *text, uint32_t min, uint32_t max, uint32_t *out)
{
    return parse_digits(&text, out) && *text == 0 && *out >= min && *out <= max;
}

bool tool_parse_list(const char *text, char separator, uint32_t count, uint32_t *out)
{
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0 && *text++ != separator)
            return false;
        if (!parse_digits(&text, &out[i]) || out[i] == 0)
            return false;
    }
    return *text == 0;
}

/* ------------------------------------------------------------------- words */

void tool_print_formats(FILE *file, int column)
{
    enum { WIDTH = 80 };
    int at = column;

    for (int i = TDL_FORMAT_UNKNOWN + 1; i < TDL_FORMAT_COUNT; i++) {
        const char *name = tdl_format_name((enum tdl_format)i);
        const int length = (int)strlen(name) + 1; /* with the comma */

        if (at + length + 1 > WIDTH) {
            fprintf(file, "\n%*s", column, "");
            at = column;
        }
        at += fprintf(file, "%s%s%s", at > column ? " " : "", name,
                      i + 1 < TDL_FORMAT_COUNT ? "," : "\n");
    }
}

const char *tool_format_names(char *text, size_t size)
{
    size_t used = 0;

    for (int i = TDL_FORMAT_UNKNOWN + 1; i < TDL_FORMAT_COUNT && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "",
                                 tdl_format_name((enum tdl_format)i));
    return text;
}

const char *tool_precision_name(enum tdl_precision precision)
{
    return precision == TDL_PRECISION_FP32   ? "fp32"
           : precision == TDL_PRECISION_FP16 ? "fp16"
                                             : "auto";
}

const char *tool_mode_name(enum tdl_mode mode)
{
    return mode_names[mode];
}

const char *tool_device_type_name(enum tdl_device_type type)
{
    static const char *const names[] = {"other",       "integrated GPU",  "discrete GPU",
                                        "virtual GPU", "software Vulkan", "CPU"};

    return (size_t)type < sizeof(names) / sizeof(names[0]) ? names[type] : "unknown";
}

const char *tool_choice_name(enum tdl_choice choice)
{
    static const char *const names[] = {"", "default", "tuned", "forced"};

    return (size_t)choice < sizeof(names) / sizeof(names[0]) ? names[choice] : "unknown";
}

const char *tool_algorithm(const struct tdl_graph_step *step, char *text, size_t size)
{
    snprintf(text, size, "%s%s%s", step->algorithm, *step->algorithm ? " " : "",
             tool_choice_name(step->choice));
    return text;
}

const char *tool_shape(const struct tdl_tensor_params *params, char *text, size_t size)
{
    int used = snprintf(text, size, "%s[", tdl_dtype_name(params->dtype));

    for (uint32_t i = 0; i < params->rank && used >= 0 && (size_t)used < size; i++)
        used += snprintf(text + used, size - (size_t)used, "%s%u", i ? "," : "", params->shape[i]);
    if (used >= 0 && (size_t)used < size)
        snprintf(text + used, size - (size_t)used, "]");
    return text;
}

void tool_json_string(FILE *file, const char *text)
{
    fputc('"', file);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fprintf(file, "\\%c", *text);
        else if ((unsigned char)*text < 0x20)
            fprintf(file, "\\u%04x", *text);
        else
            fputc(*text, file);
    }
    fputc('"', file);
}

/* ----------------------------------------------------------------- numbers */

bool tool_progress(void *unused, uint32_t done, uint32_t total)
{
    enum { WIDTH = 40 };
    char bar[WIDTH + 1];

    (void)unused;
    if (!isatty(STDERR_FILENO))
        return true;
    for (uint32_t i = 0; i < WIDTH; i++)
        bar[i] = (uint64_t)i * total < (uint64_t)done * WIDTH ? '#' : '.';
    bar[WIDTH] = 0;
    if (done < total)
        fprintf(stderr, "\rcompiling kernels %s %u of %u ", bar, done, total);
    else /* and away with it */
        fprintf(stderr, "\r\033[K");
    fflush(stderr);
    return true;
}

uint64_t tool_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* xorshift64* (Marsaglia 2003, Vigna 2016). */
float tool_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (float)((*state * UINT64_C(2685821657736338717)) >> 40) / 8388608.0f - 1.0f;
}
