/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Results of the network as GStreamer's standard metadata on frames (GstAnalyticsRelationMeta). The
 * mask is composed in the frame's own batch, at the frame's size, from the mask that the frame is
 * composed with: readers see what viewers see. Classes cannot be interpolated and keep the
 * network's size. Mapping the memory waits for the device, so a frame travels on at once, and
 * nothing is read back without a reader.
 */
#ifndef GST_TDL_META_H
#define GST_TDL_META_H

#include "gsttdlsession.h"

/* Streaming thread. Zero-initialise. */
struct gst_tdl_meta {
    struct gst_tdl_video video; /* format of the labels, */
    GstBufferPool *labels;      /* … whose pool is NULL before the first */
    guint size[2];              /* width and height of the tensors */
    GstBufferPool *tensors;
    GstBuffer *last;    /* tensor, of the mask that frames wear; NULL: none */
    GPtrArray *outputs; /* GstBufferPool of each of the model's outputs; NULL before the first */
    GstBufferList *last_outputs; /* of the run that frames wear; NULL: none */
    guint classes_size[2];
    GstBufferPool *classes;
    GQuark names[GST_TDL_MAX_COLORS]; /* names of the classes */
};

/* FALSE with `error`: this build has no such metadata, and the settings want some. Any thread. */
gboolean gst_tdl_meta_check(const struct gst_tdl_live *live, GError **error);
/* Give the memory back. */
void gst_tdl_meta_stop(struct gst_tdl_meta *meta);
/* TRUE if the settings want metadata and the element can make it. */
gboolean gst_tdl_meta_wanted(const struct gst_tdl_live *live);

/* The names of classes from the first one on; those that have none, or an empty one, are
 * called by their number. `names` may be NULL. */
void gst_tdl_meta_name(struct gst_tdl_meta *meta, const gchar *const *names);

/* A frame that passes, with room for metadata while the device reads the input: another
 * buffer of the same memory, which keeps the first from its pool. */
GstBuffer *gst_tdl_meta_copy(GstBuffer *input);

/* Into `masks` what of the settings' wishes is to be filled for a frame of `in`, or `error`. */
void gst_tdl_meta_begin(struct gst_tdl_meta *meta, struct gst_tdl_session *session,
                        const struct gst_tdl_live *live, const struct gst_tdl_video *in,
                        struct gst_tdl_masks *masks, GError **error);
/* The batch is submitted: attaches the metadata to `frame`, which is writable; the picture of `in`
 * lies at `place` in it. Takes the buffers out of `masks`. */
void gst_tdl_meta_end(struct gst_tdl_meta *meta, const struct gst_tdl_session *session,
                      const struct gst_tdl_live *live, struct gst_tdl_masks *masks,
                      GstBuffer *frame, const struct gst_tdl_rect *place);

/* ------------------------------------------------- of GStreamer 1.26, or without it */

extern const gboolean gst_tdl_analytics_built;
/* The region ids 0 to `count` - 1 have these names. Takes `mask`, which has a GstVideoMeta. */
void gst_tdl_analytics_attach(GstBuffer *frame, GstBuffer *mask, const struct gst_tdl_rect *place,
                              const GQuark *names, guint count);
/* Gives `frame`, a copy of `input`, its tensors, which copying loses before GStreamer 1.28. */
void gst_tdl_analytics_keep_tensors(const GstBuffer *input, GstBuffer *frame);
/* Puts the places of objects into `rect`, which may have some. */
void gst_tdl_analytics_regions(GstBuffer *frame, struct gst_tdl_rect *rect);
/* The field "tensors" of caps for frames with these: a structure of one group, which is the
 * caller's. NULL: there are none, or GStreamer (before 1.28) has no such caps. */
GstStructure *gst_tdl_analytics_groups(const struct gst_tdl_tensors *model);
/* Attaches tensors as one GstTensorMeta: all of `model`, whose data are in its order, and the mask,
 * float32 [1, height, width, 1]. Either may be NULL. Refers to the data. */
void gst_tdl_analytics_attach_tensors(GstBuffer *frame, const struct gst_tdl_tensors *model,
                                      GstBufferList *data, GstBuffer *mask, const guint size[2]);

#endif
