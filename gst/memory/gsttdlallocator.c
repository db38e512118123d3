/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdlallocator.h"

#include <stdatomic.h>
#include <string.h>

#define MEMORY_TYPE "TdlMemory"

struct memory {
    GstMemory base;
    struct tdl_buffer *buffer; /* a share (base.parent) borrows its parent's */
};

typedef struct {
    GstAllocator base;
    struct gst_tdl_device *device;
    enum tdl_buffer_access access;
    atomic_ullong mapped; /* bytes */
} GstTdlAllocator;
typedef struct {
    GstAllocatorClass base;
} GstTdlAllocatorClass;

GType gst_tdl_allocator_get_type(void);
G_DEFINE_TYPE(GstTdlAllocator, gst_tdl_allocator, GST_TYPE_ALLOCATOR)

static GstMemory *allocator_alloc(GstAllocator *allocator, gsize size, GstAllocationParams *params)
{
    GstTdlAllocator *self = (GstTdlAllocator *)allocator;
    gsize total = params->prefix + size + params->padding;
    struct memory *memory;
    struct tdl_buffer *buffer = NULL;

    if (tdl_buffer_create(self->device->context, MAX(total, 1), self->access, &buffer) != TDL_OK) {
        GST_ERROR_OBJECT(self, "cannot allocate %" G_GSIZE_FORMAT " bytes: %s", total,
                         tdl_last_error());
        return NULL;
    }
    memory = g_new0(struct memory, 1);
    memory->buffer = buffer;
    gst_memory_init(&memory->base, params->flags, allocator, NULL, total, params->align,
                    params->prefix, size);
    return &memory->base;
}

static void allocator_free(GstAllocator *allocator, GstMemory *base)
{
    struct memory *memory = (struct memory *)base;

    (void)allocator;
    if (!base->parent)
        tdl_buffer_destroy(&memory->buffer);
    g_free(memory);
}

/* Whoever was given a frame may touch it, whatever has become of the device: some
 * do not look whether they may. A lost device is not waited for: what it should have
 * written is zeros then, as the memory may hold anything, and the element ends the stream
 * when it is next. */
static gpointer memory_map(GstMemory *base, GstMapInfo *info, gsize maxsize)
{
    struct memory *memory = (struct memory *)base;
    GstTdlAllocator *allocator = (GstTdlAllocator *)base->allocator;

    (void)maxsize;
    if (tdl_buffer_wait(memory->buffer, (info->flags & GST_MAP_WRITE) != 0) != TDL_OK) {
        GST_CAT_ERROR(GST_CAT_DEFAULT, "nothing lies in a mapped frame: %s", tdl_last_error());
        if (allocator->access == TDL_BUFFER_READBACK)
            memset(tdl_buffer_data(memory->buffer), 0, tdl_buffer_size(memory->buffer));
    }
    atomic_fetch_add(&allocator->mapped, base->size);
    return tdl_buffer_data(memory->buffer);
}

static void memory_unmap(GstMemory *base, GstMapInfo *info)
{
    (void)base; /* coherent, and mapped for life */
    (void)info;
}

static GstMemory *memory_share(GstMemory *base, gssize offset, gssize size)
{
    struct memory *memory = (struct memory *)base, *share = g_new0(struct memory, 1);
    GstMemory *parent = base->parent ? base->parent : base;

    if (size == -1)
        size = base->size - offset;
    share->buffer = memory->buffer;
    gst_memory_init(
        &share->base, GST_MINI_OBJECT_FLAGS(parent) | GST_MINI_OBJECT_FLAG_LOCK_READONLY,
        base->allocator, parent, base->maxsize, base->align, base->offset + offset, size);
    return &share->base;
}

static void allocator_finalize(GObject *object)
{
    GstTdlAllocator *self = (GstTdlAllocator *)object;

    g_clear_pointer(&self->device, gst_tdl_device_unref);
    G_OBJECT_CLASS(gst_tdl_allocator_parent_class)->finalize(object);
}

static void gst_tdl_allocator_class_init(GstTdlAllocatorClass *klass)
{
    G_OBJECT_CLASS(klass)->finalize = allocator_finalize;
    GST_ALLOCATOR_CLASS(klass)->alloc = allocator_alloc;
    GST_ALLOCATOR_CLASS(klass)->free = allocator_free;
}

static void gst_tdl_allocator_init(GstTdlAllocator *self)
{
    GstAllocator *allocator = GST_ALLOCATOR(self);

    allocator->mem_type = MEMORY_TYPE;
    allocator->mem_map_full = memory_map;
    allocator->mem_unmap_full = memory_unmap;
    allocator->mem_share = memory_share;
}

GstAllocator *gst_tdl_allocator_new(struct gst_tdl_device *device, enum tdl_buffer_access access)
{
    GstTdlAllocator *self = g_object_new(gst_tdl_allocator_get_type(), NULL);

    self->device = gst_tdl_device_ref(device);
    self->access = access;
    return gst_object_ref_sink(self);
}

struct tdl_context *gst_tdl_allocator_context(GstAllocator *allocator)
{
    return ((GstTdlAllocator *)allocator)->device->context;
}

guint64 gst_tdl_allocator_mapped_bytes(GstAllocator *allocator)
{
    return atomic_load(&((GstTdlAllocator *)allocator)->mapped);
}

struct tdl_buffer *gst_tdl_allocator_find_buffer(GstMemory *memory,
                                                 const struct gst_tdl_device *device,
                                                 gsize *out_offset)
{
    if (!gst_memory_is_type(memory, MEMORY_TYPE) ||
        ((GstTdlAllocator *)memory->allocator)->device->context != device->context)
        return NULL;
    *out_offset = memory->offset;
    return ((struct memory *)memory)->buffer;
}
