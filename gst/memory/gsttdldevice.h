/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A device as the rooms below are handed it: allocators, pools, importers, exporters and
 * fences each hold it, or borrow it from who does. One per device and process: elements
 * that ask for the same device share its queue, its compiled pipelines and its memory, so
 * a frame goes from one tdlfilter to the next without leaving the GPU. */
#ifndef GST_TDL_DEVICE_H
#define GST_TDL_DEVICE_H

#include "caps/gsttdlcaps.h"

#include <tdl/vulkan.h>

/* Calls into the engine that a device may refuse, as a table, so that the decisions about
 * it can be tested with devices that are not there. */
struct gst_tdl_device_ops {
    enum tdl_result (*import_host)(struct tdl_context *context, void *pointer, size_t size,
                                   struct tdl_buffer **out_buffer, uint64_t *out_offset);
    enum tdl_result (*import_fd)(struct tdl_context *context, enum tdl_handle_type type, int fd,
                                 size_t size, struct tdl_buffer **out_buffer);
    void (*destroy_buffer)(struct tdl_buffer **buffer);
    bool (*is_local)(const struct tdl_buffer *buffer);

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
    enum tdl_result (*wait_point)(struct tdl_context *context, uint64_t point, uint64_t timeout_ns);
};

/* The engine's. */
extern const struct gst_tdl_device_ops gst_tdl_device_engine;

/* Made once, then only read, but for the number of streams. */
struct gst_tdl_device {
    struct tdl_context *context;
    GObject *keeper; /* the neighbours' queue, if the device is theirs; else NULL */
    const struct gst_tdl_device_ops *ops;
    struct gst_tdl_abilities able; /* the tilings in here are the device's */
    gint streams;                  /* how many streams have come so far; atomic */
    gint load;                     /* atomic: of its time, what all streams take, in millionths */
};

/* `device` and `threads` as in tdl_context_params; "" is "auto", too. Of the device's queues
 * at least `queues`, or all (0): where one was opened with fewer, it is opened once more. Blocking
 * on first use. Give back by gst_tdl_device_release(). Thread-safe. */
struct gst_tdl_device *gst_tdl_device_acquire(const gchar *device, guint threads, guint queues,
                                              GError **error);
/* A context of it that nobody shares, with one queue: no lock of others' waits for a driver that
 * does not answer. Blocking. */
struct tdl_context *gst_tdl_device_open(const gchar *device, guint threads, GError **error);
/* Acquire it on a device of somebody else, which `keeper` keeps alive. */
struct gst_tdl_device *gst_tdl_device_acquire_vulkan(const struct tdl_vulkan_device *vulkan,
                                                     GObject *keeper, GError **error);
/* The next to acquire, when all have released, opens it anew: frames and pools that still
 * hold a reference keep a device that was lost as it is. */
void gst_tdl_device_release(struct gst_tdl_device **device);

/* One that nobody shares: of `context`, which it takes; `keeper` may be NULL. */
struct gst_tdl_device *gst_tdl_device_new(struct tdl_context *context, GObject *keeper);
/* Elements that may be streams, as they come (1) and go (-1); and whether there are several in
 * this process. Thread-safe. */
void gst_tdl_device_expect(gint change);
gboolean gst_tdl_device_expects_several(void);
/* For a stream's batches, so that those of several run beside each other. Thread-safe. */
guint gst_tdl_device_next_queue(struct gst_tdl_device *device);
/* Thread-safe. With the last reference go context and keeper. */
struct gst_tdl_device *gst_tdl_device_ref(struct gst_tdl_device *device);
void gst_tdl_device_unref(struct gst_tdl_device *device);

#endif
