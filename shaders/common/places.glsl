// SPDX-License-Identifier: LGPL-2.1-or-later
// Places that tuples of indices name; struct tdl_places_spec in engine/ops/places.h says how.
#include "index.glsl"
layout(constant_id = 3) const uint INDEX_TYPE = 0;
layout(constant_id = 4) const uint RANK = 1;
layout(constant_id = 5) const uint NAMED = 1; // bits: dimensions that the tuple names
layout(constant_id = 6) const uint TUPLE = 1; // their number
layout(constant_id = 7) const uint SIZE0 = 1;
layout(constant_id = 8) const uint SIZE1 = 1;
layout(constant_id = 9) const uint SIZE2 = 1;
layout(constant_id = 10) const uint SIZE3 = 1;
layout(constant_id = 11) const uint SIZE4 = 1;
layout(constant_id = 12) const uint SIZE5 = 1;
layout(constant_id = 13) const uint SPAN0 = 1;
layout(constant_id = 14) const uint SPAN1 = 1;
layout(constant_id = 15) const uint SPAN2 = 1;
layout(constant_id = 16) const uint SPAN3 = 1;
layout(constant_id = 17) const uint SPAN4 = 1;
layout(constant_id = 18) const uint SPAN5 = 1;
layout(constant_id = 19) const uint STEP0 = 1;
layout(constant_id = 20) const uint STEP1 = 1;
layout(constant_id = 21) const uint STEP2 = 1;
layout(constant_id = 22) const uint STEP3 = 1;
layout(constant_id = 23) const uint STEP4 = 1;
layout(constant_id = 24) const uint STEP5 = 1;

uint place(uint t)
{
    uint at = 0, number = t * TUPLE;
#define PLACE(D)                                                                                   \
    if (RANK > D) {                                                                                \
        at *= SIZE##D;                                                                             \
        if ((NAMED >> D & 1) != 0)                                                                 \
            at += index_at(INDEX_TYPE, number++, SIZE##D);                                         \
        else                                                                                       \
            at += t / STEP##D % SPAN##D;                                                           \
    }
    PLACE(0)
    PLACE(1)
    PLACE(2)
    PLACE(3)
    PLACE(4)
    PLACE(5)
    return at;
}
