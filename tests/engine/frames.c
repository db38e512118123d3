/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "frames.h"

#include "fds.h"

#include <frame/format.h>

struct tdl_frame frames_new(struct tdl_context *ctx, enum tdl_format format, uint32_t width,
                            uint32_t height, uint32_t pad, enum tdl_buffer_access access)
{
    struct tdl_frame f = {0};
    struct tdl_buffer *buffer;
    size_t size = tdl_frame_layout(&f, format, width, height, 4), offset = pad;
    for (uint32_t p = 0; p < tdl_format_planes(format); p++) {
        f.planes[p].stride += pad;
        f.planes[p].offset = offset;
        offset += (size_t)f.planes[p].stride * height;
    }
    OK(tdl_buffer_create(ctx, size + offset, access, &buffer));
    for (uint32_t p = 0; p < tdl_format_planes(format); p++)
        f.planes[p].buffer = buffer;
    return f;
}

void frames_destroy(struct tdl_frame *f)
{
    tdl_buffer_destroy(&f->planes[0].buffer);
}

const uint8_t *frames_line(const struct tdl_frame *f, uint32_t plane, uint32_t y)
{
    return (const uint8_t *)tdl_buffer_data(f->planes[plane].buffer) + f->planes[plane].offset +
           (size_t)y * f->planes[plane].stride;
}

void frames_fill(struct tdl_frame *f, uint64_t seed)
{
    fds_pattern(tdl_buffer_data(f->planes[0].buffer), tdl_buffer_size(f->planes[0].buffer), seed);
}

/* The bytes of a plane of 4:2:2 with an odd width end in the middle of a pair. */
void frames_compare_bytes(const struct tdl_frame *f, uint32_t plane, const uint8_t *data,
                          size_t stride)
{
    for (uint32_t y = 0; y < tdl_frame_rows(f, plane); y++)
        if (!CHECK(!memcmp(frames_line(f, plane, y), data + y * stride,
                           tdl_frame_row_bytes(f, plane)),
                   "plane %u, row %u: other bytes", plane, y))
            return;
}

void frames_compare(const struct tdl_frame *a, const struct tdl_frame *b)
{
    for (uint32_t p = 0; p < tdl_format_planes(a->format); p++)
        frames_compare_bytes(a, p, frames_line(b, p, 0), b->planes[p].stride);
}
