/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The elements of the plugin, for the files that are one: an abstract type, of which each is a
 * kind. */
#ifndef GST_TDL_ELEMENT_H
#define GST_TDL_ELEMENT_H

#include "loading/gsttdldevicechoice.h"
#include "loading/gsttdlfirstload.h"
#include "frame/gsttdldiscontinuity.h"
#include "gsttdlmaskpad.h"
#include "frame/gsttdlmeta.h"
#include "import/gsttdlmisfit.h"
#include "loading/gsttdlreload.h"
#include "gsttdlreport.h"
#include "network/gsttdltiles.h"

#include <gst/base/gstbasetransform.h>

#define GST_TYPE_TDL_ELEMENT (gst_tdl_element_get_type())
#define GST_TDL_ELEMENT(object)                                                                    \
    (G_TYPE_CHECK_INSTANCE_CAST((object), GST_TYPE_TDL_ELEMENT, GstTdlElement))
typedef struct _GstTdlElement GstTdlElement;
typedef struct {
    GstBaseTransformClass base;
} GstTdlElementClass;
GType gst_tdl_element_get_type(void);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(GstTdlElement, gst_object_unref)

struct _GstTdlElement {
    GstBaseTransform base;

    /* Streaming thread. */
    struct gst_tdl_video in, out;
    struct gst_tdl_report report;
    struct gst_tdl_misfits misfits;
    struct gst_tdl_discontinuity discontinuity;
    struct gst_tdl_overlap overlap;
    GString *export_reason; /* why the path is no better */
    struct gst_tdl_mask_pad mask;
    struct gst_tdl_meta meta;
    gint fitted[2];            /* the frame's size that the network was made for; 0: none, */
#define GST_TDL_NOT_FITTED -1  /* … and none yet */
    GstPadChainFunction chain; /* the base class's */

    struct gst_tdl_ladder ladder; /* used by model=auto, if */
    gboolean on_ladder;           /* … that is so */
    guint try_serial;             /* serial of the request for the rung that is tried */

    gint late; /* by QoS events, since it was looked at; atomic */

    /* Guarded by the object lock; `session` itself changes only in start and
     * stop, when nothing streams. */
    struct gst_tdl_settings settings;
    struct gst_tdl_live active;
    gboolean hinted;    /* a message has said, since the last start, that the caps do not meet */
    gboolean refused;   /* … by an error */
    gboolean streaming; /* `active` follows the frames, not the properties */
    struct gst_tdl_session *session;
    struct gst_tdl_reload reload;
    enum gst_tdl_output output; /* kind of output of the session's network, */
    struct gst_tdl_scale scale; /* … and how a picture's size grows by it */
    GstStructure *tensors;      /* tensors of its frames in caps; NULL: none */
    struct gst_tdl_abilities abilities;
    GstClockTime latency;
    struct gst_tdl_stats stats;
    struct gst_tdl_device_choice
        *choice; /* of device=auto, changed in start and stop; NULL: none */
    const gchar *import_path, *export_path;

    struct gst_tdl_vulkan vulkan; /* device shared with the neighbours; has a lock of its own */
    struct gst_tdl_first_load first_load; /* compiles the first network; likewise */
    struct gst_tdl_batch_slot batch_slot; /* among streams that share the network; likewise */
};

/* The properties that a kind of element has, and those of what was reported. */
void gst_tdl_element_install(GObjectClass *klass, enum gst_tdl_kind kind);
/* The properties of paths, each told when it changes; NULL: as it was. */
void gst_tdl_element_tell_paths(GstTdlElement *self, const gchar *import, const gchar *export);

/* Work with the settings of now, but for a mode whose network is still to come: what was
 * shown is shown until then, unless the mode is to hide it. Call with the object lock held. */
void gst_tdl_element_adopt(GstTdlElement *self);
/* Take over kind, scale and abilities of the session's network. Call with the object lock held. */
void gst_tdl_element_note_output(GstTdlElement *self);
/* Take over its tensors. TRUE if caps have to tell of others than before. */
gboolean gst_tdl_element_note_tensors(GstTdlElement *self);

/* Judge the load, which changes the model or the interval. With every frame; streaming thread,
 * as the next two (gsttdlauto.c). */
void gst_tdl_auto_weigh(GstTdlElement *self);
/* TRUE if the network that was loaded is to take over. */
gboolean gst_tdl_auto_admits(GstTdlElement *self, const struct gst_tdl_reload_result *loaded);
/* The network has taken over. */
void gst_tdl_auto_took(GstTdlElement *self);
/* The network with this serial could not be loaded. */
void gst_tdl_auto_failed(GstTdlElement *self, guint serial);

/* The virtual functions for frames and events, and the sink pad's function
 * (gsttdlstream.c). */
void gst_tdl_stream_install(GstBaseTransformClass *klass);
GstFlowReturn gst_tdl_stream_chain(GstPad *pad, GstObject *parent, GstBuffer *buffer);

/* The virtual functions for caps, memory and queries (gsttdlnegotiate.c). */
void gst_tdl_negotiate_install(GstBaseTransformClass *klass);
/* Pictures with caps `in` were refused: say why, once, if it is that they and downstream do
 * not meet. */
void gst_tdl_negotiate_explain(GstTdlElement *self, GstMessageType type, GstCaps *in);

#endif
