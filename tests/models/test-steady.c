/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How steady the mask of a portrait is, and how far it lags: the element's
 * smoothing against none, and against a fixed share of the previous mask, which
 * is computed here.
 *
 *   test-steady [WIDTHxHEIGHT [SMOOTHING]]
 *
 * Still: the portrait under seeded Gaussian noise of 8 of 255. Flicker is the
 * share of the mask's pixels that change by more than 25 of 255 per frame.
 *
 * Moving: the portrait slides to the right under noise of 2. Lag is how many
 * px the mask hangs behind the unsmoothed one of the same frame (least squares
 * along its gradient). The trail is the share of pixels that differ from it by
 * more than 25 as if they were behind, less those that do as if ahead: wavering
 * that is smoothed away is both alike.
 */
#include <tdl/frame.h>
#include <tdl/models.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SKIP 77
/* The element's default at 30 frames/s; see gst/settings/gsttdlproperties.c. */
#define DEFAULT_SMOOTHING 0.75f
#define SHARE 0.2f /* share of the previous mask in the reference */

enum { SIDE = 256, FRAMES = 12, PLAIN = 0, SMOOTH, SHARED, WAYS };
static const char *const way_names[WAYS] = {"none", "smoothing", "fixed share"};

static void require(bool ok, const char *what)
{
    if (ok)
        return;
    printf("FAIL %s: %s\n", what, tdl_last_error());
    exit(1);
}
#define OK(call) require((call) == TDL_OK, #call)

static struct tdl_context *context;
static struct tdl_graph *graph;
static struct tdl_tensor *input, *mask, *shared;
static struct tdl_batch *batch;
static struct tdl_frame source, targets[WAYS];
static uint8_t portrait[SIDE * SIDE * 3];
static float smoothing = DEFAULT_SMOOTHING;

/* ------------------------------------------------------------------- noise */

enum { NOISES = 1 << 16 };
static float noises[NOISES]; /* normal */
static uint32_t noise_state;

static uint32_t next_random(void)
{
    return noise_state = noise_state * 1664525u + 1013904223u;
}

static void make_noise(void)
{
    noise_state = 1;
    for (int i = 0; i < NOISES; i++) {
        const double u = ((next_random() >> 8) + 1) / 16777217.0;
        const double v = (next_random() >> 8) / 16777216.0;
        noises[i] = (float)(sqrt(-2 * log(u)) * cos(6.283185307179586 * v));
    }
}

/* ----------------------------------------------------------------- pictures */

static float portrait_at(float u, float v, int c)
{
    const float x = fminf(fmaxf(u, 0), SIDE - 1), y = fminf(fmaxf(v, 0), SIDE - 1);
    const int i = (int)x, j = (int)y;
    const int right = i + 1 < SIDE ? 3 : 0, below = j + 1 < SIDE ? 3 * SIDE : 0;
    const uint8_t *p = portrait + 3 * (j * SIDE + i) + c;
    const float top = p[0] + (x - (float)i) * (float)(p[right] - p[0]);
    const float low = p[below] + (x - (float)i) * (float)(p[below + right] - p[below]);
    return top + (y - (float)j) * (low - top);
}

/* The portrait over the whole frame, `shift` px further right. */
static void draw(float shift, float noise)
{
    uint8_t *pixels = tdl_buffer_data(source.planes[0].buffer);
    const float across = (float)SIDE / (float)source.width;
    const float down = (float)SIDE / (float)source.height;

    for (uint32_t y = 0; y < source.height; y++)
        for (uint32_t x = 0; x < source.width; x++) {
            uint8_t *p = pixels + (size_t)y * source.planes[0].stride + 4 * x;
            for (int c = 0; c < 3; c++) {
                const float value = portrait_at(((float)x + 0.5f - shift) * across - 0.5f,
                                                ((float)y + 0.5f) * down - 0.5f, c) +
                                    noise * noises[next_random() >> 16];
                p[c] = (uint8_t)fminf(fmaxf(value + 0.5f, 0), 255);
            }
            p[3] = 255;
        }
}

/* ------------------------------------------------------------------- masks */

static void share_masks(bool first)
{
    static float now[SIDE * SIDE], before[SIDE * SIDE];

    OK(tdl_tensor_read(mask, now, sizeof(now)));
    for (int i = 0; i < SIDE * SIDE; i++)
        before[i] = first ? now[i] : now[i] + SHARE * (before[i] - now[i]);
    OK(tdl_tensor_write(shared, before, sizeof(before), NULL));
}

/* Runs one frame's masks in all three ways. */
static void run_frame(struct tdl_composer *composers[WAYS], bool first)
{
    struct tdl_binding in = {NULL, input}, out = {NULL, mask};
    struct tdl_compose_params params = {
        .mode = TDL_MODE_MASK, .threshold = 0.5f, .feather = 0.4f, .refine = true};

    tdl_graph_input(graph, 0, &in.name);
    tdl_graph_output(graph, 0, &out.name);
    OK(tdl_batch_begin(batch));
    OK(tdl_frame_to_tensor(batch, &source, input, NULL));
    OK(tdl_batch_graph(batch, graph, &in, 1, &out, 1));
    OK(tdl_batch_submit(batch, NULL));
    share_masks(first);
    OK(tdl_batch_begin(batch));
    for (int w = 0; w < WAYS; w++) {
        params.smoothing = w == SMOOTH ? smoothing : 0;
        OK(tdl_compose(batch, composers[w], &source, w == SHARED ? shared : mask, &targets[w],
                       &params));
    }
    OK(tdl_batch_submit(batch, NULL));
    OK(tdl_context_sync(context));
}

static int mask_at(int way, uint32_t x, uint32_t y)
{
    const struct tdl_plane *plane = &targets[way].planes[0];
    return ((const uint8_t *)tdl_buffer_data(plane->buffer))[(size_t)y * plane->stride + x];
}

static struct tdl_composer **composers_new(void)
{
    static struct tdl_composer *composers[WAYS];

    for (int w = 0; w < WAYS; w++)
        OK(tdl_composer_create(context, &composers[w]));
    return composers;
}

static void composers_free(struct tdl_composer **composers)
{
    for (int w = 0; w < WAYS; w++)
        tdl_composer_destroy(&composers[w]);
}

/* ---------------------------------------------------------------- measures */

static void measure_flicker(double out_percent[WAYS])
{
    const size_t pixels = (size_t)source.width * source.height;
    uint8_t *before = calloc(WAYS, pixels);
    struct tdl_composer **composers = composers_new();
    size_t changes[WAYS] = {0};

    require(before, "no memory");
    noise_state = 2;
    for (int f = 0; f < FRAMES; f++) {
        draw(0, 8);
        run_frame(composers, f == 0);
        for (int w = 0; w < WAYS; w++)
            for (uint32_t y = 0; y < source.height; y++)
                for (uint32_t x = 0; x < source.width; x++) {
                    uint8_t *p = &before[(size_t)w * pixels + (size_t)y * source.width + x];
                    const int now = mask_at(w, x, y);
                    changes[w] += f > 1 && abs(now - *p) > 25;
                    *p = (uint8_t)now;
                }
    }
    for (int w = 0; w < WAYS; w++)
        out_percent[w] = 100.0 * (double)changes[w] / (double)(pixels * (FRAMES - 2));
    composers_free(composers);
    free(before);
}

struct trail {
    double lag, percent;
};

static void measure_trail(float speed, struct trail out[WAYS])
{
    struct tdl_composer **composers = composers_new();
    double products[WAYS] = {0}, squares = 0;
    size_t count = 0;
    long behind[WAYS] = {0};

    noise_state = 3;
    for (int f = 0; f < FRAMES; f++) {
        draw(speed * (float)(f - FRAMES / 2), 2);
        run_frame(composers, f == 0);
        for (uint32_t y = 0; y < source.height && f > 3; y++)
            for (uint32_t x = 1; x + 1 < source.width; x++) {
                const int plain = mask_at(PLAIN, x, y);
                const double slope = 0.5 * (mask_at(PLAIN, x + 1, y) - mask_at(PLAIN, x - 1, y));
                squares += slope * slope;
                count++;
                for (int w = 0; w < WAYS; w++) {
                    const double d = slope * (mask_at(w, x, y) - plain);
                    products[w] += d;
                    if (abs(mask_at(w, x, y) - plain) > 25)
                        behind[w] += (d > 0) - (d < 0);
                }
            }
    }
    require(squares > 0, "there is no outline");
    for (int w = 0; w < WAYS; w++)
        out[w] = (struct trail){products[w] / squares, 100.0 * (double)behind[w] / (double)count};
    composers_free(composers);
}

/* ------------------------------------------------------------------ set-up */

static void open_model(void)
{
    const struct tdl_build_params params = {.input_packing = TDL_PACKING_C4};
    const char *models = getenv("TDL_TEST_MODELS");
    struct tdl_tensor_params mask_params;
    struct tdl_builder *builder;
    char path[1024];
    FILE *file;

    snprintf(path, sizeof(path), "%s/selfie_segmentation.tflite", models ? models : "models");
    file = fopen(path, "rb");
    if (!file) {
        printf("SKIP: %s is missing; run pipelines/fetch-models.sh\n", path);
        exit(SKIP);
    }
    fclose(file);
    OK(tdl_builder_create(context, &builder));
    OK(tdl_model_load(builder, path, NULL));
    OK(tdl_builder_build(builder, &params, &graph));
    tdl_builder_destroy(&builder);
    OK(tdl_tensor_create(context, tdl_graph_input(graph, 0, NULL), &input));
    mask_params = *tdl_graph_output(graph, 0, NULL);
    mask_params.usage = TDL_TENSOR_READABLE | TDL_TENSOR_WRITABLE;
    OK(tdl_tensor_create(context, &mask_params, &mask));
    OK(tdl_tensor_create(context, &mask_params, &shared));
}

static void read_portrait(void)
{
    const char *data = getenv("TDL_TEST_DATA");
    char path[1024];
    FILE *file;

    snprintf(path, sizeof(path), "%s/grace_hopper.256.rgb", data ? data : "tests/data");
    file = fopen(path, "rb");
    require(file && fread(portrait, 1, sizeof(portrait), file) == sizeof(portrait), path);
    fclose(file);
}

static void frame_new(enum tdl_format format, uint32_t width, uint32_t height,
                      enum tdl_buffer_access access, struct tdl_frame *out)
{
    const size_t size = tdl_frame_layout(out, format, width, height, 64);

    OK(tdl_buffer_create(context, size, access, &out->planes[0].buffer));
    out->range = TDL_RANGE_FULL;
}

static int check(bool ok, const char *what)
{
    if (!ok)
        printf("FAIL: %s\n", what);
    return !ok;
}

int main(int argc, char **argv)
{
    static const float speeds[] = {1, 4, 16};
    const struct tdl_context_params params = {.device = getenv("TDL_DEVICE")};
    unsigned width = 640, height = 480;
    double flicker[WAYS];
    int failures = 0;

    if (argc > 1 && sscanf(argv[1], "%ux%u", &width, &height) != 2)
        return 2;
    if (argc > 2)
        smoothing = (float)atof(argv[2]);
    if (tdl_context_create(&params, &context) != TDL_OK) {
        printf("SKIP: %s\n", tdl_last_error());
        return SKIP;
    }
    open_model();
    read_portrait();
    make_noise();
    OK(tdl_batch_create(context, &batch));
    frame_new(TDL_FORMAT_RGBX, width, height, TDL_BUFFER_UPLOAD, &source);
    for (int w = 0; w < WAYS; w++)
        frame_new(TDL_FORMAT_GRAY8, width, height, TDL_BUFFER_READBACK, &targets[w]);

    measure_flicker(flicker);
    for (int w = 0; w < WAYS; w++)
        printf("still, %-12s %.3f %% of pixels flicker per frame\n", way_names[w], flicker[w]);
    failures += check(flicker[SMOOTH] <= 0.3, "more than 0.3 % of pixels flicker");
    failures += check(flicker[PLAIN] > 2 * flicker[SMOOTH], "smoothing does next to nothing");
    for (size_t s = 0; s < sizeof(speeds) / sizeof(speeds[0]); s++) {
        struct trail trails[WAYS];
        measure_trail(speeds[s], trails);
        for (int w = SMOOTH; w < WAYS; w++)
            printf("%2g px per frame, %-12s lag %.2f px, trail %.3f %% of pixels\n",
                   (double)speeds[s], way_names[w], trails[w].lag, trails[w].percent);
        failures += check(trails[SMOOTH].lag <= trails[SHARED].lag,
                          "it lags more than a fixed share");
        failures += check(trails[SMOOTH].percent <= trails[SHARED].percent + 0.05,
                          "it leaves more of a trail than a fixed share");
    }
    for (int w = 0; w < WAYS; w++)
        tdl_buffer_destroy(&targets[w].planes[0].buffer);
    tdl_buffer_destroy(&source.planes[0].buffer);
    tdl_batch_destroy(&batch);
    tdl_tensor_destroy(&input);
    tdl_tensor_destroy(&mask);
    tdl_tensor_destroy(&shared);
    tdl_graph_destroy(&graph);
    tdl_context_destroy(&context);
    printf("steady: %s\n", failures ? "FAILED" : "ok");
    return failures != 0;
}
