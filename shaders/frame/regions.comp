#version 430
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: LGPL-2.1-or-later
// Regions of the mask, at mask resolution. A hole is a region below a level, an
// island one above another; pixels are neighbours across their sides. A row is
// cut into strips of 32 pixels, a word of bits says which of them belong, and
// of a run of such pixels the first one stands for all. Four passes make every
// region a tree of runs whose root is its first one, whatever the order of
// events:
// LABEL: bits; a run is its own root
// MERGE: runs that touch get one root
// COUNT: the root gathers what is known of the region
// CLEAN: holes and islands that should not be there go
// One invocation has one strip in every pass. Most strips have no run.
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;

#include "../common/frame_formats.glsl"

layout(constant_id = 8) const uint PASS = 0u;
const uint LABEL = 0u;
const uint MERGE = 1u;
const uint COUNT = 2u;
const uint CLEAN = 3u;

layout(push_constant) uniform Push {
    uint mask_size;
    // Holes are below the low half, islands above the high one.
    uint levels;
    // The lowest value of a hole that begins to be closed, and of one that is
    // closed wholly; both 65535 where none is.
    uint doubt;
    // Pixels below this value belong to no region, and a hole that touches one is no hole.
    uint least_value;
    uint least_area; // px: smaller regions go
    uint kind;       // 0: holes, 1: islands
} push;

layout(std430, set = 0, binding = 0) restrict buffer Pairs { uint pairs[]; };
layout(std430, set = 0, binding = 1) restrict buffer Bits { uint bits[]; };
// For a run, at its first pixel: a run of the region that is nearer to the root.
layout(std430, set = 0, binding = 2) restrict coherent buffer Labels { uint labels[]; };
// At the root's first pixel: the region's pixels, and TOUCHES; its lowest value.
layout(std430, set = 0, binding = 3) restrict coherent buffer Regions { uint regions[]; };

const uint TOUCHES = 0x80000000u; // the frame's border, or what is not looked at
const uint STRIP = 32u;

struct Strip {
    uvec2 pixel, size;
    uint at;     // the first pixel
    uint count;  // pixels
    uint word;   // index of its word in `bits`
    uint words;  // per row
};

uint value_at(uint i)
{
    return pairs[i] >> 16;
}

// The run that begins at or before bit k.
uint run_at(Strip s, uint bits_of_strip, uint k)
{
    const uint gaps = ~bits_of_strip & ((2u << k) - 1u);
    return s.at + uint(findMSB(gaps) + 1);
}

// Runs never point behind themselves, and what one points to only comes nearer
// to the root: an old value is a detour at worst.
uint root_of(uint i)
{
    uint up = labels[i];
    while (up != i) {
        i = up;
        up = labels[i];
    }
    return i;
}

void unite(uint a, uint b)
{
    a = root_of(a);
    b = root_of(b);
    while (a != b) {
        const uint low = min(a, b), high = max(a, b);
        const uint before = atomicMin(labels[high], low);
        a = low;
        b = before == high ? low : root_of(before);
    }
}

// Takes the first run off; false when there is none.
bool next_run(inout uint left, out uint first, out uint count)
{
    if (left == 0u)
        return false;
    first = uint(findLSB(left));
    const uint gaps = ~(left >> first);
    count = gaps == 0u ? 32u : uint(findLSB(gaps));
    left &= count + first == 32u ? 0u : 0xffffffffu << (first + count);
    return true;
}

void label_strip(Strip s)
{
    const uint low = push.levels & 65535u, high = push.levels >> 16;
    uint found = 0u;
    for (uint k = 0u; k < s.count; k++) {
        const uint value = value_at(s.at + k);
        const bool belongs = push.kind == 0u ? value < low && value >= push.least_value : value > high;
        found |= belongs ? 1u << k : 0u;
    }
    bits[s.word] = found;
    uint first, count;
    while (next_run(found, first, count)) {
        const uint i = s.at + first;
        labels[i] = i;
        regions[2u * i] = 0u;
        regions[2u * i + 1u] = 65535u;
    }
}

void merge_strip(Strip s)
{
    const uint here = bits[s.word];
    if (here == 0u)
        return;
    if ((here & 1u) != 0u && s.pixel.x > 0u && bits[s.word - 1u] >> 31 != 0u) {
        Strip left = s;
        left.at -= STRIP;
        unite(s.at, run_at(left, bits[s.word - 1u], 31u));
    }
    if (s.pixel.y == 0u)
        return;
    Strip above = s;
    above.at -= s.size.x;
    const uint bits_above = bits[s.word - s.words];
    uint left = here & bits_above, first, count;
    while (next_run(left, first, count))
        unite(run_at(s, here, first), run_at(above, bits_above, first));
}

bool touches(Strip s, uint k)
{
    const uvec2 p = s.pixel + uvec2(k, 0u);
    const uint i = s.at + k;
    if (any(equal(p, uvec2(0u))) || any(equal(p, s.size - 1u)))
        return true;
    return min(min(value_at(i - 1u), value_at(i + 1u)),
               min(value_at(i - s.size.x), value_at(i + s.size.x))) < push.least_value;
}

void count_strip(Strip s)
{
    uint left = bits[s.word], first, count;
    while (next_run(left, first, count)) {
        const uint root = root_of(s.at + first);
        uint lowest = 65535u;
        bool touch = false;
        for (uint k = first; k < first + count; k++) {
            lowest = min(lowest, value_at(s.at + k));
            touch = touch || touches(s, k);
        }
        atomicAdd(regions[2u * root], count);
        if (touch)
            atomicOr(regions[2u * root], TOUCHES);
        atomicMin(regions[2u * root + 1u], lowest);
    }
}

// How far the value of a region's pixels goes to what is round it.
float share_of(uint root)
{
    const uint area = regions[2u * root];
    const float from = float(push.doubt & 65535u), to = float(push.doubt >> 16);
    if ((area & ~TOUCHES) < push.least_area)
        return 1.0;
    if (push.kind == 1u || (area & TOUCHES) != 0u)
        return 0.0;
    return clamp((float(regions[2u * root + 1u]) - from) / max(to - from, 1.0), 0.0, 1.0);
}

void clean_strip(Strip s)
{
    uint left = bits[s.word], first, count;
    while (next_run(left, first, count)) {
        const float share = share_of(root_of(s.at + first));
        for (uint k = first; k < first + count && share > 0.0; k++) {
            vec2 pair = unpackUnorm2x16(pairs[s.at + k]);
            pair.y = mix(pair.y, push.kind == 0u ? 1.0 : 0.0, share);
            pairs[s.at + k] = packUnorm2x16(pair);
        }
    }
}

void main()
{
    Strip s;
    s.size = uvec2(push.mask_size & 65535u, push.mask_size >> 16);
    s.pixel = gl_GlobalInvocationID.xy * uvec2(STRIP, 1u);
    if (any(greaterThanEqual(s.pixel, s.size)))
        return;
    s.at = s.pixel.y * s.size.x + s.pixel.x;
    s.count = min(STRIP, s.size.x - s.pixel.x);
    s.words = (s.size.x + STRIP - 1u) / STRIP;
    s.word = s.pixel.y * s.words + s.pixel.x / STRIP;
    if (PASS == LABEL)
        label_strip(s);
    else if (PASS == MERGE)
        merge_strip(s);
    else if (PASS == COUNT)
        count_strip(s);
    else
        clean_strip(s);
}
