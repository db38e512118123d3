/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ONNX's GridSample over pictures (Operators.md, GridSample): the engine's gridSample; and
 * AffineGrid, which makes its grids.
 */
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
    if (tdl_kit_rank(x) == 5)
        return onnx_sample_volume(im, x, grid, &p);
    if (tdl_kit_rank(x) != 4 || tdl_kit_rank(grid) != 4)
        return tdl_kit_lacks(&im->kit, "%u dimensions; libtdl samples pictures and volumes",
                             tdl_kit_rank(x));
    if (tdl_kit_shape(grid)[0] != tdl_kit_shape(x)[0] || tdl_kit_shape(grid)[3] != 2)
        return tdl_kit_damaged(&im->kit, "a grid that does not fit the picture");
    return onnx_give(im, tdl_builder_grid_sample(im->builder, x, grid, &p));
}

/* Places of `count` pixels along an axis, from -1 to 1. */
static struct tdl_operand *axis_places(struct onnx_import *im, uint32_t count)
{
    if (onnx_int(im, "align_corners", 0))
        return onnx_sequence(im, TDL_FLOAT32, count, count > 1 ? -1 : 0,
                             count > 1 ? 2.0 / (count - 1) : 0);
    return onnx_sequence(im, TDL_FLOAT32, count, 1.0 / count - 1, 2.0 / count);
}

/* [pixels, axes + 1]: x, y and so on, and 1. */
static struct tdl_operand *plain_grid(struct onnx_import *im, const uint32_t *sizes, uint32_t axes)
{
    const uint64_t pixels = (uint64_t)sizes[0] * sizes[1] * (axes == 3 ? sizes[2] : 1);
    struct tdl_operand *columns[4];

    if (pixels > INT32_MAX)
        return tdl_kit_lacks_none(&im->kit, "a grid of more than 2^31 places");
    for (uint32_t i = 0; i <= axes; i++) {
        uint32_t shape[] = {1, 1, 1};
        struct tdl_operand *places = i < axes ? axis_places(im, sizes[axes - 1 - i])
                                              : tdl_kit_number(&im->kit, TDL_FLOAT32, 1);

        if (i < axes)
            shape[axes - 1 - i] = sizes[axes - 1 - i];
        places = onnx_reshape(im, places, axes, shape);
        places = places ? tdl_builder_expand(im->builder, places, axes, sizes) : NULL;
        columns[i] = onnx_reshape(im, places, 2, (const uint32_t[]){(uint32_t)pixels, 1});
        if (!columns[i])
            return NULL;
    }
    return tdl_builder_concat(im->builder, columns, axes + 1, 1);
}

bool onnx_add_affine_grid(struct onnx_import *im)
{
    struct tdl_operand *theta = onnx_operand(im, 0), *grid;
    int64_t size[5];
    uint32_t count, shape[5];

    if (!theta || !onnx_ints(im, 1, size, 5, &count))
        return false;
    const uint32_t axes = count - 2, *s = tdl_kit_shape(theta);
    if (count < 4 || tdl_kit_rank(theta) != 3 || s[0] != size[0] || s[1] != axes ||
        s[2] != axes + 1)
        return tdl_kit_damaged(&im->kit, "matrices that do not fit a size of %u numbers", count);
    shape[0] = s[0];
    for (uint32_t i = 0; i < axes; i++) {
        if (size[2 + i] < 1 || size[2 + i] > INT32_MAX)
            return tdl_kit_damaged(&im->kit, "a size of %lld", (long long)size[2 + i]);
        shape[1 + i] = (uint32_t)size[2 + i];
    }
    shape[1 + axes] = axes;
    grid = plain_grid(im, shape + 1, axes);
    theta = tdl_builder_transpose(im->builder, theta, (const uint32_t[]){0, 2, 1});
    grid = grid ? tdl_builder_matmul(im->builder, grid, theta) : NULL;
    return onnx_give(im, onnx_reshape(im, grid, 2 + axes, shape));
}
