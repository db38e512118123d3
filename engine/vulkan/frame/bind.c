/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bind.h"

static enum tdl_result check_plane(const struct tdl_context *ctx, const struct tdl_frame *frame,
                                   uint32_t p, bool written, const char *what)
{
    const struct tdl_plane *plane = &frame->planes[p];
    const char *name = tdl_format_name(frame->format);
    if (!plane->buffer)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "%s frame: plane %u has no buffer", what, p);
    if (plane->buffer->ctx != ctx)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "%s frame: plane %u lies in a buffer of another context", what, p);
    if (plane->stride < tdl_frame_row_bytes(frame, p))
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "%s frame: plane %u of %s, %u px wide, needs a stride of %u bytes; it is "
                        "%u",
                        what, p, name, frame->width, tdl_frame_row_bytes(frame, p), plane->stride);
    if (written && (plane->stride % 4 || plane->offset % 4))
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "%s frame: plane %u has offset %llu and stride %u; a frame that is written "
                        "needs multiples of 4",
                        what, p, (unsigned long long)plane->offset, plane->stride);
    uint64_t extent = tdl_frame_extent(frame, p);
    if (written)
        extent = TDL_ALIGN(extent, 4);
    if (plane->offset > plane->buffer->size || extent > plane->buffer->size - plane->offset)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "%s frame: plane %u ends at byte %llu of a buffer of %zu", what, p,
                        (unsigned long long)(plane->offset + extent), plane->buffer->size);
    if (extent + 256 > ctx->properties.limits.maxStorageBufferRange)
        return tdl_fail(TDL_ERROR_UNSUPPORTED,
                        "%s frame: plane %u has %llu bytes; this device's kernels reach %u", what,
                        p, (unsigned long long)extent,
                        ctx->properties.limits.maxStorageBufferRange);
    return TDL_OK;
}

enum tdl_result tdl_frame_check(const struct tdl_context *ctx, const struct tdl_frame *frame,
                                bool written, const char *what)
{
    const struct tdl_format_info *info = tdl_format_info(frame->format);
    enum tdl_result r = TDL_OK;
    if (!info)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "%s frame: %d is no format", what,
                        (int)frame->format);
    if (!tdl_frame_size_ok(frame->width, frame->height))
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "%s frame: %u×%u px; sizes from 1 to %d are possible", what, frame->width,
                        frame->height, TDL_MAX_FRAME_SIZE);
    if ((unsigned)frame->matrix > TDL_MATRIX_BT2020 || (unsigned)frame->range > TDL_RANGE_FULL)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "%s frame: unknown matrix %d or range %d", what,
                        (int)frame->matrix, (int)frame->range);
    for (uint32_t p = 0; p < info->planes && r == TDL_OK; p++)
        r = check_plane(ctx, frame, p, written, what);
    return r;
}

void tdl_frame_bind(const struct tdl_frame *frame, bool written,
                    struct tdl_bind binds[TDL_MAX_PLANES], uint32_t push[4])
{
    const struct tdl_format_info *info = tdl_format_info(frame->format);
    const uint32_t planes = info->planes;
    const bool swap = planes == 3 && tdl_format_has(info, TDL_TRAIT_CR_FIRST);
    push[0] = 0;
    for (uint32_t p = 0; p < TDL_MAX_PLANES; p++) {
        uint32_t used = p >= planes ? 0 : swap && p ? 3 - p : p;
        const struct tdl_plane *plane = &frame->planes[used];
        /* Descriptors begin at multiples of 256, the most that any device asks
         * for; the shader adds the rest. */
        uint64_t rest = plane->offset % 256;
        binds[p] = (struct tdl_bind){
            .buffer = plane->buffer,
            .offset = plane->offset - rest,
            .size = TDL_ALIGN(rest + tdl_frame_extent(frame, used), 4),
            .read = !written,
            .write = written,
        };
        push[0] |= (uint32_t)rest << (8 * p);
        push[p + 1] = plane->stride;
    }
}

bool tdl_frame_wants_few(const struct tdl_context *ctx)
{
    return ctx->info.type == TDL_DEVICE_CPU;
}
