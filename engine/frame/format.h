/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The picture formats as a table, and where the pixels of a frame lie. */
#ifndef TDL_FRAME_FORMAT_H
#define TDL_FRAME_FORMAT_H

#include "base.h"

#include <tdl/frame.h>

/* Frame sizes travel as two 16-bit halves. */
#define TDL_MAX_FRAME_SIZE 32767
#define TDL_PACK_SIZE(width, height) ((width) | (height) << 16)

/* The facts of a format that kernels have to know. shaders/common/frame_formats.glsl has
 * the same, as T_…, and says what each means. */
enum tdl_format_trait {
    TDL_TRAIT_RGB = 1 << 0,
    TDL_TRAIT_BYTES3 = 1 << 1,
    TDL_TRAIT_PAIRED = 1 << 2,
    TDL_TRAIT_LUMA_SECOND = 1 << 3,
    TDL_TRAIT_CHROMA = 1 << 4,
    TDL_TRAIT_MIXED = 1 << 5,
    TDL_TRAIT_CR_FIRST = 1 << 6,
    TDL_TRAIT_HALF_X = 1 << 7,
    TDL_TRAIT_HALF_Y = 1 << 8,
    TDL_TRAIT_WIDE = 1 << 9,
    TDL_TRAIT_ALPHA = 1 << 10,
    TDL_TRAIT_FULL = 1 << 11,
};

struct tdl_format_info {
    const char *name;
    uint32_t planes;
    struct {
        /* One step is 1 << shift_x pixels wide and `step` bytes long; one row
         * of the plane serves 1 << shift_y rows of the frame. */
        uint8_t step, shift_x, shift_y;
    } plane[TDL_MAX_PLANES];
    uint32_t traits;  /* bits of enum tdl_format_trait */
    uint8_t bits;     /* of a sample; */
    uint8_t shift;    /* lowest bit of a sample of 16 */
    uint8_t order[4]; /* RGB: the bytes of red, green, blue, alpha (or what fills up) */
};

static inline bool tdl_format_has(const struct tdl_format_info *info, uint32_t traits)
{
    return (info->traits & traits) != 0;
}

/* NULL for TDL_FORMAT_UNKNOWN and what is no format. */
const struct tdl_format_info *tdl_format_info(enum tdl_format format);
/* All of it in the word that kernels are specialised by (SOURCE, TARGET). Formats
 * that kernels see alike have the same. */
uint32_t tdl_format_traits(enum tdl_format format);
/* Blocks of 4×2 pixels that one invocation writes side by side: a word of the
 * target's planes must not span two invocations (frame_target.glsl). */
uint32_t tdl_format_blocks(enum tdl_format format, bool few);
/* The places of a component's samples, counted in samples: bytes, or 16 bits in formats
 * that are TDL_TRAIT_WIDE. */
struct tdl_component {
    uint8_t plane;
    uint8_t step, first;      /* from one to the next, 0: there is none; before the first */
    uint8_t shift_x, shift_y; /* one for 1 << shift pixels, either way */
};
/* Components 0 to 3 are Y, Cb, Cr, or R, G, B, and alpha. */
struct tdl_component tdl_format_component(enum tdl_format format, uint32_t component);
/* Bytes of a row, and rows, of a plane. */
uint32_t tdl_frame_row_bytes(const struct tdl_frame *frame, uint32_t plane);
uint32_t tdl_frame_rows(const struct tdl_frame *frame, uint32_t plane);

/* Is this a size that a frame can have? */
bool tdl_frame_size_ok(uint32_t width, uint32_t height);
/* Bytes from a plane's offset to the end of its last row. */
uint64_t tdl_frame_extent(const struct tdl_frame *frame, uint32_t plane);
/* All offsets and strides are multiples of 4. */
bool tdl_frame_is_aligned(const struct tdl_frame *frame);

#endif
