/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The text of a prompt, and where its points lie in a network's picture: tables. */
#include "model/gsttdlfit.h"

#include <gst/check/gstcheck.h>

/* Points as x, y and label. */
static const struct {
    const gchar *text;
    guint count, room;
    gfloat points[4][3];
} good[] = {
    {"", 0, 0, {{0}}},
    {" ; ", 0, 0, {{0}}},
    {"point 0.5,0.25", 1, 2, {{0.5f, 0.25f, 1}}},
    {"point 0,0 1,1", 2, 2, {{0, 0, 1}, {1, 1, 1}}},
    {"box 0.25,0,1,0.5", 2, 2, {{0.25f, 0, 2}, {1, 0.5f, 3}}},
    {"Point 0.5,0.5; background 0,1", 2, 2, {{0.5f, 0.5f, 1}, {0, 1, 0}}},
    {"background 0,0 0,1\tbox 0.5,0.5,1,1", 4, 4,
     {{0, 0, 0}, {0, 1, 0}, {0.5f, 0.5f, 2}, {1, 1, 3}}},
};

GST_START_TEST(texts)
{
    struct gst_tdl_prompt p = {.serial = 7};
    GError *error = NULL;

    fail_unless(gst_tdl_prompt_parse(good[__i__].text, &p, &error), "%s",
                error ? error->message : "");
    fail_unless_equals_int(p.serial, 7);
    fail_unless_equals_int(p.count, good[__i__].count);
    fail_unless_equals_int(gst_tdl_prompt_room(&p), good[__i__].room);
    for (guint i = 0; i < p.count; i++) {
        const gfloat *wanted = good[__i__].points[i];

        fail_unless(p.points[i].x == wanted[0] && p.points[i].y == wanted[1] &&
                        p.points[i].label == wanted[2],
                    "point %u of \"%s\"", i, good[__i__].text);
    }
}
GST_END_TEST;

#define NINE "0,0 0,0 0,0 0,0 0,0 0,0 0,0 0,0 0,0 "

static const struct {
    const gchar *text, *word;
} bad[] = {
    {"0.5,0.5", "not expected"},
    {"point", "missing behind \"point\""},
    {"point 0.5,0.5 box", "missing behind \"box\""},
    {"point background 0,0", "not expected"},
    {"points 0,0", "not expected"},
    {"point 0.5", "no place"},
    {"point 0.5,0.5,0.5", "no place"},
    {"point 0.5, 0.5", "no place"},
    {"point a,b", "no place"},
    {"point nan,0", "outside"},
    {"point 1.5,0.5", "outside of the picture"},
    {"point 0.5,-0.1", "outside of the picture"},
    {"point 640,360", "outside of the picture"},
    {"box 0.5,0.5,0.2,0.9", "no area"},
    {"box 0.5,0.5,0.5,0.9", "no area"},
    {"box 0,0,0.5,0.5 0.5,0.5,1,1", "2 boxes"},
    {"background 0.5,0.5", "foreground"},
    {"point " NINE NINE, "more than 16"},
};

GST_START_TEST(refusals)
{
    struct gst_tdl_prompt p = {.count = 1, .points = {{0.5f, 0.5f, 1}}};
    g_autoptr(GError) error = NULL;

    fail_unless(!gst_tdl_prompt_parse(bad[__i__].text, &p, &error), "%s", bad[__i__].text);
    fail_unless(strstr(error->message, bad[__i__].word) != NULL, "no \"%s\" in: %s",
                bad[__i__].word, error->message);
    fail_unless(strstr(error->message, bad[__i__].text) != NULL, "%s", error->message);
    fail_unless_equals_int(p.count, 1);
}
GST_END_TEST;

/* Points of a frame of 64 × 32 px, in shares of a picture of 16 × 16. */
static const struct {
    guint crop[4], inside[4]; /* x, y, width, height; zeros: all */
    gfloat point[3], wanted[3];
} places[] = {
    {{0}, {0}, {0.25f, 0.5f, 1}, {0.25f, 0.5f, 1}},
    {{0}, {0, 4, 16, 8}, {0.25f, 0, 1}, {0.25f, 0.25f, 1}},
    {{0}, {0, 4, 16, 8}, {1, 1, 0}, {1, 0.75f, 0}},
    {{16, 0, 32, 32}, {0}, {0.5f, 0.5f, 1}, {0.5f, 0.5f, 1}},
    {{16, 0, 32, 32}, {0}, {0.25f, 1, 1}, {0, 1, 1}},
    {{16, 0, 32, 32}, {0}, {0.1f, 0.5f, 1}, {0, 0, -1}}, /* the network does not see it */
    {{16, 0, 32, 32}, {0}, {0.9f, 0.5f, 0}, {0, 0, -1}},
    {{16, 0, 32, 32}, {0}, {0, 0.5f, 2}, {0, 0.5f, 2}}, /* a box ends there */
    {{16, 0, 32, 32}, {0}, {1, 1, 3}, {1, 1, 3}},
};

GST_START_TEST(points)
{
    const guint *crop = places[__i__].crop, *inside = places[__i__].inside;
    const gfloat *from = places[__i__].point, *wanted = places[__i__].wanted;
    const struct gst_tdl_fit_sizes sizes = {.frame = {64, 32}, .input = {16, 16}};
    const struct tdl_frame_to_tensor_params how = {
        .crop = {crop[0], crop[1], crop[2], crop[3]},
        .inside = {inside[0], inside[1], inside[2], inside[3]}};
    const struct gst_tdl_point point = {from[0], from[1], from[2]};
    const struct gst_tdl_point got = gst_tdl_fit_point(&point, &sizes, &how);

    fail_unless(ABS(got.x - wanted[0]) < 1e-6f && ABS(got.y - wanted[1]) < 1e-6f &&
                    got.label == wanted[2],
                "%g,%g as %g", (gdouble)got.x, (gdouble)got.y, (gdouble)got.label);
}
GST_END_TEST;

static Suite *prompt_text_suite(void)
{
    Suite *suite = suite_create("prompt-text");
    TCase *tcase = tcase_create("general");

    suite_add_tcase(suite, tcase);
    tcase_add_loop_test(tcase, texts, 0, G_N_ELEMENTS(good));
    tcase_add_loop_test(tcase, refusals, 0, G_N_ELEMENTS(bad));
    tcase_add_loop_test(tcase, points, 0, G_N_ELEMENTS(places));
    return suite;
}

GST_CHECK_MAIN(prompt_text)
