/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "setup.h"

#include "core/tensor.h"
#include "frame/color.h"

enum tdl_result tdl_cpu_frame_to_tensor_prepare(const struct tdl_frame *frame,
                                                struct tdl_tensor *tensor,
                                                const struct tdl_compile_params *compile)
{
    (void)frame, (void)tensor;
    if (compile && compile->progress && !compile->progress(compile->progress_data, 0, 0))
        return tdl_fail(TDL_ERROR_CANCELED, "preparing frames was cancelled");
    return TDL_OK;
}

static enum tdl_result run(struct tdl_cpu_work *work, struct tdl_cpu_threads *threads)
{
    const struct tdl_cpu_to_tensor *t = (const struct tdl_cpu_to_tensor *)work;
    tdl_cpu_parallel(threads, tdl_cpu_frame_kernels(NULL)->to_tensor, work, (size_t)t->bands.bands,
                     1);
    return TDL_OK;
}

static struct tdl_cpu_grid grid_of(const struct tdl_frame_to_tensor_params *params)
{
    const uint32_t origin[2] = {params->crop.x, params->crop.y};
    const uint32_t size[2] = {params->crop.width, params->crop.height};
    struct tdl_cpu_grid g = {.count = {params->inside.width, params->inside.height}};
    for (int i = 0; i < 2; i++) {
        g.step[i] = (double)size[i] / g.count[i];
        g.support[i] = params->filter == TDL_FILTER_BILINEAR ? 1 : g.step[i];
        g.centre[i] = origin[i] + 0.5 * g.step[i];
        g.low[i] = (int32_t)origin[i];
        g.high[i] = (int32_t)(origin[i] + size[i]) - 1;
    }
    return g;
}

enum tdl_result tdl_cpu_frame_to_tensor(struct tdl_batch *batch, const struct tdl_frame *frame,
                                        struct tdl_tensor *tensor,
                                        const struct tdl_frame_to_tensor_params *params)
{
    const struct tdl_dims dims = tdl_tensor_params_dims(&tensor->params);
    const struct tdl_cpu_grid grid = grid_of(params);
    const float *s = params->scale;
    const bool scaled = s[0] != 0 || s[1] != 0 || s[2] != 0;
    struct tdl_cpu_filter filter;
    struct tdl_cpu_bands bands = {0};
    struct tdl_cpu_to_tensor *t;
    void *memory;
    enum tdl_result r;
    tdl_cpu_filter_begin(&filter, frame, &grid, true);
    tdl_cpu_bands_begin(&bands, batch, dims.h, 3 * (size_t)dims.w + filter.room);
    TRY(tdl_cpu_use_frame(batch, frame, false));
    TRY(tdl_cpu_batch_use(batch, tensor->buffer, true));
    t = tdl_cpu_frame_add(batch, sizeof(*t),
                          tdl_cpu_filter_bytes(&filter) + tdl_cpu_bands_bytes(&bands), &memory,
                          run);
    if (!t)
        return TDL_ERROR_OUT_OF_MEMORY;
    t->filter = filter;
    t->bands = bands;
    t->bands.room = tdl_cpu_filter_finish(&t->filter, memory);
    tdl_color_to_channels(frame, params->bgr, t->to_rgb);
    for (int c = 0; c < 3; c++) {
        t->scale[c] = scaled ? params->scale[c] : 1;
        t->bias[c] = params->bias[c];
        t->pad[c] = params->pad * t->scale[c] + t->bias[c];
    }
    t->width = (int32_t)dims.w;
    t->left = (int32_t)params->inside.x;
    t->top = (int32_t)params->inside.y;
    t->tensor = tdl_cpu_memory(tensor->buffer);
    t->packed = tensor->params.packing == TDL_PACKING_C4;
    t->half = tensor->params.dtype == TDL_FLOAT16;
fail:
    return r;
}
