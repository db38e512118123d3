/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Frames into VkImages that the test made, and back: every plane layout in
 * linear and in optimal tiling, the bytes of linear ones looked at, too;
 * layouts, owners and states.
 */
#include "barriers.h"
#include "frames.h"

#include <vulkan/batch.h>
#include <frame/format.h>

/* A VkImage with memory that the CPU can map, if there is such. */
struct picture {
    VkImage image;
    VkDeviceMemory memory;
    const uint8_t *map; /* NULL: not */
};

struct part {
    VkFormat format;
    VkImageAspectFlagBits aspect;
};

static const struct row {
    const char *name;
    enum tdl_format format;
    uint32_t width, height;
    bool one_image; /* all planes are aspects of one VkImage */
    struct part parts[TDL_MAX_PLANES];
} rows[] = {
    {"NV12, an image per plane", TDL_FORMAT_NV12, 37, 21, false,
     {{VK_FORMAT_R8_UNORM}, {VK_FORMAT_R8G8_UNORM}}},
    {"NV12, one image", TDL_FORMAT_NV12, 38, 22, true,
     {{VK_FORMAT_G8_B8R8_2PLANE_420_UNORM, VK_IMAGE_ASPECT_PLANE_0_BIT},
      {VK_FORMAT_G8_B8R8_2PLANE_420_UNORM, VK_IMAGE_ASPECT_PLANE_1_BIT}}},
    {"I420, an image per plane", TDL_FORMAT_I420, 37, 21, false,
     {{VK_FORMAT_R8_UNORM}, {VK_FORMAT_R8_UNORM}, {VK_FORMAT_R8_UNORM}}},
    {"I420, one image", TDL_FORMAT_I420, 38, 22, true,
     {{VK_FORMAT_G8_B8_R8_3PLANE_420_UNORM, VK_IMAGE_ASPECT_PLANE_0_BIT},
      {VK_FORMAT_G8_B8_R8_3PLANE_420_UNORM, VK_IMAGE_ASPECT_PLANE_1_BIT},
      {VK_FORMAT_G8_B8_R8_3PLANE_420_UNORM, VK_IMAGE_ASPECT_PLANE_2_BIT}}},
    {"P010, an image per plane", TDL_FORMAT_P010, 37, 21, false,
     {{VK_FORMAT_R16_UNORM}, {VK_FORMAT_R16G16_UNORM}}},
    {"P010, one image", TDL_FORMAT_P010, 38, 22, true,
     {{VK_FORMAT_G10X6_B10X6R10X6_2PLANE_420_UNORM_3PACK16, VK_IMAGE_ASPECT_PLANE_0_BIT},
      {VK_FORMAT_G10X6_B10X6R10X6_2PLANE_420_UNORM_3PACK16, VK_IMAGE_ASPECT_PLANE_1_BIT}}},
    {"YUY2 as RGBA", TDL_FORMAT_YUY2, 37, 21, false, {{VK_FORMAT_R8G8B8A8_UNORM}}},
    {"YUY2 as 4:2:2", TDL_FORMAT_YUY2, 38, 21, false, {{VK_FORMAT_G8B8G8R8_422_UNORM}}},
    {"UYVY as RG", TDL_FORMAT_UYVY, 38, 21, false, {{VK_FORMAT_R8G8_UNORM}}},
    {"RGBA", TDL_FORMAT_RGBA, 37, 21, false, {{VK_FORMAT_R8G8B8A8_UNORM}}},
    {"RGBx, sRGB", TDL_FORMAT_RGBX, 37, 21, false, {{VK_FORMAT_R8G8B8A8_SRGB}}},
    {"BGRA", TDL_FORMAT_BGRA, 37, 21, false, {{VK_FORMAT_B8G8R8A8_UNORM}}},
    {"BGRx", TDL_FORMAT_BGRX, 1, 1, false, {{VK_FORMAT_B8G8R8A8_UNORM}}},
    {"GRAY8", TDL_FORMAT_GRAY8, 37, 21, false, {{VK_FORMAT_R8_UNORM}}},
};

static struct tdl_context *ctx;
static struct tdl_vulkan_device vk;

/* --------------------------------------------------------------- barriers */

/* Barriers of images, in the order of recording: "UD " from UNDEFINED to TRANSFER_DST, "GGa "
 * acquired from another family in GENERAL, "GGr " released to one. */
static char barriers[128];

static char layout_letter(VkImageLayout layout)
{
    return layout == VK_IMAGE_LAYOUT_UNDEFINED              ? 'U'
           : layout == VK_IMAGE_LAYOUT_GENERAL              ? 'G'
           : layout == VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL ? 'S'
           : layout == VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL ? 'D'
                                                            : '?';
}

static void note_layouts(uint32_t buffer_count, const VkBufferMemoryBarrier *buffers,
                         uint32_t image_count, const VkImageMemoryBarrier *images)
{
    (void)buffer_count, (void)buffers;
    for (uint32_t i = 0; i < image_count; i++) {
        const VkImageMemoryBarrier *b = &images[i];
        size_t length = strlen(barriers);
        bool moves = b->srcQueueFamilyIndex != b->dstQueueFamilyIndex;
        snprintf(barriers + length, sizeof(barriers) - length, "%c%c%s ",
                 layout_letter(b->oldLayout), layout_letter(b->newLayout),
                 !moves                                         ? ""
                 : b->srcQueueFamilyIndex == vk.queue_family ? "r"
                                                                : "a");
    }
}

static void expect_barriers(const char *expected)
{
    CHECK(!strcmp(barriers, expected), "barriers \"%s\", not \"%s\"", barriers, expected);
    barriers[0] = '\0';
}

/* --------------------------------------------------------------- VkImages */

static bool supported(VkFormat format, VkImageTiling tiling)
{
    VkFormatProperties features;
    VkImageFormatProperties properties;
    const VkFormatFeatureFlags both =
        VK_FORMAT_FEATURE_TRANSFER_SRC_BIT | VK_FORMAT_FEATURE_TRANSFER_DST_BIT;
    vkGetPhysicalDeviceFormatProperties(vk.physical_device, format, &features);
    VkFormatFeatureFlags have = tiling == VK_IMAGE_TILING_LINEAR ? features.linearTilingFeatures
                                                                  : features.optimalTilingFeatures;
    return (have & both) == both &&
           vkGetPhysicalDeviceImageFormatProperties(
               vk.physical_device, format, VK_IMAGE_TYPE_2D, tiling,
               VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT, 0,
               &properties) == VK_SUCCESS;
}

static uint32_t pick_type(uint32_t bits, bool *out_mapped)
{
    VkPhysicalDeviceMemoryProperties memory;
    const VkMemoryPropertyFlags mapped =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    vkGetPhysicalDeviceMemoryProperties(vk.physical_device, &memory);
    for (int want = 1; want >= 0; want--)
        for (uint32_t i = 0; i < memory.memoryTypeCount; i++) {
            *out_mapped = (memory.memoryTypes[i].propertyFlags & mapped) == mapped;
            if (bits & 1u << i && *out_mapped >= want)
                return i;
        }
    return UINT32_MAX;
}

/* False where the driver offers the format and then refuses the image, as
 * lavapipe does with two planes in linear tiling. */
static bool picture_create(struct picture *p, VkFormat format, VkImageTiling tiling, uint32_t width,
                           uint32_t height, const void *next)
{
    VkMemoryRequirements requirements;
    bool mapped = false;
    *p = (struct picture){.map = NULL};
    if (vkCreateImage(vk.device,
                      &(VkImageCreateInfo){
                          .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                          .pNext = next,
                          .imageType = VK_IMAGE_TYPE_2D,
                          .format = format,
                          .extent = {width, height, 1},
                          .mipLevels = 1,
                          .arrayLayers = 1,
                          .samples = VK_SAMPLE_COUNT_1_BIT,
                          .tiling = tiling,
                          .usage =
                              VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT,
                      },
                      NULL, &p->image) != VK_SUCCESS)
        return false;
    vkGetImageMemoryRequirements(vk.device, p->image, &requirements);
    VkResult r = vkAllocateMemory(
        vk.device,
        &(VkMemoryAllocateInfo){.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                .allocationSize = requirements.size,
                                .memoryTypeIndex = pick_type(requirements.memoryTypeBits, &mapped)},
        NULL, &p->memory);
    REQUIRE(r == VK_SUCCESS, "no memory for an image: %d", r);
    r = vkBindImageMemory(vk.device, p->image, p->memory, 0);
    REQUIRE(r == VK_SUCCESS, "vkBindImageMemory: %d", r);
    if (mapped && tiling == VK_IMAGE_TILING_LINEAR) {
        r = vkMapMemory(vk.device, p->memory, 0, VK_WHOLE_SIZE, 0, (void **)&p->map);
        REQUIRE(r == VK_SUCCESS, "vkMapMemory: %d", r);
    }
    return true;
}

static void picture_destroy(struct picture *p)
{
    vkDestroyImage(vk.device, p->image, NULL);
    vkFreeMemory(vk.device, p->memory, NULL);
}

static struct tdl_frame frame_new(const struct row *row, uint32_t pad,
                                  enum tdl_buffer_access access)
{
    return frames_new(ctx, row->format, row->width, row->height, pad, access);
}

/* Compares the memory of a linear image, as the CPU sees it. */
static void compare_memory(const struct tdl_frame *f, uint32_t plane, const struct picture *p,
                           VkImageAspectFlags aspect)
{
    VkSubresourceLayout layout;
    if (!p->map)
        return;
    vkGetImageSubresourceLayout(vk.device, p->image, &(VkImageSubresource){aspect, 0, 0}, &layout);
    frames_compare_bytes(f, plane, p->map + layout.offset, layout.rowPitch);
}

/* ------------------------------------------------------------------ round trip */

struct set {
    struct picture pictures[TDL_MAX_PLANES];
    struct tdl_image *images[TDL_MAX_PLANES];
    struct tdl_image_state state[TDL_MAX_PLANES], *states[TDL_MAX_PLANES];
    uint32_t count, planes;
};

static struct tdl_image *wrap(const struct row *row, uint32_t plane, VkImage image)
{
    struct tdl_image *wrapped;
    OK(tdl_image_wrap(ctx,
                      &(struct tdl_image_wrap_params){
                          .image = image,
                          .vk_format = row->parts[plane].format,
                          .format = row->format,
                          .plane = plane,
                          .width = row->width,
                          .height = row->height,
                          .aspect = row->parts[plane].aspect,
                          .usage =
                              VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT,
                      },
                      &wrapped));
    return wrapped;
}

static bool set_create(struct set *s, const struct row *row, VkImageTiling tiling,
                       const void *next)
{
    *s = (struct set){.planes = tdl_format_planes(row->format)};
    struct tdl_frame size;
    tdl_frame_layout(&size, row->format, row->width, row->height, 4);
    for (uint32_t i = 0; i < s->planes; i++)
        if (!supported(row->parts[i].format, tiling))
            return false;
    for (uint32_t i = 0; i < s->planes; i++) {
        const struct tdl_format_info *info = tdl_format_info(row->format);
        VkFormat format = row->parts[i].format;
        bool halved = format == VK_FORMAT_R8G8B8A8_UNORM && info->plane[i].shift_x;
        bool chroma = !row->one_image && i > 0;
        uint32_t width = chroma || halved ? (row->width + 1) / 2 : row->width;
        uint32_t height = chroma && info->plane[i].shift_y ? (row->height + 1) / 2 : row->height;
        if (i == 0 || !row->one_image) {
            if (!picture_create(&s->pictures[s->count], format, tiling, width, height, next))
                return false;
            s->state[s->count] = (struct tdl_image_state){
                .layout = VK_IMAGE_LAYOUT_UNDEFINED, .queue_family = VK_QUEUE_FAMILY_IGNORED};
            s->count++;
        }
        s->states[i] = &s->state[s->count - 1];
        s->images[i] = wrap(row, i, s->pictures[s->count - 1].image);
    }
    return true;
}

static void set_destroy(struct set *s)
{
    for (uint32_t i = 0; i < s->planes; i++)
        tdl_image_destroy(&s->images[i]);
    OK(tdl_context_sync(ctx));
    for (uint32_t i = 0; i < s->count; i++)
        picture_destroy(&s->pictures[i]);
}

static bool round_trip(const struct row *row, VkImageTiling tiling, struct tdl_batch *batch)
{
    const char *name = tiling == VK_IMAGE_TILING_LINEAR ? "linear" : "optimal";
    struct set s;
    check_begin("%s, %s", row->name, name);
    if (!set_create(&s, row, tiling, NULL)) {
        set_destroy(&s);
        printf("not run: %s, %s: the device has no such image\n", row->name, name);
        return false;
    }
    struct tdl_frame in = frame_new(row, 16, TDL_BUFFER_UPLOAD),
                     out = frame_new(row, 48, TDL_BUFFER_READBACK);
    for (int round = 0; round < 2; round++) {
        char expected[64] = "";
        barriers[0] = '\0';
        frames_fill(&in, (uint64_t)round + row->width);
        OK(tdl_batch_begin(batch));
        OK(tdl_batch_frame_to_images(batch, &in, s.images, s.states));
        CHECK(s.state[0].layout == VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL &&
                  s.state[0].access == VK_ACCESS_TRANSFER_WRITE_BIT,
              "layout %d, access 0x%llx", s.state[0].layout,
              (unsigned long long)s.state[0].access);
        /* The second time in a batch of its own. */
        if (round) {
            OK(tdl_batch_submit(batch, NULL));
            OK(tdl_batch_begin(batch));
        }
        OK(tdl_batch_images_to_frame(batch, s.images, s.states, &out));
        CHECK(s.state[0].layout == VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, "layout %d",
              s.state[0].layout);
        OK(tdl_batch_submit(batch, NULL));
        OK(tdl_context_sync(ctx));
        frames_compare(&in, &out);
        /* One for each VkImage, however many planes it has. */
        for (uint32_t i = 0; i < 2 * s.count; i++)
            strcat(expected, i < s.count ? (round ? "SD " : "UD ") : "DS ");
        expect_barriers(expected);
        for (uint32_t i = 0; i < s.planes; i++)
            compare_memory(&in, i, &s.pictures[row->one_image ? 0 : i],
                           row->parts[i].aspect ? row->parts[i].aspect
                                                : VK_IMAGE_ASPECT_COLOR_BIT);
    }
    set_destroy(&s);
    frames_destroy(&in);
    frames_destroy(&out);
    return true;
}

/* ------------------------------------------------------- states and owners */

/* An image stays in GENERAL, and the neighbour's flags, which Vulkan 1.0 does
 * not have, are understood. */
static void test_general(struct tdl_batch *batch)
{
    const struct row *row = &rows[9];
    struct set s;
    check_begin("an image in GENERAL");
    REQUIRE(set_create(&s, row, VK_IMAGE_TILING_OPTIMAL, NULL), "no RGBA image");
    struct tdl_frame in = frame_new(row, 0, TDL_BUFFER_UPLOAD),
                     out = frame_new(row, 0, TDL_BUFFER_READBACK);
    frames_fill(&in, 5);
    OK(tdl_batch_begin(batch));
    OK(tdl_batch_frame_to_images(batch, &in, s.images, s.states));
    OK(tdl_batch_submit(batch, NULL));
    /* The neighbour would do this on the same queue. */
    s.state[0] = (struct tdl_image_state){
        .layout = s.state[0].layout,
        .access = VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT | VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT,
        .stage = VK_PIPELINE_STAGE_2_COPY_BIT | VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT,
        .queue_family = vk.queue_family};
    OK(tdl_batch_begin(batch));
    OK(tdl_batch_images_to_frame(batch, s.images, s.states, &out));
    OK(tdl_batch_images_to_frame(batch, s.images, s.states, &out));
    OK(tdl_batch_submit(batch, NULL));
    OK(tdl_context_sync(ctx));
    frames_compare(&in, &out);
    CHECK(s.state[0].queue_family == vk.queue_family, "family %u", s.state[0].queue_family);
    set_destroy(&s);
    frames_destroy(&in);
    frames_destroy(&out);
}

/* An image that others hold is taken and given back in the same layout. */
static void test_owner(struct tdl_batch *batch)
{
    const struct row *row = &rows[9];
    const VkExternalMemoryImageCreateInfo external = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMAGE_CREATE_INFO,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT};
    struct set s;
    check_begin("an image of another queue family");
    if (!tdl_context_device(ctx)->external_memory_fd) {
        printf("not run: images of others: no opaque fds\n");
        return;
    }
    REQUIRE(set_create(&s, row, VK_IMAGE_TILING_OPTIMAL, &external), "no RGBA image");
    barriers[0] = '\0';
    struct tdl_frame in = frame_new(row, 0, TDL_BUFFER_UPLOAD),
                     out = frame_new(row, 0, TDL_BUFFER_READBACK);
    s.state[0].queue_family = VK_QUEUE_FAMILY_EXTERNAL;
    for (int round = 0; round < 3; round++) {
        frames_fill(&in, 7 + (uint64_t)round);
        OK(tdl_batch_begin(batch));
        OK(tdl_batch_frame_to_images(batch, &in, s.images, s.states));
        OK(tdl_batch_submit(batch, NULL));
        expect_barriers(round ? "GGa GGr " : "UD DG GGr "); /* at first nothing is there to take */
        CHECK(s.state[0].layout == VK_IMAGE_LAYOUT_GENERAL &&
                  s.state[0].queue_family == VK_QUEUE_FAMILY_EXTERNAL && !s.state[0].access,
              "layout %d, family %u", s.state[0].layout, s.state[0].queue_family);
        OK(tdl_batch_begin(batch));
        OK(tdl_batch_images_to_frame(batch, s.images, s.states, &out));
        OK(tdl_batch_submit(batch, NULL));
        expect_barriers("GGa GGr ");
        CHECK(s.state[0].layout == VK_IMAGE_LAYOUT_GENERAL &&
                  s.state[0].queue_family == VK_QUEUE_FAMILY_EXTERNAL,
              "layout %d, family %u", s.state[0].layout, s.state[0].queue_family);
        OK(tdl_context_sync(ctx));
        frames_compare(&in, &out);
    }
    set_destroy(&s);
    frames_destroy(&in);
    frames_destroy(&out);
}

/* Destroyed between recording and submission, and never submitted at all. */
static void test_lifetime(struct tdl_batch *batch)
{
    const struct row *row = &rows[9];
    struct set s;
    check_begin("lifetime");
    REQUIRE(set_create(&s, row, VK_IMAGE_TILING_OPTIMAL, NULL), "no RGBA image");
    struct tdl_frame in = frame_new(row, 0, TDL_BUFFER_UPLOAD);
    OK(tdl_batch_begin(batch));
    OK(tdl_batch_frame_to_images(batch, &in, s.images, s.states));
    tdl_batch_cancel(batch);
    s.state[0].layout = VK_IMAGE_LAYOUT_UNDEFINED;
    OK(tdl_batch_begin(batch));
    OK(tdl_batch_frame_to_images(batch, &in, s.images, s.states));
    tdl_image_destroy(&s.images[0]);
    frames_destroy(&in);
    OK(tdl_batch_submit(batch, NULL));
    set_destroy(&s);
}

static void test_errors(struct tdl_batch *batch)
{
    const enum tdl_result wrong = TDL_ERROR_INVALID_ARGUMENT;
    const struct row *row = &rows[9];
    struct set s;
    struct tdl_image *image, *none[1] = {NULL};
    check_begin("errors");
    REQUIRE(set_create(&s, row, VK_IMAGE_TILING_OPTIMAL, NULL), "no RGBA image");
    struct tdl_frame f = frame_new(row, 0, TDL_BUFFER_READBACK), g = f;
    struct tdl_image_wrap_params p = {.image = s.pictures[0].image,
                                      .vk_format = VK_FORMAT_B8G8R8A8_UNORM,
                                      .format = TDL_FORMAT_RGBA,
                                      .width = 37,
                                      .height = 21};
    FAILS(tdl_image_wrap(ctx, &p, &image), wrong, "no plane 0 of RGBA");
    p.vk_format = VK_FORMAT_R8G8B8A8_UNORM;
    p.plane = 1;
    FAILS(tdl_image_wrap(ctx, &p, &image), wrong, "no plane 1");
    p.plane = 0;
    p.width = 0;
    FAILS(tdl_image_wrap(ctx, &p, &image), wrong, "0×21");
    p.width = 37;
    p.usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
    OK(tdl_image_wrap(ctx, &p, &image));

    FAILS(tdl_batch_images_to_frame(batch, s.images, s.states, &f), TDL_ERROR_INVALID_ARGUMENT,
          "holds nothing yet");
    s.state[0].layout = VK_IMAGE_LAYOUT_GENERAL;
    FAILS(tdl_batch_images_to_frame(batch, s.images, s.states, &f), TDL_ERROR_INVALID_STATE,
          "tdl_batch_begin");
    OK(tdl_batch_begin(batch));
    FAILS(tdl_batch_images_to_frame(batch, s.images, NULL, &f), wrong, "in which state");
    FAILS(tdl_batch_images_to_frame(batch, none, s.states, &f), wrong, "has no image");
    FAILS(tdl_batch_frame_to_images(batch, &f, &image, s.states), TDL_ERROR_UNSUPPORTED,
          "TRANSFER_DST_BIT");
    g.width = 36;
    FAILS(tdl_batch_images_to_frame(batch, s.images, s.states, &g), wrong, "36×21");
    g = f;
    g.format = TDL_FORMAT_BGRA;
    FAILS(tdl_batch_images_to_frame(batch, s.images, s.states, &g), wrong, "plane 0 of RGBA");
    g = f;
    g.planes[0].offset = 2;
    FAILS(tdl_batch_frame_to_images(batch, &g, s.images, s.states), wrong, "multiples of 4");
    tdl_batch_cancel(batch);
    tdl_image_destroy(&image);
    tdl_image_destroy(&image);
    set_destroy(&s);
    frames_destroy(&f);
}

int main(void)
{
    struct tdl_batch *batch;
    int ran = 0;
    barriers_watch(note_layouts);
    ctx = check_context_open();
    tdl_context_get_vulkan(ctx, &vk);
    OK(tdl_batch_create(ctx, &batch));
    for (size_t i = 0; i < COUNT(rows); i++)
        for (VkImageTiling t = VK_IMAGE_TILING_OPTIMAL; t <= VK_IMAGE_TILING_LINEAR; t++)
            ran += round_trip(&rows[i], t, batch);
    check_begin("all formats");
    CHECK(ran >= 4, "only %d round trips were run", ran);
    test_general(batch);
    test_owner(batch);
    test_lifetime(batch);
    test_errors(batch);
    tdl_batch_destroy(&batch);
    check_context_close(ctx);
    return check_result();
}
