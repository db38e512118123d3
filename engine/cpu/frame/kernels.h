/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The hot loops of frames, and what they are told. A task makes parts `begin` to
 * `end` of a piece of work; what a part is, its struct says. Masks and all that
 * follows from them have the codings of the shaders: unorm and snorm of 16 bits, two
 * in a word.
 */
#ifndef TDL_CPU_KERNELS_H
#define TDL_CPU_KERNELS_H

#include "cpu/cpu.h"
#include "cpu/isa.h"

#include "picture.h"

#include "frame/compose.h"

/* One axis of a filter: result i is the sum of `taps` samples from first[i] on, tap
 * t weighing weight[t · count + i]. */
struct tdl_cpu_axis {
    int32_t count, taps;
    int32_t low, high; /* the samples that count */
    /* centre of the first result; step to the next; half the triangle */
    double centre, step, support;
    int32_t *first;
    float *weight;
};

/* Filtered samples of a picture; what luma and chroma have in common, or alpha. */
struct tdl_cpu_filter {
    struct tdl_cpu_picture source;
    struct tdl_cpu_axis x[2], y[2]; /* for luma (and RGB), and for chroma */
    bool chroma;                    /* is needed, and there */
    bool over;                      /* alpha is; pixels are laid over `color` */
    float color[4];                 /* in the source's codes, and alpha */
    size_t room;                    /* floats that a row needs while it is made */
};

/* Parts are bands of rows: of `height` in `bands`. */
struct tdl_cpu_bands {
    int32_t height, bands;
    float *room; /* `stride` floats for each */
    size_t stride;
};

struct tdl_cpu_to_tensor {
    struct tdl_cpu_work work;
    struct tdl_cpu_filter filter;
    struct tdl_cpu_bands bands;
    float to_rgb[3][4], scale[3], bias[3];
    void *tensor;
    bool packed, half; /* NC4HW4, and of float16 */
    /* The picture fills columns from `left` on of `width`, and rows from `top` on, as
     * many as the filter has; what is round it is `pad` in each channel. */
    int32_t width, left, top;
    float pad[3];
};

/* Guide and mask of now, smoothed over time (shaders/frame/guide.comp). */
struct tdl_cpu_guide {
    struct tdl_cpu_work work;
    struct tdl_cpu_filter filter;
    struct tdl_cpu_bands bands;
    int32_t width, height;
    bool look, reuse, pairs; /* the guide is needed; no new mask; else coefficients go out */
    bool inverted;           /* background is what the mask is 1 at */
    float keep;
    const float *mask;
    struct tdl_mask_part part; /* part of the mask */
    uint32_t *state, *out;
};

/* Parts are rows of the mask. */
struct tdl_cpu_guided {
    struct tdl_cpu_work work;
    int32_t width, height;
    const uint32_t *pairs;
    uint32_t *lines, *coefficients; /* the latter hold what the lines leave between */
};

/* Place where growth looks: a pixel, and shares of the next ones. */
struct tdl_cpu_probe {
    int32_t x, y;
    float right, below;
};
struct tdl_cpu_grow {
    struct tdl_cpu_work work;
    int32_t width, height, reach[2];
    bool shrink, coefficients;
    struct tdl_cpu_probe *probes; /* none: nothing grows */
    uint32_t probe_count;
    const uint32_t *in;
    uint32_t *out;
};

/* Holes or islands (shaders/frame/regions.comp). */
struct tdl_cpu_regions {
    struct tdl_cpu_work work;
    int32_t width, height;
    bool islands;
    struct tdl_mask_regions what;
    uint32_t *pairs;
    void *room; /* tdl_cpu_regions_room() bytes */
};

/* Common to the kernels at full size: source codes to target codes, and the mask. */
struct tdl_cpu_blocks {
    struct tdl_cpu_picture source, target;
    float matrix[3][4];
    bool rematrix; /* luma needs chroma */
    bool same;     /* nothing is converted at all, … */
    bool copies;   /* … and what does not change may be copied */
    const uint32_t *coefficients;
    int32_t mask_width, mask_height;
    struct tdl_soft_step soft;
    bool guided;
};

/* The picture or colour in place of the old background. */
struct tdl_cpu_behind {
    float color[4];                 /* in the target's codes, and alpha */
    struct tdl_cpu_picture picture; /* in the target's format and size */
    bool is_picture;
};

/* Planes of floats, `size` of each, one behind the other, four of a picture; of `pictures`:
 * the background, and for means (shaders/common/frame_spill.glsl) the foreground, and `light`
 * (frame_light.glsl) is the one of that number, 0: none. */
struct tdl_cpu_blur {
    struct tdl_cpu_work work;
    struct tdl_cpu_blocks blocks;
    struct tdl_blur_steps steps;
    float *sums, *swept, *blurred; /* colour · weight and weight; the same; colour, or as before */
    float *weights;                /* weights of a sweep: radius + 1 */
    int pictures, light;
    struct tdl_cpu_behind behind; /* the light's background */
    float luma_scale, luma_offset;
};

/* Differences between the foreground's colours and the picture, in shares of the target's codes
 * (shaders/frame/foreground.comp). Parts are rows of the mask; three planes, one behind the
 * other. */
struct tdl_cpu_foreground {
    struct tdl_cpu_work work;
    struct tdl_mask_part part; /* part of the tensors */
    const void *foreground, *picture;
    struct tdl_color_reading of_foreground, of_picture;
    const uint32_t *state; /* guide and mask */
    float matrix[3][3];
    float *out;
};

struct tdl_cpu_make_picture {
    struct tdl_cpu_work work;
    struct tdl_cpu_filter filter;
    struct tdl_cpu_bands bands; /* bands of pairs of rows */
    struct tdl_cpu_picture target;
    float matrix[3][4];
};

/* Parts are pairs of rows of the target. */
struct tdl_cpu_compose {
    struct tdl_cpu_work work;
    struct tdl_cpu_blocks blocks;
    enum tdl_compose_kernel kernel;
    struct tdl_cpu_behind behind; /* also has the colour of an overlay */
    float opacity;                /* when a mask is drawn: the value of foreground */
    struct tdl_blur_steps blur;
    const float *blurred;
    /* differences of the foreground's colours, at the mask's size, or NULL */
    const float *differences;
    bool despills; /* `blurred` are means */
    int light;     /* number of the picture that is light, from 1 on */
    float wrap;    /* how much of it */
};

/* Parts are pairs of rows of the target. */
struct tdl_cpu_from_tensor {
    struct tdl_cpu_work work;
    struct tdl_cpu_blocks front, behind; /* RGB of 0…1 to the target; the source to it */
    bool over;                           /* there is a source */
    const float *tensor;                 /* the crop's first pixel */
    int32_t channels, step;              /* floats from one pixel to the next */
    uint32_t tensor_width;
    int32_t width, height; /* the crop's */
    float scale[4], bias[4], opacity;
};

typedef void tdl_cpu_task(void *work, size_t begin, size_t end);
struct tdl_cpu_frame_kernels {
    tdl_cpu_task *to_tensor, *from_tensor, *guide, *fit, *mean, *grow, *picture, *compose;
    tdl_cpu_task *blur_down, *light_down, *blur_across, *blur_along, *foreground;
};
const struct tdl_cpu_frame_kernels *tdl_cpu_frame_kernels(const struct tdl_context *ctx);

/* The tasks of one set of instructions. */
tdl_cpu_task TDL_CPU_NAME(to_tensor), TDL_CPU_NAME(from_tensor), TDL_CPU_NAME(guide),
    TDL_CPU_NAME(fit), TDL_CPU_NAME(mean), TDL_CPU_NAME(grow), TDL_CPU_NAME(picture),
    TDL_CPU_NAME(compose), TDL_CPU_NAME(blur_down), TDL_CPU_NAME(light_down),
    TDL_CPU_NAME(blur_across), TDL_CPU_NAME(blur_along), TDL_CPU_NAME(foreground);
extern const struct tdl_cpu_frame_kernels TDL_CPU_NAME(frame_kernels);

#endif
