/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Networks that find objects, from the frame to the mask: files with seeded weights, written here,
 * whose objects are computed once more in loops over pixels. */
#include "written.h"

#include <glib/gstdio.h>
#include <math.h>

#define SIDE 32 /* of frames, pictures and masks, px */
#define AREA (SIDE * SIDE)
#define OBJECTS 8
#define CLASSES 4
#define CAPS "video/x-raw,format=RGB,width=32,height=32,framerate=30/1"

enum { FLOAT = 1, INT64 = 7 };
enum kind { MASK2FORMER, RF_DETR, MASK_RCNN, KINDS };

static const gchar *const decoders[] = { "mask2former", "rf-detr-seg", "mask-rcnn" };

/* A mask's logits are a sum of the pixel's colours, and scores one of their means. */
struct network {
    enum kind kind;
    gfloat mask[OBJECTS * 3], bias[OBJECTS], score[OBJECTS * CLASSES * 3];
    gint64 labels[OBJECTS];
    guint8 frame[AREA * 3];
    guint8 expected[AREA];
    gboolean only_first; /* classes='<0>' */
};

static void draw(struct network *n, GRand *rand)
{
    const gint bright = g_rand_int_range(rand, 60, 256);

    for (guint i = 0; i < OBJECTS * 3; i++)
        n->mask[i] = g_rand_double_range(rand, -8, 8);
    for (guint i = 0; i < OBJECTS * CLASSES * 3; i++)
        n->score[i] = g_rand_double_range(rand, -6, 6);
    for (guint i = 0; i < OBJECTS; i++) {
        n->bias[i] = g_rand_double_range(rand, -4, 2);
        n->labels[i] = g_rand_int_range(rand, 0, CLASSES);
    }
    for (guint i = 0; i < AREA * 3; i++)
        n->frame[i] = g_rand_int_range(rand, 0, bright);
}

/* ----------------------------------------------------------------- the file */

static void add_queries(struct onnx_bytes *graph)
{
    onnx_int64s(graph, "table", 3, (const int64_t[]){ 1, OBJECTS, CLASSES });
    onnx_node(graph, "Reshape", "sums table", "scores", NULL);
    onnx_node(graph, "Identity", "logits", "masks", NULL);
}

static void add_detections(struct onnx_bytes *graph, const struct network *n)
{
    struct onnx_bytes attributes = { 0 };

    onnx_int64s(graph, "list", 1, (const int64_t[]){ OBJECTS });
    onnx_initializer(graph, "kinds", INT64, 1, (const int64_t[]){ OBJECTS }, n->labels,
                     sizeof(n->labels));
    onnx_node(graph, "Identity", "kinds", "labels", NULL);
    onnx_node(graph, "Sigmoid", "sums", "shares", NULL);
    onnx_node(graph, "Reshape", "shares list", "scores", NULL);
    onnx_node(graph, "Sigmoid", "logits", "pixels", NULL);
    onnx_attr_ints(&attributes, "perm", (const int64_t[]){ 1, 0, 2, 3 }, 4);
    onnx_node(graph, "Transpose", "pixels", "masks", &attributes);
    onnx_output(graph, "labels");
}

static void add_boxes(struct onnx_bytes *graph, gboolean batch)
{
    static const float all[OBJECTS * 4];
    const int64_t shape[] = { 1, OBJECTS, 4 };

    onnx_initializer(graph, "corners", FLOAT, batch ? 3 : 2, shape + !batch, all, sizeof(all));
    onnx_node(graph, "Identity", "corners", "boxes", NULL);
    onnx_output(graph, "boxes");
}

static gchar *write_model(const struct network *n)
{
    const gint64 sums = n->kind == MASK_RCNN ? OBJECTS : OBJECTS * CLASSES;
    struct onnx_bytes graph = { 0 };

    onnx_input(&graph, "src", FLOAT, 4, (const int64_t[]){ 1, 3, SIDE, SIDE });
    onnx_initializer(&graph, "m", FLOAT, 4, (const int64_t[]){ OBJECTS, 3, 1, 1 }, n->mask,
                     sizeof(n->mask));
    onnx_initializer(&graph, "b", FLOAT, 1, (const int64_t[]){ OBJECTS }, n->bias,
                     sizeof(n->bias));
    onnx_initializer(&graph, "s", FLOAT, 4, (const int64_t[]){ sums, 3, 1, 1 }, n->score,
                     sums * 3 * sizeof(*n->score));
    onnx_node(&graph, "Conv", "src m b", "logits", NULL);
    onnx_node(&graph, "GlobalAveragePool", "src", "mean", NULL);
    onnx_node(&graph, "Conv", "mean s", "sums", NULL);
    if (n->kind != MASK2FORMER)
        add_boxes(&graph, n->kind == RF_DETR);
    if (n->kind == MASK_RCNN)
        add_detections(&graph, n);
    else
        add_queries(&graph);
    onnx_output(&graph, "scores");
    onnx_output(&graph, "masks");
    return written_model(&graph);
}

/* ------------------------------------------------------------- what is right */

static gdouble sigmoid(gdouble x)
{
    return 1 / (1 + exp(-x));
}

static gdouble dot(const gfloat *weights, const gdouble *color)
{
    return (gdouble)weights[0] * color[0] + (gdouble)weights[1] * color[1] +
           (gdouble)weights[2] * color[2];
}

/* 0 where it is no object; −1: rounding may decide. */
static gdouble judge(const struct network *n, guint object, const gdouble *mean, gint64 *out_class)
{
    gdouble sums[CLASSES], total = 0, least = INFINITY;
    guint best = 0;

    *out_class = n->labels[object];
    if (n->kind == MASK_RCNN)
        return sigmoid(dot(n->score + 3 * object, mean));
    for (guint c = 0; c < CLASSES; c++) {
        sums[c] = dot(n->score + 3 * (object * CLASSES + c), mean);
        best = sums[c] > sums[best] ? c : best;
    }
    for (guint c = 0; c < CLASSES; c++) {
        total += exp(sums[c] - sums[best]);
        if (c != best)
            least = MIN(least, sums[best] - sums[c]);
    }
    *out_class = best;
    if (least < 0.05)
        return -1;
    if (n->kind == RF_DETR)
        return sigmoid(sums[best]);
    return best == CLASSES - 1 ? 0 : 1 / total;
}

static void paint(struct network *n, guint object)
{
    for (guint i = 0; i < AREA; i++) {
        const guint8 *rgb = n->frame + 3 * i;
        const gdouble color[] = { rgb[0] / 255.0, rgb[1] / 255.0, rgb[2] / 255.0 };
        const gdouble logit = dot(n->mask + 3 * object, color) + (gdouble)n->bias[object];

        n->expected[i] = MAX(n->expected[i], (guint8)floor(255 * sigmoid(logit) + 0.5));
    }
}

/* Some objects are in the mask, and others are not; FALSE: else. */
static gboolean expect(struct network *n)
{
    gdouble mean[3] = { 0 };
    guint painted = 0;

    memset(n->expected, 0, sizeof(n->expected));
    for (guint i = 0; i < AREA * 3; i++)
        mean[i % 3] += n->frame[i] / 255.0 / AREA;
    for (guint object = 0; object < OBJECTS; object++) {
        gint64 class;
        const gdouble score = judge(n, object, mean, &class);

        if (score < 0 || fabs(score - 0.5) < 0.03)
            return FALSE;
        if (score > 0.5 && (!n->only_first || class == 0)) {
            paint(n, object);
            painted++;
        }
    }
    return painted > 0 && painted < OBJECTS;
}

/* --------------------------------------------------------------------- the run */

static GstBuffer *frame_of(const struct network *n, const GstVideoInfo *info)
{
    GstBuffer *picture = picture_new_color(info, 0xff000000);
    GstVideoFrame frame;

    fail_unless(gst_video_frame_map(&frame, info, picture, GST_MAP_WRITE));
    for (guint y = 0; y < SIDE; y++)
        memcpy((guint8 *)GST_VIDEO_FRAME_PLANE_DATA(&frame, 0) +
                   y * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0),
               n->frame + y * SIDE * 3, SIDE * 3);
    gst_video_frame_unmap(&frame);
    return picture;
}

static void compare(const struct network *n, GstBuffer *mask, const GstVideoInfo *info)
{
    GstVideoFrame frame;

    fail_unless(gst_video_frame_map(&frame, info, mask, GST_MAP_READ));
    for (guint i = 0; i < AREA; i++) {
        const guint8 got = ((guint8 *)GST_VIDEO_FRAME_PLANE_DATA(
            &frame, 0))[i / SIDE * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0) + i % SIDE];

        fail_unless(ABS(got - n->expected[i]) <= 3, "%s: pixel %u is %u instead of %u",
                    decoders[n->kind], i, got, n->expected[i]);
    }
    gst_video_frame_unmap(&frame);
}

/* By the outputs' shapes, or as the decoder is said; all classes, or one. */
GST_START_TEST(masks)
{
    g_autofree gchar *model = NULL, *properties = NULL;
    struct filter f;
    struct network *n;
    GstVideoInfo in, out;
    GstBuffer *mask;
    GRand *rand;

    if (g_strcmp0(g_getenv("TDL_DEVICE"), "cpu") && !util_in_turn(__i__, 2))
        return; /* every network has kernels of its own */
    n = g_new0(struct network, 1);
    rand = g_rand_new_with_seed(util_seed() + __i__);
    n->kind = __i__ % KINDS;
    n->only_first = __i__ / KINDS % 2;
    do
        draw(n, rand);
    while (!expect(n));
    model = write_model(n);
    properties = g_strdup_printf("score-threshold=0.5 decoder=%s %s",
                                 __i__ / KINDS % 2 ? decoders[n->kind] : "auto",
                                 n->only_first ? "classes=<0>" : "");
    written_start(&f, model, properties, CAPS);
    caps_info(CAPS, &in);
    mask = filter_run(&f, frame_of(n, &in));
    filter_output_info(&f, &out);
    compare(n, mask, &out);
    gst_buffer_unref(mask);
    filter_stop(&f);
    g_unlink(model);
    g_rand_free(rand);
    g_free(n);
}
GST_END_TEST;

static Suite *objects_suite(void)
{
    Suite *suite = suite_create("objects");
    TCase *tcase = tcase_create("general");

    tcase_set_timeout(tcase, 0);
    suite_add_tcase(suite, tcase);
    tcase_add_loop_test(tcase, masks, 0, 2 * KINDS);
    return suite;
}

int main(int argc, char **argv)
{
    return util_main_one_device(argc, argv, objects_suite(), "objects");
}
