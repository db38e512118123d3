/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Models and pictures loaded while frames flow. A change of a property is a
 * request; a helper thread loads for the newest request, at most one thread for
 * models and one for pictures; the streaming thread takes the result. The
 * stream goes on with what it has until then, and if loading fails.
 *
 * Everything here is guarded by the element's object lock, which callers do
 * not hold unless it is said.
 */
#ifndef GST_TDL_RELOAD_H
#define GST_TDL_RELOAD_H

#include "memory/gsttdldevice.h"
#include "network/gsttdlinfer.h"
#include "import/gsttdlpicture.h"
#include "settings/gsttdlsettings.h"

enum gst_tdl_reload_kind { GST_TDL_RELOAD_MODEL, GST_TDL_RELOAD_PICTURE, GST_TDL_RELOAD_KINDS };

struct gst_tdl_reload_result {
    struct gst_tdl_infer *infer;
    struct gst_tdl_picture *picture;
    gboolean has_picture; /* picture may be NULL: back to the colour */
    gboolean failed;      /* the newest model could not be loaded */
    guint serial;         /* serial of the request for a model, where `infer` or `failed` is set */
};

struct gst_tdl_reload {
    GstElement *element;                   /* borrowed: who owns this */
    const struct gst_tdl_sources *sources; /* borrowed: what to load */
    struct gst_tdl_device *device;         /* NULL: stopped */
    gint precision; /* the values that hold until the next start, whatever has been set since */
    gboolean fuse;
    gint rung;              /* rung that model=auto is to become, */
    gboolean beside;        /* … and frames are not to wait for it, */
    struct tdl_frame frame; /* … for frames like this one; width 0: not known */
    struct {
        guint serial, started; /* serials of the newest request, and of the one that is loaded */
        guint serial_before;   /* serial of the last request before gst_tdl_reload_begin() */
        gboolean loading;      /* a helper thread is at work */
    } requests[GST_TDL_RELOAD_KINDS];
    struct gst_tdl_reload_result ready;
};

void gst_tdl_reload_init(struct gst_tdl_reload *reload, GstElement *element,
                         const struct gst_tdl_sources *sources);
/* The owner reads the sources now, to load by itself. Call with the lock held. */
void gst_tdl_reload_begin(struct gst_tdl_reload *reload);
/* The owner has loaded and streams: requests made since gst_tdl_reload_begin() are served. */
void gst_tdl_reload_start(struct gst_tdl_reload *reload, struct gst_tdl_device *device);
/* Give up all that is still being loaded. Waits for nobody. */
void gst_tdl_reload_stop(struct gst_tdl_reload *reload);
/* The sources have changed. */
void gst_tdl_reload_request(struct gst_tdl_reload *reload, enum gst_tdl_reload_kind which);
/* Have model=auto become another one, ready for frames like this one; `beside`: frames are not
 * to wait for its runs. Returns the request's serial. */
guint gst_tdl_reload_request_rung(struct gst_tdl_reload *reload, gint rung, gboolean beside,
                                  const struct tdl_frame *frame);
/* … or stay what it is: nothing is loaded for that. */
void gst_tdl_reload_keep_rung(struct gst_tdl_reload *reload, gint rung);
/* Takes the load that is ready, if any; the caller's from then on. */
struct gst_tdl_reload_result gst_tdl_reload_take(struct gst_tdl_reload *reload);

#endif
