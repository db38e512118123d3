/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Caps, geometry and settings as tables: one row, one named case. */
#include "caps/gsttdlcaps.h"
#include "frame/gsttdlcompose.h"
#include "frame/gsttdldiscontinuity.h"
#include "export/gsttdlexportdmabufpool.h"
#include "caps/gsttdlgeometry.h"
#include "import/gsttdlmisfit.h"
#include "settings/gsttdlproperties.h"

#include <gst/check/gstcheck.h>

#define MODES_KEEPING                                                                              \
    (1 << GST_TDL_MODE_OVERLAY | 1 << GST_TDL_MODE_BLUR | 1 << GST_TDL_MODE_REPLACE |          \
     1 << GST_TDL_MODE_PASSTHROUGH)
#define MASK (1 << GST_TDL_MODE_MASK)
#define ALPHA (1 << GST_TDL_MODE_ALPHA)
#define PASS (1 << GST_TDL_MODE_PASSTHROUGH)

#define ALL_FORMATS                                                                                \
    "{NV12,I420,YUY2,UYVY,P010_10LE,RGBA,BGRA,ARGB,ABGR,RGBx,BGRx,xRGB,xBGR,RGB,BGR,NV21,NV16,"    \
    "YV12,Y42B,Y444,I420_10LE,I422_10LE,Y444_10LE,GRAY8,GRAY16_LE}"
/* Formats of more than eight bits have no DRM format, except P010. */
#define ALL_DRM                                                                                    \
    "{NV12,YU12,YUYV,UYVY,P010,AB24,AR24,BA24,RA24,XB24,XR24,BX24,RX24,BG24,RG24,NV21,NV16,YV12,"  \
    "YU16,YU24,\"R8  \",\"R16 \"}"
#define WITH_DRM                                                                                   \
    "{NV12,I420,YUY2,UYVY,P010_10LE,RGBA,BGRA,ARGB,ABGR,RGBx,BGRx,xRGB,xBGR,RGB,BGR,NV21,NV16,"    \
    "YV12,Y42B,Y444,GRAY8,GRAY16_LE}"
#define IMAGES "{NV12,RGBA,BGRA,RGBx,BGRx}"
#define SYS "video/x-raw,"
#define DMA "video/x-raw(memory:DMABuf),"
#define IMG "video/x-raw(memory:VulkanImage),"
#define SIZES "width=[1,2147483647],height=[1,2147483647],framerate=[0/1,2147483647/1]"

/* Devices and GStreamers that the rows speak of. */
#define TILED G_GUINT64_CONSTANT(0x0100000000000002)
#define TILED_2 G_GUINT64_CONSTANT(0x0300000000606010)
static const struct gst_tdl_tiling tilings[] = {
    { GST_VIDEO_FORMAT_NV12, TILED, .in = TRUE },
    { GST_VIDEO_FORMAT_BGRx, TILED, .in = TRUE, .out = TRUE },
    { GST_VIDEO_FORMAT_BGRx, TILED_2, .out = TRUE },
};
static const struct gst_tdl_abilities none = { .drm_caps = FALSE };
static const struct gst_tdl_abilities old = { .dma_buf_in = TRUE, .dma_buf_out = TRUE };
static const struct gst_tdl_abilities new = {
    .drm_caps = TRUE, .dma_buf_in = TRUE, .dma_buf_out = TRUE
};
static const struct gst_tdl_abilities reads = { .drm_caps = TRUE, .dma_buf_in = TRUE };
static const struct gst_tdl_abilities tiled = { .drm_caps = TRUE,
                                                .dma_buf_in = TRUE,
                                                .dma_buf_out = TRUE,
                                                .tilings = tilings,
                                                .n_tilings = G_N_ELEMENTS(tilings) };
static const struct gst_tdl_abilities vulkan = { .drm_caps = TRUE, .vulkan_image = TRUE };
static const struct gst_tdl_abilities everything = {
    .drm_caps = TRUE, .dma_buf_in = TRUE, .dma_buf_out = TRUE, .vulkan_image = TRUE
};

static const struct {
    const char *name;
    const struct gst_tdl_abilities *abilities;
    guint modes; /* bits of enum gst_tdl_mode */
    GstPadDirection direction;
    const char *caps, *expected;
} transforms[] = {
    { "the format stays", &none, MODES_KEEPING, GST_PAD_SINK,
      SYS "format=NV12,width=64,height=48,framerate=30/1,colorimetry=bt709",
      SYS "format=NV12,width=64,height=48,framerate=30/1,colorimetry=bt709" },
    { "the format stays, backwards; dma-bufs would be copied", &none, MODES_KEEPING & ~PASS,
      GST_PAD_SRC, SYS "format=RGB,width=5", SYS "format=RGB,width=5;" DMA "format=RGB,width=5" },
    { "a mask is grey", &none, MASK, GST_PAD_SINK,
      SYS "format=YUY2,width=64,height=48,pixel-aspect-ratio=4/3,colorimetry=bt709,"
          "chroma-site=mpeg2",
      SYS "format=GRAY8,width=64,height=48,pixel-aspect-ratio=4/3" },
    { "a mask comes of any format", &none, MASK, GST_PAD_SRC, SYS "format=GRAY8,width=64",
      SYS "width=64,format=" ALL_FORMATS ";" DMA "width=64,format=" ALL_FORMATS },
    { "a mask is never NV12", &none, MASK, GST_PAD_SRC, SYS "format=NV12", "EMPTY" },
    { "a mask is among many", &none, MASK, GST_PAD_SRC, SYS "format={NV12,GRAY8}",
      SYS "format=" ALL_FORMATS ";" DMA "format=" ALL_FORMATS },
    { "alpha of YUV", &none, ALPHA, GST_PAD_SINK, SYS "format=I420,colorimetry=bt601",
      SYS "format={RGBA,BGRA,ARGB,ABGR}" },
    { "alpha keeps the byte order", &none, ALPHA, GST_PAD_SINK, SYS "format=BGRx",
      SYS "format={BGRA,RGBA,ARGB,ABGR}" },
    { "alpha in front stays there", &none, ALPHA, GST_PAD_SINK, SYS "format=xBGR",
      SYS "format={ABGR,RGBA,BGRA,ARGB}" },
    { "alpha comes of any format", &none, ALPHA, GST_PAD_SRC, SYS "format=BGRA",
      SYS "format=" ALL_FORMATS ";" DMA "format=" ALL_FORMATS },
    { "alpha is never RGB", &none, ALPHA, GST_PAD_SRC, SYS "format=RGB", "EMPTY" },
    { "other memory is declined", &everything, MODES_KEEPING | MASK | ALPHA, GST_PAD_SINK,
      "video/x-raw(memory:GLMemory),format=RGBA", "EMPTY" },
    { "two features at once are declined", &everything, MODES_KEEPING | MASK | ALPHA, GST_PAD_SINK,
      "video/x-raw(memory:DMABuf, meta:Fixture),format=RGBA", "EMPTY" },
    { "of several memories ours stays", &none, MODES_KEEPING, GST_PAD_SINK,
      "video/x-raw(memory:GLMemory),format=RGBA;" SYS "format=RGB", SYS "format=RGB" },

    { "dma-buf first, system last", &old, MODES_KEEPING & ~PASS, GST_PAD_SINK,
      SYS "format=NV12,width=64", DMA "format=NV12,width=64;" SYS "format=NV12,width=64" },
    { "dma-bufs as of 1.24", &new, MODES_KEEPING & ~PASS, GST_PAD_SINK, SYS "format=BGRx,width=64",
      DMA "format=DMA_DRM,drm-format=XR24,width=64;" DMA "format=BGRx,width=64;" SYS
          "format=BGRx,width=64" },
    { "a drm-format is a format", &new, MODES_KEEPING & ~PASS, GST_PAD_SINK,
      DMA "format=DMA_DRM,drm-format=AR24,width=64",
      DMA "format=DMA_DRM,drm-format=AR24,width=64;" DMA "format=BGRA,width=64;" SYS
          "format=BGRA,width=64" },
    { "of drm-formats those that we know", &new, MODES_KEEPING & ~PASS, GST_PAD_SRC,
      DMA "format=DMA_DRM,drm-format={NV12,NV24,YUYV,(string)\"XR24:0x0100000000000002\"}",
      DMA "format=DMA_DRM,drm-format={NV12,YUYV};" DMA "format={NV12,YUY2};" SYS
          "format={NV12,YUY2}" },
    { "no drm-format that we know", &new, MODES_KEEPING & ~PASS, GST_PAD_SRC,
      DMA "format=DMA_DRM,drm-format=NV24", "EMPTY" },
    { "any drm-format", &new, MASK, GST_PAD_SRC, SYS "format=GRAY8",
      DMA "format=DMA_DRM,drm-format=" ALL_DRM ";" DMA "format=" ALL_FORMATS ";" SYS
          "format=" ALL_FORMATS },
    { "dma-bufs as of 1.24 need a fourcc", &new, MODES_KEEPING & ~PASS, GST_PAD_SINK,
      SYS "format={I422_10LE,NV16},width=4",
      DMA "format=DMA_DRM,drm-format=NV16,width=4;" DMA "format={I422_10LE,NV16},width=4;" SYS
          "format={I422_10LE,NV16},width=4" },
    { "no fourcc, no dma-buf as of 1.24", &new, MODES_KEEPING & ~PASS, GST_PAD_SINK,
      SYS "format=Y444_10LE,width=4",
      DMA "format=Y444_10LE,width=4;" SYS "format=Y444_10LE,width=4" },
    { "any drm-format is one with a fourcc", &new, MODES_KEEPING & ~PASS, GST_PAD_SINK,
      DMA "format=DMA_DRM,width=4",
      DMA "format=DMA_DRM,width=4,drm-format=" ALL_DRM ";" DMA "width=4,format=" WITH_DRM ";" SYS
          "width=4,format=" WITH_DRM },
    { "a mask in a dma-buf", &new, MASK, GST_PAD_SINK, DMA "format=DMA_DRM,drm-format=NV12,width=4",
      DMA "format=DMA_DRM,drm-format=\"R8  \",width=4;" DMA "format=GRAY8,width=4;" SYS
          "format=GRAY8,width=4" },
    { "alpha of a mask's sink", &new, ALPHA, GST_PAD_SRC, DMA "format=DMA_DRM,drm-format=\"R8  \"",
      "EMPTY" },
    { "passthrough keeps what nobody knows", &new, PASS, GST_PAD_SINK,
      DMA "format=DMA_DRM,drm-format=(string)\"NV24:0x0100000000000002\"",
      DMA "format=DMA_DRM,drm-format=(string)\"NV24:0x0100000000000002\"" },
    { "passthrough keeps the memory", &everything, PASS, GST_PAD_SRC,
      IMG "format=RGBA;" SYS "format=RGB", IMG "format=RGBA;" SYS "format=RGB" },
    { "a device that makes none takes a sink's", &reads, MODES_KEEPING & ~PASS, GST_PAD_SINK,
      SYS "format=NV12",
      SYS "format=NV12;" DMA "format=DMA_DRM,drm-format=NV12;" DMA "format=NV12" },
    { "tilings are taken", &tiled, MODES_KEEPING & ~PASS, GST_PAD_SRC, SYS "format={NV12,RGBA}",
      DMA "format=DMA_DRM,drm-format={NV12,(string)\"NV12:0x0100000000000002\",AB24};" DMA
          "format={NV12,RGBA};" SYS "format={NV12,RGBA}" },
    { "tilings go in, linear comes out", &tiled, MODES_KEEPING & ~PASS, GST_PAD_SINK,
      DMA "format=DMA_DRM,drm-format=(string)\"NV12:0x0100000000000002\",width=4",
      DMA "format=DMA_DRM,drm-format=NV12,width=4;" DMA "format=NV12,width=4;" SYS
          "format=NV12,width=4" },
    { "tilings that the device makes, behind linear", &tiled, MODES_KEEPING & ~PASS, GST_PAD_SINK,
      SYS "format=BGRx,width=4",
      DMA "format=DMA_DRM,drm-format={XR24,(string)\"XR24:0x0100000000000002\","
          "(string)\"XR24:0x0300000000606010\"},width=4;" DMA "format=BGRx,width=4;" SYS
          "format=BGRx,width=4" },
    { "a tiling of the sink's comes of what can be read", &tiled, MODES_KEEPING & ~PASS,
      GST_PAD_SRC, DMA "format=DMA_DRM,drm-format=(string)\"XR24:0x0300000000606010\",width=4",
      DMA "format=DMA_DRM,drm-format={XR24,(string)\"XR24:0x0100000000000002\"},width=4;" DMA
          "format=BGRx,width=4;" SYS "format=BGRx,width=4" },
    { "a tiling that the device only reads is not made", &tiled, MODES_KEEPING & ~PASS, GST_PAD_SRC,
      DMA "format=DMA_DRM,drm-format=(string)\"NV12:0x0100000000000002\"", "EMPTY" },
    { "a tiling that the device only makes is not taken", &tiled, MODES_KEEPING & ~PASS,
      GST_PAD_SINK, DMA "format=DMA_DRM,drm-format=(string)\"XR24:0x0300000000606010\"", "EMPTY" },
    { "a tiling of another format", &tiled, MODES_KEEPING & ~PASS, GST_PAD_SINK,
      DMA "format=DMA_DRM,drm-format=(string)\"AB24:0x0100000000000002\"", "EMPTY" },

    { "images to images", &vulkan, MODES_KEEPING & ~PASS, GST_PAD_SINK, IMG "format=RGBA,width=4",
      IMG "format=RGBA,width=4;" SYS "format=RGBA,width=4" },
    { "images to images, then dma-bufs", &everything, MODES_KEEPING & ~PASS, GST_PAD_SINK,
      IMG "format=RGBA",
      IMG "format=RGBA;" DMA "format=DMA_DRM,drm-format=AB24;" DMA "format=RGBA;" SYS
          "format=RGBA" },
    { "dma-bufs to dma-bufs, then images", &everything, MODES_KEEPING & ~PASS, GST_PAD_SINK,
      DMA "format=DMA_DRM,drm-format=AB24",
      DMA "format=DMA_DRM,drm-format=AB24;" DMA "format=RGBA;" IMG "format=RGBA;" SYS
          "format=RGBA" },
    { "there are no images of I420", &vulkan, MODES_KEEPING & ~PASS, GST_PAD_SINK,
      SYS "format=I420", SYS "format=I420" },
    { "images of any format", &vulkan, MODES_KEEPING & ~PASS, GST_PAD_SINK, SYS "width=4",
      IMG "width=4,format=" IMAGES ";" SYS "width=4" },
    { "there are no images of masks", &vulkan, MASK, GST_PAD_SINK, IMG "format=NV12,width=4",
      SYS "format=GRAY8,width=4" },
    { "no images without a shared device", &new, MODES_KEEPING & ~PASS, GST_PAD_SINK,
      IMG "format=RGBA",
      DMA "format=DMA_DRM,drm-format=AB24;" DMA "format=RGBA;" SYS "format=RGBA" },
};

GST_START_TEST(transform)
{
    for (gint mode = GST_TDL_MODE_MASK; mode <= GST_TDL_MODE_PASSTHROUGH; mode++) {
        GstCaps *caps, *expected, *result;

        if (!(transforms[__i__].modes & 1 << mode))
            continue;
        caps = gst_caps_from_string(transforms[__i__].caps);
        expected = gst_caps_from_string(transforms[__i__].expected);
        result = gst_tdl_caps_transform(mode, transforms[__i__].direction,
                                        transforms[__i__].abilities, caps, NULL);
        /* Strictly: the order is the preference. */
        fail_unless(gst_caps_is_strictly_equal(result, expected), "%s, mode %d: %s",
                    transforms[__i__].name, mode, gst_caps_to_string(result));
        gst_caps_unref(caps);
        gst_caps_unref(expected);
        gst_caps_unref(result);
    }
}
GST_END_TEST;

/* The filter's order wins, as the core asks of transform_caps. */
GST_START_TEST(filter)
{
    GstCaps *caps = gst_caps_from_string("video/x-raw,format=NV12");
    GstCaps *wanted = gst_caps_from_string("video/x-raw,format=BGRA;video/x-raw,format=RGBA");
    GstCaps *result = gst_tdl_caps_transform(GST_TDL_MODE_ALPHA, GST_PAD_SINK, &new, caps, wanted);

    fail_unless(gst_caps_is_strictly_equal(result, wanted), "%s",
                gst_caps_to_string(result));
    gst_caps_unref(caps);
    gst_caps_unref(wanted);
    gst_caps_unref(result);
}
GST_END_TEST;

/* Every kind of memory, and drm-formats of any tiling, as the device may know them. */
GST_START_TEST(templates)
{
    GstCaps *caps = gst_tdl_caps_template(&everything);
    GstCaps *expected = gst_caps_from_string(
        DMA "format=DMA_DRM," SIZES ";"
        DMA "format=" ALL_FORMATS "," SIZES ";"
        IMG "format=" IMAGES "," SIZES ";"
        SYS "format=" ALL_FORMATS "," SIZES "");

    fail_unless(gst_caps_is_strictly_equal(caps, expected), "%s", gst_caps_to_string(caps));
    gst_caps_unref(caps);
    gst_caps_unref(expected);
}
GST_END_TEST;

static const struct {
    const char *name, *input, *candidates, *peer, *wanted;
    gboolean no_dma_bufs; /* are made */
} preferences[] = {
    { "a sink of anything gets system memory for it", SYS "format=NV12",
      DMA "format=NV12;" SYS "format=NV12", "ANY", SYS "format=NV12" },
    { "a converter of anything, too", SYS "format=NV12", DMA "format=NV12;" SYS "format=NV12",
      "video/x-raw(ANY)", SYS "format=NV12" },
    { "dma-bufs stay dma-bufs", DMA "format=NV12", SYS "format=NV12;" DMA "format=NV12", "ANY",
      DMA "format=NV12" },
    { "whoever names dma-bufs gets them", SYS "format=NV12", DMA "format=NV12;" SYS "format=NV12",
      DMA "format=NV12;" SYS "format=NV12", DMA "format=NV12" },
    { "no choice", SYS "format=NV12", DMA "format=NV12", "ANY", DMA "format=NV12" },
    { "whoever names dma-bufs first, where none are made", SYS "format=NV12",
      DMA "format=NV12;" SYS "format=NV12", DMA "format=NV12;" SYS "format=NV12",
      SYS "format=NV12", TRUE },
    { "dma-bufs alone, where none are made", SYS "format=NV12", DMA "format=NV12",
      DMA "format=NV12", DMA "format=NV12", TRUE },
    { "dma-bufs that come in do not stay, where none are made", DMA "format=NV12",
      DMA "format=NV12;" SYS "format=NV12", "ANY", SYS "format=NV12", TRUE },
};

GST_START_TEST(preference)
{
    GstCaps *input = gst_caps_from_string(preferences[__i__].input);
    GstCaps *peer = gst_caps_from_string(preferences[__i__].peer);
    GstCaps *candidates = gst_caps_from_string(preferences[__i__].candidates);
    GstCaps *wanted = gst_caps_from_string(preferences[__i__].wanted), *got;
    const struct gst_tdl_abilities abilities = { .dma_buf_out = !preferences[__i__].no_dma_bufs };
    guint count = gst_caps_get_size(candidates);

    candidates = gst_tdl_caps_prefer(&abilities, input, candidates, peer);
    fail_unless_equals_int(gst_caps_get_size(candidates), count);
    got = gst_caps_copy_nth(candidates, 0);
    fail_unless(gst_caps_is_strictly_equal(got, wanted), "%s: %s", preferences[__i__].name,
                gst_caps_to_string(candidates));
    gst_caps_unref(got);
    gst_caps_unref(input);
    gst_caps_unref(peer);
    gst_caps_unref(candidates);
    gst_caps_unref(wanted);
}
GST_END_TEST;

static const struct {
    const char *caps;
    gboolean good;
    enum gst_tdl_memory memory;
    GstVideoFormat format;
    guint64 modifier;
} videos[] = {
    { SYS "format=NV12,width=64,height=48", TRUE, GST_TDL_MEMORY_SYSTEM, GST_VIDEO_FORMAT_NV12, 0 },
    { DMA "format=NV12,width=64,height=48", TRUE, GST_TDL_MEMORY_DMA_BUF, GST_VIDEO_FORMAT_NV12,
      0 },
    { IMG "format=RGBA,width=64,height=48", TRUE, GST_TDL_MEMORY_VULKAN, GST_VIDEO_FORMAT_RGBA, 0 },
    { DMA "format=DMA_DRM,drm-format=XR24,width=64,height=48", TRUE, GST_TDL_MEMORY_DMA_BUF,
      GST_VIDEO_FORMAT_BGRx, 0 },
    { DMA "format=DMA_DRM,drm-format=(string)\"NV12:0x0100000000000002\",width=64,height=48", TRUE,
      GST_TDL_MEMORY_DMA_BUF, GST_VIDEO_FORMAT_NV12, TILED },
    { DMA "format=DMA_DRM,drm-format=\"R8  \",width=64,height=48", TRUE, GST_TDL_MEMORY_DMA_BUF,
      GST_VIDEO_FORMAT_GRAY8, 0 },
    { DMA "format=DMA_DRM,drm-format=NV24,width=64,height=48", FALSE, 0, 0, 0 },
    { DMA "format=DMA_DRM,drm-format=(string)\"NV12:0xnonsense\",width=64,height=48", FALSE, 0, 0,
      0 },
    { DMA "format=DMA_DRM,drm-format=(string)\"NV12:\",width=64,height=48", FALSE, 0, 0, 0 },
    { DMA "format=DMA_DRM,width=64,height=48", FALSE, 0, 0, 0 },
    { "video/x-raw(memory:GLMemory),format=RGBA,width=64,height=48", FALSE, 0, 0, 0 },
};

GST_START_TEST(video)
{
    GstCaps *caps = gst_caps_from_string(videos[__i__].caps);
    struct gst_tdl_video result;

    fail_unless_equals_int(gst_tdl_video_from_caps(caps, &result), videos[__i__].good);
    gst_caps_unref(caps);
    if (!videos[__i__].good)
        return;
    fail_unless_equals_int(result.memory, videos[__i__].memory);
    fail_unless_equals_int(GST_VIDEO_INFO_FORMAT(&result.info), videos[__i__].format);
    fail_unless_equals_int(result.info.width, 64);
    fail_unless_equals_int(result.info.height, 48);
    fail_unless_equals_uint64(result.modifier, videos[__i__].modifier);
}
GST_END_TEST;

/* As V4L2 and KMS count: the codes of drm_fourcc.h, written out. */
GST_START_TEST(fourcc)
{
    fail_unless_equals_int(gst_tdl_caps_drm_fourcc(GST_VIDEO_FORMAT_BGRx), 0x34325258);
    fail_unless_equals_int(gst_tdl_caps_drm_fourcc(GST_VIDEO_FORMAT_NV12), 0x3231564e);
    fail_unless_equals_int(gst_tdl_caps_drm_fourcc(GST_VIDEO_FORMAT_GRAY8), 0x20203852);
    fail_unless_equals_int(gst_tdl_caps_drm_fourcc(GST_VIDEO_FORMAT_ARGB), 0x34324142);
    fail_unless_equals_int(gst_tdl_caps_drm_fourcc(GST_VIDEO_FORMAT_Y42B), 0x36315559);
    fail_unless_equals_int(gst_tdl_caps_drm_fourcc(GST_VIDEO_FORMAT_NV24), 0);
    fail_unless_equals_int(gst_tdl_caps_drm_fourcc(GST_VIDEO_FORMAT_I420_10LE), 0);
}
GST_END_TEST;

/* Rows of our dma-bufs: whole multiples of 256 bytes, I420's chroma half of luma. */
GST_START_TEST(dma_buf_rows)
{
    static const GstVideoFormat all[] = { GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_I420,
                                          GST_VIDEO_FORMAT_BGRx, GST_VIDEO_FORMAT_RGB,
                                          GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_YUY2,
                                          GST_VIDEO_FORMAT_I422_10LE, GST_VIDEO_FORMAT_NV16 };
    GstVideoInfo info;

    gst_video_info_set_format(&info, all[__i__], 322, 50);
    fail_unless(gst_tdl_export_dma_buf_layout(&info, TRUE));
    for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES(&info); p++) {
        gsize row = gst_tdl_geometry_plane_row(info.finfo, p, 322);
        gsize rows = gst_tdl_geometry_plane_rows(info.finfo, p, 50);
        gsize end = p + 1 < GST_VIDEO_INFO_N_PLANES(&info) ? info.offset[p + 1] : info.size;

        fail_unless_equals_int(info.stride[p] % 256, 0);
        fail_unless((gsize)info.stride[p] >= row);
        fail_unless(info.offset[p] + info.stride[p] * rows <= end, "plane %u of %s", p,
                    GST_VIDEO_INFO_NAME(&info));
    }
    if (all[__i__] == GST_VIDEO_FORMAT_I420 || all[__i__] == GST_VIDEO_FORMAT_I422_10LE)
        fail_unless_equals_int(info.stride[0], 2 * info.stride[1]);
}
GST_END_TEST;

static const struct {
    enum gst_tdl_mode wanted, expected;
    GstVideoFormat in, out;
} modes[] = {
    { GST_TDL_MODE_BLUR, GST_TDL_MODE_BLUR, GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_NV12 },
    { GST_TDL_MODE_MASK, GST_TDL_MODE_MASK, GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_GRAY8 },
    { GST_TDL_MODE_MASK, GST_TDL_MODE_MASK, GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_GRAY8 },
    { GST_TDL_MODE_ALPHA, GST_TDL_MODE_ALPHA, GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_BGRA },
    /* The property is ahead of the caps. */
    { GST_TDL_MODE_BLUR, GST_TDL_MODE_MASK, GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_GRAY8 },
    { GST_TDL_MODE_BLUR, GST_TDL_MODE_ALPHA, GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_RGBA },
    { GST_TDL_MODE_MASK, GST_TDL_MODE_PASSTHROUGH, GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_NV12 },
    { GST_TDL_MODE_ALPHA, GST_TDL_MODE_PASSTHROUGH, GST_VIDEO_FORMAT_RGB, GST_VIDEO_FORMAT_RGB },
    { GST_TDL_MODE_ALPHA, GST_TDL_MODE_ALPHA, GST_VIDEO_FORMAT_Y444, GST_VIDEO_FORMAT_ARGB },
    { GST_TDL_MODE_ALPHA, GST_TDL_MODE_PASSTHROUGH, GST_VIDEO_FORMAT_xBGR, GST_VIDEO_FORMAT_xBGR },
};

GST_START_TEST(mode)
{
    fail_unless_equals_int(
        gst_tdl_caps_mode(modes[__i__].wanted, modes[__i__].in, modes[__i__].out),
        modes[__i__].expected);
}
GST_END_TEST;

static const struct {
    const char *caps;
    enum tdl_format format;
    enum tdl_color_matrix matrix;
    enum tdl_range range;
} frames[] = {
    { "format=NV12,width=640,height=480", TDL_FORMAT_NV12, TDL_COLOR_MATRIX_BT601,
      TDL_RANGE_LIMITED },
    { "format=NV12,width=1280,height=720", TDL_FORMAT_NV12, TDL_COLOR_MATRIX_BT709,
      TDL_RANGE_LIMITED },
    { "format=P010_10LE,width=3840,height=2160,colorimetry=bt2020", TDL_FORMAT_P010,
      TDL_COLOR_MATRIX_BT2020, TDL_RANGE_LIMITED },
    { "format=I420,width=1280,height=720,colorimetry=bt601", TDL_FORMAT_I420,
      TDL_COLOR_MATRIX_BT601, TDL_RANGE_LIMITED },
    { "format=YUY2,width=64,height=48,colorimetry=bt709", TDL_FORMAT_YUY2, TDL_COLOR_MATRIX_BT709,
      TDL_RANGE_LIMITED },
    { "format=UYVY,width=64,height=48,colorimetry=bt2020", TDL_FORMAT_UYVY, TDL_COLOR_MATRIX_BT2020,
      TDL_RANGE_LIMITED },
    { "format=I420,width=64,height=48,colorimetry=1:4:0:0", TDL_FORMAT_I420, TDL_COLOR_MATRIX_BT601,
      TDL_RANGE_FULL },
    { "format=I420,width=64,height=48,colorimetry=smpte240m", TDL_FORMAT_I420,
      TDL_COLOR_MATRIX_BT709, TDL_RANGE_LIMITED },
    { "format=BGRx,width=64,height=48", TDL_FORMAT_BGRX, TDL_COLOR_MATRIX_BT601, TDL_RANGE_FULL },
    { "format=RGB,width=64,height=48,colorimetry=sRGB", TDL_FORMAT_RGB, TDL_COLOR_MATRIX_BT601,
      TDL_RANGE_FULL },
    { "format=GRAY8,width=64,height=48", TDL_FORMAT_GRAY8, TDL_COLOR_MATRIX_BT601, TDL_RANGE_FULL },
    { "format=BGR,width=7,height=5", TDL_FORMAT_BGR, TDL_COLOR_MATRIX_BT601, TDL_RANGE_FULL },
    { "format=RGBA,width=7,height=5", TDL_FORMAT_RGBA, TDL_COLOR_MATRIX_BT601, TDL_RANGE_FULL },
    { "format=BGRA,width=7,height=5", TDL_FORMAT_BGRA, TDL_COLOR_MATRIX_BT601, TDL_RANGE_FULL },
    { "format=RGBx,width=7,height=5", TDL_FORMAT_RGBX, TDL_COLOR_MATRIX_BT601, TDL_RANGE_FULL },
    { "format=xRGB,width=7,height=5", TDL_FORMAT_XRGB, TDL_COLOR_MATRIX_BT601, TDL_RANGE_FULL },
    { "format=ABGR,width=7,height=5", TDL_FORMAT_ABGR, TDL_COLOR_MATRIX_BT601, TDL_RANGE_FULL },
    { "format=YV12,width=1280,height=720", TDL_FORMAT_YV12, TDL_COLOR_MATRIX_BT709,
      TDL_RANGE_LIMITED },
    { "format=Y444_10LE,width=64,height=48,colorimetry=bt2020", TDL_FORMAT_Y444_10,
      TDL_COLOR_MATRIX_BT2020, TDL_RANGE_LIMITED },
    { "format=GRAY16_LE,width=64,height=48", TDL_FORMAT_GRAY16, TDL_COLOR_MATRIX_BT601,
      TDL_RANGE_FULL },
};

GST_START_TEST(frame)
{
    g_autofree gchar *text = g_strconcat("video/x-raw,", frames[__i__].caps, NULL);
    GstCaps *caps = gst_caps_from_string(text);
    struct tdl_frame result;
    GstVideoInfo info;

    fail_unless(gst_video_info_from_caps(&info, caps));
    gst_tdl_caps_frame(&info, &result);
    fail_unless_equals_int(result.format, frames[__i__].format);
    fail_unless_equals_int(result.width, info.width);
    fail_unless_equals_int(result.height, info.height);
    fail_unless_equals_int(result.range, frames[__i__].range);
    if (GST_VIDEO_INFO_IS_YUV(&info)) /* others have no use for it */
        fail_unless_equals_int(result.matrix, frames[__i__].matrix);
    gst_caps_unref(caps);
}
GST_END_TEST;

/* Rows against GStreamer's own layout: its default strides are the rows,
 * rounded up to four bytes. */
GST_START_TEST(rows)
{
    static const GstVideoFormat all[] = {
        GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_I420, GST_VIDEO_FORMAT_YUY2, GST_VIDEO_FORMAT_UYVY,
        GST_VIDEO_FORMAT_P010_10LE, GST_VIDEO_FORMAT_RGBA, GST_VIDEO_FORMAT_BGRA,
        GST_VIDEO_FORMAT_RGBx, GST_VIDEO_FORMAT_BGRx, GST_VIDEO_FORMAT_RGB, GST_VIDEO_FORMAT_BGR,
        GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_ARGB, GST_VIDEO_FORMAT_xBGR, GST_VIDEO_FORMAT_NV21,
        GST_VIDEO_FORMAT_NV16, GST_VIDEO_FORMAT_YV12, GST_VIDEO_FORMAT_Y42B, GST_VIDEO_FORMAT_Y444,
        GST_VIDEO_FORMAT_I420_10LE, GST_VIDEO_FORMAT_I422_10LE, GST_VIDEO_FORMAT_Y444_10LE,
        GST_VIDEO_FORMAT_GRAY16_LE,
    };
    static const gint sizes[] = { 1, 2, 3, 4, 5, 17, 64, 641, 1280 };
    GstVideoInfo info;

    fail_unless(gst_tdl_caps_format(all[__i__]) != TDL_FORMAT_UNKNOWN);
    for (guint w = 0; w < G_N_ELEMENTS(sizes); w++) {
        gst_video_info_set_format(&info, all[__i__], sizes[w], sizes[w]);
        for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES(&info); p++) {
            gsize row = gst_tdl_geometry_plane_row(info.finfo, p, sizes[w]);
            guint rows = gst_tdl_geometry_plane_rows(info.finfo, p, sizes[w]);
            gboolean half = p > 0 && GST_VIDEO_FORMAT_INFO_H_SUB(info.finfo, GST_VIDEO_COMP_U) > 0;

            fail_unless_equals_int(rows, half ? (sizes[w] + 1) / 2 : sizes[w]);
            fail_unless_equals_int(row <= (gsize)info.stride[p], TRUE);
            /* GStreamer rounds I420's and NV12's chroma up by more. */
            fail_unless(row + 8 > (gsize)info.stride[p], "%s plane %u width %d: %zu of %d",
                        GST_VIDEO_INFO_NAME(&info), p, sizes[w], row, info.stride[p]);
        }
    }
}
GST_END_TEST;

static const struct {
    struct gst_tdl_rect rect, expected;
    gboolean cropped;
} crops[] = { /* crops of 101×51 px */
    { { 0, 0, 101, 51 }, { 0, 0, 101, 51 }, FALSE },
    { { 16, 10, 32, 20 }, { 16, 10, 32, 20 }, TRUE },
    { { 17, 11, 32, 20 }, { 16, 10, 40, 22 }, TRUE },
    { { 50, 20, 1000, 1000 }, { 48, 20, 53, 31 }, TRUE },
    { { 50, 20, G_MAXUINT, G_MAXUINT }, { 48, 20, 53, 31 }, TRUE },
    { { 101, 0, 10, 10 }, { 0 }, FALSE },
    { { 10, 10, 0, 0 }, { 0 }, FALSE },
};

GST_START_TEST(crop)
{
    struct gst_tdl_rect rect = crops[__i__].rect;
    const struct gst_tdl_rect *expected = &crops[__i__].expected;

    fail_unless_equals_int(gst_tdl_rect_align(101, 51, &rect), crops[__i__].cropped);
    if (!crops[__i__].cropped)
        return;
    fail_unless_equals_int(rect.x, expected->x);
    fail_unless_equals_int(rect.y, expected->y);
    fail_unless_equals_int(rect.width, expected->width);
    fail_unless_equals_int(rect.height, expected->height);
}
GST_END_TEST;

/* Frames of a source other than the caps' one are told by their metas. */
static const struct {
    const char *format; /* format of the caps, 100×50 px */
    GstVideoFormat meta;
    guint width, height;
    gboolean crop, fits;
} metas[] = {
    { "I420", GST_VIDEO_FORMAT_I420, 100, 50, FALSE, TRUE },
    { "I420", GST_VIDEO_FORMAT_NV12, 100, 50, FALSE, FALSE },
    { "BGRx", GST_VIDEO_FORMAT_BGRA, 100, 50, FALSE, TRUE },
    { "BGRx", GST_VIDEO_FORMAT_RGBx, 100, 50, FALSE, FALSE },
    { "YUY2", GST_VIDEO_FORMAT_UYVY, 100, 50, FALSE, FALSE },
    { "NV12", GST_VIDEO_FORMAT_P010_10LE, 100, 50, FALSE, FALSE },
    { "I420", GST_VIDEO_FORMAT_I420, 98, 50, FALSE, FALSE },
    { "I420", GST_VIDEO_FORMAT_I420, 100, 48, FALSE, FALSE },
    { "I420", GST_VIDEO_FORMAT_I420, 128, 64, FALSE, TRUE }, /* a decoder's padding */
    { "I420", GST_VIDEO_FORMAT_I420, 300, 50, FALSE, FALSE },
    { "I420", GST_VIDEO_FORMAT_I420, 300, 90, TRUE, TRUE },
    { "I420", GST_VIDEO_FORMAT_NV12, 300, 90, TRUE, FALSE },
};

GST_START_TEST(meta_fits)
{
    g_autofree gchar *text = g_strdup_printf("video/x-raw,format=%s,width=100,height=50",
                                             metas[__i__].format);
    GstCaps *caps = gst_caps_from_string(text);
    GstBuffer *buffer = gst_buffer_new();
    struct gst_tdl_video video;

    fail_unless(gst_tdl_video_from_caps(caps, &video));
    fail_unless(gst_tdl_misfit_meta_fits(&video, buffer), "no meta says nothing");
    gst_buffer_add_video_meta(buffer, 0, metas[__i__].meta, metas[__i__].width,
                              metas[__i__].height);
    if (metas[__i__].crop)
        gst_buffer_add_video_crop_meta(buffer);
    fail_unless_equals_int(gst_tdl_misfit_meta_fits(&video, buffer), metas[__i__].fits);
    gst_buffer_unref(buffer);
    gst_caps_unref(caps);
}
GST_END_TEST;

/* Times of frames in ms, and which of them come behind a gap. */
static const struct {
    guint times[8], count, gaps; /* bits */
} clocks[] = {
    { { 0, 33, 66, 100, 133 }, 5, 0 },
    { { 0, 33, 500, 533, 2100, 2133 }, 6, 1 << 4 },
    { { 0, 1000, 2000, 3100, 4000, 9000 }, 6, 1 << 1 | 1 << 5 }, /* one a second */
    { { 5000, 4967, 4934, 4900, 3000 }, 5, 1 << 4 },             /* backwards */
};

GST_START_TEST(discontinuities)
{
    struct gst_tdl_discontinuity discontinuity;

    gst_tdl_discontinuity_init(&discontinuity);
    for (guint i = 0; i < clocks[__i__].count; i++) {
        fail_if(gst_tdl_discontinuity_before(&discontinuity, GST_CLOCK_TIME_NONE),
                "no time says nothing");
        fail_unless_equals_int(
            gst_tdl_discontinuity_before(&discontinuity, clocks[__i__].times[i] * GST_MSECOND),
            clocks[__i__].gaps >> i & 1);
    }
}
GST_END_TEST;

/* px of the blur's deviation, which the engine takes up to 128. */
static const struct {
    gfloat radius, share;
    guint height;
    gfloat sigma;
} blurs[] = {
    { 16, 0, 720, 16 }, { 16, 0.0222222f, 720, 16 }, { 5, 0.01f, 2160, 21.6f },
    { 5, 0.25f, 2160, 128 }, { 0, 0, 720, 0 },
};

GST_START_TEST(blur)
{
    struct gst_tdl_live live = { .blur_radius = blurs[__i__].radius,
                                 .blur_share = blurs[__i__].share };
    gfloat sigma = gst_tdl_compose_blur(&live, blurs[__i__].height);

    fail_unless(ABS(sigma - blurs[__i__].sigma) < 0.01, "%f px", sigma);
}
GST_END_TEST;

GST_START_TEST(colors)
{
    struct gst_tdl_live live = { .background_color = 0x80ff3300, .overlay_color = 0x00010203 };
    struct tdl_compose_params params;
    const float background[4] = { 1, 0x33 / 255.0f, 0, 0x80 / 255.0f };
    const float overlay[4] = { 1 / 255.0f, 2 / 255.0f, 3 / 255.0f, 0 };

    gst_tdl_compose_params(&live, GST_TDL_MODE_REPLACE, NULL, &params);
    for (guint i = 0; i < 4; i++) {
        fail_unless(ABS(params.background_color[i] - background[i]) < 1e-6, "background %u", i);
        fail_unless(ABS(params.overlay_color[i] - overlay[i]) < 1e-6, "overlay %u", i);
    }
}
GST_END_TEST;

/* Numbers that applications know, and what the engine is asked for. */
static const struct {
    enum gst_tdl_mode mode;
    gint number;
    const gchar *nick;
    enum tdl_mode engine;
} numbers[] = {
    { GST_TDL_MODE_MASK, 0, "mask", TDL_MODE_MASK },
    { GST_TDL_MODE_OVERLAY, 1, "overlay", TDL_MODE_OVERLAY },
    { GST_TDL_MODE_BLUR, 2, "blur", TDL_MODE_BLUR },
    { GST_TDL_MODE_REPLACE, 3, "replace", TDL_MODE_REPLACE },
    { GST_TDL_MODE_ALPHA, 4, "alpha", TDL_MODE_ALPHA },
    { GST_TDL_MODE_PASSTHROUGH, 5, "passthrough", TDL_MODE_PASSTHROUGH },
    { GST_TDL_MODE_PICTURE, 6, "picture", TDL_MODE_PASSTHROUGH },
    { GST_TDL_MODE_CLASSES, 7, "classes", TDL_MODE_PASSTHROUGH },
};

GST_START_TEST(modes_of_engine)
{
    const struct gst_tdl_live live = { 0 };
    const GEnumValue *value = NULL;
    struct tdl_compose_params params;

    fail_unless_equals_int(G_N_ELEMENTS(numbers), GST_TDL_MODE_COUNT);
    fail_unless_equals_int(numbers[__i__].mode, numbers[__i__].number);
    gst_tdl_compose_params(&live, numbers[__i__].mode, NULL, &params);
    fail_unless_equals_int(params.mode, numbers[__i__].engine);
    for (guint i = 0; i < gst_tdl_property_count; i++)
        if (!strcmp(gst_tdl_properties[i].name, "mode"))
            value = gst_tdl_property_values(&gst_tdl_properties[i]);
    while (value && value->value != numbers[__i__].number)
        value++;
    fail_unless_equals_string(value->value_nick, numbers[__i__].nick);
}
GST_END_TEST;

/* The mask's remaining part after a time is its part after 1/30 s, to the power of that time in
 * units of 1/30 s. */
static const struct {
    gfloat left;
    GstClockTime before, now;
    gdouble weight;
} weights[] = {
    { 0.8f, GST_SECOND, GST_SECOND + GST_SECOND / 30, 0.8 },
    { 0.8f, GST_SECOND, GST_SECOND + GST_SECOND / 15, 0.64 },
    { 0.64f, GST_SECOND, GST_SECOND + GST_SECOND / 60, 0.8 },
    { 0.8f, 0, 10 * GST_SECOND, 0 },
    { 0.8f, GST_SECOND, GST_SECOND - GST_SECOND / 15, 0.64 },
    { 0.8f, GST_CLOCK_TIME_NONE, GST_SECOND, 0.8 },
    { 0.8f, GST_SECOND, GST_CLOCK_TIME_NONE, 0.8 },
    { 0.8f, GST_SECOND, GST_SECOND, 0.8 },
    { 0.8f, GST_SECOND, GST_SECOND + 1, 0.99 },
    { 0, GST_SECOND, GST_SECOND + 1, 0 },
};

GST_START_TEST(smoothing)
{
    gdouble weight =
        gst_tdl_compose_smoothing(weights[__i__].left, weights[__i__].before, weights[__i__].now);

    fail_unless(ABS(weight - weights[__i__].weight) < 1e-5, "row %d: %g, not %g", __i__, weight,
                weights[__i__].weight);
}
GST_END_TEST;

static Suite *suite(void)
{
    Suite *s = suite_create("caps");
    TCase *tc = tcase_create("tables");

    suite_add_tcase(s, tc);
    tcase_add_loop_test(tc, transform, 0, G_N_ELEMENTS(transforms));
    tcase_add_test(tc, filter);
    tcase_add_test(tc, templates);
    tcase_add_loop_test(tc, preference, 0, G_N_ELEMENTS(preferences));
    tcase_add_loop_test(tc, video, 0, G_N_ELEMENTS(videos));
    tcase_add_test(tc, fourcc);
    tcase_add_loop_test(tc, dma_buf_rows, 0, 8);
    tcase_add_loop_test(tc, mode, 0, G_N_ELEMENTS(modes));
    tcase_add_loop_test(tc, frame, 0, G_N_ELEMENTS(frames));
    tcase_add_loop_test(tc, rows, 0, 23);
    tcase_add_loop_test(tc, crop, 0, G_N_ELEMENTS(crops));
    tcase_add_loop_test(tc, meta_fits, 0, G_N_ELEMENTS(metas));
    tcase_add_loop_test(tc, discontinuities, 0, G_N_ELEMENTS(clocks));
    tcase_add_loop_test(tc, blur, 0, G_N_ELEMENTS(blurs));
    tcase_add_test(tc, colors);
    tcase_add_loop_test(tc, modes_of_engine, 0, G_N_ELEMENTS(numbers));
    tcase_add_loop_test(tc, smoothing, 0, G_N_ELEMENTS(weights));
    return s;
}

int main(int argc, char **argv)
{
    gst_check_init(&argc, &argv);
    return gst_check_run_suite(suite(), "caps", __FILE__);
}
