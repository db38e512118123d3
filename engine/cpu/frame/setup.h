/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From what frames are to what loops are told; all of it when work is recorded. */
#ifndef TDL_CPU_SETUP_H
#define TDL_CPU_SETUP_H

#include "kernels.h"

struct tdl_cpu_picture tdl_cpu_picture(const struct tdl_frame *frame);
/* The batch reads the frame, or writes it. */
enum tdl_result tdl_cpu_use_frame(struct tdl_batch *batch, const struct tdl_frame *frame,
                                  bool write);

/* Positions of a filter's samples, in pixels, either way: result i is at centre + i · step, its
 * triangle `support` wide to either side, and pixels low … high count. */
struct tdl_cpu_grid {
    uint32_t count[2];
    double centre[2], step[2], support[2];
    int32_t low[2], high[2];
};
/* All of a filter but its tables, which lie with other memory that the work has. */
void tdl_cpu_filter_begin(struct tdl_cpu_filter *f, const struct tdl_frame *source,
                          const struct tdl_cpu_grid *grid, bool chroma);
size_t tdl_cpu_filter_bytes(const struct tdl_cpu_filter *f);
/* Fill the tables, at `memory`; returns what follows. */
void *tdl_cpu_filter_finish(struct tdl_cpu_filter *f, void *memory);

/* Rows in as many bands as threads can be kept busy with, each with room for so many
 * floats, and its memory. */
void tdl_cpu_bands_begin(struct tdl_cpu_bands *b, const struct tdl_batch *batch, uint32_t height,
                         size_t room);
static inline size_t tdl_cpu_bands_bytes(const struct tdl_cpu_bands *b)
{
    return (size_t)b->bands * b->stride * sizeof(float);
}

/* A piece of work of `size` bytes, and `more` behind them that *out_more is set to;
 * counted as a dispatch. NULL with text. */
void *tdl_cpu_frame_add(struct tdl_batch *batch, size_t size, size_t more, void **out_more,
                        enum tdl_result (*run)(struct tdl_cpu_work *, struct tdl_cpu_threads *));

#endif
