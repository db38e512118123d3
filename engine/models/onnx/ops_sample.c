/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ONNX's GridSample over pictures (Operators.md, GridSample): the engine's gridSample. */
#include "onnx.h"

/* The number of the attribute's value among names; `or` where the file leaves it out. */
static uint32_t name_of(struct onnx_import *im, const char *attribute, const char *const *names,
                        uint32_t count, uint32_t or)
{
    uint32_t i = 0;

    if (!onnx_has(im, attribute))
        return or ;
    while (i < count && !onnx_string_is(im, attribute, names[i]))
        i++;
    return i;
}

static bool read_attributes(struct onnx_import *im, struct tdl_grid_sample_params *p)
{
    static const char *const paddings[] = {"zeros", "border", "reflection"};
    static const char *const modes[] = {"nearest", "bilinear", "bicubic", "linear", "cubic"};
    static const enum tdl_grid_mode kinds[] = {TDL_GRID_NEAREST, TDL_GRID_LINEAR, TDL_GRID_CUBIC,
                                               TDL_GRID_LINEAR, TDL_GRID_CUBIC};
    const uint32_t padding = name_of(im, "padding_mode", paddings, 3, 0);
    const uint32_t mode = name_of(im, "mode", modes, 5, 1);

    if (padding == 3 || mode == 5)
        return tdl_kit_lacks(&im->kit, "a mode or padding by an unknown name");
    p->padding = (enum tdl_grid_padding)padding;
    p->mode = kinds[mode];
    p->align_corners = onnx_int(im, "align_corners", 0) != 0;
    return true;
}

bool onnx_add_grid_sample(struct onnx_import *im)
{
    struct tdl_grid_sample_params p = {0};
    struct tdl_operand *x = onnx_operand(im, 0), *grid = x ? onnx_operand(im, 1) : NULL;

    if (!grid || !read_attributes(im, &p))
        return false;
    if (tdl_kit_rank(x) != 4 || tdl_kit_rank(grid) != 4)
        return tdl_kit_lacks(&im->kit, "%u dimensions; libtdl samples pictures", tdl_kit_rank(x));
    if (tdl_kit_shape(grid)[0] != tdl_kit_shape(x)[0] || tdl_kit_shape(grid)[3] != 2)
        return tdl_kit_damaged(&im->kit, "a grid that does not fit the picture");
    return onnx_give(im, tdl_builder_grid_sample(im->builder, x, grid, &p));
}
