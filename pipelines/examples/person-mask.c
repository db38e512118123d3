/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A picture in, the mask of the person out, without GStreamer: binary PPM to
 * binary PGM of the same size, 255 where the person is.
 *
 *     cc person-mask.c $(pkg-config --cflags --libs tdl) -o person-mask
 *     person-mask selfie_segmentation.tflite portrait.ppm mask.pgm
 */
#include <tdl/frame.h>
#include <tdl/models.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        if ((call) != TDL_OK)                                                                      \
            stop(tdl_last_error());                                                                \
    } while (0)

static void stop(const char *text)
{
    fprintf(stderr, "person-mask: %s\n", text);
    exit(1);
}

/* Device objects for one picture. */
struct work {
    struct tdl_context *context;
    struct tdl_graph *graph;
    struct tdl_tensor *input, *mask;
    struct tdl_composer *composer;
    struct tdl_batch *batch;
    struct tdl_buffer *pixels, *result; /* both mapped: the CPU's side of the picture */
    struct tdl_frame source, target;
};

static struct tdl_graph *load_model(struct tdl_context *context, const char *path)
{
    /* Frames arrive in the packs that the kernels read. */
    const struct tdl_build_params params = {.input_packing = TDL_PACKING_C4};
    struct tdl_builder *builder;
    struct tdl_graph *graph;

    CHECK(tdl_builder_create(context, &builder));
    CHECK(tdl_model_load(builder, path, NULL));
    CHECK(tdl_builder_build(builder, &params, &graph));
    tdl_builder_destroy(&builder);
    return graph;
}

/* A tensor as the graph wants it. */
static struct tdl_tensor *tensor_like(struct tdl_context *context,
                                      const struct tdl_tensor_params *params)
{
    struct tdl_tensor *t;
    CHECK(tdl_tensor_create(context, params, &t));
    return t;
}

static void read_picture(struct work *w, const char *path)
{
    unsigned width, height;
    FILE *f = fopen(path, "rb");

    if (!f || fscanf(f, "P6 %u %u 255", &width, &height) != 2 || fgetc(f) == EOF)
        stop("the picture must be a binary PPM of 8 bits");
    size_t size = tdl_frame_layout(&w->source, TDL_FORMAT_RGB, width, height, 4);
    if (!size)
        stop("the picture has no pixel");
    CHECK(tdl_buffer_create(w->context, size, TDL_BUFFER_UPLOAD, &w->pixels));
    struct tdl_plane *plane = &w->source.planes[0];
    plane->buffer = w->pixels;
    for (unsigned y = 0; y < height; y++) {
        char *row = (char *)tdl_buffer_data(w->pixels) + plane->offset + (size_t)y * plane->stride;
        if (fread(row, 3, width, f) != width)
            stop("the picture ends too early");
    }
    fclose(f);
    size = tdl_frame_layout(&w->target, TDL_FORMAT_GRAY8, width, height, 4);
    w->target.range = TDL_RANGE_FULL;
    CHECK(tdl_buffer_create(w->context, size, TDL_BUFFER_READBACK, &w->result));
    w->target.planes[0].buffer = w->result;
}

/* One submission: picture → tensor → network → mask at the picture's size. */
static void run(struct work *w, const char *input, const char *output)
{
    const struct tdl_compose_params mode = {
        .mode = TDL_MODE_MASK, .threshold = 0.5f, .feather = 0.4f, .refine = true};

    CHECK(tdl_batch_begin(w->batch));
    CHECK(tdl_frame_to_tensor(w->batch, &w->source, w->input, NULL));
    CHECK(tdl_batch_graph(w->batch, w->graph, &(struct tdl_binding){input, w->input}, 1,
                          &(struct tdl_binding){output, w->mask}, 1));
    CHECK(tdl_compose(w->batch, w->composer, &w->source, w->mask, &w->target, &mode));
    CHECK(tdl_batch_submit(w->batch, NULL));
    CHECK(tdl_buffer_wait(w->result, false));
}

static void write_mask(const struct work *w, const char *path)
{
    const struct tdl_plane *plane = &w->target.planes[0];
    FILE *f = fopen(path, "wb");

    if (!f)
        stop("the mask cannot be written");
    fprintf(f, "P5\n%u %u\n255\n", w->target.width, w->target.height);
    for (unsigned y = 0; y < w->target.height; y++)
        fwrite((char *)tdl_buffer_data(w->result) + plane->offset + (size_t)y * plane->stride, 1,
               w->target.width, f);
    if (fclose(f))
        stop("the mask cannot be written");
}

int main(int argc, char **argv)
{
    struct work w = {0};
    const char *input, *output;

    if (argc != 4)
        stop("usage: person-mask MODEL.tflite PICTURE.ppm MASK.pgm");
    CHECK(tdl_context_create(NULL, &w.context));
    w.graph = load_model(w.context, argv[1]);
    w.input = tensor_like(w.context, tdl_graph_input(w.graph, 0, &input));
    w.mask = tensor_like(w.context, tdl_graph_output(w.graph, 0, &output));
    CHECK(tdl_composer_create(w.context, &w.composer));
    CHECK(tdl_batch_create(w.context, &w.batch));
    read_picture(&w, argv[2]);
    run(&w, input, output);
    write_mask(&w, argv[3]);

    tdl_batch_destroy(&w.batch); /* any order would do */
    tdl_composer_destroy(&w.composer);
    tdl_tensor_destroy(&w.input);
    tdl_tensor_destroy(&w.mask);
    tdl_graph_destroy(&w.graph);
    tdl_buffer_destroy(&w.pixels);
    tdl_buffer_destroy(&w.result);
    tdl_context_destroy(&w.context);
    return 0;
}
