/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef GST_TDL_FILTER_H
#define GST_TDL_FILTER_H

#include "gsttdlelement.h"

G_BEGIN_DECLS

#define GST_TYPE_TDL_FILTER (gst_tdl_filter_get_type())
G_DECLARE_FINAL_TYPE(GstTdlFilter, gst_tdl_filter, GST, TDL_FILTER, GstTdlElement)

GST_ELEMENT_REGISTER_DECLARE(tdlfilter)

G_END_DECLS

#endif
