/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdlfence.h"

#include "base/gsttdlerror.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#define GST_CAT_DEFAULT gst_tdl_filter_debug

/* A device that is alive passes a fence in a few frames' time. */
#define POLL_TIMEOUT_MS 5000

void gst_tdl_fences_add(struct gst_tdl_fences *fences, const struct gst_tdl_import *import,
                        gboolean write)
{
    g_assert(fences->count + import->n_fds <= G_N_ELEMENTS(fences->items) &&
             fences->n_accesses + import->n_accesses <= G_N_ELEMENTS(fences->accesses));
    for (guint i = 0; i < import->n_fds; i++) {
        fences->items[fences->count].fd = import->fds[i];
        fences->items[fences->count++].write = write;
    }
    for (guint i = 0; i < import->n_accesses; i++)
        fences->accesses[fences->n_accesses++] = gst_tdl_access_ref(import->accesses[i]);
    fences->writes |= write && import->n_accesses;
}

void gst_tdl_fences_clear(struct gst_tdl_fences *fences)
{
    while (fences->n_accesses)
        gst_tdl_access_unref(fences->accesses[--fences->n_accesses]);
}

/* dma-bufs can be polled: readable when no writer is left, writable when nobody is. */
enum tdl_result gst_tdl_fence_wait_on_cpu(struct gst_tdl_importer *importer, gint fd,
                                          gboolean write)
{
    struct pollfd item = { .fd = fd, .events = write ? POLLOUT : POLLIN };
    gint64 end = g_get_monotonic_time() + POLL_TIMEOUT_MS * 1000;
    gint ready = poll(&item, 1, 0);

    if (ready == 1)
        return TDL_OK;
    importer->stats.cpu_waits++;
    do { /* again after each of the program's signals */
        gint64 left = (end - g_get_monotonic_time()) / 1000;

        ready = poll(&item, 1, MAX(left, 0));
    } while (ready < 0 && errno == EINTR);
    if (ready == 1)
        return TDL_OK;
    GST_ERROR("a dma-buf is still being %s by others after %d s", write ? "used" : "written",
              POLL_TIMEOUT_MS / 1000);
    return TDL_ERROR_TIMEOUT;
}

static enum tdl_result wait_one(struct gst_tdl_importer *importer, struct tdl_batch *batch, gint fd,
                                gboolean write)
{
    const struct gst_tdl_device_ops *ops = importer->device->ops;
    int sync_fd = -1;

    if (!importer->device->able.sync_fd || ops->get_fence(fd, write, &sync_fd) != TDL_OK)
        return gst_tdl_fence_wait_on_cpu(importer, fd, write);
    if (sync_fd < 0)
        return TDL_OK; /* nobody is at work on it */
    if (ops->wait_sync_fd(batch, sync_fd) == TDL_OK)
        return TDL_OK; /* and closes it */
    GST_INFO("the GPU cannot wait for a sync file: %s", tdl_last_error());
    close(sync_fd);
    return gst_tdl_fence_wait_on_cpu(importer, fd, write);
}

enum tdl_result gst_tdl_fences_wait(struct gst_tdl_fences *fences,
                                    struct gst_tdl_importer *importer, struct tdl_batch *batch)
{
    enum tdl_result r = TDL_OK;

    for (guint i = 0; i < fences->count && r == TDL_OK; i++)
        r = wait_one(importer, batch, fences->items[i].fd, fences->items[i].write);
    fences->wanted = r == TDL_OK && fences->count && importer->device->able.sync_fd &&
                     importer->device->ops->want_sync_fd(batch) == TDL_OK;
    return r;
}

/* Readers need none: the buffer is held until the GPU has passed it. It is
 * attached all the same, for those who share it with our upstream. */
enum tdl_result gst_tdl_fences_attach(struct gst_tdl_fences *fences,
                                      struct gst_tdl_importer *importer, struct tdl_batch *batch,
                                      guint64 point)
{
    const struct gst_tdl_device_ops *ops = importer->device->ops;
    gboolean late = FALSE;
    int sync_fd = -1;

    if (fences->wanted && ops->take_sync_fd(batch, &sync_fd) != TDL_OK) {
        GST_INFO("the batch gives no sync file: %s", tdl_last_error());
        sync_fd = -1;
        fences->wanted = FALSE;
    }
    for (guint i = 0; i < fences->count; i++) {
        gboolean attached =
            fences->wanted &&
            (sync_fd < 0 || /* a sync file of -1 has finished already */
             ops->set_fence(fences->items[i].fd, fences->items[i].write, sync_fd) == TDL_OK);

        late |= !attached && fences->items[i].write;
    }
    if (sync_fd >= 0)
        close(sync_fd);
    if (!late)
        return TDL_OK;
    importer->stats.cpu_waits++;
    return ops->wait_point(importer->device->context, point, TDL_WAIT_FOREVER);
}
