/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Frames in mapped memory for tests of what carries them. */
#ifndef TEST_FRAMES_H
#define TEST_FRAMES_H

#include "check.h"

#include <tdl/frame.h>
#include <tdl/vulkan.h>

/* A frame in one buffer that is mapped, its rows and its beginning padded by
 * `pad` bytes. */
struct tdl_frame frames_new(struct tdl_context *ctx, enum tdl_format format, uint32_t width,
                            uint32_t height, uint32_t pad, enum tdl_buffer_access access);
void frames_destroy(struct tdl_frame *frame);
/* The first byte of a row. */
const uint8_t *frames_line(const struct tdl_frame *frame, uint32_t plane, uint32_t y);
/* Bytes that depend on `seed`, all over the buffer. */
void frames_fill(struct tdl_frame *frame, uint64_t seed);
/* Fails for the first row that differs. */
void frames_compare(const struct tdl_frame *a, const struct tdl_frame *b);
/* Compares one plane with bytes in other memory, at `data` with `stride`. */
void frames_compare_bytes(const struct tdl_frame *frame, uint32_t plane, const uint8_t *data,
                          size_t stride);

#endif
