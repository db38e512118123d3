/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One object from frame to frame, by operators on the device. The prompt says where it is in the
 * first frame, and the mask of the last run in those behind. The graph has the prompt as an input,
 * and the last mask as a state, zeros of which say that there was none: then the prompt counts. An
 * object that is lost keeps its mask there, and is sought where it was seen last. All functions
 * run while a model is read, by one thread.
 */
#ifndef GST_TDL_FOLLOW_H
#define GST_TDL_FOLLOW_H

#include "gsttdlobjects.h"

/* Inputs of a graph that follows: points [room, 3] float32 as struct gst_tdl_point has them, but
 * in shares of the model's picture; and the state, whose output is the third. */
#define GST_TDL_PROMPT "tdl-prompt"
#define GST_TDL_LAST "tdl-last"
#define GST_TDL_FOLLOWED "tdl-followed"

struct gst_tdl_follow {
    struct tdl_builder *builder;
    guint room, height, width;   /* points; px of the state */
    struct tdl_operand *prompt;  /* [room, 3] */
    struct tdl_operand *last;    /* [1, height, width], above 0 where the object was */
    struct tdl_operand *tracked; /* [1, 1] uint8: the last mask counts */
};

/* Adds both inputs. Once for a builder; `sources` has a prompt. */
void gst_tdl_follow_begin(struct gst_tdl_follow *follow, struct tdl_builder *builder,
                          const struct gst_tdl_sources *sources, guint height, guint width);
/* [room, 1]: x, y or label of the points. */
struct tdl_operand *gst_tdl_follow_column(const struct gst_tdl_follow *follow, guint column);
/* Two of [1, 1]: first and last place of the last mask's box along a side, in shares of it. */
void gst_tdl_follow_box(const struct gst_tdl_follow *follow, gboolean vertical,
                        struct tdl_operand *out_ends[2]);
/* Makes a mask of `height` × `width` elements the state, where `found`, uint8 [1, 1], holds. */
void gst_tdl_follow_keep(const struct gst_tdl_follow *follow, struct tdl_operand *mask,
                         struct tdl_operand *found);

/* One mask [1, h · w] of objects' [N, h · w], probabilities or logits. Without a prompt, the
 * largest at each pixel; with one, that of the object which it means, or else of none. */
struct tdl_operand *gst_tdl_follow_unite(const struct gst_tdl_objects *objects,
                                         struct tdl_operand *masks, guint h, guint w,
                                         gboolean logits);

#endif
