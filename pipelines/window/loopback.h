/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Virtual cameras: devices of v4l2loopback, which other programs see as cameras. */
#ifndef WINDOW_LOOPBACK_H
#define WINDOW_LOOPBACK_H

#include <glib.h>

/* Their paths, ended by NULL. g_strfreev. */
GStrv loopback_list(void);

#endif
