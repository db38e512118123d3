/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files that may be thrown away at any time: one per device and build. Names
 * carry vendor, device, driver version, cache UUID and a hash of all shaders,
 * so that nothing stale is ever read.
 */
#ifndef TDL_CACHE_PATH_H
#define TDL_CACHE_PATH_H

#include "context.h"
#include "map.h"

/* "FOLDER/KIND-KEY.EXTENSION"; false if the context keeps no files. */
bool tdl_cache_path(const struct tdl_context *ctx, const char *kind, const char *extension,
                    char *path, size_t size);
#endif
