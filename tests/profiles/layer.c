/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A Vulkan layer between a program and a software driver: the device pretends to be the one
 * that TDL_PROFILE names. What a profile lacks is refused as its driver would; validation
 * comes from the layer above, which sees the pretended limits.
 *
 * Memory that is not coherent really is not: the program maps a copy, which only
 * vkFlushMappedMemoryRanges() and vkInvalidateMappedMemoryRanges() bring up to date. Atoms that
 * the program has not written are not flushed, as lines of a cache would not be; one that it has
 * written, and that is invalidated before it is flushed, ends the program. */
#include "compile_only.h"
#include "profiles.h"
#include "rows.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vk_layer.h>

#define LAYER "VK_LAYER_TDL_profile"

/* Types of memory, where a profile has its own. */
enum { TYPE_DEVICE, TYPE_COHERENT, TYPE_CACHED, TYPES };
#define ALL_TYPES ((1u << TYPES) - 1)
#define IMPORTED_TYPES (1u << TYPE_COHERENT)
enum { ATOM = 256 /* bytes that are flushed and invalidated together */ };

/* Functions of the layer below, asked for once: later the loader may answer with the topmost layer,
 * which would be a circle. */
#define OF_INSTANCE(X)                                                                             \
    X(vkDestroyInstance)                                                                           \
    X(vkGetPhysicalDeviceProperties)                                                               \
    X(vkGetPhysicalDeviceProperties2)                                                              \
    X(vkGetPhysicalDeviceFeatures)                                                                 \
    X(vkGetPhysicalDeviceFeatures2)                                                                \
    X(vkGetPhysicalDeviceMemoryProperties)                                                         \
    X(vkGetPhysicalDeviceMemoryProperties2)                                                        \
    X(vkGetPhysicalDeviceQueueFamilyProperties)                                                    \
    X(vkGetPhysicalDeviceQueueFamilyProperties2)                                                   \
    X(vkEnumerateDeviceExtensionProperties)
#define OF_DEVICE(X)                                                                               \
    X(vkDestroyDevice)                                                                             \
    X(vkAllocateMemory)                                                                            \
    X(vkFreeMemory)                                                                                \
    X(vkMapMemory)                                                                                 \
    X(vkUnmapMemory)                                                                               \
    X(vkFlushMappedMemoryRanges)                                                                   \
    X(vkInvalidateMappedMemoryRanges)                                                              \
    X(vkGetBufferMemoryRequirements)                                                               \
    X(vkGetBufferMemoryRequirements2)                                                              \
    X(vkGetImageMemoryRequirements)                                                                \
    X(vkGetImageMemoryRequirements2)                                                               \
    X(vkGetMemoryFdPropertiesKHR)                                                                  \
    X(vkGetMemoryHostPointerPropertiesEXT)
#define MEMBER(NAME) PFN_##NAME NAME;

struct instance {
    struct instance *next;
    void *key; /* the loader's table, which a handle and those got from it share */
    VkInstance handle;
    PFN_vkGetInstanceProcAddr get;
    OF_INSTANCE(MEMBER)
};

struct device {
    struct device *next;
    void *key;
    PFN_vkGetDeviceProcAddr get;
    OF_DEVICE(MEMBER)
};

struct memory {
    struct memory *next;
    VkDeviceMemory handle;
    VkDeviceSize size;
    uint32_t type;
    bool imported;
    char *real; /* NULL: not mapped */
    char *copy;  /* the program's view of memory that is not coherent */
    char *clean; /* what it was when it was last brought up to date */
    VkDeviceSize mapped_at, mapped_bytes;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct instance *instances;
static struct device *devices;
static struct memory *memories;

static void *key_of(const void *handle)
{
    return *(void *const *)handle;
}

static struct instance *instance_of(const void *handle)
{
    pthread_mutex_lock(&lock);
    struct instance *i = instances;
    while (i && i->key != key_of(handle))
        i = i->next;
    pthread_mutex_unlock(&lock);
    return i;
}

static struct device *device_of(const void *handle)
{
    pthread_mutex_lock(&lock);
    struct device *d = devices;
    while (d && d->key != key_of(handle))
        d = d->next;
    pthread_mutex_unlock(&lock);
    return d;
}

#define BELOW(PHYSICAL, NAME) instance_of(PHYSICAL)->NAME
#define BELOW_DEVICE(DEVICE, NAME) device_of(DEVICE)->NAME

static enum profile_memory memory_kind(void)
{
    return profile_chosen() ? profile_chosen()->memory : PROFILE_MEMORY_SHARED;
}

/* Types of the layer's own. */
static bool has_types(void)
{
    return memory_kind() != PROFILE_MEMORY_SHARED;
}

static bool cached_is_coherent(void)
{
    return memory_kind() == PROFILE_MEMORY_SEPARATE;
}

static bool compile_only(void)
{
    return profile_chosen() && profile_chosen()->compile_only;
}

static void lower(uint32_t *limit, uint32_t to)
{
    if (to && *limit > to)
        *limit = to;
}

static void pretend_limits(VkPhysicalDeviceProperties *p)
{
    const struct profile *is = profile_chosen();
    if (!is)
        return;
    VkPhysicalDeviceLimits *l = &p->limits;
    if (is->device) {
        snprintf(p->deviceName, sizeof(p->deviceName), "%s (pretended)", is->device);
        p->deviceType = is->type;
        p->vendorID = is->vendor;
    }
    lower(&l->maxComputeWorkGroupInvocations, is->invocations);
    for (int i = 0; i < 3; i++) {
        lower(&l->maxComputeWorkGroupSize[i], is->invocations);
        lower(&l->maxComputeWorkGroupCount[i], is->workgroups);
    }
    lower(&l->maxComputeWorkGroupSize[2], is->invocations ? 64 : 0);
    lower(&l->maxComputeSharedMemorySize, is->shared_bytes);
    lower(&l->maxPerStageDescriptorStorageBuffers, is->buffers);
    lower(&l->maxPerStageDescriptorStorageImages, is->images);
    lower(&l->maxPushConstantsSize, is->push_bytes);
    lower(&l->maxStorageBufferRange, is->range_mib << 20);
    lower(&l->maxImageDimension2D, is->image_size);
    if (l->minStorageBufferOffsetAlignment < is->offset_bytes)
        l->minStorageBufferOffsetAlignment = is->offset_bytes;
    if (has_types())
        l->nonCoherentAtomSize = ATOM;
    if (is->no_timestamps) {
        l->timestampComputeAndGraphics = VK_FALSE;
        l->timestampPeriod = 0;
    }
}

static void pretend_features(VkPhysicalDeviceFeatures *f)
{
    const struct profile *is = profile_chosen();
    f->shaderInt16 &= !(is && is->no_int16);
    f->shaderInt64 &= !(is && is->no_int64);
}

/* Features of a chain, which are a query's or a new device's. */
static void pretend_chain(VkBaseOutStructure *s)
{
    const struct profile *is = profile_chosen();
    for (; is && s; s = s->pNext) {
        switch (s->sType) {
        case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2:
            pretend_features(&((VkPhysicalDeviceFeatures2 *)s)->features);
            break;
        case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES:
            ((VkPhysicalDeviceTimelineSemaphoreFeatures *)s)->timelineSemaphore &= !is->no_timeline;
            break;
        case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES:
            ((VkPhysicalDevice16BitStorageFeatures *)s)->storageBuffer16BitAccess &=
                !is->no_storage16;
            break;
        case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES:
            ((VkPhysicalDeviceShaderFloat16Int8Features *)s)->shaderFloat16 &= !is->no_fp16;
            ((VkPhysicalDeviceShaderFloat16Int8Features *)s)->shaderInt8 &= !is->no_fp16;
            break;
        case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES:
            ((VkPhysicalDeviceVulkan11Features *)s)->storageBuffer16BitAccess &= !is->no_storage16;
            break;
        case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES:
            ((VkPhysicalDeviceVulkan12Features *)s)->timelineSemaphore &= !is->no_timeline;
            ((VkPhysicalDeviceVulkan12Features *)s)->shaderFloat16 &= !is->no_fp16;
            ((VkPhysicalDeviceVulkan12Features *)s)->shaderInt8 &= !is->no_fp16;
            break;
        default:
            break;
        }
    }
}

static bool hidden(const char *extension)
{
    const struct profile *is = profile_chosen();
    char word[VK_MAX_EXTENSION_NAME_SIZE + 2];
    snprintf(word, sizeof(word), " %s ", extension);
    return is && is->hidden && strstr(is->hidden, word);
}

static void pretend_memory(VkPhysicalDeviceMemoryProperties *m)
{
    const VkMemoryPropertyFlags local = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
                                coherent = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                                           VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
                                cached = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                                         VK_MEMORY_PROPERTY_HOST_CACHED_BIT |
                                         (cached_is_coherent() ? coherent : 0);
    if (!has_types())
        return;
    VkDeviceSize bytes = compile_only() ? 8ull << 30 : m->memoryHeaps[0].size;
    const bool two = memory_kind() == PROFILE_MEMORY_SEPARATE;
    const VkMemoryPropertyFlags mapped = two ? 0 : local;
    *m = (VkPhysicalDeviceMemoryProperties){
        .memoryHeapCount = two ? 2 : 1,
        .memoryHeaps = {{bytes, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT}, {two ? bytes : 0, 0}},
        .memoryTypeCount = TYPES,
        .memoryTypes = {[TYPE_DEVICE] = {local, 0},
                        [TYPE_COHERENT] = {mapped | coherent, two},
                        [TYPE_CACHED] = {mapped | cached, two}},
    };
}

static VKAPI_ATTR void VKAPI_CALL get_properties(VkPhysicalDevice p,
                                                 VkPhysicalDeviceProperties *out)
{
    BELOW(p, vkGetPhysicalDeviceProperties)(p, out);
    pretend_limits(out);
}

static VKAPI_ATTR void VKAPI_CALL get_properties2(VkPhysicalDevice p,
                                                  VkPhysicalDeviceProperties2 *out)
{
    const struct profile *is = profile_chosen();
    BELOW(p, vkGetPhysicalDeviceProperties2)(p, out);
    pretend_limits(&out->properties);
    for (VkBaseOutStructure *s = out->pNext; is && s; s = s->pNext) {
        if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES && is->subgroup)
            ((VkPhysicalDeviceSubgroupProperties *)s)->subgroupSize = is->subgroup;
        if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES && is->subgroup)
            ((VkPhysicalDeviceVulkan11Properties *)s)->subgroupSize = is->subgroup;
        if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES &&
            is->least_subgroup)
            ((VkPhysicalDeviceSubgroupSizeControlProperties *)s)->minSubgroupSize =
                is->least_subgroup;
    }
}

static VKAPI_ATTR void VKAPI_CALL get_features(VkPhysicalDevice p, VkPhysicalDeviceFeatures *out)
{
    BELOW(p, vkGetPhysicalDeviceFeatures)(p, out);
    pretend_features(out);
}

static VKAPI_ATTR void VKAPI_CALL get_features2(VkPhysicalDevice p, VkPhysicalDeviceFeatures2 *out)
{
    BELOW(p, vkGetPhysicalDeviceFeatures2)(p, out);
    pretend_chain((VkBaseOutStructure *)out);
}

static VKAPI_ATTR void VKAPI_CALL get_memory(VkPhysicalDevice p,
                                             VkPhysicalDeviceMemoryProperties *out)
{
    BELOW(p, vkGetPhysicalDeviceMemoryProperties)(p, out);
    pretend_memory(out);
}

static VKAPI_ATTR void VKAPI_CALL get_memory2(VkPhysicalDevice p,
                                              VkPhysicalDeviceMemoryProperties2 *out)
{
    BELOW(p, vkGetPhysicalDeviceMemoryProperties2)(p, out);
    pretend_memory(&out->memoryProperties);
}

static void pretend_queues(VkQueueFamilyProperties *family)
{
    const struct profile *is = profile_chosen();
    if (is && is->one_queue)
        family->queueCount = 1;
    if (is && is->no_timestamps)
        family->timestampValidBits = 0;
}

static VKAPI_ATTR void VKAPI_CALL get_queues(VkPhysicalDevice p, uint32_t *count,
                                             VkQueueFamilyProperties *out)
{
    BELOW(p, vkGetPhysicalDeviceQueueFamilyProperties)(p, count, out);
    for (uint32_t i = 0; out && i < *count; i++)
        pretend_queues(&out[i]);
}

static VKAPI_ATTR void VKAPI_CALL get_queues2(VkPhysicalDevice p, uint32_t *count,
                                              VkQueueFamilyProperties2 *out)
{
    BELOW(p, vkGetPhysicalDeviceQueueFamilyProperties2)(p, count, out);
    for (uint32_t i = 0; out && i < *count; i++)
        pretend_queues(&out[i].queueFamilyProperties);
}

static VKAPI_ATTR VkResult VKAPI_CALL list_extensions(VkPhysicalDevice p, const char *layer,
                                                      uint32_t *count, VkExtensionProperties *out)
{
    if (layer && strcmp(layer, LAYER) == 0) {
        *count = 0;
        return VK_SUCCESS;
    }
    PFN_vkEnumerateDeviceExtensionProperties below = BELOW(p, vkEnumerateDeviceExtensionProperties);
    uint32_t all = 0, kept = 0, room = *count;
    VkResult r = below(p, layer, &all, NULL);
    VkExtensionProperties *list = calloc(all + 1, sizeof(*list));
    if (r == VK_SUCCESS)
        r = list ? below(p, layer, &all, list) : VK_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; r == VK_SUCCESS && i < all; i++) {
        if (hidden(list[i].extensionName))
            continue;
        if (out && kept < room)
            out[kept] = list[i];
        kept++;
    }
    free(list);
    if (r == VK_SUCCESS && out && kept > room) {
        kept = room;
        r = VK_INCOMPLETE;
    }
    *count = kept;
    return r;
}

/* ---- Memory ---- */

static struct memory *memory_of(VkDeviceMemory handle)
{
    struct memory *m = memories;
    while (m && m->handle != handle)
        m = m->next;
    return m;
}

static bool is_import(const VkMemoryAllocateInfo *info)
{
    for (const VkBaseInStructure *s = info->pNext; s; s = s->pNext)
        if (s->sType == VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR ||
            s->sType == VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT)
            return true;
    return false;
}

static VKAPI_ATTR VkResult VKAPI_CALL allocate(VkDevice d, const VkMemoryAllocateInfo *info,
                                               const VkAllocationCallbacks *a, VkDeviceMemory *out)
{
    VkMemoryAllocateInfo below = *info;
    if (has_types())
        below.memoryTypeIndex = 0;
    VkResult r = BELOW_DEVICE(d, vkAllocateMemory)(d, &below, a, out);
    struct memory *m = r == VK_SUCCESS ? calloc(1, sizeof(*m)) : NULL;
    if (!m)
        return r;
    *m = (struct memory){.handle = *out,
                         .size = info->allocationSize,
                         .type = info->memoryTypeIndex,
                         .imported = is_import(info)};
    pthread_mutex_lock(&lock);
    m->next = memories;
    memories = m;
    pthread_mutex_unlock(&lock);
    return r;
}

static void unmap_copy(struct memory *m)
{
    free(m->copy);
    free(m->clean);
    m->copy = m->clean = m->real = NULL;
}

/* What the program sees in the place of the memory. */
static bool map_copy(struct memory *m, VkDeviceSize offset, VkDeviceSize size, void *real)
{
    m->mapped_at = offset;
    m->mapped_bytes = size == VK_WHOLE_SIZE ? m->size - offset : size;
    m->real = real;
    m->copy = aligned_alloc(4096, (m->mapped_bytes + 4095) / 4096 * 4096);
    m->clean = malloc(m->mapped_bytes);
    if (!m->copy || !m->clean) {
        unmap_copy(m);
        return false;
    }
    memset(m->copy, 0xa5, m->mapped_bytes);
    memset(m->clean, 0xa5, m->mapped_bytes);
    return true;
}

static VKAPI_ATTR void VKAPI_CALL free_memory(VkDevice d, VkDeviceMemory memory,
                                              const VkAllocationCallbacks *a)
{
    pthread_mutex_lock(&lock);
    for (struct memory **at = &memories; *at; at = &(*at)->next) {
        if ((*at)->handle != memory)
            continue;
        struct memory *m = *at;
        *at = m->next;
        unmap_copy(m);
        free(m);
        break;
    }
    pthread_mutex_unlock(&lock);
    BELOW_DEVICE(d, vkFreeMemory)(d, memory, a);
}

static VKAPI_ATTR VkResult VKAPI_CALL map(VkDevice d, VkDeviceMemory memory, VkDeviceSize offset,
                                          VkDeviceSize size, VkMemoryMapFlags flags, void **out)
{
    VkResult r = BELOW_DEVICE(d, vkMapMemory)(d, memory, offset, size, flags, out);
    if (r != VK_SUCCESS || !has_types())
        return r;
    pthread_mutex_lock(&lock);
    struct memory *m = memory_of(memory);
    if (m && m->type == TYPE_DEVICE)
        r = VK_ERROR_MEMORY_MAP_FAILED;
    if (m && m->type == TYPE_CACHED && !cached_is_coherent() && !m->imported) {
        r = map_copy(m, offset, size, *out) ? r : VK_ERROR_OUT_OF_HOST_MEMORY;
        *out = m->copy;
    }
    pthread_mutex_unlock(&lock);
    return r;
}

static VKAPI_ATTR void VKAPI_CALL unmap(VkDevice d, VkDeviceMemory memory)
{
    pthread_mutex_lock(&lock);
    struct memory *m = memory_of(memory);
    if (m)
        unmap_copy(m);
    pthread_mutex_unlock(&lock);
    BELOW_DEVICE(d, vkUnmapMemory)(d, memory);
}

/* Between the copy that the program sees and the memory. */
static void bring_atom(struct memory *m, VkDeviceSize at, VkDeviceSize bytes, bool to_memory)
{
    const bool written = memcmp(m->copy + at, m->clean + at, bytes) != 0;
    if (written && !to_memory) {
        fprintf(stderr, "%s: the program has written bytes %llu to %llu, and invalidates them "
                        "without vkFlushMappedMemoryRanges()\n",
                LAYER, (unsigned long long)(m->mapped_at + at),
                (unsigned long long)(m->mapped_at + at + bytes - 1));
        abort();
    }
    if (written)
        memcpy(m->real + at, m->copy + at, bytes);
    if (!to_memory)
        memcpy(m->copy + at, m->real + at, bytes);
    memcpy(m->clean + at, m->copy + at, bytes);
}

static void bring(uint32_t count, const VkMappedMemoryRange *ranges, bool to_memory)
{
    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; i < count; i++) {
        struct memory *m = memory_of(ranges[i].memory);
        if (!m || !m->copy)
            continue;
        const VkDeviceSize start = ranges[i].offset - m->mapped_at;
        const VkDeviceSize end =
            ranges[i].size == VK_WHOLE_SIZE ? m->mapped_bytes : start + ranges[i].size;
        for (VkDeviceSize at = start; at < end; at += ATOM)
            bring_atom(m, at, end - at < ATOM ? end - at : ATOM, to_memory);
    }
    pthread_mutex_unlock(&lock);
}

static VKAPI_ATTR VkResult VKAPI_CALL flush(VkDevice d, uint32_t count,
                                            const VkMappedMemoryRange *ranges)
{
    bring(count, ranges, true);
    return BELOW_DEVICE(d, vkFlushMappedMemoryRanges)(d, count, ranges);
}

static VKAPI_ATTR VkResult VKAPI_CALL invalidate(VkDevice d, uint32_t count,
                                                 const VkMappedMemoryRange *ranges)
{
    VkResult r = BELOW_DEVICE(d, vkInvalidateMappedMemoryRanges)(d, count, ranges);
    bring(count, ranges, false);
    return r;
}

static void pretend_types(uint32_t *bits, uint32_t types)
{
    if (has_types())
        *bits = *bits & 1 ? types : 0;
}

static VKAPI_ATTR void VKAPI_CALL need_buffer(VkDevice d, VkBuffer b, VkMemoryRequirements *out)
{
    BELOW_DEVICE(d, vkGetBufferMemoryRequirements)(d, b, out);
    pretend_types(&out->memoryTypeBits, ALL_TYPES);
}

static VKAPI_ATTR void VKAPI_CALL need_buffer2(VkDevice d,
                                               const VkBufferMemoryRequirementsInfo2 *info,
                                               VkMemoryRequirements2 *out)
{
    BELOW_DEVICE(d, vkGetBufferMemoryRequirements2)(d, info, out);
    pretend_types(&out->memoryRequirements.memoryTypeBits, ALL_TYPES);
}

static VKAPI_ATTR void VKAPI_CALL need_image(VkDevice d, VkImage image, VkMemoryRequirements *out)
{
    BELOW_DEVICE(d, vkGetImageMemoryRequirements)(d, image, out);
    pretend_types(&out->memoryTypeBits, ALL_TYPES);
}

static VKAPI_ATTR void VKAPI_CALL need_image2(VkDevice d,
                                              const VkImageMemoryRequirementsInfo2 *info,
                                              VkMemoryRequirements2 *out)
{
    BELOW_DEVICE(d, vkGetImageMemoryRequirements2)(d, info, out);
    pretend_types(&out->memoryRequirements.memoryTypeBits, ALL_TYPES);
}

static VKAPI_ATTR VkResult VKAPI_CALL need_fd(VkDevice d, VkExternalMemoryHandleTypeFlagBits type,
                                              int fd, VkMemoryFdPropertiesKHR *out)
{
    VkResult r = BELOW_DEVICE(d, vkGetMemoryFdPropertiesKHR)(d, type, fd, out);
    if (r == VK_SUCCESS)
        pretend_types(&out->memoryTypeBits, IMPORTED_TYPES);
    return r;
}

static VKAPI_ATTR VkResult VKAPI_CALL need_pointer(VkDevice d,
                                                   VkExternalMemoryHandleTypeFlagBits type,
                                                   const void *pointer,
                                                   VkMemoryHostPointerPropertiesEXT *out)
{
    VkResult r = BELOW_DEVICE(d, vkGetMemoryHostPointerPropertiesEXT)(d, type, pointer, out);
    if (r == VK_SUCCESS)
        pretend_types(&out->memoryTypeBits, IMPORTED_TYPES);
    return r;
}

/* ---- Instances and devices ---- */

/* Refuses a device whose features or extensions the profile lacks. */
static VkResult refusal(const VkDeviceCreateInfo *info)
{
    const struct profile *is = profile_chosen();
    for (uint32_t i = 0; i < info->enabledExtensionCount; i++)
        if (hidden(info->ppEnabledExtensionNames[i]))
            return VK_ERROR_EXTENSION_NOT_PRESENT;
    if (!is)
        return VK_SUCCESS;
    const VkPhysicalDeviceFeatures *plain = info->pEnabledFeatures;
    bool wrong =
        plain && ((plain->shaderInt16 && is->no_int16) || (plain->shaderInt64 && is->no_int64));
    for (const VkBaseInStructure *s = info->pNext; s; s = s->pNext) {
        if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2) {
            const VkPhysicalDeviceFeatures *f = &((const VkPhysicalDeviceFeatures2 *)s)->features;
            wrong |= (f->shaderInt16 && is->no_int16) || (f->shaderInt64 && is->no_int64);
        }
        if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES)
            wrong |= ((const VkPhysicalDeviceTimelineSemaphoreFeatures *)s)->timelineSemaphore &&
                     is->no_timeline;
        if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES)
            wrong |= ((const VkPhysicalDevice16BitStorageFeatures *)s)->storageBuffer16BitAccess &&
                     is->no_storage16;
        if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES)
            wrong |= ((const VkPhysicalDeviceShaderFloat16Int8Features *)s)->shaderFloat16 &&
                     is->no_fp16;
    }
    return wrong ? VK_ERROR_FEATURE_NOT_PRESENT : VK_SUCCESS;
}

/* Like create, with the driver's statistics of pipelines. */
static VkResult create_with_statistics(PFN_vkCreateDevice create, VkPhysicalDevice p,
                                       const VkDeviceCreateInfo *info,
                                       const VkAllocationCallbacks *a, VkDevice *out)
{
    VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR feature = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR,
        .pNext = (void *)info->pNext,
        .pipelineExecutableInfo = VK_TRUE,
    };
    uint32_t count = info->enabledExtensionCount;
    const char **names = calloc(count + 1, sizeof(*names));
    if (!names)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < count; i++)
        names[i] = info->ppEnabledExtensionNames[i];
    names[count] = VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME;
    VkDeviceCreateInfo with = *info;
    with.pNext = &feature;
    with.enabledExtensionCount = count + 1;
    with.ppEnabledExtensionNames = names;
    VkResult r = create(p, &with, a, out);
    free(names);
    return r;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice p,
                                                    const VkDeviceCreateInfo *info,
                                                    const VkAllocationCallbacks *a, VkDevice *out)
{
    VkLayerDeviceCreateInfo *link = (VkLayerDeviceCreateInfo *)info->pNext;
    while (link && !(link->sType == VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO &&
                     link->function == VK_LAYER_LINK_INFO))
        link = (VkLayerDeviceCreateInfo *)link->pNext;
    VkResult r = link ? refusal(info) : VK_ERROR_INITIALIZATION_FAILED;
    if (r != VK_SUCCESS)
        return r;
    PFN_vkGetDeviceProcAddr get = link->u.pLayerInfo->pfnNextGetDeviceProcAddr;
    PFN_vkGetInstanceProcAddr get_instance = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    PFN_vkCreateDevice create =
        (PFN_vkCreateDevice)get_instance(instance_of(p)->handle, "vkCreateDevice");
    r = compile_only() ? create_with_statistics(create, p, info, a, out) : create(p, info, a, out);
    struct device *d = r == VK_SUCCESS ? calloc(1, sizeof(*d)) : NULL;
    if (!d)
        return r;
#define ASK(NAME) .NAME = (PFN_##NAME)get(*out, #NAME),
    *d = (struct device){.key = key_of(*out), .get = get, OF_DEVICE(ASK)};
    pthread_mutex_lock(&lock);
    d->next = devices;
    devices = d;
    pthread_mutex_unlock(&lock);
    if (compile_only())
        compile_only_start(*out, get);
    return r;
}

static VKAPI_ATTR void VKAPI_CALL destroy_device(VkDevice handle, const VkAllocationCallbacks *a)
{
    if (!handle)
        return;
    struct device *d = device_of(handle);
    if (!compile_only()) /* the driver would wait for hardware that is not here */
        d->vkDestroyDevice(handle, a);
    pthread_mutex_lock(&lock);
    struct device **at = &devices;
    while (*at != d)
        at = &(*at)->next;
    *at = d->next;
    pthread_mutex_unlock(&lock);
    free(d);
}

static VKAPI_ATTR VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo *info,
                                                      const VkAllocationCallbacks *a,
                                                      VkInstance *out)
{
    VkLayerInstanceCreateInfo *link = (VkLayerInstanceCreateInfo *)info->pNext;
    while (link && !(link->sType == VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO &&
                     link->function == VK_LAYER_LINK_INFO))
        link = (VkLayerInstanceCreateInfo *)link->pNext;
    if (!link)
        return VK_ERROR_INITIALIZATION_FAILED;
    PFN_vkGetInstanceProcAddr get = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    VkResult r = ((PFN_vkCreateInstance)get(NULL, "vkCreateInstance"))(info, a, out);
    struct instance *i = r == VK_SUCCESS ? calloc(1, sizeof(*i)) : NULL;
    if (!i)
        return r;
    if (getenv("TDL_PROFILE") && *getenv("TDL_PROFILE") && !profile_chosen())
        fprintf(stderr, "%s: TDL_PROFILE=%s is no profile\n", LAYER, getenv("TDL_PROFILE"));
    *i = (struct instance){.key = key_of(*out), .handle = *out, .get = get, OF_INSTANCE(ASK)};
    pthread_mutex_lock(&lock);
    i->next = instances;
    instances = i;
    pthread_mutex_unlock(&lock);
    return r;
}

static VKAPI_ATTR void VKAPI_CALL destroy_instance(VkInstance handle,
                                                   const VkAllocationCallbacks *a)
{
    if (!handle)
        return;
    struct instance *i = instance_of(handle);
    i->vkDestroyInstance(handle, a);
    pthread_mutex_lock(&lock);
    struct instance **at = &instances;
    while (*at != i)
        at = &(*at)->next;
    *at = i->next;
    pthread_mutex_unlock(&lock);
    free(i);
}

static PFN_vkVoidFunction get_instance_proc(VkInstance instance, const char *name);
static PFN_vkVoidFunction get_device_proc(VkDevice device, const char *name);

static const struct row instance_rows[] = {
    ROW(vkGetInstanceProcAddr, get_instance_proc),
    ROW(vkCreateInstance, create_instance),
    ROW(vkDestroyInstance, destroy_instance),
    ROW(vkCreateDevice, create_device),
    ROW(vkGetPhysicalDeviceProperties, get_properties),
    ROW(vkGetPhysicalDeviceProperties2, get_properties2),
    ROW(vkGetPhysicalDeviceProperties2KHR, get_properties2),
    ROW(vkGetPhysicalDeviceFeatures, get_features),
    ROW(vkGetPhysicalDeviceFeatures2, get_features2),
    ROW(vkGetPhysicalDeviceFeatures2KHR, get_features2),
    ROW(vkGetPhysicalDeviceMemoryProperties, get_memory),
    ROW(vkGetPhysicalDeviceMemoryProperties2, get_memory2),
    ROW(vkGetPhysicalDeviceMemoryProperties2KHR, get_memory2),
    ROW(vkGetPhysicalDeviceQueueFamilyProperties, get_queues),
    ROW(vkGetPhysicalDeviceQueueFamilyProperties2, get_queues2),
    ROW(vkGetPhysicalDeviceQueueFamilyProperties2KHR, get_queues2),
    ROW(vkEnumerateDeviceExtensionProperties, list_extensions),
};

static const struct row device_rows[] = {
    ROW(vkGetDeviceProcAddr, get_device_proc),
    ROW(vkDestroyDevice, destroy_device),
    ROW(vkAllocateMemory, allocate),
    ROW(vkFreeMemory, free_memory),
    ROW(vkMapMemory, map),
    ROW(vkUnmapMemory, unmap),
    ROW(vkFlushMappedMemoryRanges, flush),
    ROW(vkInvalidateMappedMemoryRanges, invalidate),
    ROW(vkGetBufferMemoryRequirements, need_buffer),
    ROW(vkGetBufferMemoryRequirements2, need_buffer2),
    ROW(vkGetBufferMemoryRequirements2KHR, need_buffer2),
    ROW(vkGetImageMemoryRequirements, need_image),
    ROW(vkGetImageMemoryRequirements2, need_image2),
    ROW(vkGetImageMemoryRequirements2KHR, need_image2),
    ROW(vkGetMemoryFdPropertiesKHR, need_fd),
    ROW(vkGetMemoryHostPointerPropertiesEXT, need_pointer),
};

static PFN_vkVoidFunction get_device_proc(VkDevice device, const char *name)
{
    PFN_vkVoidFunction below = device_of(device)->get(device, name);
    PFN_vkVoidFunction own = compile_only() ? compile_only_function(name) : NULL;
    if (own)
        return own;
    own = FIND(device_rows, name);
    return below && own ? own : below;
}

static PFN_vkVoidFunction get_instance_proc(VkInstance instance, const char *name)
{
    PFN_vkVoidFunction own = FIND(instance_rows, name);
    if (!own && compile_only())
        own = compile_only_function(name);
    if (!own)
        own = FIND(device_rows, name);
    if (!instance || !instance_of(instance))
        return own;
    PFN_vkVoidFunction below = instance_of(instance)->get(instance, name);
    return below && own ? own : below;
}

__attribute__((visibility("default"))) VKAPI_ATTR VkResult VKAPI_CALL
vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface *v)
{
    if (v->loaderLayerInterfaceVersion < 2)
        return VK_ERROR_INITIALIZATION_FAILED;
    v->loaderLayerInterfaceVersion = 2;
    v->pfnGetInstanceProcAddr = get_instance_proc;
    v->pfnGetDeviceProcAddr = get_device_proc;
    v->pfnGetPhysicalDeviceProcAddr = NULL;
    return VK_SUCCESS;
}
