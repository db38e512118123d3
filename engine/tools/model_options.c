/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model_options.h"
#include "tool.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "name=value", cut in two at the last '='; NULL if it is none. */
static char *cut(char *text)
{
    char *equals = strrchr(text, '=');

    if (!equals || equals == text || !equals[1])
        return NULL;
    *equals = 0;
    return equals + 1;
}

static bool bind(struct tool_model_options *o, char *text)
{
    struct tdl_model_params *p = &o->params;
    char *value = cut(text);

    if (!value || p->dimension_count == TOOL_MAX_BOUND ||
        !tool_parse_u32(value, 1, INT32_MAX, &o->dimensions[p->dimension_count].size))
        return false;
    o->dimensions[p->dimension_count++].name = text;
    p->dimensions = o->dimensions;
    return true;
}

static bool number(struct tool_model_options *o, char *text)
{
    struct tdl_model_params *p = &o->params;
    char *value = cut(text), *end;
    double x;

    if (!value || p->number_count == TOOL_MAX_BOUND)
        return false;
    x = strtod(value, &end);
    if (end == value || *end || !(fabs(x) <= (double)FLT_MAX))
        return false;
    o->numbers[p->number_count++] = (struct tdl_model_number){text, x};
    p->numbers = o->numbers;
    return true;
}

bool tool_model_option(struct tool_model_options *o, int option, char *text)
{
    const size_t length = strlen(text);
    uint32_t size[2];

    if (option == TOOL_OPTION_BIND || option == TOOL_OPTION_NUMBER) {
        const bool taken = option == TOOL_OPTION_BIND ? bind(o, text) : number(o, text);

        if (!taken && strlen(text) < length)
            text[strlen(text)] = '='; /* as it was, for who says what is wrong */
        return taken;
    }
    if (!tool_parse_list(text, 'x', 2, size))
        return false;
    o->params.size[0] = size[1];
    o->params.size[1] = size[0];
    return true;
}

int tool_model_fail(const char *model, const char *text)
{
    static const char c_name[] = " (tdl_model_params)"; /* here options do that */
    const char *found = strstr(text, c_name);

    if (found)
        return tool_fail("%s: %.*s%s: --bind 'NAME=256', or for pictures --input-size 256x256",
                         model, (int)(found - text), text, found + strlen(c_name));
    if (!strpbrk(model, "./") && access(model, F_OK) != 0)
        return tool_fail("%s: %s; give a file's path. Names as \"person\" are known to the element "
                         "alone: tdl-fetch-models, or pipelines/fetch-models.sh, fetches their "
                         "files and says where they lie",
                         model, text);
    return tool_fail("%s: %s", model, text);
}

void tool_model_note_size(const struct tool_model_options *o, const struct tdl_graph *graph)
{
    const uint32_t *size = o->params.size;
    const struct tdl_tensor_params *p;

    for (uint32_t i = 0; size[0] && (p = tdl_graph_input(graph, i, NULL)) != NULL; i++) {
        const uint32_t h = tdl_graph_input_layout(graph, i) == TDL_LAYOUT_NCHW ? 2 : 1;

        if (p->rank == 4 && p->shape[h] == size[0] && p->shape[h + 1] == size[1])
            return;
    }
    if (size[0])
        tool_note("--input-size %ux%u changes nothing: the file fixes the sizes of its inputs",
                  size[1], size[0]);
}

const char *tool_model_option_wants(int option)
{
    return option == TOOL_OPTION_BIND     ? "--bind wants DIM=N, with N of 1 or more"
           : option == TOOL_OPTION_NUMBER ? "--number wants INPUT=X, a number"
                                          : "--input-size wants WxH";
}
