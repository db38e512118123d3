// SPDX-License-Identifier: LGPL-2.1-or-later
// Blending blocks in the target's codes.
#ifndef FRAME_BLEND_GLSL
#define FRAME_BLEND_GLSL
#include "frame_codes.glsl"

// Weight of the mask at the chroma samples: the mean of the pixels they span.
void chroma_weights(vec4 w[2], out vec2 pairs[2])
{
    for (uint r = 0u; r < 2u; r++)
        pairs[r] = 0.5 * (w[r].xz + w[r].yw);
    if (TARGET_420)
        pairs[0] = 0.5 * (pairs[0] + pairs[1]);
}

// A value that was made of the colour `from`: a code, or as far outside of the codes as `from`
// is. So it stays `from` where nothing was to change, and blocks need not agree on that.
vec4 limited(vec4 value, vec4 from)
{
    return clamp(value, min(from, 0.0), max(from, TARGET_MAX));
}

// a · (1 - w) + b · w, each plane at its own sampling.
Block blend(Block a, Block b, vec4 w[2])
{
    vec2 pairs[2];
    Block block;
    chroma_weights(w, pairs);
    for (uint r = 0u; r < 2u; r++) {
        const vec4 c = TARGET_FULL ? w[r] : pairs[r].xyxy;
        block.c0[r] = mix(a.c0[r], b.c0[r], w[r]);
        block.c1[r] = mix(a.c1[r], b.c1[r], c);
        block.c2[r] = mix(a.c2[r], b.c2[r], c);
        block.alpha[r] = mix(a.alpha[r], b.alpha[r], w[r]);
    }
    return block;
}

#endif
