/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TDL_RUN_NPY_H
#define TDL_RUN_NPY_H

#include <tdl/tdl.h>

/* The file's dimensions, of which there is room for `capacity`; how many it has. 0 where it cannot
 * be read, or has more: run_read_npy() says why. */
uint32_t run_npy_shape(const char *path, uint32_t *shape, uint32_t capacity);
/* As run_read() and run_write() in run_files.h. */
void *run_read_npy(const char *path, const struct tdl_tensor_params *params);
int run_write_npy(const char *path, const struct tdl_tensor_params *params, const void *data);

#endif
