/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Shared by the programs here: build a pipeline from a launch line and run it
 * to its end. Exit statuses are meson's: 0 passed, 77 skipped, else failed.
 */
#ifndef TDL_TESTS_PIPELINES_HARNESS_H
#define TDL_TESTS_PIPELINES_HARNESS_H

#include <gst/gst.h>

#define EXIT_SKIP 77

/** Parse a launch line; a wrong one ends the program. */
GstElement *harness_parse(const char *line);
/** Play until the end of the stream. FALSE, with the reason on stderr, after
 *  an error or `seconds`. The pipeline stays in its state, for reading stats. */
gboolean harness_run(GstElement *pipeline, unsigned seconds);
/** Back to NULL, and drop the reference. */
void harness_stop(GstElement *pipeline);
/** A counter of the `stats` of the element named "filter". */
guint64 harness_stat(GstElement *pipeline, const char *field);

#endif
