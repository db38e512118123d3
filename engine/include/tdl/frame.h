/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file frame.h
 * Pictures in memory that the GPU can reach, and the way from a picture to a
 * tensor and from a mask to a composed picture.
 *
 * A frame's journey: tdl_batch_begin() → tdl_frame_to_tensor() →
 * tdl_batch_graph() → tdl_compose() → tdl_batch_submit(): one submission, and
 * the CPU waits for nothing.
 */
#ifndef TDL_FRAME_H
#define TDL_FRAME_H

#include <tdl/tdl.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- buffers */

/** A piece of memory that holds the planes of frames. */
struct tdl_buffer;

enum tdl_buffer_access {
    TDL_BUFFER_DEVICE = 0, /**< the GPU only */
    TDL_BUFFER_UPLOAD,     /**< mapped; the CPU writes, the GPU reads */
    TDL_BUFFER_READBACK,   /**< mapped and cached; the GPU writes, the CPU reads */
};

/** Create a buffer of `size` bytes. Mapped kinds are coherent and stay mapped
 *  for life. Allocates device memory. */
TDL_API enum tdl_result tdl_buffer_create(struct tdl_context *context, size_t size,
                                          enum tdl_buffer_access access,
                                          struct tdl_buffer **out_buffer);
/**
 * Make the caller's memory a buffer without copying (VK_EXT_external_memory_host).
 * `pointer` and `size` are widened to page borders inside; the memory stays
 * valid until the buffer is destroyed and the timeline has passed its last use.
 * @return TDL_ERROR_UNSUPPORTED when device or driver refuses, with the reason;
 *         TDL_ERROR_INVALID_ARGUMENT when the memory ends behind the last address.
 */
TDL_API enum tdl_result tdl_buffer_import_host(struct tdl_context *context, void *pointer,
                                               size_t size, struct tdl_buffer **out_buffer,
                                               uint64_t *out_offset);
/** Deferred: the memory goes when the GPU has passed the last use. */
TDL_API void tdl_buffer_destroy(struct tdl_buffer **buffer);
/** The mapping, or NULL for TDL_BUFFER_DEVICE and imported memory. */
TDL_API void *tdl_buffer_data(struct tdl_buffer *buffer);
TDL_API size_t tdl_buffer_size(const struct tdl_buffer *buffer);
/** Wait until the GPU has finished writing (for_write: and reading) the
 *  buffer, as far as submitted. Blocking; no wait when it is idle. */
TDL_API enum tdl_result tdl_buffer_wait(struct tdl_buffer *buffer, bool for_write);

/* ----------------------------------------------------------------- frames */

enum tdl_format {
    TDL_FORMAT_UNKNOWN = 0,
    TDL_FORMAT_NV12,  /**< Y, then CbCr at half size */
    TDL_FORMAT_I420,  /**< Y, Cb, Cr */
    TDL_FORMAT_YUY2,  /**< Y0 Cb Y1 Cr */
    TDL_FORMAT_UYVY,  /**< Cb Y0 Cr Y1 */
    TDL_FORMAT_P010,  /**< as NV12, 16-bit little endian, the 10 bits on top */
    TDL_FORMAT_RGBA,  /**< bytes in memory order */
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

enum tdl_matrix {
    TDL_MATRIX_BT601 = 0,
    TDL_MATRIX_BT709,
    TDL_MATRIX_BT2020, /**< non-constant luminance */
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
    enum tdl_format format;
    uint32_t width, height; /**< px */
    struct tdl_plane planes[TDL_MAX_PLANES];
    enum tdl_matrix matrix; /**< YUV formats only */
    enum tdl_range range;   /**< YUV and grey */
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

/* ---------------------------------------------------------------- batches */

/**
 * A run of work that is submitted once. Made once and used again for frame
 * after frame: begin, add work, submit. Holds its own command pool,
 * descriptors and timestamps; begin waits for the batch's previous submission,
 * so keep one batch per frame in flight.
 */
struct tdl_batch;

/** Parts of a frame's work that are timed apart. */
enum tdl_stage {
    TDL_STAGE_PREPROCESS = 0,
    TDL_STAGE_NETWORK,
    TDL_STAGE_COMPOSE,
    TDL_STAGE_COUNT
};

/** Create a batch, not begun. Allocates its pools; never waits for the device. */
TDL_API enum tdl_result tdl_batch_create(struct tdl_context *context, struct tdl_batch **out_batch);
/** Gives up what was not submitted; what was, runs on. */
TDL_API void tdl_batch_destroy(struct tdl_batch **batch);
/** Start anew. Blocking: waits for the batch's previous submission. */
TDL_API enum tdl_result tdl_batch_begin(struct tdl_batch *batch);
/** Give up what was added since begin. */
TDL_API void tdl_batch_cancel(struct tdl_batch *batch);
/** Submit; never waits. `out_point` may be NULL. */
TDL_API enum tdl_result tdl_batch_submit(struct tdl_batch *batch, uint64_t *out_point);
/** Begin timing a stage; the stage before ends here, and the last at submit.
 *  TDL_ERROR_INVALID_ARGUMENT for a stage that there is not. */
TDL_API enum tdl_result tdl_batch_stage(struct tdl_batch *batch, enum tdl_stage stage);
/** GPU time in ns of each stage of the last finished submission; 0 where the
 *  stage was not run or the device has no timestamps. Does not wait: false
 *  when nothing has finished since the last begin. */
TDL_API bool tdl_batch_stage_times(struct tdl_batch *batch, uint64_t out_ns[TDL_STAGE_COUNT]);
/** tdl_graph_dispatch() as a part of a batch. */
TDL_API enum tdl_result tdl_batch_graph(struct tdl_batch *batch, struct tdl_graph *graph,
                                        const struct tdl_binding *inputs, uint32_t input_count,
                                        const struct tdl_binding *outputs, uint32_t output_count);

/* ------------------------------------------------------- frame to tensor */

struct tdl_frame_to_tensor_params {
    /** Part of the frame that is taken; all zero: the whole. px */
    struct { uint32_t x, y, width, height; } crop;
    /** Channel value = colour (0…1) · scale + bias; all zero: scale 1. */
    float scale[3], bias[3];
};
/**
 * Unpack, convert to RGB (full range, the frame's matrix), crop, stretch to
 * the tensor's size (triangle filter as wide as the shrinking asks, bilinear
 * when growing, pixel centres aligned) and normalise: one dispatch.
 * @param tensor  [1, H, W, 3] float32 NHWC/NC4HW4 or float16 NC4HW4
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

/* ---------------------------------------------------------------- compose */

/** Most that a mask can grow or shrink, px. */
#define TDL_MAX_GROW 32

enum tdl_mode {
    TDL_MODE_MASK = 0,    /**< GRAY8 out: the mask, 0 background, 255 foreground */
    TDL_MODE_OVERLAY,     /**< foreground tinted with `overlay_color` */
    TDL_MODE_BLUR,        /**< background blurred */
    TDL_MODE_REPLACE,     /**< background replaced by picture or colour */
    TDL_MODE_ALPHA,       /**< RGBA/BGRA out, straight alpha = mask · the source's alpha */
    TDL_MODE_PASSTHROUGH, /**< the source, converted if the formats differ */
};

struct tdl_compose_params {
    enum tdl_mode mode;
    float background_color[4]; /**< R, G, B, A in 0…1, of sRGB-coded values */
    float overlay_color[4];
    float opacity;      /**< of the overlay, 0…1 */
    float blur_radius;  /**< standard deviation, px of the frame, 0…128 */
    float threshold;    /**< 0…1: the middle of the soft step on the mask */
    float feather;      /**< 0…1: the width of that step; 0 is a hard edge, with everything
                           above a threshold of 0 */
    /** 0…0.99: weight of the previous mask where the picture stands still and
     *  the network wavers. Where the picture moves, or the network has changed
     *  its mind, the weight falls to 0. For a decay per second, raise a share
     *  to the power of the time since the last frame. */
    float smoothing;
    bool refine;        /**< sharpen edges by the full-size luma (guided filter) */
    bool invert;        /**< background and foreground change places */
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
     *  shrinks. 0: neither. */
    float grow;
    /** Mask not new: use the composer's last mask (interval > 1). */
    bool reuse_mask;
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
 *              frame; not read with reuse_mask or in passthrough, and may be
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
