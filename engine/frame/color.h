/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Colour conversion as one affine map per pair of frames, so that no shader
 * knows a matrix or a range: row i of a map gives component i of the result
 * from the stored codes (0…255, P010 0…1023) and 1. YUV components are Y, Cb,
 * Cr; RGB ones R, G, B whatever their order in memory.
 */
#ifndef TDL_FRAME_COLOR_H
#define TDL_FRAME_COLOR_H

#include "format.h"

/* Codes of `from` to codes of `to`. Where both are YUV and share the matrix,
 * the map is diagonal and, but for range and depth, the identity. */
void tdl_color_convert(const struct tdl_frame *from, const struct tdl_frame *to, float out[3][4]);
/* Codes of `from` to R, G, B of 0…1. */
void tdl_color_to_rgb(const struct tdl_frame *from, float out[3][4]);
/* R, G, B of 0…1 to codes of `to`. */
void tdl_color_from_rgb(const struct tdl_frame *to, float out[3][4]);
/* Codes of `from` to R, G, B of 0…1, or to B, G, R. */
void tdl_color_to_channels(const struct tdl_frame *from, bool bgr, float out[3][4]);
/* R, G, B, A of 0…1 to codes of `to` and alpha of 0…255. */
void tdl_color_code(const struct tdl_frame *to, const float rgba[4], float out[4]);
/* Luma of 0…1 is code · scale + offset, where YUV's code is Y, and RGB's
 * 0.2126 R + 0.7152 G + 0.0722 B. */
void tdl_color_luma(const struct tdl_frame *of, float *out_scale, float *out_offset);
/* Both are YUV, with chroma, and of different matrices: luma needs chroma. */
bool tdl_color_rematrix(const struct tdl_frame *from, const struct tdl_frame *to);

#endif
