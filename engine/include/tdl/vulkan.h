/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file vulkan.h
 * Sharing with others: a context on somebody else's VkDevice and ours for
 * them, memory and images by file descriptor, order between devices without
 * the CPU, and tensors rented out.
 *
 * Whose memory it is. Vulkan has memory that several drivers see pass from
 * owner to owner. libtdl does that by itself: a batch takes every such buffer
 * over before its first use and gives it back after its last. What it cannot
 * know is when the others are done: say so with a semaphore or a sync file
 * (tdl_batch_wait_…), and tell them in the same way (tdl_batch_signal_…).
 *
 * Needs Vulkan's headers, for which tdl.pc does not ask: `pkg-config --cflags tdl vulkan`.
 */
#ifndef TDL_VULKAN_H
#define TDL_VULKAN_H

#include <tdl/frame.h>
#include <vulkan/vulkan_core.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- devices */

/** A VkDevice with all that libtdl has to know of it. */
struct tdl_vulkan_device {
    VkInstance instance;              /**< instance that the device was found by */
    VkPhysicalDevice physical_device; /**< device that `device` was made of */
    VkDevice device;                  /**< with what is enabled below */
    VkQueue queue;                    /**< queue of a family that computes */
    uint32_t queue_family;            /**< the queue's */
    uint32_t instance_version;        /**< VkApplicationInfo.apiVersion of the instance */
    /** Enabled on the device; the versions' own need not be named. */
    const char *const *extensions;
    uint32_t extension_count;
    /** Enabled, with the whole pNext chain; NULL: none are known to be. */
    const VkPhysicalDeviceFeatures2 *features;
    /** Called round every use of the queue; both or, if nobody else uses it,
     *  neither. They are not called from within each other. */
    void (*lock_queue)(void *data);
    void (*unlock_queue)(void *data);
    void *lock_data;
    uint64_t reserved[4]; /**< 0: room for later versions */
};

/**
 * Create a context on a device that belongs to the caller, who keeps instance
 * and device alive until the context and all that was made from it have gone.
 * `device` and its lists are copied. Several contexts may share one device and
 * queue: give them the same lock.
 *
 * libtdl works with what was enabled; tdl_context_device() then tells what is
 * left. For everything: VK_KHR_external_memory_fd, VK_EXT_external_memory_dma_buf,
 * VK_EXT_external_memory_host, VK_KHR_external_semaphore_fd,
 * VK_EXT_queue_family_foreign, VK_EXT_image_drm_format_modifier.
 *
 * @param params  `device` and `validation` have no meaning here
 * @return TDL_ERROR_UNSUPPORTED when timeline semaphores or Vulkan 1.1 are
 *         missing, with what to enable. Blocking: reads the pipeline cache.
 */
TDL_API enum tdl_result tdl_context_create_from_vulkan(const struct tdl_context_params *params,
                                                       const struct tdl_vulkan_device *device,
                                                       struct tdl_context **out_context);
/**
 * The device of any context, for neighbours who want to share it; fit for
 * tdl_context_create_from_vulkan(). `features` are those that libtdl knows of.
 * All of it is valid as long as the context. Thread-safe.
 */
TDL_API void tdl_context_get_vulkan(struct tdl_context *context,
                                    struct tdl_vulkan_device *out_device);
/** Keep libtdl from the queue while the caller uses it (vkQueueSubmit,
 *  vkQueuePresentKHR, vkQueueWaitIdle). No libtdl call in between. */
TDL_API void tdl_context_lock_queue(struct tdl_context *context);
/** The end of tdl_context_lock_queue(), on the same thread. */
TDL_API void tdl_context_unlock_queue(struct tdl_context *context);

/* -------------------------------------------- memory by file descriptor */

enum tdl_handle_type {
    TDL_HANDLE_OPAQUE_FD = 0, /**< between Vulkan devices of one driver and version */
    TDL_HANDLE_DMA_BUF = 1,   /**< between any drivers of one machine */
    /* For rentals only: */
    TDL_HANDLE_VK_BUFFER = 2, /**< to somebody on the context's own VkDevice */
    TDL_HANDLE_KNOWN = 3,     /**< to those who had it before, and kept their import */
};

/**
 * Make memory that somebody shares a buffer, without copying.
 *
 * @param fd    borrowed: duplicated inside, and never closed
 * @param size  bytes that will be used; for dma-bufs 0 asks the fd
 * @return TDL_ERROR_UNSUPPORTED with the driver's reason: no extension, no
 *         memory type, a dma-buf smaller than the driver wants it (some round
 *         up to pages or read ahead), one that the CPU cannot map (software
 *         devices need that, and O_RDWR).
 *
 * An opaque fd has to come from a buffer of tdl_buffer_create_exportable(), of
 * tdl_tensor_rent(), or from one made alike: same size, dedicated allocation,
 * usage of storage, transfer source and destination.
 *
 * Several imports of one dma-buf alias each other and libtdl does not order
 * their uses: keep one buffer per dma-buf.
 */
TDL_API enum tdl_result tdl_buffer_import_fd(struct tdl_context *context, enum tdl_handle_type type,
                                             int fd, size_t size, struct tdl_buffer **out_buffer);
/**
 * Create a buffer that others can be given. Not mapped. Where the driver has
 * such memory, dma-bufs are made so that the CPU of others can map them.
 * @return TDL_ERROR_UNSUPPORTED when the driver cannot export it.
 */
TDL_API enum tdl_result tdl_buffer_create_exportable(struct tdl_context *context,
                                                     enum tdl_handle_type type, size_t size,
                                                     struct tdl_buffer **out_buffer);
/**
 * A new fd for the memory of a buffer made by tdl_buffer_create_exportable().
 * The caller closes it; it keeps the memory alive on its own. *out_fd is -1 on failure.
 */
TDL_API enum tdl_result tdl_buffer_export_fd(struct tdl_buffer *buffer, int *out_fd);

struct tdl_buffer_wrap_params {
    VkBuffer buffer; /**< a buffer of the context's VkDevice, with memory bound to it */
    uint64_t size;   /**< size that it was created with, bytes */
    /** That it was created with; 0: STORAGE_BUFFER, TRANSFER_SRC and TRANSFER_DST, which it
     *  has to have. */
    VkBufferUsageFlags usage;
    uint64_t reserved[4]; /**< 0: room for later versions */
};
/**
 * Borrow a VkBuffer, for frames, copies and tensors (tdl_tensor_create_on()), without
 * copying. The caller keeps it and its memory alive until the buffer and its tensors have
 * been destroyed and the point of the last batch that used them has passed; and it stays
 * with the context's queue family, or EXCLUSIVE ones are handed over by the caller. For
 * order with the caller's own work see tdl_batch_wait_semaphore(); on the same queue,
 * submitted between tdl_context_lock_queue() and tdl_context_unlock_queue(), a barrier does.
 */
TDL_API enum tdl_result tdl_buffer_wrap(struct tdl_context *context,
                                        const struct tdl_buffer_wrap_params *params,
                                        struct tdl_buffer **out_buffer);

/* ----------------------------------------------------------------- images */

/** One plane of a picture in a VkImage: of its own, or an aspect of one that
 *  has several. */
struct tdl_image;

struct tdl_image_import_params {
    enum tdl_format format; /**< format of the picture */
    uint32_t plane;         /**< index of the plane in that format */
    uint32_t width, height; /**< size of the picture, px */
    uint64_t modifier;      /**< DRM's; 0 is linear */
    int fd;                 /**< borrowed: duplicated inside */
    uint64_t offset;        /**< start of the plane in the dma-buf, bytes */
    uint32_t stride;        /**< distance of its rows, bytes */
    bool for_write;         /**< refuse what can be copied from only */
    uint64_t reserved[4];   /**< 0: room for later versions */
};
/**
 * Take a plane of a dma-buf whose pixels are tiled; linear ones are better
 * imported as buffers, which kernels read in place. libtdl keeps track of its
 * state: leave it out in copies. One plane of memory for each plane of the
 * format: modifiers with planes for compression are refused.
 * @return TDL_ERROR_UNSUPPORTED with the driver's reason.
 */
TDL_API enum tdl_result tdl_image_import_dma_buf(struct tdl_context *context,
                                                 const struct tdl_image_import_params *params,
                                                 struct tdl_image **out_image);
/** Abilities of a device with dma-bufs of a tiling. */
struct tdl_image_modifier {
    uint64_t modifier;    /**< DRM's */
    bool readable;        /**< tdl_image_import_dma_buf() takes every plane, and copies from it */
    bool writable;        /**< and to it */
    bool exportable;      /**< tdl_image_create_exportable() makes every plane */
    uint64_t reserved[4]; /**< 0: room for later versions */
};
/**
 * The modifiers that are good for anything with pictures of `format`; none
 * where the device has no modifiers.
 * @param out_modifiers  room for `capacity`, or NULL to count only
 * @param out_count      of all, also of those that found no room
 */
TDL_API enum tdl_result tdl_image_modifiers(struct tdl_context *context, enum tdl_format format,
                                            struct tdl_image_modifier *out_modifiers,
                                            uint32_t capacity, uint32_t *out_count);

struct tdl_image_create_params {
    enum tdl_format format; /**< format of the picture */
    uint32_t plane;         /**< index of the plane in that format */
    uint32_t width, height; /**< size of the picture, px */
    uint64_t modifier;      /**< DRM's; 0 is linear */
    uint64_t reserved[4];   /**< 0: room for later versions */
};
/**
 * Make a plane of a picture, in memory of its own, for others to take: displays
 * and decoders as a dma-buf. What it holds is undefined. libtdl keeps track of
 * its state, and gives it away (to the queue family FOREIGN, or EXTERNAL for
 * opaque fds) after every copy, in VK_IMAGE_LAYOUT_GENERAL.
 * @return TDL_ERROR_UNSUPPORTED with the reason, when the device does not make
 *         such memory, or not in this tiling.
 */
TDL_API enum tdl_result tdl_image_create_exportable(struct tdl_context *context,
                                                    enum tdl_handle_type type,
                                                    const struct tdl_image_create_params *params,
                                                    struct tdl_image **out_image);
/** The place of a plane. */
struct tdl_image_place {
    int fd;               /**< the caller closes it */
    uint64_t offset;      /**< bytes */
    uint32_t stride;      /**< of its rows, bytes, as the modifier counts them */
    uint64_t reserved[4]; /**< 0: room for later versions */
};
/** A new fd of an exportable image's memory, and where in it the plane lies.
 *  From now on what others have written there can be copied from it. */
TDL_API enum tdl_result tdl_image_export(struct tdl_image *image,
                                         struct tdl_image_place *out_place);

struct tdl_image_wrap_params {
    VkImage image;          /**< an image of the context's VkDevice; level 0, layer 0 */
    VkFormat vk_format;     /**< format that it was created with */
    enum tdl_format format; /**< format of its bytes */
    uint32_t plane;         /**< index of the plane in that format */
    uint32_t width, height; /**< size of the picture, px */
    /** 0: COLOR. PLANE_0… of images with several planes, not disjoint. */
    VkImageAspectFlags aspect;
    VkImageUsageFlags usage; /**< usage that it was created with; 0: copies both ways */
    uint64_t reserved[4];    /**< 0: room for later versions */
};
/** Borrow a VkImage. The caller keeps it alive until the image has been
 *  destroyed and the point of the last batch that used it has passed. */
TDL_API enum tdl_result tdl_image_wrap(struct tdl_context *context,
                                       const struct tdl_image_wrap_params *params,
                                       struct tdl_image **out_image);
/** Deferred: it goes when the GPU has passed the last use. */
TDL_API void tdl_image_destroy(struct tdl_image **image);

/** The last use of a VkImage, and its owner. */
struct tdl_image_state {
    VkImageLayout layout;        /**< layout that the image is in */
    VkAccessFlags2 access;       /**< access of the last use */
    VkPipelineStageFlags2 stage; /**< where */
    /** The owner: VK_QUEUE_FAMILY_IGNORED (or the context's own) for nobody
     *  else; another family has released it to ours, without changing `layout`. */
    uint32_t queue_family;
    uint64_t reserved[4]; /**< 0: room for later versions */
};
/**
 * Copy the planes of a picture into a frame in a buffer, on the GPU.
 *
 * @param images  one for each plane of the format
 * @param states  for each image, which may share one: the state that it is in
 *                when the batch begins; on return the one that it will be left
 *                in. NULL, or a NULL inside: for imports.
 * @param target  offsets and strides are multiples of a texel block's bytes
 *
 * An image of another queue family is given back to it in the layout that it
 * came in (GENERAL if that was UNDEFINED), released; there the new owner
 * acquires it with the same layout before and after. Others stay in the layout
 * of the copy. Cancelling the batch leaves `states` as they were written.
 */
TDL_API enum tdl_result tdl_batch_images_to_frame(struct tdl_batch *batch,
                                                  struct tdl_image *const images[],
                                                  struct tdl_image_state *const states[],
                                                  const struct tdl_frame *target);
/** The other way: the frame's pixels into the images. What UNDEFINED ones held
 *  is lost, and nothing of it waited for. Otherwise as tdl_batch_images_to_frame(). */
TDL_API enum tdl_result tdl_batch_frame_to_images(struct tdl_batch *batch,
                                                  const struct tdl_frame *source,
                                                  struct tdl_image *const images[],
                                                  struct tdl_image_state *const states[]);

/* ------------------------------------------------- order between devices */

/**
 * The batch's work begins when `semaphore` (of the context's VkDevice) is
 * signalled, or has reached `value` if it is a timeline. Nothing blocks here;
 * later batches of the context queue up behind. A semaphore that is never
 * signalled stops the context for ever. Up to 16 waits in one batch.
 * The caller keeps the semaphore alive until the batch's point has passed.
 */
TDL_API enum tdl_result tdl_batch_wait_semaphore(struct tdl_batch *batch, VkSemaphore semaphore,
                                                 uint64_t value);
/** The batch's end signals `semaphore`, or brings a timeline to `value`.
 *  Otherwise as tdl_batch_wait_semaphore(); up to 15. */
TDL_API enum tdl_result tdl_batch_signal_semaphore(struct tdl_batch *batch, VkSemaphore semaphore,
                                                   uint64_t value);
/**
 * The batch's work begins when the sync file `fd` has signalled; -1 is one
 * that has. On success libtdl owns the fd, on failure the caller still does.
 * @return TDL_ERROR_UNSUPPORTED where tdl_device_info.sync_fd is false: poll()
 *         the fd instead.
 */
TDL_API enum tdl_result tdl_batch_wait_sync_fd(struct tdl_batch *batch, int fd);
/** Before submission: have its end as a sync file.
 *  @return TDL_ERROR_UNSUPPORTED where tdl_device_info.sync_fd is false. */
TDL_API enum tdl_result tdl_batch_want_sync_fd(struct tdl_batch *batch);
/**
 * After submission and before the next begin, once: a sync file that signals
 * when the batch's work is done. The caller closes it; -1 with TDL_OK is one
 * that has signalled already.
 */
TDL_API enum tdl_result tdl_batch_take_sync_fd(struct tdl_batch *batch, int *out_fd);

/**
 * The fences that the kernel keeps with a dma-buf, as one sync file: what has
 * to be waited for before reading it, or before writing (for_write: readers,
 * too). The caller closes it. Does not wait.
 * @return TDL_ERROR_UNSUPPORTED when the kernel or this fd has none (Linux
 *         before 5.20, not a dma-buf): poll() the dma-buf for POLLIN, or for
 *         POLLOUT before writing.
 */
TDL_API enum tdl_result tdl_dma_buf_get_fence(int dma_buf_fd, bool for_write, int *out_sync_fd);
/**
 * Add a sync file to the fences of a dma-buf: others then wait for our read,
 * or with for_write for our write. -1 is nothing to add. Closes neither fd.
 * @return TDL_ERROR_UNSUPPORTED as above: finish the work before handing the
 *         dma-buf on.
 */
TDL_API enum tdl_result tdl_dma_buf_set_fence(int dma_buf_fd, bool for_write, int sync_fd);

/* ------------------------------------------------------------------- rent */

/** How the other side learns when the memory is its own. */
enum tdl_order {
    TDL_ORDER_NONE = 0,  /**< nothing to wait for: the CPU has waited */
    TDL_ORDER_TIMELINE,  /**< a timeline semaphore reaches a value */
    TDL_ORDER_SYNC_FILE, /**< a sync file signals */
};

/** A tensor in other hands: memory, and from when on. Plain data; the fds are
 *  the receiver's to close, -1 where there is none. */
struct tdl_rental {
    enum tdl_handle_type type; /**< type of `memory_fd` */
    int memory_fd;             /**< -1 of VK_BUFFER and KNOWN */
    size_t size;               /**< size of the buffer, bytes */
    enum tdl_order order;      /**< how it is known when */
    int semaphore_fd;          /**< TIMELINE: an opaque fd; SYNC_FILE: that */
    uint64_t wait_value;       /**< TIMELINE: own from here on */
    /** On the tensor's own VkDevice; valid as long as the tensor. */
    VkBuffer buffer;
    VkSemaphore semaphore; /**< TIMELINE only */
    /** For those who import an opaque fd with Vulkan alone: a buffer of `size`,
     *  `usage` and `handle_types`, dedicated memory of just this. */
    uint64_t allocation_size;
    uint32_t memory_type;
    VkBufferUsageFlags usage;
    VkExternalMemoryHandleTypeFlags handle_types;
    /** Vulkan's name for us in the transfer of ownership: acquire the buffer from
     *  this queue family, release it to it. IGNORED: without transfer. */
    uint32_t queue_family;
    uint64_t reserved[4]; /**< 0: room for later versions */
};

/**
 * Give a tensor to another device, GPU to GPU (WebNN's importExternalBuffer).
 * Until tdl_tensor_return() every use here (write, read, dispatch, also of its
 * reshaped views, another rent) is an error that names the tensor, as WebNN's
 * exportToGPU() has it; of one with TDL_TENSOR_WAITS_IF_RENTED it waits for that.
 *
 * Work queued on the tensor before is waited for on the GPU: through a timeline
 * semaphore that both sides keep, where tdl_device_info.timeline_fd (or with
 * TDL_HANDLE_VK_BUFFER); through a sync file, where .sync_fd; else the CPU waits
 * here, which is counted in tdl_context_stats.waits and logged once.
 *
 * In a loop rent with TDL_HANDLE_KNOWN from the second time on: no new fds, and
 * `semaphore_fd` only for a sync file.
 *
 * Destroying a rented tensor is allowed unless it was rented as a VkBuffer:
 * imports keep the memory alive.
 *
 * @param tensor  created with TDL_TENSOR_EXPORTABLE or, for TDL_HANDLE_DMA_BUF,
 *                with TDL_TENSOR_EXPORTABLE_DMA_BUF; or by tdl_tensor_import()
 * @return TDL_ERROR_UNSUPPORTED when the device cannot export the memory so
 */
TDL_API enum tdl_result tdl_tensor_rent(struct tdl_tensor *tensor, enum tdl_handle_type type,
                                        struct tdl_rental *out_rental);
/**
 * Take a rented tensor back. Later work on it waits for the others on the GPU.
 *
 * @param theirs  how we learn when they are done: `order`, with `wait_value`
 *                (TIMELINE: of the semaphore of the rental, not less than it
 *                had) or `semaphore_fd` (SYNC_FILE: libtdl owns it on success;
 *                -1 has signalled). Nothing else is looked at, so that what
 *                their tdl_tensor_rent() gave can be passed on. NULL: done.
 */
TDL_API enum tdl_result tdl_tensor_return(struct tdl_tensor *tensor,
                                          const struct tdl_rental *theirs);
/**
 * The other side of a rental, where that is libtdl, too: a tensor on the rented
 * memory, in a context on any VkDevice. It is in our hands at once (work on it
 * waits for the rental's order); give it back with tdl_tensor_rent(…,
 * TDL_HANDLE_KNOWN, …) and pass the result to the owner's tdl_tensor_return().
 *
 * @param params  dtype, shape and layout as the owner's; usage and label
 * @param rental  its fds are borrowed
 */
TDL_API enum tdl_result tdl_tensor_import(struct tdl_context *context,
                                          const struct tdl_tensor_params *params,
                                          const struct tdl_rental *rental,
                                          struct tdl_tensor **out_tensor);

#ifdef __cplusplus
}
#endif
#endif
