/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files that people have and libtdl does not read: what they are, and what to run. */
#ifndef TDL_MODEL_FOREIGN_H
#define TDL_MODEL_FOREIGN_H

#include <stddef.h>

/* First bytes of a file by which foreign kinds are told apart, if it has so many. */
#define TDL_FOREIGN_HEAD 96

struct tdl_foreign_kind {
    const char *what; /* "a PyTorch checkpoint" */
    const char *way;  /* a sentence without its end: how a model becomes of it */
};

/* The kind of a file by its first bytes, or else by its name (NULL: none); NULL if it is none
 * that is known. */
const struct tdl_foreign_kind *tdl_foreign_find(const void *head, size_t size, const char *path);
/* The kind by its name alone, as of folders; NULL: none. */
const struct tdl_foreign_kind *tdl_foreign_find_name(const char *path);
/* The kind of a file whose bytes could be taken for a model's that is read; else NULL. */
const struct tdl_foreign_kind *tdl_foreign_find_mistaken(const char *path);

#endif
