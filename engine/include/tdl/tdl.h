/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file tdl.h
 * libtdl: contexts, tensors, builders and graphs on a device, which is one of
 * Vulkan's or the CPU.
 *
 * The model is WebNN's (MLContext, MLTensor, MLGraphBuilder, MLGraph). Every
 * call that gives work to the device queues it and returns at once; the work
 * of one context is ordered by one timeline, whose values are called points.
 *
 * Conventions
 * - `create`/`destroy` pairs: destroy takes the address of the pointer, sets
 *   it to NULL, accepts NULL for either, never fails, and never waits for the device:
 *   memory goes when the timeline has passed the last use.
 * - `_params` structs may be zero-initialised: zero is the sane default.
 * - Structs that may grow end with `reserved`, which callers leave zero, as
 *   `struct x p = {.field = …}` does: a later version may have a field there, whose
 *   zero is what this version does. What callers give with something set there is
 *   TDL_ERROR_INVALID_ARGUMENT: the program was made for a newer library. What the
 *   library fills is zero there. The others (struct tdl_binding, tdl_plane,
 *   tdl_times, tdl_model_dimension, tdl_model_number) are as they will stay.
 * - Programs that were built against a version go on working with all later ones of
 *   the same soname: no function, field or value goes or changes its meaning.
 *   Numbers of enums are stable; switches over them want a default.
 * - Functions return an `enum tdl_result`; tdl_last_error() has the
 *   sentence that says what to do. A NULL where something is needed is
 *   TDL_ERROR_INVALID_ARGUMENT; functions without a result give NULL, 0 or false.
 * - Thread-safety: a context, and the tensors, graphs and buffers made from
 *   it, may be used from several threads. A builder and a batch belong to one
 *   thread at a time. Destroying an object while another thread is inside a
 *   call on it is the caller's error.
 * - Threads of the library: on the CPU a context's worker and those that compute (`threads`),
 *   one of a context that calls back, those that compile while a graph is built, and what a
 *   driver of Vulkan has. Signals of the program go by them: they block all but their own
 *   faults.
 * - The library stays in a process that has had it: dlclose() does not unmap it, as a driver
 *   of Vulkan leaves threads, and what is opened again is the same instance.
 * - A context is of the process that made it. In a fork()ed one calls on it, and on what was
 *   made from it, are TDL_ERROR_INVALID_STATE, and destroying does nothing. Fork before the
 *   first context; after it the child can still make one of the CPU, not of Vulkan.
 */
#ifndef TDL_TDL_H
#define TDL_TDL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TDL_API __attribute__((visibility("default")))
#define TDL_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define TDL_API
#define TDL_PRINTF(fmt, args)
#endif

/** The version of these headers; tdl_version() has the library's. */
#define TDL_VERSION_MAJOR 0
#define TDL_VERSION_MINOR 2
#define TDL_VERSION_MICRO 0
/** A version as a number: later ones are larger. */
#define TDL_VERSION_NUMBER(major, minor, micro)                                                    \
    (((uint32_t)(major) << 22) | ((uint32_t)(minor) << 12) | (uint32_t)(micro))
/** True where these headers are of this version or a later one; for #if, too. */
#define TDL_VERSION_CHECK(major, minor, micro)                                                     \
    (TDL_VERSION_MAJOR > (major) ||                                                                \
     (TDL_VERSION_MAJOR == (major) &&                                                              \
      (TDL_VERSION_MINOR > (minor) ||                                                              \
       (TDL_VERSION_MINOR == (minor) && TDL_VERSION_MICRO >= (micro)))))

/** Largest number of dimensions of a tensor. */
#define TDL_MAX_RANK 6
/** Most inputs and outputs of a graph. */
#define TDL_MAX_INPUTS 64
#define TDL_MAX_OUTPUTS 64
/** Most bytes of the name of an input or output, without its end. */
#define TDL_MAX_NAME 4095
/** Bytes of a device UUID (VK_UUID_SIZE). */
#define TDL_UUID_SIZE 16
/** Wait for ever, in functions that take a timeout in ns. */
#define TDL_WAIT_FOREVER UINT64_MAX

/**
 * The version of the library that runs, as TDL_VERSION_NUMBER() makes it: where it is
 * below the headers', functions and fields that are newer than it are not there.
 * Thread-safe.
 */
TDL_API uint32_t tdl_version(void);

/* ---------------------------------------------------------------- results */

enum tdl_result {
    TDL_OK = 0,
    TDL_ERROR_INVALID_ARGUMENT = -1, /**< a parameter is wrong; see the text */
    TDL_ERROR_INVALID_STATE = -2,    /**< right call, wrong moment */
    TDL_ERROR_OUT_OF_MEMORY = -3,    /**< host or device memory */
    TDL_ERROR_NO_DEVICE = -4,        /**< no device fits what was asked for */
    TDL_ERROR_DEVICE_LOST = -5,      /**< every later call on the context fails so */
    TDL_ERROR_UNSUPPORTED = -6,      /**< valid, but not on this device or build */
    TDL_ERROR_INVALID_MODEL = -7,    /**< a model file is damaged or not a model */
    TDL_ERROR_IO = -8,               /**< a file cannot be read or written */
    TDL_ERROR_TIMEOUT = -9,          /**< the wait ended before the work did */
    TDL_ERROR_CANCELED = -10, /**< a progress function, or tdl_batch_abort(), asked for the end */
    TDL_ERROR_BUSY = -11,     /**< the queue is full: tdl_context_params.max_queued */
};

/** A constant, English name of a result ("device lost"). Never NULL. */
TDL_API const char *tdl_result_string(enum tdl_result result);

/**
 * The last error of the calling thread, as a sentence naming the operator,
 * tensor or device and what to do. Never NULL; "" when there was none. Valid
 * until the thread's next failing libtdl call.
 */
TDL_API const char *tdl_last_error(void);

/* ---------------------------------------------------------------- logging */

enum tdl_log_level {
    TDL_LOG_ERROR = 1,
    TDL_LOG_WARNING = 2,
    TDL_LOG_INFO = 3,
    TDL_LOG_DEBUG = 4,
    TDL_LOG_TRACE = 5,
};

/**
 * Receives log lines without a newline. At TDL_LOG_DEBUG calls on a context, and on what was
 * made from it, tell, too, why they failed. Called from any thread that uses the
 * context; it must not call back into libtdl.
 */
typedef void (*tdl_log_fn)(void *data, enum tdl_log_level level, const char *message);

/* ---------------------------------------------------------------- devices */

enum tdl_device_type {
    TDL_DEVICE_OTHER = 0,
    TDL_DEVICE_INTEGRATED_GPU = 1,
    TDL_DEVICE_DISCRETE_GPU = 2,
    TDL_DEVICE_VIRTUAL_GPU = 3,
    TDL_DEVICE_SOFTWARE = 4, /**< software Vulkan such as lavapipe */
    TDL_DEVICE_CPU = 5,      /**< the processor itself, without Vulkan */
};

/** Abilities of a device, as far as libtdl cares. Plain data, owned by the caller. */
struct tdl_device_info {
    char name[256];                     /**< as the driver has it */
    char driver[256];                   /**< driver name and version, for people */
    char drm_node[64];                  /**< "/dev/dri/renderD128", or "" */
    uint8_t uuid[TDL_UUID_SIZE];        /**< of the device, the same in other APIs */
    enum tdl_device_type type;          /**< what kind of device */
    uint32_t vendor_id, device_id;      /**< PCI numbers */
    uint32_t api_version;               /**< VK_MAKE_API_VERSION layout; 0 of the CPU */
    uint32_t subgroup_size;             /**< invocations */
    uint32_t max_workgroup_invocations; /**< of one workgroup */
    uint32_t max_shared_memory;         /**< bytes */
    uint64_t max_buffer_bytes;          /**< that a kernel reaches in one buffer */
    /** M, N and K of the products of float16 matrices with float32 sums that a
     *  subgroup does (VK_KHR_cooperative_matrix); 0 where the device, or the
     *  compiler that this library was built with, has none. A device that was
     *  created outside counts as without. */
    uint32_t cooperative_matrix[3];
    uint64_t memory_bytes;        /**< largest device-local heap; of the CPU, the machine's */
    bool usable;                  /**< has all that libtdl needs */
    char unusable_reason[128];    /**< why not, if not usable */
    bool external_memory_host;    /**< host pointers can be imported */
    bool external_memory_dma_buf; /**< dma-bufs can be imported */
    bool drm_format_modifiers;    /**< tiled images can be imported */
    bool external_memory_fd;      /**< memory goes to and comes from its like by opaque fd */
    bool dma_buf_export;          /**< our memory can be handed out as dma-buf */
    bool sync_fd;                 /**< sync files go in and out of the queue */
    bool timeline_fd;             /**< timeline semaphores can be shared by opaque fd */
    bool timestamps;              /**< its own times can be measured */
    bool storage_16bit;           /**< 16-bit types in storage buffers */
    bool shader_int64;            /**< tensors of int64 and uint64 */
    uint64_t queues;              /**< on which batches can run beside each other, 1 or more;
                                       of a context at most tdl_context_params.max_queues */
    /** Invocations of the largest workgroup that holds float16 matrices together and fills
     *  them from memory (VK_NV_cooperative_matrix2); 0 where cooperative_matrix has none, or
     *  where there is no such workgroup. */
    uint64_t workgroup_matrix;
    /** Invocations of the smallest subgroup that a kernel may ask for
     *  (VK_EXT_subgroup_size_control); 0 where the driver does not say. */
    uint64_t least_subgroup_size;
    uint64_t reserved[1]; /**< 0: room for later versions */
};

/**
 * List the devices: those of Vulkan in the loader's order, if there are any, then
 * the CPU. Where that is alone, tdl_last_error() says why.
 * @param out_infos  room for `capacity` entries, or NULL to count only
 * @param out_count  number of devices, which may be more than `capacity`
 * Blocking: loads drivers (tens of ms). Thread-safe.
 */
TDL_API enum tdl_result tdl_device_list(struct tdl_device_info *out_infos, uint32_t capacity,
                                        uint32_t *out_count);

/* --------------------------------------------------------------- contexts */

/** One device, one timeline (WebNN's MLContext). */
struct tdl_context;

struct tdl_context_params {
    /** NULL, "" or "auto": the best GPU (discrete, integrated, virtual); where there is
     *  none, or only software Vulkan, the CPU, which computes the same in a fraction
     *  of the time. "gpu": not the CPU. "vulkan": the best Vulkan device, be it
     *  software. "cpu"; an index in tdl_device_list(); a UUID in hex; a DRM node; part
     *  of a name.
     *  TDL_DEVICE in the environment says what "auto" is. */
    const char *device;
    /** Threads that compute on the CPU, the context's own among them. 0, and more than
     *  that: as many as cores that the process may use (its affinity mask, and the time
     *  that its control groups give it); with 0 a small network has one. Contexts with
     *  the same number share them. Where others keep the cores busy a number can make small
     *  networks many times slower, as threads wait for each other at every operator. */
    uint32_t threads;
    /** Folder of the pipeline cache, which the CPU has no use for; NULL:
     *  $XDG_CACHE_HOME/tdl, then ~/.cache/tdl. "" keeps none. Safe to delete at any time. */
    const char *cache_dir;
    /** Ask for VK_LAYER_KHRONOS_validation with synchronization validation;
     *  its messages arrive at `log` as TDL_LOG_ERROR and are counted in
     *  tdl_context_stats. Also switched on by TDL_VALIDATION=1. */
    bool validation;
    tdl_log_fn log;               /**< may be NULL */
    void *log_data;               /**< for `log` */
    enum tdl_log_level log_level; /**< 0: TDL_LOG_WARNING */
    /** Pieces of work that may be queued at once by functions that bring their own batch
     *  (tdl_graph_dispatch(), tdl_tensor_write() and such), each with some memory: 4 KiB on
     *  the CPU, 70 KiB and more on Vulkan. 0: 256. Where there are more the call waits for
     *  the oldest, or, with `busy_when_full`, dispatches and writes are
     *  TDL_ERROR_BUSY and do nothing. */
    uint32_t max_queued;
    bool busy_when_full;
    /** How many of the device's queues (tdl_device_info.queues) there are for batches to run
     *  beside each other (tdl_batch_set_queue()). 0: all. Each takes its time when the context
     *  is created (23 ms with NVIDIA's driver), which one stream alone can do without. */
    uint64_t max_queues;
    uint64_t reserved[2]; /**< 0: room for later versions */
};

/**
 * Create a context with one reference.
 * Blocking: creates the device and reads the cache file (10–500 ms).
 * @return TDL_ERROR_NO_DEVICE with the list of the devices there are.
 */
TDL_API enum tdl_result tdl_context_create(const struct tdl_context_params *params,
                                           struct tdl_context **out_context);

/* "auto" by measuring: who has a model to run may choose better than by the kind of device. */

struct tdl_auto_params {
    /** Names the model: another text where the model, or how it is run, is another. */
    const char *model;
    const char *cache_dir; /**< as in tdl_context_params */
    uint32_t threads;      /**< likewise */
    uint64_t reserved[4];  /**< 0: room for later versions */
};
struct tdl_auto {
    /** The GPU that "auto" takes is no card, or it is software and the CPU has no XNNPACK: the
     *  faster one of it and the CPU is to be found by running the model on both. Never
     *  where TDL_DEVICE says what "auto" is. */
    bool measures;
    char device[2 * TDL_UUID_SIZE + 1]; /**< the GPU's UUID, for tdl_context_params.device */
    char name[256];                     /**< of the GPU */
    enum tdl_device_type type;          /**< of the GPU */
    uint64_t gpu_ns, cpu_ns;            /**< of a run, as it was kept; both 0: it was not */
    uint64_t reserved[4];               /**< 0: room for later versions */
};
/**
 * Whether a model is to be measured on two devices, and what was measured before. That holds
 * as long as devices, drivers, number of threads, library and `model` are the same.
 * Blocking: loads drivers and reads a file (tens of ms). Thread-safe.
 */
TDL_API enum tdl_result tdl_auto_find(const struct tdl_auto_params *params, struct tdl_auto *out);
/**
 * Keep what a run took, in a file beside those of tuning, which is safe to delete.
 * Nothing is kept where nothing is measured. Blocking: as tdl_auto_find(). Thread-safe.
 */
TDL_API enum tdl_result tdl_auto_keep(const struct tdl_auto_params *params, uint64_t gpu_ns,
                                      uint64_t cpu_ns);
/** The CPU is to be taken: it is faster by a tenth, as a GPU leaves the CPU to others. */
TDL_API bool tdl_auto_prefers_cpu(uint64_t gpu_ns, uint64_t cpu_ns);

/** Add a reference. Returns `context`. Thread-safe, never blocks. */
TDL_API struct tdl_context *tdl_context_ref(struct tdl_context *context);
/**
 * Drop the caller's reference. Tensors, graphs, buffers and batches hold
 * references of their own, so the order of destruction is free. The last drop
 * waits for the device to finish, and for the callbacks of what is read, and
 * writes the pipeline cache.
 */
TDL_API void tdl_context_destroy(struct tdl_context **context);

/** The device of this context. Owned by the context. */
TDL_API const struct tdl_device_info *tdl_context_device(const struct tdl_context *context);

/**
 * Wait until the timeline has passed `point`, which a submission told. All earlier work of
 * its queue is done then, too, and that of others if it was on the same memory
 * (tdl_batch_set_queue()); without batches on other queues, that is all earlier work.
 * @param timeout_ns  ns, or TDL_WAIT_FOREVER; 0 asks without blocking
 * @return TDL_ERROR_TIMEOUT or TDL_ERROR_DEVICE_LOST. Thread-safe, blocking.
 */
TDL_API enum tdl_result tdl_context_wait(struct tdl_context *context, uint64_t point,
                                         uint64_t timeout_ns);
/** The point of the newest submitted work. Thread-safe, never blocks. */
TDL_API uint64_t tdl_context_last_point(struct tdl_context *context);
/** Wait for all work submitted so far and free what was deferred. Blocking. */
TDL_API enum tdl_result tdl_context_sync(struct tdl_context *context);

/**
 * Hears that the device of a context was lost, and why: a sentence, valid during the call.
 * Called once, on the thread of tdl_read_fn, as soon as a call or the device's own work has
 * met the loss; reads that are under way end after it, with TDL_ERROR_DEVICE_LOST.
 */
typedef void (*tdl_lost_fn)(void *data, const char *why);
/**
 * Have `lost(lost_data, why)` called when the device is lost; soon, if it has been already.
 * It takes the place of an earlier function; NULL asks for nothing any more. After the
 * return the earlier one is not called and has come to its end, unless this was called
 * from there. A context that is destroyed was not lost.
 * @return TDL_ERROR_OUT_OF_MEMORY when there is no thread to call it from. Thread-safe.
 */
TDL_API enum tdl_result tdl_context_on_lost(struct tdl_context *context, tdl_lost_fn lost,
                                            void *lost_data);

/** Write the pipeline cache now (atomically). Blocking: a file is written. */
TDL_API enum tdl_result tdl_context_save_cache(struct tdl_context *context);

/** Counters since creation; memory figures are of this moment. */
struct tdl_context_stats {
    uint64_t submits;     /**< submissions to the queue, or to the CPU's thread: one a batch,
                               more where that is long and the device slow */
    uint64_t dispatches;  /**< compute dispatches, or a graph's steps on the CPU, submitted */
    uint64_t waits;       /**< times the caller's thread slept for the device */
    uint64_t pipelines;   /**< pipelines created; 0 on the CPU */
    uint64_t allocations; /**< of the memory below */
    /** Device memory held now. On the CPU: of buffers and tensors, imported ones left
     *  out, and of each graph its arena and its weights (struct tdl_graph_stats), shared
     *  ones once; not what is beside them, such as descriptions, and tables that XNNPACK makes. */
    uint64_t memory_bytes;
    uint64_t validation_errors; /**< messages of the validation layers */
    /** Pipelines that are there now: graphs', those that frames have needed, and up to 64
     *  that went with their last graph. */
    uint64_t pipelines_held;
    /** Memory of past tensor writes and reads, kept for the next ones: 64 MiB at most;
     *  beside memory_bytes. */
    uint64_t staging_bytes;
    uint64_t reserved[2]; /**< 0: room for later versions */
};
TDL_API void tdl_context_get_stats(struct tdl_context *context, struct tdl_context_stats *out);

/* ---------------------------------------------------------------- tensors */

/** Element types. 64-bit ones only where the device has shaderInt64. */
enum tdl_dtype {
    TDL_FLOAT32 = 0,
    TDL_FLOAT16 = 1,
    TDL_INT32 = 2,
    TDL_UINT32 = 3,
    TDL_INT8 = 4,
    TDL_UINT8 = 5,
    TDL_INT64 = 6,
    TDL_UINT64 = 7,
};

/** How the elements of a tensor lie in memory. */
enum tdl_packing {
    TDL_PACKING_NONE = 0, /**< row-major, in the order of the shape */
    /** A GPU's own: of the shape [N, H, W, C], stored as [N][ceil(C/4)][H][W][4], missing
     *  channels zero. What the kernels read without conversion. */
    TDL_PACKING_C4 = 1,
};

/** Where a picture of four dimensions has its channels. That belongs to who reads it, as
 *  WebNN's inputLayout does: a tensor is a type and a shape. */
enum tdl_layout {
    TDL_LAYOUT_DEFAULT = 0, /**< what tdl_builder_set_input_layout() said; before, NCHW */
    TDL_LAYOUT_NCHW = 1,    /**< WebNN's default, and ONNX's */
    TDL_LAYOUT_NHWC = 2,    /**< TensorFlow's, and that of frames */
    TDL_LAYOUT_NC4HW4 = 3,  /**< of tensors alone: in packs (TDL_PACKING_C4) */
};

/** "NHWC", "NCHW" or "NC4HW4"; "unknown" for other numbers. Never NULL. */
TDL_API const char *tdl_layout_name(enum tdl_layout layout);

enum tdl_tensor_usage {
    TDL_TENSOR_READABLE = 1 << 0, /**< tdl_tensor_read is allowed */
    TDL_TENSOR_WRITABLE = 1 << 1, /**< tdl_tensor_write is allowed */
    /** May be rented to another device (vulkan.h). Not on the CPU, where creating such a
     *  tensor is TDL_ERROR_UNSUPPORTED: others there read and write the memory of mapped
     *  buffers (tdl_buffer_data()). */
    TDL_TENSOR_EXPORTABLE = 1 << 2,
    /** The same, by dma-buf: not on every device, see tdl_device_info. */
    TDL_TENSOR_EXPORTABLE_DMA_BUF = 1 << 3,
    /** With one of those: while it is rented, a use here waits in the caller's thread until
     *  another one has called tdl_tensor_return(), and is no error. Who has rented it must not
     *  use it before that: it would wait for itself. */
    TDL_TENSOR_WAITS_IF_RENTED = 1 << 4,
};

struct tdl_tensor; /**< device memory with a type and a shape (MLTensor) */

struct tdl_tensor_params {
    enum tdl_dtype dtype;         /**< of the elements */
    uint32_t rank;                /**< 0 (scalar) to TDL_MAX_RANK */
    uint32_t shape[TDL_MAX_RANK]; /**< elements; every dimension ≥ 1 */
    enum tdl_packing packing;     /**< packs: of rank 4 */
    uint32_t usage;               /**< enum tdl_tensor_usage, ored */
    const char *label;            /**< for messages; 63 bytes are copied; may be NULL */
    uint64_t reserved[4];         /**< 0: room for later versions */
};

/** Bytes of one element. */
TDL_API size_t tdl_dtype_size(enum tdl_dtype dtype);
/** WebNN's name of a data type ("float32"). */
TDL_API const char *tdl_dtype_name(enum tdl_dtype dtype);
/** Bytes that a tensor of these params holds, 0 if they are not valid. */
TDL_API size_t tdl_tensor_params_size(const struct tdl_tensor_params *params);

/** Create a zeroed tensor. Allocates device memory; may block for that.
 *  @return TDL_ERROR_UNSUPPORTED for usages and types that the device lacks */
TDL_API enum tdl_result tdl_tensor_create(struct tdl_context *context,
                                          const struct tdl_tensor_params *params,
                                          struct tdl_tensor **out_tensor);
/**
 * Create a tensor that is a constant of graphs, of any number of builders of the context
 * (WebNN's createConstantTensor): tdl_builder_constant_tensor(). Nobody writes it, and no
 * dispatch binds it. Graphs whose kernels read it as it lies have no copy of it, those that want
 * it packed one between them; it may be destroyed before them.
 * @param params  `usage` of READABLE at most; no packs
 * @param data    read before the call returns; `size` as tdl_tensor_params_size() has it
 * Allocates device memory; may block for that. Thread-safe.
 */
TDL_API enum tdl_result tdl_tensor_create_constant(struct tdl_context *context,
                                                   const struct tdl_tensor_params *params,
                                                   const void *data, size_t size,
                                                   struct tdl_tensor **out_tensor);
TDL_API void tdl_tensor_destroy(struct tdl_tensor **tensor);
TDL_API const struct tdl_tensor_params *tdl_tensor_get_params(const struct tdl_tensor *tensor);

/**
 * Queue a write of the whole tensor; `data` is read before the call returns.
 * @param size       must equal tdl_tensor_params_size()
 * @param out_point  point that the timeline reaches when it is written; may be NULL
 * Ordered after everything queued before on this tensor. Does not wait, unless the
 * queue is full (tdl_context_params.max_queued).
 */
TDL_API enum tdl_result tdl_tensor_write(struct tdl_tensor *tensor, const void *data, size_t size,
                                         uint64_t *out_point);
/**
 * Read the whole tensor into the caller's memory. Ordered after everything
 * queued before on this tensor. Blocks until the data is there.
 */
TDL_API enum tdl_result tdl_tensor_read(struct tdl_tensor *tensor, void *out_data, size_t size);
/** Likewise of `size` bytes from byte `offset` on, as the tensor lies in memory: one or
 *  more, within it. */
TDL_API enum tdl_result tdl_tensor_write_part(struct tdl_tensor *tensor, uint64_t offset,
                                              const void *data, size_t size, uint64_t *out_point);
TDL_API enum tdl_result tdl_tensor_read_part(struct tdl_tensor *tensor, uint64_t offset,
                                             void *out_data, size_t size);
/**
 * Hears of the end of a tdl_tensor_read_async(): TDL_OK when `out_data` has the values,
 * TDL_ERROR_DEVICE_LOST, or another error with its text in tdl_last_error(); then
 * `out_data` is as it was. Called on a thread of the context's, which calls one function
 * at a time, so that a slow one delays the others. It may call all of libtdl, may destroy
 * what was read and even drop the last reference of the context, which then goes when
 * it has returned.
 */
typedef void (*tdl_read_fn)(void *data, enum tdl_result result);
/**
 * Read the whole tensor without waiting: ordered as tdl_tensor_read(), behind what was
 * queued before and before what is queued later. `done(done_data, result)` is called
 * exactly once if this was TDL_OK, and never otherwise; of one thread's reads in their
 * order. Until then `out_data` is libtdl's to write. The tensor may be destroyed meanwhile.
 * The last tdl_context_destroy(), of context or object, waits until all was called.
 * @param size       must equal tdl_tensor_params_size()
 * @param out_point  the point behind which the values leave the tensor; `done` is called a
 *                   while after it; may be NULL
 * @return TDL_ERROR_BUSY, with `busy_when_full` or from within a callback, when
 *         tdl_context_params.max_queued reads are under way. Otherwise it waits for one
 *         of their callbacks: hold no lock then that those take.
 */
TDL_API enum tdl_result tdl_tensor_read_async(struct tdl_tensor *tensor, void *out_data,
                                              size_t size, tdl_read_fn done, void *done_data,
                                              uint64_t *out_point);
/** Likewise of `size` bytes from byte `offset` on, as tdl_tensor_read_part(). */
TDL_API enum tdl_result tdl_tensor_read_part_async(struct tdl_tensor *tensor, uint64_t offset,
                                                   void *out_data, size_t size, tdl_read_fn done,
                                                   void *done_data, uint64_t *out_point);
/**
 * A view with another shape on the same memory, which lives as long as any
 * view does. The element count must be the same; packs cannot be reshaped.
 */
TDL_API enum tdl_result tdl_tensor_reshape(struct tdl_tensor *tensor, uint32_t rank,
                                           const uint32_t *shape, struct tdl_tensor **out_view);

/**
 * A new tensor with the same picture in another layout, of the same data type
 * and usage. Rank 4. Shapes follow their layout: [N, H, W, C] becomes [N, C, H, W], and
 * that of packs is [N, H, W, C].
 * Queues the conversion and does not wait for it; the first of a shape
 * compiles a kernel. Thread-safe. The caller destroys the tensor.
 *
 * @param from  how the tensor's dimensions are meant: NHWC or NCHW, of packs NC4HW4
 * @param to    NHWC, NCHW (any type) or NC4HW4 (float32)
 * @return TDL_ERROR_INVALID_ARGUMENT for other ranks, types or layouts
 */
TDL_API enum tdl_result tdl_tensor_convert_layout(struct tdl_tensor *tensor, enum tdl_layout from,
                                                  enum tdl_layout to,
                                                  struct tdl_tensor **out_tensor);

/* --------------------------------------------------------------- builders */

/**
 * Collects operators into a graph (WebNN's MLGraphBuilder). The first wrong
 * call is remembered with its text: later calls return NULL in silence and
 * tdl_builder_build() reports it.
 */
struct tdl_builder;
/** A value in a graph under construction (MLOperand). Owned by its builder. */
struct tdl_operand;

/** @param context may be NULL for tools that only look at a model. */
TDL_API enum tdl_result tdl_builder_create(struct tdl_context *context,
                                           struct tdl_builder **out_builder);
/** Also destroys the operands and what tdl_builder_own() was given. */
TDL_API void tdl_builder_destroy(struct tdl_builder **builder);
/** TDL_OK, or the first error; the text is tdl_builder_error(). */
TDL_API enum tdl_result tdl_builder_status(const struct tdl_builder *builder);
/** The text of the first error, or of why the last tdl_builder_build() failed; "" after
 * none. Valid until the builder is used again. */
TDL_API const char *tdl_builder_error(const struct tdl_builder *builder);
/**
 * Put the builder into its error state, as an importer does when a file is
 * wrong. Only the first failure is kept; TDL_OK is none, and taken for
 * TDL_ERROR_INVALID_STATE. Returns NULL for convenience.
 */
TDL_API struct tdl_operand *tdl_builder_fail(struct tdl_builder *builder, enum tdl_result result,
                                             const char *format, ...) TDL_PRINTF(3, 4);
/** Have `release(memory)` called when the builder is destroyed. */
TDL_API void tdl_builder_own(struct tdl_builder *builder, void *memory, void (*release)(void *));
/** Another size of an input. */
struct tdl_input_size {
    const char *name;             /**< of the input */
    uint32_t shape[TDL_MAX_RANK]; /**< as many dimensions as it has */
    uint64_t reserved[4];         /**< 0: room for later versions */
};
/**
 * Give inputs other sizes: those of all operators are inferred anew, and graphs that are built
 * from then on have them. Graphs that there are stay as they are, and share the weights. For
 * networks whose operators' options hold for every size: convolutions, pools,
 * normalizations, resampling by a scale, functions of elements, products and the like.
 * @return TDL_ERROR_UNSUPPORTED, naming the operator, where one's options were made for the
 *         old size (reshape, slice, expand, resampling to a size, recurrent operators), and for
 *         what was read from a model file; else what the operator says of its new inputs.
 *         After an error all sizes are what they were.
 */
TDL_API enum tdl_result tdl_builder_resize(struct tdl_builder *builder,
                                           const struct tdl_input_size *sizes, uint32_t count);
/**
 * Have graphs that are built from then on take `count` pictures at once: the first dimension of
 * all inputs, which is 1, becomes `count`, and so does that of what follows from them. Each
 * picture gets what a graph of one makes of it, but for rounding: picture i of an output follows
 * from picture i of the inputs alone. Graphs that there are stay as they are, and share the
 * weights. Of models that were read from files, too. To be called when the outputs are named:
 * what none of them needs is left as it is.
 * @return TDL_ERROR_UNSUPPORTED, naming the operator or the input, where an input's first
 *         dimension is not 1, as after an earlier call (nothing takes it back; of a builder
 *         that was never stacked, 1 picture changes nothing), or where an operator may mix
 *         pictures (a reshape, softmax or reduction over the first dimension, recurrent
 *         operators, non-maximum suppression and the like). After an error all sizes are what
 *         they were.
 */
TDL_API enum tdl_result tdl_builder_stack(struct tdl_builder *builder, uint32_t count);
/** What was added so far follows from the sizes of the inputs, as readers of model files
 *  compute it: tdl_builder_resize() is TDL_ERROR_UNSUPPORTED from now on. */
TDL_API void tdl_builder_fix_sizes(struct tdl_builder *builder);
/** Name put before error texts of the operators added from now on (95 bytes are copied),
 *  such as "operator 12 CONV_2D"; NULL for none. */
TDL_API void tdl_builder_set_label(struct tdl_builder *builder, const char *label);

/** Type and shape of an operand. Owned by the operand. */
TDL_API const struct tdl_tensor_params *tdl_operand_get_desc(const struct tdl_operand *operand);
/**
 * Say once where the operators that follow have their channels, for those whose
 * `input_layout` is 0. Without it that is NCHW. Readers of model files say the layout of
 * their format, and leave it so. Returns at once; of the builder's thread.
 *
 * @param layout  NCHW or NHWC; 0 is NCHW again. The builder fails for another number.
 */
TDL_API void tdl_builder_set_input_layout(struct tdl_builder *builder, enum tdl_layout layout);
/** What it said last, or NCHW. While tdl_model_params.input is called, where the file has the
 *  channels of that input, as far as its format or its shape says. */
TDL_API enum tdl_layout tdl_builder_get_input_layout(const struct tdl_builder *builder);
/**
 * Where a picture has its channels: where the operators that made it or read it have them,
 * those next to it in the graph first. Operators that go by dimensions pass it on, and so
 * do transpositions from one layout to the other. Looks through the whole graph as it is
 * now; of the builder's thread.
 *
 * @return NCHW or NHWC; TDL_LAYOUT_DEFAULT where no operator says it (a graph has it as the
 *         builder was told when the inputs were added), of other ranks than 4, of what
 *         follows from constants, of NULL, and when out of memory
 */
TDL_API enum tdl_layout tdl_operand_get_layout(const struct tdl_operand *operand);

/** A named input, TDL_MAX_INPUTS of them at most. Names are unique among inputs, and have
 *  1 to TDL_MAX_NAME bytes. A run binds all inputs, those that no operator reads, too. */
TDL_API struct tdl_operand *tdl_builder_input(struct tdl_builder *builder, const char *name,
                                              const struct tdl_tensor_params *desc);
/** A constant. `data` is not copied: it must stay valid, and as it is, until the builder
 *  dies. The same data in the same shape and type is the same operand. */
TDL_API struct tdl_operand *tdl_builder_constant(struct tdl_builder *builder,
                                                 const struct tdl_tensor_params *desc,
                                                 const void *data, size_t size);
/** The constant that a tensor of tdl_tensor_create_constant() holds, of the builder's context
 *  (WebNN's constant(tensor)). Blocking: its elements are read from the device, as building may
 *  pack them otherwise; the builder keeps them. The tensor may be destroyed then. */
TDL_API struct tdl_operand *tdl_builder_constant_tensor(struct tdl_builder *builder,
                                                        struct tdl_tensor *tensor);
/**
 * The elements of a constant, or of the result of an operator that reads constants only
 * and gives up to 2^16 elements or as many as it reads: computed by this call, by the
 * operator's definition, and a constant from then on; where it is a list of sizes or the
 * like, so are the up to 16 results behind each other that it comes from. Row-major in the
 * order of the shape, of the operand's data type; owned by the builder. NULL, without an error, for
 * any other operand, and for what is more than a list of sizes once one builder has made
 * 32 MiB so, or gone through 128 MiB. For importers whose shapes are computed. Blocking,
 * for as long as it computes.
 */
TDL_API const void *tdl_builder_evaluate(struct tdl_builder *builder, struct tdl_operand *operand);
/** Name an operand as an output of the graph, TDL_MAX_OUTPUTS at most; names are as
 *  inputs', and unique among outputs. An input, a constant, or what is an output already is copied.
 *  @return of a builder that has failed, its first error, with its text */
TDL_API enum tdl_result tdl_builder_output(struct tdl_builder *builder, const char *name,
                                           struct tdl_operand *operand);

/* ----------------------------------------------------------------- graphs */

struct tdl_graph; /**< a compiled graph (MLGraph) */

enum tdl_precision {
    TDL_PRECISION_AUTO = 0, /**< what is safe for any network: FP32 on every device */
    TDL_PRECISION_FP32 = 1,
    /** 16 bits a value for activations in memory, float32 weights and arithmetic; on
     *  the CPU the same as FP32. Matrix units multiply halves, with float32 sums: what
     *  they multiply is rounded to these, weights and matmul's float32 values, too.
     *  Halves, rounded to the nearest: 11 bits from 6.1e-5 to 65504, steps of 6e-8 or
     *  0 below, infinity from 65520 on, where convolutions on matrix units take
     *  ±65504. Infinities and NaN stay. A network whose activations are larger wants
     *  FP32. What is divided by a difference of products, as a variance is, and what
     *  both are computed from by arithmetic and means, stays float32. */
    TDL_PRECISION_FP16 = 2,
};

/**
 * Hears how many kernels are compiled: 0 of `total` at the beginning, then
 * after each one; on the CPU, which compiles nothing, 0 of 0 again and again, while it
 * plans, packs weights and has memory given. Called from the threads that compile, one call
 * at a time, which waits for it; it must not call libtdl.
 * @return false to cancel: what is being compiled is finished, and no more.
 */
typedef bool (*tdl_progress_fn)(void *data, uint32_t done, uint32_t total);

struct tdl_compile_params {
    uint32_t threads;         /**< threads that compile; 0: one for each core; 16 at most */
    tdl_progress_fn progress; /**< may be NULL */
    void *progress_data;      /**< for `progress` */
    uint64_t reserved[4];     /**< 0: room for later versions */
};

struct tdl_build_params {
    enum tdl_precision precision; /**< of activations */
    /** No fusion and no rewrites: each operator its own dispatch. For
     *  debugging and for comparing. */
    bool no_fuse;
    /** TDL_PACKING_C4: dispatches give rank-4 float32 inputs in packs, of the shape
     *  [N, H, W, C] wherever the model has its channels. Otherwise as the builder was told. */
    enum tdl_packing input_packing;
    /** TDL_PACKING_C4: the graph writes its rank-4 float32 outputs so, for a graph that takes
     *  them. Otherwise as the operators have it. */
    enum tdl_packing output_packing;
    /** Compute convolutions so, where the way takes the layer's shape; the
     *  others choose as ever, and struct tdl_graph_step says which did. One of
     *  tdl_conv2d_algorithm_name(), or "name:variant" ("implicit:64x64"); NULL:
     *  what tdl_tune() found, or else what is estimated to be fastest. A name
     *  that there is not is TDL_ERROR_INVALID_ARGUMENT; one that no convolution
     *  of the graph can take is TDL_ERROR_UNSUPPORTED, as is any on the CPU.
     *  "cooperative" goes for matmul, gemm and transposed convolutions, too, and
     *  "tensors" for matmul and gemm alone. */
    const char *conv2d_algorithm;
    /** Leave the kernels to tdl_graph_compile(). All other reasons for failing
     *  are found before, in a few ms. */
    bool defer_compile;
    /** Of the kernels, unless deferred; on the CPU the progress function is asked while
     *  weights are packed in any case. */
    struct tdl_compile_params compile;
    /** Plans that a graph with dynamic dimensions keeps (dynamic.h), that of its first sizes
     *  among them: 2 or more; 0: 4. */
    uint64_t max_plans;
    /** Other than 0: a dispatch whose sizes have no plan is TDL_ERROR_BUSY, and a thread of the
     *  library's makes it. 0: the dispatch makes it, and takes so long. */
    uint64_t plans_in_background;
    uint64_t reserved[2]; /**< 0: room for later versions */
};

/** The ways to compute conv2d, by index; NULL past the end. */
TDL_API const char *tdl_conv2d_algorithm_name(uint32_t index);

/** Why a dispatch is computed as it is. */
enum tdl_choice {
    TDL_CHOICE_ONLY = 0, /**< there is one way */
    TDL_CHOICE_DEFAULT,  /**< by estimate, for this kind of device */
    TDL_CHOICE_TUNED,    /**< measured on this device by tdl_tune() */
    TDL_CHOICE_FORCED,   /**< asked for in struct tdl_build_params */
};

/**
 * Compile: passes infer → fold → labels → fuse → layout → plan → pipelines → record; on the
 * CPU infer → fold, then XNNPACK's runtimes and loops.
 * TDL_DUMP=PASS (or "all") in the environment prints the graph after a pass.
 * The builder may be destroyed, or built again with other params. Graphs of one context
 * share weights that are the same bytes, be it of this builder or of another, as long as
 * at least half of the older graph's are; but each has its own of what XNNPACK packs.
 * Time and memory follow the number of operators and the bytes of constants. On the CPU
 * a graph that needs more memory than the process may have, by what the machine has left,
 * its control groups and ulimit -v, is TDL_ERROR_OUT_OF_MEMORY before any is touched.
 * Blocking: compiles kernels (seconds on a cold cache, ms on a warm one, and on the CPU).
 * @return TDL_ERROR_CANCELED if the progress function returned false;
 *         TDL_ERROR_UNSUPPORTED where the kernels' weights would be many times
 *         the constants, or for more than 2048 different kernels
 */
TDL_API enum tdl_result tdl_builder_build(struct tdl_builder *builder,
                                          const struct tdl_build_params *params,
                                          struct tdl_graph **out_graph);
/**
 * Compile the kernels of a graph that was built with `defer_compile`; until
 * that has succeeded it cannot be dispatched. Does nothing if they are. After
 * a failure it may be called again, and does not compile anew what it has. The first
 * dispatch then takes about as long as later ones: on Vulkan it makes no pipeline, but
 * records a command buffer; on the CPU it works in memory that is there.
 * @param params  NULL: with defaults
 * @return TDL_ERROR_CANCELED if the progress function returned false
 * Thread-safe, blocking: as tdl_builder_build().
 */
TDL_API enum tdl_result tdl_graph_compile(struct tdl_graph *graph,
                                          const struct tdl_compile_params *params);
/** Deferred: runs that are queued finish, then the memory goes. */
TDL_API void tdl_graph_destroy(struct tdl_graph **graph);

struct tdl_binding {
    const char *name;          /**< of the graph's input or output */
    struct tdl_tensor *tensor; /**< what it is in this run */
};

/** The tensors that the graph takes: descriptors by index, in the order of the builder's
 *  calls. Owned by the graph. NULL past the end. */
TDL_API const struct tdl_tensor_params *tdl_graph_input(const struct tdl_graph *graph,
                                                        uint32_t index, const char **out_name);
TDL_API const struct tdl_tensor_params *tdl_graph_output(const struct tdl_graph *graph,
                                                         uint32_t index, const char **out_name);
/** The layouts of these tensors, as the graph reads and writes them: NCHW, NHWC, or NC4HW4 of
 *  packs; TDL_LAYOUT_DEFAULT of other ranks than 4, and past the end. */
TDL_API enum tdl_layout tdl_graph_input_layout(const struct tdl_graph *graph, uint32_t index);
TDL_API enum tdl_layout tdl_graph_output_layout(const struct tdl_graph *graph, uint32_t index);

/**
 * Queue one run. Tensors are checked against the graph by name, dtype, shape,
 * packing and context. Returns at once, unless the queue is full
 * (tdl_context_params.max_queued); `out_point` (may be NULL) is reached
 * when the outputs are written. On Vulkan the first dispatch with a set of
 * tensors records a command buffer, later ones replay it.
 */
TDL_API enum tdl_result tdl_graph_dispatch(struct tdl_graph *graph,
                                           const struct tdl_binding *inputs, uint32_t input_count,
                                           const struct tdl_binding *outputs, uint32_t output_count,
                                           uint64_t *out_point);

/** One dispatch of the compiled plan. Strings live as long as the graph. */
struct tdl_graph_step {
    const char *kernel;    /**< shader name; on the CPU "xnnpack", "cpu: …" or "reference: …" */
    const char *label;     /**< operators it computes */
    uint32_t groups[3];    /**< workgroups; 0 on the CPU, as local_size */
    uint32_t local_size;   /**< invocations per workgroup */
    uint64_t macs;         /**< multiply-accumulates */
    uint64_t bytes;        /**< activations and weights read and written */
    uint64_t gpu_ns;       /**< device time in the last tdl_graph_profile(), else 0 */
    const char *algorithm; /**< "implicit:64x64"; "" where there is one way */
    enum tdl_choice choice; /**< why this one */
    uint64_t reserved[4];   /**< 0: room for later versions */
};
struct tdl_graph_stats {
    uint32_t operators;    /**< of the builder */
    uint32_t steps;        /**< dispatches of a run */
    uint64_t macs;         /**< multiply-accumulates of a run */
    uint64_t arena_bytes;  /**< planned activations */
    uint64_t tensor_bytes; /**< sum of the activations without planning */
    /** On the device: those that operators share count once, and those that it shares with
     *  other graphs of the context count in each. */
    uint64_t weight_bytes;
    enum tdl_precision precision; /**< FP32 or FP16 */
    uint64_t quantized_steps;     /**< dispatches that compute on quantized numbers */
    uint64_t reserved[3];         /**< 0: room for later versions */
};
/** Figures of the compiled graph, known before it first runs. Thread-safe, never blocks. */
TDL_API void tdl_graph_get_stats(const struct tdl_graph *graph, struct tdl_graph_stats *out);
/** NULL past the end. */
TDL_API const struct tdl_graph_step *tdl_graph_get_step(const struct tdl_graph *graph,
                                                        uint32_t index);
/**
 * Run once with a timestamp of the device round every step, and wait: fills `gpu_ns`.
 * @return TDL_ERROR_UNSUPPORTED where the device has no timestamps. Blocking.
 */
TDL_API enum tdl_result tdl_graph_profile(struct tdl_graph *graph, const struct tdl_binding *inputs,
                                          uint32_t input_count, const struct tdl_binding *outputs,
                                          uint32_t output_count);

/**
 * Find out what a run takes while other work goes on, and wait for it. On the CPU it goes on
 * in spare time: operator by operator whenever nothing else is submitted, and by one
 * operator after each batch, so that others wait for one operator at most. On Vulkan it is a
 * run like any other. Outputs are written as by tdl_graph_dispatch(); until this returns
 * nobody else may write the tensors, nor read the outputs. The graph itself may be at work
 * meanwhile. Thread-safe. Blocking.
 * @param params  `progress`, of 0 kernels, is asked now and then whether to go on; NULL: yes
 * @param out_ns  on the CPU the time of its operators alone, without what came between;
 *                elsewhere the wall time
 * @return TDL_ERROR_CANCELED when `progress` said no: outputs are not there then
 */
TDL_API enum tdl_result tdl_graph_try(struct tdl_graph *graph, const struct tdl_binding *inputs,
                                      uint32_t input_count, const struct tdl_binding *outputs,
                                      uint32_t output_count,
                                      const struct tdl_compile_params *params, uint64_t *out_ns);

/* ----------------------------------------------------------------- limits */

/** Limits of a context (WebNN's opSupportLimits()). 0 where there is no bound. */
struct tdl_limits {
    uint32_t max_rank, max_inputs, max_outputs; /**< TDL_MAX_… */
    uint32_t dtypes;                            /**< of tensors: 1 << enum tdl_dtype, ored */
    uint64_t max_tensor_bytes;                  /**< of a tensor that kernels reach whole */
    uint64_t max_value_bytes;                   /**< of a value between the operators of a graph */
    uint32_t max_planes;       /**< N times the packs of four channels of an image in a graph */
    uint32_t max_batch_graphs; /**< in one batch */
    uint64_t reserved[4];      /**< 0: room for later versions */
};
/** Thread-safe, never blocks. */
TDL_API void tdl_context_get_limits(struct tdl_context *context, struct tdl_limits *out);

/** Most operands of an operator that struct tdl_operator_limits has. */
#define TDL_MAX_OPERATOR_OPERANDS 8

/** Types and ranks of an operand of an operator, or of its result. */
struct tdl_operand_limits {
    const char *name;     /**< "input", "filter"; constant */
    uint32_t dtypes;      /**< 1 << enum tdl_dtype, ored */
    uint32_t ranks;       /**< 1 << rank, ored */
    bool optional;        /**< may be left out */
    bool constant;        /**< has to be of tdl_builder_constant(): not computed, no input */
    uint64_t reserved[4]; /**< 0: room for later versions */
};
/** Limits of an operator on a context. */
struct tdl_operator_limits {
    const char *name;                                              /**< constant */
    uint32_t operand_count;                                        /**< of `operands` */
    struct tdl_operand_limits operands[TDL_MAX_OPERATOR_OPERANDS]; /**< in an order of their own */
    struct tdl_operand_limits output;                              /**< what came of those */
    uint64_t reserved[4]; /**< 0: room for later versions */
};
/** The operators by index: what their functions are called behind `tdl_builder_`; of
 *  reduce one for each kind, "reduce_mean". Constant; NULL past the end. Thread-safe. */
TDL_API const char *tdl_operator_name(uint32_t index);
/**
 * Which data types and ranks each operand of an operator may have on this context. Each that
 * is named is taken with some of the others, as add's b with an a of its type; what is not
 * named never is. That shapes fit each other, and the device has the memory, is beside it:
 * tdl_builder_explain().
 * @return TDL_ERROR_INVALID_ARGUMENT for a name that tdl_operator_name() does not give.
 * Thread-safe, never blocks.
 */
TDL_API enum tdl_result tdl_context_get_operator_limits(struct tdl_context *context,
                                                        const char *name,
                                                        struct tdl_operator_limits *out);

/** Hears of a dispatch of a graph; valid during the call. */
typedef void (*tdl_step_fn)(void *data, const struct tdl_graph_step *step);
/**
 * Whether a builder's graph can be built on its context, and by what it would be computed:
 * as tdl_builder_build(), with its errors, but compiles no kernel and keeps nothing.
 * @param report  called for each step in order, in the caller's thread; may be NULL
 * Blocking: as a build with `defer_compile`.
 */
TDL_API enum tdl_result tdl_builder_explain(struct tdl_builder *builder,
                                            const struct tdl_build_params *params,
                                            tdl_step_fn report, void *report_data);

/* ------------------------------------------------------------ measurement */

/** Order statistics of one quantity over several runs, ns. */
struct tdl_times {
    double mean, deviation;  /**< standard deviation of the sample; 0 of one run */
    double min, median, max; /**< of the same runs */
};
struct tdl_benchmark_params {
    uint32_t warmup;     /**< runs that do not count; 0: 10 */
    uint32_t iterations; /**< runs that count; 0: 100 */
    /** One value a counted run each, in their order; NULL if not wanted. ns */
    double *wall_ns, *gpu_ns;
    uint64_t reserved[4]; /**< 0: room for later versions */
};
struct tdl_benchmark_result {
    struct tdl_times wall; /**< from the call until the CPU knows of the end */
    struct tdl_times gpu;  /**< the device's own time; all 0 on a device without timestamps */
    double first_ns;       /**< wall time of the very first run */
    uint32_t iterations;   /**< runs that counted */
    uint64_t reserved[4];  /**< 0: room for later versions */
};
/**
 * Run a graph again and again, one run at a time, and time each. The tensors
 * are those of tdl_graph_dispatch(). Blocking: for all runs.
 */
TDL_API enum tdl_result tdl_benchmark(struct tdl_graph *graph, const struct tdl_binding *inputs,
                                      uint32_t input_count, const struct tdl_binding *outputs,
                                      uint32_t output_count,
                                      const struct tdl_benchmark_params *params,
                                      struct tdl_benchmark_result *out_result);

/** Whether the ways to compute a layer were timed. */
enum tdl_untuned {
    TDL_TUNED_WHOLLY = 0,  /**< each of them */
    TDL_UNTUNED_SMALL = 1, /**< none: it is not in tdl_tune_params.share */
    TDL_UNTUNED_LATE = 2,  /**< some, or the default alone: tdl_tune_params.seconds were over */
};
/** One way that a layer was computed, and how long it took. */
struct tdl_tune_report {
    const char *layer;     /**< the shape, as the tuning file names it */
    const char *algorithm; /**< "implicit:64x64" */
    double gpu_ns;         /**< median, all dispatches of the layer */
    bool is_default;       /**< what is taken without tuning */
    uint64_t untuned;      /**< enum tdl_untuned, of the layer */
    uint64_t reserved[3];  /**< 0: room for later versions */
};
struct tdl_tune_params {
    struct tdl_build_params build; /**< as the graph will be built */
    uint32_t iterations;           /**< runs of each candidate at most; 0: 15 */
    /** Ways whose estimate is this many times the best one's are not tried;
     *  0: 8. Tuning takes as long as it does because of compiling them. */
    double patience;
    bool dry; /**< report only: keep nothing */
    /** Called for every layer and way, in the caller's thread; may be NULL. The
     *  strings are the library's, and valid during the call. */
    void (*report)(void *data, const struct tdl_tune_report *report);
    void *report_data;
    /** End after so many seconds, and the kernel that is compiled then; what is not timed by
     *  then is reported so. 0: when all is timed. */
    double seconds;
    /** Tune the layers that take most time, which together make up this share of what all such
     *  layers take: 0.9, say. 0: all. */
    double share;
    uint64_t reserved[2]; /**< 0: room for later versions */
};
/**
 * Time every way to compute each different convolution, transposed convolution,
 * matmul and gemm of the builder's graph on its context's device, and keep the
 * fastest: for the graphs that this context builds from now on, and in a file beside
 * the pipeline cache for later ones on the same device, driver and version. A file that
 * is damaged or of another device is ignored with a warning; it is safe to delete.
 * @param out_layers  layers measured; may be NULL
 * @return TDL_ERROR_UNSUPPORTED where the device has no timestamps, and on the CPU,
 *         which has one way for each layer. TDL_ERROR_TIMEOUT where `seconds` were over before
 *         the graph itself was compiled and had run; another call finds what was compiled.
 * Blocking: compiles and runs dozens of kernels (seconds to minutes; see `seconds`).
 */
TDL_API enum tdl_result tdl_tune(struct tdl_builder *builder, const struct tdl_tune_params *params,
                                 uint32_t *out_layers);

#ifdef __cplusplus
}
#endif

#include <tdl/operators.h> /* the operators that a builder takes */

#endif
