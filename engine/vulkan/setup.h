/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Extensions and features that a VkDevice was set up with. Ours are all that the engine can
 * use and the device has; with somebody else's, the engine makes do with what its owner
 * enabled.
 */
#ifndef TDL_SETUP_H
#define TDL_SETUP_H

#include "cooperative_matrix.h"

#include <tdl/vulkan.h>

struct tdl_setup {
    bool borrowed;             /* instance and device are somebody else's */
    uint32_t instance_version; /* the instance was created for */
    const char **extensions;   /* enabled on the device; strings of our own */
    uint32_t extension_count;
    /* Enabled, as far as the engine knows them: one chain. */
    VkPhysicalDeviceFeatures2 features;
    VkPhysicalDeviceTimelineSemaphoreFeatures timeline;
    struct tdl_cooperative_matrix_setup
        cooperative_matrix;                             /* where info.cooperative_matrix says so */
    struct tdl_workgroup_matrix_setup workgroup_matrix; /* where info.workgroup_matrix does */
    /* Held round each use of the queue; NULL: nobody else uses it. */
    void (*lock_queue)(void *data);
    void (*unlock_queue)(void *data);
    void *lock_data;
};

/* Is this extension enabled? */
bool tdl_setup_has(const struct tdl_setup *setup, const char *extension);
void tdl_setup_finish(struct tdl_setup *setup);

#endif
