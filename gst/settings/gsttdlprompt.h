/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The property "prompt": which object of the picture is meant, by points and a box. Pure. */
#ifndef GST_TDL_PROMPT_H
#define GST_TDL_PROMPT_H

#include <gst/gst.h>

#define GST_TDL_MAX_POINTS 16 /* of a prompt, a box's corners among them */

/* What a point says, in the numbers of Segment Anything (Kirillov et al. 2023). */
enum gst_tdl_point_label {
    GST_TDL_POINT_NONE = -1, /* nothing: it fills the list up */
    GST_TDL_POINT_BACKGROUND = 0,
    GST_TDL_POINT_FOREGROUND = 1,
    GST_TDL_POINT_BOX_FIRST = 2, /* left and top */
    GST_TDL_POINT_BOX_LAST = 3,  /* right and bottom */
};

struct gst_tdl_point {
    gfloat x, y, label; /* shares of the frame's width and height; enum gst_tdl_point_label */
};

/* Plain values. */
struct gst_tdl_prompt {
    guint serial; /* of the prompts that were set: what is set anew is sought anew */
    guint count;  /* 0: nothing is asked for */
    struct gst_tdl_point points[GST_TDL_MAX_POINTS];
};

/* "point 0.5,0.4", "background 0.1,0.9" and "box 0.2,0.1,0.8,0.9", one behind the other, with
 * spaces or semicolons between. The serial is left alone, and with FALSE, which comes with
 * `error`, the rest, too. An empty text is no prompt. */
gboolean gst_tdl_prompt_parse(const gchar *text, struct gst_tdl_prompt *out, GError **error);
/* Points that a network is to have room for, so that others that are set later find it: 0, 2, 4, 8
 * or 16. */
guint gst_tdl_prompt_room(const struct gst_tdl_prompt *prompt);

#endif
