/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Shared by the guest's programs: what a buffer holds, whichever way its caps
 * and its memory are described. These functions look at pixels with the CPU, on
 * the test's own account.
 */
#ifndef TDL_TESTS_VM_FRAMES_H
#define TDL_TESTS_VM_FRAMES_H

#include "harness.h"

#include <gst/video/video.h>

/* Limit of a run, s: after this it hangs, however busy the machine is. */
#define FRAMES_LIMIT_S 800

/** Prints "ok: …" or "FAILED: …", and ends the program after the latter. */
void frames_check(gboolean good, const char *format, ...) G_GNUC_PRINTF(2, 3);

/** Prints caps, for the log. */
void frames_tell(const GstCaps *caps);

/** The picture that `caps` describe: plain ones, or memory:DMABuf with
 *  format=DMA_DRM, which must be linear. */
gboolean frames_info(const GstCaps *caps, GstVideoInfo *out_info);

/** A copy in system memory with GStreamer's default strides; padding is zero. */
GstBuffer *frames_copy(GstBuffer *buffer, const GstVideoInfo *info);

/** Bytes from row to row of the first plane. */
gint frames_stride(GstBuffer *buffer, const GstVideoInfo *info);

/** Every memory of the buffer is a dma-buf. */
gboolean frames_are_dma_buf(GstBuffer *buffer);

/** Runs `one` with each job of a command line:
 *
 *    PROGRAM --job LOG ARGUMENT... --job LOG ARGUMENT...
 *
 *  What a job says goes to its LOG, and "done: LOG" to standard output where it
 *  returned 0, else it is the last. All use one device, whose kernels are compiled
 *  once: an element of its own keeps it, with the model $TDL_TEST_MODEL. Without
 *  --job there is one job, with nothing kept. Returns the exit status. */
int frames_jobs(int argc, char **argv, int (*one)(int argc, char **argv));

#endif
