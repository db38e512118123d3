/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdldevice.h"

#include "base/gsttdlerror.h"

#include <string.h>

/* A driver has a dozen or two for a format. */
#define MAX_MODIFIERS 64
#define LAST_FORMAT 128 /* bound of GstVideoFormat; ours are among the first */

const struct gst_tdl_device_ops gst_tdl_device_engine = {
    .import_host = tdl_buffer_import_host,
    .destroy_buffer = tdl_buffer_destroy,
    .is_local = tdl_buffer_is_local,
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

/* --------------------------------------------------------------------- life */

/* How tiled dma-bufs may come and go: what the device copies, plane by plane. */
static GArray *list_tilings(struct tdl_context *context)
{
    GArray *tilings = g_array_new(FALSE, FALSE, sizeof(struct gst_tdl_tiling));

    for (gint f = 0; f < LAST_FORMAT; f++) {
        struct tdl_image_modifier modifiers[MAX_MODIFIERS];
        uint32_t count = 0;

        if (gst_tdl_caps_format(f) == TDL_FORMAT_UNKNOWN ||
            tdl_image_modifiers(context, gst_tdl_caps_format(f), modifiers, MAX_MODIFIERS,
                                &count) != TDL_OK)
            continue;
        for (guint i = 0; i < MIN(count, MAX_MODIFIERS); i++) {
            struct gst_tdl_tiling tiling = {
                .format = f,
                .modifier = modifiers[i].modifier,
                .in = modifiers[i].readable,
                .out = modifiers[i].writable && modifiers[i].exportable,
            };

            if (tiling.modifier != GST_TDL_LINEAR) /* linear ones need no copy */
                g_array_append_val(tilings, tiling);
        }
    }
    return tilings;
}

struct gst_tdl_device *gst_tdl_device_new(struct tdl_context *context, GObject *keeper)
{
    const struct tdl_device_info *info = tdl_context_device(context);
    struct gst_tdl_device *device = g_atomic_rc_box_new0(struct gst_tdl_device);

    *device = (struct gst_tdl_device){
        .context = context,
        .keeper = keeper ? g_object_ref(keeper) : NULL,
        .ops = &gst_tdl_device_engine,
        .able = {
            .drm_caps = GST_TDL_DRM_CAPS,
            .dma_buf_in = info->external_memory_dma_buf || info->type == TDL_DEVICE_CPU,
            .dma_buf_out = info->dma_buf_export,
            .vulkan_image = keeper != NULL,
            .host_pointer = info->external_memory_host,
            .maps = info->type == TDL_DEVICE_CPU,
            .modifiers = info->drm_format_modifiers,
            .sync_fd = info->sync_fd,
        },
    };
    if (device->able.dma_buf_in && device->able.modifiers) {
        GArray *tilings = list_tilings(context);

        device->able.n_tilings = tilings->len;
        device->able.tilings = (struct gst_tdl_tiling *)g_array_free(tilings, FALSE);
    }
    return device;
}

guint gst_tdl_device_next_queue(struct gst_tdl_device *device)
{
    return (guint)g_atomic_int_add(&device->streams, 1);
}

static gint elements; /* atomic */

void gst_tdl_device_expect(gint change)
{
    g_atomic_int_add(&elements, change);
}

gboolean gst_tdl_device_expects_several(void)
{
    return g_atomic_int_get(&elements) > 1;
}

/* The keeper goes last: all the rest is of its device. */
static void device_clear(gpointer data)
{
    struct gst_tdl_device *device = data;

    tdl_context_destroy(&device->context);
    g_clear_object(&device->keeper);
    g_free((gpointer)device->able.tilings);
}

struct gst_tdl_device *gst_tdl_device_ref(struct gst_tdl_device *device)
{
    return g_atomic_rc_box_acquire(device);
}

void gst_tdl_device_unref(struct gst_tdl_device *device)
{
    g_atomic_rc_box_release_full(device, device_clear);
}

/* ---------------------------------------------------------- the engine's log */

static GstDebugLevel debug_level(enum tdl_log_level level)
{
    switch (level) {
    case TDL_LOG_ERROR:
        return GST_LEVEL_ERROR;
    case TDL_LOG_WARNING:
        return GST_LEVEL_WARNING;
    case TDL_LOG_INFO:
        return GST_LEVEL_INFO;
    case TDL_LOG_DEBUG:
        return GST_LEVEL_DEBUG;
    default:
        return GST_LEVEL_TRACE;
    }
}

static void on_log(void *data, enum tdl_log_level level, const char *message)
{
    (void)data;
    GST_CAT_LEVEL_LOG(gst_tdl_debug, debug_level(level), NULL, "%s", message);
}

/* The engine formats only what somebody will read. */
static enum tdl_log_level engine_level(void)
{
    GstDebugLevel level = gst_debug_category_get_threshold(gst_tdl_debug);

    if (level >= GST_LEVEL_LOG)
        return TDL_LOG_TRACE;
    if (level >= GST_LEVEL_DEBUG)
        return TDL_LOG_DEBUG;
    return level >= GST_LEVEL_INFO ? TDL_LOG_INFO : TDL_LOG_WARNING;
}

/* ------------------------------------------------------------------- sharing */

struct shared {
    struct gst_tdl_device *device;
    GPtrArray *names;      /* gchar *: the requests that led here */
    guint threads, queues; /* asked for */
    guint users;
};

static GMutex lock;
static GPtrArray *shareds; /* struct shared *, guarded by `lock` */

/* As many as asked for, or all that the device has. */
static gboolean has_queues(const struct shared *shared, guint wanted)
{
    const guint64 all = tdl_context_device(shared->device->context)->queues;

    return !shared->queues || shared->queues >= all || (wanted && shared->queues >= wanted);
}

static struct shared *find_name(const gchar *name, guint queues)
{
    for (guint i = 0; i < shareds->len; i++) {
        struct shared *shared = g_ptr_array_index(shareds, i);

        if (has_queues(shared, queues) &&
            g_ptr_array_find_with_equal_func(shared->names, name, g_str_equal, NULL))
            return shared;
    }
    return NULL;
}

/* For devices that we have opened ourselves. */
static struct shared *find_uuid(const guint8 *uuid, guint threads, guint queues)
{
    for (guint i = 0; i < shareds->len; i++) {
        struct shared *shared = g_ptr_array_index(shareds, i);

        if (!shared->device->keeper && shared->threads == threads && has_queues(shared, queues) &&
            !memcmp(tdl_context_device(shared->device->context)->uuid, uuid, TDL_UUID_SIZE))
            return shared;
    }
    return NULL;
}

static void shared_free(gpointer data)
{
    struct shared *shared = data;

    gst_tdl_device_unref(shared->device);
    g_ptr_array_unref(shared->names);
    g_free(shared);
}

/* A request: a device by its name, or, with `vulkan`, that of somebody else. */
struct request {
    const gchar *name;
    const gchar *device;
    guint threads, queues;
    const struct tdl_vulkan_device *vulkan;
    GObject *keeper;
};

static struct tdl_context *open_context(const struct request *request, GError **error)
{
    struct tdl_context_params params = { .log = on_log, .log_level = engine_level() };
    struct tdl_context *context = NULL;
    enum tdl_result r;

    if (request->vulkan) {
        r = tdl_context_create_from_vulkan(&params, request->vulkan, &context);
        if (r != TDL_OK)
            gst_tdl_error_set(error, r, "Cannot share the Vulkan device of the neighbours");
    } else {
        params.device = request->device;
        params.threads = request->threads;
        params.max_queues = request->queues;
        r = tdl_context_create(&params, &context);
        if (r != TDL_OK)
            gst_tdl_error_set(error, r, "Cannot use device \"%s\"", request->device);
    }
    return context;
}

struct tdl_context *gst_tdl_device_open(const gchar *device, guint threads, GError **error)
{
    return open_context(&(struct request){ .device = device, .threads = threads, .queues = 1 },
                        error);
}

/* Two requests ("auto" and "0") may mean one device: only the device says so,
 * and the context made to find out is thrown away. */
static struct shared *add(const struct request *request, GError **error)
{
    struct tdl_context *context = open_context(request, error);
    const struct tdl_device_info *info;
    struct shared *shared;

    if (!context)
        return NULL;
    info = tdl_context_device(context);
    shared = request->vulkan ? NULL : find_uuid(info->uuid, request->threads, request->queues);
    if (shared) {
        tdl_context_destroy(&context);
    } else {
        shared = g_new0(struct shared, 1);
        shared->device = gst_tdl_device_new(context, request->keeper);
        shared->threads = request->threads;
        shared->queues = request->queues;
        shared->names = g_ptr_array_new_with_free_func(g_free);
        g_ptr_array_add(shareds, shared);
        GST_CAT_INFO(gst_tdl_debug, "%s %s (%s)%s", request->vulkan ? "sharing" : "using",
                     info->name, info->driver, request->vulkan ? " with the neighbours" : "");
    }
    g_ptr_array_add(shared->names, g_strdup(request->name));
    return shared;
}

static struct gst_tdl_device *acquire(const struct request *request, GError **error)
{
    struct gst_tdl_device *device = NULL;
    struct shared *shared;

    g_mutex_lock(&lock);
    if (!shareds)
        shareds = g_ptr_array_new_with_free_func(shared_free);
    shared = find_name(request->name, request->queues);
    if (!shared)
        shared = add(request, error);
    if (shared) {
        shared->users++;
        device = shared->device;
    }
    g_mutex_unlock(&lock);
    return device;
}

struct gst_tdl_device *gst_tdl_device_acquire(const gchar *device, guint threads, guint queues,
                                              GError **error)
{
    const gchar *wanted = device && *device ? device : "auto";
    g_autofree gchar *name = g_strdup_printf("%s, %u threads", wanted, threads);

    return acquire(
        &(struct request){ .name = name, .device = wanted, .threads = threads, .queues = queues },
        error);
}

struct gst_tdl_device *gst_tdl_device_acquire_vulkan(const struct tdl_vulkan_device *vulkan,
                                                     GObject *keeper, GError **error)
{
    g_autofree gchar *name =
        g_strdup_printf("vulkan:%p:%p", (gpointer)vulkan->device, (gpointer)vulkan->queue);

    return acquire(&(struct request){ .name = name, .vulkan = vulkan, .keeper = keeper }, error);
}

void gst_tdl_device_release(struct gst_tdl_device **device)
{
    if (!*device)
        return;
    g_mutex_lock(&lock);
    for (guint i = 0; i < shareds->len; i++) {
        struct shared *shared = g_ptr_array_index(shareds, i);

        if (shared->device == *device && --shared->users == 0) {
            g_ptr_array_remove_index_fast(shareds, i);
            break;
        }
    }
    if (shareds->len == 0)
        g_clear_pointer(&shareds, g_ptr_array_unref);
    g_mutex_unlock(&lock);
    *device = NULL;
}
