/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Objects of an element between READY and PAUSED: device, network, composer and the frames in
 * flight. A frame passes through them. The session knows buffers and video infos, but no pads. */
#ifndef GST_TDL_SESSION_H
#define GST_TDL_SESSION_H

#include "network/gsttdlbatcher.h"
#include "gsttdlcompose.h"
#include "network/gsttdlflight.h"
#include "caps/gsttdlgeometry.h"
#include "import/gsttdlimport.h"
#include "network/gsttdlinfer.h"
#include "gsttdlladder.h"
#include "gsttdlload.h"
#include "gsttdlplan.h"
#include "gsttdlpresence.h"
#include "gsttdlregion.h"
#include "memory/gsttdlvulkan.h"

/* Cost of the stream on the device, and the measurements behind it. */
struct gst_tdl_session_usage {
    struct gst_tdl_load load;
    struct gst_tdl_cost cost; /* since the last judgement, as far as there were runs */
    gint published;           /* the part of device->load that is this session's */
    guint64 stage_ns[GST_TDL_STAGES], stage_runs[GST_TDL_STAGES]; /* sums up to then */
    guint64 busy_ns, busy_frames, busy_runs; /* sums for devices without timestamps */
};

/* Position of the stream. */
struct gst_tdl_session_stream {
    struct gst_tdl_moment moment;    /* times of the next frame, set before it comes */
    GstClockTime interval;           /* between the last frames, as their caps say */
    struct gst_tdl_plan_state state; /* results of the frames before */
    struct gst_tdl_rect crop;        /* crop of the last frame; zeros: none */
    struct gst_tdl_region region;    /* region that the network read last */
};

/* The object that the prompt means. */
struct gst_tdl_object {
    struct gst_tdl_seen seen; /* last change; prompt 0: there was none yet */
    gboolean found, is_new;   /* the first run with that prompt */
};

/* All of it belongs to the streaming thread, and is made and freed while nothing streams, but:
 * `device` and the allocators stay the same, and any thread may ask them; the flight and the
 * batcher have locks of their own, so that a state change or a flush cuts short what waits
 * there; the device's load is atomic. What properties show is copied under the element's lock
 * with each frame (gst_tdl_session_get_stats()). */
struct gst_tdl_session {
    struct gst_tdl_device *device; /* acquired */
    GstAllocator *upload, *readback;

    struct gst_tdl_infer *infer;
    gboolean ready;                        /* the network is compiled */
    guint tiles;                           /* runs a frame, of input-fit=tiles */
    struct tdl_compile_params compile;     /* callback that may cancel compiling for a frame */
    struct gst_tdl_batch_slot *batch_slot; /* borrowed; NULL: it goes alone */

    /* Each has functions of its own. */
    struct gst_tdl_compose compose;
    struct gst_tdl_importer importer;
    struct gst_tdl_flight flight;
    struct gst_tdl_presence presence;
    struct gst_tdl_object object;

    struct gst_tdl_session_usage usage;
    struct gst_tdl_session_stream stream;
    struct {
        guint64 frames, closed, network_runs;
    } counts;
};

struct gst_tdl_stats {
    const gchar *device_reason; /* of device=auto; NULL: it was not measured */
    guint64 auto_ns[2];         /* of a run on GPU and CPU there; 0: not known */
    const gchar *device;        /* device name; never freed */
    const gchar *model;         /* name or file of the working model; never freed */
    guint64 frames, dropped, mismatched, closed, network_runs;
    struct gst_tdl_import_stats import;
    const gchar *batching;           /* struct gst_tdl_batch_slot's state, or NULL; never freed */
    guint64 batches, batched_frames; /* batches of several streams, and frames in them */
    guint interval;                  /* in effect */
    gboolean present;
    gdouble share;                    /* share of the frame that presence saw last */
    guint64 stage_ns[GST_TDL_STAGES]; /* mean GPU time of a run of the stage */
};

/* Blocking: opens the device with so many queues (or shares the neighbours', if `vulkan` has
 * found one) and loads the model, which is to be compiled before the first frame; the
 * background picture is given to it. NULL with `error`. */
struct gst_tdl_session *gst_tdl_session_new(const struct gst_tdl_sources *sources, guint queues,
                                            struct gst_tdl_vulkan *vulkan, GError **error);
/* Waits for the GPU. */
void gst_tdl_session_free(struct gst_tdl_session *session);

/* The first network, before which it has none. Frees nothing, waits for nothing. */
void gst_tdl_session_give_infer(struct gst_tdl_session *session, struct gst_tdl_infer *infer);
/* Take over; the old one goes when the GPU has passed it. */
void gst_tdl_session_take_infer(struct gst_tdl_session *session, struct gst_tdl_infer *infer);
/* The network that it was made with is compiled. */
void gst_tdl_session_set_ready(struct gst_tdl_session *session);
void gst_tdl_session_take_picture(struct gst_tdl_session *session, struct gst_tdl_picture *picture);

/* Limits of caps on the session's device. NULL: limits of any device, which hold before the start.
 * Borrows the device's tilings. */
void gst_tdl_session_abilities(const struct gst_tdl_session *session,
                               struct gst_tdl_abilities *out_abilities);

/* Data of a session that an answer to upstream needs; it may outlive the session. */
struct gst_tdl_offer {
    struct gst_tdl_device *device;
    GstAllocator *upload;
    GstElement *element; /* element that owns the pools and posts their errors; borrowed */
};
void gst_tdl_session_offer(const struct gst_tdl_session *session, struct gst_tdl_offer *out_offer);
void gst_tdl_offer_clear(struct gst_tdl_offer *offer);

/* TRUE if no network can make the mask without which the mode shows no frame. */
gboolean gst_tdl_session_is_closed(const struct gst_tdl_session *session,
                                   const struct gst_tdl_live *live);
/* TRUE if a frame is several runs, as the model is fed in tiles. */
gboolean gst_tdl_session_in_tiles(const struct gst_tdl_session *session);

/* Compile what frames of these caps will need, unless that is cancelled.
 * Blocking. */
gboolean gst_tdl_session_prepare(struct gst_tdl_session *session, const struct gst_tdl_live *live,
                                 const struct gst_tdl_video *in, const struct gst_tdl_video *out,
                                 GError **error);
/* A buffer to be written, and what of. */
struct gst_tdl_target {
    GstBuffer *buffer; /* NULL: not wanted */
    const struct gst_tdl_video *video;
};
/* The mask that a frame is composed with as pictures of their own. */
struct gst_tdl_masks {
    struct gst_tdl_target mask;   /* 0 to 255; round a crop as the frame */
    struct gst_tdl_target labels; /* 0 or 1; round a crop 0 */
    GstBuffer *tensor;            /* one memory of `readback`: as the network made it; or NULL */
    gboolean tensor_due;          /* there is none of the frame before to use again */
    gboolean tensor_made;         /* out: by a frame that took no new mask it was not written */
    GstBufferList *outputs;       /* one memory of `readback` each, for the model's; or NULL */
    struct gst_tdl_classes {
        GstBuffer *buffer;        /* one memory of `readback`: the class of each pixel; or NULL */
        guint size[2];            /* out: width and height, in rows without gaps; 0: not written */
        struct gst_tdl_rect part; /* out: of the frame, that they cover; zeros: all of it */
    } classes;                    /* classes of the frame that shows them */
};
/* Queue one frame and its masks (`masks` may be NULL), of all these at least one, or else
 * for presence. The outputs may be pushed at once: their maps wait. May wait for other
 * streams. FALSE with `error`, or without when that was cut off by a flush. */
gboolean gst_tdl_session_frame(struct gst_tdl_session *session, const struct gst_tdl_live *live,
                               const struct gst_tdl_target *input,
                               const struct gst_tdl_target *output, struct gst_tdl_masks *masks,
                               GError **error);
/* TRUE once a second, if asked with every frame: the load is to be judged. Measures its costs, … */
gboolean gst_tdl_session_is_due(struct gst_tdl_session *session);
/* … or whenever somebody wants to know them. */
void gst_tdl_session_measure(struct gst_tdl_session *session);
/* Measurements for the ladder of models. */
void gst_tdl_session_strain(const struct gst_tdl_session *session, const struct gst_tdl_live *live,
                            gboolean late, struct gst_tdl_strain *out_strain);
/* Have others on the device know of it; NULL: it takes nothing for now. */
void gst_tdl_session_publish_load(struct gst_tdl_session *session,
                                  const struct gst_tdl_strain *strain);
/* The name of the model that works, or its file; never freed. */
const gchar *gst_tdl_session_model(const struct gst_tdl_session *session);
/* What runs have changed: bits. */
enum gst_tdl_change {
    GST_TDL_CHANGED_PRESENCE = 1,
    GST_TDL_CHANGED_OBJECT = 2, /* the one that the prompt means is found or lost, or a new prompt
                                   was tried */
};
/* Reads what was seen in finished runs, up to the next change, and returns what has changed; 0:
 * nothing more has. */
guint gst_tdl_session_watch(struct gst_tdl_session *session, const struct gst_tdl_live *live,
                            struct gst_tdl_moment *out_since);
/* The next frame does not follow the last one: it gets a mask of its own, whatever
 * the interval; with `forget`, one that has no share of those before. */
void gst_tdl_session_discontinue(struct gst_tdl_session *session, gboolean forget);
/* The next frame has nothing to do with the last one, maybe not even its size. */
void gst_tdl_session_reset(struct gst_tdl_session *session);
/* Wait for the GPU and give all input buffers back. An error: what was waited for
 * has failed. */
enum tdl_result gst_tdl_session_drain(struct gst_tdl_session *session);

/* How long a frame waits for those of other streams at most, µs. */
gint64 gst_tdl_session_batch_wait(const struct gst_tdl_session *session,
                                  const struct gst_tdl_live *live);
/* ns that the network's run adds to a frame; a guess until it is compiled. */
GstClockTime gst_tdl_session_latency(const struct gst_tdl_session *session,
                                     const struct gst_tdl_live *live);
/* `dropped` and `mismatched` are left alone. */
void gst_tdl_session_get_stats(const struct gst_tdl_session *session,
                               const struct gst_tdl_live *live, struct gst_tdl_stats *out_stats);

#endif
