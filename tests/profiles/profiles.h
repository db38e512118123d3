/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Limits of widespread drivers, which the layer pretends. */
#ifndef TDL_TEST_PROFILES_H
#define TDL_TEST_PROFILES_H

#include <stdbool.h>
#include <stdint.h>
#include <vulkan/vulkan.h>

/* How a device shows its memory. */
enum profile_memory {
    PROFILE_MEMORY_SHARED,     /* as the driver below has it: one kind, that does everything */
    PROFILE_MEMORY_SEPARATE,   /* the device's own, which cannot be mapped, and the host's */
    PROFILE_MEMORY_INCOHERENT, /* one heap; mapped memory is either cached or coherent */
};

/* Zero in a limit: as the driver below has it. A limit is only ever lowered. */
struct profile {
    const char *name;
    const char *device; /* the name that the device shows */
    VkPhysicalDeviceType type;
    uint32_t vendor;
    uint32_t subgroup;       /* invocations; only shown, kernels run in the driver's own */
    uint32_t least_subgroup; /* invocations of the smallest subgroup; only shown, too */
    uint32_t invocations;    /* most invocations of a workgroup */
    uint32_t shared_bytes;   /* shared memory of a workgroup */
    uint32_t buffers;        /* storage buffers of a stage */
    uint32_t images;         /* storage images of a stage */
    uint32_t push_bytes;     /* push constants */
    uint32_t range_mib;      /* largest range of a storage buffer */
    uint32_t offset_bytes;   /* alignment of offsets into storage buffers */
    uint32_t workgroups;     /* in each dimension */
    uint32_t image_size;     /* px */
    bool no_storage16;       /* 16-bit values in storage buffers */
    bool no_fp16;            /* arithmetic of float16 and int8 */
    bool no_int16;
    bool no_int64;
    bool no_timeline;        /* timeline semaphores */
    bool no_timestamps;
    bool one_queue;
    bool compile_only;       /* the driver compiles, and its hardware is not here */
    enum profile_memory memory;
    const char *hidden;      /* extensions, each between spaces */
};

/* The profile that TDL_PROFILE names; NULL where it names none. */
const struct profile *profile_chosen(void);

#endif
