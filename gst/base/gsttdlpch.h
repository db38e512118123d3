/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What nearly every file reads before its own: compiled once (-Db_pch=true). */
#include <gst/allocators/allocators.h>
#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>
