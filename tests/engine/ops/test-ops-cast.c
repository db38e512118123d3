/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cast between all data types on the device against its reference.
 *
 *     test-ops-cast [seed]
 */
#include "subject.h"

#include <math.h>
#include <ops/element.h>

typedef struct tdl_operand *O;

static struct tdl_context *ctx;
static uint64_t seed = 1;

/* Values at the edges of what types hold, as floats and as 64-bit integers. */
static void fill_edges(uint32_t index, const struct tdl_tensor_params *p, struct rng *rng,
                       void *values)
{
    static const float floats[] = {0,     -0.9f,  0.9f,   127,     127.9f,  128,     -128.9f,
                                   -129,  255.5f, 256,    -1,      2.5e9f,  -2.5e9f, 5e9f,
                                   1e19f, -1e19f, 2e19f,  65504,   1e30f,   -1e30f,  2147483520.0f,
                                   NAN,   INFINITY, -INFINITY, 0.5f, 1.5f,  -1.5f};
    size_t count = tdl_tensor_params_size(p) / tdl_dtype_size(p->dtype);
    subject_fill(p, rng, values);
    (void)index;
    for (size_t i = 0; i < count && i < COUNT(floats) && tdl_is_float(p->dtype); i++)
        tdl_element_set(p->dtype, values, i, floats[i]);
}

static void check_casts(void)
{
    const bool wide = tdl_context_device(ctx)->shader_int64;
    const struct tdl_tensor_params shape = {.rank = 2, .shape = {3, 13}};
    for (size_t i = 0; i < COUNT(subject_dtypes); i++) {
        struct tdl_tensor_params p = shape;
        struct rng rng = {seed++};
        struct subject s;
        struct tdl_builder *b;
        char name[32];
        p.dtype = subject_dtypes[i];
        if (tdl_dtype_size(p.dtype) == 8 && !wide)
            continue;
        check_begin("cast from %s", tdl_dtype_name(p.dtype));
        OK(check_builder(ctx, &b));
        O x = tdl_builder_input(b, "x", &p);
        for (size_t k = 0; k < COUNT(subject_dtypes); k++) {
            if (tdl_dtype_size(subject_dtypes[k]) == 8 && !wide)
                continue;
            snprintf(name, sizeof(name), "%s", tdl_dtype_name(subject_dtypes[k]));
            tdl_builder_output(b, name, tdl_builder_cast(b, x, subject_dtypes[k]));
        }
        subject_open_filled(&s, ctx, b, &rng, fill_edges);
        subject_run(&s, &(struct tdl_build_params){0});
        subject_close(&s);
    }
}

int main(int argc, char **argv)
{
    seed = check_seed(argc, argv, 1);
    ctx = check_context_open();
    check_casts();
    check_context_close(ctx);
    return check_result();
}
