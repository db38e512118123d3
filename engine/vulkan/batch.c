/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "batch_state.h"

#include "vulkan/share/rental_state.h"
#include "vulkan/table.h"

#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------------- creation */

void tdl_vk_batch_free(struct tdl_context *ctx, struct tdl_batch *batch)
{
    struct tdl_vk_batch *b = tdl_vk_batch(batch);
    vkDestroyCommandPool(tdl_vk(ctx)->device, b->pool, NULL);
    vkDestroyDescriptorPool(tdl_vk(ctx)->device, b->descriptors, NULL);
    vkDestroyQueryPool(tdl_vk(ctx)->device, b->queries, NULL);
    tdl_sync_finish(ctx, &b->sync);
    free(b->uses);
    free(b);
}

static enum tdl_result allocate_commands(struct tdl_vk_batch *b, VkCommandBuffer *out,
                                         uint32_t count)
{
    return VK(b->base.ctx,
              vkAllocateCommandBuffers(tdl_vk(b->base.ctx)->device,
                                       &(VkCommandBufferAllocateInfo){
                                           .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                           .commandPool = b->pool,
                                           .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                           .commandBufferCount = count,
                                       },
                                       out));
}

/* Room for more of the batch's own. */
static enum tdl_result add_commands(struct tdl_vk_batch *b)
{
    enum tdl_result r = allocate_commands(b, &b->own[b->own_count], TDL_BATCH_FEW);
    if (r == TDL_OK)
        b->own_count += TDL_BATCH_FEW;
    return r;
}

static enum tdl_result create_commands(struct tdl_vk_batch *b)
{
    struct tdl_context *ctx = b->base.ctx;
    enum tdl_result r =
        VK(ctx, vkCreateCommandPool(tdl_vk(ctx)->device,
                                    &(VkCommandPoolCreateInfo){
                                        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                        .flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT,
                                        .queueFamilyIndex = tdl_vk(ctx)->queue_family,
                                    },
                                    NULL, &b->pool));
    if (r == TDL_OK)
        r = allocate_commands(b, b->handover, TDL_COUNT(b->handover));
    return r == TDL_OK ? add_commands(b) : r;
}

static enum tdl_result create_descriptors(struct tdl_vk_batch *b)
{
    struct tdl_context *ctx = b->base.ctx;
    const uint32_t sets = TDL_COUNT(b->sets);
    return VK(ctx, vkCreateDescriptorPool(
                       tdl_vk(ctx)->device,
                       &(VkDescriptorPoolCreateInfo){
                           .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                           .maxSets = sets,
                           .poolSizeCount = 1,
                           .pPoolSizes = &(VkDescriptorPoolSize){VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                                                 sets * TDL_MAX_BINDS},
                       },
                       NULL, &b->descriptors));
}

/* The batch is recorded anew, and what it was before has passed. */
static enum tdl_result begin_sets(struct tdl_vk_batch *b)
{
    b->sets_used = 0;
    if (b->set_count <= TDL_BATCH_SETS)
        return TDL_OK;
    b->set_count = 0;
    return VK(b->base.ctx, vkResetDescriptorPool(tdl_vk(b->base.ctx)->device, b->descriptors, 0));
}

/* One of this layout that the recording does not use yet; a batch that is recorded as before
 * finds all of its sets. */
static enum tdl_result take_set(struct tdl_vk_batch *b, const struct tdl_kernel_layout *layout,
                                VkDescriptorSet *out_set)
{
    struct tdl_batch_set *sets = b->sets, found = {layout, VK_NULL_HANDLE};
    uint32_t i = b->sets_used;
    while (i < b->set_count && sets[i].layout != layout)
        i++;
    if (i == b->set_count) {
        enum tdl_result r =
            VK(b->base.ctx,
               vkAllocateDescriptorSets(tdl_vk(b->base.ctx)->device,
                                        &(VkDescriptorSetAllocateInfo){
                                            .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                            .descriptorPool = b->descriptors,
                                            .descriptorSetCount = 1,
                                            .pSetLayouts = &layout->set,
                                        },
                                        &found.set));
        if (r != TDL_OK)
            return r;
        b->set_count++;
    } else {
        found = sets[i];
    }
    sets[i] = sets[b->sets_used];
    sets[b->sets_used++] = found;
    *out_set = found.set;
    return TDL_OK;
}

enum tdl_result tdl_vk_batch_create(struct tdl_context *ctx, struct tdl_batch **out_batch)
{
    enum tdl_result r;
    struct tdl_vk_batch *b = calloc(1, sizeof(*b));
    if (!b)
        return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while creating a batch");
    b->base.ctx = tdl_context_ref(ctx);
    TRY(create_commands(b));
    TRY(create_descriptors(b));
    if (ctx->info.timestamps)
        TRY(VK(ctx, vkCreateQueryPool(tdl_vk(ctx)->device,
                                      &(VkQueryPoolCreateInfo){
                                          .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                          .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                          .queryCount = TDL_BATCH_TIMESTAMPS,
                                      },
                                      NULL, &b->queries)));
    *out_batch = &b->base;
    return TDL_OK;
fail:
    tdl_vk_batch_destroy(&b->base);
    return r;
}

void tdl_batch_let_go(struct tdl_vk_batch *b, bool submitted)
{
    for (uint32_t i = 0; i < b->hold_count; i++) {
        if (submitted && b->holds[i].submitted)
            b->holds[i].submitted(b->holds[i].data);
        b->holds[i].release(b->base.ctx, b->holds[i].data);
    }
    for (uint32_t i = 0; i < b->use_count; i++)
        tdl_buffer_destroy(&b->uses[i].buffer);
    b->hold_count = b->use_count = 0;
}

static void free_later(struct tdl_context *ctx, void *batch)
{
    tdl_vk_batch_free(ctx, batch);
}

void tdl_vk_batch_destroy(struct tdl_batch *batch)
{
    struct tdl_vk_batch *b = tdl_vk_batch(batch);
    struct tdl_context *ctx = batch->ctx;
    tdl_batch_let_go(b, false);
    tdl_context_defer(ctx, b->point, free_later, &b->base);
    tdl_context_destroy(&ctx);
}

uint64_t tdl_vk_batch_point(const struct tdl_batch *batch)
{
    return ((const struct tdl_vk_batch *)batch)->point;
}

/* --------------------------------------------------------------- recording */

enum tdl_result tdl_vk_batch_begin(struct tdl_batch *batch)
{
    struct tdl_vk_batch *b = tdl_vk_batch(batch);
    if (b->state != TDL_BATCH_IDLE)
        return tdl_fail(TDL_ERROR_INVALID_STATE,
                        "tdl_batch_begin: the batch was begun already; submit or cancel it first");
    enum tdl_result r = tdl_context_wait(b->base.ctx, b->point, TDL_WAIT_FOREVER);
    if (r == TDL_OK)
        r = VK(b->base.ctx, vkResetCommandPool(tdl_vk(b->base.ctx)->device, b->pool, 0));
    if (r == TDL_OK)
        r = begin_sets(b);
    if (r != TDL_OK)
        return r;
    tdl_sync_begin(b->base.ctx, &b->sync);
    b->queue = b->next_queue;
    b->state = TDL_BATCH_RECORDING;
    b->own_used = b->part_count = b->use_count = b->epoch = b->dispatches = 0;
    b->mark_count = b->submitted_marks = 0;
    b->piece_ns = 0;
    b->open = b->writes_host = b->finishing = false;
    return TDL_OK;
}

void tdl_vk_batch_set_queue(struct tdl_batch *batch, uint32_t queue)
{
    tdl_vk_batch(batch)->next_queue = queue % tdl_vk(batch->ctx)->queue_count;
}

uint32_t tdl_batch_queue(const struct tdl_batch *batch)
{
    return tdl_vk_batch(batch)->queue;
}

void tdl_vk_batch_cancel(struct tdl_batch *batch)
{
    struct tdl_vk_batch *b = tdl_vk_batch(batch);
    if (b->state != TDL_BATCH_RECORDING)
        return;
    if (b->open)
        vkEndCommandBuffer(b->own[b->own_used - 1]);
    tdl_batch_let_go(b, false);
    tdl_sync_submitted(b->base.ctx, &b->sync, false);
    b->open = false;
    b->state = TDL_BATCH_IDLE;
    b->mark_count = b->submitted_marks = 0;
}

enum tdl_result tdl_batch_sync(struct tdl_batch *batch, bool recording, struct tdl_sync **out_sync)
{
    struct tdl_vk_batch *b = tdl_vk_batch(batch);
    enum tdl_result r = tdl_vk_context_check(batch->ctx);
    *out_sync = &b->sync;
    if (r != TDL_OK)
        return r;
    if ((b->state == TDL_BATCH_RECORDING) == recording)
        return TDL_OK;
    return tdl_fail(TDL_ERROR_INVALID_STATE, recording
                                                 ? "the batch was not begun: call tdl_batch_begin"
                                                 : "the batch was not submitted yet");
}

static enum tdl_result fail_full(void)
{
    return tdl_fail(TDL_ERROR_UNSUPPORTED,
                    "the batch is full (%d parts): submit it and begin another", TDL_BATCH_OWN);
}

enum tdl_result tdl_batch_open_commands(struct tdl_vk_batch *b, VkCommandBuffer *out)
{
    if (b->state != TDL_BATCH_RECORDING)
        return tdl_fail(TDL_ERROR_INVALID_STATE, "the batch was not begun: call tdl_batch_begin");
    if (!b->open) {
        const uint32_t kept = b->finishing ? 0 : 1;
        enum tdl_result r = TDL_OK;
        if (b->own_used + kept >= TDL_BATCH_OWN || b->part_count + kept >= TDL_BATCH_PARTS)
            return fail_full();
        if (b->own_used == b->own_count)
            r = add_commands(b);
        if (r != TDL_OK)
            return r;
        VkCommandBuffer cb = b->own[b->own_used];
        r = VK(b->base.ctx,
               vkBeginCommandBuffer(cb, &(VkCommandBufferBeginInfo){
                                            .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                            .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
                                        }));
        if (r != TDL_OK)
            return r;
        b->own_used++;
        b->cuts[b->part_count] = false;
        b->parts[b->part_count++] = cb;
        b->open = true;
    }
    *out = b->own[b->own_used - 1];
    return TDL_OK;
}

enum tdl_result tdl_batch_close_commands(struct tdl_vk_batch *b)
{
    if (!b->open)
        return TDL_OK;
    b->open = false;
    return VK(b->base.ctx, vkEndCommandBuffer(b->own[b->own_used - 1]));
}

void tdl_batch_barrier(VkCommandBuffer cb, bool to_host)
{
    const VkPipelineStageFlags gpu =
        VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
    const VkAccessFlags accesses = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT |
                                   VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
    vkCmdPipelineBarrier(
        cb, gpu, to_host ? VK_PIPELINE_STAGE_HOST_BIT : gpu, 0, 1,
        &(VkMemoryBarrier){
            .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
            .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
            .dstAccessMask = to_host ? VK_ACCESS_HOST_READ_BIT : accesses,
        },
        0, NULL, 0, NULL);
}

/* Room for one more, which stays for the next time. */
static bool reserve_use(struct tdl_vk_batch *b)
{
    if (b->use_count < b->use_capacity)
        return true;
    const uint32_t capacity = b->use_capacity ? 2 * b->use_capacity : 64;
    struct tdl_batch_use *uses = realloc(b->uses, capacity * sizeof(*uses));
    if (!uses)
        return false;
    b->uses = uses;
    b->use_capacity = capacity;
    return true;
}

static uint64_t start_of(const struct tdl_bind *bind)
{
    return bind->exact ? bind->offset : 0;
}

static uint64_t end_of(const struct tdl_bind *bind)
{
    return bind->exact ? bind->offset + bind->size : UINT64_MAX;
}

/* Copies to several places of one buffer need no order. */
static bool conflicts(const struct tdl_vk_batch *b, const struct tdl_batch_use *use,
                      const struct tdl_bind *bind)
{
    return bind->buffer && use->epoch == b->epoch && use->buffer == bind->buffer &&
           (use->write || bind->write) && use->start < end_of(bind) && start_of(bind) < use->end;
}

/* Note the uses of one piece of work; records a barrier first if one of them
 * conflicts with a use since the last barrier. */
static enum tdl_result add_uses(struct tdl_vk_batch *b, const struct tdl_bind *uses, uint32_t count)
{
    bool conflict = false;
    for (uint32_t i = 0; i < count; i++) {
        enum tdl_result r = uses[i].buffer ? tdl_rental_check(uses[i].buffer) : TDL_OK;
        if (r != TDL_OK)
            return r;
    }
    for (uint32_t i = 0; i < count && !conflict; i++)
        for (uint32_t j = 0; j < b->use_count && !conflict; j++)
            conflict = conflicts(b, &b->uses[j], &uses[i]);
    if (conflict) {
        VkCommandBuffer cb;
        enum tdl_result r = tdl_batch_open_commands(b, &cb);
        if (r != TDL_OK)
            return r;
        tdl_batch_barrier(cb, false);
        b->epoch++;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct tdl_batch_use *u = NULL;
        if (!uses[i].buffer)
            continue;
        for (uint32_t j = 0; j < b->use_count && !u; j++)
            if (b->uses[j].buffer == uses[i].buffer && b->uses[j].epoch == b->epoch)
                u = &b->uses[j];
        if (!u) {
            if (!reserve_use(b))
                return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while adding to a batch");
            u = &b->uses[b->use_count++];
            *u = (struct tdl_batch_use){.buffer = tdl_buffer_ref(uses[i].buffer),
                                        .start = start_of(&uses[i]),
                                        .end = end_of(&uses[i]),
                                        .epoch = b->epoch};
        }
        u->start = TDL_MIN(u->start, start_of(&uses[i]));
        u->end = TDL_MAX(u->end, end_of(&uses[i]));
        u->read |= uses[i].read;
        u->write |= uses[i].write;
        b->writes_host |= uses[i].write && tdl_vkb(uses[i].buffer)->host_visible;
    }
    return TDL_OK;
}

static void write_descriptors(struct tdl_vk_batch *b, const struct tdl_kernel_layout *layout,
                              VkDescriptorSet set, const struct tdl_bind *binds, uint32_t count)
{
    VkDescriptorBufferInfo infos[TDL_MAX_BINDS];
    const struct tdl_bind *unused = NULL;
    /* Bindings that a kernel's constants switch off still have to be valid:
     * they get what the dispatch writes, which nobody else touches meanwhile. */
    for (uint32_t i = 0; i < count; i++)
        if (binds[i].buffer && (!unused || (binds[i].write && !unused->write)))
            unused = &binds[i];
    for (uint32_t i = 0; i < TDL_MAX_BINDS && unused; i++) {
        const struct tdl_bind *bind = i < count && binds[i].buffer ? &binds[i] : unused;
        infos[i] = (VkDescriptorBufferInfo){tdl_vkb(bind->buffer)->buffer, bind->offset,
                                            bind->size ? bind->size : VK_WHOLE_SIZE};
    }
    if (unused)
        tdl_kernel_layout_write(b->base.ctx, layout, set, infos);
}

enum tdl_result tdl_batch_dispatch(struct tdl_batch *batch, const struct tdl_pipeline *pipeline,
                                   const struct tdl_bind *binds, uint32_t bind_count,
                                   const void *push, uint32_t push_size, uint32_t groups_x,
                                   uint32_t groups_y, uint32_t groups_z)
{
    struct tdl_vk_batch *b = tdl_vk_batch(batch);
    VkCommandBuffer cb = VK_NULL_HANDLE;
    enum tdl_result r = tdl_batch_open_commands(b, &cb);
    if (r != TDL_OK)
        return r;
    if (b->sets_used == TDL_BATCH_SETS)
        return tdl_fail(TDL_ERROR_UNSUPPORTED,
                        "the batch has %d dispatches: submit it and begin another", TDL_BATCH_SETS);
    const struct tdl_kernel_layout *layout = pipeline->layout;
    VkDescriptorSet set;
    r = add_uses(b, binds, bind_count);
    if (r == TDL_OK)
        r = take_set(b, layout, &set);
    if (r != TDL_OK)
        return r;
    write_descriptors(b, layout, set, binds, bind_count);
    vkCmdBindPipeline(cb, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline->pipeline);
    vkCmdBindDescriptorSets(cb, VK_PIPELINE_BIND_POINT_COMPUTE, layout->pipeline, 0, 1, &set, 0,
                            NULL);
    if (push_size)
        vkCmdPushConstants(cb, layout->pipeline, VK_SHADER_STAGE_COMPUTE_BIT, 0, push_size, push);
    vkCmdDispatch(cb, groups_x, groups_y, groups_z);
    b->dispatches++;
    return TDL_OK;
}

enum tdl_result tdl_vk_batch_copy(struct tdl_batch *batch, struct tdl_buffer *source,
                                  uint64_t source_offset, struct tdl_buffer *target,
                                  uint64_t target_offset, uint64_t size)
{
    struct tdl_vk_batch *b = tdl_vk_batch(batch);
    VkCommandBuffer cb;
    enum tdl_result r = tdl_batch_open_commands(b, &cb);
    if (r == TDL_OK)
        r = add_uses(b,
                     (struct tdl_bind[]){
                         {source, source_offset, size, .read = true, .exact = true},
                         {target, target_offset, size, .write = true, .exact = true},
                     },
                     2);
    if (r == TDL_OK)
        vkCmdCopyBuffer(cb, tdl_vkb(source)->buffer, tdl_vkb(target)->buffer, 1,
                        &(VkBufferCopy){source_offset, target_offset, size});
    return r;
}

enum tdl_result tdl_vk_batch_fill_zero(struct tdl_batch *batch, struct tdl_buffer *target)
{
    struct tdl_vk_batch *b = tdl_vk_batch(batch);
    VkCommandBuffer cb;
    enum tdl_result r = tdl_batch_open_commands(b, &cb);
    if (r == TDL_OK)
        r = add_uses(b, &(struct tdl_bind){.buffer = target, .write = true}, 1);
    if (r == TDL_OK)
        vkCmdFillBuffer(cb, tdl_vkb(target)->buffer, 0, VK_WHOLE_SIZE, 0);
    return r;
}

/* A watchdog would end what takes too long at once. */
static void add_part(struct tdl_vk_batch *b, VkCommandBuffer part, double ns, double bound_ns)
{
    const bool cut = bound_ns > 0 && b->piece_ns > 0 && b->piece_ns + ns > bound_ns;
    b->piece_ns = cut ? ns : b->piece_ns + ns;
    b->cuts[b->part_count] = cut;
    b->parts[b->part_count++] = part;
}

enum tdl_result tdl_batch_execute(struct tdl_batch *batch, const struct tdl_recorded *recorded,
                                  const struct tdl_bind *uses, uint32_t use_count,
                                  struct tdl_hold hold)
{
    struct tdl_vk_batch *b = tdl_vk_batch(batch);
    if (b->state != TDL_BATCH_RECORDING)
        return tdl_fail(TDL_ERROR_INVALID_STATE, "the batch was not begun: call tdl_batch_begin");
    enum tdl_result r = add_uses(b, uses, use_count);
    if (r == TDL_OK)
        r = tdl_batch_close_commands(b);
    if (r != TDL_OK)
        return r;
    if (b->part_count + recorded->part_count >= TDL_BATCH_PARTS)
        return fail_full();
    r = tdl_batch_hold(batch, hold);
    if (r != TDL_OK)
        return r;
    for (uint32_t i = 0; i < recorded->part_count; i++)
        add_part(b, recorded->parts[i], recorded->ns[i], recorded->bound_ns);
    b->dispatches += recorded->dispatches;
    return TDL_OK;
}

enum tdl_result tdl_batch_give(struct tdl_batch *batch, struct tdl_buffer *buffer, uint32_t family)
{
    struct tdl_vk_batch *b = tdl_vk_batch(batch);
    VkCommandBuffer cb;
    enum tdl_result r = tdl_batch_commands(
        batch, &(struct tdl_bind){.buffer = buffer, .read = true, .write = true}, 1, &cb);
    for (uint32_t i = 0; i < b->use_count && r == TDL_OK; i++)
        if (b->uses[i].buffer == buffer)
            b->uses[i].give = family;
    return r;
}

enum tdl_result tdl_batch_hold(struct tdl_batch *batch, struct tdl_hold hold)
{
    struct tdl_vk_batch *b = tdl_vk_batch(batch);
    if (b->hold_count == TDL_BATCH_HOLDS)
        return fail_full();
    b->holds[b->hold_count++] = hold;
    return TDL_OK;
}

enum tdl_result tdl_batch_commands(struct tdl_batch *batch, const struct tdl_bind *uses,
                                   uint32_t use_count, VkCommandBuffer *out_commands)
{
    struct tdl_vk_batch *b = tdl_vk_batch(batch);
    enum tdl_result r = tdl_batch_open_commands(b, out_commands);
    return r == TDL_OK ? add_uses(b, uses, use_count) : r;
}
