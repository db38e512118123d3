/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Formats and layouts, and what is said to wrong frames. The first part needs
 * no device. */
#include "test-frame-common.h"

#include <string.h>

static const struct {
    enum tdl_format format;
    const char *name;
    uint32_t planes, width, height, align;
    uint64_t offset[3];
    uint32_t stride[3];
    size_t size;
} rows[] = {
    {TDL_FORMAT_NV12, "NV12", 2, 1280, 720, 4, {0, 921600}, {1280, 1280}, 1382400},
    {TDL_FORMAT_NV12, "NV12", 2, 3, 5, 4, {0, 20}, {4, 4}, 32},
    {TDL_FORMAT_I420, "I420", 3, 17, 33, 4, {0, 660, 864}, {20, 12, 12}, 1068},
    {TDL_FORMAT_I420, "I420", 3, 17, 33, 64, {0, 2112, 3200}, {64, 64, 64}, 4288},
    {TDL_FORMAT_YUY2, "YUY2", 1, 3, 2, 4, {0}, {8}, 16},
    {TDL_FORMAT_UYVY, "UYVY", 1, 4, 1, 4, {0}, {8}, 8},
    {TDL_FORMAT_P010, "P010", 2, 5, 3, 4, {0, 36}, {12, 12}, 60},
    {TDL_FORMAT_RGBA, "RGBA", 1, 7, 2, 4, {0}, {28}, 56},
    {TDL_FORMAT_BGRA, "BGRA", 1, 7, 2, 32, {0}, {32}, 64},
    {TDL_FORMAT_RGBX, "RGBx", 1, 1, 1, 4, {0}, {4}, 4},
    {TDL_FORMAT_BGRX, "BGRx", 1, 1, 1, 4, {0}, {4}, 4},
    {TDL_FORMAT_RGB, "RGB", 1, 3, 3, 4, {0}, {12}, 36},
    {TDL_FORMAT_BGR, "BGR", 1, 2, 3, 4, {0}, {8}, 24},
    {TDL_FORMAT_GRAY8, "GRAY8", 1, 5, 2, 4, {0}, {8}, 16},
    {TDL_FORMAT_ARGB, "ARGB", 1, 7, 2, 4, {0}, {28}, 56},
    {TDL_FORMAT_ABGR, "ABGR", 1, 7, 2, 4, {0}, {28}, 56},
    {TDL_FORMAT_XRGB, "xRGB", 1, 1, 1, 4, {0}, {4}, 4},
    {TDL_FORMAT_XBGR, "xBGR", 1, 1, 1, 4, {0}, {4}, 4},
    {TDL_FORMAT_NV21, "NV21", 2, 3, 5, 4, {0, 20}, {4, 4}, 32},
    {TDL_FORMAT_NV16, "NV16", 2, 3, 5, 4, {0, 20}, {4, 4}, 40},
    {TDL_FORMAT_YV12, "YV12", 3, 17, 33, 4, {0, 660, 864}, {20, 12, 12}, 1068},
    {TDL_FORMAT_Y42B, "Y42B", 3, 17, 33, 4, {0, 660, 1056}, {20, 12, 12}, 1452},
    {TDL_FORMAT_Y444, "Y444", 3, 17, 33, 4, {0, 660, 1320}, {20, 20, 20}, 1980},
    {TDL_FORMAT_I420_10, "I420_10LE", 3, 5, 3, 4, {0, 36, 52}, {12, 8, 8}, 68},
    {TDL_FORMAT_I422_10, "I422_10LE", 3, 5, 3, 4, {0, 36, 60}, {12, 8, 8}, 84},
    {TDL_FORMAT_Y444_10, "Y444_10LE", 3, 5, 3, 4, {0, 36, 72}, {12, 12, 12}, 108},
    {TDL_FORMAT_GRAY16, "GRAY16_LE", 1, 5, 2, 4, {0}, {12}, 24},
    {TDL_FORMAT_NV12, "NV12", 2, 0, 5, 4, {0}, {0}, 0},
    {TDL_FORMAT_NV12, "NV12", 2, 40000, 5, 4, {0}, {0}, 0},
    {TDL_FORMAT_NV12, "NV12", 2, 4, 5, 3, {0}, {0}, 0},
    {TDL_FORMAT_NV12, "NV12", 2, 4, 5, 2, {0}, {0}, 0},
    {TDL_FORMAT_UNKNOWN, "unknown", 0, 4, 5, 4, {0}, {0}, 0},
    {TDL_FORMAT_COUNT, "unknown", 0, 4, 5, 4, {0}, {0}, 0},
};

static void test_layouts(void)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct tdl_frame f = {0};
        CHECK(!strcmp(tdl_format_name(rows[i].format), rows[i].name), "row %zu: name %s", i,
              tdl_format_name(rows[i].format));
        CHECK(tdl_format_planes(rows[i].format) == rows[i].planes, "row %zu: planes", i);
        size_t size =
            tdl_frame_layout(&f, rows[i].format, rows[i].width, rows[i].height, rows[i].align);
        CHECK(size == rows[i].size, "row %zu: %zu bytes, not %zu", i, size, rows[i].size);
        for (uint32_t p = 0; size && p < rows[i].planes; p++)
            CHECK(f.planes[p].offset == rows[i].offset[p] &&
                      f.planes[p].stride == rows[i].stride[p],
                  "row %zu, plane %u: offset %llu, stride %u", i, p,
                  (unsigned long long)f.planes[p].offset, f.planes[p].stride);
    }
}

/* Each wrong frame is refused with a text that has `word` in it. */
static void refuse(struct tdl_batch *batch, const struct tdl_frame *frame, struct tdl_tensor *t,
                   const char *word)
{
    enum tdl_result r = tdl_frame_to_tensor(batch, frame, t, NULL);
    CHECK(r == TDL_ERROR_INVALID_ARGUMENT, "a frame with a wrong %s gave %d", word, (int)r);
    CHECK(strstr(tdl_last_error(), word), "\"%s\" does not speak of %s", tdl_last_error(), word);
}

static void test_refusals(struct tdl_context *ctx)
{
    struct picture p = picture_new(ctx, TDL_FORMAT_NV12, 16, 16, GEOMETRY_TIGHT);
    struct tdl_tensor *t = tensor_new(ctx, TDL_FLOAT32, TDL_PACKING_NONE, 4, 4, 3);
    struct tdl_tensor *wrong = tensor_new(ctx, TDL_FLOAT32, TDL_PACKING_NONE, 4, 4, 1);
    struct tdl_batch *batch;
    struct tdl_frame f;
    OK(tdl_batch_create(ctx, &batch));
    OK(tdl_batch_begin(batch));
    f = p.frame;
    f.format = TDL_FORMAT_COUNT;
    refuse(batch, &f, t, "format");
    f = p.frame;
    f.width = 0;
    refuse(batch, &f, t, "sizes");
    f = p.frame;
    f.planes[1].buffer = NULL;
    refuse(batch, &f, t, "no buffer");
    f = p.frame;
    f.planes[0].stride = 15;
    refuse(batch, &f, t, "stride");
    f = p.frame;
    f.planes[1].offset = p.size - 100;
    refuse(batch, &f, t, "ends at byte");
    f = p.frame;
    f.planes[1].offset = UINT64_MAX - 3;
    refuse(batch, &f, t, "ends at byte");
    refuse(batch, &p.frame, wrong, "[1,H,W,3]");
    struct tdl_frame_to_tensor_params params = {.crop = {8, 8, 9, 4}};
    CHECK(tdl_frame_to_tensor(batch, &p.frame, t, &params) == TDL_ERROR_INVALID_ARGUMENT,
          "a crop outside the frame was taken");
    tdl_batch_cancel(batch);
    tdl_batch_destroy(&batch);
    tdl_tensor_destroy(&t);
    tdl_tensor_destroy(&wrong);
    picture_free(&p);
}

int main(int argc, char **argv)
{
    test_layouts();
    struct tdl_context *ctx = open_context(argc, argv);
    test_refusals(ctx);
    close_context(ctx);
    printf("frame formats: ok\n");
    return 0;
}
