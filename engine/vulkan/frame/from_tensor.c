/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bind.h"

#include "core/tensor.h"
#include "frame/color.h"
#include "vulkan/graph/compile.h"
#include "vulkan/table.h"

#include <assert.h>
#include <string.h>

static_assert(sizeof(struct tdl_frame_from_tensor_push) <= TDL_MAX_PUSH, "push constants");

/* Workgroups of blocks (see frame_target.glsl), and bits of the kernel's MODE. */
enum { BLOCK_X = 32, BLOCK_Y = 4, MODE_PACKED = 8, MODE_OVER = 16 };
static const char SHADER[] = "frame_from_tensor";

static void fill_push(const struct tdl_frame *frame, struct tdl_dims dims,
                      const struct tdl_frame_from_tensor_params *params,
                      struct tdl_frame_from_tensor_push *push)
{
    tdl_color_from_rgb(frame, push->matrix);
    push->source_size = TDL_PACK_SIZE(frame->width, frame->height);
    push->tensor_width = dims.w;
    push->crop_origin = TDL_PACK_SIZE(params->crop.x, params->crop.y);
    push->crop_size = TDL_PACK_SIZE(params->crop.width, params->crop.height);
    memcpy(push->scale, params->scale, sizeof(push->scale));
    memcpy(push->bias, params->bias, sizeof(push->bias));
    push->opacity = params->opacity;
}

/* Constants that the kernel is specialised with. */
static struct tdl_frame_spec make_spec(const struct tdl_context *ctx, struct tdl_tensor *tensor,
                                       const struct tdl_frame *frame,
                                       const struct tdl_frame_from_tensor_params *params)
{
    const bool packed = tensor->params.packing == TDL_PACKING_C4;
    const uint32_t channels = tdl_tensor_params_dims(&tensor->params).c;
    struct tdl_frame_spec spec =
        tdl_frame_from_tensor_spec(.source = tdl_format_traits(frame->format),
                                   .source_aligned =
                                       !params->source || tdl_frame_is_aligned(params->source),
                                   .target = tdl_format_traits(frame->format), .rematrix = false,
                                   .mode = channels | (packed ? MODE_PACKED : 0) |
                                           (params->source ? MODE_OVER : 0),
                                   .few = tdl_frame_wants_few(ctx));
    tdl_frame_set_group(&spec, BLOCK_X, BLOCK_Y);
    return spec;
}

enum tdl_result tdl_vk_frame_from_tensor_prepare(struct tdl_tensor *tensor,
                                                 const struct tdl_frame *frame,
                                                 const struct tdl_frame_from_tensor_params *params,
                                                 const struct tdl_compile_params *compile)
{
    struct tdl_context *ctx = tensor->buffer->ctx;
    const struct tdl_pipeline *made = NULL;
    const struct tdl_frame_spec spec = make_spec(ctx, tensor, frame, params);
    const struct tdl_kernel kernel = {
        .shader = SHADER, .spec = spec.group, .spec_count = TDL_FRAME_SPEC_COUNT};
    enum tdl_result r = tdl_compile_kernels(ctx, &kernel, 1, tensor->buffer, compile, &made);
    tdl_pipelines_let_go(ctx, &made, 1, true);
    return r;
}

enum tdl_result tdl_vk_frame_from_tensor(struct tdl_batch *batch, struct tdl_tensor *tensor,
                                         const struct tdl_frame *frame,
                                         const struct tdl_frame_from_tensor_params *params)
{
    struct tdl_context *ctx = tdl_batch_context(batch);
    const struct tdl_frame_spec spec = make_spec(ctx, tensor, frame, params);
    const uint32_t wide = 4 * tdl_format_blocks(frame->format, tdl_frame_wants_few(ctx));
    const struct tdl_pipeline *pipeline;
    struct tdl_bind binds[7] = {{0}};
    struct tdl_frame_from_tensor_push push = {0};
    enum tdl_result r;

    fill_push(frame, tdl_tensor_params_dims(&tensor->params), params, &push);
    binds[6] = (struct tdl_bind){.buffer = tensor->buffer, .size = tensor->size, .read = true};
    /* Bindings that are not read still need a buffer. */
    for (int i = 0; i < 3; i++)
        binds[i] = binds[6];
    if (params->source)
        tdl_frame_bind(params->source, false, binds, push.source);
    tdl_frame_bind(frame, true, binds + 3, push.target);
    TRY(tdl_pipeline_get(ctx, SHADER, spec.group, TDL_FRAME_SPEC_COUNT, &pipeline));
    TRY(tdl_batch_dispatch(batch, pipeline, binds, TDL_COUNT(binds), &push, sizeof(push),
                           TDL_DIV_UP(TDL_DIV_UP(frame->width, wide), BLOCK_X),
                           TDL_DIV_UP(TDL_DIV_UP(frame->height, 2), BLOCK_Y), 1));
fail:
    return r;
}
