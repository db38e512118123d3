// SPDX-License-Identifier: LGPL-2.1-or-later
#version 430
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// A whole inverted bottleneck without a gate: conv2d 1×1, the depthwise conv2d behind it
// and the 1×1 behind that. A workgroup makes a tile of output pixels of all channels:
// what it reads lies in shared memory, and CHUNK packs of the middle after the others are
// expanded there, for the tile and its border, made narrow, and added to the output's
// sums, which invocations keep. BLOCK: the end is a convTranspose2d 2×2 of stride 2 to one
// channel, whose four taps are the channels of one pack; 2 writes plain floats, the layout
// of a mask.
#include "common/storage.glsl"
#include "common/activation.glsl"
#include "common/resample.glsl"
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
#include "common/gate.glsl"
#include "common/expand.glsl"
layout(constant_id = 19) const uint OUT_W = 1; // width of the depthwise convolution's output
layout(constant_id = 20) const uint OUT_H = 1;
layout(constant_id = 21) const uint KERNEL_W = 1;
layout(constant_id = 22) const uint KERNEL_H = 1;
layout(constant_id = 23) const uint STRIDE_W = 1;
layout(constant_id = 24) const uint STRIDE_H = 1;
layout(constant_id = 25) const uint PAD_LEFT = 0;
layout(constant_id = 26) const uint PAD_TOP = 0;
layout(constant_id = 27) const uint MIDDLE = 1; // packs, a multiple of CHUNK
layout(constant_id = 28) const uint CHUNK = 1;
layout(constant_id = 29) const uint OUT_PACKS = 1;
layout(constant_id = 30) const uint TILE_W = 1;
layout(constant_id = 31) const uint TILE_H = 1;
layout(constant_id = 32) const uint ACTIVATION1 = 0; // after the first 1×1 convolution
layout(constant_id = 33) const uint ACTIVATION2 = 0; // after the depthwise convolution
layout(constant_id = 34) const uint ACTIVATION3 = 0; // after the last 1×1 convolution
layout(constant_id = 35) const uint OWN = 0;         // add the first 1×1's to the depthwise's
layout(constant_id = 36) const uint RESIDUAL = 0;    // add a tensor to the end
layout(constant_id = 37) const uint BLOCK = 0;
layout(constant_id = 38) const uint LAST_CHANNELS = 4;
layout(constant_id = 39) const uint MEANS = 0; // also write a mean for each tile

// Weights per chunk: [channel read][pack], bias[pack], [tap][pack], bias[pack], then
// [channel][output pack]. Behind all chunks the output's biases.
layout(std430, set = 0, binding = 4) readonly buffer Residual { PACK residual[]; };
layout(std430, set = 0, binding = 5) writeonly buffer Out { PACK result[]; };
// The output where it is no packs.
layout(std430, set = 0, binding = 5) writeonly buffer Linear { vec2 pairs[]; };
layout(std430, set = 0, binding = 6) writeonly buffer Means { PACK means[]; };

const uint SPAN_W = (TILE_W - 1) * STRIDE_W + KERNEL_W;
const uint SPAN_H = (TILE_H - 1) * STRIDE_H + KERNEL_H;
const uint SPAN = SPAN_W * SPAN_H;
const uint TILE = TILE_W * TILE_H;
const uint TAPS = KERNEL_W * KERNEL_H;
const uint DEPTHWISE = (READ_PACKS * 4 + 1) * CHUNK; // offset of the depthwise weights
const uint END = DEPTHWISE + (TAPS + 1) * CHUNK;
const uint COUNT = END + CHUNK * 4 * OUT_PACKS;
const uint EACH = CHUNK % 2 == 0 ? 2 : 1; // packs for which a pixel is read once
const uint SUMS = (TILE * OUT_PACKS + gl_WorkGroupSize.x - 1) / gl_WorkGroupSize.x;

shared vec4 w[COUNT];
shared vec4 near_by[READ_PACKS * SPAN];
shared vec4 wide[CHUNK * SPAN];
shared vec4 narrow[CHUNK * TILE];
shared vec4 made[MEANS != 0 ? OUT_PACKS * TILE : 1]; // values as they are written, for their means
vec4 sum[SUMS];

bool is_inside(ivec2 at)
{
    return all(greaterThanEqual(at, ivec2(0))) && all(lessThan(at, ivec2(IN_W, IN_H)));
}

void read_input(ivec2 origin)
{
    [[dont_unroll]] for (uint i = gl_LocalInvocationID.x; i < READ_PACKS * SPAN;
                         i += gl_WorkGroupSize.x) {
        uint k = i / SPAN;
        ivec2 at = origin + ivec2(i % SPAN % SPAN_W, i % SPAN / SPAN_W);
        uint pixel = is_inside(at) ? uint(at.y) * IN_W + uint(at.x) : 0;
        bilinear near;
        if (RESAMPLED != 0)
            near = low_near(pixel);
        near_by[i] = gated(k, load(k, pixel, near));
    }
}

void multiply(inout vec4 v, vec4 a, uint n, uint step)
{
    v = fma(a.xxxx, w[n], v);
    v = fma(a.yyyy, w[n + step], v);
    v = fma(a.zzzz, w[n + 2 * step], v);
    v = fma(a.wwww, w[n + 3 * step], v);
}

// Zero outside the image, which is what the depthwise pads with.
void expand(ivec2 origin)
{
    [[dont_unroll]] for (uint i = gl_LocalInvocationID.x; i < CHUNK / EACH * SPAN;
                         i += gl_WorkGroupSize.x) {
        uint at = i % SPAN, first = i / SPAN * EACH;
        vec4 v[EACH];
        [[unroll]] for (uint c = 0; c < EACH; c++)
            v[c] = w[READ_PACKS * 4 * CHUNK + first + c];
        [[unroll]] for (uint k = 0; k < READ_PACKS; k++) {
            vec4 a = near_by[k * SPAN + at];
            [[unroll]] for (uint c = 0; c < EACH; c++)
                multiply(v[c], a, k * 4 * CHUNK + first + c, CHUNK);
        }
        bool inside = is_inside(origin + ivec2(at % SPAN_W, at / SPAN_W));
        [[unroll]] for (uint c = 0; c < EACH; c++)
            wide[(first + c) * SPAN + at] = inside ? activate(ACTIVATION1, v[c]) : vec4(0.0);
    }
}

void depthwise()
{
    [[dont_unroll]] for (uint i = gl_LocalInvocationID.x; i < CHUNK * TILE;
                         i += gl_WorkGroupSize.x) {
        uint c = i / TILE, inner = i % TILE;
        uint corner = c * SPAN + inner / TILE_W * STRIDE_H * SPAN_W + inner % TILE_W * STRIDE_W;
        vec4 v = w[DEPTHWISE + TAPS * CHUNK + c];
        [[unroll]] for (uint tap = 0; tap < TAPS; tap++)
            v = fma(wide[corner + tap / KERNEL_W * SPAN_W + tap % KERNEL_W],
                    w[DEPTHWISE + tap * CHUNK + c], v);
        v = activate(ACTIVATION2, v);
        if (OWN != 0)
            v += wide[corner + PAD_TOP * SPAN_W + PAD_LEFT];
        narrow[i] = v;
    }
}

// Adds the chunk's part to the output.
void project()
{
    [[unroll]] for (uint s = 0; s < SUMS; s++) {
        uint i = gl_LocalInvocationID.x + s * gl_WorkGroupSize.x;
        uint inner = i % TILE, o = i / TILE;
        if (o < OUT_PACKS)
            [[unroll]] for (uint c = 0; c < CHUNK; c++)
                multiply(sum[s], narrow[c * TILE + inner], END + c * 4 * OUT_PACKS + o, OUT_PACKS);
    }
}

void write_block(uvec2 at, vec4 v)
{
    uint top = (gl_WorkGroupID.z * OUT_H * 2 + at.y * 2) * OUT_W + at.x; // in pairs
    if (BLOCK == 2) {
        pairs[top] = v.xy;
        pairs[top + OUT_W] = v.zw;
    } else {
        result[top * 2] = pack(vec4(v.x, 0.0, 0.0, 0.0));
        result[top * 2 + 1] = pack(vec4(v.y, 0.0, 0.0, 0.0));
        result[(top + OUT_W) * 2] = pack(vec4(v.z, 0.0, 0.0, 0.0));
        result[(top + OUT_W) * 2 + 1] = pack(vec4(v.w, 0.0, 0.0, 0.0));
    }
}

// The end at one pixel.
void write(uint o, uvec2 at, vec4 v)
{
    uint n = ((gl_WorkGroupID.z * OUT_PACKS + o) * OUT_H + at.y) * OUT_W + at.x;
    v = filled_up(v, o == OUT_PACKS - 1, LAST_CHANNELS);
    if (RESIDUAL != 0)
        v += unpack(residual[n]);
    result[n] = pack(v);
    if (MEANS != 0)
        made[o * TILE + at.y % TILE_H * TILE_W + at.x % TILE_W] = v;
}

void write_all(uvec2 tile)
{
    [[unroll]] for (uint s = 0; s < SUMS; s++) {
        uint i = gl_LocalInvocationID.x + s * gl_WorkGroupSize.x;
        uint inner = i % TILE, o = i / TILE;
        uvec2 at = tile + uvec2(inner % TILE_W, inner / TILE_W);
        if (o >= OUT_PACKS || at.x >= OUT_W || at.y >= OUT_H)
            continue;
        vec4 v = activate(ACTIVATION3, sum[s]);
        if (BLOCK != 0)
            write_block(at, v);
        else
            write(o, at, v);
    }
}

// The tile's part in the mean of all pixels, times the number of tiles: a sum of each row,
// then of rows.
void write_means(uvec2 tile, uint tiles)
{
    uint o = gl_LocalInvocationID.x;
    uvec2 used = min(uvec2(OUT_W, OUT_H) - tile, uvec2(TILE_W, TILE_H));
    barrier();
    for (uint row = o; row < OUT_PACKS * TILE_H; row += gl_WorkGroupSize.x) {
        vec4 v = vec4(0.0);
        [[unroll]] for (uint x = 0; x < TILE_W; x++)
            if (x < used.x)
                v += made[row * TILE_W + x];
        made[row * TILE_W] = v;
    }
    barrier();
    if (o >= OUT_PACKS)
        return;
    vec4 v = vec4(0.0);
    [[unroll]] for (uint y = 0; y < TILE_H; y++)
        if (y < used.y)
            v += made[o * TILE + y * TILE_W];
    means[(gl_WorkGroupID.z * OUT_PACKS + o) * tiles + gl_WorkGroupID.x] =
        pack(v * (float(tiles) / float(OUT_W * OUT_H)));
}

void main()
{
    const uint COLUMNS = (OUT_W + TILE_W - 1) / TILE_W;
    uint local = gl_LocalInvocationID.x, size = gl_WorkGroupSize.x;
    uvec2 tile = uvec2(gl_WorkGroupID.x % COLUMNS, gl_WorkGroupID.x / COLUMNS) *
                 uvec2(TILE_W, TILE_H);
    ivec2 origin = ivec2(tile * uvec2(STRIDE_W, STRIDE_H)) - ivec2(PAD_LEFT, PAD_TOP);
    [[unroll]] for (uint s = 0; s < SUMS; s++)
        sum[s] = weights[GATE_WEIGHTS + MIDDLE / CHUNK * COUNT +
                         min((local + s * size) / TILE, OUT_PACKS - 1)];
    if (GATE_INSIDE)
        gate_compute(gl_WorkGroupID.z);
    read_input(origin);
    [[dont_unroll]] for (uint chunk = 0; chunk < MIDDLE / CHUNK; chunk++) {
        if (chunk > 0)
            barrier();
        for (uint i = local; i < COUNT; i += size)
            w[i] = weights[GATE_WEIGHTS + chunk * COUNT + i];
        barrier();
        expand(origin);
        barrier();
        depthwise();
        barrier();
        project();
    }
    write_all(tile);
    if (MEANS != 0)
        write_means(tile, COLUMNS * ((OUT_H + TILE_H - 1) / TILE_H));
}
