/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pictures as the loops over their rows see them. */
#ifndef TDL_CPU_PICTURE_H
#define TDL_CPU_PICTURE_H

#include "frame/format.h"

/* A frame in the host's memory. */
struct tdl_cpu_picture {
    uint8_t *plane[TDL_MAX_PLANES];
    size_t stride[TDL_MAX_PLANES];
    int32_t width, height;
    uint32_t traits;              /* bits of enum tdl_format_trait */
    uint32_t shift, bits;         /* for samples of 16 bits: the lowest, and all that count */
    float max, neutral;           /* codes: the greatest, and chroma's of grey */
    struct tdl_component part[4]; /* as tdl_format_component() */
    uint32_t planes;
    struct { /* bytes for 1 << shift_x columns, in rows for 1 << shift_y */
        uint32_t step, shift_x, shift_y;
    } layout[TDL_MAX_PLANES];
};

static inline bool tdl_cpu_picture_has(const struct tdl_cpu_picture *p, uint32_t traits)
{
    return (p->traits & traits) != 0;
}
/* Samples of chroma, across and down. */
static inline int32_t tdl_cpu_chroma_width(const struct tdl_cpu_picture *p)
{
    return (p->width + (1 << p->part[1].shift_x) - 1) >> p->part[1].shift_x;
}
static inline int32_t tdl_cpu_chroma_height(const struct tdl_cpu_picture *p)
{
    return (p->height + (1 << p->part[1].shift_y) - 1) >> p->part[1].shift_y;
}

#endif
