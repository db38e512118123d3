/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the tests here: a tdlfilter in a harness, and pictures. */
#ifndef TDL_TESTS_ELEMENT_UTIL_H
#define TDL_TESTS_ELEMENT_UTIL_H

#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/video/video.h>

/* Runs the suite; 77 where no Vulkan device is usable. */
int util_main(int argc, char **argv, Suite *suite, const char *name);
/* util_main() with all cases in one process, which keeps the device open between them: kernels are
 * compiled once, not for every case. */
int util_main_one_device(int argc, char **argv, Suite *suite, const char *name);
/* Seed of random choices: TDL_TEST_SEED, else a new one in every run. */
guint32 util_seed(void);
/* TRUE for every nth row of a slow table, for other rows in other runs. All rows with
 * TDL_TEST_CASES of 100 or more, a quarter as many with 1. */
gboolean util_in_turn(guint row, guint n);
/* Waits come to an end by what they wait for. This ends them if that never comes. */
#define UTIL_HANG (600 * GST_SECOND)
/* For a case that looks at how devices are opened: from here on none is kept. */
void util_drop_device(void);

struct filter {
    GstHarness *harness;
    GstElement *element; /* the tdlfilter */
    GstBus *bus;
};
/* A tdlfilter with `properties` ("mode=blur"), fed with `caps`. */
void filter_start(struct filter *filter, const char *properties, const char *caps);
void filter_stop(struct filter *filter);
/* The newest message of `type`, or NULL. Earlier ones are dropped. */
GstMessage *filter_message(struct filter *filter, GstMessageType type);
/* Fails the test if there was an error. */
void filter_expect_no_error(struct filter *filter);
/* An error or a warning, as `type` says, with these words in its text, the last one
 * NULL; else the test fails. Takes the message. */
void message_expect(GstMessage *message, GstMessageType type, const char *const *words);
/* Plays until the end, an error, or a message of `others`, which is the caller's. */
GstMessage *pipeline_play(GstElement *pipeline, GstMessageType others);
/* Plays until the end; fails the test if there is an error before it. */
void pipeline_play_to_end(GstElement *pipeline);
guint64 filter_stat(struct filter *filter, const char *field);
/* Push and pull; takes `input`. The output is the caller's. */
GstBuffer *filter_run(struct filter *filter, GstBuffer *input);
/* Video info of caps of plain formats. */
void caps_info(const char *text, GstVideoInfo *info);
/* The caps that the output has now. */
void filter_output_info(struct filter *filter, GstVideoInfo *info);

/* Everything counts as foreground, or as background: no network is surer than
 * a threshold of 1, and `invert` turns that round. */
void filter_all_foreground(struct filter *filter);
void filter_all_background(struct filter *filter);

/* The smooth test picture, in RGBA and converted to `info` by GStreamer. Plain
 * system memory with GStreamer's default strides. `phase` moves it. */
GstBuffer *picture_new(const GstVideoInfo *info, guint phase);
/* Somebody in 256x256 px of RGB, shown from `time` for 1/30 s. */
GstBuffer *picture_portrait(GstClockTime time);
/* The portrait as a frame of these caps, which may have other proportions. */
GstBuffer *picture_portrait_as(const char *caps, GstClockTime time);
/* One colour, 0xAARRGGBB. */
GstBuffer *picture_new_color(const GstVideoInfo *info, guint argb);
/* `buffer` in another format, by GStreamer. */
GstBuffer *picture_convert(GstBuffer *buffer, const GstVideoInfo *from, const GstVideoInfo *to);
/* A copy with odd strides and offsets, described by a GstVideoMeta. */
GstBuffer *picture_restride(GstBuffer *buffer, const GstVideoInfo *info, guint extra);
/* The largest difference of a sample (10-bit ones count in 8-bit steps), and
 * where. Unused bytes (x of RGBx) are not compared. */
gint picture_difference(GstBuffer *a, GstBuffer *b, const GstVideoInfo *info, gchar where[64]);
/* Fails the test, naming `what`, if it is more than `tolerance`. */
void picture_compare(GstBuffer *got, GstBuffer *expected, const GstVideoInfo *info, gint tolerance,
                     const char *what);

#endif
