/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What of tdl_auto_find() needs no device to be looked at. */
#ifndef TDL_AUTO_H
#define TDL_AUTO_H

#include <tdl/tdl.h>

#include <stddef.h>

/* Is the device that "auto" takes one to be measured beside the CPU? Its index, then. `quick`:
 * the CPU has its fast loops, beside which software that runs on it has never been faster. */
bool tdl_auto_choose(const struct tdl_device_info *infos, uint32_t count, bool quick,
                     uint32_t *out_index);
/* The file of what was measured of these two, with this library. False if it has no place. */
bool tdl_auto_path(const char *folder, const struct tdl_device_info *gpu,
                   const struct tdl_device_info *cpu, uint32_t threads, char *path, size_t size);

#endif
