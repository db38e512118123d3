/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * record: the plan as one command buffer that is replayed frame after frame.
 * A barrier stands only where a step touches bytes that an earlier step since
 * the last barrier wrote, or writes bytes that one read.
 */
#include "program.h"

#include <stdlib.h>

/* After so many uses a barrier more costs nothing, and comparing each with all
 * of them would. */
enum { MAX_HAZARDS = 1024 };

/* Bytes in use since the last barrier. */
struct hazard {
    const struct tdl_buffer *buffer;
    uint64_t start, end;
    bool write;
};

/* The buffers that operands lie in. */
struct memory {
    struct tdl_buffer *const *bound;
    struct tdl_buffer *arena;
};

struct resolved {
    struct tdl_buffer *buffer;
    uint64_t offset, size;
    bool write, constant;
};

static bool resolve(const struct tdl_graph *g, const struct memory *memory,
                    const struct tdl_plan_bind *bind, struct resolved *out)
{
    const struct tdl_weights *weights = &g->program->weights;
    const struct tdl_weights_place *place;
    uint64_t guard = g->plan.guard;
    switch (bind->kind) {
    case TDL_PLAN_BIND_NONE:
        return false;
    case TDL_PLAN_BIND_WEIGHTS:
        place = &weights->places[bind->block];
        *out = (struct resolved){weights->buffers[place->buffer], place->offset, bind->size + guard,
                                 false, true};
        return true;
    case TDL_PLAN_BIND_OPERAND:
        if (bind->operand->external)
            *out = (struct resolved){memory->bound[bind->operand->binding], 0,
                                     bind->operand->size + guard, bind->write, false};
        else
            *out = (struct resolved){memory->arena, bind->operand->offset,
                                     bind->operand->size + guard, bind->write, false};
        return true;
    }
    return false;
}

static void write_set(const struct tdl_graph *g, const struct memory *memory,
                      const struct tdl_plan_step *step, const struct tdl_kernel_layout *layout,
                      VkDescriptorSet set)
{
    VkDescriptorBufferInfo infos[TDL_MAX_BINDS];
    struct resolved b, unused = {0};
    /* A kernel's bindings that its constants switch off still have to be
     * valid; its own output is, and no other step touches it meanwhile. */
    for (uint32_t i = 0; i < TDL_MAX_BINDS && !unused.buffer; i++)
        if (step->binds[i].write)
            resolve(g, memory, &step->binds[i], &unused);
    for (uint32_t i = 0; i < TDL_MAX_BINDS; i++) {
        if (!resolve(g, memory, &step->binds[i], &b))
            b = unused;
        infos[i] = (VkDescriptorBufferInfo){tdl_vkb(b.buffer)->buffer, b.offset, b.size};
    }
    tdl_kernel_layout_write(g->ctx, layout, set, infos);
}

static bool conflicts(const struct hazard *hazards, uint32_t count, const struct resolved *b)
{
    for (uint32_t i = 0; i < count; i++)
        if (hazards[i].buffer == b->buffer && b->offset < hazards[i].end &&
            hazards[i].start < b->offset + b->size && (hazards[i].write || b->write))
            return true;
    return false;
}

static void barrier(VkCommandBuffer cb)
{
    vkCmdPipelineBarrier(
        cb, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 1,
        &(VkMemoryBarrier){
            .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
            .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
            .dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT,
        },
        0, NULL, 0, NULL);
}

static enum tdl_result begin_part(struct tdl_graph *g, VkCommandBuffer cb)
{
    return VK(g->ctx,
              vkBeginCommandBuffer(cb, &(VkCommandBufferBeginInfo){
                                           .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                           .flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT,
                                       }));
}

static uint32_t query_count(const struct tdl_graph *g, const struct tdl_recording *rec)
{
    return rec->profile ? g->plan.step_count + 1 : 2;
}

/* A timestamp behind step i, where that is wanted; i = -1: in front of the first. */
static void stamp(const struct tdl_graph *g, const struct tdl_recording *rec, VkCommandBuffer cb,
                  int64_t i)
{
    const bool last = i + 1 == g->plan.step_count;
    const uint32_t query = rec->profile ? (uint32_t)(i + 1) : last;
    if (!rec->queries || (!rec->profile && i >= 0 && !last))
        return;
    if (i < 0)
        vkCmdResetQueryPool(cb, rec->queries, 0, query_count(g, rec));
    vkCmdWriteTimestamp(cb, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, rec->queries, query);
}

/* What is in use since the last barrier. */
struct pending {
    struct hazard *hazards;
    uint32_t count;
};

static void record_step(const struct tdl_graph *g, const struct memory *memory, VkDescriptorSet set,
                        const struct tdl_recording *rec, uint32_t i, VkCommandBuffer cb,
                        struct pending *pending)
{
    const struct tdl_plan_step *step = &g->plan.steps[i];
    const struct tdl_pipeline *pipeline = rec->pipelines->pipelines[i];
    struct resolved binds[TDL_MAX_BINDS] = {0};
    uint32_t count = 0;
    bool conflict = false;
    for (uint32_t j = 0; j < TDL_MAX_BINDS; j++)
        if (resolve(g, memory, &step->binds[j], &binds[count]))
            conflict |= conflicts(pending->hazards, pending->count, &binds[count++]);
    if (conflict || (rec->profile && i) || pending->count + count > MAX_HAZARDS) {
        barrier(cb);
        pending->count = 0;
    }
    for (uint32_t j = 0; j < count; j++)
        if (!binds[j].constant)
            pending->hazards[pending->count++] = (struct hazard){
                binds[j].buffer, binds[j].offset, binds[j].offset + binds[j].size, binds[j].write};
    vkCmdBindPipeline(cb, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline->pipeline);
    vkCmdBindDescriptorSets(cb, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline->layout->pipeline, 0, 1,
                            &set, 0, NULL);
    vkCmdDispatch(cb, step->groups[0], step->groups[1], step->groups[2]);
}

/* Barriers order commands behind those of earlier parts, too, which are in front of them in
 * the same queue. */
static enum tdl_result record_steps(struct tdl_graph *g, const struct memory *memory,
                                    const VkDescriptorSet *sets, struct tdl_recording *rec,
                                    struct hazard *hazards)
{
    struct pending pending = {hazards, 0};
    uint32_t part = 0;
    enum tdl_result r;
    TRY(begin_part(g, rec->commands[0]));
    stamp(g, rec, rec->commands[0], -1);
    for (uint32_t i = 0; i < g->plan.step_count; i++) {
        if (part + 1 < rec->parts.count && rec->parts.starts[part + 1] == i) {
            TRY(VK(g->ctx, vkEndCommandBuffer(rec->commands[part])));
            TRY(begin_part(g, rec->commands[++part]));
        }
        record_step(g, memory, sets[i], rec, i, rec->commands[part], &pending);
        stamp(g, rec, rec->commands[part], i);
    }
    TRY(VK(g->ctx, vkEndCommandBuffer(rec->commands[part])));
fail:
    return r;
}

static enum tdl_result allocate_sets(struct tdl_graph *g, struct tdl_recording *rec,
                                     VkDescriptorSet *sets)
{
    uint32_t count = g->plan.step_count, buffers = 0;
    VkDescriptorSetLayout *layouts = calloc(count, sizeof(*layouts));
    enum tdl_result r;
    if (!layouts)
        return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while recording a graph");
    for (uint32_t i = 0; i < count; i++) {
        layouts[i] = rec->pipelines->pipelines[i]->layout->set;
        buffers += rec->pipelines->pipelines[i]->layout->count;
    }
    TRY(VK(g->ctx, vkCreateDescriptorPool(
                       tdl_vk(g->ctx)->device,
                       &(VkDescriptorPoolCreateInfo){
                           .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                           .maxSets = count,
                           .poolSizeCount = 1,
                           .pPoolSizes =
                               &(VkDescriptorPoolSize){VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, buffers},
                       },
                       NULL, &rec->descriptors)));
    TRY(VK(g->ctx,
           vkAllocateDescriptorSets(tdl_vk(g->ctx)->device,
                                    &(VkDescriptorSetAllocateInfo){
                                        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                        .descriptorPool = rec->descriptors,
                                        .descriptorSetCount = count,
                                        .pSetLayouts = layouts,
                                    },
                                    sets)));
fail:
    free(layouts);
    return r;
}

static enum tdl_result create_objects(struct tdl_graph *g, struct tdl_recording *rec)
{
    VkDevice device = tdl_vk(g->ctx)->device;
    enum tdl_result r;
    TRY(VK(g->ctx, vkCreateCommandPool(device,
                                       &(VkCommandPoolCreateInfo){
                                           .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                           .queueFamilyIndex = tdl_vk(g->ctx)->queue_family,
                                       },
                                       NULL, &rec->pool)));
    TRY(VK(g->ctx,
           vkAllocateCommandBuffers(device,
                                    &(VkCommandBufferAllocateInfo){
                                        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                        .commandPool = rec->pool,
                                        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                        .commandBufferCount = rec->parts.count,
                                    },
                                    rec->commands)));
    if (rec->profile ||
        (rec->parts.timed && g->ctx->info.timestamps && !g->program->split.measured))
        TRY(VK(g->ctx, vkCreateQueryPool(device,
                                         &(VkQueryPoolCreateInfo){
                                             .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                             .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                             .queryCount = query_count(g, rec),
                                         },
                                         NULL, &rec->queries)));
fail:
    return r;
}

enum tdl_result tdl_recording_create(struct tdl_graph *g, struct tdl_buffer *const *bound,
                                     uint32_t queue, bool profile,
                                     struct tdl_recording **out_recording)
{
    const struct memory memory = {bound, g->program->arenas[queue]};
    uint32_t binding_count = g->plan.ir->input_count + g->plan.ir->output_count;
    VkDescriptorSet *sets = calloc(g->plan.step_count, sizeof(*sets));
    struct hazard *hazards = calloc(MAX_HAZARDS, sizeof(*hazards));
    struct tdl_recording *rec = calloc(1, sizeof(*rec));
    enum tdl_result r;
    *out_recording = NULL;
    if (!sets || !hazards || !rec) {
        free(rec);
        r = tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while recording a graph");
        goto done;
    }
    atomic_init(&rec->refs, 1);
    rec->queue = queue;
    rec->profile = profile;
    tdl_split_steps(&g->program->split, &g->ctx->info, g->steps, g->step_count, &rec->parts);
    rec->pipelines = tdl_pipeline_list_ref(g->program->pipelines);
    for (uint32_t i = 0; i < binding_count; i++)
        rec->bound[i] = bound[i]->id;
    TRY(create_objects(g, rec));
    TRY(allocate_sets(g, rec, sets));
    for (uint32_t i = 0; i < g->plan.step_count; i++)
        write_set(g, &memory, &g->plan.steps[i], rec->pipelines->pipelines[i]->layout, sets[i]);
    TRY(record_steps(g, &memory, sets, rec, hazards));
    for (uint32_t i = 0; i < rec->parts.count; i++)
        tdl_context_name(g->ctx, VK_OBJECT_TYPE_COMMAND_BUFFER,
                         (uint64_t)(uintptr_t)rec->commands[i], "graph");
    *out_recording = rec;
    goto done;
fail:
    tdl_recording_release(g->ctx, rec);
done:
    free(sets);
    free(hazards);
    return r;
}

static void recording_free(struct tdl_context *ctx, void *data)
{
    struct tdl_recording *rec = data;
    vkDestroyCommandPool(tdl_vk(ctx)->device, rec->pool, NULL);
    vkDestroyDescriptorPool(tdl_vk(ctx)->device, rec->descriptors, NULL);
    vkDestroyQueryPool(tdl_vk(ctx)->device, rec->queries, NULL);
    tdl_pipeline_list_release(ctx, rec->pipelines);
    free(rec);
}

void tdl_recording_release(struct tdl_context *ctx, void *recording)
{
    struct tdl_recording *rec = recording;
    if (rec && atomic_fetch_sub(&rec->refs, 1) == 1)
        tdl_context_defer(ctx, tdl_context_last_point(ctx), recording_free, rec);
}
