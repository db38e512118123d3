/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/gsttdlerror.h"
#include "gsttdlfilter.h"
#include "gsttdlinference.h"
#include "gsttdltensordec.h"

#include <gst/video/video.h>

static gboolean plugin_init(GstPlugin *plugin)
{
    gst_tdl_error_init();
    /* unixfdsrc finds metadata by the names of types, and drops what nobody in its
     * process has named yet: the first frame would lose its strides and its crop. */
    gst_video_meta_get_info();
    gst_video_crop_meta_get_info();
    /* Without metadata there is nowhere for what it finds. */
    if (gst_tdl_analytics_built && !GST_ELEMENT_REGISTER(tdlinference, plugin))
        return FALSE;
    return gst_tdl_tensor_dec_register(plugin) && GST_ELEMENT_REGISTER(tdlfilter, plugin);
}

GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, tdlfilter,
                  "Segments people in video, on the GPU with Vulkan or on the CPU", plugin_init,
                  PACKAGE_VERSION, "LGPL", GST_PACKAGE_NAME, GST_PACKAGE_ORIGIN)
