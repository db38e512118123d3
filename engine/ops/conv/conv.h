/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The ways to compute conv2d: rows of one table (table.c), one file each. A row
 * says which shapes it takes and what it will cost about; the cheapest is taken,
 * unless a file of measurements (tuning.h) or the caller says otherwise.
 */
#ifndef TDL_CONV_H
#define TDL_CONV_H

#include "ops/choice.h"
#include "ops/ops.h"

/* A layer. */
struct tdl_conv_geometry {
    struct tdl_dims in, out;
    struct tdl_window window;
    const struct tdl_conv2d_params *p;
    uint32_t in_per_group, out_per_group;
    enum tdl_conv_pre pre;
    bool residual;
    bool plain;         /* the input is a linear tensor: see struct tdl_conv_attr */
    bool bound;         /* a gate is computed inside, or means are written: no other row's */
    bool mixed;         /* it took in what stood around it: only `patch` takes it */
    uint32_t resampled; /* of a mixed one, input channels that are so while they are read */
    bool wide_cells;    /* both sides of a product are halves that come 16 bytes at once */
    /* Where it will run. */
    const struct tdl_device_info *device;
    enum tdl_dtype storage;
};

/* Of a conv2d; NULL where there is none. */
struct tdl_operand *tdl_conv_input(const struct tdl_node *n, uint32_t slot);
/* What the node says of it; device and storage stay as they are. */
void tdl_conv_describe(const struct tdl_node *n, struct tdl_conv_geometry *g);

/* Sizes of tiles and workgroups; what `v` holds is the row's own affair. */
struct tdl_conv_variant {
    const char *name; /* "" where there is just one */
    uint32_t v[6];
};

struct tdl_conv_algorithm {
    const char *name;
    const struct tdl_conv_variant *variants;
    uint32_t variant_count;
    bool reads_plain;
    bool (*accepts)(const struct tdl_conv_geometry *g, const struct tdl_conv_variant *v);
    /* An estimate in ns, for choosing without having measured. */
    double (*cost)(const struct tdl_conv_geometry *g, const struct tdl_conv_variant *v);
    void (*lower)(struct tdl_plan *plan, struct tdl_node *n, const struct tdl_conv_geometry *g,
                  const struct tdl_conv_variant *v);
};

extern const struct tdl_conv_algorithm tdl_conv_pointwise, tdl_conv_depthwise, tdl_conv_direct,
    tdl_conv_grouped, tdl_conv_implicit, tdl_conv_im2col, tdl_conv_winograd23, tdl_conv_winograd43,
    tdl_conv_cooperative, tdl_conv_patch;
/* No row of theirs, but a way of matmul and gemm. */
extern const struct tdl_conv_algorithm tdl_matmul_tensors;

/* Does `patch` take it, on that device and with packs of that type? */
bool tdl_conv_is_patch(const struct tdl_node *n, const struct tdl_device_info *device,
                       enum tdl_dtype storage);
/* Take the best row and append its steps. */
enum tdl_result tdl_conv_lower(struct tdl_plan *plan, struct tdl_node *n,
                               struct tdl_conv_geometry *g);

/* TDL_OK, or an error that lists the names that there are. */
enum tdl_result tdl_conv_check_forced(const char *name);
/* Is it among what reads an input that is no packs? NULL: what is chosen is. */
bool tdl_conv_reads_plain(const char *forced);
/* After lowering: TDL_OK, or that nothing took what was forced. */
enum tdl_result tdl_conv_check_obeyed(const struct tdl_plan_policy *policy);

/* ------------------------------------------------------- shared by the rows */

static inline const struct tdl_heuristics *tdl_conv_heuristics(const struct tdl_conv_geometry *g)
{
    return tdl_heuristics_of(g->device);
}
static inline bool tdl_conv_one_group(const struct tdl_conv_geometry *g)
{
    return g->p->groups == 1 && g->pre == TDL_PRE_NONE;
}
static inline uint32_t tdl_conv_taps(const struct tdl_conv_geometry *g)
{
    return g->window.kernel[0] * g->window.kernel[1];
}
static inline uint32_t tdl_conv_pixels(const struct tdl_conv_geometry *g)
{
    return g->out.h * g->out.w;
}
/* Multiply-accumulates of the definition. */
double tdl_conv_macs(const struct tdl_conv_geometry *g);
/* Bytes of one value in memory. */
uint32_t tdl_conv_value_bytes(const struct tdl_conv_geometry *g);
/* Input, weights and output, each once. */
double tdl_conv_bytes(const struct tdl_conv_geometry *g);
/* ns for `macs` at `efficiency` of what the kind of device can do, or for
 * `bytes` of traffic, whichever takes longer, with what `steps` dispatches
 * cost by themselves. `groups`: workgroups that can run at once, to see when
 * too few keep the device busy. */
double tdl_conv_time(const struct tdl_conv_geometry *g, double macs, double efficiency,
                     double bytes, uint32_t steps, double groups);

/* Largest divisor of `value` that is at most `limit`. */
uint32_t tdl_conv_divisor(uint32_t value, uint32_t limit);
/* Tap `tap`, input channel `i` of output channel `o`; 0 past the ends. `f` is
 * the filter as "ohwi". */
float tdl_conv_weight(const struct tdl_conv_geometry *g, const float *f, uint32_t o, uint32_t tap,
                      uint32_t i);
/* A key for weights that `layout` makes of filter and bias: what decides over
 * them but for the device, and three numbers of the layout's own. */
struct tdl_weights_key tdl_conv_weights_key(const struct tdl_conv_geometry *g,
                                            const struct tdl_node *n, uintptr_t layout, uint32_t a,
                                            uint32_t b, uint32_t c);
/* A key for the bias alone, filled up with zeros. */
struct tdl_weights_key tdl_conv_bias_key(const struct tdl_node *n);
/* Binding 1, per group of `tile` packs: [tap][in channel][tile] vec4, then the bias. */
void tdl_conv_bind_weights(struct tdl_plan *plan, struct tdl_plan_step *s,
                           const struct tdl_conv_geometry *g, const struct tdl_node *n,
                           uint32_t tile);
/* Input at binding 0, one that is no packs at 2 (shaders/common/plain.glsl), residual at 4,
 * output at 5. */
void tdl_conv_bind(struct tdl_plan_step *s, struct tdl_node *n);
/* The first constants of every k×k kernel. */
struct tdl_window_part tdl_conv_window(const struct tdl_conv_geometry *g);

/* ------------------------------------------------------------------- gemm */

/* One tiled matrix product, or one per batch (gemm.c, shaders/conv2d_gemm.comp):
 * the whole of the implicit row, the last step of im2col, the middle one of
 * Winograd. Rows of a are channels in packs, for every tap of the window. */
struct tdl_conv_gemm {
    struct tdl_conv_geometry g; /* kernel of the product; 1×1 for a plain product */
    uint32_t batches;           /* products with weights of their own; else 1 */
    bool wide;                  /* float32 in, float32 out, nothing added */
    struct tdl_operand *in, *out, *residual;
    /* Called before the first weight is asked for, if any is: see
     * tdl_conv_weight_fn for `data`. May be NULL. False when out of memory. */
    bool (*prepare)(void *data);
};
#define TDL_CONV_GEMM_VARIANTS 8
extern const struct tdl_conv_variant tdl_conv_gemm_variants[TDL_CONV_GEMM_VARIANTS];
bool tdl_conv_gemm_accepts(const struct tdl_conv_geometry *g, const struct tdl_conv_variant *v);
/* Weights for it: fills [batch][k][out] through `weight`, then the bias. They
 * depend on the filter, on `weight` and on `m` alone. */
typedef float (*tdl_conv_weight_fn)(const void *data, uint32_t batch, uint32_t o, uint32_t tap,
                                    uint32_t i);
void tdl_conv_gemm_lower(struct tdl_plan *plan, struct tdl_node *n, const struct tdl_conv_gemm *m,
                         const struct tdl_conv_variant *v, tdl_conv_weight_fn weight, void *data);
double tdl_conv_gemm_cost(const struct tdl_conv_geometry *g, const struct tdl_conv_variant *v,
                          double macs, double bytes, uint32_t batches, uint32_t pixels,
                          uint32_t taps);

/* ------------------------------------------------------------ matrix units */

/* For operators other than conv2d whose work is a product, or one an image: that of the rows
 * `in` by `columns`, as a 1×1 convolution without bias. */
struct tdl_conv_geometry tdl_conv_product(const struct tdl_plan *plan, enum tdl_dtype storage,
                                          struct tdl_dims in, uint32_t columns);
typedef bool (*tdl_conv_fits_fn)(const struct tdl_conv_geometry *g, const void *data,
                                 const struct tdl_conv_variant *v);
/* Append the variants of `cooperative` that take it and that `fits`, to a list of
 * TDL_MAX_CANDIDATES that has `count`. Returns how many it has then. */
uint32_t tdl_conv_collect_units(const struct tdl_conv_geometry *g, tdl_conv_fits_fn fits,
                                const void *data, struct tdl_candidate *list, uint32_t count);
/* The parts that a variant sums in, 1 or more, and what they take in memory. */
uint32_t tdl_conv_parts(const struct tdl_conv_variant *v);
uint64_t tdl_conv_sum_bytes(const struct tdl_conv_geometry *g, const struct tdl_conv_variant *v);

/* A transposed convolution whose filter is as large as its stride: a product into the
 * channels of each tap, each tap's in packs of their own, and a block of pixels for each. */
struct tdl_conv_blocks {
    uint32_t size[2], channels; /* height and width in pixels; of the output */
};
void tdl_conv_cooperative_blocks(struct tdl_plan *plan, struct tdl_node *n,
                                 const struct tdl_conv_geometry *g,
                                 const struct tdl_conv_variant *v,
                                 const struct tdl_conv_blocks *blocks);

/* True if a buffer of so many bytes is one that the device's kernels reach. */
bool tdl_conv_scratch_fits(const struct tdl_conv_geometry *g, uint64_t bytes);

#endif
