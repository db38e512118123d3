/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bind.h"

#include "frame/color.h"
#include "vulkan/graph/compile.h"
#include "vulkan/tensor.h"

#include <assert.h>

/* The push constants of shaders/frame/to_tensor.comp. */
struct push {
    float to_rgb[3][4];
    uint32_t source[4];
    uint32_t source_size, crop_origin, crop_size, tensor_size;
    float scale[3], bias[3];
};
static_assert(sizeof(struct push) == 104 && sizeof(struct push) <= TDL_MAX_PUSH, "shader's layout");

/* Workgroups of 16×8 pixels: neighbours share source words. */
enum { GROUP_X = 16, GROUP_Y = 8 };

static enum tdl_result check_tensor(const struct tdl_context *ctx, const struct tdl_tensor *tensor)
{
    const struct tdl_tensor_params *p = &tensor->params;
    const struct tdl_dims dims = tdl_tensor_params_dims(p);
    char text[64];
    bool f32 = p->dtype == TDL_FLOAT32 &&
               (p->layout == TDL_LAYOUT_NHWC || p->layout == TDL_LAYOUT_NC4HW4);
    bool f16 = p->dtype == TDL_FLOAT16 && p->layout == TDL_LAYOUT_NC4HW4;
    if (tensor->buffer->ctx != ctx)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "the tensor belongs to another context");
    if (p->rank != 4 || dims.n != 1 || dims.c != 3 || dims.w > UINT16_MAX || dims.h > UINT16_MAX ||
        !(f32 || f16))
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "tensor %s: a frame goes to [1,H,W,3] float32 in NHWC or NC4HW4, or "
                        "float16 in NC4HW4",
                        tdl_tensor_params_text(p, text, sizeof(text)));
    return TDL_OK;
}

static enum tdl_result fill_push(const struct tdl_frame *frame, struct tdl_dims dims,
                                 const struct tdl_frame_to_tensor_params *params,
                                 struct push *push)
{
    uint32_t x = params->crop.x, y = params->crop.y;
    uint32_t width = params->crop.width, height = params->crop.height;
    bool scaled = params->scale[0] != 0 || params->scale[1] != 0 || params->scale[2] != 0;
    if (!x && !y && !width && !height) {
        width = frame->width;
        height = frame->height;
    }
    if (!width || !height || x >= frame->width || y >= frame->height ||
        width > frame->width - x || height > frame->height - y)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "crop %u,%u %u×%u px does not lie in the frame of %u×%u px", x, y, width,
                        height, frame->width, frame->height);
    push->source_size = TDL_PACK_SIZE(frame->width, frame->height);
    push->crop_origin = TDL_PACK_SIZE(x, y);
    push->crop_size = TDL_PACK_SIZE(width, height);
    push->tensor_size = TDL_PACK_SIZE(dims.w, dims.h);
    for (int i = 0; i < 3; i++) {
        push->scale[i] = scaled ? params->scale[i] : 1;
        push->bias[i] = params->bias[i];
    }
    tdl_color_to_rgb(frame, push->to_rgb);
    return TDL_OK;
}

/* What the kernel depends on. */
static struct tdl_frame_spec make_spec(const struct tdl_context *ctx, const struct tdl_frame *frame,
                                       const struct tdl_tensor *tensor)
{
    return (struct tdl_frame_spec){
        .group = {GROUP_X, GROUP_Y, 1},
        .source = tdl_format_traits(frame->format),
        .source_aligned = tdl_frame_is_aligned(frame),
        .mode = tensor->params.layout == TDL_LAYOUT_NC4HW4,
        .few = tdl_frame_wants_few(ctx),
    };
}

static const char *choose_shader(const struct tdl_tensor *tensor)
{
    return tensor->params.dtype == TDL_FLOAT16 ? "frame_to_tensor_f16" : "frame_to_tensor_f32";
}

enum tdl_result tdl_frame_to_tensor_prepare(const struct tdl_frame *frame,
                                            struct tdl_tensor *tensor,
                                            const struct tdl_compile_params *compile)
{
    struct tdl_context *ctx = tensor->buffer->ctx;
    const struct tdl_pipeline *ignored;
    enum tdl_result r;
    if (!tdl_format_info(frame->format))
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT, "the frame has no format");
    TRY(check_tensor(ctx, tensor));
    const struct tdl_frame_spec spec = make_spec(ctx, frame, tensor);
    const struct tdl_kernel kernel = {.shader = choose_shader(tensor),
                                      .spec = spec.group,
                                      .spec_count = TDL_FRAME_SPEC_COUNT};
    TRY(tdl_compile_kernels(ctx, &kernel, 1, tensor->buffer, compile, &ignored));
fail:
    return r;
}

enum tdl_result tdl_frame_to_tensor(struct tdl_batch *batch, const struct tdl_frame *frame,
                                    struct tdl_tensor *tensor,
                                    const struct tdl_frame_to_tensor_params *params)
{
    static const struct tdl_frame_to_tensor_params defaults = {0};
    struct tdl_context *ctx = tdl_batch_context(batch);
    const struct tdl_dims dims = tdl_tensor_params_dims(&tensor->params);
    const struct tdl_pipeline *pipeline;
    struct tdl_bind binds[4] = {{0}};
    struct push push;
    enum tdl_result r;

    TRY(tdl_frame_check(ctx, frame, false, "source"));
    TRY(check_tensor(ctx, tensor));
    TRY(fill_push(frame, dims, params ? params : &defaults, &push));
    tdl_frame_bind(frame, false, binds, push.source);
    binds[3] = (struct tdl_bind){.buffer = tensor->buffer, .size = tensor->size, .write = true};
    const struct tdl_frame_spec spec = make_spec(ctx, frame, tensor);
    TRY(tdl_pipeline_get(ctx, choose_shader(tensor), spec.group, TDL_FRAME_SPEC_COUNT, &pipeline));
    TRY(tdl_batch_dispatch(batch, pipeline, binds, TDL_COUNT(binds), &push, sizeof(push),
                           TDL_DIV_UP(dims.w, GROUP_X << spec.few), TDL_DIV_UP(dims.h, GROUP_Y << spec.few),
                           1));
fail:
    return r;
}
