/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Memory by file descriptor for tests: real dma-bufs where the machine has
 * them, and bytes in and out of buffers that are not mapped. */
#ifndef TEST_FDS_H
#define TEST_FDS_H

#include "check.h"

#include <tdl/vulkan.h>

/* A dma-buf of at least `size` bytes, from /dev/udmabuf or /dev/dma_heap; on a
 * software device else a memfd, which it maps like one. -1: none can be had,
 * and `out_how` says why. */
int fds_dma_buf(struct tdl_context *ctx, size_t size, const char **out_how);
/* The bytes of a dma-buf, seen by the CPU. */
void fds_read(int fd, uint8_t *out, size_t size);
void fds_write(int fd, const uint8_t *data, size_t size);

/* Copy into and out of a buffer, by the GPU; waits. */
void fds_upload(struct tdl_context *ctx, struct tdl_buffer *buffer, const uint8_t *data,
                size_t size);
void fds_download(struct tdl_context *ctx, struct tdl_buffer *buffer, uint8_t *out, size_t size);
/* Bytes that depend on `seed`. */
void fds_pattern(uint8_t *out, size_t size, uint64_t seed);

#endif
