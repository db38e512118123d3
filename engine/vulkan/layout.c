/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "layout.h"

#include <stdlib.h>

static enum tdl_result create_set_layout(struct tdl_context *ctx, struct tdl_kernel_layout *l)
{
    VkDescriptorSetLayoutBinding bindings[TDL_MAX_BINDS];
    for (uint32_t i = 0; i < TDL_MAX_BINDS; i++)
        if (l->binds >> i & 1)
            bindings[l->count++] = (VkDescriptorSetLayoutBinding){
                .binding = i,
                .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                .descriptorCount = 1,
                .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
            };
    return VK(ctx, vkCreateDescriptorSetLayout(
                       tdl_vk(ctx)->device,
                       &(VkDescriptorSetLayoutCreateInfo){
                           .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                           .bindingCount = l->count,
                           .pBindings = bindings,
                       },
                       NULL, &l->set));
}

static enum tdl_result create_pipeline_layout(struct tdl_context *ctx, struct tdl_kernel_layout *l)
{
    return VK(ctx,
              vkCreatePipelineLayout(tdl_vk(ctx)->device,
                                     &(VkPipelineLayoutCreateInfo){
                                         .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                         .setLayoutCount = 1,
                                         .pSetLayouts = &l->set,
                                         .pushConstantRangeCount = 1,
                                         .pPushConstantRanges =
                                             &(VkPushConstantRange){
                                                 .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
                                                 .size = TDL_MAX_PUSH,
                                             },
                                     },
                                     NULL, &l->pipeline));
}

static void destroy(struct tdl_context *ctx, struct tdl_kernel_layout *l)
{
    vkDestroyPipelineLayout(tdl_vk(ctx)->device, l->pipeline, NULL);
    vkDestroyDescriptorSetLayout(tdl_vk(ctx)->device, l->set, NULL);
    free(l);
}

enum tdl_result tdl_kernel_layout_get(struct tdl_context *ctx, uint32_t binds,
                                      const struct tdl_kernel_layout **out_layout)
{
    struct tdl_kernel_layout *l = tdl_vk(ctx)->layouts;
    enum tdl_result r;
    while (l && l->binds != binds)
        l = l->next;
    *out_layout = l;
    if (l)
        return TDL_OK;
    l = calloc(1, sizeof(*l));
    if (!l)
        return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while creating a pipeline");
    l->binds = binds;
    TRY(create_set_layout(ctx, l));
    TRY(create_pipeline_layout(ctx, l));
    l->next = tdl_vk(ctx)->layouts;
    *out_layout = tdl_vk(ctx)->layouts = l;
    return TDL_OK;
fail:
    destroy(ctx, l);
    return r;
}

void tdl_kernel_layouts_finish(struct tdl_context *ctx)
{
    for (struct tdl_kernel_layout *l = tdl_vk(ctx)->layouts, *next; l; l = next) {
        next = l->next;
        destroy(ctx, l);
    }
}

void tdl_kernel_layout_write(const struct tdl_context *ctx, const struct tdl_kernel_layout *layout,
                             VkDescriptorSet set, const VkDescriptorBufferInfo *infos)
{
    VkWriteDescriptorSet writes[TDL_MAX_BINDS];
    uint32_t count = 0;
    for (uint32_t i = 0; i < TDL_MAX_BINDS; i++)
        if (layout->binds >> i & 1)
            writes[count++] = (VkWriteDescriptorSet){
                .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                .dstSet = set,
                .dstBinding = i,
                .descriptorCount = 1,
                .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                .pBufferInfo = &infos[i],
            };
    vkUpdateDescriptorSets(tdl_vk(ctx)->device, count, writes, 0, NULL);
}
