// SPDX-License-Identifier: LGPL-2.1-or-later
// With MEANS, a kernel also writes means of what each of its workgroups makes, for who
// wants the mean of all pixels. Sums are added in a fixed order. Behind the workgroup's
// size, MEANS, OUT_PACKS, and MEANS_PACKS, the packs that a workgroup makes, of which the
// first MEANS_WRITERS invocations write pixels.
layout(std430, set = 0, binding = 6) writeonly buffer Means { PACK means[]; };
shared vec4 partial[MEANS != 0 ? gl_WorkGroupSize.x * MEANS_PACKS : 1];
vec4 total[MEANS_PACKS]; // sums of the values that this invocation wrote

// The writers are so many that each of a team adds up EACH.
const uint MEANS_TEAM = MEANS_WRITERS >= 16 ? 16 : 1;
const uint MEANS_EACH = (MEANS_WRITERS + MEANS_TEAM - 1) / MEANS_TEAM;

// The part in the mean of all `pixels`, times the number of parts.
void write_means(uint parts, uint pixels)
{
    uint local = gl_LocalInvocationID.x, size = gl_WorkGroupSize.x;
    [[unroll]] for (uint g = 0; g < MEANS_PACKS; g++)
        partial[g * size + local] = total[g];
    barrier();
    [[unroll]] for (uint g = 0; g < MEANS_PACKS; g++)
        if (local < MEANS_TEAM) {
            vec4 v = total[g];
            [[unroll]] for (uint i = 1; i < MEANS_EACH; i++)
                if (local + i * MEANS_TEAM < MEANS_WRITERS)
                    v += partial[g * size + local + i * MEANS_TEAM];
            partial[g * size + local] = v;
        }
    barrier();
    uint pack_index = gl_WorkGroupID.y * MEANS_PACKS + local;
    if (local < MEANS_PACKS && pack_index < OUT_PACKS) {
        vec4 v = vec4(0.0);
        [[unroll]] for (uint i = 0; i < MEANS_TEAM; i++)
            v += partial[local * size + i];
        uint plane = gl_WorkGroupID.z * OUT_PACKS + pack_index;
        means[plane * parts + gl_WorkGroupID.x] = pack(v * (float(parts) / float(pixels)));
    }
}
