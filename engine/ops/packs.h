/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A packed value as an array of packs, [n][packs of channels][h][w]. */
#ifndef TDL_PACKS_H
#define TDL_PACKS_H

#include "ops.h"

enum { TDL_PACK_N = 0, TDL_PACK_C, TDL_PACK_H, TDL_PACK_W };

/* The place of dimension `axis` of a rank-4 shape among them. */
static inline uint32_t tdl_pack_axis(enum tdl_layout layout, uint32_t axis)
{
    static const uint32_t nhwc[] = {TDL_PACK_N, TDL_PACK_H, TDL_PACK_W, TDL_PACK_C};
    return layout == TDL_LAYOUT_NCHW ? axis : nhwc[axis];
}

#endif
