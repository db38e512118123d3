/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Caps: pure functions, no element, no device. */
#ifndef GST_TDL_CAPS_H
#define GST_TDL_CAPS_H

#include "settings/gsttdlsettings.h"

#include <gst/video/video.h>
#include <tdl/frame.h>

/* Kinds of memory that caps speak of. */
enum gst_tdl_memory {
    GST_TDL_MEMORY_SYSTEM = 0,
    GST_TDL_MEMORY_DMA_BUF,
    GST_TDL_MEMORY_VULKAN,
};
#define GST_TDL_CAPS_DMA_BUF "memory:DMABuf"
#define GST_TDL_CAPS_VULKAN "memory:VulkanImage"

/* A layout of pixels that dma-bufs may have, beyond linear, and on which sides
 * of the element the device can take it. */
struct gst_tdl_tiling {
    GstVideoFormat format;
    guint64 modifier;
    gboolean in, out;
};

/* Abilities of a device, with this GStreamer. Caps depend on the first ones and the
 * tilings. */
struct gst_tdl_abilities {
    gboolean drm_caps;     /* dma-bufs are format=DMA_DRM with a drm-format (GStreamer 1.24) */
    gboolean dma_buf_in;   /* dma-bufs of others can be imported */
    gboolean dma_buf_out;  /* dma-bufs can be made */
    gboolean vulkan_image; /* the device is shared with GStreamer's Vulkan elements */
    gboolean host_pointer; /* memory of the CPU can be imported by its address */
    gboolean maps; /* the device is the CPU: whatever can be mapped is worked on where it lies */
    gboolean modifiers; /* dma-bufs of other layouts than linear can be images */
    gboolean sync_fd;   /* the device waits for fences of dma-bufs, and gives them */
    const struct gst_tdl_tiling *tilings; /* borrowed */
    guint n_tilings;
};
#define GST_TDL_DRM_CAPS GST_CHECK_VERSION(1, 24, 0)

/* All that a device might do: what pad templates say. */
GstCaps *gst_tdl_caps_template(const struct gst_tdl_abilities *abilities);

/* The caps on the other side of the element in `mode`: `direction` is the
 * side that `caps` belong to. Memory is converted, too; what costs least comes
 * first, and system memory last but for those memories that would be copied.
 * `filter` may be NULL. Returns new caps. */
GstCaps *gst_tdl_caps_transform(enum gst_tdl_mode mode, GstPadDirection direction,
                                const struct gst_tdl_abilities *abilities, GstCaps *caps,
                                GstCaps *filter);

/* How a picture's size grows: quotients, in lowest terms. */
struct gst_tdl_scale {
    gint width[2], height[2]; /* numerator, denominator */
};

/* Sizes on the other side of an element that makes pictures larger; `scale` NULL: by how
 * much is not known. Takes `caps`, which the other side has had as they are. */
GstCaps *gst_tdl_caps_scale(GstCaps *caps, GstPadDirection direction,
                            const struct gst_tdl_scale *scale);

/* The field "tensors" (GStreamer 1.28): frames on the source pad have `groups` beside those that
 * came in, and nobody upstream is asked for what this element makes, or another one before it.
 * `groups` NULL: it makes none, and what came in goes on. Takes `caps`. */
GstCaps *gst_tdl_caps_tensors(GstCaps *caps, GstPadDirection direction, const GstStructure *groups);

/* Put first what a peer that takes anything should be given: the kind of memory that comes
 * in. Others said what they want; but dma-bufs come last where the device makes none, as
 * not everybody who names them, or takes anything, has a pool of them. Takes `candidates`. */
GstCaps *gst_tdl_caps_prefer(const struct gst_tdl_abilities *abilities, const GstCaps *input,
                             GstCaps *candidates, const GstCaps *peer);

/* Fixed caps, read. */
struct gst_tdl_video {
    GstVideoInfo info; /* with caps of DMA_DRM, the format behind the fourcc */
    enum gst_tdl_memory memory;
    guint64 modifier; /* GST_TDL_LINEAR, too, where caps say nothing */
};
#define GST_TDL_LINEAR G_GUINT64_CONSTANT(0)
gboolean gst_tdl_video_from_caps(const GstCaps *caps, struct gst_tdl_video *out_video);

/* A drm-format ("NV12", "XR24:0x0100000000000002") of our formats; FALSE for others. */
gboolean gst_tdl_caps_parse_drm(const gchar *text, GstVideoFormat *out_format,
                                guint64 *out_modifier);
/* The fourcc of one of our formats, as drm_fourcc.h counts. 0 where it has none. */
guint32 gst_tdl_caps_drm_fourcc(GstVideoFormat format);

/* TRUE where `mode` makes `out` of `in`. */
gboolean gst_tdl_caps_fit(enum gst_tdl_mode mode, GstVideoFormat in, GstVideoFormat out);

/* The mode for a frame between a change of `mode` and its renegotiation: the
 * wanted one where the formats fit, else the one that they were made for. */
enum gst_tdl_mode gst_tdl_caps_mode(enum gst_tdl_mode wanted, GstVideoFormat in,
                                    GstVideoFormat out);

enum tdl_format gst_tdl_caps_format(GstVideoFormat format);

/* Format, size and colorimetry of a frame; its planes stay empty. */
void gst_tdl_caps_frame(const GstVideoInfo *info, struct tdl_frame *out_frame);

#endif
