/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "setup.h"

#include "core/tensor.h"
#include "frame/color.h"

#include <string.h>

/* Pairs of rows of the target that are worth a thread. */
enum { PAIRS_AT_LEAST = 8 };

enum tdl_result tdl_cpu_frame_from_tensor_prepare(struct tdl_tensor *tensor,
                                                  const struct tdl_frame *frame,
                                                  const struct tdl_frame_from_tensor_params *params,
                                                  const struct tdl_compile_params *compile)
{
    (void)params;
    return tdl_cpu_frame_to_tensor_prepare(frame, tensor, compile);
}

static enum tdl_result run(struct tdl_cpu_work *work, struct tdl_cpu_threads *threads)
{
    const struct tdl_cpu_from_tensor *f = (const struct tdl_cpu_from_tensor *)work;
    tdl_cpu_parallel(threads, tdl_cpu_frame_kernels(NULL)->from_tensor, work,
                     TDL_DIV_UP((size_t)f->front.target.height, 2), PAIRS_AT_LEAST);
    return TDL_OK;
}

/* To the target from RGB of its size, of which the kernel fills in the rows. */
static struct tdl_cpu_blocks front_of(const struct tdl_frame *frame)
{
    struct tdl_frame rgb = {
        .format = TDL_FORMAT_RGB, .width = frame->width, .height = frame->height};
    struct tdl_cpu_blocks b = {.source = tdl_cpu_picture(&rgb), .target = tdl_cpu_picture(frame)};
    tdl_color_from_rgb(frame, b.matrix);
    return b;
}

/* From a source to a target of the same coding. */
static struct tdl_cpu_blocks behind_of(const struct tdl_frame *source,
                                       const struct tdl_frame *target)
{
    return (struct tdl_cpu_blocks){
        .source = tdl_cpu_picture(source), .target = tdl_cpu_picture(target), .same = true};
}

enum tdl_result tdl_cpu_frame_from_tensor(struct tdl_batch *batch, struct tdl_tensor *tensor,
                                          const struct tdl_frame *frame,
                                          const struct tdl_frame_from_tensor_params *params)
{
    const struct tdl_dims dims = tdl_tensor_params_dims(&tensor->params);
    struct tdl_cpu_from_tensor *f;
    enum tdl_result r;
    if (params->source)
        TRY(tdl_cpu_use_frame(batch, params->source, false));
    TRY(tdl_cpu_batch_use(batch, tensor->buffer, false));
    TRY(tdl_cpu_use_frame(batch, frame, true));
    f = tdl_cpu_frame_add(batch, sizeof(*f), 0, NULL, run);
    if (!f)
        return TDL_ERROR_OUT_OF_MEMORY;
    f->front = front_of(frame);
    f->over = params->source != NULL;
    if (params->source)
        f->behind = behind_of(params->source, frame);
    f->channels = (int32_t)dims.c;
    f->step = tensor->params.packing == TDL_PACKING_C4 ? 4 : f->channels;
    f->tensor_width = dims.w;
    f->width = (int32_t)params->crop.width;
    f->height = (int32_t)params->crop.height;
    f->tensor = (const float *)(void *)tdl_cpu_memory(tensor->buffer) +
                ((size_t)params->crop.y * dims.w + params->crop.x) * (size_t)f->step;
    memcpy(f->scale, params->scale, sizeof(params->scale));
    memcpy(f->bias, params->bias, sizeof(params->bias));
    f->scale[3] = 1;
    f->bias[3] = 0;
    f->opacity = params->opacity;
fail:
    return r;
}
