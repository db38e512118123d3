/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The element that decodes what no element of GStreamer does. */
#ifndef GST_TDL_TENSOR_DEC_H
#define GST_TDL_TENSOR_DEC_H

#include <gst/gst.h>

/* Registers it, where this build has GStreamer's analytics library; else does nothing. */
gboolean gst_tdl_tensor_dec_register(GstPlugin *plugin);

#endif
