/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The memory in which frames lie, on both sides of the element: what upstream is offered
 * to write into, and what downstream is given. In order of cost: downstream's own
 * dma-bufs, ours, mapped memory of our pool. The ways to give it live in export/, one a
 * file.
 */
#ifndef GST_TDL_EXPORT_H
#define GST_TDL_EXPORT_H

#include "frame/gsttdlsession.h"

/* The path of frames in memory that the CPU maps. */
extern const gchar gst_tdl_export_pool_path[];

/* Decide which pool the output comes from and put it into `query`, an answered
 * ALLOCATION query. Returns the path, or NULL with `error`. `reason` says why
 * the paths before it were not taken. */
const gchar *gst_tdl_export_decide(struct gst_tdl_session *session, GstQuery *query,
                                   const struct gst_tdl_video *out, GString *reason,
                                   GError **error);

/* Answer upstream's ALLOCATION query. `upstream`, borrowed, is the pad that
 * frames come from: whether it imports dma-bufs is read from its element. */
gboolean gst_tdl_export_propose(const struct gst_tdl_offer *offer, GstQuery *query,
                                GstPad *upstream);

#endif
