/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Objects that a prompt means, over several frames. An encoder and a mask decoder with seeded
 * weights, in two files and in one, against the same sums in loops: points come as rings of
 * brightness, and the last mask's box and the mask itself take part as the decoder's inputs have
 * them. And networks that find objects, of which the one is chosen here by loops over pixels.
 */
#include "written.h"

#include <glib/gstdio.h>
#include <math.h>

#define SIDE 64 /* of frames and pictures, px */
#define CELL 4  /* px of the picture a pixel of the masks */
#define GRID (SIDE / CELL)
#define AREA (GRID * GRID)
#define MASKS 3
#define CAPS "video/x-raw,format=RGB,width=64,height=64,framerate=30/1"
#define RADIUS 9.0 /* px, of a ring */

enum { FLOAT = 1, INT64 = 7 };

/* Names and forms of exports. */
enum form {
    SAM,       /* point_coords, mask_input, has_mask_input, orig_im_size, low_res_masks */
    SAM2,      /* two embeddings, and masks that are small themselves */
    EFFICIENT, /* batched points, no mask goes in, and the size is whole numbers */
    ONE_FILE,  /* batched points, encoder and decoder in one */
    TRANSFORMERS, /* input_points and input_labels, these whole numbers */
    FORMS
};

struct network {
    enum form form;
    gfloat encoder[4 * 3 * CELL * CELL], detail[3 * CELL * CELL], mix[MASKS * 5], bias[MASKS],
        trust[MASKS];
    gdouble emptiness; /* off all logits */
};

static void draw(struct network *n, GRand *rand)
{
    for (guint i = 0; i < G_N_ELEMENTS(n->encoder); i++)
        n->encoder[i] = g_rand_double_range(rand, -0.1, 0.1);
    for (guint i = 0; i < G_N_ELEMENTS(n->detail); i++)
        n->detail[i] = g_rand_double_range(rand, -0.1, 0.1);
    for (guint i = 0; i < MASKS * 5; i++)
        n->mix[i] = g_rand_double_range(rand, -1, 1);
    for (guint i = 0; i < MASKS; i++) {
        n->bias[i] = g_rand_double_range(rand, -3, -1);
        n->trust[i] = g_rand_double_range(rand, -1, 1);
    }
}

/* ------------------------------------------------------------------ the files */

static void number(struct onnx_bytes *g, const char *name, gfloat value)
{
    onnx_initializer(g, name, FLOAT, 0, NULL, &value, sizeof(value));
}

static void add_encoder(struct onnx_bytes *g, const struct network *n)
{
    struct onnx_bytes strides = {0};

    onnx_input(g, "image", FLOAT, 4, (const int64_t[]){1, 3, SIDE, SIDE});
    onnx_initializer(g, "e", FLOAT, 4, (const int64_t[]){4, 3, CELL, CELL}, n->encoder,
                     sizeof(n->encoder));
    onnx_initializer(g, "d", FLOAT, 4, (const int64_t[]){1, 3, CELL, CELL}, n->detail,
                     sizeof(n->detail));
    onnx_attr_ints(&strides, "strides", (const int64_t[]){CELL, CELL}, 2);
    onnx_node(g, "Conv", "image e", "image_embeddings", &strides);
    onnx_attr_ints(&strides, "strides", (const int64_t[]){CELL, CELL}, 2);
    onnx_node(g, "Conv", "image d", "high_res_feats_0", &strides);
}

/* Places of the pixels' left or upper edges, in px of the picture. */
static void grid(struct onnx_bytes *g, const char *name, gboolean vertical)
{
    gfloat list[AREA];

    for (guint i = 0; i < AREA; i++)
        list[i] = CELL * (vertical ? i / GRID : i % GRID);
    onnx_initializer(g, name, FLOAT, 3, (const int64_t[]){1, 1, AREA}, list, sizeof(list));
}

/* [1, 1, GRID, GRID] of points `xy` [1, N, 2] with `kind` [1, N]. */
static void add_rings(struct onnx_bytes *g)
{
    const gfloat weights[] = {0, -5, 6, 2, 3};
    struct onnx_bytes axis = {0};

    grid(g, "gx", FALSE);
    grid(g, "gy", TRUE);
    onnx_int64s(g, "zero", 1, (const int64_t[]){0});
    onnx_int64s(g, "first", 1, (const int64_t[]){1});
    onnx_int64s(g, "second", 1, (const int64_t[]){2});
    number(g, "one", 1);
    number(g, "width", -1 / (2 * RADIUS * RADIUS));
    onnx_initializer(g, "weights", FLOAT, 1, (const int64_t[]){5}, weights, sizeof(weights));
    onnx_attr_int(&axis, "axis", 2);
    onnx_node(g, "Gather", "xy zero", "cx", &axis);
    onnx_attr_int(&axis, "axis", 2);
    onnx_node(g, "Gather", "xy first", "cy", &axis);
    onnx_node(g, "Sub", "gx cx", "dx", NULL);
    onnx_node(g, "Sub", "gy cy", "dy", NULL);
    onnx_node(g, "Mul", "dx dx", "xx", NULL);
    onnx_node(g, "Mul", "dy dy", "yy", NULL);
    onnx_node(g, "Add", "xx yy", "rr", NULL);
    onnx_node(g, "Mul", "rr width", "fall", NULL);
    onnx_node(g, "Exp", "fall", "ring", NULL);
    onnx_node(g, "Add", "kind one", "shifted", NULL);
    onnx_attr_int(&axis, "to", INT64);
    onnx_node(g, "Cast", "shifted", "row", &axis);
    onnx_node(g, "Gather", "weights row", "weight", NULL);
    onnx_node(g, "Unsqueeze", "weight second", "column", NULL);
    onnx_node(g, "Mul", "ring column", "weighed", NULL);
    onnx_node(g, "ReduceSum", "weighed first", "rings", NULL);
    onnx_int64s(g, "square", 4, (const int64_t[]){1, 1, GRID, GRID});
    onnx_node(g, "Reshape", "rings square", "ringed", NULL);
}

static void add_points(struct onnx_bytes *g, const struct network *n)
{
    const gboolean nested = n->form >= EFFICIENT, whole = n->form == TRANSFORMERS;
    const gchar *points = n->form == TRANSFORMERS ? "input_points"
                          : nested                ? "batched_point_coords"
                                                  : "point_coords";
    const gchar *labels = n->form == TRANSFORMERS ? "input_labels"
                          : nested                ? "batched_point_labels"
                                                  : "point_labels";
    g_autofree gchar *point_list = g_strdup_printf("%s list2", points),
                     *label_list = g_strdup_printf("%s list1", labels);
    struct onnx_bytes to = {0};

    onnx_int64s(g, "list2", 3, (const int64_t[]){1, -1, 2});
    onnx_int64s(g, "list1", 2, (const int64_t[]){1, -1});
    onnx_input(g, points, FLOAT, nested ? 4 : 3,
               nested ? (const int64_t[]){-1, -1, -2, 2} : (const int64_t[]){-3, -2, 2});
    onnx_input(g, labels, whole ? INT64 : FLOAT, nested ? 3 : 2,
               nested ? (const int64_t[]){-1, -1, -2} : (const int64_t[]){-3, -2});
    onnx_node(g, "Reshape", point_list, "xy", NULL);
    onnx_node(g, "Reshape", label_list, "kinds", NULL);
    onnx_attr_int(&to, "to", FLOAT);
    onnx_node(g, "Cast", "kinds", "kind", &to);
    add_rings(g);
}

/* "before" is what the last mask adds. */
static void add_last(struct onnx_bytes *g, const struct network *n)
{
    onnx_input(g, "mask_input", FLOAT, 4, (const int64_t[]){-3, 1, GRID, GRID});
    onnx_input(g, "has_mask_input", FLOAT, 1, (const int64_t[]){n->form == SAM ? 1 : -3});
    number(g, "share", 0.25f);
    onnx_node(g, "Mul", "mask_input share", "lighter", NULL);
    onnx_node(g, "Mul", "lighter has_mask_input", "before", NULL);
    onnx_node(g, "Add", "ringed before", "added", NULL);
}

static void add_scores(struct onnx_bytes *g, const struct network *n)
{
    const gchar *name = n->form == TRANSFORMERS ? "iou_scores" : "iou_predictions";

    onnx_node(g, "GlobalAveragePool", "logits", "means", NULL);
    onnx_initializer(g, "t", FLOAT, 4, (const int64_t[]){1, MASKS, 1, 1}, n->trust,
                     sizeof(n->trust));
    onnx_node(g, "Mul", "means t", "judged", NULL);
    onnx_int64s(g, "three", 2, (const int64_t[]){1, MASKS});
    onnx_node(g, "Reshape", "judged three", name, NULL);
    onnx_output(g, name);
}

/* Of Segment Anything the masks at the picture's size come first, by a size that goes in. */
static void add_masks(struct onnx_bytes *g, const struct network *n)
{
    static const gchar *const names[] = {"low_res_masks", "masks", "low_res_masks", "output_masks",
                                         "pred_masks"};
    struct onnx_bytes mode = {0};

    onnx_node(g, "Identity", "logits", names[n->form], NULL);
    if (n->form == SAM || n->form == EFFICIENT) {
        onnx_input(g, "orig_im_size", n->form == SAM ? FLOAT : INT64, 1, (const int64_t[]){2});
        onnx_int64s(g, "head", 2, (const int64_t[]){1, MASKS});
        onnx_attr_int(&mode, "to", INT64);
        onnx_node(g, "Cast", "orig_im_size", "whole", &mode);
        onnx_attr_int(&mode, "axis", 0);
        onnx_node(g, "Concat", "head whole", "sizes", &mode);
        onnx_attr_text(&mode, "mode", "linear");
        onnx_node(g, "Resize", "logits - - sizes", "masks", &mode);
        onnx_output(g, "masks");
    }
    onnx_output(g, names[n->form]);
}

static void add_decoder(struct onnx_bytes *g, const struct network *n)
{
    struct onnx_bytes axis = {0};
    gfloat bias[MASKS];

    for (guint i = 0; i < MASKS; i++)
        bias[i] = n->bias[i] - n->emptiness;
    add_points(g, n);
    if (n->form <= SAM2)
        add_last(g, n);
    else
        onnx_node(g, "Identity", "ringed", "added", NULL);
    onnx_initializer(g, "m", FLOAT, 4, (const int64_t[]){MASKS, 5, 1, 1}, n->mix, sizeof(n->mix));
    onnx_initializer(g, "b", FLOAT, 1, (const int64_t[]){MASKS}, bias, sizeof(bias));
    onnx_attr_int(&axis, "axis", 1);
    onnx_node(g, "Concat", "image_embeddings high_res_feats_0", "all", &axis);
    onnx_node(g, "Conv", "all m b", "seen", NULL);
    onnx_node(g, "Add", "seen added", "logits", NULL);
    add_scores(g, n);
    add_masks(g, n);
}

/* Files to be unlinked; *decoder NULL: there is one. */
static void write_models(const struct network *n, gchar **encoder, gchar **decoder)
{
    struct onnx_bytes g = {0};

    add_encoder(&g, n);
    if (n->form == ONE_FILE) {
        add_decoder(&g, n);
        *encoder = written_model(&g);
        *decoder = NULL;
        return;
    }
    onnx_output(&g, "high_res_feats_0");
    onnx_output(&g, "image_embeddings");
    *encoder = written_model(&g);
    onnx_input(&g, "image_embeddings", FLOAT, 4, (const int64_t[]){1, 4, GRID, GRID});
    onnx_input(&g, "high_res_feats_0", FLOAT, 4, (const int64_t[]){-1, 1, -1, -1});
    add_decoder(&g, n);
    *decoder = written_model(&g);
}

/* ------------------------------------------------------------- what is right */

struct point {
    gdouble x, y; /* shares of the picture */
    gint label;
};

/* What is known behind a frame. */
struct memory {
    gboolean kept;
    gdouble logits[AREA];
    gdouble expected[AREA]; /* the mask that is seen */
    gdouble least;          /* how far the nearest decision was */
};

/* Corners of the pixels above 0. */
static guint box_of(const gdouble *logits, struct point out[2])
{
    gint low[2] = {GRID, GRID}, high[2] = {0, 0};

    for (gint i = 0; i < AREA; i++) {
        if (logits[i] <= 0)
            continue;
        low[0] = MIN(low[0], i % GRID);
        low[1] = MIN(low[1], i / GRID);
        high[0] = MAX(high[0], i % GRID + 1);
        high[1] = MAX(high[1], i / GRID + 1);
    }
    out[0] = (struct point){low[0] / (gdouble)GRID, low[1] / (gdouble)GRID, 2};
    out[1] = (struct point){high[0] / (gdouble)GRID, high[1] / (gdouble)GRID, 3};
    return 2;
}

static gdouble cell(const gfloat *kernel, const guint8 *frame, guint y, guint x)
{
    gdouble sum = 0;

    for (guint c = 0; c < 3; c++)
        for (guint i = 0; i < CELL * CELL; i++) {
            const guint py = y * CELL + i / CELL, px = x * CELL + i % CELL;

            sum += (gdouble)kernel[c * CELL * CELL + i] * frame[3 * (py * SIDE + px) + c] / 255;
        }
    return sum;
}

static gdouble ring(const struct point *points, guint count, guint y, guint x)
{
    const gdouble weights[] = {-5, 6, 2, 3};
    gdouble sum = 0;

    for (guint i = 0; i < count; i++) {
        const gdouble dx = (gdouble)(CELL * x) - points[i].x * SIDE;
        const gdouble dy = (gdouble)(CELL * y) - points[i].y * SIDE;

        sum += weights[points[i].label] * exp(-(dx * dx + dy * dy) / (2 * RADIUS * RADIUS));
    }
    return sum;
}

/* The logits of all masks, and which has the best score. */
static guint run(const struct network *n, const guint8 *frame, const struct memory *m,
                 const struct point *points, guint count, gdouble logits[MASKS][AREA],
                 gdouble *out_least)
{
    gdouble scores[MASKS] = {0};
    guint best = 0;

    for (guint k = 0; k < MASKS; k++) {
        for (guint i = 0; i < AREA; i++) {
            const guint y = i / GRID, x = i % GRID;
            gdouble sum = (gdouble)n->bias[k] - n->emptiness + ring(points, count, y, x);

            for (guint c = 0; c < 4; c++)
                sum += (gdouble)n->mix[5 * k + c] *
                       cell(n->encoder + c * 3 * CELL * CELL, frame, y, x);
            sum += (gdouble)n->mix[5 * k + 4] * cell(n->detail, frame, y, x);
            if (n->form <= SAM2 && m->kept)
                sum += 0.25 * m->logits[i];
            logits[k][i] = sum;
            scores[k] += sum / AREA;
        }
        scores[k] *= (gdouble)n->trust[k];
        best = scores[k] > scores[best] ? k : best;
    }
    for (guint k = 0; k < MASKS; k++)
        if (k != best)
            *out_least = MIN(*out_least, scores[best] - scores[k]);
    return best;
}

static void expect(const struct network *n, const guint8 *frame, const struct point *prompt,
                   guint count, struct memory *m)
{
    gdouble logits[MASKS][AREA];
    struct point box[2];
    gboolean found = FALSE;
    guint best;

    if (m->kept) {
        count = box_of(m->logits, box);
        prompt = box;
    }
    best = run(n, frame, m, prompt, count, logits, &m->least);
    for (guint i = 0; i < AREA; i++) {
        m->least = MIN(m->least, fabs(logits[best][i]));
        found |= logits[best][i] > 0;
    }
    for (guint i = 0; i < AREA; i++)
        m->expected[i] = found ? 1 / (1 + exp(-logits[best][i])) : 0;
    if (found)
        memcpy(m->logits, logits[best], sizeof(m->logits));
    m->kept |= found;
}

/* --------------------------------------------------------------------- frames */

/* Somebody bright who walks before a dark background. */
static void paint(guint8 *frame, guint32 seed, guint step)
{
    GRand *rand = g_rand_new_with_seed(seed);

    for (guint i = 0; i < SIDE * SIDE * 3; i++) {
        const gint y = i / 3 / SIDE, x = i / 3 % SIDE, from = 12 + 6 * (gint)step;
        const gboolean inside = y >= 20 && y < 44 && x >= from && x < from + 20;

        frame[i] = inside ? g_rand_int_range(rand, 150, 256) : g_rand_int_range(rand, 0, 90);
    }
    g_rand_free(rand);
}

static GstBuffer *buffer_of(const guint8 *frame, guint side)
{
    g_autofree gchar *caps =
        g_strdup_printf("video/x-raw,format=RGB,width=%u,height=%u,framerate=30/1", side, side);
    GstVideoInfo info;
    GstBuffer *buffer;
    GstVideoFrame map;

    caps_info(caps, &info);
    buffer = picture_new_color(&info, 0xff000000);
    fail_unless(gst_video_frame_map(&map, &info, buffer, GST_MAP_WRITE));
    for (guint y = 0; y < side; y++)
        memcpy((guint8 *)GST_VIDEO_FRAME_PLANE_DATA(&map, 0) +
                   y * GST_VIDEO_FRAME_PLANE_STRIDE(&map, 0),
               frame + y * side * 3, side * 3);
    gst_video_frame_unmap(&map);
    return buffer;
}

/* Between the four nearest; pixels outside are those at the border. */
static gdouble sample(const gdouble *mask, guint grid_side, gdouble y, gdouble x)
{
    const gdouble v = CLAMP(y, 0, grid_side - 1.0), u = CLAMP(x, 0, grid_side - 1.0);
    const guint top = floor(v), left = floor(u);
    const guint bottom = MIN(top + 1, grid_side - 1), right = MIN(left + 1, grid_side - 1);
    const gdouble fy = v - top, fx = u - left;

    const gdouble *above = mask + top * grid_side, *below = mask + bottom * grid_side;

    return (1 - fy) * ((1 - fx) * above[left] + fx * above[right]) +
           fy * ((1 - fx) * below[left] + fx * below[right]);
}

/* A mask of side × side px of one of grid_side × grid_side. */
static void compare(struct filter *f, GstBuffer *got, const gdouble *mask, guint grid_side,
                    guint side, const gchar *what)
{
    const gdouble scale = grid_side / (gdouble)side;
    GstVideoInfo info;
    GstVideoFrame map;

    filter_output_info(f, &info);
    fail_unless(gst_video_frame_map(&map, &info, got, GST_MAP_READ));
    for (guint i = 0; i < side * side; i++) {
        const guint y = i / side, x = i % side;
        const guint8 is = ((guint8 *)GST_VIDEO_FRAME_PLANE_DATA(
            &map, 0))[y * GST_VIDEO_FRAME_PLANE_STRIDE(&map, 0) + x];
        const gdouble wanted =
            255 * sample(mask, grid_side, (y + 0.5) * scale - 0.5, (x + 0.5) * scale - 0.5);

        fail_unless(fabs(is - wanted) <= 3, "%s: pixel %u, %u is %u instead of %.1f", what, x, y,
                    is, wanted);
    }
    gst_video_frame_unmap(&map);
    gst_buffer_unref(got);
}

/* What the element has said since: how often something about the object, and the last of it, and
 * how often a warning with that word. */
struct news {
    guint objects, warnings;
    gboolean found;
};

static struct news take_news(struct filter *f, const gchar *word)
{
    struct news news = {0};
    GstMessage *message;

    while ((message = gst_bus_pop(f->bus))) {
        const GstStructure *s = gst_message_get_structure(message);

        if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ELEMENT &&
            gst_structure_has_name(s, "tdl-object")) {
            news.objects++;
            fail_unless(gst_structure_get_boolean(s, "found", &news.found));
        } else if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_WARNING) {
            g_autoptr(GError) error = NULL;

            gst_message_parse_warning(message, &error, NULL);
            fail_unless(strstr(error->message, word) != NULL, "%s", error->message);
            news.warnings++;
        }
        gst_message_unref(message);
    }
    return news;
}

/* -------------------------------------------------------------------- decoders */

static gboolean is_left_out(guint row, guint n)
{
    return g_strcmp0(g_getenv("TDL_DEVICE"), "cpu") && !util_in_turn(row, n);
}

#define FRAMES 4

/* Frame 0 by a point, 1 by the mask of 0, 2 by another prompt, 3 by the mask of 2. */
static const struct {
    const gchar *text;
    struct point points[3];
    guint count;
} prompts[] = {
    {"point 0.35,0.5", {{0.35, 0.5, 1}}, 1},
    {"box 0.3,0.25,0.8,0.75 background 0.1,0.9",
     {{0.3, 0.25, 2}, {0.8, 0.75, 3}, {0.1, 0.9, 0}}, 3},
};

/* FALSE where rounding may decide. */
static gboolean expect_all(const struct network *n, guint8 (*frames)[SIDE * SIDE * 3],
                           guint32 seed, gdouble (*out)[AREA])
{
    struct memory m = {.least = INFINITY};
    guint covered;

    for (guint i = 0; i < FRAMES; i++) {
        paint(frames[i], seed + i, i);
        if (i % 2 == 0)
            m.kept = FALSE;
        expect(n, frames[i], prompts[i / 2].points, prompts[i / 2].count, &m);
        memcpy(out[i], m.expected, sizeof(m.expected));
        covered = 0;
        for (guint k = 0; k < AREA; k++)
            covered += m.expected[k] > 0.5;
        if (covered < 4 || covered > AREA - 40)
            return FALSE;
    }
    return m.least > 2e-3;
}

GST_START_TEST(decoders)
{
    g_autofree gchar *encoder = NULL, *decoder = NULL, *properties = NULL, *what = NULL;
    static guint8 frames[FRAMES][SIDE * SIDE * 3];
    static gdouble expected[FRAMES][AREA];
    struct network n = {.form = __i__};
    guint32 seed = util_seed() + __i__;
    GRand *rand;
    struct filter f;

    if (is_left_out(__i__, FORMS))
        return; /* every network has kernels of its own */
    rand = g_rand_new_with_seed(seed);
    do
        draw(&n, rand);
    while (!expect_all(&n, frames, seed, expected));
    write_models(&n, &encoder, &decoder);
    /* Room for as many points from the beginning: the network stays. */
    properties = g_strdup_printf("%s%s prompt=\"%s\"", decoder ? "decoder-model=" : "",
                                 decoder ? decoder : "", prompts[1].text);
    written_start(&f, encoder, properties, CAPS);
    for (guint i = 0; i < FRAMES; i++) {
        g_free(what);
        what = g_strdup_printf("form %d, frame %u", n.form, i);
        if (i % 2 == 0)
            g_object_set(f.element, "prompt", prompts[i / 2].text, NULL);
        compare(&f, filter_run(&f, buffer_of(frames[i], SIDE)), expected[i], GRID, SIDE, what);
    }
    filter_expect_no_error(&f);
    filter_stop(&f);
    g_unlink(encoder);
    if (decoder)
        g_unlink(decoder);
    g_rand_free(rand);
}
GST_END_TEST;

/* Nothing is above 0: the mask is empty, and one warning says so for each prompt. */
GST_START_TEST(nothing)
{
    static const gdouble empty[AREA];
    static guint8 frame[SIDE * SIDE * 3];
    g_autofree gchar *encoder = NULL, *decoder = NULL, *properties = NULL;
    struct network n = {.form = SAM, .emptiness = 8};
    GRand *rand = g_rand_new_with_seed(1);
    struct memory m = {0};
    struct filter f;

    if (is_left_out(0, 4))
        return;
    draw(&n, rand);
    paint(frame, 1, 0);
    expect(&n, frame, &(struct point){0.5, 0.5, 1}, 1, &m);
    fail_unless(!m.kept);
    write_models(&n, &encoder, &decoder);
    properties = g_strdup_printf("decoder-model=%s prompt=\"point 0.5,0.5\"", decoder);
    written_start(&f, encoder, properties, CAPS);
    for (guint k = 0; k < 2; k++) {
        struct news news;

        g_object_set(f.element, "prompt", "point 0.5,0.5", NULL); /* the same, anew */
        for (guint i = 0; i < 3; i++)
            compare(&f, filter_run(&f, buffer_of(frame, SIDE)), empty, GRID, SIDE, "nothing");
        news = take_news(&f, "no object");
        fail_unless_equals_int(news.objects, 1);
        fail_unless_equals_int(news.warnings, 1);
        fail_unless_equals_int(news.found, FALSE);
    }
    filter_stop(&f);
    g_unlink(encoder);
    g_unlink(decoder);
    g_rand_free(rand);
}
GST_END_TEST;

/* ---------------------------------------------------------------------- errors */

/* Files that do not go together, or a prompt that does not go with them. */
static const struct {
    const gchar *line; /* FILE0: the encoder; 1: its decoder; 2: one with room for two points; 3:
                          one of five channels; 4: a mask and nothing else */
    const gchar *words[4];
} refusals[] = {
    {"model=FILE0 prompt=\"point 0.5,0.5\"", {"image_embeddings", "decoder-model"}},
    {"model=FILE0", {"image_embeddings", "decoder-model"}},
    {"model=FILE0 decoder-model=FILE0", {"its input \"image\"", "must be of one model"}},
    {"model=FILE0 decoder-model=FILE3",
     {"its input \"image_embeddings\" is float32[1,5,16,16]",
      "\"image_embeddings\" float32[1,4,16,16]", "must be of one model"}},
    {"model=FILE0 decoder-model=FILE2 prompt=\"box 0,0,1,1 point 0.5,0.5\"",
     {"its input \"point_coords\" is float32[1,2,2]", "room for 4 points"}},
    {"model=FILE0 decoder-model=FILE0.gone", {"Cannot load model", ".gone"}},
    {"model=FILE0 decoder-model=http://nowhere/x.onnx", {"give a path or a file:// URI"}},
    {"model=FILE1", {"Cannot load model"}},
    {"model=FILE1 prompt=\"point 0.5,0.5\"", {"\"point_coords\" comes before any picture"}},
    {"model=FILE0 decoder-model=FILE1 model-output=means", {"no output of masks", "low_res_masks"}},
    {"model=FILE0 decoder-model=FILE1 mode=picture",
     {"any other mode than picture and classes"}},
    {"model=FILE0 decoder-model=FILE1 prompt=\"point 1.5,0.5\"", {"outside of the picture"}},
    {"model=FILE4 prompt=\"point 0.5,0.5\"", {"\"prompt\" is for models that find objects"}},
};

/* A decoder that takes an embedding of so many channels, and as many points; −2: any. */
static gchar *write_other(gint64 channels, gint64 points)
{
    struct onnx_bytes g = {0}, axes = {0};

    onnx_input(&g, "image_embeddings", FLOAT, 4, (const int64_t[]){1, channels, GRID, GRID});
    onnx_input(&g, "point_coords", FLOAT, 3, (const int64_t[]){1, points, 2});
    onnx_attr_ints(&axes, "axes", (const int64_t[]){1, 2}, 2);
    onnx_attr_int(&axes, "keepdims", 1);
    onnx_node(&g, "ReduceMax", "point_coords", "most", &axes);
    onnx_int64s(&g, "four", 4, (const int64_t[]){1, 1, 1, 1});
    onnx_node(&g, "Reshape", "most four", "scalar", NULL);
    onnx_node(&g, "Add", "image_embeddings scalar", "masks", NULL);
    onnx_output(&g, "masks");
    return written_model(&g);
}

/* A mask and nothing else. */
static gchar *write_plain(void)
{
    struct onnx_bytes g = {0};

    onnx_input(&g, "src", FLOAT, 4, (const int64_t[]){1, 3, SIDE, SIDE});
    onnx_node(&g, "Sigmoid", "src", "all", NULL);
    onnx_output(&g, "all");
    return written_model(&g);
}

static gchar *replaced(const gchar *line, gchar *const *files)
{
    GString *text = g_string_new(line);

    for (guint i = 0; i < 5; i++) {
        g_autofree gchar *place = g_strdup_printf("FILE%u", i);

        g_string_replace(text, place, files[i], 0);
    }
    return g_string_free(text, FALSE);
}

static void expect_refusal(const gchar *line, const gchar *const *words)
{
    GstElement *element = gst_parse_launch(line, NULL);
    GstBus *bus = gst_bus_new();
    GstMessage *message;

    fail_unless(element != NULL, "%s", line);
    gst_object_ref_sink(element);
    gst_element_set_bus(element, bus);
    fail_unless(gst_element_set_state(element, GST_STATE_PAUSED) == GST_STATE_CHANGE_FAILURE,
                "%s is taken", line);
    message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);
    message_expect(message, GST_MESSAGE_ERROR, words);
    gst_element_set_bus(element, NULL);
    gst_element_set_state(element, GST_STATE_NULL);
    gst_object_unref(bus);
    gst_object_unref(element);
}

GST_START_TEST(errors)
{
    gchar *files[5];
    struct network n = {.form = SAM};
    GRand *rand = g_rand_new_with_seed(1);

    draw(&n, rand);
    write_models(&n, &files[0], &files[1]);
    files[2] = write_other(4, 2);
    files[3] = write_other(5, -2);
    files[4] = write_plain();
    for (guint i = 0; i < G_N_ELEMENTS(refusals); i++) {
        g_autofree gchar *properties = NULL, *line = NULL;
        properties = replaced(refusals[i].line, files);
        line = g_strdup_printf("tdlfilter %s", properties);
        expect_refusal(line, refusals[i].words);
    }
    for (guint i = 0; i < G_N_ELEMENTS(files); i++) {
        g_unlink(files[i]);
        g_free(files[i]);
    }
    g_rand_free(rand);
}
GST_END_TEST;

/* A prompt that cannot be read changes nothing; one with more points has the network loaded again,
 * and goes on until then. The .modelinfo file beside the encoder says which decoder it has. */
GST_START_TEST(changes)
{
    static guint8 frames[FRAMES][SIDE * SIDE * 3];
    static gdouble expected[FRAMES][AREA];
    g_autofree gchar *encoder = NULL, *decoder = NULL, *info = NULL, *text = NULL, *name = NULL,
                     *properties = NULL;
    struct network n = {.form = SAM};
    guint32 seed = util_seed();
    GRand *rand = g_rand_new_with_seed(seed);
    const gint64 end = g_get_monotonic_time() + UTIL_HANG / 1000;
    GstMessage *message;
    struct filter f;

    if (is_left_out(0, 4))
        return;
    do
        draw(&n, rand);
    while (!expect_all(&n, frames, seed, expected));
    write_models(&n, &encoder, &decoder);
    info = g_strdup_printf("%s.modelinfo", encoder);
    name = g_path_get_basename(decoder);
    text = g_strdup_printf("[modelinfo]\nversion=1.0\n[tdlfilter]\ndecoder-model=%s\n", name);
    fail_unless(g_file_set_contents(info, text, -1, NULL));
    properties = g_strdup_printf("prompt=\"%s\"", prompts[0].text);
    written_start(&f, encoder, properties, CAPS);
    compare(&f, filter_run(&f, buffer_of(frames[0], SIDE)), expected[0], GRID, SIDE, "first");
    g_object_set(f.element, "prompt", "point 0.5,1.5", NULL);
    message = filter_message(&f, GST_MESSAGE_WARNING);
    message_expect(message, GST_MESSAGE_WARNING,
                   (const gchar *const[]){"outside of the picture", NULL});
    compare(&f, filter_run(&f, buffer_of(frames[1], SIDE)), expected[1], GRID, SIDE, "second");
    take_news(&f, "");
    g_object_set(f.element, "prompt", prompts[1].text, NULL);
    while (take_news(&f, "").objects == 0) {
        fail_unless(g_get_monotonic_time() < end, "the network is not loaded again");
        gst_buffer_unref(filter_run(&f, buffer_of(frames[2], SIDE)));
    }
    g_object_set(f.element, "prompt", prompts[1].text, NULL);
    compare(&f, filter_run(&f, buffer_of(frames[2], SIDE)), expected[2], GRID, SIDE, "third");
    compare(&f, filter_run(&f, buffer_of(frames[3], SIDE)), expected[3], GRID, SIDE, "fourth");
    filter_stop(&f);
    g_unlink(encoder);
    g_unlink(decoder);
    g_unlink(info);
    g_rand_free(rand);
}
GST_END_TEST;

/* Between two runs of the network, a new prompt has one at once, whose mask has no share of what
 * was meant before. */
GST_START_TEST(at_once)
{
    static guint8 frames[FRAMES][SIDE * SIDE * 3];
    static gdouble expected[FRAMES][AREA];
    g_autofree gchar *encoder = NULL, *decoder = NULL, *properties = NULL;
    struct network n = {.form = SAM};
    guint32 seed = util_seed();
    GRand *rand = g_rand_new_with_seed(seed);
    struct filter f;

    if (is_left_out(0, 4))
        return;
    do
        draw(&n, rand);
    while (!expect_all(&n, frames, seed, expected));
    write_models(&n, &encoder, &decoder);
    properties = g_strdup_printf("decoder-model=%s interval=50 smoothing=0.99 prompt=\"%s\"",
                                 decoder, prompts[1].text);
    written_start(&f, encoder, properties, CAPS);
    g_object_set(f.element, "prompt", prompts[0].text, NULL);
    compare(&f, filter_run(&f, buffer_of(frames[0], SIDE)), expected[0], GRID, SIDE, "first");
    compare(&f, filter_run(&f, buffer_of(frames[0], SIDE)), expected[0], GRID, SIDE, "kept");
    g_object_set(f.element, "prompt", prompts[1].text, NULL);
    compare(&f, filter_run(&f, buffer_of(frames[2], SIDE)), expected[2], GRID, SIDE, "at once");
    fail_unless_equals_int(filter_stat(&f, "network-runs"), 2);
    filter_stop(&f);
    g_unlink(encoder);
    g_unlink(decoder);
    g_rand_free(rand);
}
GST_END_TEST;

/* --------------------------------------------------------------------- objects */

#define PX 32 /* of frames, pictures and masks of networks that find objects */
#define PIXELS (PX * PX)
#define BLOCK 4 /* px of one colour */
#define OBJECTS 12
#define STEPS 5 /* frames */
#define LOST 3  /* one that is black */
#define OBJECT_CAPS "video/x-raw,format=RGB,width=32,height=32,framerate=30/1"

enum family { MASK2FORMER, MASK_RCNN, SOLO, YOLO, FAMILIES };

static const gchar *const decoder_of[] = {"mask2former", "auto", "auto", "yolo-seg"};

/* Logits are sums of a pixel's colours, and scores of their means. */
struct finder {
    enum family family;
    gfloat color[OBJECTS * 3], bias[OBJECTS], score[OBJECTS * 3], worth[OBJECTS];
    guint8 frames[STEPS][PIXELS * 3];
    gdouble expected[STEPS][PIXELS];
};

static void draw_finder(struct finder *n, GRand *rand)
{
    for (guint i = 0; i < OBJECTS * 3; i++) {
        n->color[i] = g_rand_double_range(rand, -9, 9);
        n->score[i] = g_rand_double_range(rand, -6, 6);
    }
    for (guint i = 0; i < OBJECTS; i++) {
        n->bias[i] = g_rand_double_range(rand, -4, -0.1); /* nothing is black */
        n->worth[i] = g_rand_double_range(rand, -1, 2);
    }
    for (guint step = 0; step < STEPS; step++)
        for (guint i = 0; i < PIXELS * 3; i++) {
            const guint y = i / 3 / PX / BLOCK * BLOCK, x = i / 3 % PX / BLOCK * BLOCK;
            const guint corner = 3 * (y * PX + x) + i % 3;

            if (corner != i)
                n->frames[step][i] = n->frames[step][corner];
            else if (step == LOST)
                n->frames[step][i] = 0;
            else if (step && (g_rand_int_range(rand, 0, 4) || i % 3))
                n->frames[step][i] = n->frames[step - (step == LOST + 1 ? 2 : 1)][i];
            else
                n->frames[step][i] = g_rand_int_range(rand, 0, 256);
        }
}

static void add_yolo(struct onnx_bytes *g, const struct finder *n)
{
    gfloat boxes[4 * OBJECTS], coefficients[4 * OBJECTS];
    const gfloat channels[] = {1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0}, one[] = {0, 0, 0, 1};
    struct onnx_bytes axis = {0};

    for (guint i = 0; i < 4 * OBJECTS; i++) {
        const guint object = i % OBJECTS, row = i / OBJECTS;

        boxes[i] = row < 2 ? 64 : 400;
        coefficients[i] = row < 3 ? n->color[3 * object + row] : n->bias[object];
    }
    onnx_initializer(g, "boxes", FLOAT, 3, (const int64_t[]){1, 4, OBJECTS}, boxes, sizeof(boxes));
    onnx_initializer(g, "parts", FLOAT, 3, (const int64_t[]){1, 4, OBJECTS}, coefficients,
                     sizeof(coefficients));
    onnx_initializer(g, "c", FLOAT, 4, (const int64_t[]){4, 3, 1, 1}, channels, sizeof(channels));
    onnx_initializer(g, "o", FLOAT, 1, (const int64_t[]){4}, one, sizeof(one));
    onnx_int64s(g, "row", 3, (const int64_t[]){1, 1, OBJECTS});
    onnx_node(g, "Sigmoid", "sums", "shares", NULL);
    onnx_node(g, "Reshape", "shares row", "scores", NULL);
    onnx_attr_int(&axis, "axis", 1);
    onnx_node(g, "Concat", "boxes scores parts", "candidates", &axis);
    onnx_node(g, "Conv", "src c o", "prototypes", NULL);
    onnx_output(g, "candidates");
    onnx_output(g, "prototypes");
}

/* A second class, "no object", has 0. */
static void add_queries(struct onnx_bytes *g)
{
    const gfloat none[OBJECTS] = {0};
    struct onnx_bytes axis = {0};

    onnx_int64s(g, "column", 3, (const int64_t[]){1, OBJECTS, 1});
    onnx_initializer(g, "none", FLOAT, 3, (const int64_t[]){1, OBJECTS, 1}, none, sizeof(none));
    onnx_node(g, "Reshape", "sums column", "scored", NULL);
    onnx_attr_int(&axis, "axis", 2);
    onnx_node(g, "Concat", "scored none", "classes", &axis);
    onnx_node(g, "Identity", "logits", "masks", NULL);
    onnx_output(g, "classes");
    onnx_output(g, "masks");
}

static void add_lists(struct onnx_bytes *g, const struct finder *n)
{
    static const int64_t labels[OBJECTS];
    static const gfloat boxes[OBJECTS * 4];

    onnx_int64s(g, "list", 1, (const int64_t[]){OBJECTS});
    onnx_int64s(g, "pictures", 3, (const int64_t[]){OBJECTS, PX, PX});
    onnx_initializer(g, "kinds", INT64, 1, (const int64_t[]){OBJECTS}, labels, sizeof(labels));
    onnx_initializer(g, "corners", FLOAT, 2, (const int64_t[]){OBJECTS, 4}, boxes, sizeof(boxes));
    onnx_node(g, "Sigmoid", "sums", "shares", NULL);
    onnx_node(g, "Reshape", "shares list", "scores", NULL);
    onnx_node(g, "Sigmoid", "logits", "pixels", NULL);
    onnx_node(g, "Reshape", "pixels pictures", "masks", NULL);
    onnx_node(g, "Identity", "kinds", "labels", NULL);
    onnx_node(g, "Identity", "corners", "boxes", NULL);
    if (n->family == MASK_RCNN)
        onnx_output(g, "boxes");
    onnx_output(g, "scores");
    onnx_output(g, "labels");
    onnx_output(g, "masks");
}

static gchar *write_finder(const struct finder *n)
{
    struct onnx_bytes g = {0};

    onnx_input(&g, "src", FLOAT, 4, (const int64_t[]){1, 3, PX, PX});
    onnx_initializer(&g, "m", FLOAT, 4, (const int64_t[]){OBJECTS, 3, 1, 1}, n->color,
                     sizeof(n->color));
    onnx_initializer(&g, "b", FLOAT, 1, (const int64_t[]){OBJECTS}, n->bias, sizeof(n->bias));
    onnx_initializer(&g, "s", FLOAT, 4, (const int64_t[]){OBJECTS, 3, 1, 1}, n->score,
                     sizeof(n->score));
    onnx_initializer(&g, "w", FLOAT, 1, (const int64_t[]){OBJECTS}, n->worth, sizeof(n->worth));
    onnx_node(&g, "Conv", "src m b", "logits", NULL);
    onnx_node(&g, "GlobalAveragePool", "src", "mean", NULL);
    onnx_node(&g, "Conv", "mean s w", "sums", NULL);
    if (n->family == YOLO)
        add_yolo(&g, n);
    else if (n->family == MASK2FORMER)
        add_queries(&g);
    else
        add_lists(&g, n);
    return written_model(&g);
}

/* What is known behind a frame. */
struct trace {
    gboolean kept, is[PIXELS];
    gdouble least; /* how far the nearest decision was */
};

static gdouble logit(const struct finder *n, guint step, guint object, guint i)
{
    gdouble sum = n->bias[object];

    for (guint c = 0; c < 3; c++)
        sum += (gdouble)n->color[3 * object + c] * n->frames[step][3 * i + c] / 255;
    return sum;
}

static gdouble overlap(const gboolean *a, const gboolean *b)
{
    guint both = 0, any = 0;

    for (guint i = 0; i < PIXELS; i++) {
        both += a[i] && b[i];
        any += a[i] || b[i];
    }
    return any ? both / (gdouble)any : 0;
}

static gdouble fit_prompt(const gboolean *is, const struct point *points, guint count)
{
    gboolean box[PIXELS] = {0};
    gdouble hits = 0, wrong = 0, all = 0;

    for (guint k = 0; k < count; k++) {
        const guint x = MIN(points[k].x * PX, PX - 1), y = MIN(points[k].y * PX, PX - 1);

        all += points[k].label == 1;
        hits += points[k].label == 1 && is[y * PX + x];
        wrong += points[k].label == 0 && is[y * PX + x];
    }
    for (guint i = 0; i < PIXELS && count > 1 && points[0].label == 2; i++) {
        const gdouble x = (i % PX + 0.5) / PX, y = (i / PX + 0.5) / PX;

        box[i] = x >= points[0].x && x < points[1].x && y >= points[0].y && y < points[1].y;
    }
    return hits / MAX(all, 1) - wrong + overlap(is, box);
}

/* In the order of their scores, so that the surest of equal ones is taken. */
static void follow(struct finder *n, guint step, const struct point *points, guint count,
                   struct trace *t)
{
    gdouble mean[3] = {0}, best = -2, second = -2, least_score = INFINITY, best_score = 0;
    gboolean chosen[PIXELS] = {0};
    guint winner = 0;

    for (guint i = 0; i < PIXELS * 3; i++)
        mean[i % 3] += n->frames[step][i] / 255.0 / PIXELS;
    for (guint k = 0; k < OBJECTS; k++) {
        gdouble score = n->worth[k], fits;
        gboolean is[PIXELS];

        for (guint c = 0; c < 3; c++)
            score += (gdouble)n->score[3 * k + c] * mean[c];
        t->least = MIN(t->least, fabs(score));
        if (score < 0)
            continue;
        for (guint i = 0; i < PIXELS; i++)
            is[i] = logit(n, step, k, i) > 0;
        fits = t->kept ? overlap(is, t->is) : fit_prompt(is, points, count);
        least_score = MIN(least_score, fabs(score - best_score));
        if (fits > best + 1e-9 || (fits > best - 1e-9 && score > best_score)) {
            second = best;
            best = fits;
            best_score = score;
            winner = k;
            memcpy(chosen, is, sizeof(is));
        } else {
            second = MAX(second, fits);
        }
    }
    if (best - second > 1e-9) /* equal ones are told apart by scores */
        t->least = MIN(t->least, best - second);
    t->least = MIN(MIN(t->least, least_score), fabs(best - 0.1));
    for (guint i = 0; i < PIXELS; i++) {
        const gdouble x = logit(n, step, winner, i);

        n->expected[step][i] = best > 0.1 ? 1 / (1 + exp(-x)) : 0;
        t->least = MIN(t->least, best > 0.1 ? fabs(x) * 10 : 1);
    }
    if (best > 0.1)
        memcpy(t->is, chosen, sizeof(chosen));
    t->kept |= best > 0.1;
}

/* Frame 0 by a point, 1 behind it, 2 by a box, 4 behind that, as 3 has nothing. */
static gboolean expect_followed(struct finder *n)
{
    struct trace t = {.least = INFINITY};

    for (guint step = 0; step < STEPS; step++) {
        guint covered = 0;

        t.kept &= step != 2;
        follow(n, step, prompts[step / 2 % 2].points, prompts[step / 2 % 2].count, &t);
        for (guint i = 0; i < PIXELS; i++)
            covered += n->expected[step][i] > 0.5;
        if (step == LOST ? covered > 0 : !t.kept || covered < 30 || covered > PIXELS - 30)
            return FALSE;
    }
    return t.least > 1e-3;
}

GST_START_TEST(objects)
{
    g_autofree gchar *model = NULL, *properties = NULL, *what = NULL;
    struct finder *n;
    struct filter f;
    GRand *rand;

    if (is_left_out(__i__, FAMILIES))
        return;
    n = g_new0(struct finder, 1);
    rand = g_rand_new_with_seed(util_seed() + __i__);
    n->family = __i__;
    do
        draw_finder(n, rand);
    while (!expect_followed(n));
    model = write_finder(n);
    properties =
        g_strdup_printf("score-threshold=0.5 iou-threshold=1 decoder=%s prompt=\"%s\"",
                        decoder_of[n->family], prompts[1].text);
    written_start(&f, model, properties, OBJECT_CAPS);
    for (guint step = 0; step < STEPS; step++) {
        g_free(what);
        what = g_strdup_printf("family %d, frame %u", n->family, step);
        if (step == 0 || step == 2)
            g_object_set(f.element, "prompt", prompts[step / 2].text, NULL);
        compare(&f, filter_run(&f, buffer_of(n->frames[step], PX)), n->expected[step], PX, PX,
                what);
    }
    filter_expect_no_error(&f);
    filter_stop(&f);
    g_unlink(model);
    g_rand_free(rand);
    g_free(n);
}
GST_END_TEST;

static Suite *prompt_suite(void)
{
    Suite *suite = suite_create("prompt");
    TCase *tcase = tcase_create("general");

    tcase_set_timeout(tcase, 0);
    suite_add_tcase(suite, tcase);
    tcase_add_loop_test(tcase, decoders, 0, FORMS);
    tcase_add_test(tcase, nothing);
    tcase_add_test(tcase, errors);
    tcase_add_test(tcase, changes);
    tcase_add_test(tcase, at_once);
    tcase_add_loop_test(tcase, objects, 0, FAMILIES);
    return suite;
}

int main(int argc, char **argv)
{
    return util_main_one_device(argc, argv, prompt_suite(), "prompt");
}
