/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Frames that are not what the caps say. When something before the element
 * switches (input-selector, from one source to another), a frame of the old
 * source may slip in behind the caps of the new one, or the new source's caps
 * may get lost until the next switch. Such frames are dropped; a long run of
 * them is an error. */
#ifndef GST_TDL_MISFIT_H
#define GST_TDL_MISFIT_H

#include "caps/gsttdlcaps.h"

/* Misfits in a row that are no slip any more: ten seconds of a usual camera. */
#define GST_TDL_MISFITS_MAX 300

struct gst_tdl_misfits { /* zero: since the last start */
    guint64 count;
    guint run;       /* since the last frame that fitted */
    gboolean fitted; /* one has */
};

enum gst_tdl_misfit_verdict { GST_TDL_TAKE, GST_TDL_DROP, GST_TDL_REFUSE };

/* Pure: whether the buffer's GstVideoMeta, if it has one, is of the caps'
 * picture: the same samples, of its size or padded, or with a crop that says
 * which part of a larger one it is. */
gboolean gst_tdl_misfit_meta_fits(const struct gst_tdl_video *video, GstBuffer *buffer);

/* The verdict on a frame. REFUSE comes with an `error`: nothing but misfits since the
 * start, or too many in a row. DROP comes with one the first time, to be posted as a
 * warning. */
enum gst_tdl_misfit_verdict gst_tdl_misfits_judge(struct gst_tdl_misfits *misfits,
                                                  const struct gst_tdl_video *video,
                                                  GstBuffer *buffer, GError **error);

#endif
