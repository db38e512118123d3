/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* VK_KHR_cooperative_matrix and VK_NV_cooperative_matrix2, also for headers that are older. */
#ifndef TDL_MATRIX_H
#define TDL_MATRIX_H

#include "vk.h"

#define TDL_COOPERATIVE_MATRIX_EXTENSION "VK_KHR_cooperative_matrix"

/* From the Vulkan registry, under names of our own. */
#define TDL_STYPE_COOPERATIVE_MATRIX_FEATURES ((VkStructureType)1000506000)
#define TDL_STYPE_COOPERATIVE_MATRIX ((VkStructureType)1000506001)
struct tdl_cooperative_matrix_features {
    VkStructureType sType;
    void *pNext;
    VkBool32 cooperativeMatrix;
    VkBool32 cooperativeMatrixRobustBufferAccess;
};
struct tdl_cooperative_matrix {
    VkStructureType sType;
    void *pNext;
    uint32_t MSize, NSize, KSize;
    int32_t AType, BType, CType, ResultType; /* 0: float16, 1: float32 */
    VkBool32 saturatingAccumulation;
    int32_t scope; /* 3: subgroup */
};

#define TDL_WORKGROUP_MATRIX_EXTENSION "VK_NV_cooperative_matrix2"
#define TDL_STYPE_WORKGROUP_MATRIX_FEATURES ((VkStructureType)1000593000)
#define TDL_STYPE_WORKGROUP_MATRIX ((VkStructureType)1000593001)
#define TDL_STYPE_WORKGROUP_MATRIX_PROPERTIES ((VkStructureType)1000593002)
struct tdl_workgroup_matrix_features {
    VkStructureType sType;
    void *pNext;
    VkBool32 cooperativeMatrixWorkgroupScope, cooperativeMatrixFlexibleDimensions;
    VkBool32 cooperativeMatrixReductions, cooperativeMatrixConversions;
    VkBool32 cooperativeMatrixPerElementOperations, cooperativeMatrixTensorAddressing;
    VkBool32 cooperativeMatrixBlockLoads;
};
struct tdl_workgroup_matrix_properties {
    VkStructureType sType;
    void *pNext;
    uint32_t cooperativeMatrixWorkgroupScopeMaxWorkgroupSize;
    uint32_t cooperativeMatrixFlexibleDimensionsMaxDimension;
    uint32_t cooperativeMatrixWorkgroupScopeReservedSharedMemory;
};
struct tdl_workgroup_matrix {
    VkStructureType sType;
    void *pNext;
    uint32_t MGranularity, NGranularity, KGranularity;
    int32_t AType, BType, CType, ResultType; /* as above */
    VkBool32 saturatingAccumulation;
    int32_t scope; /* 2: workgroup */
    uint32_t workgroupInvocations;
};

/* Features to enable on a device for the kernels that use matrices, as one chain. */
struct tdl_cooperative_matrix_setup {
    struct tdl_cooperative_matrix_features matrix;
    VkPhysicalDeviceShaderFloat16Int8Features half;
    VkPhysicalDeviceVulkanMemoryModelFeatures memory_model;
    VkPhysicalDevice16BitStorageFeatures storage;
    VkPhysicalDeviceSubgroupSizeControlFeatures subgroups;
};

/* Sizes M, N, K of a product of halves with float32 sums that a subgroup does;
 * zeros if the device has none that the kernels can use, or if this build's
 * shader compiler could not make them. */
void tdl_cooperative_matrix_describe(VkInstance instance, VkPhysicalDevice physical,
                                     uint32_t out_size[3]);
/* All of them on, to be chained into a device's creation. Returns the first. */
void *tdl_cooperative_matrix_enable(struct tdl_cooperative_matrix_setup *features, void *next);

struct tdl_workgroup_matrix_setup {
    struct tdl_workgroup_matrix_features matrix;
    VkPhysicalDeviceMaintenance4Features maintenance4; /* newer SPIR-V sizes workgroups by it */
};
/* Workgroup-scope matrices: invocations of the largest workgroup that holds them. 0 if the device
 * has none, or lacks the subgroup ones. */
uint32_t tdl_workgroup_matrix_describe(VkInstance instance, VkPhysicalDevice physical);
void *tdl_workgroup_matrix_enable(struct tdl_workgroup_matrix_setup *features, void *next);

#endif
