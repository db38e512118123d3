/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * State of a composer between frames: the smoothed mask, the replacement picture, buffers and
 * pipelines; and parameters that it refuses.
 */
#include "test-frame-common.h"

#include <math.h>
#include <string.h>

static struct tdl_context *ctx;
static struct tdl_batch *batch;

enum { WIDTH = 40, HEIGHT = 24, MASK = 8 };

struct stage {
    struct picture source, target;
    struct tdl_tensor *mask;
    struct tdl_composer *composer;
    struct tdl_compose_params params;
    struct tdl_compose_more more; /* parameters of one test only */
};

static void set_mask(struct stage *s, float value)
{
    float values[MASK * MASK];
    for (int i = 0; i < MASK * MASK; i++)
        values[i] = value;
    OK(tdl_tensor_write(s->mask, values, sizeof(values), NULL));
}

static struct stage stage_new(enum tdl_format format, enum tdl_format target)
{
    struct stage s = {
        .source = picture_new(ctx, format, WIDTH, HEIGHT, GEOMETRY_TIGHT),
        .target = picture_new(ctx, target, WIDTH, HEIGHT, GEOMETRY_TIGHT),
        .mask = tensor_new(ctx, TDL_FLOAT32, TDL_PACKING_NONE, MASK, MASK, 1),
        .params = {.mode = TDL_MODE_MASK,
                   .threshold = 0.5f,
                   .feather = 1,
                   .opacity = 0.5f,
                   .blur_radius = 5},
    };
    s.more.foreground = tensor_new(ctx, TDL_FLOAT32, TDL_PACKING_NONE, MASK, MASK, 3);
    s.more.picture = tensor_new(ctx, TDL_FLOAT32, TDL_PACKING_NONE, MASK, MASK, 3);
    OK(tdl_composer_create(ctx, &s.composer));
    set_mask(&s, 0.5f);
    return s;
}

static void stage_free(struct stage *s)
{
    picture_free(&s->source);
    picture_free(&s->target);
    tdl_tensor_destroy(&s->mask);
    tdl_tensor_destroy(&s->more.foreground);
    tdl_tensor_destroy(&s->more.picture);
    tdl_composer_destroy(&s->composer);
}

static void frame(struct stage *s)
{
    OK(tdl_batch_begin(batch));
    OK(tdl_compose(batch, s->composer, &s->source.frame, s->params.reuse_mask ? NULL : s->mask,
                   &s->target.frame, &s->params));
    run_batch(batch, ctx);
}

static void expect_level(const struct stage *s, double mask, const char *when)
{
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        const double got = get_code(&s->target, 0, i % WIDTH, i / WIDTH);
        CHECK(fabs(got - 255 * mask) <= 1, "%s: the mask is %g, not %g", when, got, 255 * mask);
    }
}

/* A still picture under a mask that wavers; tests/engine/frame/test-frame-mask.c looks
 * at what moves. */
static void test_smoothing(void)
{
    struct stage s = stage_new(TDL_FORMAT_NV12, TDL_FORMAT_GRAY8);
    s.params.smoothing = 0.6f;
    set_mask(&s, 0.59f);
    frame(&s);
    expect_level(&s, 0.59, "the first frame has no mask before it");
    set_mask(&s, 0.5f);
    frame(&s);
    expect_level(&s, 0.6 * 0.59 + 0.4 * 0.5, "second frame");
    frame(&s);
    expect_level(&s, 0.6 * 0.554 + 0.4 * 0.5, "third frame");
    s.params.reuse_mask = true;
    frame(&s);
    frame(&s);
    expect_level(&s, 0.5324, "a mask used again");
    s.params.reuse_mask = false;
    s.params.smoothing = 0;
    frame(&s);
    expect_level(&s, 0.5, "without smoothing");
    s.params.smoothing = 0.9f;
    tdl_composer_reset(s.composer);
    set_mask(&s, 0.58f);
    frame(&s);
    expect_level(&s, 0.58, "after a reset");
    set_mask(&s, 0.02f);
    frame(&s);
    expect_level(&s, 0.02, "what the network has changed its mind about");
    stage_free(&s);
}

/* A mask out of range, or no number, does no harm beyond its pixel. */
static void test_wild_masks(void)
{
    struct stage s = stage_new(TDL_FORMAT_RGB, TDL_FORMAT_GRAY8);
    set_mask(&s, 7);
    frame(&s);
    expect_level(&s, 1, "a mask above 1");
    set_mask(&s, -3);
    frame(&s);
    expect_level(&s, 0, "a mask below 0");
    stage_free(&s);
}

/* Sliders move freely: no pipeline, no allocation after the first frame. */
static void test_steady_state(void)
{
    static const enum tdl_mode modes[] = {TDL_MODE_OVERLAY, TDL_MODE_BLUR, TDL_MODE_REPLACE};
    for (size_t m = 0; m < COUNT(modes); m++) {
        struct stage s = stage_new(TDL_FORMAT_NV12, TDL_FORMAT_NV12);
        struct tdl_context_stats before, after;
        s.params.mode = modes[m];
        s.params.refine = true;
        s.params.close_holes = true;
        s.params.despill = true;
        s.params.more = &s.more;
        s.params.light_wrap = 0.5;
        s.params.min_area = 0.01f;
        s.params.grow = 10;
        for (int i = 0; i < 2; i++) { /* inverted, `despill` takes the colours' place */
            s.params.invert = i;
            frame(&s);
        }
        OK(tdl_context_sync(ctx));
        tdl_context_get_stats(ctx, &before);
        for (int i = 0; i < 20; i++) {
            s.params.blur_radius = 1 + (float)(127 * random_unit());
            s.params.threshold = (float)random_unit();
            s.params.feather = (float)random_unit();
            s.params.smoothing = 0.9f * (float)random_unit();
            s.params.opacity = (float)random_unit();
            s.params.light_wrap = random_unit();
            s.params.invert = i & 1;
            s.params.min_area = i % 3 ? (float)random_unit() : 0;
            s.params.grow = i % 4 ? (float)(20 * random_unit() - 10) : 0;
            for (int c = 0; c < 4; c++)
                s.params.overlay_color[c] = s.params.background_color[c] = (float)random_unit();
            frame(&s);
        }
        OK(tdl_context_sync(ctx));
        tdl_context_get_stats(ctx, &after);
        CHECK(after.pipelines == before.pipelines && after.allocations == before.allocations &&
                  after.memory_bytes == before.memory_bytes,
              "mode %d made %llu pipelines and %llu allocations in the steady state", (int)modes[m],
              (unsigned long long)(after.pipelines - before.pipelines),
              (unsigned long long)(after.allocations - before.allocations));
        stage_free(&s);
    }
}

static uint64_t pipelines_made(void)
{
    struct tdl_context_stats stats;
    tdl_context_get_stats(ctx, &stats);
    return stats.pipelines;
}

/* After prepare the first frame makes none. */
static void test_prepare(void)
{
    static const enum tdl_mode modes[] = {TDL_MODE_MASK, TDL_MODE_OVERLAY, TDL_MODE_BLUR,
                                          TDL_MODE_REPLACE, TDL_MODE_PASSTHROUGH};
    for (size_t m = 0; m < COUNT(modes); m++)
        for (int picture = 0; picture < 2; picture++) {
            struct stage s = stage_new(
                TDL_FORMAT_UYVY, modes[m] == TDL_MODE_MASK ? TDL_FORMAT_GRAY8 : TDL_FORMAT_BGRA);
            struct picture behind = picture_new(ctx, TDL_FORMAT_I420, 9, 9, GEOMETRY_TIGHT);
            s.params.mode = modes[m];
            s.params.refine = picture;
            s.params.despill = picture;
            s.params.more = picture ? &s.more : &(struct tdl_compose_more){.keep_foreground = true};
            s.params.light_wrap = picture ? 0 : 0.5;
            s.params.background = picture ? &behind.frame : NULL;
            OK(tdl_composer_prepare(s.composer, &s.source.frame, &s.target.frame, &s.params, NULL));
            const uint64_t before = pipelines_made();
            s.params.light_wrap = picture ? 0.5 : 0; /* moved since */
            s.params.min_area = 0.1f;
            s.params.grow = -2;
            s.params.more = &s.more;
            frame(&s);
            s.params.invert = true; /* the foreground's colours do not count */
            frame(&s);
            CHECK(pipelines_made() == before, "mode %d made pipelines after prepare",
                  (int)modes[m]);
            picture_free(&behind);
            stage_free(&s);
        }
}

static uint64_t dispatches_of_frame(struct stage *s)
{
    struct tdl_context_stats before, after;
    tdl_context_get_stats(ctx, &before);
    frame(s);
    tdl_context_get_stats(ctx, &after);
    return after.dispatches - before.dispatches;
}

static void fill_grey(struct picture *p, unsigned code)
{
    for (int c = 0; c < 3; c++)
        for (uint32_t i = 0; i < p->frame.width * p->frame.height; i++)
            set_code(p, c, (int)(i % p->frame.width), (int)(i / p->frame.width), code);
}

/* One dispatch at full size. The replacement picture is made once, made again
 * when it changes, and made when the batch that should have is cancelled. */
static void test_picture_is_kept(void)
{
    struct stage s = stage_new(TDL_FORMAT_RGB, TDL_FORMAT_RGB);
    struct picture a = picture_new(ctx, TDL_FORMAT_RGB, 20, 30, GEOMETRY_TIGHT);
    struct picture b = picture_new(ctx, TDL_FORMAT_RGB, 20, 30, GEOMETRY_TIGHT);
    fill_grey(&a, 200);
    fill_grey(&b, 100);
    set_mask(&s, 0);
    s.params.mode = TDL_MODE_REPLACE;
    CHECK(dispatches_of_frame(&s) == 2, "a colour needs the mask's dispatch and one more");
    s.params.background = &a.frame;
    OK(tdl_batch_begin(batch));
    OK(tdl_compose(batch, s.composer, &s.source.frame, s.mask, &s.target.frame, &s.params));
    tdl_batch_cancel(batch);
    CHECK(dispatches_of_frame(&s) == 3, "the cancelled picture was not made again");
    expect_level(&s, 200 / 255., "picture");
    CHECK(dispatches_of_frame(&s) == 2, "the picture was made again for nothing");
    expect_level(&s, 200 / 255., "the picture kept");
    s.params.background = &b.frame;
    CHECK(dispatches_of_frame(&s) == 3, "another picture was not made");
    expect_level(&s, 100 / 255., "another picture");
    fill_grey(&b, 50);
    tdl_composer_reset(s.composer);
    CHECK(dispatches_of_frame(&s) == 3, "a reset did not forget the picture");
    expect_level(&s, 50 / 255., "after a reset");
    picture_free(&a);
    picture_free(&b);
    stage_free(&s);
}

/* The colour shows through what is transparent, and only then belongs to the
 * picture; the form of its pixels always does. */
static void test_picture_follows_the_look(void)
{
    struct stage s = stage_new(TDL_FORMAT_RGB, TDL_FORMAT_RGB);
    struct picture solid = picture_new(ctx, TDL_FORMAT_RGB, 20, 30, GEOMETRY_TIGHT);
    struct picture hidden = picture_new(ctx, TDL_FORMAT_RGBA, 20, 30, GEOMETRY_TIGHT);
    fill_grey(&solid, 200);
    fill_grey(&hidden, 200);
    for (int y = 0; y < 30; y++)
        for (int x = 0; x < 20; x++)
            set_code(&hidden, 3, x, y, 51); /* a fifth */
    set_mask(&s, 0);
    s.params.mode = TDL_MODE_REPLACE;
    s.params.background = &solid.frame;
    frame(&s);
    expect_level(&s, 200 / 255., "an opaque picture");
    for (int c = 0; c < 3; c++)
        s.params.background_color[c] = 0.5f;
    CHECK(dispatches_of_frame(&s) == 2, "a colour that does not show made the picture again");
    s.params.background_aspect = 2;
    CHECK(dispatches_of_frame(&s) == 3, "pixels of another form did not make it again");
    s.params.background = &hidden.frame;
    frame(&s);
    expect_level(&s, (0.2 * 200 + 0.8 * 127.5) / 255, "a fifth of the picture");
    CHECK(dispatches_of_frame(&s) == 2, "the same look made it again");
    for (int c = 0; c < 3; c++)
        s.params.background_color[c] = 0;
    OK(tdl_batch_begin(batch));
    OK(tdl_compose(batch, s.composer, &s.source.frame, s.mask, &s.target.frame, &s.params));
    tdl_batch_cancel(batch);
    CHECK(dispatches_of_frame(&s) == 3, "the cancelled look was not made again");
    expect_level(&s, 0.2 * 200 / 255, "over black");
    s.params.background_aspect = -1;
    OK(tdl_batch_begin(batch));
    CHECK(tdl_compose(batch, s.composer, &s.source.frame, s.mask, &s.target.frame, &s.params) ==
              TDL_ERROR_INVALID_ARGUMENT,
          "an aspect ratio of -1 was taken");
    tdl_batch_cancel(batch);
    picture_free(&solid);
    picture_free(&hidden);
    stage_free(&s);
}

/* Sizes change within one batch, with nothing submitted in between. */
static void test_sizes_within_a_batch(void)
{
    struct stage s = stage_new(TDL_FORMAT_NV12, TDL_FORMAT_NV12);
    struct picture small = picture_new(ctx, TDL_FORMAT_NV12, 16, 8, GEOMETRY_TIGHT);
    struct picture out = picture_new(ctx, TDL_FORMAT_NV12, 16, 8, GEOMETRY_TIGHT);
    struct tdl_tensor *mask = tensor_new(ctx, TDL_FLOAT32, TDL_PACKING_NONE, 3, 5, 1);
    s.params.mode = TDL_MODE_BLUR;
    OK(tdl_batch_begin(batch));
    for (int i = 0; i < 4; i++)
        OK(tdl_compose(batch, s.composer, i & 1 ? &small.frame : &s.source.frame,
                       i & 1 ? mask : s.mask, i & 1 ? &out.frame : &s.target.frame, &s.params));
    tdl_composer_destroy(&s.composer);
    run_batch(batch, ctx);
    tdl_tensor_destroy(&mask);
    picture_free(&small);
    picture_free(&out);
    stage_free(&s);
}

static void refuse(struct stage *s, const struct tdl_frame *target, struct tdl_tensor *mask,
                   enum tdl_result want, const char *word)
{
    OK(tdl_batch_begin(batch));
    enum tdl_result r = tdl_compose(batch, s->composer, &s->source.frame, mask, target, &s->params);
    tdl_batch_cancel(batch);
    CHECK(r == want, "%s: result %d, not %d", word, (int)r, (int)want);
    CHECK(strstr(tdl_last_error(), word), "\"%s\" does not speak of %s", tdl_last_error(), word);
}

/* A refused mask of another size leaves the kept mask as it was. */
static void test_refused_size(void)
{
    struct stage s = stage_new(TDL_FORMAT_NV12, TDL_FORMAT_NV12);
    struct tdl_tensor *integers = tensor_new(ctx, TDL_INT32, TDL_PACKING_NONE, 64, 64, 1);
    struct tdl_tensor *large = tensor_new(ctx, TDL_FLOAT32, TDL_PACKING_NONE, 64, 64, 3);
    struct tdl_compose_more more = s.more;
    s.params.mode = TDL_MODE_REPLACE;
    frame(&s);
    refuse(&s, &s.target.frame, integers, TDL_ERROR_INVALID_ARGUMENT, "[1,h,w,1]");
    more.foreground = more.picture = large;
    s.params.more = &more;
    s.params.reuse_mask = true;
    refuse(&s, &s.target.frame, NULL, TDL_ERROR_INVALID_ARGUMENT, "8×8 px");
    s.params.more = NULL;
    frame(&s);
    tdl_tensor_destroy(&integers);
    tdl_tensor_destroy(&large);
    stage_free(&s);
}

static void test_refusals(void)
{
    struct stage s = stage_new(TDL_FORMAT_NV12, TDL_FORMAT_GRAY8);
    struct tdl_tensor *rgb = tensor_new(ctx, TDL_FLOAT32, TDL_PACKING_NONE, 4, 4, 3);
    struct tdl_tensor *integers = tensor_new(ctx, TDL_INT32, TDL_PACKING_NONE, 4, 4, 1);
    struct tdl_frame wrong;
    s.params.reuse_mask = true;
    refuse(&s, &s.target.frame, NULL, TDL_ERROR_INVALID_STATE, "no mask yet");
    s.params.reuse_mask = false;
    refuse(&s, &s.target.frame, NULL, TDL_ERROR_INVALID_ARGUMENT, "needs a mask");
    refuse(&s, &s.target.frame, rgb, TDL_ERROR_INVALID_ARGUMENT, "[1,h,w,1]");
    refuse(&s, &s.target.frame, integers, TDL_ERROR_INVALID_ARGUMENT, "[1,h,w,1]");
    wrong = s.target.frame;
    wrong.width -= 1;
    refuse(&s, &wrong, s.mask, TDL_ERROR_INVALID_ARGUMENT, "equal");
    wrong = s.target.frame;
    wrong.planes[0].offset = 2;
    refuse(&s, &wrong, s.mask, TDL_ERROR_INVALID_ARGUMENT, "multiples of 4");
    s.params.mode = TDL_MODE_ALPHA;
    refuse(&s, &s.target.frame, s.mask, TDL_ERROR_INVALID_ARGUMENT, "RGBA");
    s.params.mode = TDL_MODE_MASK;
    refuse(&s, &s.source.frame, s.mask, TDL_ERROR_INVALID_ARGUMENT, "GRAY8");
    s.params.feather = -1;
    refuse(&s, &s.target.frame, s.mask, TDL_ERROR_INVALID_ARGUMENT, "feather");
    s.params.feather = NAN;
    refuse(&s, &s.target.frame, s.mask, TDL_ERROR_INVALID_ARGUMENT, "feather");
    s.params.feather = 0;
    s.params.min_area = -0.01f;
    refuse(&s, &s.target.frame, s.mask, TDL_ERROR_INVALID_ARGUMENT, "min_area");
    s.params.min_area = 0;
    s.params.grow = 32.5f;
    refuse(&s, &s.target.frame, s.mask, TDL_ERROR_INVALID_ARGUMENT, "grow");
    s.params.grow = 0;
    s.params.mask_value = 256;
    refuse(&s, &s.target.frame, s.mask, TDL_ERROR_INVALID_ARGUMENT, "value");
    s.params.mask_value = 0;
    s.params.blur_radius = 129;
    refuse(&s, &s.target.frame, s.mask, TDL_ERROR_INVALID_ARGUMENT, "blur");
    tdl_tensor_destroy(&rgb);
    tdl_tensor_destroy(&integers);
    stage_free(&s);
}

int main(int argc, char **argv)
{
    ctx = open_context(argc, argv);
    OK(tdl_batch_create(ctx, &batch));
    test_smoothing();
    test_wild_masks();
    test_steady_state();
    test_prepare();
    test_picture_is_kept();
    test_picture_follows_the_look();
    test_sizes_within_a_batch();
    test_refused_size();
    test_refusals();
    tdl_batch_destroy(&batch);
    close_context(ctx);
    printf("composer: ok\n");
    return 0;
}
