/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Device memory with a VkBuffer over it: the one kind of memory in the
 * engine. Tensors, arenas, weights and frames all stand on it. Reference
 * counted; the Vulkan objects go when the timeline has passed their last use.
 */
#ifndef TDL_BUFFER_H
#define TDL_BUFFER_H

#include "context.h"

struct tdl_vk_buffer {
    struct tdl_buffer base;
    VkBuffer buffer;
    VkDeviceMemory memory;
    uint32_t memory_type;
    bool host_visible; /* the CPU reads what the GPU writes here */
    bool borrowed;     /* `buffer` is somebody else's */
    bool incoherent;   /* mapped, and to be flushed and invalidated (coherence.h) */
    struct tdl_staleness stale;
    /* Last submitted uses, under the context's lock. */
    uint64_t write_point, read_points[TDL_MAX_QUEUES];

    /* Memory that others see, too (external.c). With `shared`, every batch
     * takes the buffer from the queue family that stands for them before its
     * first use and gives it back after the last. */
    uint32_t external_family;
    bool shared;
    VkExternalMemoryHandleTypeFlags export_types; /* handle types that it can be exported as */
    struct tdl_rental_state *rental;              /* for a tensor that may be rented, else NULL */
    void (*forget)(struct tdl_buffer *buffer);    /* called before the memory goes, or NULL */
};

static inline struct tdl_vk_buffer *tdl_vkb(const struct tdl_buffer *buffer)
{
    return (struct tdl_vk_buffer *)buffer;
}

/* Usages that every buffer is created with. */
#define TDL_BUFFER_USAGE                                                                           \
    (VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |                       \
     VK_BUFFER_USAGE_TRANSFER_DST_BIT)

/* ---- the steps of creating one, for imports and exports */

#define TDL_NO_MEMORY_TYPE UINT32_MAX
/* The memory type among `type_bits` that has all `required` flags and the most
 * `wanted`, or TDL_NO_MEMORY_TYPE. */
uint32_t tdl_memory_type_find(const struct tdl_context *ctx, uint32_t type_bits,
                              VkMemoryPropertyFlags required, VkMemoryPropertyFlags wanted,
                              VkMemoryPropertyFlags unwanted);
uint32_t tdl_memory_type_for(const struct tdl_context *ctx, uint32_t type_bits,
                             enum tdl_buffer_access access);
/* One reference, no Vulkan object yet; NULL with text. */
struct tdl_buffer *tdl_buffer_new(struct tdl_context *ctx, size_t size);
/* The VkBuffer of `size`, and what memory it wants. */
enum tdl_result tdl_buffer_create_vk(struct tdl_buffer *buffer,
                                     VkExternalMemoryHandleTypeFlags external,
                                     VkMemoryRequirements *out_requirements);
VkResult tdl_buffer_allocate(struct tdl_buffer *buffer, uint64_t size, uint32_t type,
                             const void *next);
/* Bind and count the memory. */
enum tdl_result tdl_buffer_bind(struct tdl_buffer *buffer);
/* Free a buffer that the GPU never used; returns `r`. */
enum tdl_result tdl_buffer_abandon(struct tdl_buffer *buffer, enum tdl_result r);

#endif
