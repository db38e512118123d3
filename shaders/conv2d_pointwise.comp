// SPDX-License-Identifier: LGPL-2.1-or-later
#version 430
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// conv2d 1×1, as a matrix product: TILE output packs × PX pixels an
// invocation. All sizes are specialization constants and the loop over input
// packs is unrolled, so that drivers see constant indices only; weights of one
// chunk of input packs wait in shared memory.
//
// Where pixels are few, SPLIT invocations share them: each takes a chunk of every round of
// SPLIT chunks, and their sums are added up in a fixed order.
#include "common/storage.glsl"
#include "common/activation.glsl"
#include "common/resample.glsl"
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
#include "common/gate.glsl"
layout(constant_id = 11) const uint PIXELS = 1;
layout(constant_id = 12) const uint IN_PACKS = 1; // a multiple of CHUNK × SPLIT
layout(constant_id = 13) const uint OUT_PACKS = 1;
layout(constant_id = 14) const uint TILE = 1;
layout(constant_id = 15) const uint PX = 1;
layout(constant_id = 16) const uint CHUNK = 1;
layout(constant_id = 17) const uint ACTIVATION = 0;
layout(constant_id = 18) const uint PRE = 0;      // enum tdl_conv_pre
layout(constant_id = 19) const uint RESIDUAL = 0; // add another tensor after the activation
layout(constant_id = 20) const uint PREFETCH = 0; // read the input ahead of the weights' barrier
layout(constant_id = 21) const uint WIDTH = 1;    // image width, for PRE 2
layout(constant_id = 22) const uint LAST_CHANNELS = 4;
layout(constant_id = 23) const uint LOW_W = 1;
layout(constant_id = 24) const uint LOW_H = 1;
layout(constant_id = 25) const uint COORDINATES = 0;
layout(constant_id = 26) const uint MEANS = 0; // also write a mean for each workgroup
layout(constant_id = 27) const uint SPLIT = 1; // workgroup height; 1 with MEANS or a gate inside

layout(std430, set = 0, binding = 0) readonly buffer In { PACK x[]; };
// Weights per group of TILE packs: [in channel][TILE], then the TILE packs of bias.
layout(std430, set = 0, binding = 3) readonly buffer Low { PACK low[]; };
layout(std430, set = 0, binding = 4) readonly buffer Residual { PACK residual[]; };
layout(std430, set = 0, binding = 5) writeonly buffer Out { PACK result[]; };

const uint ROUND = CHUNK * SPLIT;
const uint COLUMN = gl_WorkGroupSize.x * PX * TILE; // sums of those that share nothing
shared vec4 w[ROUND * 4 * TILE];
shared vec4 sums[SPLIT > 1 ? COLUMN * SPLIT : 1];
const uint MEANS_PACKS = TILE;
const uint MEANS_WRITERS = gl_WorkGroupSize.x;
#include "common/means.glsl"

uint at[PX];
bilinear near[PX];
vec4 sum[PX * TILE];

vec4 gather_low(uint plane, bilinear n)
{
    uvec4 i = plane * LOW_W * LOW_H + n.index;
    return unpack(low[i.x]) * n.weight.x + unpack(low[i.y]) * n.weight.y +
           unpack(low[i.z]) * n.weight.z + unpack(low[i.w]) * n.weight.w;
}

// A round, from input pack `round` on.
void multiply(uint round)
{
    const uint GROUP = (IN_PACKS * 4 + 1) * TILE;
    uint share = gl_LocalInvocationID.y * CHUNK, c = round + share;
    uint first_plane = gl_WorkGroupID.z * IN_PACKS + c;
    uint base = GATE_WEIGHTS + gl_WorkGroupID.y * GROUP + round * 4 * TILE;
    PACK ahead[PREFETCH != 0 ? PX * CHUNK : 1];
    if (PREFETCH != 0) {
        [[unroll]] for (uint k = 0; k < CHUNK; k++)
            [[unroll]] for (uint p = 0; p < PX; p++)
                ahead[k * PX + p] = x[(first_plane + k) * PIXELS + at[p]];
    }
    barrier();
    for (uint i = gl_LocalInvocationIndex; i < ROUND * 4 * TILE; i += gl_WorkGroupSize.x * SPLIT) {
        vec4 v = weights[base + i];
        if (PRE == 1) { // the gate's part, once for all pixels
            uint channel = round * 4 + i / TILE;
            v *= gate_of(gl_WorkGroupID.z, channel / 4)[channel % 4];
        }
        w[i] = v;
    }
    barrier();
    [[unroll]] for (uint k = 0; k < CHUNK; k++) {
        uint plane = first_plane + k;
        vec4 g = PRE == 2 ? gate_of(gl_WorkGroupID.z, c + k) : vec4(1.0);
        [[unroll]] for (uint p = 0; p < PX; p++) {
            vec4 v = PREFETCH != 0 ? unpack(ahead[k * PX + p]) : unpack(x[plane * PIXELS + at[p]]);
            if (PRE == 2)
                v = v * g + gather_low(plane, near[p]);
            [[unroll]] for (uint t = 0; t < TILE; t++) {
                uint s = p * TILE + t, k4 = (share + k) * 4 * TILE + t;
                sum[s] = fma(v.xxxx, w[k4], sum[s]);
                sum[s] = fma(v.yyyy, w[k4 + TILE], sum[s]);
                sum[s] = fma(v.zzzz, w[k4 + 2 * TILE], sum[s]);
                sum[s] = fma(v.wwww, w[k4 + 3 * TILE], sum[s]);
            }
        }
    }
}

// Sums of all that share a column come to its first invocation.
void add_up()
{
    uint own = gl_LocalInvocationIndex * (PX * TILE);
    [[unroll]] for (uint i = 0; i < PX * TILE; i++)
        sums[own + i] = sum[i];
    [[dont_unroll]] for (uint left = SPLIT; left > 1;) {
        uint kept = (left + 1) / 2;
        barrier();
        if (gl_LocalInvocationID.y + kept < left)
            [[unroll]] for (uint i = 0; i < PX * TILE; i++)
                sums[own + i] += sums[own + kept * COLUMN + i];
        left = kept;
    }
    [[unroll]] for (uint i = 0; i < PX * TILE; i++)
        sum[i] = sums[own + i];
}

void main()
{
    const uint GROUP = (IN_PACKS * 4 + 1) * TILE;
    uint image = gl_WorkGroupID.z, first = gl_WorkGroupID.y * TILE;
    uint base = GATE_WEIGHTS + gl_WorkGroupID.y * GROUP;
    if (GATE_INSIDE)
        gate_compute(image);
    uint start = gl_WorkGroupID.x * gl_WorkGroupSize.x * PX + gl_LocalInvocationID.x;
    [[unroll]] for (uint p = 0; p < PX; p++) {
        at[p] = min(start + p * gl_WorkGroupSize.x, PIXELS - 1);
        if (PRE == 2)
            near[p] = bilinear_at(COORDINATES, uvec2(at[p] % WIDTH, at[p] / WIDTH),
                               uvec2(LOW_W, LOW_H), uvec2(WIDTH, PIXELS / WIDTH));
        [[unroll]] for (uint t = 0; t < TILE; t++)
            sum[p * TILE + t] = gl_LocalInvocationID.y == 0
                                    ? weights[base + IN_PACKS * 4 * TILE + t]
                                    : vec4(0.0);
    }
    [[unroll]] for (uint t = 0; t < TILE; t++)
        total[t] = vec4(0.0);
    if (ROUND == IN_PACKS) {
        multiply(0);
    } else {
        [[dont_unroll]] for (uint c = 0; c < IN_PACKS; c += ROUND)
            multiply(c);
    }
    if (SPLIT > 1) {
        add_up();
        if (gl_LocalInvocationID.y != 0)
            return;
    }
    [[unroll]] for (uint p = 0; p < PX; p++) {
        if (start + p * gl_WorkGroupSize.x >= PIXELS)
            continue;
        [[unroll]] for (uint t = 0; t < TILE; t++) {
            if (first + t >= OUT_PACKS)
                continue;
            uint o = (image * OUT_PACKS + first + t) * PIXELS + at[p];
            vec4 v = filled_up(activate(ACTIVATION, sum[p * TILE + t]), first + t == OUT_PACKS - 1,
                               LAST_CHANNELS);
            if (RESIDUAL != 0)
                v += unpack(residual[o]);
            result[o] = pack(v);
            total[t] += v;
        }
    }
    if (MEANS != 0)
        write_means((PIXELS + gl_WorkGroupSize.x * PX - 1) / (gl_WorkGroupSize.x * PX), PIXELS);
}
