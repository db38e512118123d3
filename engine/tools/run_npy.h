/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TDL_RUN_NPY_H
#define TDL_RUN_NPY_H

#include <tdl/tdl.h>

/* As run_read() and run_write() in run_files.h. */
void *run_read_npy(const char *path, const struct tdl_tensor_params *params);
int run_write_npy(const char *path, const struct tdl_tensor_params *params, const void *data);

#endif
