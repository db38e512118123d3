/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The CPU as a device: memory is the host's, and a batch is a list of pieces of work
 * that one thread of the context runs in the order of submission. What is in the
 * list runs later than the call that put it there, so it owns what it needs.
 */
#ifndef TDL_CPU_H
#define TDL_CPU_H

#include "threads.h"

#include "core/core.h"

struct tdl_cpu_batch;
struct tdl_cpu_deferred;

/* Work for spare time: in parts, between batches and while there are none. */
struct tdl_cpu_spare {
    struct tdl_cpu_spare *next;
    /* On the context's worker: the next part. False when that was the last one. */
    bool (*part)(struct tdl_cpu_spare *spare, struct tdl_cpu_threads *threads);
    atomic_bool stopped; /* nobody wants it any more */
    bool done;           /* under the context's lock */
};

struct tdl_cpu_context {
    struct tdl_context base;
    struct tdl_cpu_threads *threads;

    /* The timeline, under `lock`: `done` follows `last_point` from batch to batch. */
    pthread_mutex_t lock;
    pthread_cond_t submitted, passed;
    pthread_t worker;
    bool ending;
    uint64_t last_point, done;
    struct tdl_cpu_batch *first, **last;       /* submitted, and not run */
    struct tdl_cpu_spare *spare, **last_spare; /* run when there is time */
    struct tdl_cpu_deferred *deferred;         /* to be freed when their points have passed */
};

struct tdl_cpu_buffer {
    struct tdl_buffer base; /* `map` is NULL for those that the caller may not map */
    uint8_t *memory;        /* its address, whether the caller may map it or not */
    bool borrowed;          /* the memory is somebody else's */
    uint64_t written, read; /* points, under the context's lock */
    bool spoilt;            /* its last writer was aborted; under the context's lock */
};

static inline struct tdl_cpu_context *tdl_cpu(const struct tdl_context *ctx)
{
    return (struct tdl_cpu_context *)ctx;
}

static inline uint8_t *tdl_cpu_memory(const struct tdl_buffer *buffer)
{
    return ((const struct tdl_cpu_buffer *)buffer)->memory;
}

/* A piece of work; its own struct begins with this one. */
struct tdl_cpu_work {
    struct tdl_cpu_work *next;
    /* On the context's worker, all work before it done. What fails here loses the
     * device: check before; but for CANCELED, where it was told to stop. */
    enum tdl_result (*run)(struct tdl_cpu_work *work, struct tdl_cpu_threads *threads);
    /* When it has run or was given up; NULL: nothing to do. */
    void (*release)(struct tdl_cpu_work *work);
    uint32_t stage; /* the batch's stage, to be timed with it */
};

/* Add a piece of work of `size` bytes that begins with struct tdl_cpu_work, zeroed
 * but for `run`. Its memory is the batch's and lies still until release(). NULL with
 * text if the batch was not begun, or when out of memory. */
void *tdl_cpu_batch_add(struct tdl_batch *batch, size_t size,
                        enum tdl_result (*run)(struct tdl_cpu_work *, struct tdl_cpu_threads *));
/* The batch reads the buffer, or writes it: it lives until the batch has run, and
 * its points follow. */
enum tdl_result tdl_cpu_batch_use(struct tdl_batch *batch, struct tdl_buffer *buffer, bool write);

/* Have it done, and wait; where params->progress says no it is stopped. */
void tdl_cpu_spare_run(struct tdl_cpu_context *ctx, struct tdl_cpu_spare *spare,
                       const struct tdl_compile_params *params);

/* ---- the device's parts, as in the table */

/* graph/: compiled graphs. */
enum tdl_result tdl_cpu_program_create(struct tdl_graph *graph,
                                       const struct tdl_compile_params *params);
enum tdl_result tdl_cpu_program_compile(struct tdl_graph *graph,
                                        const struct tdl_compile_params *params);
void tdl_cpu_program_destroy(struct tdl_graph *graph);
enum tdl_result tdl_cpu_program_run(struct tdl_batch *batch, struct tdl_graph *graph,
                                    struct tdl_buffer *const *bound);
enum tdl_result tdl_cpu_program_profile(struct tdl_graph *graph, struct tdl_buffer *const *bound);
enum tdl_result tdl_cpu_program_try(struct tdl_graph *graph, struct tdl_buffer *const *bound,
                                    const struct tdl_compile_params *params, uint64_t *out_ns);

/* frame/: pictures. */
enum tdl_result tdl_cpu_frame_to_tensor(struct tdl_batch *batch, const struct tdl_frame *frame,
                                        struct tdl_tensor *tensor,
                                        const struct tdl_frame_to_tensor_params *params);
enum tdl_result tdl_cpu_frame_to_tensor_prepare(const struct tdl_frame *frame,
                                                struct tdl_tensor *tensor,
                                                const struct tdl_compile_params *compile);
enum tdl_result tdl_cpu_frame_from_tensor(struct tdl_batch *batch, struct tdl_tensor *tensor,
                                          const struct tdl_frame *frame,
                                          const struct tdl_frame_from_tensor_params *params);
enum tdl_result tdl_cpu_frame_from_tensor_prepare(struct tdl_tensor *tensor,
                                                  const struct tdl_frame *frame,
                                                  const struct tdl_frame_from_tensor_params *params,
                                                  const struct tdl_compile_params *compile);
extern const struct tdl_composer_room tdl_cpu_composer_mask[], tdl_cpu_composer_blur[];
void tdl_cpu_composer_clear(struct tdl_buffer *buffer);
enum tdl_result tdl_cpu_composer_prepare(struct tdl_composer *composer,
                                         const struct tdl_frame *source,
                                         const struct tdl_frame *target,
                                         const struct tdl_compose_params *params,
                                         const struct tdl_compile_params *compile);
enum tdl_result tdl_cpu_compose(struct tdl_batch *batch, struct tdl_composer *composer,
                                const struct tdl_frame *source, struct tdl_tensor *mask,
                                const struct tdl_frame *target,
                                const struct tdl_compose_params *params, bool picture_is_stale);

#endif
