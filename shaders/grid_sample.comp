// SPDX-License-Identifier: LGPL-2.1-or-later
#version 430
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// gridSample: each output pixel between the pixels around a place that the grid names. One
// invocation an output pack.
#include "common/storage.glsl"

layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(constant_id = 3) const uint IN_W = 1;
layout(constant_id = 4) const uint IN_H = 1;
layout(constant_id = 5) const uint PIXELS = 1; // of an output image
layout(constant_id = 6) const uint PACKS = 1;
layout(constant_id = 7) const uint MODE = 0;    // enum tdl_grid_mode
layout(constant_id = 8) const uint PADDING = 0; // enum tdl_grid_padding
layout(constant_id = 9) const bool ALIGN = false;
layout(constant_id = 10) const uint WORDS = 2; // from one place of the grid to the next
layout(constant_id = 11) const bool HALF_GRID = false;

const uint LINEAR = 0, NEAREST = 1, CUBIC = 2;
const uint ZEROS = 0, BORDER = 1, REFLECTION = 2;
const float FAR = 16777216.0; // TDL_GRID_FAR

layout(std430, set = 0, binding = 0) readonly buffer In { PACK x[]; };
layout(std430, set = 0, binding = 1) readonly buffer Grid { uint grid[]; };
layout(std430, set = 0, binding = 2) writeonly buffer Out { PACK result[]; };

// One axis: the pixels that count, and how much.
struct Taps {
    uvec4 at;
    vec4 weights;
};

float place_of(float g, float size)
{
    bool is_nan = (floatBitsToUint(g) & 0x7fffffffu) > 0x7f800000u;
    precise float inside = is_nan ? -FAR : clamp(g, -FAR, FAR);
    precise float from = inside + 1.0;
    precise float at = ALIGN ? from * 0.5 * (size - 1.0) : (from * size - 1.0) * 0.5;
    return at;
}

// Mirrored at both ends; of whole numbers a whole one.
float reflected(float at, float size)
{
    float low = ALIGN ? 0.0 : -0.5, span = ALIGN ? size - 1.0 : size;
    if (span == 0.0)
        return 0.0;
    float rest = abs(at - low);
    rest -= floor(rest / (2.0 * span)) * 2.0 * span;
    return low + (rest > span ? 2.0 * span - rest : rest);
}

// Keys' cubic with a = -3/4.
vec4 cubic(float f)
{
    const float a = -0.75;
    vec4 d = vec4(1.0 + f, f, 1.0 - f, 2.0 - f);
    vec4 near = ((a + 2.0) * d - (a + 3.0)) * d * d + 1.0;
    vec4 far = ((a * d - 5.0 * a) * d + 8.0 * a) * d - 4.0 * a;
    return vec4(far.x, near.yz, far.w);
}

Taps taps_of(float g, uint size)
{
    float at = place_of(g, float(size)), most = float(size) - 1.0;
    float first = MODE == NEAREST ? roundEven(at) : floor(at), f = at - first;
    vec4 pixels = first + (MODE == CUBIC ? vec4(-1.0, 0.0, 1.0, 2.0) : vec4(0.0, 1.0, 0.0, 0.0));
    Taps t;
    t.weights = MODE == CUBIC ? cubic(f)
                : MODE == LINEAR ? vec4(1.0 - f, f, 0.0, 0.0) : vec4(1.0, 0.0, 0.0, 0.0);
    [[unroll]] for (uint i = 0; i < 4; i++) {
        if (PADDING == ZEROS && !(pixels[i] >= 0.0 && pixels[i] <= most))
            t.weights[i] = 0.0;
        if (PADDING == REFLECTION)
            pixels[i] = reflected(pixels[i], float(size));
    }
    t.at = uvec4(clamp(pixels, 0.0, most));
    return t;
}

void main()
{
    const uint taps = MODE == CUBIC ? 4 : MODE == LINEAR ? 2 : 1;
    uint o = gl_GlobalInvocationID.x;
    uint plane = gl_WorkGroupID.z * PACKS + gl_WorkGroupID.y;
    if (o >= PIXELS)
        return;
    uint place = (gl_WorkGroupID.z * PIXELS + o) * WORDS;
    vec2 g = HALF_GRID ? unpackHalf2x16(grid[place])
                       : vec2(uintBitsToFloat(grid[place]), uintBitsToFloat(grid[place + 1]));
    Taps tx = taps_of(g.x, IN_W), ty = taps_of(g.y, IN_H);
    vec4 sum = vec4(0.0);
    [[unroll]] for (uint i = 0; i < taps; i++) {
        uint row = (plane * IN_H + ty.at[i]) * IN_W;
        [[unroll]] for (uint j = 0; j < taps; j++) {
            float weight = ty.weights[i] * tx.weights[j];
            if (weight != 0.0) // nothing of what is infinite there
                sum += weight * unpack(x[row + tx.at[j]]);
        }
    }
    // Packs are filled up with 0: a weight below 0 makes -0 of it, where compilers drop the sum's 0.
    uvec4 bits = floatBitsToUint(sum);
    bits *= uvec4(notEqual(bits, uvec4(0x80000000u)));
    result[plane * PIXELS + o] = pack(uintBitsToFloat(bits));
}
