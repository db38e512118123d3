/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Networks, shared: elements that ask for the same model, precision
 * and device get the same tdl_graph. */
#ifndef GST_TDL_MODEL_H
#define GST_TDL_MODEL_H

#include "base/gsttdlerror.h"
#include "model/gsttdlinputs.h"
#include "model/gsttdloutput.h"
#include "model/gsttdlperson.h"
#include "model/gsttdltensors.h"
#include "settings/gsttdlsettings.h"

struct gst_tdl_model_params {
    struct tdl_context *context;
    const struct gst_tdl_sources *sources;
    guint stack; /* pictures at once, of gst_tdl_read_stacked() */
};

struct gst_tdl_batcher;

struct gst_tdl_model {
    gchar *name;
    const gchar *finds; /* interned: what its foreground is; NULL: not known */
    struct tdl_graph *graph;
    const gchar *input, *output; /* names; owned by the graph; output NULL: it has tensors alone */
    const struct tdl_tensor_params *input_params, *output_params;
    struct tdl_frame_to_tensor_params picture; /* how it wants its input */
    struct gst_tdl_model_pictures pictures;    /* the frame's input, and others */
    gint fit;                                  /* enum gst_tdl_input_fit */
    struct gst_tdl_look look;                  /* how its mask is made, if the user lets it */
    enum gst_tdl_output kind;                  /* the kind that its output was made */
    struct tdl_frame_from_tensor_params shown; /* how that is shown, but as a mask */
    struct gst_tdl_scale scale;                /* scale of the frame's size */
    struct gst_tdl_states states;              /* states of a recurrent model */
    struct tdl_tensor_params image;          /* output as an image of rank 4; without, the input */
    struct gst_tdl_tensors tensors;          /* outputs as they are, where they are wanted */
    const struct tdl_tensor_params *indices; /* output GST_TDL_CLASSES, or NULL */
    const struct tdl_tensor_params *prompt;  /* input GST_TDL_PROMPT, or NULL */
    const struct tdl_tensor_params *foreground; /* output GST_TDL_FOREGROUND, or NULL */
    gboolean guessed;                           /* … which it may not be */
    guint classes;                              /* 0: not known */
    gboolean shares;                            /* bytes, guessed to be shares of 255 */
    const gchar *stray; /* interned: what the modelinfo file takes for an input; NULL: none */
    struct gst_tdl_batcher *batcher; /* batches of those who share the model */
};

/* Loads and checks, unless somebody has done so already; kernels are not yet
 * compiled. Blocking. Thread-safe. NULL with `error`. Give back by
 * gst_tdl_model_release(). *out_follows: the "model-size" by which its size follows the shape of
 * the frames, the caller's; NULL: it has one size. */
const struct gst_tdl_model *gst_tdl_model_acquire(const struct gst_tdl_model_params *params,
                                                  gchar **out_follows, GError **error);
/* The way for the frames of `sources`, where the model follows them; else NULL. */
const struct gst_tdl_person *gst_tdl_model_person(const struct gst_tdl_sources *sources);
/* Fill with what presets and the file beside the model say where the user has set nothing.
 * Blocking. Returns the model's path, or its name if it is built in; NULL with `error`. */
gchar *gst_tdl_model_resolve(struct gst_tdl_sources *sources, GError **error);
/* A text that is another one where the model, or how it is read, is: the caller's. NULL: there is
 * no such model. Blocking. */
gchar *gst_tdl_model_key(const struct gst_tdl_sources *sources);
/* TRUE where the model's picture has this size. */
gboolean gst_tdl_model_takes(const struct gst_tdl_model *model, gint width, gint height);
/* TRUE where the model's picture has another size than `sources` give it, for frames of
 * their aspect. */
gboolean gst_tdl_model_misfits(const struct gst_tdl_model *model,
                               const struct gst_tdl_sources *sources);
/* A warning about a "model-size" that the file leaves no room for; NULL: nothing. */
GError *gst_tdl_model_notice(const struct gst_tdl_model *model,
                             const struct gst_tdl_sources *sources);
/* Have the kernels compiled, by this thread or by whoever is at it already; each
 * hears of the progress and may cancel its own waiting. Blocking. Thread-safe. */
enum tdl_result gst_tdl_model_compile(const struct gst_tdl_model *model, tdl_progress_fn progress,
                                      void *progress_data);
/* Never waits for a compilation that goes on elsewhere, but the last one for the kernel that
 * is being compiled for batches. */
void gst_tdl_model_release(const struct gst_tdl_model **model);

#endif
