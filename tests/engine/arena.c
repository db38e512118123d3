/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "subject.h"

#include <vulkan/graph/program.h>

struct tdl_buffer *subject_arena(const struct tdl_graph *graph)
{
    return subject_has_kernels(graph->ctx) ? graph->program->arena : NULL;
}
