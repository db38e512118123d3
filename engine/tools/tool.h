/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Helpers of the command line tools: options, contexts, numbers, JSON. */
#ifndef TDL_TOOL_H
#define TDL_TOOL_H

#include <tdl/frame.h>

#include <stdio.h>

/* Exit statuses. */
enum { TOOL_OK = 0, TOOL_FAILED = 1, TOOL_USAGE = 2 };

/* Says `program: text` on stderr and returns TOOL_FAILED. */
int tool_fail(const char *format, ...) TDL_PRINTF(1, 2);
/* Prints such a text, and nothing failed. */
void tool_note(const char *format, ...) TDL_PRINTF(1, 2);
/* tool_fail() with a hint at --help, and TOOL_USAGE. */
int tool_usage_error(const char *format, ...) TDL_PRINTF(1, 2);
/* Last thing in main(): the exit status, TOOL_FAILED where not all of the standard output,
 * which is closed, has come to where it goes. */
int tool_end(int status);
/* First thing in main(): the name in messages. */
void tool_set_name(const char *name);

/* A context whose warnings go to stderr; `threads` and `queues` (max_queues) as in
 * tdl_context_params. Prints its own error. */
int tool_create_context(const char *device, uint32_t threads, uint32_t queues,
                        struct tdl_context **out);

/* Words and numbers of options; false if the text is none. */
bool tool_parse_precision(const char *text, enum tdl_precision *out);
bool tool_parse_activation(const char *text, enum tdl_activation *out);
bool tool_parse_format(const char *text, enum tdl_format *out);
bool tool_parse_mode(const char *text, enum tdl_mode *out);
bool tool_parse_u32(const char *text, uint32_t min, uint32_t max, uint32_t *out);
/* `count` numbers ≥ 1 with `separator` between them. */
bool tool_parse_list(const char *text, char separator, uint32_t count, uint32_t *out);

/* The names of all pixel formats, comma-separated, in lines of 80 columns that begin
 * with `column` blanks, but for the first. */
void tool_print_formats(FILE *file, int column);

/* Writes the names in one line into `text`; returns it. */
const char *tool_format_names(char *text, size_t size);

const char *tool_precision_name(enum tdl_precision precision);
const char *tool_mode_name(enum tdl_mode mode);
const char *tool_device_type_name(enum tdl_device_type type);

/* "default", "tuned" or "forced"; "" where there is no choice. */
const char *tool_choice_name(enum tdl_choice choice);
/* "implicit:64x64 tuned" into `text`; returns it. */
const char *tool_algorithm(const struct tdl_graph_step *step, char *text, size_t size);

/* "float32[1,256,256,3]" into `text`; returns it. */
const char *tool_shape(const struct tdl_tensor_params *params, char *text, size_t size);
/* A string as JSON has it, with its quotes. */
void tool_json_string(FILE *file, const char *text);

/* A tdl_progress_fn that draws a bar on stderr, where that is a terminal. */
bool tool_progress(void *unused, uint32_t done, uint32_t total);

/* Wall clock that never jumps, ns. */
uint64_t tool_now(void);
/* Uniform in [-1, 1); the same sequence in every run. */
float tool_random(uint64_t *state);

#endif
