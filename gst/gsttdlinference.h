/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef GST_TDL_INFERENCE_H
#define GST_TDL_INFERENCE_H

#include "gsttdlelement.h"

G_BEGIN_DECLS

#define GST_TYPE_TDL_INFERENCE (gst_tdl_inference_get_type())
G_DECLARE_FINAL_TYPE(GstTdlInference, gst_tdl_inference, GST, TDL_INFERENCE, GstTdlElement)

GST_ELEMENT_REGISTER_DECLARE(tdlinference)

G_END_DECLS

#endif
