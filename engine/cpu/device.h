/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the list of devices calls of the processor's. */
#ifndef TDL_CPU_DEVICE_H
#define TDL_CPU_DEVICE_H

#include "core/device.h"

enum tdl_result tdl_cpu_context_create(const struct tdl_context_params *params,
                                       struct tdl_context **out_context);
/* It has its fast loops: XNNPACK, and that starts. */
bool tdl_cpu_is_quick(void);
void tdl_cpu_describe(struct tdl_device_info *out_info);

#endif
