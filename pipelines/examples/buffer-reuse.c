/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One picture, three effects: the picture is written to the device once, three
 * graphs read it, and nobody waits in between. (The first scenario of WebNN's
 * MLTensor explainer.)
 *
 *     cc buffer-reuse.c $(pkg-config --cflags --libs tdl) -lm -o buffer-reuse
 */
#include <tdl/tdl.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { HEIGHT = 48, WIDTH = 64, CHANNELS = 3, COUNT = HEIGHT * WIDTH * CHANNELS };

static const struct tdl_tensor_params picture = {
    .dtype = TDL_FLOAT32, .rank = 4, .shape = {1, HEIGHT, WIDTH, CHANNELS}};

#define CHECK(call)                                                                                \
    do {                                                                                           \
        if ((call) != TDL_OK) {                                                                    \
            fprintf(stderr, "%s\n", tdl_last_error());                                             \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* An effect on a picture: x · factor + summand, then `last`. */
struct effect {
    const char *name;
    float factor, summand;
    enum tdl_activation last;
};
static const struct effect effects[] = {
    {"brighter", 1.5f, 0.1f, TDL_ACTIVATION_NONE},
    {"negative", -1.0f, 1.0f, TDL_ACTIVATION_NONE},
    {"soft threshold", 12.0f, -6.0f, TDL_ACTIVATION_SIGMOID},
};
enum { EFFECTS = sizeof(effects) / sizeof(effects[0]) };

static struct tdl_graph *compile(struct tdl_context *context, const struct effect *effect)
{
    const struct tdl_tensor_params one = {.dtype = TDL_FLOAT32, .rank = 4, .shape = {1, 1, 1, 1}};
    struct tdl_builder *b;
    struct tdl_graph *graph;

    CHECK(tdl_builder_create(context, &b));
    struct tdl_operand *x = tdl_builder_input(b, "picture", &picture);
    struct tdl_operand *factor = tdl_builder_constant(b, &one, &effect->factor, sizeof(float));
    struct tdl_operand *summand = tdl_builder_constant(b, &one, &effect->summand, sizeof(float));
    x = tdl_builder_add(b, tdl_builder_mul(b, x, factor), summand);
    tdl_builder_output(b, "result", tdl_builder_activation(b, x, effect->last));
    CHECK(tdl_builder_build(b, NULL, &graph)); /* reports any wrong call before it, too */
    tdl_builder_destroy(&b);
    return graph;
}

static struct tdl_tensor *tensor(struct tdl_context *context, uint32_t usage)
{
    struct tdl_tensor_params p = picture;
    struct tdl_tensor *t;

    p.usage = usage;
    CHECK(tdl_tensor_create(context, &p, &t));
    return t;
}

/* The largest difference to what the effect should have made of `in`. */
static float error_of(const struct effect *effect, const float *in, const float *out)
{
    float worst = 0;
    for (int i = 0; i < COUNT; i++) {
        float want = in[i] * effect->factor + effect->summand;
        if (effect->last == TDL_ACTIVATION_SIGMOID)
            want = 1 / (1 + expf(-want));
        worst = fmaxf(worst, fabsf(out[i] - want));
    }
    return worst;
}

int main(void)
{
    static float in[COUNT], out[COUNT];
    struct tdl_context *context;
    struct tdl_tensor *image, *results[EFFECTS];
    struct tdl_graph *graphs[EFFECTS];
    int bad = 0;

    for (int i = 0; i < COUNT; i++)
        in[i] = (float)(i * 37 % 256) / 255;
    CHECK(tdl_context_create(NULL, &context));
    printf("on %s\n", tdl_context_device(context)->name);
    image = tensor(context, TDL_TENSOR_WRITABLE);
    for (int i = 0; i < EFFECTS; i++) {
        graphs[i] = compile(context, &effects[i]);
        results[i] = tensor(context, TDL_TENSOR_READABLE);
    }

    /* All of this only queues work: one upload, three runs that may overlap. */
    CHECK(tdl_tensor_write(image, in, sizeof(in), NULL));
    for (int i = 0; i < EFFECTS; i++)
        CHECK(tdl_graph_dispatch(graphs[i], &(struct tdl_binding){"picture", image}, 1,
                                 &(struct tdl_binding){"result", results[i]}, 1, NULL));

    for (int i = 0; i < EFFECTS; i++) {
        CHECK(tdl_tensor_read(results[i], out, sizeof(out))); /* the only wait */
        float error = error_of(&effects[i], in, out);
        printf("%-15s largest error %g\n", effects[i].name, (double)error);
        bad += !(error < 1e-3f);
        tdl_tensor_destroy(&results[i]);
        tdl_graph_destroy(&graphs[i]);
    }
    tdl_tensor_destroy(&image);
    tdl_context_destroy(&context);
    return bad != 0;
}
