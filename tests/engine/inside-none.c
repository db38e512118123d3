/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* In the place of inside-vulkan.c in a build without Vulkan. */
#include "subject.h"

struct tdl_buffer *subject_arena(const struct tdl_graph *graph)
{
    (void)graph;
    return NULL;
}

uint64_t subject_barrier_point(const struct tdl_context *ctx)
{
    (void)ctx;
    return 0;
}
