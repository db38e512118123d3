/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdlimporter.h"

#include "base/gsttdlerror.h"

#include <fcntl.h>
#include <gst/allocators/gstdmabuf.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define GST_CAT_DEFAULT gst_tdl_filter_debug

/* Two branches of a tee may come with the same memory at once. */
static GMutex lock;

static void cached_unref(gpointer data)
{
    struct gst_tdl_import_cached *cached = data;
    const struct gst_tdl_device_ops *ops;

    if (!g_atomic_int_dec_and_test(&cached->refs))
        return;
    ops = cached->device->ops;
    if (cached->point)
        ops->wait_point(cached->device->context, cached->point, TDL_WAIT_FOREVER);
    ops->destroy_buffer(&cached->buffer);
    for (guint i = 0; i < TDL_MAX_PLANES; i++)
        ops->destroy_image(&cached->images[i]);
    if (cached->mapping)
        munmap(cached->mapping, cached->mapping_size);
    g_free(cached->why);
    gst_tdl_device_unref(cached->device);
    g_free(cached);
}

/* Per device, as elements on two of them may see the same memory. */
static GQuark quark_of(const struct gst_tdl_device *device, const gchar *kind)
{
    gchar name[96];

    g_snprintf(name, sizeof(name), "tdl-import-%p-%s", (const void *)device->context, kind);
    return g_quark_from_string(name);
}

/* ------------------------------------------------- the same dma-buf once more */

/* More than pools have. */
#define MAX_KNOWN 32
#define ANON_INODES 0x09041934 /* before Linux 5.3 all dma-bufs shared one inode */

struct identity {
    dev_t device;
    ino_t inode;
    GQuark quark;
};

/* A dma-buf that comes in a second memory is kept imported: its source makes a
 * new memory for each frame. */
struct gst_tdl_known {
    struct identity seen[MAX_KNOWN]; /* imported once */
    guint next_seen;
    struct {
        struct identity identity;
        struct gst_tdl_import_cached *cached; /* NULL: free */
        gint fd; /* nobody else can have this inode until it is closed */
    } kept[MAX_KNOWN];
    guint next_kept;
};

static gboolean identify(GstMemory *memory, GQuark quark, struct identity *out)
{
    struct statfs files;
    struct stat file;
    gint fd;

    if (!gst_is_dmabuf_memory(memory))
        return FALSE;
    fd = gst_dmabuf_memory_get_fd(memory);
    if (fstatfs(fd, &files) < 0 || files.f_type == ANON_INODES || fstat(fd, &file) < 0)
        return FALSE;
    *out = (struct identity){ file.st_dev, file.st_ino, quark };
    return TRUE;
}

static gboolean same(const struct identity *a, const struct identity *b)
{
    return a->device == b->device && a->inode == b->inode && a->quark == b->quark;
}

static struct gst_tdl_import_cached *find_kept(const struct gst_tdl_known *known,
                                               const struct identity *identity)
{
    for (guint i = 0; known && i < MAX_KNOWN; i++)
        if (known->kept[i].cached && same(&known->kept[i].identity, identity))
            return known->kept[i].cached;
    return NULL;
}

static void let_go(struct gst_tdl_known *known, guint i)
{
    if (!known->kept[i].cached)
        return;
    cached_unref(known->kept[i].cached);
    close(known->kept[i].fd);
    known->kept[i].cached = NULL;
}

static void keep(struct gst_tdl_known *known, const struct identity *identity, gint fd,
                 struct gst_tdl_import_cached *cached)
{
    gint own = fcntl(fd, F_DUPFD_CLOEXEC, 0);

    if (own < 0)
        return; /* the memory will be imported anew, then */
    let_go(known, known->next_kept);
    g_atomic_int_inc(&cached->refs);
    known->kept[known->next_kept].identity = *identity;
    known->kept[known->next_kept].cached = cached;
    known->kept[known->next_kept].fd = own;
    known->next_kept = (known->next_kept + 1) % MAX_KNOWN;
}

/* After an import: remember the dma-buf, and the second time keep it. */
static void remember(struct gst_tdl_importer *importer, const struct identity *identity, gint fd,
                     struct gst_tdl_import_cached *cached)
{
    struct gst_tdl_known *known = importer->known;

    if (!known)
        known = importer->known = g_new0(struct gst_tdl_known, 1);
    for (guint i = 0; i < MAX_KNOWN; i++)
        if (same(&known->seen[i], identity)) {
            keep(known, identity, fd, cached);
            return;
        }
    known->seen[known->next_seen] = *identity;
    known->next_seen = (known->next_seen + 1) % MAX_KNOWN;
}

void gst_tdl_importer_forget(struct gst_tdl_importer *importer)
{
    for (guint i = 0; importer->known && i < MAX_KNOWN; i++)
        let_go(importer->known, i);
    g_clear_pointer(&importer->known, g_free);
}

/* ----------------------------------------------------------- kept at memories */

static struct gst_tdl_import_cached *import_now(struct gst_tdl_importer *importer,
                                                GstMemory *memory, gst_tdl_import_cache_fn make,
                                                gpointer data)
{
    struct gst_tdl_import_cached *cached = g_new0(struct gst_tdl_import_cached, 1);

    cached->refs = 1;
    cached->device = gst_tdl_device_ref(importer->device);
    if (make(importer, memory, data, cached) == TDL_OK) {
        importer->stats.imports++;
    } else {
        cached->why = g_strdup(tdl_last_error());
        GST_INFO("import of %s memory %p declined: %s", memory->allocator->mem_type,
                 (gpointer)memory, cached->why);
    }
    return cached;
}

/* Known by its inode, or imported. The caller's reference. */
static struct gst_tdl_import_cached *find_or_import(struct gst_tdl_importer *importer,
                                                    GstMemory *memory, GQuark quark,
                                                    gst_tdl_import_cache_fn make, gpointer data)
{
    struct gst_tdl_import_cached *cached;
    struct identity identity;
    gboolean known = identify(memory, quark, &identity);

    cached = known ? find_kept(importer->known, &identity) : NULL;
    if (cached) {
        g_atomic_int_inc(&cached->refs);
        importer->stats.cache_hits++;
        return cached;
    }
    cached = import_now(importer, memory, make, data);
    if (known && !cached->why)
        remember(importer, &identity, gst_dmabuf_memory_get_fd(memory), cached);
    return cached;
}

struct gst_tdl_import_cached *gst_tdl_import_cache_get(struct gst_tdl_importer *importer,
                                                       GstMemory *memory, const gchar *kind,
                                                       gst_tdl_import_cache_fn make, gpointer data)
{
    GQuark quark = quark_of(importer->device, kind);
    struct gst_tdl_import_cached *cached;

    g_mutex_lock(&lock);
    cached = gst_mini_object_get_qdata(GST_MINI_OBJECT(memory), quark);
    if (cached) {
        importer->stats.cache_hits += cached->why == NULL;
    } else {
        cached = find_or_import(importer, memory, quark, make, data);
        gst_mini_object_set_qdata(GST_MINI_OBJECT(memory), quark, cached, cached_unref);
    }
    g_mutex_unlock(&lock);
    return cached;
}

void gst_tdl_import_cache_put(struct gst_tdl_device *device, GstMemory *memory, const gchar *kind,
                              const struct gst_tdl_import_cached *contents)
{
    struct gst_tdl_import_cached *cached = g_memdup2(contents, sizeof(*contents));

    cached->refs = 1;
    cached->device = gst_tdl_device_ref(device);
    gst_mini_object_set_qdata(GST_MINI_OBJECT(memory), quark_of(device, kind), cached,
                              cached_unref);
}

void gst_tdl_import_cache_put_buffer(struct gst_tdl_device *device, GstMemory *memory,
                                     struct tdl_buffer *buffer)
{
    gst_tdl_import_cache_put(device, memory, GST_TDL_IMPORT_CACHE_BUFFER,
                             &(struct gst_tdl_import_cached){ .buffer = buffer });
}
