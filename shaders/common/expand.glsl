// SPDX-License-Identifier: LGPL-2.1-or-later
// What the 1×1 of an inverted bottleneck reads: channels of `x`, perhaps multiplied by a
// gate or with a resampled tensor added, and behind them perhaps those of `low`. Behind
// common/storage.glsl, common/resample.glsl and common/gate.glsl.
layout(constant_id = 11) const uint IN_W = 1;
layout(constant_id = 12) const uint IN_H = 1;
layout(constant_id = 13) const uint IN_PACKS = 1;
layout(constant_id = 14) const uint PRE = 0; // enum tdl_conv_pre
layout(constant_id = 15) const uint LOW_W = 1;
layout(constant_id = 16) const uint LOW_H = 1;
layout(constant_id = 17) const uint COORDINATES = 0;
layout(constant_id = 18) const uint JOINED = 0; // packs of `low`, behind those of `x`

layout(std430, set = 0, binding = 0) readonly buffer In { PACK x[]; };
layout(std430, set = 0, binding = 3) readonly buffer Low { PACK low[]; };

const uint READ_PACKS = IN_PACKS + JOINED;
// Is `low` resampled?
const uint OTHER_SIZE = LOW_W != IN_W ? 1 : LOW_H != IN_H ? 1 : 0;
const uint RESAMPLED = PRE == 2 ? 1 : JOINED != 0 ? OTHER_SIZE : 0;

// Place of a pixel of `x` among the pixels of `low`.
bilinear low_near(uint pixel)
{
    return bilinear_at(COORDINATES, uvec2(pixel % IN_W, pixel / IN_W), uvec2(LOW_W, LOW_H),
                       uvec2(IN_W, IN_H));
}

vec4 gather_low(uint plane, bilinear near)
{
    uvec4 i = plane * LOW_W * LOW_H + near.index;
    return unpack(low[i.x]) * near.weight.x + unpack(low[i.y]) * near.weight.y +
           unpack(low[i.z]) * near.weight.z + unpack(low[i.w]) * near.weight.w;
}

// Pack `k`, but for gated().
vec4 load(uint k, uint pixel, bilinear near)
{
    if (k >= IN_PACKS) {
        uint joined = gl_WorkGroupID.z * JOINED + k - IN_PACKS;
        return RESAMPLED != 0 ? gather_low(joined, near) : unpack(low[joined * IN_W * IN_H + pixel]);
    }
    uint plane = gl_WorkGroupID.z * IN_PACKS + k;
    vec4 v = unpack(x[plane * IN_W * IN_H + pixel]);
    if (PRE == 2)
        v = v * gate_of(gl_WorkGroupID.z, k) + gather_low(plane, near);
    return v;
}

vec4 gated(uint k, vec4 v)
{
    return k < IN_PACKS && PRE == 1 ? v * gate_of(gl_WorkGroupID.z, k) : v;
}
