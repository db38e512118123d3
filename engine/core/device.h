/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The line. What stands above it reaches a device through one table of functions,
 * and a device knows nothing of its callers but what is here: contexts, buffers,
 * batches and graphs begin with a part that is the same on every
 * device, and go on with the device's own.
 *
 * Arguments have been checked when a function of the table is called, as far as
 * that needs no knowledge of the device; handles are of the same context.
 */
#ifndef TDL_DEVICE_H
#define TDL_DEVICE_H

#include "digest.h"
#include "frame/compose.h"
#include "ir/plan.h"
#include "tuning.h"

#include <tdl/frame.h>

#include <pthread.h>
#include <stdatomic.h>

#define TDL_MAX_BINDINGS (TDL_MAX_INPUTS + TDL_MAX_OUTPUTS) /* per graph */

struct tdl_device;

/* ---- what every device has */

struct tdl_context {
    const struct tdl_device *on;
    atomic_int refs;
    unsigned forks; /* forks before the context was made (thread.h) */
    tdl_log_fn log;
    void *log_data;
    enum tdl_log_level log_level;
    struct tdl_device_info info;
    atomic_bool lost;
    char *cache_dir;     /* NULL: keep no files */
    uint32_t max_queued; /* borrowed batches; 1 or more */
    bool busy_when_full;
    struct tdl_staging {
        pthread_mutex_t lock;
        struct tdl_buffer *first, *last; /* idle ones; they hold no reference */
        size_t bytes;
    } staging;
    struct tdl_kept_batches {
        pthread_mutex_t lock;
        struct tdl_batch *first, *last; /* given back, the oldest first; they hold no reference */
        uint32_t count;                 /* and those that are borrowed */
    } batches;
    /* The thread that calls back (notifier.c), from its first use on. */
    struct tdl_notifier {
        pthread_mutex_t lock;
        pthread_cond_t wake, eased;
        pthread_t thread;
        bool running, ending;
        bool ends_context; /* and not whoever dropped the last reference */
        struct tdl_read *first, **last;
        uint32_t reads;   /* accepted, and not called back */
        tdl_lost_fn lost; /* to be called; NULL: nobody asks, or it was */
        void *lost_data;
        char lost_why[512];
        bool telling;
    } notifier;
    struct tdl_weights_table { /* core/weights.h */
        pthread_mutex_t lock;
        struct tdl_digest key;
        struct tdl_weights_memory *first; /* each held by its graphs */
    } weights;
    pthread_mutex_t tuning_lock;
    struct tdl_tuning tuning; /* measured on this device; under tuning_lock */
    struct {
        atomic_ullong submits, dispatches, waits, pipelines, allocations, memory_bytes;
        atomic_ullong pipelines_held;
        atomic_ullong validation_errors;
    } stats;
};

struct tdl_buffer {
    struct tdl_context *ctx;
    atomic_int refs;
    uint64_t id; /* unique in the process, never used again */
    size_t size;
    void *map; /* persistent mapping, NULL for device-only and imported */
    /* imported memory: the caller's bytes, and those of its page in front of them; else 0 */
    uint64_t given, before;
    bool is_loose;                      /* holds no reference to the context */
    struct tdl_buffer *next_idle;       /* staging */
    enum tdl_buffer_access idle_access; /* staging only */
};

struct tdl_batch {
    struct tdl_context *ctx;
    struct tdl_batch *next_kept;
};

/* A device's part of a compiled graph; each has a struct of this name of its own. */
struct tdl_program;

struct tdl_plans;

struct tdl_graph {
    struct tdl_context *ctx;
    struct tdl_plan plan; /* without steps, where the device wants none */
    uint32_t operator_count;
    pthread_mutex_t compile_lock;
    atomic_bool compiled;         /* the device can run it */
    struct tdl_graph_step *steps; /* by a device that wants no steps made in program_create */
    uint32_t step_count;
    uint32_t quantized_steps; /* of these, those that compute on quantized numbers */
    struct tdl_program *program;
    struct tdl_plans *plans; /* others' sizes (plans.h); NULL: this is the only one */
};

struct tdl_composer; /* composer.h */
struct tdl_tensor;

/* ---- what a device does */

/* Why buffers are made. */
struct tdl_buffer_wish {
    size_t size; /* bytes, more than 0 */
    enum tdl_buffer_access access;
    const char *name; /* for messages and captures */
    bool parts;       /* kernels reach parts of it, never the whole at once */
    /* Usages (enum tdl_tensor_usage) for which it may be rented to others; `access` is then
     * TDL_BUFFER_DEVICE. */
    uint32_t exportable;
};

/* A buffer that a composer keeps for its device. */
struct tdl_composer_room {
    const char *name; /* for messages and captures */
    size_t (*bytes)(uint32_t width, uint32_t height, uint32_t pictures);
};
#define TDL_COMPOSER_ROOMS 3 /* of each kind, at most */

/* All that was submitted, on whatever queue. */
#define TDL_ALL_POINTS UINT64_MAX

struct tdl_device {
    const char *name; /* "vulkan" */
    /* Operators are fused and lowered to steps: dispatches of kernels with bindings.
     * Without, the device has the plan's IR as the builder made it, folded; every
     * value lies row-major but for tensors that are bound as packs. */
    bool wants_steps;

    /* -- contexts: the device and its timeline, on which all its work is ordered */
    /* A context of the device of this kind that the params name. NULL: none is asked for. */
    enum tdl_result (*context_create)(const struct tdl_context_params *params,
                                      struct tdl_context **out_context);
    /* The last reference has gone: wait for the device, free the context. */
    void (*context_destroy)(struct tdl_context *ctx);
    /* `point` is not past the last one, or TDL_ALL_POINTS. Counts a wait that blocks
     * (tdl_context_count_wait()). */
    enum tdl_result (*context_wait)(struct tdl_context *ctx, uint64_t point, uint64_t timeout_ns);
    uint64_t (*context_last_point)(struct tdl_context *ctx);
    uint64_t (*context_passed)(struct tdl_context *ctx); /* up to which all is done */
    /* Free what the timeline has passed. */
    void (*context_collect)(struct tdl_context *ctx);
    enum tdl_result (*context_save_cache)(struct tdl_context *ctx);
    /* Lower the limits, which hold tdl.h's values before. NULL: nothing is less here. */
    void (*context_limits)(const struct tdl_context *ctx, struct tdl_limits *limits);
    /* A file of this device and build; false if the context keeps none. */
    bool (*context_cache_path)(const struct tdl_context *ctx, const char *kind,
                               const char *extension, char *path, size_t size);

    /* -- memory */
    enum tdl_result (*buffer_create)(struct tdl_context *ctx, const struct tdl_buffer_wish *wish,
                                     struct tdl_buffer **out_buffer);
    enum tdl_result (*buffer_import_host)(struct tdl_context *ctx, void *pointer, size_t size,
                                          struct tdl_buffer **out_buffer, uint64_t *out_offset);
    /* The last reference has gone: free it when the timeline has passed its last use.
     * The caller drops its reference of the context. */
    void (*buffer_destroy)(struct tdl_buffer *buffer);
    /* Kernels can work on it as on a tensor of so many bytes, or why not. NULL: if it has
     * these, rounded up to 16. */
    enum tdl_result (*buffer_check_tensor)(const struct tdl_buffer *buffer, size_t size);
    /* The point after which it is written, or written and read. */
    uint64_t (*buffer_point)(const struct tdl_buffer *buffer, bool and_read);
    /* Wait for that. NULL: to wait for the point does. */
    enum tdl_result (*buffer_wait)(const struct tdl_buffer *buffer, bool and_read);
    /* When that has passed: CANCELED with text where it was not written to the end. NULL: all
     * is. */
    enum tdl_result (*buffer_check_whole)(const struct tdl_buffer *buffer);
    /* NULL: all memory is the device's own. */
    bool (*buffer_is_local)(const struct tdl_buffer *buffer);

    /* -- batches: work that is submitted at once. The state (begun or not) is the
     * device's to check. */
    enum tdl_result (*batch_create)(struct tdl_context *ctx, struct tdl_batch **out_batch);
    void (*batch_destroy)(struct tdl_batch *batch);
    /* NULL: there is but one. */
    void (*batch_set_queue)(struct tdl_batch *batch, uint32_t queue);
    enum tdl_result (*batch_begin)(struct tdl_batch *batch);
    void (*batch_cancel)(struct tdl_batch *batch); /* nothing, if it is not begun */
    enum tdl_result (*batch_submit)(struct tdl_batch *batch, uint64_t *out_point);
    /* Leave what is left of its last submission. From any thread. NULL: it runs on. */
    void (*batch_abort)(struct tdl_batch *batch);
    enum tdl_result (*batch_stage)(struct tdl_batch *batch, uint32_t stage);
    /* All of them; zeroed before. */
    bool (*batch_stage_times)(struct tdl_batch *batch, uint64_t out_ns[TDL_MAX_STAGES]);
    /* The point of its last submission; 0: there was none. */
    uint64_t (*batch_point)(const struct tdl_batch *batch);
    /* Free a kept batch when the context ends: nothing is queued any more. */
    void (*batch_free)(struct tdl_context *ctx, struct tdl_batch *batch);
    enum tdl_result (*batch_copy)(struct tdl_batch *batch, struct tdl_buffer *source,
                                  uint64_t source_offset, struct tdl_buffer *target,
                                  uint64_t target_offset, uint64_t size);
    enum tdl_result (*batch_fill_zero)(struct tdl_batch *batch, struct tdl_buffer *target);

    /* -- programs: compiled graphs */
    /* Make graph->program of graph->plan; constants' data are there, and not later. What
     * takes long asks the progress function, of 0 kernels, whether to go on. */
    enum tdl_result (*program_create)(struct tdl_graph *graph,
                                      const struct tdl_compile_params *params);
    /* Have all ready that a dispatch needs. Blocking. NULL: nothing is left to do. */
    enum tdl_result (*program_compile)(struct tdl_graph *graph,
                                       const struct tdl_compile_params *params);
    /* Also after program_create() failed half-way: graph->program may be NULL. */
    void (*program_destroy)(struct tdl_graph *graph);
    /* Inputs, then outputs, in the order of the IR's. */
    enum tdl_result (*program_run)(struct tdl_batch *batch, struct tdl_graph *graph,
                                   struct tdl_buffer *const *bound);
    /* Run it, wait, and note graph->steps[…].gpu_ns. */
    enum tdl_result (*program_profile)(struct tdl_graph *graph, struct tdl_buffer *const *bound);
    /* Run it beside other work and wait, as tdl_graph_try() has it. NULL: as a batch. */
    enum tdl_result (*program_try)(struct tdl_graph *graph, struct tdl_buffer *const *bound,
                                   const struct tdl_compile_params *params, uint64_t *out_ns);

    /* -- frames; as the functions of frame.h. NULL: the device has none. */
    enum tdl_result (*frame_to_tensor)(struct tdl_batch *batch, const struct tdl_frame *frame,
                                       struct tdl_tensor *tensor,
                                       const struct tdl_frame_to_tensor_params *params);
    enum tdl_result (*frame_to_tensor_prepare)(const struct tdl_frame *frame,
                                               struct tdl_tensor *tensor,
                                               const struct tdl_compile_params *compile);
    enum tdl_result (*frame_from_tensor)(struct tdl_batch *batch, struct tdl_tensor *tensor,
                                         const struct tdl_frame *frame,
                                         const struct tdl_frame_from_tensor_params *params);
    enum tdl_result (*frame_from_tensor_prepare)(struct tdl_tensor *tensor,
                                                 const struct tdl_frame *frame,
                                                 const struct tdl_frame_from_tensor_params *params,
                                                 const struct tdl_compile_params *compile);
    /* Buffers that the device's steps need beside the core's, ended by one without a name: of
     * a mask's size, and of a frame's and its small pictures' number. */
    const struct tdl_composer_room *composer_mask, *composer_blur;
    /* A new buffer of a composer, whose first writer may be cancelled. NULL: what it holds does
     * no harm. */
    void (*composer_clear)(struct tdl_buffer *buffer);
    /* Have all kernels ready that tdl_compose() may need. */
    enum tdl_result (*composer_prepare)(struct tdl_composer *composer,
                                        const struct tdl_frame *source,
                                        const struct tdl_frame *target,
                                        const struct tdl_compose_params *params,
                                        const struct tdl_compile_params *compile);
    /* Run the steps. The composer has all buffers; a mask that is new is there and checked.
     * `picture_is_stale`: the replacement picture has to be made. */
    enum tdl_result (*compose)(struct tdl_batch *batch, struct tdl_composer *composer,
                               const struct tdl_frame *source, struct tdl_tensor *mask,
                               const struct tdl_frame *target,
                               const struct tdl_compose_params *params, bool picture_is_stale);
};

/* ---- for devices: making the common part */

/* Fill a zeroed context in, with one reference. */
void tdl_context_init(struct tdl_context *ctx, const struct tdl_device *on,
                      const struct tdl_context_params *params);
/* Free what that made; the device frees the context itself. */
void tdl_context_finish(struct tdl_context *ctx);
/* Fill a zeroed buffer in, with one reference, and one of the context's. */
void tdl_buffer_init(struct tdl_buffer *buffer, struct tdl_context *ctx, size_t size);
/* TDL_ERROR_BUSY, with the text for callers that find the queue full. */
enum tdl_result tdl_fail_busy(const struct tdl_context *ctx);
/* The batches that it keeps: from context_destroy(), when all work is done. */
void tdl_kept_batches_finish(struct tdl_context *ctx);
/* The device has stopped working: every later call fails, and tdl_last_error() is what
 * those are told who asked for it. With any of the device's own locks held. */
void tdl_context_lose(struct tdl_context *ctx);
/* A thread of the caller's sleeps for the device. */
void tdl_context_count_wait(struct tdl_context *ctx);
/* TDL_OK, or DEVICE_LOST with text: the first line of every entry point. And INVALID_STATE
 * in a forked process, which has nothing of the context but its memory. */
enum tdl_result tdl_context_check(struct tdl_context *ctx);
/* Whether the process has forked since the context was made. */
bool tdl_context_is_forked(const struct tdl_context *ctx);
enum tdl_result tdl_context_check_process(const struct tdl_context *ctx);

#endif
