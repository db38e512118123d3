/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Internals of the Vulkan device, for tests. */
#include "subject.h"

#include <vulkan/graph/program.h>

struct tdl_buffer *subject_arena(const struct tdl_graph *graph)
{
    return subject_has_kernels(graph->ctx) ? graph->program->arenas[0] : NULL;
}

uint64_t subject_barrier_point(const struct tdl_context *ctx)
{
    return subject_has_kernels(ctx) ? tdl_vk(ctx)->queues[0].barrier_point : 0;
}
