/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the import room asks of the engine, as a table, so that its decisions
 * can be tested with devices that are not there. */
#ifndef GST_TDL_IMPORT_OPS_H
#define GST_TDL_IMPORT_OPS_H

#include <tdl/frame.h>
#include <tdl/vulkan.h>

struct gst_tdl_import_ops {
    enum tdl_result (*import_host)(struct tdl_context *context, void *pointer, size_t size,
                                   struct tdl_buffer **out_buffer, uint64_t *out_offset);
    enum tdl_result (*import_fd)(struct tdl_context *context, enum tdl_handle_type type, int fd,
                                 size_t size, struct tdl_buffer **out_buffer);
    void (*destroy_buffer)(struct tdl_buffer **buffer);

    /* Planes of tiled pictures, and their copies. */
    enum tdl_result (*import_image)(struct tdl_context *context,
                                    const struct tdl_image_import_params *params,
                                    struct tdl_image **out_image);
    enum tdl_result (*create_image)(struct tdl_context *context, enum tdl_handle_type type,
                                    const struct tdl_image_create_params *params,
                                    struct tdl_image **out_image);
    enum tdl_result (*export_image)(struct tdl_image *image, struct tdl_image_place *out_place);
    void (*destroy_image)(struct tdl_image **image);
    enum tdl_result (*images_to_frame)(struct tdl_batch *batch, struct tdl_image *const images[],
                                       struct tdl_image_state *const states[],
                                       const struct tdl_frame *target);
    enum tdl_result (*frame_to_images)(struct tdl_batch *batch, const struct tdl_frame *source,
                                       struct tdl_image *const images[],
                                       struct tdl_image_state *const states[]);

    /* Fences of dma-bufs, and how a batch waits for them and gives its own. */
    enum tdl_result (*get_fence)(int dma_buf_fd, bool for_write, int *out_sync_fd);
    enum tdl_result (*set_fence)(int dma_buf_fd, bool for_write, int sync_fd);
    enum tdl_result (*wait_sync_fd)(struct tdl_batch *batch, int sync_fd);
    enum tdl_result (*want_sync_fd)(struct tdl_batch *batch);
    enum tdl_result (*take_sync_fd)(struct tdl_batch *batch, int *out_sync_fd);
    enum tdl_result (*wait_point)(struct tdl_context *context, uint64_t point,
                                  uint64_t timeout_ns);
};

/* The engine's. */
extern const struct gst_tdl_import_ops gst_tdl_import_engine;

#endif
