// SPDX-License-Identifier: LGPL-2.1-or-later
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_cooperative_matrix : require
#pragma use_vulkan_memory_model
// conv2d as a product of cooperative matrices (common/cooperative.glsl): as conv2d_gemm.comp,
// rows are pixels, columns channels. Halves go from memory into the tiles as they are.
//
// With BLOCK_W × BLOCK_H it is a transposed one, whose filter is as large as its stride:
// columns are the channels of each of its taps, and a pixel becomes a block of them.
#include "common/storage.glsl"
#include "common/activation.glsl"

layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
#include "common/window.glsl"
layout(constant_id = 15) const uint IN_PACKS = 1;
layout(constant_id = 16) const uint OUT_PACKS = 1; // packs of a pixel of the output
layout(constant_id = 17) const uint TILE_M = 16;
layout(constant_id = 18) const uint TILE_N = 16;
layout(constant_id = 19) const uint STEP = 4;      // packs of input a step
layout(constant_id = 20) const uint GRID_M = 1;
layout(constant_id = 21) const uint GRID_N = 1;
layout(constant_id = 22) const uint FRAG_M = 16;
layout(constant_id = 23) const uint FRAG_N = 16;
layout(constant_id = 24) const uint FRAG_K = 16;
layout(constant_id = 25) const uint A_CELLS = 1;   // packs of a step an invocation brings
layout(constant_id = 26) const uint B_CELLS = 1;
layout(constant_id = 27) const uint STEPS = 1;
layout(constant_id = 28) const uint COLUMNS = 4;   // packs of a row of weights
layout(constant_id = 29) const uint ACTIVATION = 0;
layout(constant_id = 30) const uint RESIDUAL = 0;
layout(constant_id = 31) const uint LANES = 32;    // invocations of a subgroup
layout(constant_id = 32) const uint LAST_CHANNELS = 4;
layout(constant_id = 33) const uint PARTS = 1; // shares of the steps, each by workgroups of its own
layout(constant_id = 34) const uint BLOCK_W = 1;
layout(constant_id = 35) const uint BLOCK_H = 1;

layout(std430, set = 0, binding = 0) readonly buffer In { f16vec4 x[]; };
// [tap][in channel][COLUMNS] packs of halves, steps filled up with zeros.
layout(std430, set = 0, binding = 1) readonly buffer Weights { f16vec4 weights[]; };
layout(std430, set = 0, binding = 2) readonly buffer Bias { vec4 bias[]; };
layout(std430, set = 0, binding = 4) readonly buffer Residual { PACK residual[]; };
layout(std430, set = 0, binding = 5) writeonly buffer Out { PACK result[]; };
// [part][image][pack][pixel], for conv2d_parts.comp.
layout(std430, set = 0, binding = 6) writeonly buffer Sums { vec4 sums[]; };

const uint TAPS = KERNEL_W * KERNEL_H;
const uint PIXELS = OUT_W * OUT_H;
#define CELL f16vec4
const uint CELL_HALVES = 4, DEEP = STEP * 4;
const bool A_TURNED = false, B_TURNED = false, ALONG_ROWS = false;
#include "common/cooperative.glsl"

// A step that lies within one tap reads the same tap in all invocations.
CELL bring_a(uint s, uint line, uint place)
{
    const bool one_tap = IN_PACKS % STEP == 0;
    uint k = s * STEP + place;
    uint tap = (one_tap ? s * STEP : k) / IN_PACKS, c = k - tap * IN_PACKS;
    uint pixel = gl_WorkGroupID.x * TILE_M + line;
    ivec2 at = ivec2(pixel % OUT_W, pixel / OUT_W) * ivec2(STRIDE_W, STRIDE_H) -
               ivec2(PAD_LEFT, PAD_TOP) +
               ivec2(tap % KERNEL_W * DILATION_W, tap / KERNEL_W * DILATION_H);
    bool inside = pixel < PIXELS && (one_tap || tap < TAPS) && uint(at.x) < IN_W &&
                  uint(at.y) < IN_H;
    uint plane = gl_WorkGroupID.z / PARTS * IN_PACKS;
    f16vec4 v = f16vec4(0.0);
    if (inside)
        v = x[((plane + c) * IN_H + uint(at.y)) * IN_W + uint(at.x)];
    return v;
}

CELL bring_b(uint s, uint line, uint place)
{
    return weights[(s * DEEP + line) * COLUMNS + gl_WorkGroupID.y * (TILE_N / 4) + place];
}

void write(uint pixel, uint column, vec4 v)
{
    uint block = column / 4 / OUT_PACKS, n = column / 4 % OUT_PACKS;
    if (pixel >= PIXELS || block >= BLOCK_W * BLOCK_H)
        return;
    uvec2 at = uvec2(pixel % OUT_W * BLOCK_W + block % BLOCK_W,
                     pixel / OUT_W * BLOCK_H + block / BLOCK_W);
    uint o = (gl_WorkGroupID.z / PARTS * OUT_PACKS + n) * (PIXELS * BLOCK_W * BLOCK_H) +
             at.y * (OUT_W * BLOCK_W) + at.x;
    if (PARTS > 1) {
        uint images = gl_NumWorkGroups.z / PARTS;
        sums[gl_WorkGroupID.z % PARTS * images * OUT_PACKS * PIXELS + o] = v;
        return;
    }
    v = filled_up(activate(ACTIVATION, v + bias[n]), n == OUT_PACKS - 1, LAST_CHANNELS);
    if (RESIDUAL != 0)
        v += unpack(residual[o]);
    result[o] = pack(v);
}
