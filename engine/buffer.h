/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Device memory with a VkBuffer over it: the one kind of memory in the
 * engine. Tensors, arenas, weights and frames all stand on it. Reference
 * counted; the Vulkan objects go when the timeline has passed their last use.
 */
#ifndef TDL_BUFFER_H
#define TDL_BUFFER_H

#include "context.h"

#include <tdl/frame.h>

struct tdl_buffer {
    struct tdl_context *ctx;
    atomic_int refs;
    uint64_t id; /* unique in the process, never used again */
    VkBuffer buffer;
    VkDeviceMemory memory;
    size_t size;
    void *map;          /* persistent mapping, NULL for device-only and imported */
    bool host_visible;  /* the CPU reads what the GPU writes here */
    uint64_t read_point, write_point; /* last submitted uses, under ctx->lock */
};

/* As tdl_buffer_create(), with a debug name. */
enum tdl_result tdl_buffer_create_named(struct tdl_context *ctx, size_t size,
                                        enum tdl_buffer_access access, const char *name,
                                        struct tdl_buffer **out_buffer);
struct tdl_buffer *tdl_buffer_ref(struct tdl_buffer *buffer);

#endif
