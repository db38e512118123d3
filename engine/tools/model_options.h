/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Options of the tools for what a model's file leaves open. */
#ifndef TDL_MODEL_OPTIONS_H
#define TDL_MODEL_OPTIONS_H

#include <tdl/models.h>

#define TOOL_MAX_BOUND 16

struct tool_model_options {
    struct tdl_model_dimension dimensions[TOOL_MAX_BOUND];
    struct tdl_model_number numbers[TOOL_MAX_BOUND];
    struct tdl_model_params params;
};

/* For tables of long options, and for help. */
enum { TOOL_OPTION_BIND = 0x1000, TOOL_OPTION_NUMBER, TOOL_OPTION_SIZE };
#define TOOL_MODEL_OPTIONS                                                                         \
    {"bind", required_argument, NULL, TOOL_OPTION_BIND},                                           \
        {"number", required_argument, NULL, TOOL_OPTION_NUMBER},                                   \
    {                                                                                              \
        "input-size", required_argument, NULL, TOOL_OPTION_SIZE                                    \
    }
#define TOOL_MODEL_HELP                                                                            \
    "      --bind DIM=N       what the model leaves open: the dimension DIM, by the\n"             \
    "                         file's name for it or as INPUT:0, has N elements\n"                  \
    "      --number INPUT=X   all elements of that input are X, in every run\n"                    \
    "      --input-size WxH   of its pictures, where it is left open\n"

/* Takes one of them; false, and nothing taken, if the value is none. `text` is kept. */
bool tool_model_option(struct tool_model_options *options, int option, char *text);
/* The form that --bind, --number or --input-size wants, for a message. */
const char *tool_model_option_wants(int option);

/* "MODEL: TEXT", an error, with the options for what it says is left open, or where the
 * files of models are; returns TOOL_FAILED. */
int tool_model_fail(const char *model, const char *text);
/* Says so where the graph has no picture of the size that --input-size gives. */
void tool_model_note_size(const struct tool_model_options *options, const struct tdl_graph *graph);

#endif
