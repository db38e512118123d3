/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The picture formats as a table, and how frames are bound to kernels. */
#ifndef TDL_FRAME_FORMAT_H
#define TDL_FRAME_FORMAT_H

#include "../batch.h"

/* Frame sizes travel as two 16-bit halves. */
#define TDL_MAX_FRAME_SIZE 32767
#define TDL_PACK_SIZE(width, height) ((width) | (height) << 16)

/* What kernels have to know of a format. shaders/common/frame_formats.glsl has
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
    uint32_t traits;  /* of enum tdl_format_trait */
    uint8_t bits;     /* of a sample; */
    uint8_t shift;    /* its lowest bit, where it has 16 */
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
/* Bytes of a row, and rows, of a plane. */
uint32_t tdl_frame_row_bytes(const struct tdl_frame *frame, uint32_t plane);
uint32_t tdl_frame_rows(const struct tdl_frame *frame, uint32_t plane);

/* TDL_OK, or what is wrong with a frame that `what` names ("source"). Frames
 * that are written need offsets and strides that are multiples of 4. */
enum tdl_result tdl_frame_check(const struct tdl_context *ctx, const struct tdl_frame *frame,
                                bool written, const char *what);
/* Bind the planes to three bindings: Y, Cb, Cr, in whatever order they lie;
 * unused ones repeat plane 0. Fills the shaders' `source` or `target` push
 * constant. */
void tdl_frame_bind(const struct tdl_frame *frame, bool written,
                    struct tdl_bind binds[TDL_MAX_PLANES], uint32_t push[4]);
/* All offsets and strides are multiples of 4. */
bool tdl_frame_is_aligned(const struct tdl_frame *frame);

/* The specialization constants of all frame kernels, in the order of their
 * ids; a kernel ignores what it does not declare. */
struct tdl_frame_spec {
    uint32_t group[3]; /* 0 to 2: workgroup size */
    uint32_t source, source_aligned, target;
    uint32_t rematrix; /* tdl_color_rematrix() */
    uint32_t guided;   /* the mask is refined by luma */
    uint32_t mode;     /* the kernel's own */
    uint32_t rolling;  /* see shaders/common/frame_mask.glsl */
    uint32_t few;      /* few invocations that each do much */
};
#define TDL_FRAME_SPEC_COUNT (sizeof(struct tdl_frame_spec) / sizeof(uint32_t))

/* A CPU's time goes into reads, which neighbours in one invocation share; a
 * GPU wants many invocations. */
bool tdl_frame_wants_few(const struct tdl_context *ctx);

#endif
