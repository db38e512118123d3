/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "run_files.h"
#include "run_npy.h"
#include "shape.h"
#include "tool.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool ends_with(const char *path, const char *end)
{
    const size_t length = strlen(path), size = strlen(end);

    return length > size && !strcmp(path + length - size, end);
}

#ifdef HAVE_PNG
#include <png.h>

/* The index of channel c of pixel (x, y) in one image. */
struct picture {
    uint32_t width, height, channels;
    size_t step_x, step_y, step_c;
};

static bool as_picture(const struct tdl_tensor_params *p, enum tdl_layout layout,
                       struct picture *out)
{
    const bool nchw = layout == TDL_LAYOUT_NCHW;

    if (p->rank != 4 || p->shape[0] != 1 ||
        (p->dtype != TDL_FLOAT32 && p->dtype != TDL_FLOAT16 && p->dtype != TDL_UINT8))
        return false;
    out->height = p->shape[nchw ? 2 : 1];
    out->width = p->shape[nchw ? 3 : 2];
    out->channels = p->shape[nchw ? 1 : 3];
    out->step_c = nchw ? (size_t)out->width * out->height : 1;
    out->step_x = nchw ? 1 : out->channels;
    out->step_y = out->step_x * out->width;
    return out->channels == 1 || out->channels == 3 || out->channels == 4;
}

static png_uint_32 png_format(uint32_t channels)
{
    return channels == 1 ? PNG_FORMAT_GRAY : channels == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_RGBA;
}

/* Between the four nearest pixels, whose centres lie at halves. */
static float sample(const png_byte *pixels, uint32_t width, uint32_t height, uint32_t channels,
                    uint32_t c, float x, float y)
{
    const float left = floorf(x), top = floorf(y);
    float sum = 0;

    for (int i = 0; i < 4; i++) {
        const float at_x = left + (float)(i % 2), at_y = top + (float)(i / 2);
        const float weight = (1 - fabsf(x - at_x)) * (1 - fabsf(y - at_y));
        const uint32_t px = (uint32_t)fminf(fmaxf(at_x, 0), (float)width - 1);
        const uint32_t py = (uint32_t)fminf(fmaxf(at_y, 0), (float)height - 1);

        sum += weight * (float)pixels[((size_t)py * width + px) * channels + c];
    }
    return sum / 255;
}

static void fill(const struct picture *to, const png_byte *pixels, uint32_t width, uint32_t height,
                 const struct run_range *range, float *data)
{
    for (uint32_t y = 0; y < to->height; y++)
        for (uint32_t x = 0; x < to->width; x++)
            for (uint32_t c = 0; c < to->channels; c++) {
                const float at_x = ((float)x + 0.5f) * (float)width / (float)to->width - 0.5f;
                const float at_y = ((float)y + 0.5f) * (float)height / (float)to->height - 0.5f;
                const float v = sample(pixels, width, height, to->channels, c, at_x, at_y);

                data[y * to->step_y + x * to->step_x + c * to->step_c] =
                    (v * (range->high - range->low) + range->low - range->mean[c % 3]) /
                    range->deviation[c % 3];
            }
}

/* libpng's word for a file of another kind is "Read Error". */
static bool is_png(const char *path)
{
    FILE *file = fopen(path, "rb");
    png_byte start[8];
    size_t size;

    if (!file) {
        tool_fail("%s: it cannot be opened: %s", path, strerror(errno));
        return false;
    }
    size = fread(start, 1, sizeof(start), file);
    fclose(file);
    if (size == sizeof(start) && png_sig_cmp(start, 0, size) == 0)
        return true;
    tool_fail("%s: it is no PNG picture, whatever its name says; convert it: ffmpeg -i %s "
              "picture.png",
              path, path);
    return false;
}

/* In place: no element becomes larger. */
static void narrow(void *data, size_t count, enum tdl_dtype dtype)
{
    const float *from = data;
    uint16_t *halves = data;
    uint8_t *bytes = data;

    for (size_t i = 0; i < count && dtype == TDL_FLOAT16; i++)
        halves[i] = tdl_float_to_half(from[i]);
    for (size_t i = 0; i < count && dtype == TDL_UINT8; i++)
        bytes[i] = (uint8_t)(fminf(fmaxf(from[i], 0), 255) + 0.5f);
}

static void *read_png(const char *path, const struct tdl_tensor_params *params,
                      enum tdl_layout layout, const struct run_range *range)
{
    png_image image = {.version = PNG_IMAGE_VERSION};
    struct run_range used = *range;
    struct picture to;
    png_byte *pixels = NULL;
    float *data = NULL;
    char shape[96];

    if (!as_picture(params, layout, &to)) {
        tool_fail("%s: the input %s is no picture of 1, 3 or 4 channels of float32, float16 or "
                  "uint8; give a .npy",
                  path, tool_shape(params, shape, sizeof(shape)));
        return NULL;
    }
    if (!is_png(path))
        return NULL;
    const size_t count = (size_t)to.width * to.height * to.channels;
    if (params->dtype == TDL_UINT8 && !range->said)
        used.high = 255;
    if (png_image_begin_read_from_file(&image, path)) {
        image.format = png_format(to.channels);
        pixels = malloc(PNG_IMAGE_SIZE(image));
        data = malloc(count * sizeof(*data));
        if (pixels && data && png_image_finish_read(&image, NULL, pixels, 0, NULL)) {
            fill(&to, pixels, image.width, image.height, &used, data);
            narrow(data, count, params->dtype);
            free(pixels);
            return data;
        }
    }
    if (*image.message)
        tool_fail("%s: the picture is damaged or cut short: %s", path, image.message);
    else
        tool_fail("%s: no memory for it", path);
    png_image_free(&image);
    free(pixels);
    free(data);
    return NULL;
}

static uint32_t png_shape(const char *path, uint32_t *shape)
{
    png_image image = {.version = PNG_IMAGE_VERSION};

    if (!png_image_begin_read_from_file(&image, path))
        return 0;
    shape[0] = image.height;
    shape[1] = image.width;
    png_image_free(&image);
    return 2;
}

/* Values that a picture cannot show, by more than it rounds. */
static void note_cut(const char *path, const float *data, size_t count)
{
    const float half = 0.5f / 255;
    size_t cut = 0;

    for (size_t i = 0; i < count; i++)
        cut += !(data[i] >= -half && data[i] <= 1 + half);
    if (cut)
        tool_note("%s: %.3g %% of the values are outside 0 to 1 and were cut; .npy keeps them",
                  path, 100 * (double)cut / (double)count);
}

static int write_png(const char *path, const struct tdl_tensor_params *params,
                     enum tdl_layout layout, const float *data)
{
    png_image image = {.version = PNG_IMAGE_VERSION};
    struct picture from;
    png_byte *pixels;
    char shape[96];
    int ok;

    if (!as_picture(params, layout, &from) || params->dtype != TDL_FLOAT32)
        return tool_fail("%s: the output %s is no picture of float32; write it as .npy", path,
                         tool_shape(params, shape, sizeof(shape)));
    image.width = from.width;
    image.height = from.height;
    image.format = png_format(from.channels);
    pixels = calloc(1, PNG_IMAGE_SIZE(image));
    if (!pixels)
        return tool_fail("%s: no memory for it", path);
    for (uint32_t y = 0; y < from.height; y++)
        for (uint32_t x = 0; x < from.width; x++)
            for (uint32_t c = 0; c < from.channels; c++) {
                const float v = data[y * from.step_y + x * from.step_x + c * from.step_c];

                pixels[((size_t)y * from.width + x) * from.channels + c] =
                    (png_byte)(fminf(fmaxf(v, 0), 1) * 255 + 0.5f);
            }
    ok = png_image_write_to_file(&image, path, 0, pixels, 0, NULL);
    free(pixels);
    if (!ok)
        return tool_fail("%s: %s", path, image.message);
    note_cut(path, data, (size_t)from.width * from.height * from.channels);
    return TOOL_OK;
}

#else

static uint32_t png_shape(const char *path, uint32_t *shape)
{
    (void)path, (void)shape;
    return 0;
}

static void *read_png(const char *path, const struct tdl_tensor_params *params,
                      enum tdl_layout layout, const struct run_range *range)
{
    (void)params, (void)layout, (void)range;
    tool_fail("%s: built without libpng, which pictures need; give a .npy", path);
    return NULL;
}

static int write_png(const char *path, const struct tdl_tensor_params *params,
                     enum tdl_layout layout, const float *data)
{
    (void)params, (void)layout, (void)data;
    return tool_fail("%s: built without libpng, which pictures need; write a .npy", path);
}
#endif

int run_check_name(const char *path, bool is_output)
{
    if (ends_with(path, ".npy"))
        return TOOL_OK;
    if (!ends_with(path, ".png"))
        return is_output ? tool_usage_error("%s: tensors are written to .npy and .png", path)
                         : tool_usage_error("%s: tensors are read from .npy and .png; convert a "
                                            "picture first: ffmpeg -i %s picture.png",
                                            path, path);
#ifndef HAVE_PNG
    return tool_fail("%s: built without libpng, which pictures need; take .npy", path);
#else
    return TOOL_OK;
#endif
}

bool run_is_picture(const char *path)
{
    return ends_with(path, ".png");
}

uint32_t run_file_shape(const char *path, uint32_t shape[TDL_MAX_RANK])
{
    return run_is_picture(path) ? png_shape(path, shape) : run_npy_shape(path, shape, TDL_MAX_RANK);
}

void *run_read(const char *path, const struct tdl_tensor_params *params, enum tdl_layout layout,
               const struct run_range *range)
{
    return ends_with(path, ".npy") ? run_read_npy(path, params)
                                   : read_png(path, params, layout, range);
}

int run_write(const char *path, const struct tdl_tensor_params *params, enum tdl_layout layout,
              const void *data)
{
    return ends_with(path, ".npy") ? run_write_npy(path, params, data)
                                   : write_png(path, params, layout, data);
}
