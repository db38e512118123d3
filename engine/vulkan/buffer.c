/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "buffer.h"

#include "table.h"

#include <stdlib.h>
#include <string.h>

uint32_t tdl_memory_type_find(const struct tdl_context *ctx, uint32_t type_bits,
                              VkMemoryPropertyFlags required, VkMemoryPropertyFlags wanted,
                              VkMemoryPropertyFlags unwanted)
{
    uint32_t best = TDL_NO_MEMORY_TYPE;
    int best_score = -1;
    for (uint32_t i = 0; i < tdl_vk(ctx)->memory_properties.memoryTypeCount; i++) {
        VkMemoryPropertyFlags flags = tdl_vk(ctx)->memory_properties.memoryTypes[i].propertyFlags;
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
    const VkMemoryPropertyFlags mapped = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT,
                                coherent = mapped | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
                                cached = VK_MEMORY_PROPERTY_HOST_CACHED_BIT,
                                local = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
    const VkMemoryPropertyFlags readback[] = {coherent | cached, mapped | cached, coherent};
    uint32_t type = TDL_NO_MEMORY_TYPE;
    switch (access) {
    case TDL_BUFFER_UPLOAD:
        /* Written once by the CPU and read once by the GPU: plain system
         * memory does; device-local (resizable BAR) spares the GPU the bus. */
        return tdl_memory_type_find(ctx, type_bits, coherent, local, 0);
    case TDL_BUFFER_READBACK:
        /* Uncached reads by the CPU are slower by an order of magnitude. */
        for (size_t i = 0; i < TDL_COUNT(readback) && type == TDL_NO_MEMORY_TYPE; i++)
            type = tdl_memory_type_find(ctx, type_bits, readback[i], 0, local);
        return type;
    case TDL_BUFFER_DEVICE:
        break;
    }
    return tdl_memory_type_find(ctx, type_bits, 0, local, mapped);
}

static bool is_coherent(const struct tdl_buffer *b)
{
    const VkPhysicalDeviceMemoryProperties *all = &tdl_vk(b->ctx)->memory_properties;
    return all->memoryTypes[tdl_vkb(b)->memory_type].propertyFlags &
           VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
}

static void buffer_free(struct tdl_context *ctx, void *data)
{
    struct tdl_buffer *b = data;
    if (tdl_vkb(b)->forget)
        tdl_vkb(b)->forget(b);
    if (!tdl_vkb(b)->borrowed)
        vkDestroyBuffer(tdl_vk(ctx)->device, tdl_vkb(b)->buffer, NULL);
    if (tdl_vkb(b)->memory) {
        vkFreeMemory(tdl_vk(ctx)->device, tdl_vkb(b)->memory, NULL); /* unmaps too */
        atomic_fetch_sub(&ctx->stats.memory_bytes, b->size);
    }
    free(b);
}

enum tdl_result tdl_buffer_create_vk(struct tdl_buffer *b, VkExternalMemoryHandleTypeFlags external,
                                     VkMemoryRequirements *out_requirements)
{
    const VkExternalMemoryBufferCreateInfo others = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
        .handleTypes = external,
    };
    const VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .pNext = external ? &others : NULL,
        .size = b->size,
        .usage = TDL_BUFFER_USAGE,
    };
    struct tdl_vk_buffer *vk = tdl_vkb(b);
    enum tdl_result r =
        VK(b->ctx, vkCreateBuffer(tdl_vk(b->ctx)->device, &info, NULL, &vk->buffer));
    if (r == TDL_OK)
        vkGetBufferMemoryRequirements(tdl_vk(b->ctx)->device, vk->buffer, out_requirements);
    return r;
}

VkResult tdl_buffer_allocate(struct tdl_buffer *b, uint64_t size, uint32_t type, const void *next)
{
    tdl_vkb(b)->memory_type = type;
    return vkAllocateMemory(tdl_vk(b->ctx)->device,
                            &(VkMemoryAllocateInfo){
                                .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                .pNext = next,
                                .allocationSize = size,
                                .memoryTypeIndex = type,
                            },
                            NULL, &tdl_vkb(b)->memory);
}

enum tdl_result tdl_buffer_bind(struct tdl_buffer *b)
{
    atomic_fetch_add(&b->ctx->stats.allocations, 1);
    atomic_fetch_add(&b->ctx->stats.memory_bytes, b->size);
    return VK(b->ctx, vkBindBufferMemory(tdl_vk(b->ctx)->device, tdl_vkb(b)->buffer,
                                         tdl_vkb(b)->memory, 0));
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
    struct tdl_vk_buffer *b = calloc(1, sizeof(*b));
    if (!b) {
        tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while creating a buffer");
        return NULL;
    }
    tdl_buffer_init(&b->base, ctx, size);
    b->external_family = VK_QUEUE_FAMILY_IGNORED;
    return &b->base;
}

enum tdl_result tdl_buffer_abandon(struct tdl_buffer *b, enum tdl_result r)
{
    struct tdl_context *ctx = b->ctx;
    buffer_free(ctx, b);
    tdl_context_destroy(&ctx);
    return r;
}

enum tdl_result tdl_vk_buffer_create(struct tdl_context *ctx, const struct tdl_buffer_wish *wish,
                                     struct tdl_buffer **out_buffer)
{
    const uint64_t reach = ctx->info.max_buffer_bytes;
    VkMemoryRequirements requirements;
    enum tdl_result r;
    if (wish->size > reach && !wish->parts)
        return tdl_fail(TDL_ERROR_UNSUPPORTED,
                        "%s needs a buffer of %zu bytes; this device's kernels reach %llu. Use a "
                        "smaller one, or the CPU as the device",
                        wish->name, wish->size, (unsigned long long)reach);
    struct tdl_buffer *b = tdl_buffer_new(ctx, TDL_ALIGN(wish->size, 16));
    if (!b)
        return TDL_ERROR_OUT_OF_MEMORY;
    TRY(tdl_buffer_create_vk(b, 0, &requirements));
    TRY(allocate_best(b, &requirements, wish->access, wish->name));
    tdl_vkb(b)->host_visible = wish->access != TDL_BUFFER_DEVICE;
    tdl_vkb(b)->incoherent = tdl_vkb(b)->host_visible && !is_coherent(b);
    if (tdl_vkb(b)->host_visible)
        TRY(VK(ctx,
               vkMapMemory(tdl_vk(ctx)->device, tdl_vkb(b)->memory, 0, VK_WHOLE_SIZE, 0, &b->map)));
    tdl_context_name(ctx, VK_OBJECT_TYPE_BUFFER, TDL_HANDLE(tdl_vkb(b)->buffer), wish->name);
    tdl_context_name(ctx, VK_OBJECT_TYPE_DEVICE_MEMORY, TDL_HANDLE(tdl_vkb(b)->memory), wish->name);
    *out_buffer = b;
    return TDL_OK;
fail:
    return tdl_buffer_abandon(b, r);
}

enum tdl_result tdl_vk_buffer_import_host(struct tdl_context *ctx, void *pointer, size_t size,
                                          struct tdl_buffer **out_buffer, uint64_t *out_offset)
{
    const VkExternalMemoryHandleTypeFlagBits kind =
        VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;
    VkMemoryRequirements requirements;
    enum tdl_result r;
    if (!tdl_vk(ctx)->host_pointer_alignment || !tdl_vk(ctx)->fn.get_host_pointer_properties)
        return tdl_fail(TDL_ERROR_UNSUPPORTED, "%s has no VK_EXT_external_memory_host",
                        ctx->info.name);
    const uint64_t reach = ctx->info.max_buffer_bytes;
    uintptr_t align = tdl_vk(ctx)->host_pointer_alignment,
              start = (uintptr_t)pointer / align * align;
    size_t whole = 0;
    if (size <= reach)
        whole = TDL_ALIGN((uintptr_t)pointer - start + size, align);
    if (size > reach || whole > reach)
        return tdl_fail(TDL_ERROR_UNSUPPORTED,
                        "the host memory has %zu bytes; this device's kernels reach %llu", size,
                        (unsigned long long)reach);
    VkMemoryHostPointerPropertiesEXT properties = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT};
    if (tdl_vk(ctx)->fn.get_host_pointer_properties(tdl_vk(ctx)->device, kind, (void *)start,
                                                    &properties) < 0 ||
        !properties.memoryTypeBits)
        return tdl_fail(TDL_ERROR_UNSUPPORTED, "the driver refuses to import this host pointer");
    struct tdl_buffer *b = tdl_buffer_new(ctx, whole);
    if (!b)
        return TDL_ERROR_OUT_OF_MEMORY;
    TRY(tdl_buffer_create_vk(b, kind, &requirements));
    uint32_t type = tdl_memory_type_find(
        ctx, properties.memoryTypeBits & requirements.memoryTypeBits,
        VK_MEMORY_PROPERTY_HOST_COHERENT_BIT, VK_MEMORY_PROPERTY_HOST_CACHED_BIT, 0);
    if (type == TDL_NO_MEMORY_TYPE || requirements.size > whole) {
        r = tdl_fail(TDL_ERROR_UNSUPPORTED, "no coherent memory type takes this host pointer");
        goto fail;
    }
    TRY(VK(ctx,
           tdl_buffer_allocate(b, whole, type,
                               &(VkImportMemoryHostPointerInfoEXT){
                                   .sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT,
                                   .handleType = kind,
                                   .pHostPointer = (void *)start,
                               })));
    TRY(tdl_buffer_bind(b));
    tdl_vkb(b)->host_visible = true;
    tdl_context_name(ctx, VK_OBJECT_TYPE_BUFFER, TDL_HANDLE(tdl_vkb(b)->buffer), "host import");
    *out_buffer = b;
    *out_offset = (uintptr_t)pointer - start;
    return TDL_OK;
fail:
    return tdl_buffer_abandon(b, r);
}

void tdl_vk_buffer_destroy(struct tdl_buffer *b)
{
    tdl_coherence_forget(b);
    tdl_context_defer(b->ctx, tdl_vk_buffer_point(b, true), buffer_free, b);
}

uint64_t tdl_vk_buffer_point(const struct tdl_buffer *b, bool and_read)
{
    pthread_mutex_lock(&tdl_vk(b->ctx)->lock);
    uint64_t point = tdl_vkb(b)->write_point;
    for (uint32_t i = 0; i < TDL_MAX_QUEUES && and_read; i++)
        point = TDL_MAX(point, tdl_vkb(b)->read_points[i]);
    pthread_mutex_unlock(&tdl_vk(b->ctx)->lock);
    return point;
}

bool tdl_vk_buffer_is_local(const struct tdl_buffer *b)
{
    const VkPhysicalDeviceMemoryProperties *all = &tdl_vk(b->ctx)->memory_properties;
    const VkMemoryType *type = &all->memoryTypes[tdl_vkb(b)->memory_type];
    return tdl_context_device(b->ctx)->type != TDL_DEVICE_DISCRETE_GPU || tdl_vkb(b)->borrowed ||
           type->propertyFlags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
}

enum tdl_result tdl_vk_buffer_wait(const struct tdl_buffer *b, bool and_read)
{
    uint64_t points[TDL_MAX_QUEUES + 1];
    enum tdl_result r = TDL_OK;
    pthread_mutex_lock(&tdl_vk(b->ctx)->lock);
    memcpy(points, tdl_vkb(b)->read_points, sizeof(tdl_vkb(b)->read_points));
    points[TDL_MAX_QUEUES] = tdl_vkb(b)->write_point;
    pthread_mutex_unlock(&tdl_vk(b->ctx)->lock);
    for (uint32_t i = and_read ? 0 : TDL_MAX_QUEUES; i <= TDL_MAX_QUEUES && r == TDL_OK; i++)
        r = tdl_vk_context_wait(b->ctx, points[i], TDL_WAIT_FOREVER);
    return r;
}
