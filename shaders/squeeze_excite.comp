// SPDX-License-Identifier: LGPL-2.1-or-later
#version 430
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// The gate of a squeeze-and-excite block: mean over the pixels of one or two
// tensors (summed), then one or two fully connected layers. One workgroup an
// image; sums are added in a fixed order.
#include "common/storage.glsl"
#include "common/activation.glsl"

layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(constant_id = 3) const uint PIXELS = 1;
layout(constant_id = 4) const uint PIXELS2 = 0; // pixels of the second tensor, 0: none
layout(constant_id = 5) const uint IN_PACKS = 1;
layout(constant_id = 6) const uint MIDDLE = 1;  // outputs of the first layer, 0: no such layer
layout(constant_id = 7) const uint OUT_PACKS = 1;
layout(constant_id = 8) const uint ACTIVATION1 = 0;
layout(constant_id = 9) const uint ACTIVATION2 = 0;
layout(constant_id = 10) const uint TEAMS = 1; // invocations per input pack in the pool, 2ⁿ
layout(constant_id = 11) const uint LAST_CHANNELS = 4;

layout(std430, set = 0, binding = 0) readonly buffer In { PACK x[]; };
layout(std430, set = 0, binding = 1) readonly buffer In2 { PACK x2[]; };
// Layer 1: [in][out] then bias, if there is one; layer 2: [in][out packs] vec4, bias.
layout(std430, set = 0, binding = 2) readonly buffer W1 { float w1[]; };
layout(std430, set = 0, binding = 3) readonly buffer W2 { vec4 w2[]; };
layout(std430, set = 0, binding = 4) writeonly buffer Out { PACK result[]; };

const uint IN = IN_PACKS * 4;
const uint INNER = MIDDLE != 0 ? MIDDLE : IN;
// How many invocations share one output of each layer, and inputs of each.
const uint MIDDLE1 = MIDDLE != 0 ? MIDDLE : 1;
const uint TEAMS1 = gl_WorkGroupSize.x > MIDDLE1 ? gl_WorkGroupSize.x / MIDDLE1 : 1;
const uint TEAMS2 = gl_WorkGroupSize.x > OUT_PACKS ? gl_WorkGroupSize.x / OUT_PACKS : 1;
const uint SHARE1 = (IN + TEAMS1 - 1) / TEAMS1;
const uint SHARE2 = (INNER + TEAMS2 - 1) / TEAMS2;
// How much of a share is unrolled: all of the usual ones, but compilers take
// minutes for a thousand steps.
const uint PIECE1 = SHARE1 < 64 ? SHARE1 : 64;
const uint PIECE2 = SHARE2 < 64 ? SHARE2 : 64;

shared vec4 partial[IN_PACKS * TEAMS];
shared float mean[IN];
shared float partial1[MIDDLE1 * TEAMS1];
shared float hidden[INNER];
shared vec4 partial2[OUT_PACKS * TEAMS2];

// Sums by pieces of 8, so that as many loads are under way at once.
#define SUM_OF(tensor, base, member, pixels, sum)                             \
    for (uint i = member; i < pixels; i += TEAMS * 8) {                       \
        vec4 piece[8];                                                        \
        [[unroll]] for (uint j = 0; j < 8; j++)                               \
            piece[j] = unpack(tensor[base + min(i + j * TEAMS, pixels - 1)]); \
        [[unroll]] for (uint j = 0; j < 8; j++)                               \
            sum += i + j * TEAMS < pixels ? piece[j] : vec4(0.0);             \
    }

vec4 share_of(uint image, uint group, uint member)
{
    vec4 sum = vec4(0.0), sum2 = vec4(0.0);
    uint plane = image * IN_PACKS + group;
    SUM_OF(x, plane * PIXELS, member, PIXELS, sum)
    sum *= 1.0 / float(PIXELS);
    if (PIXELS2 != 0) {
        SUM_OF(x2, plane * PIXELS2, member, PIXELS2, sum2)
        sum += sum2 * (1.0 / float(PIXELS2));
    }
    return sum;
}

void pool(uint image)
{
    uint local = gl_LocalInvocationID.x, size = gl_WorkGroupSize.x;
    for (uint i = local; i < IN_PACKS * TEAMS; i += size)
        partial[i] = share_of(image, i / TEAMS, i % TEAMS);
    for (uint step = TEAMS / 2; step > 0; step /= 2) {
        barrier();
        for (uint i = local; i < IN_PACKS * step; i += size) {
            uint at = i / step * TEAMS + i % step;
            partial[at] += partial[at + step];
        }
    }
    barrier();
    for (uint group = local; group < IN_PACKS; group += size) {
        vec4 sum = partial[group * TEAMS];
        mean[group * 4 + 0] = sum.x;
        mean[group * 4 + 1] = sum.y;
        mean[group * 4 + 2] = sum.z;
        mean[group * 4 + 3] = sum.w;
    }
    barrier();
}

float piece1(uint from, uint end, uint o)
{
    float sum = 0.0;
    [[unroll]] for (uint j = 0; j < PIECE1; j++)
        if (from + j < end)
            sum += mean[from + j] * w1[(from + j) * MIDDLE + o];
    return sum;
}

void first_layer()
{
    uint local = gl_LocalInvocationID.x, size = gl_WorkGroupSize.x;
    for (uint n = local; n < MIDDLE * TEAMS1; n += size) {
        uint o = n % MIDDLE, from = n / MIDDLE * SHARE1, end = min(from + SHARE1, IN);
        float sum = 0.0;
        if (SHARE1 == PIECE1)
            sum = piece1(from, end, o);
        else
            [[dont_unroll]] for (uint i = from; i < end; i += PIECE1)
                sum += piece1(i, end, o);
        partial1[n] = sum;
    }
    barrier();
    for (uint o = local; o < MIDDLE; o += size) {
        float sum = w1[IN * MIDDLE + o];
        for (uint i = 0; i < TEAMS1; i++)
            sum += partial1[i * MIDDLE + o];
        hidden[o] = activate(ACTIVATION1, vec4(sum)).x;
    }
    barrier();
}

vec4 piece2(uint from, uint end, uint o)
{
    vec4 sum = vec4(0.0);
    [[unroll]] for (uint j = 0; j < PIECE2; j++)
        if (from + j < end)
            sum += (MIDDLE != 0 ? hidden[from + j] : mean[from + j]) * w2[(from + j) * OUT_PACKS + o];
    return sum;
}

void second_layer(uint image)
{
    uint local = gl_LocalInvocationID.x, size = gl_WorkGroupSize.x;
    for (uint n = local; n < OUT_PACKS * TEAMS2; n += size) {
        uint o = n % OUT_PACKS, from = n / OUT_PACKS * SHARE2, end = min(from + SHARE2, INNER);
        vec4 sum = vec4(0.0);
        if (SHARE2 == PIECE2)
            sum = piece2(from, end, o);
        else
            [[dont_unroll]] for (uint i = from; i < end; i += PIECE2)
                sum += piece2(i, end, o);
        partial2[n] = sum;
    }
    barrier();
    for (uint o = local; o < OUT_PACKS; o += size) {
        vec4 sum = w2[INNER * OUT_PACKS + o];
        for (uint i = 0; i < TEAMS2; i++)
            sum += partial2[i * OUT_PACKS + o];
        result[image * OUT_PACKS + o] =
            pack(filled_up(activate(ACTIVATION2, sum), o == OUT_PACKS - 1, LAST_CHANNELS));
    }
}

void main()
{
    pool(gl_WorkGroupID.x);
    if (MIDDLE != 0)
        first_layer();
    second_layer(gl_WorkGroupID.x);
}
