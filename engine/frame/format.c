/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "format.h"

enum {
    RGB = TDL_TRAIT_RGB | TDL_TRAIT_FULL,
    C444 = TDL_TRAIT_CHROMA | TDL_TRAIT_FULL,
    C422 = TDL_TRAIT_CHROMA | TDL_TRAIT_HALF_X,
    C420 = C422 | TDL_TRAIT_HALF_Y,
    PAIRED = C422 | TDL_TRAIT_PAIRED,
    MIXED = TDL_TRAIT_MIXED,
    CR_FIRST = TDL_TRAIT_CR_FIRST,
    WIDE = TDL_TRAIT_WIDE,
    ALPHA = TDL_TRAIT_ALPHA,
};

/* The one description of formats: all else about them is computed from it. */
static const struct tdl_format_info infos[TDL_FORMAT_COUNT] = {
    [TDL_FORMAT_NV12] = {"NV12", 2, {{1, 0, 0}, {2, 1, 1}}, C420 | MIXED, 8},
    [TDL_FORMAT_I420] = {"I420", 3, {{1, 0, 0}, {1, 1, 1}, {1, 1, 1}}, C420, 8},
    [TDL_FORMAT_YUY2] = {"YUY2", 1, {{4, 1, 0}}, PAIRED, 8},
    [TDL_FORMAT_UYVY] = {"UYVY", 1, {{4, 1, 0}}, PAIRED | TDL_TRAIT_LUMA_SECOND, 8},
    [TDL_FORMAT_P010] = {"P010", 2, {{2, 0, 0}, {4, 1, 1}}, C420 | MIXED | WIDE, 10, 6},
    [TDL_FORMAT_RGBA] = {"RGBA", 1, {{4, 0, 0}}, RGB | ALPHA, 8, 0, {0, 1, 2, 3}},
    [TDL_FORMAT_BGRA] = {"BGRA", 1, {{4, 0, 0}}, RGB | ALPHA, 8, 0, {2, 1, 0, 3}},
    [TDL_FORMAT_RGBX] = {"RGBx", 1, {{4, 0, 0}}, RGB, 8, 0, {0, 1, 2, 3}},
    [TDL_FORMAT_BGRX] = {"BGRx", 1, {{4, 0, 0}}, RGB, 8, 0, {2, 1, 0, 3}},
    [TDL_FORMAT_RGB] = {"RGB", 1, {{3, 0, 0}}, RGB | TDL_TRAIT_BYTES3, 8, 0, {0, 1, 2}},
    [TDL_FORMAT_BGR] = {"BGR", 1, {{3, 0, 0}}, RGB | TDL_TRAIT_BYTES3, 8, 0, {2, 1, 0}},
    [TDL_FORMAT_GRAY8] = {"GRAY8", 1, {{1, 0, 0}}, 0, 8},
    [TDL_FORMAT_ARGB] = {"ARGB", 1, {{4, 0, 0}}, RGB | ALPHA, 8, 0, {1, 2, 3, 0}},
    [TDL_FORMAT_ABGR] = {"ABGR", 1, {{4, 0, 0}}, RGB | ALPHA, 8, 0, {3, 2, 1, 0}},
    [TDL_FORMAT_XRGB] = {"xRGB", 1, {{4, 0, 0}}, RGB, 8, 0, {1, 2, 3, 0}},
    [TDL_FORMAT_XBGR] = {"xBGR", 1, {{4, 0, 0}}, RGB, 8, 0, {3, 2, 1, 0}},
    [TDL_FORMAT_NV21] = {"NV21", 2, {{1, 0, 0}, {2, 1, 1}}, C420 | MIXED | CR_FIRST, 8},
    [TDL_FORMAT_NV16] = {"NV16", 2, {{1, 0, 0}, {2, 1, 0}}, C422 | MIXED, 8},
    [TDL_FORMAT_YV12] = {"YV12", 3, {{1, 0, 0}, {1, 1, 1}, {1, 1, 1}}, C420 | CR_FIRST, 8},
    [TDL_FORMAT_Y42B] = {"Y42B", 3, {{1, 0, 0}, {1, 1, 0}, {1, 1, 0}}, C422, 8},
    [TDL_FORMAT_Y444] = {"Y444", 3, {{1, 0, 0}, {1, 0, 0}, {1, 0, 0}}, C444, 8},
    [TDL_FORMAT_I420_10] = {"I420_10LE", 3, {{2, 0, 0}, {2, 1, 1}, {2, 1, 1}}, C420 | WIDE, 10},
    [TDL_FORMAT_I422_10] = {"I422_10LE", 3, {{2, 0, 0}, {2, 1, 0}, {2, 1, 0}}, C422 | WIDE, 10},
    [TDL_FORMAT_Y444_10] = {"Y444_10LE", 3, {{2, 0, 0}, {2, 0, 0}, {2, 0, 0}}, C444 | WIDE, 10},
    [TDL_FORMAT_GRAY16] = {"GRAY16_LE", 1, {{2, 0, 0}}, WIDE, 16},
};

const struct tdl_format_info *tdl_format_info(enum tdl_format format)
{
    return format > TDL_FORMAT_UNKNOWN && format < TDL_FORMAT_COUNT ? &infos[format] : NULL;
}

uint32_t tdl_format_traits(enum tdl_format format)
{
    const struct tdl_format_info *info = &infos[format];
    uint32_t word = info->traits | (uint32_t)info->bits << 12 | (uint32_t)info->shift << 17;
    for (uint32_t c = 0; c < 4; c++)
        word |= (uint32_t)info->order[c] << (21 + 2 * c);
    return word;
}

uint32_t tdl_format_blocks(enum tdl_format format, bool few)
{
    const uint32_t planar =
        TDL_TRAIT_PAIRED | TDL_TRAIT_CHROMA | TDL_TRAIT_MIXED | TDL_TRAIT_HALF_X | TDL_TRAIT_WIDE;
    const bool half_bytes =
        (infos[format].traits & planar) == (TDL_TRAIT_CHROMA | TDL_TRAIT_HALF_X);
    return few ? 4 : half_bytes ? 2 : 1;
}

uint32_t tdl_format_planes(enum tdl_format format)
{
    const struct tdl_format_info *info = tdl_format_info(format);
    return info ? info->planes : 0;
}

const char *tdl_format_name(enum tdl_format format)
{
    const struct tdl_format_info *info = tdl_format_info(format);
    return info ? info->name : "unknown";
}

/* Chroma, which a plane has with luma, for both, or for one of them. */
static struct tdl_component chroma_component(const struct tdl_format_info *info, uint32_t second)
{
    struct tdl_component c = {
        .step = 1,
        .shift_x = tdl_format_has(info, TDL_TRAIT_HALF_X),
        .shift_y = tdl_format_has(info, TDL_TRAIT_HALF_Y),
    };
    if (tdl_format_has(info, TDL_TRAIT_CR_FIRST))
        second = !second;
    if (tdl_format_has(info, TDL_TRAIT_PAIRED)) {
        c.step = 4;
        c.first = (uint8_t)(2 * second + !tdl_format_has(info, TDL_TRAIT_LUMA_SECOND));
    } else if (tdl_format_has(info, TDL_TRAIT_MIXED)) {
        c.plane = 1;
        c.step = 2;
        c.first = (uint8_t)second;
    } else {
        c.plane = (uint8_t)(1 + second);
    }
    return c;
}

struct tdl_component tdl_format_component(enum tdl_format format, uint32_t component)
{
    const struct tdl_format_info *info = &infos[format];
    if (tdl_format_has(info, TDL_TRAIT_RGB)) {
        const bool there = component < 3 || tdl_format_has(info, TDL_TRAIT_ALPHA);
        return (struct tdl_component){.step = there ? info->plane[0].step : 0,
                                      .first = info->order[component]};
    }
    if (component == 0 && tdl_format_has(info, TDL_TRAIT_PAIRED))
        return (struct tdl_component){.step = 2,
                                      .first = tdl_format_has(info, TDL_TRAIT_LUMA_SECOND)};
    if (component == 0)
        return (struct tdl_component){.step = 1};
    if (component == 3 || !tdl_format_has(info, TDL_TRAIT_CHROMA))
        return (struct tdl_component){.step = 0};
    return chroma_component(info, component == 2);
}

uint32_t tdl_frame_row_bytes(const struct tdl_frame *frame, uint32_t plane)
{
    const struct tdl_format_info *info = &infos[frame->format];
    uint32_t shift = info->plane[plane].shift_x;
    return info->plane[plane].step * ((frame->width + (1u << shift) - 1) >> shift);
}

uint32_t tdl_frame_rows(const struct tdl_frame *frame, uint32_t plane)
{
    uint32_t shift = infos[frame->format].plane[plane].shift_y;
    return (frame->height + (1u << shift) - 1) >> shift;
}

bool tdl_frame_size_ok(uint32_t width, uint32_t height)
{
    return width && height && width <= TDL_MAX_FRAME_SIZE && height <= TDL_MAX_FRAME_SIZE;
}

size_t tdl_frame_layout(struct tdl_frame *frame, enum tdl_format format, uint32_t width,
                        uint32_t height, uint32_t align)
{
    const struct tdl_format_info *info = tdl_format_info(format);
    size_t size = 0;
    if (!frame || !info || !tdl_frame_size_ok(width, height) || align < 4 || (align & (align - 1)))
        return 0;
    frame->format = format;
    frame->width = width;
    frame->height = height;
    for (uint32_t p = 0; p < info->planes; p++) {
        uint32_t stride = TDL_ALIGN(tdl_frame_row_bytes(frame, p), align);
        frame->planes[p].offset = size;
        frame->planes[p].stride = stride;
        size += (size_t)stride * tdl_frame_rows(frame, p);
    }
    return size;
}

uint64_t tdl_frame_extent(const struct tdl_frame *frame, uint32_t plane)
{
    uint32_t row = tdl_frame_row_bytes(frame, plane);
    return (uint64_t)(tdl_frame_rows(frame, plane) - 1) * frame->planes[plane].stride + row;
}

bool tdl_frame_is_aligned(const struct tdl_frame *frame)
{
    for (uint32_t p = 0; p < infos[frame->format].planes; p++)
        if (frame->planes[p].offset % 4 || frame->planes[p].stride % 4)
            return false;
    return true;
}
