/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Memory that is shared with others by file descriptor. */
#ifndef TDL_EXTERNAL_H
#define TDL_EXTERNAL_H

#include "vulkan/buffer.h"

#include <tdl/vulkan.h>

/* Facts known before memory is imported: about the fd, the driver, and the driver's wishes for a
 * buffer of this size. */
struct tdl_import_facts {
    enum tdl_handle_type type;
    bool has_extension, importable;
    int64_t fd_size; /* bytes, -1: cannot be asked */
    uint64_t wanted; /* bytes asked for, 0: all that the fd has */
    uint64_t limit;  /* bytes that a kernel can reach */
    /* The next are looked at only if `created`: the VkBuffer is there. */
    bool created;
    uint64_t required; /* bytes of memory */
    uint32_t buffer_types, fd_types;
};
/* TDL_OK, or why it cannot be imported. No Vulkan call: tests feed it with
 * drivers that are not at hand. */
enum tdl_result tdl_import_check(const struct tdl_import_facts *facts);
/* Bytes of the VkBuffer for an import that passed the first check: kernels
 * read whole words, so it is rounded up as far as the memory goes. */
uint64_t tdl_import_size(const struct tdl_import_facts *facts);

/* The queue family that stands for the others who hold this kind of fd. */
uint32_t tdl_external_family(const struct tdl_context *ctx, enum tdl_handle_type type);
VkExternalMemoryHandleTypeFlagBits tdl_external_handle(enum tdl_handle_type type);
/* Does the device hand out its memory so? */
enum tdl_result tdl_external_check_export(const struct tdl_context *ctx, enum tdl_handle_type type);
/* A new fd of `memory`, which was allocated for that. */
enum tdl_result tdl_external_export(struct tdl_context *ctx, VkDeviceMemory memory,
                                    enum tdl_handle_type type, int *out_fd);

/* An exportable buffer, of a dma-buf or of what else the device has, that is the
 * context's own until rental.c gives it away. */
enum tdl_result tdl_buffer_create_rentable(struct tdl_context *ctx, size_t size, bool dma_buf,
                                           const char *name, struct tdl_buffer **out_buffer);
/* tdl_buffer_export_fd() as one of several kinds. */
enum tdl_result tdl_buffer_export_as(struct tdl_buffer *buffer, enum tdl_handle_type type,
                                     int *out_fd);

#endif
