/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shaders and pipelines are the driver's. Memory is the host's, commands are dropped, and
 * submissions have ended when they are made. The driver's statistics of each pipeline are
 * appended to the file that TDL_PROFILE_STATISTICS names, a line for each:
 *
 *   NAME<tab>STATISTIC=VALUE<tab>... */
#include "compile_only.h"
#include "rows.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STATISTICS = 64, PIPELINES = 4096 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    PFN_vkCreateComputePipelines create;
    PFN_vkGetPipelineExecutableStatisticsKHR statistics;
    PFN_vkGetPipelineExecutablePropertiesKHR properties;
} driver;

void compile_only_start(VkDevice device, PFN_vkGetDeviceProcAddr get)
{
    driver.create = (PFN_vkCreateComputePipelines)get(device, "vkCreateComputePipelines");
    driver.statistics = (PFN_vkGetPipelineExecutableStatisticsKHR)get(
        device, "vkGetPipelineExecutableStatisticsKHR");
    driver.properties = (PFN_vkGetPipelineExecutablePropertiesKHR)get(
        device, "vkGetPipelineExecutablePropertiesKHR");
}

/* ---- Pipelines ---- */

/* One at a time and without a cache, so that each is compiled and has its statistics. */
static VKAPI_ATTR VkResult VKAPI_CALL create_pipelines(VkDevice d, VkPipelineCache cache,
                                                       uint32_t count,
                                                       const VkComputePipelineCreateInfo *infos,
                                                       const VkAllocationCallbacks *a,
                                                       VkPipeline *out)
{
    (void)cache;
    VkResult r = VK_SUCCESS;
    for (uint32_t i = 0; r == VK_SUCCESS && i < count; i++) {
        VkComputePipelineCreateInfo info = infos[i];
        info.flags |= VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR;
        r = driver.create(d, VK_NULL_HANDLE, 1, &info, a, &out[i]);
    }
    return r;
}

static void print_value(FILE *f, const VkPipelineExecutableStatisticKHR *s)
{
    switch (s->format) {
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_FLOAT64_KHR:
        fprintf(f, "\t%s=%g", s->name, s->value.f64);
        break;
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_BOOL32_KHR:
        fprintf(f, "\t%s=%u", s->name, s->value.b32);
        break;
    default:
        fprintf(f, "\t%s=%llu", s->name, (unsigned long long)s->value.u64);
    }
}

static void print_statistics(FILE *f, VkDevice d, VkPipeline pipeline, const char *name)
{
    VkPipelineExecutablePropertiesKHR executable = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_PROPERTIES_KHR};
    uint32_t executables = 1;
    driver.properties(
        d, &(VkPipelineInfoKHR){.sType = VK_STRUCTURE_TYPE_PIPELINE_INFO_KHR, .pipeline = pipeline},
        &executables, &executable);
    VkPipelineExecutableStatisticKHR statistics[STATISTICS];
    uint32_t count = STATISTICS;
    for (int i = 0; i < STATISTICS; i++)
        statistics[i] = (VkPipelineExecutableStatisticKHR){
            .sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR};
    driver.statistics(
        d,
        &(VkPipelineExecutableInfoKHR){.sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR,
                                       .pipeline = pipeline},
        &count, statistics);
    fprintf(f, "%s\tSubgroup=%u", name, executables ? executable.subgroupSize : 0);
    for (uint32_t i = 0; i < count; i++)
        print_value(f, &statistics[i]);
    fputc('\n', f);
}

/* Pipelines get their kernels' names right after they are made. */
static VKAPI_ATTR VkResult VKAPI_CALL set_name(VkDevice d,
                                               const VkDebugUtilsObjectNameInfoEXT *info)
{
    const char *path = getenv("TDL_PROFILE_STATISTICS");
    if (info->objectType != VK_OBJECT_TYPE_PIPELINE || !path)
        return VK_SUCCESS;
    pthread_mutex_lock(&lock);
    FILE *f = fopen(path, "a");
    if (f) {
        print_statistics(f, d, (VkPipeline)(uintptr_t)info->objectHandle, info->pObjectName);
        fclose(f);
    }
    pthread_mutex_unlock(&lock);
    return VK_SUCCESS;
}

/* ---- What is not the driver's ---- */

struct object {
    uint64_t value; /* a buffer's size in bytes, a semaphore's value */
    void *bytes;    /* mapped bytes of memory */
};

#define HANDLE(TYPE, OBJECT) ((TYPE)(uintptr_t)(OBJECT))
#define OBJECT(HANDLE) ((struct object *)(uintptr_t)(HANDLE))

static struct object *make(uint64_t value)
{
    struct object *o = calloc(1, sizeof(*o));
    if (o)
        o->value = value;
    return o;
}

#define RESULT(O) ((O) ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY)

static VKAPI_ATTR VkResult VKAPI_CALL create_buffer(VkDevice d, const VkBufferCreateInfo *info,
                                                    const VkAllocationCallbacks *a, VkBuffer *out)
{
    (void)d, (void)a;
    *out = HANDLE(VkBuffer, make(info->size));
    return RESULT(*out);
}

static VKAPI_ATTR void VKAPI_CALL need_buffer(VkDevice d, VkBuffer b, VkMemoryRequirements *out)
{
    (void)d;
    *out = (VkMemoryRequirements){
        .size = (OBJECT(b)->value + 255) & ~255ull, .alignment = 256, .memoryTypeBits = 7};
}

static VKAPI_ATTR void VKAPI_CALL need_buffer2(VkDevice d,
                                               const VkBufferMemoryRequirementsInfo2 *info,
                                               VkMemoryRequirements2 *out)
{
    need_buffer(d, info->buffer, &out->memoryRequirements);
}

static VKAPI_ATTR VkResult VKAPI_CALL allocate(VkDevice d, const VkMemoryAllocateInfo *info,
                                               const VkAllocationCallbacks *a, VkDeviceMemory *out)
{
    (void)d, (void)a;
    struct object *o = make(0);
    if (o)
        o->bytes = calloc(1, info->allocationSize);
    if (o && !o->bytes) {
        free(o);
        o = NULL;
    }
    *out = HANDLE(VkDeviceMemory, o);
    return o ? VK_SUCCESS : VK_ERROR_OUT_OF_DEVICE_MEMORY;
}

static VKAPI_ATTR void VKAPI_CALL free_object(VkDevice d, uint64_t handle,
                                              const VkAllocationCallbacks *a)
{
    (void)d, (void)a;
    if (handle)
        free(OBJECT(handle)->bytes);
    free(OBJECT(handle));
}

static VKAPI_ATTR VkResult VKAPI_CALL map(VkDevice d, VkDeviceMemory memory, VkDeviceSize offset,
                                          VkDeviceSize size, VkMemoryMapFlags flags, void **out)
{
    (void)d, (void)size, (void)flags;
    *out = (char *)OBJECT(memory)->bytes + offset;
    return VK_SUCCESS;
}

/* Creates any object from an info struct that is not read. */
static VKAPI_ATTR VkResult VKAPI_CALL create_object(VkDevice d, const void *info,
                                                    const VkAllocationCallbacks *a, uint64_t *out)
{
    (void)d, (void)info, (void)a;
    *out = (uintptr_t)make(0);
    return RESULT(*out);
}

static VKAPI_ATTR VkResult VKAPI_CALL allocate_sets(VkDevice d,
                                                    const VkDescriptorSetAllocateInfo *info,
                                                    VkDescriptorSet *out)
{
    (void)d;
    for (uint32_t i = 0; i < info->descriptorSetCount; i++)
        out[i] = HANDLE(VkDescriptorSet, info->descriptorPool); /* nobody looks into one */
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL allocate_commands(VkDevice d,
                                                        const VkCommandBufferAllocateInfo *info,
                                                        VkCommandBuffer *out)
{
    for (uint32_t i = 0; i < info->commandBufferCount; i++) {
        void **commands = calloc(1, 2 * sizeof(*commands)); /* for the process's life */
        if (!commands)
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        commands[0] = *(void **)d; /* the loader finds its table there */
        out[i] = (VkCommandBuffer)commands;
    }
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL submit(VkQueue q, uint32_t count, const VkSubmitInfo *infos,
                                             VkFence fence)
{
    (void)q, (void)fence;
    for (uint32_t i = 0; i < count; i++)
        for (const VkBaseInStructure *s = infos[i].pNext; s; s = s->pNext) {
            const VkTimelineSemaphoreSubmitInfo *t = (const void *)s;
            if (s->sType != VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO)
                continue;
            for (uint32_t k = 0; k < t->signalSemaphoreValueCount; k++)
                OBJECT(infos[i].pSignalSemaphores[k])->value = t->pSignalSemaphoreValues[k];
        }
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL counter(VkDevice d, VkSemaphore s, uint64_t *out)
{
    (void)d;
    *out = OBJECT(s)->value;
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL query(VkDevice d, VkQueryPool pool, uint32_t first,
                                            uint32_t count, size_t bytes, void *out,
                                            VkDeviceSize stride, VkQueryResultFlags flags)
{
    (void)d, (void)pool, (void)first, (void)count, (void)stride, (void)flags;
    for (size_t i = 0; i < bytes / sizeof(uint64_t); i++)
        ((uint64_t *)out)[i] = i + 1;
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL nothing(void)
{
    return VK_SUCCESS;
}

static const struct row rows[] = {
    ROW(vkCreateComputePipelines, create_pipelines),
    ROW(vkSetDebugUtilsObjectNameEXT, set_name),
    ROW(vkCreateBuffer, create_buffer),
    ROW(vkDestroyBuffer, free_object),
    ROW(vkGetBufferMemoryRequirements, need_buffer),
    ROW(vkGetBufferMemoryRequirements2, need_buffer2),
    ROW(vkGetBufferMemoryRequirements2KHR, need_buffer2),
    ROW(vkBindBufferMemory, nothing),
    ROW(vkAllocateMemory, allocate),
    ROW(vkFreeMemory, free_object),
    ROW(vkMapMemory, map),
    ROW(vkUnmapMemory, nothing),
    ROW(vkFlushMappedMemoryRanges, nothing),
    ROW(vkInvalidateMappedMemoryRanges, nothing),
    ROW(vkCreateDescriptorPool, create_object),
    ROW(vkDestroyDescriptorPool, free_object),
    ROW(vkResetDescriptorPool, nothing),
    ROW(vkAllocateDescriptorSets, allocate_sets),
    ROW(vkUpdateDescriptorSets, nothing),
    ROW(vkCreateQueryPool, create_object),
    ROW(vkDestroyQueryPool, free_object),
    ROW(vkGetQueryPoolResults, query),
    ROW(vkCreateSemaphore, create_object),
    ROW(vkDestroySemaphore, free_object),
    ROW(vkWaitSemaphores, nothing),
    ROW(vkWaitSemaphoresKHR, nothing),
    ROW(vkGetSemaphoreCounterValue, counter),
    ROW(vkGetSemaphoreCounterValueKHR, counter),
    ROW(vkQueueSubmit, submit),
    ROW(vkQueueWaitIdle, nothing),
    ROW(vkDeviceWaitIdle, nothing),
    ROW(vkCreateCommandPool, create_object),
    ROW(vkDestroyCommandPool, free_object),
    ROW(vkResetCommandPool, nothing),
    ROW(vkAllocateCommandBuffers, allocate_commands),
    ROW(vkFreeCommandBuffers, nothing),
    ROW(vkBeginCommandBuffer, nothing),
    ROW(vkEndCommandBuffer, nothing),
};

PFN_vkVoidFunction compile_only_function(const char *name)
{
    if (strncmp(name, "vkCmd", 5) == 0)
        return (PFN_vkVoidFunction)nothing;
    return FIND(rows, name);
}
