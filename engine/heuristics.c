/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "heuristics.h"

enum kind {
    SOFTWARE,
    INTEGRATED,
    INTEGRATED_GCN,
    INTEGRATED_RDNA,
    INTEGRATED_INTEL,
    V3D,
    ADRENO,
    NVIDIA,
    GCN,
    RDNA,
    INTEL,
    OTHER,
};

/* 256 registers a lane and 64 KiB in four SIMDs: four subgroups on each at least. */
#define OF_GCN .read_ahead = 4, .registers = 64, .shared_each = 64
/* Twice of both for a subgroup, and spilled where one takes all. */
#define OF_RDNA .read_ahead = 8, .registers = 128, .unspilled = 144

/* 128 registers of eight lanes, of which more than these were seen to be spilled. */
#define OF_INTEL .read_ahead = 8, .registers = 80, .unspilled = 80

#define GPU_SIZES                                                                                  \
    .busy_teams = 32768, .busy_alone = 32768, .team = 256, .lone_group = 512, .matrix_side = 16,   \
    .dozes = true,                                                                                 \
    .efficiency = {.pointwise = 0.4,                                                               \
                   .depthwise = 0.1,                                                               \
                   .direct = 0.5,                                                                  \
                   .direct_looped = 0.5,                                                           \
                   .grouped = 0.03,                                                                \
                   .matmul = 0.3}

#define ANY_GPU .few_dispatches = true, GPU_SIZES

/* clang-format off */
#define INTEGRATED_SPEED {800, 50, 3000, 16}
#define V3D_SPEED {16, 4, 100000, 4}
#define AMD_SPEED {10000, 1000, 2500, 64}
#define OTHER_SPEED {5000, 400, 3000, 32}
/* clang-format on */

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
    [INTEGRATED] = {ANY_GPU, .read_ahead = 8, .speed = INTEGRATED_SPEED},
    [INTEGRATED_GCN] = {ANY_GPU, OF_GCN, .speed = INTEGRATED_SPEED},
    [INTEGRATED_RDNA] = {ANY_GPU, OF_RDNA, .speed = INTEGRATED_SPEED},
    [INTEGRATED_INTEL] = {ANY_GPU, OF_INTEL, .speed = INTEGRATED_SPEED},
    /* Registers of one of four threads of a processor. Its arithmetic is dear, and arrays of
     * more than two elements were seen to lie in memory: a gate in each workgroup has some. */
    [V3D] = {GPU_SIZES, .read_ahead = 1, .registers = 32, .shared_each = 64, .speed = V3D_SPEED},
    /* Its compiler spills most where each workgroup makes a gate of its own. */
    [ADRENO] = {GPU_SIZES, .read_ahead = 4, .speed = INTEGRATED_SPEED},
    [NVIDIA] = {ANY_GPU, .read_ahead = 32, .speed = {20000, 2000, 2000, 128, 110},
                .efficiency.cooperative = 4.2},
    [GCN] = {ANY_GPU, OF_GCN, .speed = AMD_SPEED},
    [RDNA] = {ANY_GPU, OF_RDNA, .speed = AMD_SPEED},
    [INTEL] = {ANY_GPU, OF_INTEL, .speed = OTHER_SPEED},
    [OTHER] = {ANY_GPU, .read_ahead = 8, .speed = OTHER_SPEED},
};

/* GCN has subgroups of 64 alone, RDNA those of 32, too. */
static enum kind kind_of_amd(const struct tdl_device_info *device)
{
    const bool integrated = device->type == TDL_DEVICE_INTEGRATED_GPU;
    if (device->least_subgroup_size == 64)
        return integrated ? INTEGRATED_GCN : GCN;
    return integrated ? INTEGRATED_RDNA : RDNA;
}

static enum kind kind_of(const struct tdl_device_info *device)
{
    enum {
        VENDOR_AMD = 0x1002,
        VENDOR_NVIDIA = 0x10de,
        VENDOR_BROADCOM = 0x14e4,
        VENDOR_QUALCOMM = 0x5143,
        VENDOR_INTEL = 0x8086
    };
    const bool integrated = device->type == TDL_DEVICE_INTEGRATED_GPU;
    if (device->type == TDL_DEVICE_SOFTWARE)
        return SOFTWARE;
    switch (device->vendor_id) {
    case VENDOR_AMD:
        return kind_of_amd(device);
    case VENDOR_INTEL:
        return integrated ? INTEGRATED_INTEL : INTEL;
    case VENDOR_BROADCOM:
        return V3D;
    case VENDOR_QUALCOMM:
        return ADRENO;
    case VENDOR_NVIDIA:
        return integrated ? INTEGRATED : NVIDIA;
    default:
        return integrated ? INTEGRATED : OTHER;
    }
}

const struct tdl_heuristics *tdl_heuristics_of(const struct tdl_device_info *device)
{
    return &heuristics[kind_of(device)];
}

bool tdl_fits_registers(const struct tdl_device_info *device, uint32_t values)
{
    const uint32_t most = tdl_heuristics_of(device)->registers;
    return !most || values <= most;
}

bool tdl_spills(const struct tdl_device_info *device, uint32_t values)
{
    const uint32_t most = tdl_heuristics_of(device)->unspilled;
    return most && values > most;
}

double tdl_crowding(const struct tdl_device_info *device, uint32_t values)
{
    enum { SPILLING = 4 };
    return tdl_fits_registers(device, values)
               ? 1
               : SPILLING * (double)values / tdl_heuristics_of(device)->registers;
}

uint32_t tdl_most_sums(const struct tdl_device_info *device)
{
    const uint32_t registers = tdl_heuristics_of(device)->registers;
    return registers ? TDL_MAX(1, registers / 16) : UINT32_MAX;
}

uint32_t tdl_shared_room(const struct tdl_device_info *device, uint32_t invocations)
{
    const uint32_t each = tdl_heuristics_of(device)->shared_each;
    return each ? TDL_MIN(device->max_shared_memory, each * invocations)
                : device->max_shared_memory;
}

bool tdl_more_share(const struct tdl_device_info *device, uint32_t invocations)
{
    enum { MOST = 1024 };
    return invocations * 2 <= TDL_MIN(MOST, device->max_workgroup_invocations) &&
           tdl_shared_room(device, invocations) < device->max_shared_memory;
}

/* V3D's driver ends a job after 500 ms, as older Mali drivers do; Intel's ends what does not
 * let others in for 640 ms, and AMD's after 10 s. Cards are estimated by what an old one does. */
const struct tdl_watchdog *tdl_watchdog_of(const struct tdl_device_info *device)
{
    static const struct tdl_watchdog watchdogs[] = {
        [TDL_DEVICE_OTHER] = {250, {5, 2}},       [TDL_DEVICE_INTEGRATED_GPU] = {250, {5, 2}},
        [TDL_DEVICE_VIRTUAL_GPU] = {250, {5, 2}}, [TDL_DEVICE_DISCRETE_GPU] = {1000, {500, 50}},
        [TDL_DEVICE_SOFTWARE] = {0, {1, 1}},      [TDL_DEVICE_CPU] = {0, {1, 1}},
    };
    return &watchdogs[(size_t)device->type < TDL_COUNT(watchdogs) ? device->type
                                                                  : TDL_DEVICE_OTHER];
}
