/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Order with the other users of dma-bufs. A dma-buf carries fences: the GPU
 * waits for those of the writers before it reads, and for everybody's before
 * it writes; when the batch is submitted, its own fence is attached, so that
 * the frame may go on while the GPU still works. Where kernel or device know
 * no sync files, the CPU waits instead, which is counted.
 */
#ifndef GST_TDL_FENCE_H
#define GST_TDL_FENCE_H

#include "gsttdlimport.h"

/* Of a frame's memories: its source, and the pictures that come out. */
#define GST_TDL_FENCED_IMPORTS 4
struct gst_tdl_fences {
    struct {
        gint fd; /* borrowed, of a buffer that is held */
        gboolean write;
    } items[GST_TDL_FENCED_IMPORTS * TDL_MAX_PLANES];
    guint count;
    gboolean wanted; /* the batch gives a sync file */
    /* Memory in the CPU's hands until the batch is done, and whether some of it is
     * written: its next user sees that only by its coming late. */
    struct gst_tdl_access *accesses[GST_TDL_FENCED_IMPORTS * TDL_MAX_PLANES];
    guint n_accesses;
    gboolean writes;
};

/* Wait until a dma-buf has no writers, or, for_write, no users; counted if it takes
 * time. TDL_ERROR_TIMEOUT after some seconds. */
enum tdl_result gst_tdl_fence_wait_on_cpu(struct gst_tdl_importer *importer, gint fd,
                                          gboolean for_write);

/* Note the dma-bufs of `import`, and keep hold of what the CPU has in its hands. At most
 * GST_TDL_FENCED_IMPORTS of them. */
void gst_tdl_fences_add(struct gst_tdl_fences *fences, const struct gst_tdl_import *import,
                        gboolean write);
/* Release the accesses, unless they were taken (n_accesses is 0 then). */
void gst_tdl_fences_clear(struct gst_tdl_fences *fences);
/* Before submission: make the batch wait for what others do with them. Blocks
 * only where the GPU cannot wait. */
enum tdl_result gst_tdl_fences_wait(struct gst_tdl_fences *fences,
                                    struct gst_tdl_importer *importer, struct tdl_batch *batch);
/* After submission, which reached `point`: attach the batch's fence. Blocks,
 * for what was written, where that cannot be done. */
enum tdl_result gst_tdl_fences_attach(struct gst_tdl_fences *fences,
                                      struct gst_tdl_importer *importer, struct tdl_batch *batch,
                                      guint64 point);

#endif
