// SPDX-License-Identifier: LGPL-2.1-or-later
#version 430
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// Element-wise on packs: out = activate(a) or activate(function(a, b)), with
// dimensions of size 1 broadcast. One invocation a pack. Stages of the chain may read
// further operands, whose packs lie as those of the output.
#define TDL_CHAIN
#define TDL_STAGE_OPERANDS
#include "common/storage.glsl"
#include "common/activation.glsl"

layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(constant_id = 3) const uint FUNCTION = 0; // F_IDENTITY: there is no b
layout(constant_id = 4) const uint ACTIVATION = 0;
layout(constant_id = 5) const uint PACKS = 1;
layout(constant_id = 6) const uint HEIGHT = 1;
layout(constant_id = 7) const uint WIDTH = 1;
// Bits: 1 the only image, 2 channel, 4 row, 8 column of the operand is read for all.
layout(constant_id = 8) const uint BROADCAST_A = 0;
layout(constant_id = 9) const uint BROADCAST_B = 0;
layout(constant_id = 10) const uint LAST_CHANNELS = 4; // in the last pack

layout(std430, set = 0, binding = 0) readonly buffer A { PACK a[]; };
layout(std430, set = 0, binding = 1) readonly buffer B { PACK b[]; };
layout(std430, set = 0, binding = 2) writeonly buffer Out { PACK result[]; };
layout(std430, set = 0, binding = 3) readonly buffer C { PACK c[]; };
layout(std430, set = 0, binding = 4) readonly buffer D { PACK d[]; };
layout(std430, set = 0, binding = 5) readonly buffer E { PACK e[]; };

uint own; // the pack that the invocation makes

vec4 stage_operand(uint slot)
{
    return unpack(slot == 2 ? c[own] : slot == 3 ? d[own] : e[own]);
}

uint address(uint mask, uint image, uint group, uint y, uint x)
{
    uint packs = (mask & 2) != 0 ? 1 : PACKS, h = (mask & 4) != 0 ? 1 : HEIGHT;
    uint w = (mask & 8) != 0 ? 1 : WIDTH;
    image = (mask & 1) != 0 ? 0 : image;
    group = (mask & 2) != 0 ? 0 : group;
    y = (mask & 4) != 0 ? 0 : y;
    x = (mask & 8) != 0 ? 0 : x;
    return ((image * packs + group) * h + y) * w + x;
}

void main()
{
    uint pixel = gl_GlobalInvocationID.x, group = gl_WorkGroupID.y, image = gl_WorkGroupID.z;
    if (pixel >= HEIGHT * WIDTH)
        return;
    own = (image * PACKS + group) * HEIGHT * WIDTH + pixel;
    uint y = pixel / WIDTH, x = pixel % WIDTH;
    vec4 v = unpack(a[address(BROADCAST_A, image, group, y, x)]);
    v = (BROADCAST_A & 2) != 0 ? v.xxxx : v;
    if (FUNCTION != F_IDENTITY) {
        vec4 u = unpack(b[address(BROADCAST_B, image, group, y, x)]);
        u = (BROADCAST_B & 2) != 0 ? u.xxxx : u;
        v = eltwise_binary(FUNCTION, v, u);
    }
    v = activate(ACTIVATION, v);
    result[own] = pack(filled_up(v, group == PACKS - 1, LAST_CHANNELS));
}
