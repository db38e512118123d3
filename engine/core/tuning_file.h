/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The results of tdl_tune(): a text file beside the pipeline cache, named after the same key.
 * Each line names a layer and its fastest algorithm. A damaged file, or another device's, is
 * ignored; without the file, work is only slower.
 */
#ifndef TDL_TUNING_FILE_H
#define TDL_TUNING_FILE_H

#include "core.h"

/* A file of this kind by its path, whose last part is its key. NULL, or why it is ignored; without
 * a file there are no entries. Blocking. */
const char *tdl_tuning_read(const char *path, struct tdl_tuning *out_tuning);
/* Write it atomically; the context, for its log, may be NULL. Blocking. */
enum tdl_result tdl_tuning_write(struct tdl_context *ctx, const char *path,
                                 const struct tdl_tuning *tuning);

/* Read the file of the context's device, if there is one. Blocking. */
void tdl_tuning_load(struct tdl_context *ctx, struct tdl_tuning *out_tuning);
/* Write it atomically. Blocking. */
enum tdl_result tdl_tuning_save(struct tdl_context *ctx, const struct tdl_tuning *tuning);

/* A copy of what the context knows to work with. False when out of memory. Takes tuning_lock. */
bool tdl_context_copy_tuning(struct tdl_context *ctx, struct tdl_tuning *out_tuning);
/* Add to it, and write the file. Takes tuning_lock. Blocking. */
enum tdl_result tdl_context_add_tuning(struct tdl_context *ctx, const struct tdl_tuning *tuning);

#endif
