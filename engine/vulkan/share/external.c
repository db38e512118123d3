/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Memory by file descriptor, both ways.
 *
 * The size traps. A driver asks for more memory than the buffer has (whole
 * pages; v3dv 64 bytes more, rounded up to a page), and a dma-buf is as large as
 * its maker made it. Importing less than the driver wants would let kernels
 * read behind the end, so that is declined. The fd alone knows its size, and
 * only if it is a dma-buf: what an opaque fd is differs from driver to driver.
 *
 * Opaque fds carry no description of themselves: importer and exporter must
 * create the buffer alike, and use the same size, memory type and dedicated
 * allocation. Both sides are here, so both use opaque_handles() and
 * memory_type().
 */
#include "external.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

VkExternalMemoryHandleTypeFlagBits tdl_external_handle(enum tdl_handle_type type)
{
    return type == TDL_HANDLE_DMA_BUF ? VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT
                                      : VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
}

static const char *handle_name(enum tdl_handle_type type)
{
    return type == TDL_HANDLE_DMA_BUF ? "dma-buf" : "opaque fd";
}

uint32_t tdl_external_family(const struct tdl_context *ctx, enum tdl_handle_type type)
{
    /* A dma-buf's holder need not be a Vulkan driver, let alone ours. */
    return type == TDL_HANDLE_DMA_BUF &&
                   tdl_setup_has(&tdl_vk(ctx)->setup, VK_EXT_QUEUE_FAMILY_FOREIGN_EXTENSION_NAME)
               ? VK_QUEUE_FAMILY_FOREIGN_EXT
               : VK_QUEUE_FAMILY_EXTERNAL;
}

static VkExternalMemoryProperties properties_of(struct tdl_context *ctx,
                                                VkExternalMemoryHandleTypeFlagBits handle)
{
    VkExternalBufferProperties properties = {.sType = VK_STRUCTURE_TYPE_EXTERNAL_BUFFER_PROPERTIES};
    vkGetPhysicalDeviceExternalBufferProperties(
        tdl_vk(ctx)->physical,
        &(VkPhysicalDeviceExternalBufferInfo){
            .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_BUFFER_INFO,
            .usage = TDL_BUFFER_USAGE,
            .handleType = handle,
        },
        &properties);
    return properties.externalMemoryProperties;
}

/* The kinds of handle that a buffer with an opaque fd is created for: dma-buf,
 * too, where one allocation can be both. */
static VkExternalMemoryHandleTypeFlags opaque_handles(struct tdl_context *ctx)
{
    const VkExternalMemoryHandleTypeFlags dma_buf = VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT;
    VkExternalMemoryHandleTypeFlags handles = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
    if (ctx->info.dma_buf_export &&
        properties_of(ctx, VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT).compatibleHandleTypes &
            dma_buf)
        handles |= dma_buf;
    return handles;
}

static uint32_t memory_type(const struct tdl_context *ctx, enum tdl_handle_type type, uint32_t bits)
{
    if (type == TDL_HANDLE_OPAQUE_FD)
        return tdl_memory_type_for(ctx, bits, TDL_BUFFER_DEVICE);
    /* Others map dma-bufs for their CPU: better memory that it can reach. */
    return tdl_memory_type_find(
        ctx, bits, 0, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT, 0);
}

/* ------------------------------------------------------------------- import */

static enum tdl_result check_created(const struct tdl_import_facts *f)
{
    const char *name = handle_name(f->type);
    if (f->fd_size >= 0 && f->required > (uint64_t)f->fd_size)
        return tdl_fail(TDL_ERROR_UNSUPPORTED,
                        "this driver wants %llu bytes of memory for a buffer of %llu, and the %s "
                        "has %lld: allocate a page more",
                        (unsigned long long)f->required, (unsigned long long)tdl_import_size(f),
                        name, (long long)f->fd_size);
    if (!f->fd_types)
        return tdl_fail(TDL_ERROR_UNSUPPORTED,
                        "the driver takes this %s into no memory type: it is of a device that "
                        "this one cannot reach",
                        name);
    if (!(f->fd_types & f->buffer_types))
        return tdl_fail(TDL_ERROR_UNSUPPORTED,
                        "the driver takes this %s into memory types 0x%x only, and storage "
                        "buffers need one of 0x%x",
                        name, f->fd_types, f->buffer_types);
    return TDL_OK;
}

enum tdl_result tdl_import_check(const struct tdl_import_facts *f)
{
    const char *name = handle_name(f->type);
    if (!f->has_extension)
        return tdl_fail(TDL_ERROR_UNSUPPORTED, "the device has no %s, or it was not enabled",
                        f->type == TDL_HANDLE_DMA_BUF
                            ? VK_EXT_EXTERNAL_MEMORY_DMA_BUF_EXTENSION_NAME
                            : VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME);
    if (!f->importable)
        return tdl_fail(TDL_ERROR_UNSUPPORTED, "the driver imports no %s as a storage buffer",
                        name);
    if (f->fd_size <= 0 && f->type == TDL_HANDLE_DMA_BUF)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "the fd does not tell its size: it is not a dma-buf");
    if (!f->wanted && f->type == TDL_HANDLE_OPAQUE_FD)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "an opaque fd does not tell its size: give the buffer's");
    if (f->fd_size >= 0 && f->wanted > (uint64_t)f->fd_size)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "the %s has %lld bytes; %llu were asked for",
                        name, (long long)f->fd_size, (unsigned long long)f->wanted);
    if (f->wanted > f->limit || tdl_import_size(f) > f->limit)
        return tdl_fail(TDL_ERROR_UNSUPPORTED,
                        "the %s has %llu bytes; this device's kernels reach %llu: say how many "
                        "are used",
                        name, (unsigned long long)TDL_MAX(f->wanted, tdl_import_size(f)),
                        (unsigned long long)f->limit);
    return f->created ? check_created(f) : TDL_OK;
}

uint64_t tdl_import_size(const struct tdl_import_facts *f)
{
    if (f->type == TDL_HANDLE_OPAQUE_FD) /* as its exporter rounded it */
        return TDL_ALIGN(f->wanted, 16);
    uint64_t whole = (uint64_t)f->fd_size;
    return f->wanted ? TDL_MIN(TDL_ALIGN(f->wanted, 16), whole) : TDL_MIN(whole, f->limit);
}

static enum tdl_result gather_facts(struct tdl_context *ctx, enum tdl_handle_type type, int fd,
                                    size_t size, struct tdl_import_facts *f)
{
    bool dma_buf = type == TDL_HANDLE_DMA_BUF;
    *f = (struct tdl_import_facts){
        .type = type,
        .has_extension =
            tdl_setup_has(&tdl_vk(ctx)->setup, VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME) &&
            (!dma_buf ||
             tdl_setup_has(&tdl_vk(ctx)->setup, VK_EXT_EXTERNAL_MEMORY_DMA_BUF_EXTENSION_NAME)),
        .importable = dma_buf ? ctx->info.external_memory_dma_buf : ctx->info.external_memory_fd,
        .fd_size = -1,
        .wanted = size,
        .limit = tdl_vk(ctx)->properties.limits.maxStorageBufferRange,
    };
    if (fcntl(fd, F_GETFD) < 0)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "%d is not an open file descriptor", fd);
    if (dma_buf) {
        f->fd_size = lseek(fd, 0, SEEK_END);
        lseek(fd, 0, SEEK_SET);
    }
    return tdl_import_check(f);
}

/* After the VkBuffer: does its memory fit the fd's? */
static enum tdl_result check_memory(struct tdl_buffer *b, int fd, struct tdl_import_facts *f,
                                    const VkMemoryRequirements *requirements)
{
    VkMemoryFdPropertiesKHR fd_properties = {.sType = VK_STRUCTURE_TYPE_MEMORY_FD_PROPERTIES_KHR};
    f->created = true;
    f->required = requirements->size;
    f->buffer_types = requirements->memoryTypeBits;
    f->fd_types = UINT32_MAX; /* an opaque fd must not be asked */
    if (f->type == TDL_HANDLE_DMA_BUF) {
        f->fd_types = 0;
        if (tdl_vk(b->ctx)->fn.get_memory_fd_properties(
                tdl_vk(b->ctx)->device, tdl_external_handle(f->type), fd, &fd_properties) >= 0)
            f->fd_types = fd_properties.memoryTypeBits;
    }
    return tdl_import_check(f);
}

static bool wants_dedicated(struct tdl_buffer *b, enum tdl_handle_type type)
{
    VkMemoryDedicatedRequirements dedicated = {.sType =
                                                   VK_STRUCTURE_TYPE_MEMORY_DEDICATED_REQUIREMENTS};
    VkMemoryRequirements2 requirements = {.sType = VK_STRUCTURE_TYPE_MEMORY_REQUIREMENTS_2,
                                          .pNext = &dedicated};
    if (type == TDL_HANDLE_OPAQUE_FD)
        return true;
    vkGetBufferMemoryRequirements2(tdl_vk(b->ctx)->device,
                                   &(VkBufferMemoryRequirementsInfo2){
                                       .sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_REQUIREMENTS_INFO_2,
                                       .buffer = tdl_vkb(b)->buffer},
                                   &requirements);
    return dedicated.requiresDedicatedAllocation ||
           properties_of(b->ctx, tdl_external_handle(type)).externalMemoryFeatures &
               VK_EXTERNAL_MEMORY_FEATURE_DEDICATED_ONLY_BIT;
}

static enum tdl_result import_memory(struct tdl_buffer *b, int fd, const struct tdl_import_facts *f)
{
    uint32_t type = memory_type(b->ctx, f->type, f->buffer_types & f->fd_types);
    VkMemoryDedicatedAllocateInfo dedicated = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO, .buffer = tdl_vkb(b)->buffer};
    int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (own < 0)
        return tdl_fail(TDL_ERROR_IO, "the fd cannot be duplicated: %s", strerror(errno));
    VkResult result =
        tdl_buffer_allocate(b, f->required, type,
                            &(VkImportMemoryFdInfoKHR){
                                .sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR,
                                .pNext = wants_dedicated(b, f->type) ? &dedicated : NULL,
                                .handleType = tdl_external_handle(f->type),
                                .fd = own,
                            });
    if (result >= 0)
        return tdl_buffer_bind(b); /* the driver owns the duplicate */
    close(own);
    /* Software devices say "out of memory" when they cannot map it. */
    const bool maps = b->ctx->info.type == TDL_DEVICE_SOFTWARE && f->type == TDL_HANDLE_DMA_BUF;
    if (result != VK_ERROR_INVALID_EXTERNAL_HANDLE && !maps)
        return tdl_vk_fail(b->ctx, result, "vkAllocateMemory(");
    return tdl_fail(
        TDL_ERROR_UNSUPPORTED, "the driver refuses this %s of %llu bytes (VkResult %d)%s",
        handle_name(f->type), (unsigned long long)f->required, result,
        maps ? ": a software device has to map it, opened for reading and writing" : "");
}

static enum tdl_result check_type(enum tdl_handle_type type)
{
    return (unsigned)type <= TDL_HANDLE_DMA_BUF
               ? TDL_OK
               : tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "memory with unknown kind of handle %d",
                          type);
}

enum tdl_result tdl_buffer_import_fd(struct tdl_context *ctx, enum tdl_handle_type type, int fd,
                                     size_t size, struct tdl_buffer **out_buffer)
{
    TDL_NEED(ctx, "context");
    TDL_NEED(out_buffer, "out_buffer");
    VkMemoryRequirements requirements;
    struct tdl_import_facts facts;
    struct tdl_buffer *b = NULL;
    enum tdl_result r;
    *out_buffer = NULL;
    TRY(tdl_vk_context_check(ctx));
    TRY(check_type(type));
    TRY(gather_facts(ctx, type, fd, size, &facts));
    b = tdl_buffer_new(ctx, tdl_import_size(&facts));
    if (!b)
        return TDL_ERROR_OUT_OF_MEMORY;
    TRY(tdl_buffer_create_vk(
        b, type == TDL_HANDLE_DMA_BUF ? tdl_external_handle(type) : opaque_handles(ctx),
        &requirements));
    TRY(check_memory(b, fd, &facts, &requirements));
    TRY(import_memory(b, fd, &facts));
    tdl_vkb(b)->external_family = tdl_external_family(ctx, type);
    tdl_vkb(b)->shared = true;
    tdl_context_name(ctx, VK_OBJECT_TYPE_BUFFER, TDL_HANDLE(tdl_vkb(b)->buffer), handle_name(type));
    *out_buffer = b;
    return TDL_OK;
fail:
    tdl_logged(ctx, r);
    return b ? tdl_buffer_abandon(b, r) : r;
}

/* ----------------------------------------------------------------- wrapping */

static enum tdl_result check_wrapped(const struct tdl_context *ctx,
                                     const struct tdl_buffer_wrap_params *p)
{
    if (!p->buffer || !p->size || p->size > SIZE_MAX)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "tdl_buffer_wrap: give a VkBuffer and the size that it was created with");
    if (p->usage && (p->usage & TDL_BUFFER_USAGE) != TDL_BUFFER_USAGE)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "tdl_buffer_wrap: a buffer of usage %#x; it has to be created with "
                        "STORAGE_BUFFER, TRANSFER_SRC and TRANSFER_DST",
                        p->usage);
    if (p->size > ctx->info.max_buffer_bytes)
        return tdl_fail(TDL_ERROR_UNSUPPORTED,
                        "tdl_buffer_wrap: a buffer of %llu bytes; this device's kernels reach %llu",
                        (unsigned long long)p->size,
                        (unsigned long long)ctx->info.max_buffer_bytes);
    return TDL_OK;
}

enum tdl_result tdl_buffer_wrap(struct tdl_context *ctx,
                                const struct tdl_buffer_wrap_params *params,
                                struct tdl_buffer **out_buffer)
{
    TDL_NEED_KNOWN(params);
    TDL_NEED(ctx, "context");
    TDL_NEED(params, "params");
    TDL_NEED(out_buffer, "out_buffer");
    enum tdl_result r;
    *out_buffer = NULL;
    TRY(tdl_vk_context_check(ctx));
    TRY(check_wrapped(ctx, params));
    struct tdl_buffer *b = tdl_buffer_new(ctx, (size_t)params->size);
    if (!b)
        return TDL_ERROR_OUT_OF_MEMORY;
    tdl_vkb(b)->buffer = params->buffer;
    tdl_vkb(b)->borrowed = true;
    tdl_vkb(b)->host_visible = true; /* perhaps: then its owner may look */
    *out_buffer = b;
fail:
    return tdl_logged(ctx, r);
}

/* ------------------------------------------------------------------- export */

static enum tdl_result create_exportable(struct tdl_context *ctx, enum tdl_handle_type type,
                                         VkExternalMemoryHandleTypeFlags handles, size_t size,
                                         const char *name, struct tdl_buffer **out_buffer)
{
    VkMemoryRequirements requirements;
    enum tdl_result r;
    *out_buffer = NULL;
    if (!size)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "%s of 0 bytes was asked for", name);
    if (size > tdl_vk(ctx)->properties.limits.maxStorageBufferRange)
        return tdl_fail(TDL_ERROR_UNSUPPORTED,
                        "%s needs a buffer of %zu bytes; this device's kernels reach %u", name,
                        size, tdl_vk(ctx)->properties.limits.maxStorageBufferRange);
    struct tdl_buffer *b = tdl_buffer_new(ctx, TDL_ALIGN(size, 16));
    if (!b)
        return TDL_ERROR_OUT_OF_MEMORY;
    TRY(tdl_buffer_create_vk(b, handles, &requirements));
    uint32_t memory = memory_type(ctx, type, requirements.memoryTypeBits);
    if (memory == TDL_NO_MEMORY_TYPE) {
        r = tdl_fail(TDL_ERROR_UNSUPPORTED, "the device has no memory for %s", name);
        goto fail;
    }
    TRY(VK(ctx, tdl_buffer_allocate(
                    b, requirements.size, memory,
                    &(VkExportMemoryAllocateInfo){
                        .sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO,
                        .pNext =
                            &(VkMemoryDedicatedAllocateInfo){
                                .sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO,
                                .buffer = tdl_vkb(b)->buffer,
                            },
                        .handleTypes = handles,
                    })));
    TRY(tdl_buffer_bind(b));
    tdl_vkb(b)->export_types = handles;
    tdl_context_name(ctx, VK_OBJECT_TYPE_BUFFER, TDL_HANDLE(tdl_vkb(b)->buffer), name);
    tdl_context_name(ctx, VK_OBJECT_TYPE_DEVICE_MEMORY, TDL_HANDLE(tdl_vkb(b)->memory), name);
    *out_buffer = b;
    return TDL_OK;
fail:
    return tdl_buffer_abandon(b, r);
}

enum tdl_result tdl_external_check_export(const struct tdl_context *ctx, enum tdl_handle_type type)
{
    if (type == TDL_HANDLE_DMA_BUF ? ctx->info.dma_buf_export : ctx->info.external_memory_fd)
        return TDL_OK;
    return tdl_fail(TDL_ERROR_UNSUPPORTED, "%s exports no memory as %s%s", ctx->info.name,
                    handle_name(type),
                    ctx->info.type == TDL_DEVICE_SOFTWARE && type == TDL_HANDLE_DMA_BUF
                        ? ": Mesa's software device needs Mesa 24.3 and /dev/udmabuf for that"
                        : "");
}

enum tdl_result tdl_buffer_create_exportable(struct tdl_context *ctx, enum tdl_handle_type type,
                                             size_t size, struct tdl_buffer **out_buffer)
{
    TDL_NEED(ctx, "context");
    TDL_NEED(out_buffer, "out_buffer");
    enum tdl_result r;
    *out_buffer = NULL;
    TRY(tdl_vk_context_check(ctx));
    TRY(check_type(type));
    TRY(tdl_external_check_export(ctx, type));
    TRY(create_exportable(
        ctx, type, type == TDL_HANDLE_DMA_BUF ? tdl_external_handle(type) : opaque_handles(ctx),
        size, "exportable buffer", out_buffer));
    tdl_vkb(*out_buffer)->external_family = tdl_external_family(ctx, type);
    tdl_vkb(*out_buffer)->shared = true;
fail:
    return tdl_logged(ctx, r);
}

enum tdl_result tdl_buffer_create_rentable(struct tdl_context *ctx, size_t size, bool dma_buf,
                                           const char *name, struct tdl_buffer **out_buffer)
{
    enum tdl_result r;
    *out_buffer = NULL;
    TRY(tdl_context_check(ctx));
    if (dma_buf) {
        TRY(tdl_external_check_export(ctx, TDL_HANDLE_DMA_BUF));
        return create_exportable(ctx, TDL_HANDLE_DMA_BUF, tdl_external_handle(TDL_HANDLE_DMA_BUF),
                                 size, name, out_buffer);
    }
    if (!ctx->info.external_memory_fd) /* within this VkDevice, then */
        return tdl_buffer_create_named(ctx, size, TDL_BUFFER_DEVICE, name, out_buffer);
    return create_exportable(ctx, TDL_HANDLE_OPAQUE_FD, opaque_handles(ctx), size, name,
                             out_buffer);
fail:
    return r;
}

enum tdl_result tdl_external_export(struct tdl_context *ctx, VkDeviceMemory memory,
                                    enum tdl_handle_type type, int *out_fd)
{
    const VkMemoryGetFdInfoKHR info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR,
        .memory = memory,
        .handleType = tdl_external_handle(type),
    };
    return VK(ctx, tdl_vk(ctx)->fn.get_memory_fd(tdl_vk(ctx)->device, &info, out_fd));
}

enum tdl_result tdl_buffer_export_as(struct tdl_buffer *b, enum tdl_handle_type type, int *out_fd)
{
    struct tdl_context *ctx = b->ctx;
    *out_fd = -1;
    if (!(tdl_vkb(b)->export_types & tdl_external_handle(type)))
        return tdl_fail(TDL_ERROR_UNSUPPORTED, "this buffer cannot be exported as %s on %s%s",
                        handle_name(type), ctx->info.name,
                        type == TDL_HANDLE_DMA_BUF && ctx->info.dma_buf_export
                            ? ": a tensor needs TDL_TENSOR_EXPORTABLE_DMA_BUF"
                            : "");
    return tdl_external_export(ctx, tdl_vkb(b)->memory, type, out_fd);
}

enum tdl_result tdl_buffer_export_fd(struct tdl_buffer *b, int *out_fd)
{
    TDL_NEED(b, "buffer");
    TDL_NEED(out_fd, "out_fd");
    enum tdl_result r = tdl_vk_context_check(b->ctx);
    *out_fd = -1;
    if (r == TDL_OK && (!tdl_vkb(b)->shared || !tdl_vkb(b)->export_types))
        r = tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                     "only buffers of tdl_buffer_create_exportable() can be exported");
    if (r == TDL_OK)
        r = tdl_buffer_export_as(b,
                                 tdl_vkb(b)->export_types &
                                         VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT
                                     ? TDL_HANDLE_OPAQUE_FD
                                     : TDL_HANDLE_DMA_BUF,
                                 out_fd);
    return tdl_logged(b->ctx, r);
}
