/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A context: device, queues, timeline, and what all its users share.
 *
 * Locks. `lock` guards the queues, the timeline's last point, the read and
 * write points of every buffer and the list of deferred frees; it is held for
 * microseconds. `pipeline_lock` guards the pipeline table; compiling happens
 * outside it. Neither is taken inside the other. `queue_lock`, or the lock of a
 * borrowed queue's owner, is held round each call on a queue, inside `lock`.
 */
#ifndef TDL_CONTEXT_H
#define TDL_CONTEXT_H

#include "coherence.h"
#include "queue.h"
#include "setup.h"
#include "vk.h"

#include "core/core.h"

#include <pthread.h>
#include <stdatomic.h>

struct tdl_deferred;
struct tdl_pipeline;
struct tdl_vk_batch;

struct tdl_device_functions {
    PFN_vkWaitSemaphores wait_semaphores;
    PFN_vkGetSemaphoreCounterValue get_semaphore_value;
    /* NULL where their extension is not enabled. */
    PFN_vkGetMemoryHostPointerPropertiesEXT get_host_pointer_properties;
    PFN_vkGetMemoryFdKHR get_memory_fd;
    PFN_vkGetMemoryFdPropertiesKHR get_memory_fd_properties;
    PFN_vkGetSemaphoreFdKHR get_semaphore_fd;
    PFN_vkImportSemaphoreFdKHR import_semaphore_fd;
    PFN_vkSetDebugUtilsObjectNameEXT set_object_name;
};

struct tdl_vk_context {
    struct tdl_context base;
    pthread_mutex_t lock;
    pthread_cond_t returned;    /* a tensor of TDL_TENSOR_WAITS_IF_RENTED; with the lock */
    pthread_mutex_t queue_lock; /* for a device of our own; see tdl_context_lock_queue() */

    struct tdl_setup setup;
    VkInstance instance;
    VkDebugUtilsMessengerEXT messenger;
    VkPhysicalDevice physical;
    VkDevice device;
    uint32_t queue_family;
    uint32_t timestamp_bits;
    VkPhysicalDeviceProperties properties;
    VkPhysicalDeviceMemoryProperties memory_properties;
    VkDeviceSize host_pointer_alignment; /* 0: no VK_EXT_external_memory_host */
    struct tdl_device_functions fn;
    atomic_bool rent_wait_told; /* the log was told that rentals wait on the CPU */

    struct tdl_queue queues[TDL_MAX_QUEUES];
    uint32_t queue_count;
    uint64_t last_point; /* the last one over all queues */
    VkCommandPool barrier_pool;
    VkCommandBuffer barrier_commands;
    struct tdl_deferred *deferred;
    struct tdl_stale stale;

    pthread_mutex_t pipeline_lock;
    struct tdl_kernel_layout *layouts; /* under pipeline_lock; see layout.h */
    VkPipelineCache pipeline_cache;
    bool pipeline_cache_dirty;
    struct tdl_pipeline *pipelines; /* under pipeline_lock, as what follows */
    uint32_t idle_pipelines;
    uint64_t pipeline_clock;
    pthread_mutex_t compile_turn; /* for drivers that compile in the queue (graph/compile.c) */
};

static inline struct tdl_vk_context *tdl_vk(const struct tdl_context *ctx)
{
    return (struct tdl_vk_context *)ctx;
}

/* TDL_OK, or that this context is on another kind of device, or that the device was
 * lost: what functions of <tdl/vulkan.h> begin with. */
enum tdl_result tdl_vk_context_check(struct tdl_context *ctx);

/* Nanoseconds between two timestamps of the queue, whose counter wraps. */
uint64_t tdl_context_ticks_ns(const struct tdl_context *ctx, uint64_t from, uint64_t to);

/* Give an object the name that validation messages and captures show. */
void tdl_context_name(struct tdl_context *ctx, VkObjectType type, uint64_t handle,
                      const char *name);

/* Somebody's semaphore, and what a timeline one is to reach. */
struct tdl_semaphore_op {
    VkSemaphore semaphore;
    uint64_t value; /* not looked at for binary ones */
};
#define TDL_MAX_SEMAPHORES 16 /* others', that a submission waits for or signals */

struct tdl_submission {
    uint32_t queue;
    const VkCommandBuffer *commands;
    uint32_t command_count;
    /* cuts[i]: command first_cut + i begins another call to the queue. */
    const bool *cuts;
    uint32_t first_cut, cut_count;
    bool prepend_barrier; /* first order it after all earlier work of its queue */
    /* Wait for these points of the other queues. */
    uint64_t behind[TDL_MAX_QUEUES];
    const struct tdl_semaphore_op *waits, *signals;
    uint32_t wait_count, signal_count; /* at most TDL_MAX_SEMAPHORES each */
};

/* Submit. Signals and returns the next point, too. Call with ctx->lock held. */
enum tdl_result tdl_context_submit_locked(struct tdl_context *ctx,
                                          const struct tdl_submission *submission,
                                          uint64_t *out_point);

/* Wait for the device; a borrowed one may be busy with what is none of ours. */
void tdl_context_wait_idle(struct tdl_context *ctx);

/* Run `free_fn(ctx, data)` when the timeline has passed `point` (at once if it
 * has), or with the context. Takes the lock. */
typedef void (*tdl_free_fn)(struct tdl_context *ctx, void *data);
void tdl_context_defer(struct tdl_context *ctx, uint64_t point, tdl_free_fn free_fn, void *data);
/* Likewise destroy a semaphore, which is no pointer everywhere. */
void tdl_context_defer_semaphore(struct tdl_context *ctx, uint64_t point, VkSemaphore semaphore);
/* All of it, once the device is idle for good. */
void tdl_context_free_deferred(struct tdl_context *ctx);

#endif
