/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "kernels.h"

const struct tdl_cpu_frame_kernels TDL_CPU_NAME(frame_kernels) = {
    .to_tensor = TDL_CPU_NAME(to_tensor),
    .from_tensor = TDL_CPU_NAME(from_tensor),
    .guide = TDL_CPU_NAME(guide),
    .fit = TDL_CPU_NAME(fit),
    .mean = TDL_CPU_NAME(mean),
    .grow = TDL_CPU_NAME(grow),
    .picture = TDL_CPU_NAME(picture),
    .compose = TDL_CPU_NAME(compose),
    .blur_down = TDL_CPU_NAME(blur_down),
    .light_down = TDL_CPU_NAME(light_down),
    .blur_across = TDL_CPU_NAME(blur_across),
    .blur_along = TDL_CPU_NAME(blur_along),
    .foreground = TDL_CPU_NAME(foreground),
};
