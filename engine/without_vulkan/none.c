/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * In the place of vulkan/ in a build without Vulkan: it has no devices, and nothing is
 * shared with any. Callers get the answers that they get of a machine without one.
 */
#include "core/core.h"
#include "vulkan/device.h"

#include <tdl/vulkan.h>

#include <string.h>

static enum tdl_result none(enum tdl_result result)
{
    return tdl_fail(result, "this build has no Vulkan: use device cpu, or build it again with "
                            "Vulkan's headers and glslang (on Debian: libvulkan-dev, "
                            "glslang-tools) and -Dvulkan=enabled");
}

static enum tdl_result unsupported(void)
{
    return none(TDL_ERROR_UNSUPPORTED);
}

/* ---------------------------------------------------------------- devices */

enum tdl_result tdl_vulkan_context_create(const struct tdl_context_params *params,
                                          struct tdl_context **out_context)
{
    (void)params;
    if (out_context)
        *out_context = NULL;
    return none(TDL_ERROR_NO_DEVICE);
}

enum tdl_result tdl_vulkan_device_list(struct tdl_device_info *out_infos, uint32_t capacity,
                                       uint32_t *out_count)
{
    (void)out_infos;
    (void)capacity;
    if (out_count)
        *out_count = 0;
    return none(TDL_ERROR_NO_DEVICE);
}

enum tdl_result tdl_context_create_from_vulkan(const struct tdl_context_params *params,
                                               const struct tdl_vulkan_device *device,
                                               struct tdl_context **out_context)
{
    (void)params;
    (void)device;
    if (out_context)
        *out_context = NULL;
    return unsupported();
}

void tdl_context_get_vulkan(struct tdl_context *ctx, struct tdl_vulkan_device *out)
{
    (void)ctx;
    if (out)
        memset(out, 0, sizeof(*out));
}

void tdl_context_lock_queue(struct tdl_context *ctx)
{
    (void)ctx;
}

void tdl_context_unlock_queue(struct tdl_context *ctx)
{
    (void)ctx;
}

/* ----------------------------------------------------------------- memory */

enum tdl_result tdl_buffer_wrap(struct tdl_context *ctx,
                                const struct tdl_buffer_wrap_params *params,
                                struct tdl_buffer **out_buffer)
{
    (void)ctx;
    (void)params;
    if (out_buffer)
        *out_buffer = NULL;
    return unsupported();
}

enum tdl_result tdl_buffer_import_fd(struct tdl_context *ctx, enum tdl_handle_type type, int fd,
                                     size_t size, struct tdl_buffer **out_buffer)
{
    (void)ctx;
    (void)type;
    (void)fd;
    (void)size;
    if (out_buffer)
        *out_buffer = NULL;
    return unsupported();
}

enum tdl_result tdl_buffer_create_exportable(struct tdl_context *ctx, enum tdl_handle_type type,
                                             size_t size, struct tdl_buffer **out_buffer)
{
    (void)ctx;
    (void)type;
    (void)size;
    if (out_buffer)
        *out_buffer = NULL;
    return unsupported();
}

enum tdl_result tdl_buffer_export_fd(struct tdl_buffer *buffer, int *out_fd)
{
    (void)buffer;
    if (out_fd)
        *out_fd = -1;
    return unsupported();
}

/* ----------------------------------------------------------------- images */

enum tdl_result tdl_image_import_dma_buf(struct tdl_context *ctx,
                                         const struct tdl_image_import_params *params,
                                         struct tdl_image **out_image)
{
    (void)ctx;
    (void)params;
    if (out_image)
        *out_image = NULL;
    return unsupported();
}

enum tdl_result tdl_image_modifiers(struct tdl_context *ctx, enum tdl_format format,
                                    struct tdl_image_modifier *out_modifiers, uint32_t capacity,
                                    uint32_t *out_count)
{
    (void)ctx;
    (void)format;
    (void)out_modifiers;
    (void)capacity;
    if (out_count)
        *out_count = 0;
    return unsupported();
}

enum tdl_result tdl_image_create_exportable(struct tdl_context *ctx, enum tdl_handle_type type,
                                            const struct tdl_image_create_params *params,
                                            struct tdl_image **out_image)
{
    (void)ctx;
    (void)type;
    (void)params;
    if (out_image)
        *out_image = NULL;
    return unsupported();
}

enum tdl_result tdl_image_export(struct tdl_image *image, struct tdl_image_place *out_place)
{
    (void)image;
    if (out_place)
        *out_place = (struct tdl_image_place){.fd = -1};
    return unsupported();
}

enum tdl_result tdl_image_wrap(struct tdl_context *ctx, const struct tdl_image_wrap_params *params,
                               struct tdl_image **out_image)
{
    (void)ctx;
    (void)params;
    if (out_image)
        *out_image = NULL;
    return unsupported();
}

void tdl_image_destroy(struct tdl_image **image)
{
    (void)image; /* there is none */
}

enum tdl_result tdl_batch_images_to_frame(struct tdl_batch *batch, struct tdl_image *const images[],
                                          struct tdl_image_state *const states[],
                                          const struct tdl_frame *target)
{
    (void)batch;
    (void)images;
    (void)states;
    (void)target;
    return unsupported();
}

enum tdl_result tdl_batch_frame_to_images(struct tdl_batch *batch, const struct tdl_frame *source,
                                          struct tdl_image *const images[],
                                          struct tdl_image_state *const states[])
{
    (void)batch;
    (void)source;
    (void)images;
    (void)states;
    return unsupported();
}

/* ------------------------------------------------- order between devices */

enum tdl_result tdl_batch_wait_semaphore(struct tdl_batch *batch, VkSemaphore semaphore,
                                         uint64_t value)
{
    (void)batch;
    (void)semaphore;
    (void)value;
    return unsupported();
}

enum tdl_result tdl_batch_signal_semaphore(struct tdl_batch *batch, VkSemaphore semaphore,
                                           uint64_t value)
{
    (void)batch;
    (void)semaphore;
    (void)value;
    return unsupported();
}

enum tdl_result tdl_batch_wait_sync_fd(struct tdl_batch *batch, int fd)
{
    (void)batch;
    (void)fd;
    return unsupported();
}

enum tdl_result tdl_batch_want_sync_fd(struct tdl_batch *batch)
{
    (void)batch;
    return unsupported();
}

enum tdl_result tdl_batch_take_sync_fd(struct tdl_batch *batch, int *out_fd)
{
    (void)batch;
    if (out_fd)
        *out_fd = -1;
    return unsupported();
}

enum tdl_result tdl_dma_buf_get_fence(int dma_buf_fd, bool for_write, int *out_sync_fd)
{
    (void)dma_buf_fd;
    (void)for_write;
    if (out_sync_fd)
        *out_sync_fd = -1;
    return unsupported();
}

enum tdl_result tdl_dma_buf_set_fence(int dma_buf_fd, bool for_write, int sync_fd)
{
    (void)dma_buf_fd;
    (void)for_write;
    (void)sync_fd;
    return unsupported();
}

/* ------------------------------------------------------------------- rent */

enum tdl_result tdl_tensor_rent(struct tdl_tensor *tensor, enum tdl_handle_type type,
                                struct tdl_rental *out_rental)
{
    (void)tensor;
    (void)type;
    if (out_rental)
        *out_rental = (struct tdl_rental){.memory_fd = -1, .semaphore_fd = -1};
    return unsupported();
}

enum tdl_result tdl_tensor_return(struct tdl_tensor *tensor, const struct tdl_rental *theirs)
{
    (void)tensor;
    (void)theirs;
    return unsupported();
}

enum tdl_result tdl_tensor_import(struct tdl_context *ctx, const struct tdl_tensor_params *params,
                                  const struct tdl_rental *rental, struct tdl_tensor **out_tensor)
{
    (void)ctx;
    (void)params;
    (void)rental;
    if (out_tensor)
        *out_tensor = NULL;
    return unsupported();
}
