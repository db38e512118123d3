// SPDX-License-Identifier: LGPL-2.1-or-later
// Blocks of 4×2 pixels in the target's codes, for kernels that write the target and for
// those that make something else of its colours.
#ifndef FRAME_CODES_GLSL
#define FRAME_CODES_GLSL
#include "frame_formats.glsl"

layout(constant_id = 5) const uint TARGET = 1u;

const bool TARGET_420 = FORMAT_420(TARGET);
const bool TARGET_RGB = FORMAT_HAS(TARGET, T_RGB);
const bool TARGET_FULL = FORMAT_HAS(TARGET, T_FULL);
const bool TARGET_CHROMA = FORMAT_HAS(TARGET, T_CHROMA);
const bool TARGET_PAIRED = FORMAT_HAS(TARGET, T_PAIRED);
const bool TARGET_16 = FORMAT_HAS(TARGET, T_WIDE);
const float TARGET_MAX = FORMAT_MAX(TARGET);

// A block of samples in the target's codes. c0 is R or Y. c1 and c2 are G and
// B, or Cb and Cr: in 4:4:4 of each pixel, else of two pairs (x, y), one row of
// them in 4:2:0, two in 4:2:2.
struct Block {
    vec4 c0[2], c1[2], c2[2], alpha[2];
};

#endif
