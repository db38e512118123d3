/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model_options.h"
#include "tool.h"

#include <stdlib.h>
#include <string.h>

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

    if (!value || p->number_count == TOOL_MAX_BOUND)
        return false;
    o->numbers[p->number_count] = (struct tdl_model_number){text, strtod(value, &end)};
    if (*end)
        return false;
    p->number_count++;
    p->numbers = o->numbers;
    return true;
}

bool tool_model_option(struct tool_model_options *o, int option, char *text)
{
    uint32_t size[2];

    if (option == TOOL_OPTION_BIND)
        return bind(o, text);
    if (option == TOOL_OPTION_NUMBER)
        return number(o, text);
    if (!tool_parse_list(text, 'x', 2, size))
        return false;
    o->params.size[0] = size[1];
    o->params.size[1] = size[0];
    return true;
}

const char *tool_model_hint(const char *text)
{
    return strstr(text, "(tdl_model_params)")
               ? ": --bind 'NAME=256', or for pictures --input-size 256x256"
               : "";
}

const char *tool_model_option_wants(int option)
{
    return option == TOOL_OPTION_BIND     ? "--bind wants DIM=N, with N of 1 or more"
           : option == TOOL_OPTION_NUMBER ? "--number wants INPUT=X"
                                          : "--input-size wants WxH";
}
