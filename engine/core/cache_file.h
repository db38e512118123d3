/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files that may be thrown away at any time. */
#ifndef TDL_CACHE_FILE_H
#define TDL_CACHE_FILE_H

#include "core.h"
#include "map.h"

/* A header and data as one file, all of it or nothing. Blocking. */
enum tdl_result tdl_cache_write(struct tdl_context *ctx, const char *path, const void *header,
                                size_t header_size, const void *data, size_t size);

#endif
