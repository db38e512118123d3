/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdlcontext.h"

#include <string.h>

struct shared {
    struct tdl_context *context;
    GPtrArray *names; /* of gchar *: the requests that led here */
    GObject *keeper;  /* of a device of others; NULL: our own */
    guint users;
};

static GMutex lock;
static GPtrArray *shareds; /* of struct shared *, guarded by `lock` */

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

static struct shared *find_name(const gchar *name)
{
    for (guint i = 0; i < shareds->len; i++) {
        struct shared *shared = g_ptr_array_index(shareds, i);

        if (g_ptr_array_find_with_equal_func(shared->names, name, g_str_equal, NULL))
            return shared;
    }
    return NULL;
}

static struct shared *find_uuid(const guint8 *uuid)
{
    for (guint i = 0; i < shareds->len; i++) {
        struct shared *shared = g_ptr_array_index(shareds, i);

        if (!shared->keeper && !memcmp(tdl_context_device(shared->context)->uuid, uuid, TDL_UUID_SIZE))
            return shared;
    }
    return NULL;
}

static void shared_free(gpointer data)
{
    struct shared *shared = data;

    tdl_context_destroy(&shared->context);
    g_ptr_array_unref(shared->names);
    g_clear_object(&shared->keeper);
    g_free(shared);
}

/* Two requests ("auto" and "0") may mean one device: only the device says so,
 * and the context made to find out is thrown away. */
static struct shared *add(const gchar *name, GError **error)
{
    struct tdl_context_params params = {
        .device = name, .log = on_log, .log_level = engine_level()
    };
    struct tdl_context *context = NULL;
    struct shared *shared;
    enum tdl_result r = tdl_context_create(&params, &context);

    if (r != TDL_OK) {
        gst_tdl_error_set(error, r, "Cannot use Vulkan device \"%s\"", name);
        return NULL;
    }
    shared = find_uuid(tdl_context_device(context)->uuid);
    if (shared) {
        tdl_context_destroy(&context);
    } else {
        shared = g_new0(struct shared, 1);
        shared->context = context;
        shared->names = g_ptr_array_new_with_free_func(g_free);
        g_ptr_array_add(shareds, shared);
        GST_CAT_INFO(gst_tdl_debug, "using %s (%s)", tdl_context_device(context)->name,
                     tdl_context_device(context)->driver);
    }
    g_ptr_array_add(shared->names, g_strdup(name));
    return shared;
}

static struct shared *adopt(const gchar *name, const struct tdl_vulkan_device *device,
                            GObject *keeper, GError **error)
{
    struct tdl_context_params params = { .log = on_log, .log_level = engine_level() };
    struct tdl_context *context = NULL;
    struct shared *shared;
    enum tdl_result r = tdl_context_create_from_vulkan(&params, device, &context);

    if (r != TDL_OK) {
        gst_tdl_error_set(error, r, "Cannot share the Vulkan device of the neighbours");
        return NULL;
    }
    shared = g_new0(struct shared, 1);
    shared->context = context;
    shared->keeper = g_object_ref(keeper);
    shared->names = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_add(shared->names, g_strdup(name));
    g_ptr_array_add(shareds, shared);
    GST_CAT_INFO(gst_tdl_debug, "sharing %s (%s) with the neighbours",
                 tdl_context_device(context)->name, tdl_context_device(context)->driver);
    return shared;
}

struct tdl_context *gst_tdl_context_acquire_vulkan(const struct tdl_vulkan_device *device,
                                                   GObject *keeper, GError **error)
{
    g_autofree gchar *name = g_strdup_printf("vulkan:%p:%p", (gpointer)device->device,
                                             (gpointer)device->queue);
    struct tdl_context *context = NULL;
    struct shared *shared;

    g_mutex_lock(&lock);
    if (!shareds)
        shareds = g_ptr_array_new_with_free_func(shared_free);
    shared = find_name(name);
    if (!shared)
        shared = adopt(name, device, keeper, error);
    if (shared) {
        shared->users++;
        context = shared->context;
    }
    g_mutex_unlock(&lock);
    return context;
}

GObject *gst_tdl_context_keeper(const struct tdl_context *context)
{
    GObject *keeper = NULL;

    g_mutex_lock(&lock);
    for (guint i = 0; shareds && i < shareds->len; i++) {
        struct shared *shared = g_ptr_array_index(shareds, i);

        if (shared->context == context)
            keeper = shared->keeper;
    }
    g_mutex_unlock(&lock);
    return keeper;
}

struct tdl_context *gst_tdl_context_acquire(const gchar *device, GError **error)
{
    const gchar *name = device && *device ? device : "auto";
    struct tdl_context *context = NULL;
    struct shared *shared;

    g_mutex_lock(&lock);
    if (!shareds)
        shareds = g_ptr_array_new_with_free_func(shared_free);
    shared = find_name(name);
    if (!shared)
        shared = add(name, error);
    if (shared) {
        shared->users++;
        context = shared->context;
    }
    g_mutex_unlock(&lock);
    return context;
}

void gst_tdl_context_release(struct tdl_context **context)
{
    if (!*context)
        return;
    g_mutex_lock(&lock);
    for (guint i = 0; i < shareds->len; i++) {
        struct shared *shared = g_ptr_array_index(shareds, i);

        if (shared->context == *context && --shared->users == 0) {
            g_ptr_array_remove_index_fast(shareds, i);
            break;
        }
    }
    if (shareds->len == 0)
        g_clear_pointer(&shareds, g_ptr_array_unref);
    g_mutex_unlock(&lock);
    *context = NULL;
}
