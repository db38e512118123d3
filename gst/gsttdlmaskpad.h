/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The second source pad, mask_src: the mask that the frame is composed with, as
 * a GRAY8 picture of the frame's size and times. It is there when somebody asks
 * for it, and a frame's mask is made when it is linked: one more composition in
 * the frame's own batch, from the mask that the network has made already, into
 * memory of the neighbour's or ours.
 *
 * The pad has no data flow of its own: masks go down on the streaming thread,
 * each before its frame, and what happens on the sink pad happens here, too.
 * Behind both pads stands a queue, as behind a tee.
 *
 * Requested and released at any time, by any thread; the rest is the streaming
 * thread's.
 */
#ifndef GST_TDL_MASK_PAD_H
#define GST_TDL_MASK_PAD_H

#include "frame/gsttdlsession.h"

#include <gst/base/gstbasetransform.h>

struct gst_tdl_mask_pad {
    GstBaseTransform *base; /* borrowed: whose it is */
    /* Guarded by the object lock. */
    GstPad *pad;  /* NULL: not asked for */
    guint serial; /* counts requests of the pad */

    /* Streaming thread. */
    guint known;                              /* the request that the rest is about; 0: none */
    gboolean started, negotiated, in_segment; /* the pad has been told so */
    struct gst_tdl_video video;
    GstBufferPool *pool;
    GstFlowReturn flow; /* result of its last push */
};

void gst_tdl_mask_pad_init(struct gst_tdl_mask_pad *mask, GstBaseTransform *base);
void gst_tdl_mask_pad_finish(struct gst_tdl_mask_pad *mask);
/* Adds the pad's template to the element's class. */
void gst_tdl_mask_pad_install(GstElementClass *klass);

/* The element's virtual functions. */
GstPad *gst_tdl_mask_pad_request(struct gst_tdl_mask_pad *mask, GstPadTemplate *templ);
void gst_tdl_mask_pad_release(struct gst_tdl_mask_pad *mask, GstPad *pad);

/* The streaming has ended: give memory back, and begin anew next time. */
void gst_tdl_mask_pad_stop(struct gst_tdl_mask_pad *mask);

/* Pass an event of the sink pad's on. */
void gst_tdl_mask_pad_event(struct gst_tdl_mask_pad *mask, const struct gst_tdl_session *session,
                            GstEvent *event);

/* TRUE if the pad was requested. Any thread. */
gboolean gst_tdl_mask_pad_exists(struct gst_tdl_mask_pad *mask);

/* A buffer for the mask of a frame of `in`, with the times of `input`; NULL when
 * nobody wants one, or downstream takes none (then mask->flow says why). Tells
 * the pad first what it has not been told. */
GstBuffer *gst_tdl_mask_pad_begin(struct gst_tdl_mask_pad *mask, struct gst_tdl_session *session,
                                  const struct gst_tdl_live *live, const struct gst_tdl_video *in,
                                  GstBuffer *input, GError **error);
/* Push the composed mask; takes it. */
void gst_tdl_mask_pad_push(struct gst_tdl_mask_pad *mask, GstBuffer *buffer);

/* Flow for upstream when the source pad has returned `flow`: the stream goes on while one pad is
 * wanted, as with GstFlowCombiner. */
GstFlowReturn gst_tdl_mask_pad_combine(const struct gst_tdl_mask_pad *mask, GstFlowReturn flow);

#endif
