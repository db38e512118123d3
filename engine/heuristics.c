/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "heuristics.h"

enum kind { SOFTWARE, INTEGRATED, NVIDIA, AMD, OTHER };

#define ANY_GPU                                                                                    \
    .few_dispatches = true, .busy_teams = 32768, .busy_alone = 32768, .team = 256,                 \
    .lone_group = 512, .matrix_side = 16, .dozes = true,                                           \
    .efficiency = {.pointwise = 0.4,                                                               \
                   .depthwise = 0.1,                                                               \
                   .direct = 0.5,                                                                  \
                   .direct_looped = 0.5,                                                           \
                   .grouped = 0.03,                                                                \
                   .matmul = 0.3}

static const struct tdl_heuristics heuristics[] = {
    [SOFTWARE] = {.few_invocations = true,
                  .busy_teams = 512, /* software has only the lanes of its vectors to fill */
                  .busy_alone = 64,
                  .team = 64,
                  .lone_group = 64,
                  .matrix_side = 8,
                  .compiles_in_queue = true,
                  .speed = {20, 8, 10000, 2},
                  .efficiency = {.pointwise = 0.3,
                                 .depthwise = 0.15,
                                 .direct = 0.3,
                                 .direct_looped = 0.015,
                                 .grouped = 0.004,
                                 .gemm = 0.1,
                                 .cooperative = 0.01,
                                 .matmul = 0.1}},
    [INTEGRATED] = {ANY_GPU, .read_ahead = 8, .speed = {800, 50, 3000, 16}},
    [NVIDIA] = {ANY_GPU, .read_ahead = 32, .speed = {20000, 2000, 2000, 128, 110},
                .efficiency.cooperative = 4.2},
    [AMD] = {ANY_GPU, .read_ahead = 8, .speed = {10000, 1000, 2500, 64}},
    [OTHER] = {ANY_GPU, .read_ahead = 8, .speed = {5000, 400, 3000, 32}},
};

static enum kind kind_of(const struct tdl_device_info *device)
{
    enum { VENDOR_NVIDIA = 0x10de, VENDOR_AMD = 0x1002 };
    if (device->type == TDL_DEVICE_SOFTWARE)
        return SOFTWARE;
    if (device->type == TDL_DEVICE_INTEGRATED_GPU)
        return INTEGRATED;
    if (device->vendor_id == VENDOR_NVIDIA)
        return NVIDIA;
    return device->vendor_id == VENDOR_AMD ? AMD : OTHER;
}

const struct tdl_heuristics *tdl_heuristics_of(const struct tdl_device_info *device)
{
    return &heuristics[kind_of(device)];
}
