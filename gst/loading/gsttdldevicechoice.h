/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * device=auto by measuring. A GPU that is no card runs the model for a moment, and the CPU does,
 * and the faster one is taken; what was measured is kept, and later starts ask for that. Who
 * starts waits for a second at most: a GPU that compiles for longer is taken untimed, and told
 * of when its network has run, for the next start; one that does not answer is not taken.
 */
#ifndef GST_TDL_DEVICE_CHOICE_H
#define GST_TDL_DEVICE_CHOICE_H

#include "settings/gsttdlsettings.h"

#include <tdl/tdl.h>

#define GST_TDL_DEVICE_CHOICE_PATIENCE G_TIME_SPAN_SECOND
#define GST_TDL_DEVICE_CHOICE_MOMENT (100 * GST_MSECOND) /* that a model runs on each */

/* How far a measurement is. */
enum gst_tdl_trial_phase { GST_TDL_TRIAL_OPENING, GST_TDL_TRIAL_COMPILING, GST_TDL_TRIAL_RUNNING };

struct gst_tdl_trial {
    const gchar *device; /* a selector */
    const struct gst_tdl_sources *sources;
    gboolean (*cancelled)(gpointer data); /* asked while kernels compile, and while it runs */
    void (*reached)(gpointer data, enum gst_tdl_trial_phase phase);
    gpointer data;
};

/* Calls that tests replace. Each may block; `measure` for ever. */
struct gst_tdl_device_choice_ops {
    enum tdl_result (*find)(const struct tdl_auto_params *params, struct tdl_auto *out);
    enum tdl_result (*keep)(const struct tdl_auto_params *params, uint64_t gpu_ns, uint64_t cpu_ns);
    gchar *(*name_model)(const struct gst_tdl_sources *sources); /* NULL: it cannot be found */
    /* ns of a run; 0 with `error`, or without when it was cancelled. */
    guint64 (*measure)(const struct gst_tdl_trial *trial, GError **error);
};
extern const struct gst_tdl_device_choice_ops gst_tdl_device_choice_engine;

/* What was chosen, and why. The strings are constant. */
struct gst_tdl_device_chosen {
    const gchar *device; /* a selector: "cpu", "gpu" or "vulkan" */
    /* "kept" (from a measurement before), "measured", "timing" (the GPU compiles, or software
     * is timed), "slow", "silent" (the GPU does not answer), "failed" */
    const gchar *reason;
    guint64 gpu_ns, cpu_ns; /* of a run; 0: not known */
};

struct gst_tdl_device_choice;

/* Choose for these sources, which are copied. Blocks for `patience` µs at most. NULL: there is
 * nothing to be measured. End it by gst_tdl_device_choice_end(). */
struct gst_tdl_device_choice *gst_tdl_device_choice_begin(
    const struct gst_tdl_device_choice_ops *ops, const struct gst_tdl_sources *sources,
    gint64 patience);
struct gst_tdl_device_chosen gst_tdl_device_choice_get(struct gst_tdl_device_choice *choice);
/* Why the GPU failed, borrowed; NULL: it did not. */
const gchar *gst_tdl_device_choice_fault(struct gst_tdl_device_choice *choice);
/* Is the GPU, which is at work, yet to be timed, for choices to come? */
gboolean gst_tdl_device_choice_wants_gpu(struct gst_tdl_device_choice *choice);
/* It was. Keeps that if the CPU's time is there, too. */
void gst_tdl_device_choice_tell_gpu(struct gst_tdl_device_choice *choice, guint64 gpu_ns);
/* What still measures is cancelled, and waited for, but not for long. */
void gst_tdl_device_choice_end(struct gst_tdl_device_choice **choice);

#endif
