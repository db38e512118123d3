/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Headers that nearly every file reads: compiled once (-Db_pch=true). */
#include <gst/allocators/allocators.h>
#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>
