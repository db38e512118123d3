/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files that tdl-run reads tensors from and writes them to: NumPy arrays, pictures. */
#ifndef TDL_RUN_FILES_H
#define TDL_RUN_FILES_H

#include <tdl/tdl.h>

/* How numbers of pictures, 0 to 1, become those of a tensor: (x · (high − low) + low −
 * mean) / deviation, by channel. */
struct run_range {
    float low, high, mean[3], deviation[3];
    bool said; /* low and high; of bytes they are 0 and 255 else */
};

/* Before anything runs: can a tensor be read from, or written to, a file of this name? A
 * tool's status, after saying why not. */
int run_check_name(const char *path, bool is_output);

/* The dimensions that FILE.npy has, or height and width of FILE.png, in `shape`; how many. 0 where
 * they cannot be read: run_read() says why. */
uint32_t run_file_shape(const char *path, uint32_t shape[TDL_MAX_RANK]);
/* Whether it is a picture by its name, which is scaled to any size. */
bool run_is_picture(const char *path);
/* Elements of a tensor of these params, whose channels lie so, malloc'ed: of FILE.npy, whose
 * type and dimensions, but for those of 1, must be the same, or of FILE.png, which is scaled to
 * the tensor's size. NULL after saying why not. */
void *run_read(const char *path, const struct tdl_tensor_params *params, enum tdl_layout layout,
               const struct run_range *range);
/* The other way: any tensor as .npy; one image of one, three or four channels of floats
 * from 0 to 1 as .png. A tool's status, after saying what was wrong. */
int run_write(const char *path, const struct tdl_tensor_params *params, enum tdl_layout layout,
              const void *data);

#endif
