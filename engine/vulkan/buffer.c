/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "buffer.h"

#include "vulkan/share/lease.h"

#include <stdlib.h>
#include <string.h>

uint32_t tdl_memory_type_find(const struct tdl_context *ctx, uint32_t type_bits,
                              VkMemoryPropertyFlags required, VkMemoryPropertyFlags wanted,
                              VkMemoryPropertyFlags unwanted)
{
    uint32_t best = TDL_NO_MEMORY_TYPE;
    int best_score = -1;
    for (uint32_t i = 0; i < ctx->memory_properties.memoryTypeCount; i++) {
        VkMemoryPropertyFlags flags = ctx->memory_properties.memoryTypes[i].propertyFlags;
        if (!(type_bits & (1u << i)) || (flags & required) != required)
            continue;
        int score = 2 * __builtin_popcount(flags & wanted) + !(flags & unwanted);
        if (score > best_score) {
            best = i;
            best_score = score;
        }
    }
    return best;
}

uint32_t tdl_memory_type_for(const struct tdl_context *ctx, uint32_t type_bits,
                             enum tdl_buffer_access access)
{
    const VkMemoryPropertyFlags mapped =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    switch (access) {
    case TDL_BUFFER_UPLOAD:
        /* Written once by the CPU and read once by the GPU: plain system
         * memory does; device-local (resizable BAR) spares the GPU the bus. */
        return tdl_memory_type_find(ctx, type_bits, mapped, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
                                    0);
    case TDL_BUFFER_READBACK:
        /* Uncached reads by the CPU are slower by an order of magnitude. */
        return tdl_memory_type_find(ctx, type_bits, mapped, VK_MEMORY_PROPERTY_HOST_CACHED_BIT,
                                    VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
    case TDL_BUFFER_DEVICE:
        break;
    }
    return tdl_memory_type_find(ctx, type_bits, 0, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
                                VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT);
}

static void buffer_free(struct tdl_context *ctx, void *data)
{
    struct tdl_buffer *b = data;
    tdl_lease_free(b);
    vkDestroyBuffer(ctx->device, b->buffer, NULL);
    if (b->memory) {
        vkFreeMemory(ctx->device, b->memory, NULL); /* unmaps too */
        atomic_fetch_sub(&ctx->stats.memory_bytes, b->size);
    }
    free(b);
}

enum tdl_result tdl_buffer_create_vk(struct tdl_buffer *b,
                                     VkExternalMemoryHandleTypeFlags external,
                                     VkMemoryRequirements *out_requirements)
{
    enum tdl_result r = VK(
        b->ctx, vkCreateBuffer(b->ctx->device,
                               &(VkBufferCreateInfo){
                                   .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                   .pNext =
                                       external
                                           ? &(VkExternalMemoryBufferCreateInfo){
                                                 .sType =
                                                     VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
                                                 .handleTypes = external}
                                           : NULL,
                                   .size = b->size,
                                   .usage = TDL_BUFFER_USAGE,
                               },
                               NULL, &b->buffer));
    if (r == TDL_OK)
        vkGetBufferMemoryRequirements(b->ctx->device, b->buffer, out_requirements);
    return r;
}

VkResult tdl_buffer_allocate(struct tdl_buffer *b, uint64_t size, uint32_t type, const void *next)
{
    b->memory_type = type;
    return vkAllocateMemory(b->ctx->device,
                            &(VkMemoryAllocateInfo){
                                .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                .pNext = next,
                                .allocationSize = size,
                                .memoryTypeIndex = type,
                            },
                            NULL, &b->memory);
}

enum tdl_result tdl_buffer_bind(struct tdl_buffer *b)
{
    atomic_fetch_add(&b->ctx->stats.allocations, 1);
    atomic_fetch_add(&b->ctx->stats.memory_bytes, b->size);
    return VK(b->ctx, vkBindBufferMemory(b->ctx->device, b->buffer, b->memory, 0));
}

/* Memory of the best type. Mapped memory may be of a small heap (256 MiB of a
 * GPU's memory behind the bus): if that is full, the next best type does. */
static enum tdl_result allocate_best(struct tdl_buffer *b, const VkMemoryRequirements *requirements,
                                     enum tdl_buffer_access access, const char *name)
{
    uint32_t types = requirements->memoryTypeBits;
    uint32_t type = tdl_memory_type_for(b->ctx, types, access);
    if (type == TDL_NO_MEMORY_TYPE)
        return tdl_fail(TDL_ERROR_UNSUPPORTED, "the device has no memory for %s", name);
    VkResult result = tdl_buffer_allocate(b, requirements->size, type, NULL);
    while (result == VK_ERROR_OUT_OF_DEVICE_MEMORY && access != TDL_BUFFER_DEVICE) {
        types &= ~(1u << type);
        uint32_t next = tdl_memory_type_for(b->ctx, types, access);
        if (next == TDL_NO_MEMORY_TYPE)
            break;
        tdl_log(b->ctx, TDL_LOG_WARNING,
                "%s: memory of type %u is full, %zu bytes come from type %u, which may be slower",
                name, type, b->size, next);
        type = next;
        result = tdl_buffer_allocate(b, requirements->size, type, NULL);
    }
    return result < 0 ? tdl_vk_fail(b->ctx, result, "vkAllocateMemory(") : tdl_buffer_bind(b);
}

struct tdl_buffer *tdl_buffer_new(struct tdl_context *ctx, size_t size)
{
    static atomic_ullong next_id = 1;
    struct tdl_buffer *b = calloc(1, sizeof(*b));
    if (!b) {
        tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while creating a buffer");
        return NULL;
    }
    b->ctx = tdl_context_ref(ctx);
    atomic_init(&b->refs, 1);
    b->id = atomic_fetch_add(&next_id, 1);
    b->size = size;
    b->external_family = VK_QUEUE_FAMILY_IGNORED;
    return b;
}

enum tdl_result tdl_buffer_abandon(struct tdl_buffer *b, enum tdl_result r)
{
    struct tdl_context *ctx = b->ctx;
    buffer_free(ctx, b);
    tdl_context_destroy(&ctx);
    return r;
}

enum tdl_result tdl_buffer_create_named(struct tdl_context *ctx, size_t size,
                                        enum tdl_buffer_access access, const char *name,
                                        struct tdl_buffer **out_buffer)
{
    VkMemoryRequirements requirements;
    enum tdl_result r = tdl_context_check(ctx);
    *out_buffer = NULL;
    if (r != TDL_OK)
        return r;
    if (!size)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "a buffer of 0 bytes was asked for (%s)", name);
    if (size > ctx->properties.limits.maxStorageBufferRange)
        return tdl_fail(TDL_ERROR_UNSUPPORTED,
                        "%s needs a buffer of %zu bytes; this device's kernels reach %u", name, size,
                        ctx->properties.limits.maxStorageBufferRange);
    struct tdl_buffer *b = tdl_buffer_new(ctx, TDL_ALIGN(size, 16));
    if (!b)
        return TDL_ERROR_OUT_OF_MEMORY;
    TRY(tdl_buffer_create_vk(b, 0, &requirements));
    TRY(allocate_best(b, &requirements, access, name));
    b->host_visible = access != TDL_BUFFER_DEVICE;
    if (b->host_visible)
        TRY(VK(ctx, vkMapMemory(ctx->device, b->memory, 0, VK_WHOLE_SIZE, 0, &b->map)));
    tdl_context_name(ctx, VK_OBJECT_TYPE_BUFFER, (uint64_t)(uintptr_t)b->buffer, name);
    tdl_context_name(ctx, VK_OBJECT_TYPE_DEVICE_MEMORY, (uint64_t)(uintptr_t)b->memory, name);
    *out_buffer = b;
    return TDL_OK;
fail:
    return tdl_buffer_abandon(b, r);
}

enum tdl_result tdl_buffer_create(struct tdl_context *context, size_t size,
                                  enum tdl_buffer_access access, struct tdl_buffer **out_buffer)
{
    static const char *const names[] = {"frame (device)", "frame (upload)", "frame (readback)"};
    *out_buffer = NULL;
    if ((unsigned)access >= TDL_COUNT(names))
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "a buffer with unknown access %d", access);
    return tdl_buffer_create_named(context, size, access, names[access], out_buffer);
}

enum tdl_result tdl_buffer_import_host(struct tdl_context *ctx, void *pointer, size_t size,
                                       struct tdl_buffer **out_buffer, uint64_t *out_offset)
{
    const VkExternalMemoryHandleTypeFlagBits kind =
        VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;
    VkMemoryRequirements requirements;
    enum tdl_result r = tdl_context_check(ctx);
    *out_buffer = NULL;
    if (r != TDL_OK)
        return r;
    if (!pointer || !size)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "there is no host memory to import");
    if (!ctx->host_pointer_alignment || !ctx->fn.get_host_pointer_properties)
        return tdl_fail(TDL_ERROR_UNSUPPORTED, "%s has no VK_EXT_external_memory_host",
                        ctx->info.name);
    const uint32_t reach = ctx->properties.limits.maxStorageBufferRange;
    uintptr_t align = ctx->host_pointer_alignment, start = (uintptr_t)pointer / align * align;
    size_t whole = 0;
    if (size > UINTPTR_MAX - (uintptr_t)pointer)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "host memory of %zu bytes at %p goes past the end of the address space",
                        size, pointer);
    if (size <= reach)
        whole = TDL_ALIGN((uintptr_t)pointer - start + size, align);
    if (size > reach || whole > reach)
        return tdl_fail(TDL_ERROR_UNSUPPORTED,
                        "the host memory has %zu bytes; this device's kernels reach %u", size,
                        reach);
    VkMemoryHostPointerPropertiesEXT properties = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT};
    if (ctx->fn.get_host_pointer_properties(ctx->device, kind, (void *)start, &properties) < 0 ||
        !properties.memoryTypeBits)
        return tdl_fail(TDL_ERROR_UNSUPPORTED, "the driver refuses to import this host pointer");
    struct tdl_buffer *b = tdl_buffer_new(ctx, whole);
    if (!b)
        return TDL_ERROR_OUT_OF_MEMORY;
    TRY(tdl_buffer_create_vk(b, kind, &requirements));
    uint32_t type =
        tdl_memory_type_find(ctx, properties.memoryTypeBits & requirements.memoryTypeBits,
                             VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
                             VK_MEMORY_PROPERTY_HOST_CACHED_BIT, 0);
    if (type == TDL_NO_MEMORY_TYPE || requirements.size > whole) {
        r = tdl_fail(TDL_ERROR_UNSUPPORTED, "no coherent memory type takes this host pointer");
        goto fail;
    }
    TRY(VK(ctx, tdl_buffer_allocate(b, whole, type,
                         &(VkImportMemoryHostPointerInfoEXT){
                             .sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT,
                             .handleType = kind,
                             .pHostPointer = (void *)start,
                         })));
    TRY(tdl_buffer_bind(b));
    b->host_visible = true;
    tdl_context_name(ctx, VK_OBJECT_TYPE_BUFFER, (uint64_t)(uintptr_t)b->buffer, "host import");
    *out_buffer = b;
    *out_offset = (uintptr_t)pointer - start;
    return TDL_OK;
fail:
    return tdl_buffer_abandon(b, r);
}

struct tdl_buffer *tdl_buffer_ref(struct tdl_buffer *buffer)
{
    atomic_fetch_add(&buffer->refs, 1);
    return buffer;
}

void tdl_buffer_destroy(struct tdl_buffer **buffer)
{
    struct tdl_buffer *b = tdl_take(buffer);
    if (!b || atomic_fetch_sub(&b->refs, 1) != 1)
        return;
    struct tdl_context *ctx = b->ctx;
    pthread_mutex_lock(&ctx->lock);
    uint64_t point = TDL_MAX(b->read_point, b->write_point);
    pthread_mutex_unlock(&ctx->lock);
    tdl_context_defer(ctx, point, buffer_free, b);
    tdl_context_destroy(&ctx);
}

void *tdl_buffer_data(struct tdl_buffer *buffer)
{
    return buffer->map;
}

size_t tdl_buffer_size(const struct tdl_buffer *buffer)
{
    return buffer->size;
}

enum tdl_result tdl_buffer_wait(struct tdl_buffer *buffer, bool for_write)
{
    struct tdl_context *ctx = buffer->ctx;
    pthread_mutex_lock(&ctx->lock);
    uint64_t point = buffer->write_point;
    if (for_write)
        point = TDL_MAX(point, buffer->read_point);
    pthread_mutex_unlock(&ctx->lock);
    return tdl_context_wait(ctx, point, TDL_WAIT_FOREVER);
}
