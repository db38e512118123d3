/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* In the place of gsttdltensordec.c, where GStreamer's analytics library is not there. */
#include "gsttdltensordec.h"

gboolean gst_tdl_tensor_dec_register(GstPlugin *plugin)
{
    (void)plugin;
    return TRUE;
}
