/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ops.h"

const struct gst_tdl_import_ops gst_tdl_import_engine = {
    .import_host = tdl_buffer_import_host,
    .destroy_buffer = tdl_buffer_destroy,
    .import_fd = tdl_buffer_import_fd,
    .import_image = tdl_image_import_dma_buf,
    .create_image = tdl_image_create_exportable,
    .export_image = tdl_image_export,
    .destroy_image = tdl_image_destroy,
    .images_to_frame = tdl_batch_images_to_frame,
    .frame_to_images = tdl_batch_frame_to_images,
    .get_fence = tdl_dma_buf_get_fence,
    .set_fence = tdl_dma_buf_set_fence,
    .wait_sync_fd = tdl_batch_wait_sync_fd,
    .want_sync_fd = tdl_batch_want_sync_fd,
    .take_sync_fd = tdl_batch_take_sync_fd,
    .wait_point = tdl_context_wait,
};
