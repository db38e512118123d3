/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ONNX's RoiAlign (Operators.md, RoiAlign): a grid of points in each region, of which each
 * lies between four pixels, and the mean or the maximum of those of a cell. Where the number of
 * points follows from a region's size, the mean is a sum of rows and of columns. CropAndResize of
 * ONNX Runtime's own domain has cells of one point each, the outer ones on the region's edges,
 * which are parts of the picture.
 */
#include "onnx.h"

#define MOST_POINTS 256 /* along a region */

typedef struct tdl_operand *O;

struct grid {
    struct onnx_import *im;
    uint32_t regions, cells[2], ratio; /* height, width; points of a cell along each */
    float scale, offset;
    bool least_one, maximum, crops;
};

static bool read_grid(struct onnx_import *im, struct grid *g)
{
    const bool half = im->opset >= 16 &&
                      !onnx_string_is(im, "coordinate_transformation_mode", "output_half_pixel");
    const int64_t h = onnx_int(im, "output_height", 1), w = onnx_int(im, "output_width", 1);
    const int64_t ratio = onnx_int(im, "sampling_ratio", 0);

    if (h < 1 || w < 1 || ratio < 0 || h > MOST_POINTS / (ratio ? ratio : 1) ||
        w > MOST_POINTS / (ratio ? ratio : 1))
        return tdl_kit_damaged(&im->kit, "%lld by %lld cells of %lld points", (long long)h,
                               (long long)w, (long long)ratio);
    *g = (struct grid){
        .im = im,
        .cells = {(uint32_t)h, (uint32_t)w},
        .ratio = (uint32_t)ratio,
        .scale = onnx_float(im, "spatial_scale", 1),
        .offset = half ? -0.5f : 0,
        .least_one = !half,
        .maximum = onnx_string_is(im, "mode", "max"),
    };
    return true;
}

static bool read_crops(struct onnx_import *im, struct grid *g)
{
    struct tdl_pb mode;
    int64_t size[2];
    uint32_t count;

    if (!onnx_ints(im, 3, size, 2, &count))
        return false;
    if (count != 2 || size[0] < 1 || size[1] < 1 || size[0] > MOST_POINTS || size[1] > MOST_POINTS)
        return tdl_kit_damaged(&im->kit, "crops of another size than 1 to %d pixels", MOST_POINTS);
    if ((onnx_string(im, "mode", &mode) && !tdl_pb_is(&mode, "bilinear")) ||
        onnx_float(im, "extrapolation_value", 0) != 0)
        return tdl_kit_lacks(&im->kit, "nearest pixels, or others than 0 outside");
    *g = (struct grid){.im = im,
                       .cells = {(uint32_t)size[0], (uint32_t)size[1]},
                       .ratio = 1,
                       .scale = 1,
                       .crops = true};
    return true;
}

/* Column `i` of the regions, [regions, 1], on the picture's grid. */
static O edge(const struct grid *g, O rois, uint32_t i)
{
    const struct tdl_slice_params p = {.start = {0, i}, .size = {g->regions, 1}};
    struct tdl_builder *b = g->im->builder;

    return tdl_builder_linear(b, tdl_builder_slice(b, rois, &p), g->scale, g->offset);
}

/* The places of the points along an axis (0: y), [regions, points]. */
static O points(const struct grid *g, O rois, uint32_t axis)
{
    struct tdl_builder *b = g->im->builder;
    const uint32_t count = g->cells[axis] * g->ratio;
    static const float one = 1;
    O from = edge(g, rois, 1 - axis), size = tdl_builder_sub(b, edge(g, rois, 3 - axis), from);
    O at = onnx_sequence(g->im, TDL_FLOAT32, count, 0.5 / count, 1.0 / count);

    if (g->least_one)
        size = tdl_builder_clamp(b, size, &one, NULL);
    at = at ? tdl_builder_reshape(b, at, 2, (const uint32_t[]){1, count}) : NULL;
    return tdl_builder_add(b, from, tdl_builder_mul(b, size, at));
}

/* The same of crops, of which the pixels' number along that axis is known. */
static O crop_points(const struct grid *g, O rois, uint32_t axis, uint32_t size)
{
    struct tdl_builder *b = g->im->builder;
    const uint32_t count = g->cells[axis];
    O from = edge(g, rois, axis), step = tdl_builder_sub(b, edge(g, rois, axis + 2), from);
    O at = onnx_sequence(g->im, TDL_FLOAT32, count, count > 1 ? 0 : 0.5,
                         count > 1 ? 1.0 / (count - 1) : 0);

    at = at ? tdl_builder_reshape(b, at, 2, (const uint32_t[]){1, count}) : NULL;
    at = tdl_builder_add(b, from, tdl_builder_mul(b, step, at));
    return tdl_builder_linear(b, at, (float)(size - 1), 0);
}

/* Two neighbours of each point along an axis, as int32, and how much they count. */
struct neighbours {
    O at[2], weight[2];
};

static struct neighbours neighbours(const struct grid *g, O at, uint32_t size)
{
    struct tdl_builder *b = g->im->builder;
    const float zero = 0, last = (float)size - 1;
    const float low = g->crops ? 0 : -1, high = g->crops ? last : (float)size;
    struct neighbours n;
    /* Points farther than a pixel outside count nothing; of crops all outside. */
    O near = tdl_builder_cast(b, tdl_builder_equal(b, at, tdl_builder_clamp(b, at, &low, &high)),
                              TDL_FLOAT32);
    at = tdl_builder_clamp(b, at, &zero, &last);
    O floor = tdl_builder_floor(b, at), rest = tdl_builder_sub(b, at, floor);
    O next = tdl_builder_clamp(b, tdl_builder_linear(b, floor, 1, 1), &zero, &last);
    n.at[0] = tdl_builder_cast(b, floor, TDL_INT32);
    n.at[1] = tdl_builder_cast(b, next, TDL_INT32);
    n.weight[0] = tdl_builder_mul(b, near, tdl_builder_linear(b, rest, -1, 1));
    n.weight[1] = tdl_builder_mul(b, near, rest);
    return n;
}

/* [regions, points of y, points of x] of what is by y and by x. */
static void cross(const struct grid *g, O *y, O *x)
{
    struct tdl_builder *b = g->im->builder;
    const uint32_t h = g->cells[0] * g->ratio, w = g->cells[1] * g->ratio;

    *y = tdl_builder_reshape(b, *y, 3, (const uint32_t[]){g->regions, h, 1});
    *x = tdl_builder_reshape(b, *x, 3, (const uint32_t[]){g->regions, 1, w});
}

/* One corner of all points, by its weight: [regions, points, channels]. */
static O corner(const struct grid *g, O rows, O first, uint32_t width, O y, O x, O weight_y,
                O weight_x)
{
    struct tdl_builder *b = g->im->builder;
    const uint32_t count = g->cells[0] * g->ratio * g->cells[1] * g->ratio;
    O place, weight;

    cross(g, &y, &x);
    cross(g, &weight_y, &weight_x);
    place = tdl_builder_mul(b, y, tdl_kit_number(&g->im->kit, TDL_INT32, width));
    place = tdl_builder_add(b, tdl_builder_add(b, place, x), first);
    place = tdl_builder_reshape(b, place, 2, (const uint32_t[]){g->regions, count});
    weight = tdl_builder_mul(b, weight_y, weight_x);
    weight = tdl_builder_reshape(b, weight, 3, (const uint32_t[]){g->regions, count, 1});
    return tdl_builder_mul(b, tdl_builder_gather(b, rows, place, 0), weight);
}

/* Points of cells to cells, [regions, channels, height, width]. */
static O gather_cells(const struct grid *g, O x, uint32_t channels)
{
    struct tdl_builder *b = g->im->builder;
    const struct tdl_reduce_params p = {.axes = {2, 4}, .axis_count = 2};
    const uint32_t split[] = {g->regions, g->cells[0], g->ratio, g->cells[1], g->ratio, channels};

    x = tdl_builder_reduce(b, tdl_builder_reshape(b, x, 6, split),
                           g->maximum ? TDL_REDUCE_MAX : TDL_REDUCE_MEAN, &p);
    return tdl_builder_transpose(b, x, (const uint32_t[]){0, 3, 1, 2});
}

/* ------------------------------------------------- as many points as there are pixels */

/* Points along a region's axis: a pixel or less apart. */
struct spread {
    O from, bin, count; /* [regions, 1, 1]; a cell's size, and points of it */
    uint32_t most;      /* points of a cell, for regions up to twice as large as the picture */
};

static struct spread read_spread(const struct grid *g, O rois, uint32_t axis, uint32_t size)
{
    static const float one = 1;
    const uint32_t shape[] = {g->regions, 1, 1}, cells = g->cells[axis];
    struct spread s = {.most = 2 * ((size + cells - 1) / cells) + 1};
    struct tdl_builder *b = g->im->builder;
    const float zero = 0, most = (float)s.most;
    O from = edge(g, rois, 1 - axis), length = tdl_builder_sub(b, edge(g, rois, 3 - axis), from);

    if (g->least_one)
        length = tdl_builder_clamp(b, length, &one, NULL);
    s.from = onnx_reshape(g->im, from, 3, shape);
    s.bin = onnx_reshape(g->im, tdl_builder_linear(b, length, 1.0f / (float)cells, 0), 3, shape);
    s.count = s.bin ? tdl_builder_clamp(b, tdl_builder_ceil(b, s.bin), &zero, &most) : NULL;
    return s;
}

/* 0, 1, … along one of three dimensions. */
static O steps(const struct grid *g, uint32_t count, uint32_t axis)
{
    uint32_t shape[] = {1, 1, 1};

    shape[axis] = count;
    return onnx_reshape(g->im, onnx_sequence(g->im, TDL_FLOAT32, count, 0, 1), 3, shape);
}

/* How much each of the picture's rows counts in each cell of a region, or each column:
 * [regions, cells, size]. */
static O shares(const struct grid *g, O rois, uint32_t axis, uint32_t size)
{
    static const struct tdl_scatter_params add = {.reduction = TDL_SCATTER_ADD};
    static const float one = 1;
    const struct spread s = read_spread(g, rois, axis, size);
    const uint32_t cells = g->cells[axis], shape[] = {g->regions, cells, size};
    struct tdl_builder *b = g->im->builder;
    O cell = steps(g, cells, 1), point = steps(g, s.most, 2), at, each;
    O all = tdl_builder_expand(b, tdl_kit_number(&g->im->kit, TDL_FLOAT32, 0), 3, shape);
    struct neighbours n;

    if (!cell || !point || !s.count || !all)
        return NULL;
    each = tdl_builder_clamp(b, s.count, &one, NULL);
    at = tdl_builder_div(b, tdl_builder_linear(b, point, 1, 0.5f), each);
    at = tdl_builder_add(b, s.from, tdl_builder_mul(b, s.bin, tdl_builder_add(b, cell, at)));
    n = neighbours(g, at, size);
    each = tdl_builder_div(
        b, tdl_builder_cast(b, tdl_builder_lesser(b, point, s.count), TDL_FLOAT32), each);
    for (uint32_t i = 0; i < 2; i++)
        all = tdl_builder_scatter_elements(b, all, n.at[i], tdl_builder_mul(b, n.weight[i], each),
                                           2, &add);
    return all;
}

/* Means of cells by rows, then by columns. */
static bool give_means(struct onnx_import *im, const struct grid *g, O x, O rois, O images)
{
    struct tdl_builder *b = im->builder;
    const uint32_t *s = tdl_kit_shape(x), channels = s[1], height = s[2], width = s[3];
    const uint32_t rows[] = {s[0], height, width * channels};
    const uint32_t halves[] = {g->regions, g->cells[0], width, channels};
    const uint32_t one_row[] = {g->regions, 1, g->cells[1], width};
    O by_y = shares(g, rois, 0, height), by_x = by_y ? shares(g, rois, 1, width) : NULL;

    if (!by_x)
        return false;
    x = tdl_builder_transpose(b, x, (const uint32_t[]){0, 2, 3, 1});
    x = onnx_reshape(im, x, 3, rows);
    if (rows[0] > 1)
        x = x ? tdl_builder_gather(b, x, images, 0) : NULL;
    x = onnx_reshape(im, x ? tdl_builder_matmul(b, by_y, x) : NULL, 4, halves);
    x = x ? tdl_builder_matmul(b, onnx_reshape(im, by_x, 4, one_row), x) : NULL;
    return x && onnx_give(im, tdl_builder_transpose(b, x, (const uint32_t[]){0, 3, 1, 2}));
}

/* --------------------------------------------------------------------- operators */

static bool give_regions(struct onnx_import *im, bool (*read)(struct onnx_import *, struct grid *))
{
    O x = onnx_operand(im, 0), rois = x ? onnx_operand(im, 1) : NULL, sum = NULL;
    O images = rois ? onnx_operand(im, 2) : NULL;
    struct tdl_builder *b = im->builder;
    struct neighbours n[2];
    struct grid g = {0};

    if (!images || !read(im, &g))
        return false;
    if (tdl_kit_rank(x) != 4 || tdl_kit_rank(rois) != 2 || tdl_kit_shape(rois)[1] != 4 ||
        tdl_kit_rank(images) != 1 || tdl_kit_shape(images)[0] != tdl_kit_shape(rois)[0])
        return tdl_kit_damaged(&im->kit,
                               "regions are [regions, 4], and each has the number of its image");
    const uint32_t *s = tdl_kit_shape(x), channels = s[1], h = s[2], w = s[3];
    g.regions = tdl_kit_shape(rois)[0];
    if ((uint64_t)s[0] * h * w > INT32_MAX)
        return tdl_kit_lacks(&im->kit, "pictures of more than 2^31 pixels");
    if (!g.ratio && g.maximum)
        return tdl_kit_refuse(&im->kit, "the maximum of a number of points that depends on the "
                                        "regions; export the model with a sampling_ratio");
    if (!g.ratio)
        return give_means(im, &g, x, rois, images);
    for (uint32_t i = 0; i < 2; i++)
        n[i] = neighbours(&g, g.crops ? crop_points(&g, rois, i, s[2 + i]) : points(&g, rois, i),
                          s[2 + i]);
    O first = tdl_builder_mul(b, tdl_builder_cast(b, images, TDL_INT32),
                              tdl_kit_number(&im->kit, TDL_INT32, h * w));
    first = tdl_builder_reshape(b, first, 3, (const uint32_t[]){g.regions, 1, 1});
    x = tdl_builder_transpose(b, x, (const uint32_t[]){0, 2, 3, 1});
    x = tdl_builder_reshape(b, x, 2, (const uint32_t[]){s[0] * h * w, channels});
    for (uint32_t i = 0; i < 4; i++) {
        O one = corner(&g, x, first, w, n[0].at[i / 2], n[1].at[i % 2], n[0].weight[i / 2],
                       n[1].weight[i % 2]);
        sum = i == 0 ? one : (g.maximum ? tdl_builder_max : tdl_builder_add)(b, sum, one);
    }
    return onnx_give(im, gather_cells(&g, sum, channels));
}

bool onnx_add_roi_align(struct onnx_import *im)
{
    return give_regions(im, read_grid);
}

bool onnx_add_crop_and_resize(struct onnx_import *im)
{
    return give_regions(im, read_crops);
}
