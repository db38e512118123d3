/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files that may be thrown away at any time. */
#ifndef TDL_CACHE_FILE_H
#define TDL_CACHE_FILE_H

#include "core.h"
#include "map.h"

#include <stdio.h>

/* The folder for such files, as tdl_context_params.cache_dir has it; NULL: none. The caller frees
 * it. */
char *tdl_cache_folder(const char *wanted);

/* To read, or NULL: a regular file of this user's in a folder of this user's. What lies in its
 * place may never end, or be somebody else's. Never waits. The caller closes it. */
FILE *tdl_cache_open(const char *path);

/* A header and data as one file in a folder, all of it or nothing. The context, for its log, may
 * be NULL. Blocking. */
enum tdl_result tdl_cache_write(struct tdl_context *ctx, const char *path, const void *header,
                                size_t header_size, const void *data, size_t size);

#endif
