/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file frame.h
 * Pictures in memory that the device can reach, and the way from a picture to a
 * tensor and from a mask to a composed picture.
 *
 * A frame's journey: tdl_batch_begin() → tdl_frame_to_tensor() →
 * tdl_batch_graph() → tdl_compose() → tdl_batch_submit(): one submission, and
 * the caller waits for nothing.
 */
#ifndef TDL_FRAME_H
#define TDL_FRAME_H

#include <tdl/batch.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ----------------------------------------------------------------- frames */

enum tdl_format {
    TDL_FORMAT_UNKNOWN = 0,
    TDL_FORMAT_NV12, /**< Y, then CbCr at half size */
    TDL_FORMAT_I420, /**< Y, Cb, Cr */
    TDL_FORMAT_YUY2, /**< Y0 Cb Y1 Cr */
    TDL_FORMAT_UYVY, /**< Cb Y0 Cr Y1 */
    TDL_FORMAT_P010, /**< as NV12, 16-bit little endian, the 10 bits on top */
    TDL_FORMAT_RGBA, /**< bytes in memory order */
    TDL_FORMAT_BGRA,
    TDL_FORMAT_RGBX,
    TDL_FORMAT_BGRX,
    TDL_FORMAT_RGB,
    TDL_FORMAT_BGR,
    TDL_FORMAT_GRAY8,
    TDL_FORMAT_ARGB,
    TDL_FORMAT_ABGR,
    TDL_FORMAT_XRGB,
    TDL_FORMAT_XBGR,
    TDL_FORMAT_NV21,    /**< as NV12, Cr before Cb */
    TDL_FORMAT_NV16,    /**< Y, then CbCr at half width */
    TDL_FORMAT_YV12,    /**< Y, Cr, Cb: the planes of I420 in another order */
    TDL_FORMAT_Y42B,    /**< Y, Cb, Cr, these at half width */
    TDL_FORMAT_Y444,    /**< Y, Cb, Cr */
    TDL_FORMAT_I420_10, /**< as I420, 16-bit little endian, the 10 bits at the bottom */
    TDL_FORMAT_I422_10, /**< as Y42B, likewise */
    TDL_FORMAT_Y444_10, /**< as Y444, likewise */
    TDL_FORMAT_GRAY16,  /**< little endian */
    TDL_FORMAT_COUNT
};

enum tdl_color_matrix {
    TDL_COLOR_MATRIX_BT601 = 0,
    TDL_COLOR_MATRIX_BT709,
    TDL_COLOR_MATRIX_BT2020, /**< non-constant luminance */
};
enum tdl_range {
    TDL_RANGE_LIMITED = 0, /**< Y 16–235, C 16–240 (of 8 bits) */
    TDL_RANGE_FULL,
};

#define TDL_MAX_PLANES 3
struct tdl_plane {
    struct tdl_buffer *buffer; /**< borrowed until the batch is submitted */
    uint64_t offset;           /**< bytes; any */
    uint32_t stride;           /**< bytes; any when read, multiple of 4 when written */
};

/** A picture. Plain data; it owns nothing. Odd sizes have their chroma
 *  rounded up. */
struct tdl_frame {
    enum tdl_format format;                  /**< of the pixels */
    uint32_t width, height;                  /**< px */
    struct tdl_plane planes[TDL_MAX_PLANES]; /**< tdl_format_planes() of them */
    enum tdl_color_matrix matrix;            /**< YUV formats only */
    enum tdl_range range;                    /**< YUV and grey */
    uint64_t reserved[4];                    /**< 0: room for later versions */
};

/** Number of planes of a format. */
TDL_API uint32_t tdl_format_planes(enum tdl_format format);
TDL_API const char *tdl_format_name(enum tdl_format format);
/**
 * The plane offsets and strides of a frame in one buffer of our own, rows
 * aligned to `align` bytes (a power of two ≥ 4). Fills format, size, offset,
 * stride; returns the bytes needed, 0 if the size or the format is wrong.
 */
TDL_API size_t tdl_frame_layout(struct tdl_frame *frame, enum tdl_format format, uint32_t width,
                                uint32_t height, uint32_t align);

/* ------------------------------------------------------- frame to tensor */

/** How a frame is shrunk to the tensor's size. When it grows, both interpolate between the
 *  four nearest pixels. */
enum tdl_filter {
    TDL_FILTER_TRIANGLE = 0, /**< all pixels count, by a triangle as wide as the shrinking asks,
                                  as with "antialias" of PyTorch and Pillow */
    TDL_FILTER_BILINEAR,     /**< the four pixels that are nearest to the place, however far it
                                  is shrunk, as with OpenCV, TensorFlow and textures of GPUs */
};

struct tdl_frame_to_tensor_params {
    /** Part of the frame that is taken; all zero: the whole. px */
    struct {
        uint32_t x, y, width, height;
    } crop;
    /** Channel value = colour (0…1) · scale + bias; all zero: scale 1. In the tensor's
     *  order of channels. */
    float scale[3], bias[3];
    bool bgr; /**< the channels are blue, green, red */
    /** Part of the tensor that the picture fills; all zero: the whole. px. What is
     *  round it is grey, `pad` (0…1) in all colours. */
    struct {
        uint32_t x, y, width, height;
    } inside;
    float pad;
    uint64_t filter;      /**< enum tdl_filter: the one that the network was trained with */
    uint64_t reserved[3]; /**< 0: room for later versions */
};
/**
 * Unpack, convert to RGB (full range, the frame's matrix), crop, stretch to
 * the tensor's size, or that of the part of it that is named (pixel centres
 * aligned), and normalise: one dispatch.
 * @param tensor  [1, H, W, 3] float32, row-major or in packs, or float16 in packs
 */
TDL_API enum tdl_result tdl_frame_to_tensor(struct tdl_batch *batch, const struct tdl_frame *frame,
                                            struct tdl_tensor *tensor,
                                            const struct tdl_frame_to_tensor_params *params);
/**
 * Compile what tdl_frame_to_tensor() will need for frames of this format, laid
 * out so, off the frame path. Blocking. Without it the first frame pays.
 * @param compile  may be NULL
 * @return TDL_ERROR_CANCELED if the progress function returned false
 */
TDL_API enum tdl_result tdl_frame_to_tensor_prepare(const struct tdl_frame *frame,
                                                    struct tdl_tensor *tensor,
                                                    const struct tdl_compile_params *compile);

/* ------------------------------------------------------- tensor to frame */

struct tdl_frame_from_tensor_params {
    /** Part of the tensor that is taken; all zero: the whole. px */
    struct {
        uint32_t x, y, width, height;
    } crop;
    /** Colour (0…1) = channel value · scale + bias, then limited to 0…1; all zero: scale 1.
     *  The channel of a grey tensor is red, green and blue. Alpha (0…1) is taken as it
     *  is; colours between pixels are mixed as much as their alpha lets them be seen. */
    float scale[3], bias[3];
    /** The picture that shows through, of the target's size, format, matrix and range, in
     *  other memory; NULL: nothing does. Its alpha stays. */
    const struct tdl_frame *source;
    float opacity;        /**< 0…1, of the tensor over `source`, times its alpha */
    uint64_t reserved[4]; /**< 0: room for later versions */
};
/**
 * Stretch a tensor to the frame's size (bilinear, pixel centres aligned), turn its
 * colours (RGB, full range) into the frame's codes, and lay them over a source: one
 * dispatch. Without a source, a tensor's alpha becomes that of a frame that has any.
 * @param tensor  [1, H, W, C] float32, row-major or in packs: RGB, or with alpha (C = 4), or
 *                grey (1)
 */
TDL_API enum tdl_result tdl_frame_from_tensor(struct tdl_batch *batch, struct tdl_tensor *tensor,
                                              const struct tdl_frame *frame,
                                              const struct tdl_frame_from_tensor_params *params);
/**
 * Compile what tdl_frame_from_tensor() will need for frames of this format, off the
 * frame path. Blocking. Without it the first frame pays.
 * @param params   NULL: the defaults
 * @param compile  may be NULL
 * @return TDL_ERROR_CANCELED if the progress function returned false
 */
TDL_API enum tdl_result tdl_frame_from_tensor_prepare(
    struct tdl_tensor *tensor, const struct tdl_frame *frame,
    const struct tdl_frame_from_tensor_params *params, const struct tdl_compile_params *compile);

/* ---------------------------------------------------------------- compose */

/** Most that a mask can grow or shrink, px. */
#define TDL_MAX_GROW 32

enum tdl_mode {
    TDL_MODE_MASK = 0,    /**< GRAY8 out: the mask, 0 background, 255 foreground (`mask_value`) */
    TDL_MODE_OVERLAY,     /**< foreground tinted with `overlay_color` */
    TDL_MODE_BLUR,        /**< background blurred */
    TDL_MODE_REPLACE,     /**< background replaced by picture or colour */
    TDL_MODE_ALPHA,       /**< RGBA/BGRA out, straight alpha = mask · the source's alpha */
    TDL_MODE_PASSTHROUGH, /**< the source, converted if the formats differ */
};

/** The part of struct tdl_compose_params that may grow. */
struct tdl_compose_more {
    /** The foreground's own colours, as networks for matting give them beside the mask, and
     *  the picture that the network saw; NULL: none come. Both [1, h, w, 3] of the mask's
     *  size, float32, also in packs, or float16 in packs; either is borrowed until the batch is
     *  submitted. What they differ by is stretched to the frame's size and added to it where
     *  the mask is above 0: so the frame keeps its detail and loses the old background's
     *  colours (Lin, Yang, Saleemi, Sengupta, "Robust High-Resolution Video Matting with
     *  Temporal Guidance", WACV 2022). A channel differs by no more than 1 less the mask: what
     *  is wholly foreground stays as it is. In TDL_MODE_REPLACE and TDL_MODE_ALPHA, in the place of
     *  `despill`, and not with `invert`. A pixel with a channel that is no number, or infinite,
     *  does not differ. They belong to the mask that counts, a new one or that of reuse_mask. */
    struct tdl_tensor *foreground, *picture;
    /** As tdl_frame_to_tensor() had them for `picture`: channel value = colour · scale + bias;
     *  all zero: scale 1. The foreground's channels are colours of 0…1, what is beyond is
     *  limited. */
    float scale[3], bias[3];
    /** With reuse_mask and no `foreground`: the colours that came for that mask count, if they
     *  came for a target of this format, matrix and range. For tdl_composer_prepare(): they
     *  will come. */
    bool keep_foreground;
    bool bgr;             /**< the channels of both are blue, green, red */
    uint64_t reserved[4]; /**< 0: room for later versions */
};

struct tdl_compose_params {
    enum tdl_mode mode;        /**< use of the mask */
    float background_color[4]; /**< R, G, B, A in 0…1, of sRGB-coded values */
    float overlay_color[4];    /**< likewise, of TDL_MODE_OVERLAY */
    float opacity;             /**< of the overlay, 0…1 */
    float blur_radius;         /**< standard deviation, px of the frame, 0…128 */
    float threshold;           /**< 0…1: the middle of the soft step on the mask */
    float feather;             /**< 0…1: the width of that step; 0 is a hard edge, with everything
                           above a threshold of 0 */
    /** 0…0.99: weight of the previous mask where the picture stands still and
     *  the network wavers. Where the picture moves, or the network has changed
     *  its mind, the weight falls to 0. For a decay per second, raise a share
     *  to the power of the time since the last frame. */
    float smoothing;
    /** Sharpen edges by the full-size luma (guided filter: He, Sun, Tang, "Guided Image
     *  Filtering", PAMI 2013). Where luma tells nothing of the mask, the mask stays. */
    bool refine;
    bool invert; /**< background and foreground change places; what is no number in the mask,
                      or infinite, is shown as background with it, too */
    /** Replacement picture, any format, scaled to cover, what sticks out cut off
     *  evenly; NULL: the colour, which also shows where the picture is transparent.
     *  It is read when first seen and kept: another buffer, or
     *  tdl_composer_reset(), makes a change of its pixels count. */
    const struct tdl_frame *background;
    /** How wide a pixel of the picture is, in pixels of the frame of equal height
     *  (the quotient of their aspect ratios); 0: 1 */
    float background_aspect;
    /** Close holes of the mask, of any size, inside the foreground, where the
     *  network is nowhere sure that there is background. */
    bool close_holes;
    /** 0…1, share of the frame's area: regions of foreground or background that
     *  are smaller go over to what is round them, background first. 0: none. */
    float min_area;
    /** −32…32, px of the frame: the foreground (before `invert`) grows, or
     *  shrinks; by 64 px of the mask at most. 0: neither. */
    float grow;
    /** Mask not new: use the composer's last mask (interval > 1). */
    bool reuse_mask;
    /** Part of the mask that covers the frame, px of the mask; all zero: the whole. It
     *  may reach over the mask's borders, and be larger than it (65535 px at most either
     *  way): outside there is background. It counts with a new mask. */
    struct {
        int32_t x, y;
        uint32_t width, height;
    } mask_part;
    /** 1…255: what foreground is in TDL_MODE_MASK, in the place of 255, what is half
     *  foreground being rounded up: with 1 the mask says 0 or 1. 0: 255 */
    uint64_t mask_value;
    /** Take the old background's colours out of the outline, where the mask lies between
     *  0 and 1: in replace and alpha (Forte, "Approximate Fast Foreground Colour
     *  Estimation", ICIP 2021). The foreground's colours and the background's are those that
     *  are clearly one of them within about 1/45 of the frame's height. Colours that the
     *  network gives (`more`) take its place. */
    bool despill;
    /** 0…1: how much of the new background's light falls on the foreground's edge, in
     *  replace. It is the background blurred, the more of it the brighter it is, and reaches
     *  about 1/15 of the frame's height into the foreground. 0: none */
    double light_wrap;
    /** Parameters that came later; NULL: none of them. Borrowed for the call. */
    const struct tdl_compose_more *more;
};

/**
 * Holds what lives between frames of one stream: the previous mask, the
 * refinement's coefficients, blur buffers. Allocated when a size is first
 * seen, then constant.
 */
struct tdl_composer;
/** Create a composer that has seen no frame. Not blocking. */
TDL_API enum tdl_result tdl_composer_create(struct tdl_context *context,
                                            struct tdl_composer **out_composer);
/** Deferred: its memory goes when the timeline has passed the last use. */
TDL_API void tdl_composer_destroy(struct tdl_composer **composer);
/** Forget the previous mask (seek, flush, cut) and the replacement picture. */
TDL_API void tdl_composer_reset(struct tdl_composer *composer);
/**
 * Compile what tdl_compose() will need for these frames, off the frame path.
 * Blocking. Without it the first frame pays.
 * @param compile  may be NULL
 * @return TDL_ERROR_CANCELED if the progress function returned false
 */
TDL_API enum tdl_result tdl_composer_prepare(struct tdl_composer *composer,
                                             const struct tdl_frame *source,
                                             const struct tdl_frame *target,
                                             const struct tdl_compose_params *params,
                                             const struct tdl_compile_params *compile);
/**
 * Queue the composition of `target` from `source` and the mask.
 * @param mask  [1, h, w, 1] float32, 1 where foreground, covering the whole
 *              frame (but see `mask_part`); not read with reuse_mask or in passthrough, and may be
 *              NULL then
 * `target` has `source`'s size. One dispatch for mask, overlay, alpha and
 * replace once the mask is refined; blur adds a few at reduced size.
 */
TDL_API enum tdl_result tdl_compose(struct tdl_batch *batch, struct tdl_composer *composer,
                                    const struct tdl_frame *source, struct tdl_tensor *mask,
                                    const struct tdl_frame *target,
                                    const struct tdl_compose_params *params);

#ifdef __cplusplus
}
#endif
#endif
