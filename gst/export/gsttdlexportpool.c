/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Memory of our own that the GPU writes and the CPU maps. */
#include "gsttdlexporter.h"

#include "memory/gsttdlpool.h"

const gchar gst_tdl_export_pool_path[] = "pool";

static gboolean is_for(const struct gst_tdl_video *video)
{
    return video->memory == GST_TDL_MEMORY_SYSTEM;
}

static const gchar *export(const struct gst_tdl_export_request *request, GError **error)
{
    return gst_tdl_export_from(request, gst_tdl_pool_new(request->session->readback, NULL), error);
}

const struct gst_tdl_export_method gst_tdl_export_pool = {
    .path = gst_tdl_export_pool_path,
    .is_for = is_for,
    .export = export,
};
