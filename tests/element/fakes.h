/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A device that is not there, for tests that look at the import room from
 * inside: the engine's part is a table of fakes, dma-bufs are memory files, and
 * every call is noted. */
#ifndef TDL_TESTS_ELEMENT_FAKES_H
#define TDL_TESTS_ELEMENT_FAKES_H

#include "frame/gsttdlsession.h"
#include "util.h"

#define WIDTH 64
#define HEIGHT 48
#define CAPS "format=NV12,width=64,height=48,framerate=30/1"

/* Answers of the fakes, and records of their calls. */
extern struct fake {
    struct tdl_context *context;   /* a real one, for buffers and batches */
    struct gst_tdl_device *device; /* a device of that context, with the fakes */
    GString *calls;              /* "import get-read wait want take set-read " */
    guint live_buffers;
    enum tdl_result import, fence, wait, want, set;
    int fence_fd_given; /* by get_fence; 0: nobody is at work */
    /* Context for which `early` counts fences that were attached before the work was done. */
    struct tdl_context *watched;
    guint early;
} fake;
extern const struct gst_tdl_device_ops fakes;

/* The fixture: everything goes well. */
void setup(void);
void teardown(void);
/* A device of which everything can be said. */
void fake_importer(struct gst_tdl_importer *importer);
/* Since the last time. */
void expect_calls(const char *expected);
guint open_fds(void);

/* A memory file that stands for a dma-buf. */
GstMemory *memory_new(gsize size, guint8 value);
/* CAPS with features, as "(memory:DMABuf)". */
void read_caps(struct gst_tdl_video *video, const char *features);
/* Takes the memories; `second` and the meta's `offsets` may be NULL. */
GstBuffer *buffer_with(GstMemory *first, GstMemory *second, const gsize *offsets,
                       const gint *strides);

/* On the first device, with the model that $TDL_TEST_MODEL names (a smaller one,
 * for slow machines), or the bundled one. */
struct gst_tdl_session *session_new(void);

#endif
