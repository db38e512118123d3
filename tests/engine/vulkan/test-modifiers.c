/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Images with DRM's modifiers: planes of others' dma-bufs read and written in
 * place, and our own made for others, in every tiling that the device has.
 */
#include "fds.h"
#include "frames.h"

#include <vulkan/batch.h>
#include <frame/format.h>

#include <dirent.h>
#include <unistd.h>

#define MAX_MODIFIERS 64

static struct tdl_context *ctx;
static struct tdl_batch *batch;

static const enum tdl_format formats[] = {
    TDL_FORMAT_NV12, TDL_FORMAT_I420, TDL_FORMAT_P010, TDL_FORMAT_YUY2, TDL_FORMAT_UYVY,
    TDL_FORMAT_RGBA, TDL_FORMAT_BGRX, TDL_FORMAT_RGB,  TDL_FORMAT_GRAY8,
};

/* With lavapipe (Mesa 25.0.7) layers (1.4.309) take an image with a modifier for
 * one that cannot be copied, though the driver lists the feature and libtdl
 * takes no other. These two messages are counted apart. */
static unsigned false_alarms;

static void log_but_false_alarms(void *data, enum tdl_log_level level, const char *message)
{
    if (strstr(message, "VUID-vkCmdCopyBufferToImage-dstImage-01997") ||
        strstr(message, "VUID-vkCmdCopyImageToBuffer-srcImage-01998"))
        false_alarms++;
    else
        check_log(data, level, message);
}

static void submit_and_wait(void)
{
    OK(tdl_batch_submit(batch, NULL));
    OK(tdl_context_sync(ctx));
}

static unsigned open_fds(void)
{
    unsigned count = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

/* -------------------------------------------------------------- modifiers */

static uint32_t list(enum tdl_format format, struct tdl_image_modifier out[MAX_MODIFIERS])
{
    struct tdl_image_modifier few[1] = {{.modifier = 7}};
    uint32_t count, again;
    OK(tdl_image_modifiers(ctx, format, out, MAX_MODIFIERS, &count));
    OK(tdl_image_modifiers(ctx, format, NULL, 0, &again));
    CHECK(count == again, "%u modifiers, then %u", count, again);
    OK(tdl_image_modifiers(ctx, format, few, 0, &again));
    CHECK(few[0].modifier == 7, "written into no room");
    for (uint32_t i = 0; i < count && i < MAX_MODIFIERS; i++)
        CHECK(out[i].readable || out[i].exportable, "modifier 0x%llx is good for nothing",
              (unsigned long long)out[i].modifier);
    return count < MAX_MODIFIERS ? count : MAX_MODIFIERS;
}

/* ---------------------------------------------------------- others' planes */

enum { WIDTH = 64, HEIGHT = 24, STRIDE = 256, CHROMA = STRIDE * HEIGHT };

static void import_planes(struct tdl_image_import_params *p, struct tdl_image *images[2])
{
    p->modifier = 0x00ffffffffffff12; /* nobody's */
    FAILS(tdl_image_import_dma_buf(ctx, p, &images[0]), TDL_ERROR_UNSUPPORTED,
          "the device does not know it");
    p->modifier = 0;
    p->plane = 2;
    FAILS(tdl_image_import_dma_buf(ctx, p, &images[0]), TDL_ERROR_INVALID_ARGUMENT, "no plane 2");
    for (uint32_t i = 0; i < 2; i++) {
        p->plane = i;
        p->offset = i * CHROMA;
        OK(tdl_image_import_dma_buf(ctx, p, &images[i]));
    }
}

/* NV12 in one dma-buf, both planes as images of the linear modifier. */
static void test_others(void)
{
    static uint8_t bytes[STRIDE * HEIGHT * 3 / 2];
    struct tdl_image_modifier modifiers[MAX_MODIFIERS];
    struct tdl_image *images[2] = {NULL};
    struct tdl_image_import_params p = {
        .format = TDL_FORMAT_NV12, .width = WIDTH, .height = HEIGHT, .stride = STRIDE};
    const char *how;
    check_begin("planes of a dma-buf");
    uint32_t count = list(TDL_FORMAT_NV12, modifiers);
    p.fd = fds_dma_buf(ctx, sizeof(bytes), &how);
    if (!count || p.fd < 0) {
        printf("not run: planes of dma-bufs as images: %s\n",
               count ? how : "the device has no modifiers for NV12");
        FAILS(tdl_image_import_dma_buf(ctx, &p, &images[0]), TDL_ERROR_UNSUPPORTED, "");
        close(p.fd);
        return;
    }
    printf("planes of dma-bufs (%s): %u modifiers for NV12\n", how, count);
    import_planes(&p, images);
    struct tdl_frame in = frames_new(ctx, p.format, WIDTH, HEIGHT, 0, TDL_BUFFER_UPLOAD),
                     out = frames_new(ctx, p.format, WIDTH, HEIGHT, 0, TDL_BUFFER_READBACK);
    for (uint64_t round = 0; round < 3; round++) {
        fds_pattern(bytes, sizeof(bytes), 30 + round);
        fds_write(p.fd, bytes, sizeof(bytes));
        OK(tdl_batch_begin(batch));
        OK(tdl_batch_images_to_frame(batch, images, NULL, &out));
        submit_and_wait();
        for (uint32_t i = 0; i < 2; i++)
            frames_compare_bytes(&out, i, bytes + i * CHROMA, STRIDE);
        frames_fill(&in, 40 + round);
        OK(tdl_batch_begin(batch));
        OK(tdl_batch_frame_to_images(batch, &in, images, NULL));
        submit_and_wait();
        fds_read(p.fd, bytes, sizeof(bytes));
        for (uint32_t i = 0; i < 2; i++)
            frames_compare_bytes(&in, i, bytes + i * CHROMA, STRIDE);
    }
    struct tdl_image_place place;
    FAILS(tdl_image_export(images[0], &place), TDL_ERROR_INVALID_ARGUMENT,
          "tdl_image_create_exportable");
    for (uint32_t i = 0; i < 2; i++)
        tdl_image_destroy(&images[i]);
    frames_destroy(&in);
    frames_destroy(&out);
    close(p.fd);
}

/* --------------------------------------------------------------- our planes */

struct picture {
    struct tdl_image *images[TDL_MAX_PLANES];
    struct tdl_image_place places[TDL_MAX_PLANES];
    uint32_t planes;
};

/* False where the device makes no such image for this kind of handle. */
static bool picture_create(struct picture *s, enum tdl_handle_type type,
                           struct tdl_image_create_params p)
{
    *s = (struct picture){.planes = tdl_format_planes(p.format)};
    for (p.plane = 0; p.plane < s->planes; p.plane++) {
        enum tdl_result r = tdl_image_create_exportable(ctx, type, &p, &s->images[p.plane]);
        if (r == TDL_ERROR_UNSUPPORTED && p.plane == 0)
            return false;
        REQUIRE(r == TDL_OK, "plane %u: %s", p.plane, tdl_last_error());
        OK(tdl_image_export(s->images[p.plane], &s->places[p.plane]));
        CHECK(s->places[p.plane].fd >= 0, "no fd");
    }
    return true;
}

static void picture_destroy(struct picture *s)
{
    for (uint32_t i = 0; i < s->planes; i++) {
        tdl_image_destroy(&s->images[i]);
        close(s->places[i].fd);
    }
}

/* Reads the dma-bufs as another process would: through Vulkan, and byte by byte where they are
 * linear. */
static void check_seen_by_others(const struct tdl_frame *written,
                                 const struct tdl_image_create_params *p, const struct picture *s)
{
    struct tdl_image *others[TDL_MAX_PLANES] = {NULL};
    struct tdl_frame seen =
        frames_new(ctx, p->format, p->width, p->height, 0, TDL_BUFFER_READBACK);
    for (uint32_t i = 0; i < s->planes; i++)
        OK(tdl_image_import_dma_buf(ctx,
                                    &(struct tdl_image_import_params){
                                        .format = p->format,
                                        .plane = i,
                                        .width = p->width,
                                        .height = p->height,
                                        .modifier = p->modifier,
                                        .fd = s->places[i].fd,
                                        .offset = s->places[i].offset,
                                        .stride = s->places[i].stride,
                                    },
                                    &others[i]));
    OK(tdl_batch_begin(batch));
    OK(tdl_batch_images_to_frame(batch, others, NULL, &seen));
    submit_and_wait();
    frames_compare(written, &seen);
    for (uint32_t i = 0; i < s->planes; i++) {
        tdl_image_destroy(&others[i]);
        if (p->modifier)
            continue;
        size_t size = s->places[i].offset + (size_t)s->places[i].stride *
                                                tdl_frame_rows(written, i);
        uint8_t *bytes = malloc(size);
        fds_read(s->places[i].fd, bytes, size);
        frames_compare_bytes(written, i, bytes + s->places[i].offset, s->places[i].stride);
        free(bytes);
    }
    frames_destroy(&seen);
}

/* Destroyed while a batch that is not submitted yet has copies of it. */
static void destroy_early(enum tdl_handle_type type, const struct tdl_image_create_params *p)
{
    struct tdl_frame out = frames_new(ctx, p->format, p->width, p->height, 0, TDL_BUFFER_READBACK);
    struct picture s;
    picture_create(&s, type, *p);
    OK(tdl_batch_begin(batch));
    OK(tdl_batch_images_to_frame(batch, s.images, NULL, &out));
    picture_destroy(&s);
    submit_and_wait();
    frames_destroy(&out);
}

/* Written, given away, taken back and read, twice. */
static bool round_trip(enum tdl_handle_type type, const struct tdl_image_create_params *p)
{
    struct picture s;
    struct tdl_frame in, out;
    if (!picture_create(&s, type, *p))
        return false;
    in = frames_new(ctx, p->format, p->width, p->height, 16, TDL_BUFFER_UPLOAD);
    out = frames_new(ctx, p->format, p->width, p->height, 48, TDL_BUFFER_READBACK);
    for (uint64_t round = 0; round < 2; round++) {
        frames_fill(&in, round + p->width);
        OK(tdl_batch_begin(batch));
        OK(tdl_batch_frame_to_images(batch, &in, s.images, NULL));
        OK(tdl_batch_submit(batch, NULL));
        OK(tdl_batch_begin(batch));
        OK(tdl_batch_images_to_frame(batch, s.images, NULL, &out));
        submit_and_wait();
        frames_compare(&in, &out);
        if (type == TDL_HANDLE_DMA_BUF)
            check_seen_by_others(&in, p, &s);
    }
    picture_destroy(&s);
    frames_destroy(&in);
    frames_destroy(&out);
    destroy_early(type, p);
    return true;
}

static unsigned ran, tiled;

static void try_one(enum tdl_handle_type type, const char *name, enum tdl_format format,
                    uint64_t modifier, int listed)
{
    const struct tdl_image_create_params p = {
        .format = format, .width = 150, .height = 70, .modifier = modifier};
    check_begin("%s as %s, modifier 0x%llx", tdl_format_name(format), name,
                (unsigned long long)modifier);
    bool made = round_trip(type, &p);
    if (listed >= 0)
        CHECK(made == listed, "listed as %d, made %d: %s", listed, made, tdl_last_error());
    ran += made;
    tiled += made && modifier;
}

static void tell(const char *name)
{
    if (ran)
        printf("our planes as %s: %u formats and modifiers, %u of them tiled\n", name, ran, tiled);
    else
        printf("not run: our planes as %s: the device makes none\n", name);
    ran = tiled = 0;
}

static void test_dma_bufs(void)
{
    struct tdl_image_modifier modifiers[MAX_MODIFIERS];
    for (size_t f = 0; f < COUNT(formats); f++) {
        uint32_t count = list(formats[f], modifiers);
        for (uint32_t i = 0; i < count; i++)
            try_one(TDL_HANDLE_DMA_BUF, "dma-bufs", formats[f], modifiers[i].modifier,
                    modifiers[i].exportable);
    }
    tell("dma-bufs");
}

/* Drivers without a display have no dma-bufs, but may have the tilings. */
static void test_opaque_fds(void)
{
    VkDrmFormatModifierPropertiesEXT all[MAX_MODIFIERS];
    VkDrmFormatModifierPropertiesListEXT modifiers = {
        .sType = VK_STRUCTURE_TYPE_DRM_FORMAT_MODIFIER_PROPERTIES_LIST_EXT,
        .drmFormatModifierCount = MAX_MODIFIERS,
        .pDrmFormatModifierProperties = all};
    VkFormatProperties2 properties = {.sType = VK_STRUCTURE_TYPE_FORMAT_PROPERTIES_2,
                                      .pNext = &modifiers};
    struct tdl_vulkan_device vk;
    tdl_context_get_vulkan(ctx, &vk);
    if (tdl_context_device(ctx)->drm_format_modifiers)
        vkGetPhysicalDeviceFormatProperties2(vk.physical_device, VK_FORMAT_R8G8B8A8_UNORM,
                                             &properties);
    else
        modifiers.drmFormatModifierCount = 0;
    for (uint32_t i = 0; i < modifiers.drmFormatModifierCount; i++)
        for (size_t f = 0; f < COUNT(formats); f++)
            try_one(TDL_HANDLE_OPAQUE_FD, "opaque fds", formats[f], all[i].drmFormatModifier, -1);
    tell("opaque fds");
}

static void test_errors(void)
{
    struct tdl_image_create_params p = {.format = TDL_FORMAT_RGBA, .width = 8, .height = 8};
    struct tdl_image *image = NULL;
    unsigned before = open_fds();
    check_begin("errors");
    const bool able = tdl_context_device(ctx)->drm_format_modifiers &&
                      tdl_context_device(ctx)->dma_buf_export;
    if (!able) {
        FAILS(tdl_image_create_exportable(ctx, TDL_HANDLE_DMA_BUF, &p, &image),
              TDL_ERROR_UNSUPPORTED, "");
        CHECK(!image, "an image in spite of that");
        return;
    }
    p.modifier = 0x00ffffffffffff12;
    FAILS(tdl_image_create_exportable(ctx, TDL_HANDLE_DMA_BUF, &p, &image), TDL_ERROR_UNSUPPORTED,
          "the device does not know it");
    p.modifier = 0;
    p.plane = 1;
    FAILS(tdl_image_create_exportable(ctx, TDL_HANDLE_DMA_BUF, &p, &image),
          TDL_ERROR_INVALID_ARGUMENT, "RGBA has no plane 1");
    p.plane = 0;
    p.height = 0;
    FAILS(tdl_image_create_exportable(ctx, TDL_HANDLE_DMA_BUF, &p, &image),
          TDL_ERROR_INVALID_ARGUMENT, "8×0");
    CHECK(!image, "an image in spite of that");
    CHECK(open_fds() == before, "%u fds, %u before", open_fds(), before);
}

int main(void)
{
    struct tdl_context_stats stats;
    unsigned fds;
    check_device();
    OK(tdl_context_create(
        &(struct tdl_context_params){.validation = true, .log = log_but_false_alarms}, &ctx));
    OK(tdl_batch_create(ctx, &batch));
    fds = open_fds();
    test_others();
    test_dma_bufs();
    test_opaque_fds();
    test_errors();
    tdl_batch_destroy(&batch);
    OK(tdl_context_sync(ctx));
    check_begin("the end");
    CHECK(open_fds() == fds, "%u fds, %u before", open_fds(), fds);
    tdl_context_get_stats(ctx, &stats);
    CHECK(stats.validation_errors == false_alarms, "%llu validation messages, %u of them known",
          (unsigned long long)stats.validation_errors, false_alarms);
    CHECK(!stats.memory_bytes, "%llu bytes are left", (unsigned long long)stats.memory_bytes);
    if (false_alarms)
        printf("planes of dma-bufs: %u false alarms of the layers\n", false_alarms);
    tdl_context_destroy(&ctx);
    return check_result();
}
