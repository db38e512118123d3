// SPDX-License-Identifier: LGPL-2.1-or-later
// The gate of a squeeze-and-excite block in a kernel that multiplies by it: each
// workgroup computes it anew, from means of parts of one or two tensors, by one or two
// fully connected layers. Sums are added in a fixed order. Behind common/storage.glsl,
// common/activation.glsl and the workgroup's size.
layout(constant_id = 3) const uint GATE_PACKS = 0; // packs of the first tensor; 0: read the gate
layout(constant_id = 4) const uint GATE_PARTS = 1; // values that make each mean of the first tensor
layout(constant_id = 5) const uint GATE_PACKS2 = 0; // packs of the second tensor, or 0
layout(constant_id = 6) const uint GATE_PARTS2 = 1;
layout(constant_id = 7) const uint GATE_MIDDLE = 0; // packs between two layers; 0: one layer
layout(constant_id = 8) const uint GATE_OUT = 1;
layout(constant_id = 9) const uint GATE_ACTIVATION1 = 0;
layout(constant_id = 10) const uint GATE_ACTIVATION2 = 0;

// The gate, or the first tensor.
layout(std430, set = 0, binding = 2) readonly buffer Gate { PACK gate[]; };
// The first GATE_WEIGHTS are the gate's, of each layer: [channel read][pack], then the bias.
// Those of the including kernel follow.
layout(std430, set = 0, binding = 1) readonly buffer Weights { vec4 weights[]; };
layout(std430, set = 0, binding = 7) readonly buffer Gate2 { PACK gate2[]; };

const bool GATE_INSIDE = GATE_PACKS != 0;
const uint GATE_READ = GATE_PACKS + GATE_PACKS2;
const uint GATE_SIZE = gl_WorkGroupSize.x;
const uint GATE_OUT1 = GATE_MIDDLE != 0 ? GATE_MIDDLE : 1;
const uint GATE_INNER = GATE_MIDDLE != 0 ? GATE_MIDDLE : GATE_READ;
// Invocations that share a mean, and an output of each layer: up to 16, of whom each has
// something to add; and packs that each takes.
#define GATE_LEAST(a, b) ((a) < (b) ? (a) : (b))
#define GATE_TEAM(results, work) \
    (GATE_SIZE >= 2 * (results) ? GATE_LEAST(GATE_LEAST(GATE_SIZE / (results), work), 16) : 1)
const uint GATE_VALUES = GATE_PARTS > GATE_PARTS2 ? GATE_PARTS : GATE_PARTS2;
const uint GATE_TEAM0 = GATE_INSIDE ? GATE_TEAM(GATE_READ, GATE_VALUES) : 1;
const uint GATE_TEAM1 = GATE_INSIDE ? GATE_TEAM(GATE_OUT1, GATE_READ) : 1;
const uint GATE_TEAM2 = GATE_INSIDE ? GATE_TEAM(GATE_OUT, GATE_INNER) : 1;
const uint GATE_SHARE1 = (GATE_READ + GATE_TEAM1 - 1) / GATE_TEAM1;
const uint GATE_SHARE2 = (GATE_INNER + GATE_TEAM2 - 1) / GATE_TEAM2;
// How much of a share is unrolled.
const uint GATE_PIECE1 = GATE_LEAST(GATE_SHARE1, 8);
const uint GATE_PIECE2 = GATE_LEAST(GATE_SHARE2, 8);
const uint GATE_LAYER2 = GATE_MIDDLE != 0 ? (GATE_READ * 4 + 1) * GATE_MIDDLE : 0;
const uint GATE_BOTH = GATE_LAYER2 + (GATE_INNER * 4 + 1) * GATE_OUT;
const uint GATE_WEIGHTS = GATE_INSIDE ? GATE_BOTH : 0;

const uint GATE_MOST1 = GATE_READ > GATE_OUT1 ? GATE_READ : GATE_OUT1;
const uint GATE_MOST2 = GATE_SIZE > GATE_OUT ? GATE_SIZE : GATE_OUT;
const uint GATE_MOST = GATE_MOST1 > GATE_MOST2 ? GATE_MOST1 : GATE_MOST2;
shared vec4 gate_partial[GATE_INSIDE ? GATE_MOST : 1];
shared vec4 gate_mean[GATE_INSIDE ? GATE_READ : 1];
shared vec4 gate_hidden[GATE_OUT1];
shared vec4 gate_value[GATE_INSIDE ? GATE_OUT : 1];

// Sums the share of member `member` of a team: every team-th of `parts` values from `base` on.
// Pieces of 8 keep as many loads in flight.
#define GATE_SUM(tensor, base, parts, member, sum)                                             \
    [[dont_unroll]] for (uint i = member; i < parts; i += GATE_TEAM0 * 8) {                    \
        vec4 piece[8];                                                                         \
        [[unroll]] for (uint j = 0; j < 8; j++)                                                \
            piece[j] = unpack(tensor[base + min(i + j * GATE_TEAM0, parts - 1)]);              \
        [[unroll]] for (uint j = 0; j < 8; j++)                                                \
            sum += i + j * GATE_TEAM0 < parts ? piece[j] : vec4(0.0);                          \
    }

void gate_means(uint image)
{
    uint local = gl_LocalInvocationID.x;
    for (uint n = local; n < GATE_READ * GATE_TEAM0; n += GATE_SIZE) {
        uint k = n / GATE_TEAM0, member = n % GATE_TEAM0;
        vec4 sum = vec4(0.0);
        if (k < GATE_PACKS) {
            uint base = (image * GATE_PACKS + k) * GATE_PARTS;
            GATE_SUM(gate, base, GATE_PARTS, member, sum)
            sum *= 1.0 / float(GATE_PARTS);
        } else {
            uint base = (image * GATE_PACKS2 + k - GATE_PACKS) * GATE_PARTS2;
            GATE_SUM(gate2, base, GATE_PARTS2, member, sum)
            sum *= 1.0 / float(GATE_PARTS2);
        }
        gate_partial[n] = sum;
    }
    barrier();
    for (uint k = local; k < GATE_READ; k += GATE_SIZE) {
        vec4 sum = vec4(0.0);
        [[unroll]] for (uint i = 0; i < GATE_TEAM0; i++)
            sum += gate_partial[k * GATE_TEAM0 + i];
        gate_mean[k] = sum;
    }
    barrier();
}

// Product of one pack with the weights of output pack `o` of a layer from `base` on.
vec4 gate_product(vec4 v, uint base, uint k, uint packs, uint o)
{
    uint at = base + k * 4 * packs + o;
    vec4 sum = v.x * weights[at];
    sum = fma(v.yyyy, weights[at + packs], sum);
    sum = fma(v.zzzz, weights[at + 2 * packs], sum);
    return fma(v.wwww, weights[at + 3 * packs], sum);
}

#define GATE_LAYER(source, count, base, packs, team, share, piece, activation, target)         \
    for (uint n = local; n < packs * team; n += GATE_SIZE) {                                   \
        uint o = n % packs, from = n / packs * share;                                          \
        vec4 sum = vec4(0.0);                                                                  \
        for (uint i = 0; i < share; i += piece)                                                \
            [[unroll]] for (uint j = 0; j < piece; j++)                                        \
                if (i + j < share && from + i + j < count)                                     \
                    sum += gate_product(source[from + i + j], base, from + i + j, packs, o);   \
        gate_partial[n] = sum;                                                                 \
    }                                                                                          \
    barrier();                                                                                 \
    for (uint o = local; o < packs; o += GATE_SIZE) {                                          \
        vec4 sum = weights[base + count * 4 * packs + o];                                      \
        [[unroll]] for (uint i = 0; i < team; i++)                                                     \
            sum += gate_partial[i * packs + o];                                                \
        target[o] = activate(activation, sum);                                                 \
    }                                                                                          \
    barrier();

// A team that finishes in one turn reads its weights early, before it waits for the means.
const uint GATE_HELD1 = GATE_LEAST(GATE_SHARE1, 4);
const uint GATE_HELD2 = GATE_LEAST(GATE_SHARE2, 4);
vec4 gate_ahead1[GATE_HELD1 * 4 + 1];
vec4 gate_ahead2[GATE_HELD2 * 4 + 1];
bool gate_is_quick()
{
    return GATE_SHARE1 == GATE_HELD1 && GATE_SHARE2 == GATE_HELD2 &&
           GATE_OUT1 * GATE_TEAM1 <= GATE_SIZE && GATE_OUT * GATE_TEAM2 <= GATE_SIZE;
}

#define GATE_READ_AHEAD(count, base, packs, share, ahead)                                      \
    {                                                                                          \
        uint o = local % packs, from = local / packs * share * 4;                              \
        [[unroll]] for (uint j = 0; j < share * 4; j++)                                        \
            ahead[j] = weights[base + min(from + j, count * 4 - 1) * packs + o];               \
        ahead[share * 4] = weights[base + count * 4 * packs + o];                              \
    }

#define GATE_QUICK_LAYER(source, count, packs, team, share, ahead, activation, target)         \
    {                                                                                          \
        uint from = local / packs * share;                                                     \
        vec4 sum = vec4(0.0);                                                                  \
        [[unroll]] for (uint j = 0; j < share; j++)                                            \
            if (from + j < count) {                                                            \
                vec4 v = source[from + j];                                                     \
                sum = fma(v.xxxx, ahead[j * 4], sum);                                          \
                sum = fma(v.yyyy, ahead[j * 4 + 1], sum);                                      \
                sum = fma(v.zzzz, ahead[j * 4 + 2], sum);                                      \
                sum = fma(v.wwww, ahead[j * 4 + 3], sum);                                      \
            }                                                                                  \
        if (local < packs * team)                                                              \
            gate_partial[local] = sum;                                                         \
    }                                                                                          \
    barrier();                                                                                 \
    if (local < packs) {                                                                       \
        vec4 sum = ahead[share * 4];                                                           \
        [[unroll]] for (uint i = 0; i < team; i++)                                             \
            sum += gate_partial[i * packs + local];                                            \
        target[local] = activate(activation, sum);                                             \
    }                                                                                          \
    barrier();

void gate_compute_quick(uint image)
{
    uint local = gl_LocalInvocationID.x;
    if (GATE_MIDDLE != 0)
        GATE_READ_AHEAD(GATE_READ, 0, GATE_OUT1, GATE_HELD1, gate_ahead1)
    GATE_READ_AHEAD(GATE_INNER, GATE_LAYER2, GATE_OUT, GATE_HELD2, gate_ahead2)
    gate_means(image);
    if (GATE_MIDDLE != 0) {
        GATE_QUICK_LAYER(gate_mean, GATE_READ, GATE_OUT1, GATE_TEAM1, GATE_HELD1, gate_ahead1,
                         GATE_ACTIVATION1, gate_hidden)
        GATE_QUICK_LAYER(gate_hidden, GATE_INNER, GATE_OUT, GATE_TEAM2, GATE_HELD2, gate_ahead2,
                         GATE_ACTIVATION2, gate_value)
    } else {
        GATE_QUICK_LAYER(gate_mean, GATE_INNER, GATE_OUT, GATE_TEAM2, GATE_HELD2, gate_ahead2,
                         GATE_ACTIVATION2, gate_value)
    }
}

// Fills gate_value; all invocations of the workgroup come here.
void gate_compute(uint image)
{
    uint local = gl_LocalInvocationID.x;
    if (gate_is_quick()) {
        gate_compute_quick(image);
        return;
    }
    gate_means(image);
    if (GATE_MIDDLE != 0) {
        GATE_LAYER(gate_mean, GATE_READ, 0, GATE_OUT1, GATE_TEAM1, GATE_SHARE1, GATE_PIECE1,
                   GATE_ACTIVATION1, gate_hidden)
        GATE_LAYER(gate_hidden, GATE_INNER, GATE_LAYER2, GATE_OUT, GATE_TEAM2, GATE_SHARE2,
                   GATE_PIECE2, GATE_ACTIVATION2, gate_value)
    } else {
        GATE_LAYER(gate_mean, GATE_INNER, GATE_LAYER2, GATE_OUT, GATE_TEAM2, GATE_SHARE2,
                   GATE_PIECE2, GATE_ACTIVATION2, gate_value)
    }
}

// Pack `k` of what to multiply by.
vec4 gate_of(uint image, uint k)
{
    return GATE_INSIDE ? gate_value[k] : unpack(gate[image * GATE_OUT + k]);
}
