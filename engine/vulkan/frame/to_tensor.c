/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bind.h"

#include "core/tensor.h"
#include "frame/color.h"
#include "vulkan/graph/compile.h"
#include "vulkan/table.h"

#include <assert.h>

static_assert(sizeof(struct tdl_frame_to_tensor_push) <= TDL_MAX_PUSH, "push constants");

/* Workgroups of 16×8 pixels: neighbours share source words. */
enum { GROUP_X = 16, GROUP_Y = 8 };

static void fill_push(const struct tdl_frame *frame, struct tdl_dims dims,
                      const struct tdl_frame_to_tensor_params *params,
                      struct tdl_frame_to_tensor_push *push)
{
    bool scaled = params->scale[0] != 0 || params->scale[1] != 0 || params->scale[2] != 0;
    push->source_size = TDL_PACK_SIZE(frame->width, frame->height);
    push->crop_origin = TDL_PACK_SIZE(params->crop.x, params->crop.y);
    push->crop_size = TDL_PACK_SIZE(params->crop.width, params->crop.height);
    push->tensor_size = TDL_PACK_SIZE(dims.w, dims.h);
    push->inside_origin = TDL_PACK_SIZE(params->inside.x, params->inside.y);
    push->inside_size = TDL_PACK_SIZE(params->inside.width, params->inside.height);
    push->pad = params->pad;
    push->bilinear = params->filter == TDL_FILTER_BILINEAR;
    for (int i = 0; i < 3; i++) {
        push->scale[i] = scaled ? params->scale[i] : 1;
        push->bias[i] = params->bias[i];
    }
    tdl_color_to_channels(frame, params->bgr, push->to_rgb);
}

/* Constants that the kernel is specialised with. */
static struct tdl_frame_spec make_spec(const struct tdl_context *ctx, const struct tdl_frame *frame,
                                       const struct tdl_tensor *tensor)
{
    struct tdl_frame_spec spec =
        tdl_frame_to_tensor_spec(.source = tdl_format_traits(frame->format),
                                 .source_aligned = tdl_frame_is_aligned(frame),
                                 .packed4 = tensor->params.packing == TDL_PACKING_C4,
                                 .few = tdl_frame_wants_few(ctx));
    tdl_frame_set_group(&spec, GROUP_X, GROUP_Y);
    return spec;
}

static const char *choose_shader(const struct tdl_tensor *tensor)
{
    return tensor->params.dtype == TDL_FLOAT16 ? "frame_to_tensor_f16" : "frame_to_tensor_f32";
}

enum tdl_result tdl_vk_frame_to_tensor_prepare(const struct tdl_frame *frame,
                                               struct tdl_tensor *tensor,
                                               const struct tdl_compile_params *compile)
{
    struct tdl_context *ctx = tensor->buffer->ctx;
    const struct tdl_pipeline *made = NULL;
    const struct tdl_frame_spec spec = make_spec(ctx, frame, tensor);
    const struct tdl_kernel kernel = {
        .shader = choose_shader(tensor), .spec = spec.group, .spec_count = TDL_FRAME_SPEC_COUNT};
    enum tdl_result r = tdl_compile_kernels(ctx, &kernel, 1, tensor->buffer, compile, &made);
    tdl_pipelines_let_go(ctx, &made, 1, true);
    return r;
}

enum tdl_result tdl_vk_frame_to_tensor(struct tdl_batch *batch, const struct tdl_frame *frame,
                                       struct tdl_tensor *tensor,
                                       const struct tdl_frame_to_tensor_params *params)
{
    struct tdl_context *ctx = tdl_batch_context(batch);
    const struct tdl_dims dims = tdl_tensor_params_dims(&tensor->params);
    const struct tdl_pipeline *pipeline;
    struct tdl_bind binds[4] = {{0}};
    struct tdl_frame_to_tensor_push push;
    enum tdl_result r;

    fill_push(frame, dims, params, &push);
    tdl_frame_bind(frame, false, binds, push.source);
    binds[3] = (struct tdl_bind){.buffer = tensor->buffer, .size = tensor->size, .write = true};
    const struct tdl_frame_spec spec = make_spec(ctx, frame, tensor);
    const bool few = tdl_frame_wants_few(ctx);
    TRY(tdl_pipeline_get(ctx, choose_shader(tensor), spec.group, TDL_FRAME_SPEC_COUNT, &pipeline));
    TRY(tdl_batch_dispatch(batch, pipeline, binds, TDL_COUNT(binds), &push, sizeof(push),
                           TDL_DIV_UP(dims.w, GROUP_X << few), TDL_DIV_UP(dims.h, GROUP_Y << few),
                           1));
fail:
    return r;
}
