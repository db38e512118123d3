/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cooperative_matrix.h"

#include "extensions.h"
#include "kernels.h"

#include <stdlib.h>
#include <string.h>

enum { FLOAT16 = 0, FLOAT32 = 1, WORKGROUP = 2, SUBGROUP = 3 }; /* the registry's values */

typedef VkResult (*list_fn)(VkPhysicalDevice, uint32_t *, struct tdl_cooperative_matrix *);

void *tdl_cooperative_matrix_enable(struct tdl_cooperative_matrix_setup *f, void *next)
{
    *f = (struct tdl_cooperative_matrix_setup){
        .matrix = {.sType = TDL_STYPE_COOPERATIVE_MATRIX_FEATURES,
                   .pNext = &f->half,
                   .cooperativeMatrix = VK_TRUE},
        .half = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES,
                 .pNext = &f->memory_model,
                 .shaderFloat16 = VK_TRUE},
        .memory_model = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES,
                         .pNext = &f->storage,
                         .vulkanMemoryModel = VK_TRUE},
        .storage = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES,
                    .pNext = &f->subgroups,
                    .storageBuffer16BitAccess = VK_TRUE},
        .subgroups = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES,
                      .pNext = next,
                      .computeFullSubgroups = VK_TRUE},
    };
    return &f->matrix;
}

/* All features, and subgroups of one size: the kernel counts on full ones. */
static bool is_able(VkPhysicalDevice physical)
{
    struct tdl_cooperative_matrix_setup f;
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                          .pNext = tdl_cooperative_matrix_enable(&f, NULL)};
    VkPhysicalDeviceSubgroupSizeControlProperties sizes = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES};
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &sizes};
    VkPhysicalDeviceProperties plain;
    struct tdl_extensions extensions;
    vkGetPhysicalDeviceProperties(physical, &plain);
    if (plain.apiVersion < VK_API_VERSION_1_3 ||
        tdl_extensions_init(&extensions, physical) != TDL_OK)
        return false;
    bool known = tdl_extensions_have(&extensions, TDL_COOPERATIVE_MATRIX_EXTENSION) &&
                 tdl_extensions_have(&extensions, VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME);
    tdl_extensions_finish(&extensions);
    if (!known)
        return false;
    vkGetPhysicalDeviceFeatures2(physical, &features);
    vkGetPhysicalDeviceProperties2(physical, &properties);
    return f.matrix.cooperativeMatrix && f.half.shaderFloat16 && f.memory_model.vulkanMemoryModel &&
           f.storage.storageBuffer16BitAccess && f.subgroups.computeFullSubgroups &&
           sizes.minSubgroupSize == sizes.maxSubgroupSize;
}

static bool is_usable(const struct tdl_cooperative_matrix *m)
{
    return m->AType == FLOAT16 && m->BType == FLOAT16 && m->CType == FLOAT32 &&
           m->ResultType == FLOAT32 && m->scope == SUBGROUP && m->NSize % 4 == 0 &&
           m->KSize % 4 == 0;
}

void tdl_cooperative_matrix_describe(VkInstance instance, VkPhysicalDevice physical,
                                     uint32_t out_size[3])
{
    union {
        PFN_vkVoidFunction plain;
        list_fn list;
    } fn;
    uint32_t count = 0;
    memset(out_size, 0, 3 * sizeof(*out_size));
    if (!tdl_shaders_have_matrices() || !is_able(physical))
        return;
    fn.plain = vkGetInstanceProcAddr(instance, "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR");
    if (!fn.plain || fn.list(physical, &count, NULL) < 0 || !count)
        return;
    struct tdl_cooperative_matrix *list = calloc(count, sizeof(*list));
    for (uint32_t i = 0; list && i < count; i++)
        list[i].sType = TDL_STYPE_COOPERATIVE_MATRIX;
    if (list && fn.list(physical, &count, list) >= 0)
        for (uint32_t i = 0; i < count; i++) {
            const uint32_t size[] = {list[i].MSize, list[i].NSize, list[i].KSize};
            bool square = size[0] == 16 && size[1] == 16 && size[2] == 16;
            if (is_usable(&list[i]) && (square || !out_size[0]))
                memcpy(out_size, size, sizeof(size));
        }
    free(list);
}

/* ---------------------------------------------------- those of a whole workgroup */

typedef VkResult (*workgroup_list_fn)(VkPhysicalDevice, uint32_t *, struct tdl_workgroup_matrix *);

void *tdl_workgroup_matrix_enable(struct tdl_workgroup_matrix_setup *f, void *next)
{
    *f = (struct tdl_workgroup_matrix_setup){
        .matrix = {.sType = TDL_STYPE_WORKGROUP_MATRIX_FEATURES,
                   .pNext = &f->maintenance4,
                   .cooperativeMatrixWorkgroupScope = VK_TRUE,
                   .cooperativeMatrixFlexibleDimensions = VK_TRUE,
                   .cooperativeMatrixPerElementOperations = VK_TRUE,
                   .cooperativeMatrixTensorAddressing = VK_TRUE},
        .maintenance4 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_FEATURES,
                         .pNext = next,
                         .maintenance4 = VK_TRUE},
    };
    return &f->matrix;
}

/* All features; invocations of the largest workgroup, or 0. */
static uint32_t largest_workgroup(VkPhysicalDevice physical)
{
    struct tdl_workgroup_matrix_setup f;
    struct tdl_workgroup_matrix_properties sizes = {.sType = TDL_STYPE_WORKGROUP_MATRIX_PROPERTIES};
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                          .pNext = tdl_workgroup_matrix_enable(&f, NULL)};
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &sizes};
    struct tdl_extensions extensions;
    if (tdl_extensions_init(&extensions, physical) != TDL_OK)
        return 0;
    const bool known = tdl_extensions_have(&extensions, TDL_WORKGROUP_MATRIX_EXTENSION);
    tdl_extensions_finish(&extensions);
    if (!known)
        return 0;
    vkGetPhysicalDeviceFeatures2(physical, &features);
    vkGetPhysicalDeviceProperties2(physical, &properties);
    return f.matrix.cooperativeMatrixWorkgroupScope &&
                   f.matrix.cooperativeMatrixFlexibleDimensions &&
                   f.matrix.cooperativeMatrixPerElementOperations &&
                   f.matrix.cooperativeMatrixTensorAddressing && f.maintenance4.maintenance4
               ? sizes.cooperativeMatrixWorkgroupScopeMaxWorkgroupSize
               : 0;
}

/* The kernels' tiles are multiples of 32 on all sides. */
static bool takes_tiles(const struct tdl_workgroup_matrix *m)
{
    enum { SIDE = 32 };
    return m->AType == FLOAT16 && m->BType == FLOAT16 && m->CType == FLOAT32 &&
           m->ResultType == FLOAT32 && m->scope == WORKGROUP && m->MGranularity &&
           m->NGranularity && m->KGranularity && SIDE % m->MGranularity == 0 &&
           SIDE % m->NGranularity == 0 && SIDE % m->KGranularity == 0;
}

uint32_t tdl_workgroup_matrix_describe(VkInstance instance, VkPhysicalDevice physical)
{
    union {
        PFN_vkVoidFunction plain;
        workgroup_list_fn list;
    } fn;
    uint32_t count = 0, found = 0;
    const uint32_t largest = tdl_shaders_have_tensors() ? largest_workgroup(physical) : 0;
    if (!largest)
        return 0;
    fn.plain = vkGetInstanceProcAddr(
        instance, "vkGetPhysicalDeviceCooperativeMatrixFlexibleDimensionsPropertiesNV");
    if (!fn.plain || fn.list(physical, &count, NULL) < 0 || !count)
        return 0;
    struct tdl_workgroup_matrix *list = calloc(count, sizeof(*list));
    for (uint32_t i = 0; list && i < count; i++)
        list[i].sType = TDL_STYPE_WORKGROUP_MATRIX;
    if (list && fn.list(physical, &count, list) >= 0)
        for (uint32_t i = 0; i < count; i++)
            if (takes_tiles(&list[i]) && list[i].workgroupInvocations <= largest)
                found = TDL_MAX(found, list[i].workgroupInvocations);
    free(list);
    return found;
}
