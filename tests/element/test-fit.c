/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Frames in a network's picture, and its mask over them, as a table. */
#include "model/gsttdlfit.h"
#include "frame/gsttdlregion.h"

#include <gst/check/gstcheck.h>

static const struct {
    gint fit;
    struct gst_tdl_fit_sizes sizes;
    guint crop[4], inside[4];
    gint part[4];
} rows[] = {
    { GST_TDL_FIT_STRETCH, { { 64, 32 }, 1, { 16, 16 }, { 16, 16 } }, { 0 }, { 0 }, { 0 } },
    { GST_TDL_FIT_LETTERBOX,
      { { 64, 32 }, 1, { 16, 16 }, { 16, 16 } }, { 0 }, { 0, 4, 16, 8 }, { 0, 4, 16, 8 } },
    { GST_TDL_FIT_LETTERBOX,
      { { 32, 32 }, 2, { 16, 16 }, { 16, 16 } }, { 0 }, { 0, 4, 16, 8 }, { 0, 4, 16, 8 } },
    { GST_TDL_FIT_LETTERBOX, /* a mask of a quarter's size */
      { { 1920, 1080 }, 1, { 640, 640 }, { 160, 160 } },
      { 0 }, { 0, 140, 640, 360 }, { 0, 35, 160, 90 } },
    { GST_TDL_FIT_LETTERBOX, /* whole px of the mask */
      { { 1000, 707 }, 0, { 640, 640 }, { 160, 160 } },
      { 0 }, { 0, 92, 640, 452 }, { 0, 23, 160, 113 } },
    { GST_TDL_FIT_LETTERBOX, /* as there is no end of such */
      { { 30000, 1 }, 1, { 16, 16 }, { 16, 16 } }, { 0 }, { 0, 7, 16, 1 }, { 0, 7, 16, 1 } },
    { GST_TDL_FIT_CROP,
      { { 64, 32 }, 1, { 16, 16 }, { 16, 16 } }, { 16, 0, 32, 32 }, { 0 }, { -8, 0, 32, 16 } },
    { GST_TDL_FIT_CROP,
      { { 32, 32 }, 2, { 16, 16 }, { 16, 16 } }, { 8, 0, 16, 32 }, { 0 }, { -8, 0, 32, 16 } },
    { GST_TDL_FIT_CROP,
      { { 32, 64 }, 1, { 256, 128 }, { 64, 32 } },
      { 0, 24, 32, 16 }, { 0 }, { 0, -48, 64, 128 } },
    { GST_TDL_FIT_CROP, /* no smaller middle than an eighth */
      { { 32000, 10 }, 1, { 16, 16 }, { 16, 16 } },
      { 14000, 0, 4000, 10 }, { 0 }, { -56, 0, 128, 16 } },
    /* Regions, whatever the fit: half of the frame, and an odd part of it. */
    { GST_TDL_FIT_STRETCH,
      { { 64, 32 }, 1, { 16, 16 }, { 16, 16 }, { 20, 8, 32, 16 } },
      { 20, 8, 32, 16 }, { 0 }, { -10, -8, 32, 32 } },
    { GST_TDL_FIT_LETTERBOX,
      { { 1280, 720 }, 1, { 256, 256 }, { 256, 256 }, { 801, 0, 480, 720 } },
      { 800, 0, 480, 720 }, { 0 }, { -427, 0, 683, 256 } },
    { GST_TDL_FIT_CROP, /* a corner, and px of the mask that are larger than the frame's */
      { { 30, 10 }, 1, { 16, 16 }, { 16, 16 }, { 20, 5, 10, 5 } },
      { 20, 5, 10, 5 }, { 0 }, { -32, -16, 48, 32 } },
};

static void expect(const guint *got, const guint *wanted, const gchar *what)
{
    for (guint i = 0; i < 4; i++)
        fail_unless(got[i] == wanted[i], "%s is %d,%d %dx%d, not %d,%d %dx%d", what, (gint)got[0],
                    (gint)got[1], (gint)got[2], (gint)got[3], (gint)wanted[0], (gint)wanted[1],
                    (gint)wanted[2], (gint)wanted[3]);
}

GST_START_TEST(table)
{
    struct tdl_frame_to_tensor_params p = { .scale = { 1, 2, 3 } };
    struct gst_tdl_mask_part part;

    gst_tdl_fit(rows[__i__].fit, &rows[__i__].sizes, &p, &part);
    expect((guint[]){ p.crop.x, p.crop.y, p.crop.width, p.crop.height }, rows[__i__].crop, "crop");
    expect((guint[]){ p.inside.x, p.inside.y, p.inside.width, p.inside.height },
           rows[__i__].inside, "inside");
    expect((guint[]){ part.x, part.y, part.width, part.height }, (const guint *)rows[__i__].part,
           "part");
    fail_unless(p.scale[2] == 3);
}
GST_END_TEST;

/* All that comes out lies where it must. */
GST_START_TEST(any_sizes)
{
    for (guint i = 0; i < 20000; i++) {
        struct gst_tdl_fit_sizes s = { .pixel_aspect = (gfloat)g_random_double_range(0.2, 5) };
        struct tdl_frame_to_tensor_params p = { 0 };
        struct gst_tdl_mask_part part;

        for (guint k = 0; k < 2; k++) {
            s.frame[k] = g_random_int_range(1, 1 << g_random_int_range(1, 15));
            s.mask[k] = g_random_int_range(1, 300);
            s.input[k] = s.mask[k] * (g_random_boolean() ? 1 : g_random_int_range(1, 9));
            if (g_random_int_range(0, 4) == 0)
                s.input[k] = g_random_int_range(1, 2000);
        }
        gst_tdl_fit(GST_TDL_FIT_LETTERBOX, &s, &p, &part);
        fail_unless(p.inside.width && p.inside.x + p.inside.width <= s.input[0]);
        fail_unless(p.inside.height && p.inside.y + p.inside.height <= s.input[1]);
        fail_unless(part.x >= 0 && part.width && part.x + part.width <= s.mask[0]);
        fail_unless(part.y >= 0 && part.height && part.y + part.height <= s.mask[1]);
        gst_tdl_fit(GST_TDL_FIT_CROP, &s, &p, &part);
        fail_unless(p.crop.width && p.crop.x + p.crop.width <= s.frame[0]);
        fail_unless(p.crop.height && p.crop.y + p.crop.height <= s.frame[1]);
        fail_unless(part.x <= 0 && part.width == s.mask[0] - 2 * part.x && part.width <= 32767);
        fail_unless(part.y <= 0 && part.height == s.mask[1] - 2 * part.y);
    }
}
GST_END_TEST;

/* Lengths in eighths of the frame, with a margin, in the middle of what is wanted. */
static const struct {
    struct gst_tdl_rect wanted;
    guint region[4]; /* width 0: the whole frame */
} regions[] = {
    { { 400, 200, 100, 80 }, { 350, 140, 200, 200 } },  /* no less than two eighths */
    { { 400, 200, 110, 80 }, { 355, 140, 200, 200 } },  /* moves along */
    { { 390, 200, 300, 80 }, { 340, 140, 400, 200 } },  /* 374 px are more than three of 800 */
    { { 390, 200, 200, 80 }, { 290, 140, 400, 200 } },  /* one eighth less is no reason */
    { { 390, 200, 90, 80 }, { 335, 140, 200, 200 } },   /* two are */
    { { 0, 0, 90, 700 }, { 0, 0, 200, 800 } },          /* at the border */
    { { 700, 790, 500, 500 }, { 600, 600, 200, 200 } }, /* and over it */
    { { 5, 5, 790, 790 }, { 0 } },
    { { 800, 5, 10, 10 }, { 0 } }, /* region behind the frame */
};

GST_START_TEST(regions_in_turn)
{
    static const guint frame[2] = { 800, 800 };
    struct gst_tdl_region region = { { 0, 0 } };

    for (guint i = 0; i < G_N_ELEMENTS(regions); i++) {
        guint got[4] = { 0 };

        fail_unless_equals_int(
            gst_tdl_region_choose(&region, &regions[i].wanted, frame, got),
            regions[i].region[2] > 0);
        if (regions[i].region[2])
            expect(got, regions[i].region, "region");
    }
}
GST_END_TEST;

/* Wherever something is, the region has it in it, and the mask's px its region. */
GST_START_TEST(regions_hold_what_is_wanted)
{
    struct gst_tdl_region region = { { 0, 0 } };

    for (guint i = 0; i < 20000; i++) {
        const guint frame[2] = { g_random_int_range(1, 2000), g_random_int_range(1, 2000) };
        struct gst_tdl_rect w = { g_random_int_range(0, frame[0]), g_random_int_range(0, frame[1]),
                                  g_random_int_range(1, 2000), g_random_int_range(1, 2000) };
        struct gst_tdl_fit_sizes sizes = { { frame[0], frame[1] }, 1, { 16, 16 }, { 16, 16 } };
        struct tdl_frame_to_tensor_params p = { .pad = 0 };
        struct gst_tdl_mask_part part;
        guint *r = sizes.region;

        if (!gst_tdl_region_choose(&region, &w, frame, r))
            continue;
        fail_unless(r[2] >= 1 && r[3] >= 1 && r[0] + r[2] <= frame[0] && r[1] + r[3] <= frame[1] &&
                        r[0] <= w.x && r[1] <= w.y &&
                        r[0] + r[2] >= MIN(w.x + w.width, frame[0]) &&
                        r[1] + r[3] >= MIN(w.y + w.height, frame[1]),
                    "%u,%u %ux%u of %ux%u: %u,%u %ux%u", w.x, w.y, w.width, w.height, frame[0],
                    frame[1], r[0], r[1], r[2], r[3]);
        gst_tdl_fit(GST_TDL_FIT_STRETCH, &sizes, &p, &part);
        fail_unless(p.crop.width >= 1 && p.crop.x + p.crop.width <= frame[0] &&
                    p.crop.height >= 1 && p.crop.y + p.crop.height <= frame[1]);
        fail_unless(part.x <= 0 && part.y <= 0 && part.width >= 16u - part.x &&
                    part.height >= 16u - part.y);
    }
}
GST_END_TEST;

static Suite *fit_suite(void)
{
    Suite *suite = suite_create("fit");
    TCase *tcase = tcase_create("general");

    suite_add_tcase(suite, tcase);
    tcase_add_loop_test(tcase, table, 0, G_N_ELEMENTS(rows));
    tcase_add_test(tcase, regions_in_turn);
    tcase_add_test(tcase, regions_hold_what_is_wanted);
    tcase_add_test(tcase, any_sizes);
    return suite;
}

GST_CHECK_MAIN(fit);
