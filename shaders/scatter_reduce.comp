// SPDX-License-Identifier: LGPL-2.1-or-later
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
// scatterND, scatterElements: x with all updates of an element, in their order.
#include "common/linear.glsl"
#include "common/places.glsl"
#include "common/eltwise.glsl"
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(constant_id = 25) const uint TYPE = 0;
layout(constant_id = 26) const uint COUNT = 1;
layout(constant_id = 27) const uint INNER = 1;      // elements that lie together
layout(constant_id = 28) const uint FUNCTION = 0;   // add, mul, max or min
layout(constant_id = 29) const uint CANDIDATES = 1; // updates that may be an element's
layout(constant_id = 30) const uint STRIDE = 1;     // and how far apart they are
LINEAR_IN(0, x)
LINEAR_IN(2, updates)
LINEAR_OUT(3, result)

ELEMENT reduce(ELEMENT a, ELEMENT b)
{
#ifdef TDL_FLOAT
    return eltwise_binary(FUNCTION, vec4(a), vec4(b)).x;
#else
    return FUNCTION == F_ADD ? a + b : FUNCTION == F_MUL ? a * b
         : FUNCTION == F_MAX ? max(a, b) : min(a, b);
#endif
}

ELEMENT value(uint i)
{
    const uint mine = i / INNER;
    uint rest = mine, first = 0, count = CANDIDATES;
    ELEMENT v = x_at(TYPE, i);
    // In the dimensions that go in step, candidates stand where the element stands.
#define IN_STEP(D)                                                                                 \
    if (RANK > D) {                                                                                \
        if ((NAMED >> D & 1) == 0) {                                                               \
            first += rest % SIZE##D * STEP##D;                                                     \
            count = rest % SIZE##D < SPAN##D ? count : 0;                                          \
        }                                                                                          \
        rest /= SIZE##D;                                                                           \
    }
    IN_STEP(5)
    IN_STEP(4)
    IN_STEP(3)
    IN_STEP(2)
    IN_STEP(1)
    IN_STEP(0)
    for (uint k = 0; k < count; k++) {
        const uint t = first + k * STRIDE;
        if (place(t) == mine)
            v = reduce(v, updates_at(TYPE, t * INNER + i % INNER));
    }
    return v;
}

void main()
{
    LINEAR_MAIN(result, TYPE, COUNT, value)
}
