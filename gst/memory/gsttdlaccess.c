/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdlaccess.h"

#include <errno.h>
#include <linux/dma-buf.h>
#include <sys/ioctl.h>

struct gst_tdl_access {
    GstMemory *memory; /* held */
    GstMapInfo map;    /* the mapping of a memory that is no dma-buf */
    gint fd;           /* the dma-buf, borrowed from the memory; else -1 */
    guint64 flags;
};

static struct gst_tdl_access *access_new(GstMemory *memory, gint fd)
{
    struct gst_tdl_access *access = g_atomic_rc_box_new0(struct gst_tdl_access);

    access->memory = gst_memory_ref(memory);
    access->fd = fd;
    return access;
}

static void forget(gpointer data)
{
    gst_memory_unref(((struct gst_tdl_access *)data)->memory);
}

/* A memory file, say, in the place of a dma-buf does not know this call, and has no
 * caches to see to. */
static gboolean sync_dmabuf(gint fd, guint64 flags)
{
    struct dma_buf_sync request = { .flags = flags };
    gint r;

    do {
        r = ioctl(fd, DMA_BUF_IOCTL_SYNC, &request);
    } while (r < 0 && (errno == EINTR || errno == EAGAIN));
    return r == 0 || errno == ENOTTY;
}

struct gst_tdl_access *gst_tdl_access_map(GstMemory *memory, gboolean for_write, guint8 **out_data)
{
    struct gst_tdl_access *access = access_new(memory, -1);

    if (!gst_memory_map(memory, &access->map, for_write ? GST_MAP_WRITE : GST_MAP_READ)) {
        g_atomic_rc_box_release_full(access, forget);
        return NULL;
    }
    *out_data = access->map.data;
    return access;
}

struct gst_tdl_access *gst_tdl_access_dma_buf(GstMemory *memory, gint fd, gboolean for_write)
{
    struct gst_tdl_access *access = access_new(memory, fd);

    access->flags = for_write ? DMA_BUF_SYNC_RW : DMA_BUF_SYNC_READ;
    if (sync_dmabuf(fd, access->flags | DMA_BUF_SYNC_START))
        return access;
    g_atomic_rc_box_release_full(access, forget);
    return NULL;
}

struct gst_tdl_access *gst_tdl_access_ref(struct gst_tdl_access *access)
{
    return g_atomic_rc_box_acquire(access);
}

static void end(gpointer data)
{
    struct gst_tdl_access *access = data;

    if (access->fd >= 0)
        sync_dmabuf(access->fd, access->flags | DMA_BUF_SYNC_END);
    else
        gst_memory_unmap(access->memory, &access->map);
    forget(access);
}

void gst_tdl_access_unref(struct gst_tdl_access *access)
{
    g_atomic_rc_box_release_full(access, end);
}
