// SPDX-License-Identifier: LGPL-2.1-or-later
#version 430
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// The second step: the parts' means and squared distances joined, in a fixed
// order, as Chan, Golub and LeVeque do (Updating Formulae and a Pairwise
// Algorithm for Computing Sample Variances, 1979), into factor and offset of
// each channel: x · a + b is what normalize_apply.comp computes. ALL joins the
// channels of an image, too; a workgroup an image then, else an invocation a
// pack.
#include "common/storage.glsl"

layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(constant_id = 3) const uint PIXELS = 1;
layout(constant_id = 4) const uint PACKS = 1;
layout(constant_id = 5) const uint PARTS = 1;
layout(constant_id = 6) const uint CHUNK = 1;
layout(constant_id = 7) const uint CHANNELS = 1;
layout(constant_id = 8) const uint ALL = 0;
layout(constant_id = 9) const uint AFFINE = 0; // scale and bias of channels are given
layout(constant_id = 10) const float EPSILON = 1e-5;

layout(std430, set = 0, binding = 0) readonly buffer Stats { vec4 stats[]; };
layout(std430, set = 0, binding = 1) readonly buffer Affine { vec4 affine[]; }; // scale, bias
layout(std430, set = 0, binding = 2) writeonly buffer Out { vec4 result[]; };

shared vec4 partial[gl_WorkGroupSize.x]; // mean, squares, count

struct moments {
    vec4 mean, squares;
    float count;
};

void join(inout moments m, vec4 mean, vec4 squares, float count)
{
    float both = m.count + count;
    vec4 d = mean - m.mean;
    m.mean += d * (count / both);
    m.squares += squares + d * d * (m.count * count / both);
    m.count = both;
}

moments plane_moments(uint plane)
{
    moments m = moments(stats[plane * PARTS * 2], stats[plane * PARTS * 2 + 1],
                        float(min(CHUNK, PIXELS)));
    [[dont_unroll]] for (uint part = 1; part < PARTS; part++)
        join(m, stats[(plane * PARTS + part) * 2], stats[(plane * PARTS + part) * 2 + 1],
             float(min(CHUNK, PIXELS - part * CHUNK)));
    return m;
}

// Mean, squares, count of one value in x, y, z.
vec4 join_one(vec4 a, vec4 b)
{
    float both = a.z + b.z, d = b.x - a.x;
    if (both == 0.0)
        return a;
    return vec4(a.x + d * (b.z / both), a.y + b.y + d * d * (a.z * b.z / both), both, 0.0);
}

void main()
{
    uint local = gl_LocalInvocationID.x, image = gl_WorkGroupID.z;
    if (ALL == 0) {
        uint k = gl_GlobalInvocationID.x;
        if (k >= PACKS)
            return;
        moments m = plane_moments(image * PACKS + k);
        vec4 a = inversesqrt(m.squares / float(PIXELS) + EPSILON), b = vec4(0.0);
        if (AFFINE != 0) {
            a *= affine[k * 2];
            b = affine[k * 2 + 1];
        }
        result[(image * PACKS + k) * 2] = a;
        result[(image * PACKS + k) * 2 + 1] = b - m.mean * a;
        return;
    }
    vec4 all = vec4(0.0);
    [[dont_unroll]] for (uint k = local; k < PACKS; k += gl_WorkGroupSize.x) {
        moments m = plane_moments(image * PACKS + k);
        for (uint c = 0; c < 4; c++)
            if (k * 4 + c < CHANNELS)
                all = join_one(all, vec4(m.mean[c], m.squares[c], m.count, 0.0));
    }
    partial[local] = all;
    for (uint step = gl_WorkGroupSize.x / 2; step > 0; step /= 2) {
        barrier();
        if (local < step)
            partial[local] = join_one(partial[local], partial[local + step]);
    }
    barrier();
    all = partial[0];
    float a = inversesqrt(all.y / all.z + EPSILON);
    [[dont_unroll]] for (uint k = local; k < PACKS; k += gl_WorkGroupSize.x) {
        result[(image * PACKS + k) * 2] = vec4(a);
        result[(image * PACKS + k) * 2 + 1] = vec4(-all.x * a);
    }
}
