/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Copies between images and frames in buffers. An image comes in the state
 * that its owner says, and what it is left in is written there.
 *
 * An image of another queue family is taken over in the layout that it has,
 * brought into one that copies take, brought back and given back: in the same
 * layout, so that both sides of the transfer name the same, as they must.
 */
#include "image.h"

#include "vulkan/batch.h"
#include "vulkan/frame/bind.h"

#define TRANSFER VK_PIPELINE_STAGE_TRANSFER_BIT

/* One plane's copy. */
struct plane {
    struct tdl_image *image;
    struct tdl_image_state *state;
    VkImageLayout layout; /* while it is copied */
    bool elsewhere;       /* belongs to another queue family */
    bool discard;         /* its contents do not count */
};

struct barriers {
    VkImageMemoryBarrier list[TDL_MAX_PLANES];
    uint32_t count;
    VkPipelineStageFlags source, target;
};

static void add(struct barriers *b, const struct plane *p, VkImageLayout from, VkImageLayout to,
                VkAccessFlags before, VkAccessFlags after)
{
    b->list[b->count++] = (VkImageMemoryBarrier){
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
        .srcAccessMask = before,
        .dstAccessMask = after,
        .oldLayout = from,
        .newLayout = to,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = p->image->image,
        /* All planes of it change layout together: only COLOR names them all,
         * unless the image is disjoint, which wrapped ones are not. */
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1},
    };
}

static void record(VkCommandBuffer cb, const struct barriers *b)
{
    if (b->count)
        vkCmdPipelineBarrier(cb, b->source, b->target, 0, 0, NULL, 0, NULL, b->count, b->list);
}

/* Synchronization2's flags in those of Vulkan 1.0, as a compute queue takes
 * them; what has no equal there becomes everything. */
static void lower_state(const struct tdl_image_state *state, VkPipelineStageFlags *out_stages,
                        VkAccessFlags *out_access)
{
    const VkPipelineStageFlags2 stages =
        VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT | VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT |
        VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT |
        VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    const VkAccessFlags2 accesses = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT |
                                    VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT |
                                    VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
    *out_stages = (VkPipelineStageFlags)state->stage;
    *out_access = (VkAccessFlags)state->access;
    if (state->access & ~accesses)
        *out_access = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
    if (state->stage & ~stages || state->access & ~accesses)
        *out_stages = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    if (!*out_stages)
        *out_stages =
            *out_access ? VK_PIPELINE_STAGE_ALL_COMMANDS_BIT : VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT;
    if (*out_stages & ~(VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT | VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT))
        return;
    *out_access = 0; /* neither of the two stages has any access */
}

/* Planes of one image are moved once, with the first. */
static bool is_repeat(const struct plane *planes, uint32_t i)
{
    for (uint32_t j = 0; j < i; j++)
        if (planes[j].image->image == planes[i].image->image)
            return true;
    return false;
}

static void take(struct tdl_context *ctx, VkCommandBuffer cb, const struct plane *planes,
                 uint32_t count, VkAccessFlags access)
{
    struct barriers acquire = {.source = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, .target = TRANSFER};
    struct barriers change = {.target = TRANSFER};
    for (uint32_t i = 0; i < count; i++) {
        const struct plane *p = &planes[i];
        VkPipelineStageFlags stages = TRANSFER;
        VkAccessFlags before = access;
        VkImageLayout from = p->discard ? VK_IMAGE_LAYOUT_UNDEFINED : p->state->layout;
        if (is_repeat(planes, i))
            continue;
        if (p->elsewhere && !p->discard) {
            add(&acquire, p, from, from, 0, access);
            acquire.list[acquire.count - 1].srcQueueFamilyIndex = p->state->queue_family;
            acquire.list[acquire.count - 1].dstQueueFamilyIndex = tdl_vk(ctx)->queue_family;
            if (from == p->layout)
                continue;
        } else if (p->elsewhere) {
            stages = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
            before = 0;
        } else {
            lower_state(p->state, &stages, &before);
        }
        add(&change, p, from, p->layout, before, access);
        change.source |= stages;
    }
    record(cb, &acquire);
    record(cb, &change);
}

static void give_back(struct tdl_context *ctx, VkCommandBuffer cb, const struct plane *planes,
                      uint32_t count, VkAccessFlags access)
{
    struct barriers change = {.source = TRANSFER, .target = TRANSFER};
    struct barriers release = {.source = TRANSFER, .target = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT};
    for (uint32_t i = 0; i < count; i++) {
        const struct plane *p = &planes[i];
        VkImageLayout to = p->discard ? VK_IMAGE_LAYOUT_GENERAL : p->state->layout;
        if (!p->elsewhere || is_repeat(planes, i))
            continue;
        if (to != p->layout)
            add(&change, p, p->layout, to, access, access);
        add(&release, p, to, to, access, 0);
        release.list[release.count - 1].srcQueueFamilyIndex = tdl_vk(ctx)->queue_family;
        release.list[release.count - 1].dstQueueFamilyIndex = p->state->queue_family;
    }
    record(cb, &change);
    record(cb, &release);
}

static void note_states(const struct plane *planes, uint32_t count, VkAccessFlags access)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct plane *p = &planes[i];
        if (p->elsewhere && p->discard)
            p->state->layout = VK_IMAGE_LAYOUT_GENERAL;
        if (!p->elsewhere)
            p->state->layout = p->layout;
        p->state->access = p->elsewhere ? 0 : access;
        p->state->stage = p->elsewhere ? 0 : TRANSFER;
    }
}

/* --------------------------------------------------------------------- checks */

static enum tdl_result check_plane(const struct tdl_context *ctx, const struct tdl_frame *frame,
                                   const struct tdl_image *image, uint32_t plane, bool to_frame)
{
    const VkImageUsageFlags usage =
        to_frame ? VK_IMAGE_USAGE_TRANSFER_SRC_BIT : VK_IMAGE_USAGE_TRANSFER_DST_BIT;
    const struct tdl_texel *t;
    if (!image)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "plane %u of %s has no image", plane,
                        tdl_format_name(frame->format));
    t = image->texel;
    if (image->ctx != ctx)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "the image of plane %u is of another context",
                        plane);
    if (t->format != frame->format || t->plane != plane || image->width != frame->width ||
        image->height != frame->height)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "the image is plane %u of %s, %u×%u px; the frame needs plane %u of %s, "
                        "%u×%u px",
                        t->plane, tdl_format_name(t->format), image->width, image->height, plane,
                        tdl_format_name(frame->format), frame->width, frame->height);
    if (!(image->usage & usage))
        return tdl_fail(TDL_ERROR_UNSUPPORTED,
                        "the image of plane %u was not created to be copied %s "
                        "(VK_IMAGE_USAGE_TRANSFER_%s_BIT)",
                        plane, to_frame ? "from" : "to", to_frame ? "SRC" : "DST");
    if (frame->planes[plane].stride % t->bytes || frame->planes[plane].offset % t->bytes)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "plane %u has offset %llu and stride %u: copies from and to images need "
                        "multiples of %u bytes",
                        plane, (unsigned long long)frame->planes[plane].offset,
                        frame->planes[plane].stride, t->bytes);
    return TDL_OK;
}

static VkImageLayout copy_layout(VkImageLayout now, bool to_frame)
{
    if (now == VK_IMAGE_LAYOUT_GENERAL || now == VK_IMAGE_LAYOUT_SHARED_PRESENT_KHR)
        return now;
    return to_frame ? VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL : VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL;
}

static enum tdl_result collect(struct tdl_context *ctx, const struct tdl_frame *frame,
                               struct tdl_image *const images[],
                               struct tdl_image_state *const states[], bool to_frame,
                               struct plane *planes, uint32_t *out_count)
{
    enum tdl_result r;
    TRY(tdl_frame_check(ctx, frame, to_frame, to_frame ? "target" : "source"));
    *out_count = tdl_format_planes(frame->format);
    for (uint32_t i = 0; i < *out_count; i++) {
        TRY(check_plane(ctx, frame, images[i], i, to_frame));
        struct tdl_image_state *state = states && states[i] ? states[i] : &images[i]->state;
        if (TDL_IS_UNKNOWN(state))
            return tdl_fail_unknown("the state of an image");
        if (state == &images[i]->state && !images[i]->memory)
            return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                            "the image of plane %u was wrapped: say in which state it is", i);
        planes[i] = (struct plane){
            .image = images[i],
            .state = state,
            .layout = copy_layout(state->layout, to_frame),
            .elsewhere = state->queue_family != VK_QUEUE_FAMILY_IGNORED &&
                         state->queue_family != tdl_vk(ctx)->queue_family,
            .discard = state->layout == VK_IMAGE_LAYOUT_UNDEFINED,
        };
        if (planes[i].discard && to_frame)
            return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                            "the image of plane %u holds nothing yet (VK_IMAGE_LAYOUT_UNDEFINED)",
                            i);
    }
fail:
    return r;
}

/* ----------------------------------------------------------------- recording */

static enum tdl_result hold_images(struct tdl_batch *batch, const struct plane *planes,
                                   uint32_t count)
{
    enum tdl_result r = TDL_OK;
    for (uint32_t i = 0; i < count && r == TDL_OK; i++) {
        r = tdl_batch_hold(batch,
                           (struct tdl_hold){tdl_image_ref(planes[i].image), tdl_image_release});
        if (r != TDL_OK)
            tdl_image_release(planes[i].image->ctx, planes[i].image);
    }
    return r;
}

static VkBufferImageCopy region(const struct plane *p, const struct tdl_plane *memory)
{
    const struct tdl_texel *t = p->image->texel;
    return (VkBufferImageCopy){
        .bufferOffset = memory->offset,
        .bufferRowLength = memory->stride / t->bytes * t->width,
        .imageSubresource = {t->aspect, 0, 0, 1},
        .imageExtent = tdl_image_extent(p->image),
    };
}

static enum tdl_result copy(struct tdl_batch *batch, const struct tdl_frame *frame,
                            struct tdl_image *const images[],
                            struct tdl_image_state *const states[], bool to_frame)
{
    const VkAccessFlags access =
        to_frame ? VK_ACCESS_TRANSFER_READ_BIT : VK_ACCESS_TRANSFER_WRITE_BIT;
    struct tdl_context *ctx = tdl_batch_context(batch);
    struct plane planes[TDL_MAX_PLANES];
    struct tdl_bind uses[TDL_MAX_PLANES];
    VkCommandBuffer cb;
    uint32_t count;
    enum tdl_result r;
    if (!images || !frame)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "a copy needs images and a frame");
    TRY(tdl_vk_context_check(ctx));
    TRY(collect(ctx, frame, images, states, to_frame, planes, &count));
    for (uint32_t i = 0; i < count; i++)
        uses[i] = (struct tdl_bind){
            .buffer = frame->planes[i].buffer, .read = !to_frame, .write = to_frame};
    TRY(tdl_batch_commands(batch, uses, count, &cb));
    TRY(hold_images(batch, planes, count));
    take(ctx, cb, planes, count, access);
    for (uint32_t i = 0; i < count; i++) {
        VkBufferImageCopy c = region(&planes[i], &frame->planes[i]);
        VkImage image = planes[i].image->image;
        VkBuffer buffer = tdl_vkb(frame->planes[i].buffer)->buffer;
        if (to_frame)
            vkCmdCopyImageToBuffer(cb, image, planes[i].layout, buffer, 1, &c);
        else
            vkCmdCopyBufferToImage(cb, buffer, image, planes[i].layout, 1, &c);
    }
    give_back(ctx, cb, planes, count, access);
    note_states(planes, count, access);
fail:
    return r;
}

enum tdl_result tdl_batch_images_to_frame(struct tdl_batch *batch, struct tdl_image *const images[],
                                          struct tdl_image_state *const states[],
                                          const struct tdl_frame *target)
{
    TDL_NEED_KNOWN(target);
    TDL_NEED(batch, "batch");
    TDL_NEED(images, "images");
    TDL_NEED(target, "target");
    return copy(batch, target, images, states, true);
}

enum tdl_result tdl_batch_frame_to_images(struct tdl_batch *batch, const struct tdl_frame *source,
                                          struct tdl_image *const images[],
                                          struct tdl_image_state *const states[])
{
    TDL_NEED_KNOWN(source);
    TDL_NEED(batch, "batch");
    TDL_NEED(source, "source");
    TDL_NEED(images, "images");
    return copy(batch, source, images, states, false);
}
