/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The element's properties as one table: name, description, range, where the
 * value lives, and what a change of it asks for. */
#ifndef GST_TDL_SETTINGS_H
#define GST_TDL_SETTINGS_H

#include "gsttdlprompt.h"

#include <gst/gst.h>
#include <tdl/frame.h>

#define GST_TDL_MOST_STACKED 16

enum gst_tdl_latency_mode {
    GST_TDL_LATENCY_EXACT = 0, /* a frame is composed with its own mask */
    GST_TDL_LATENCY_FRESHEST,  /* a frame takes the newest finished mask */
};

/* Work that a change of a property asks for. */
enum gst_tdl_effect {
    GST_TDL_LIVE = 0,     /* taken with the next frame */
    GST_TDL_RENEGOTIATE,  /* as before, and the output's caps may change */
    GST_TDL_MODEL,        /* another network, loaded while the old one runs on */
    GST_TDL_PICTURE,      /* another background picture, loaded likewise */
    GST_TDL_OTHER_OUTPUT, /* another mode: another network, and then other caps */
    GST_TDL_RESTART,      /* taken at the next READY → PAUSED */
};

/* The use of a frame. The numbers are the property's, which applications know. */
enum gst_tdl_mode {
    GST_TDL_MODE_MASK = 0,
    GST_TDL_MODE_OVERLAY,
    GST_TDL_MODE_BLUR,
    GST_TDL_MODE_REPLACE,
    GST_TDL_MODE_ALPHA,
    GST_TDL_MODE_PASSTHROUGH,
    GST_TDL_MODE_PICTURE, /* the model's output is shown itself (gsttdlshow.h), */
    GST_TDL_MODE_CLASSES, /* … or laid over the frame */
    GST_TDL_MODE_COUNT
};

/* Forms of a model's output, of which the mode wants one. */
enum gst_tdl_output {
    GST_TDL_OUTPUT_MASK = 0,
    GST_TDL_OUTPUT_PICTURE,
    GST_TDL_OUTPUT_CLASSES, /* in colour, with alpha */
    GST_TDL_OUTPUT_TENSORS, /* none: all outputs as they are, and nothing else */
};

/* Colours for pictures of one channel. */
enum gst_tdl_colormap {
    GST_TDL_COLORMAP_NONE = 0, /* grey */
    GST_TDL_COLORMAP_TURBO,
};

/* Meanings of a model's output, which becomes the mask. */
enum gst_tdl_decoder {
    GST_TDL_DECODE_AUTO = 0,    /* by its shape and type */
    GST_TDL_DECODE_PROBABILITY, /* 0 to 1, of each class */
    GST_TDL_DECODE_LOGIT,       /* a probability before a sigmoid */
    GST_TDL_DECODE_SOFTMAX,     /* scores of all classes, before a softmax */
    GST_TDL_DECODE_LABELS,      /* the class of each pixel */
    GST_TDL_DECODE_DEPTH,       /* distances, or their inverse, to any scale */
    GST_TDL_DECODE_YOLO_SEG,    /* boxes with coefficients, and prototypes: gsttdlyolo.h */
    GST_TDL_DECODE_MASK2FORMER, /* queries with classes and masks: gsttdlqueries.h */
    GST_TDL_DECODE_RF_DETR_SEG, /* the same beside boxes, and without "no object" */
    GST_TDL_DECODE_MASK_RCNN,   /* objects with boxes, labels, scores and masks: gsttdlmaskrcnn.h */
};

/* How the frame comes to the size that a model wants. */
enum gst_tdl_input_fit {
    GST_TDL_FIT_STRETCH = 0, /* whatever becomes of its aspect */
    GST_TDL_FIT_LETTERBOX,   /* whole, with grey round it */
    GST_TDL_FIT_CROP,        /* the frame's middle */
    GST_TDL_FIT_TILES,       /* piece by piece: gsttdltiles.h */
};

/* Standard metadata on frames (gsttdlmeta.h): bits. */
enum gst_tdl_metadata {
    GST_TDL_META_NONE = 0,
    GST_TDL_META_SEGMENTATION = 1, /* labels of pixels, with their names */
    GST_TDL_META_TENSOR = 2,       /* the network's own output */
    GST_TDL_META_BOTH = 3,
    GST_TDL_META_TENSORS = 4, /* all outputs of the model, as they are */
    GST_TDL_META_ALL = 7,
};

/* How the frame is shrunk to that size. */
enum gst_tdl_input_filter {
    GST_TDL_FILTER_AUTO = 0, /* the model's wish, where known; else triangle */
    GST_TDL_FILTER_TRIANGLE,
    GST_TDL_FILTER_BILINEAR,
};

enum gst_tdl_input_order { GST_TDL_ORDER_RGB = 0, GST_TDL_ORDER_BGR };

/* Copied under the object lock once per frame: plain values only. */
struct gst_tdl_live {
    gint mode;                             /* enum gst_tdl_mode */
    gint latency_mode;                     /* enum gst_tdl_latency_mode */
    gint meta;                             /* enum gst_tdl_metadata */
    guint background_color, overlay_color; /* 0xAARRGGBB */
    gfloat opacity, blur_radius, blur_share, threshold, feather, smoothing, min_area, grow,
        light_wrap;
    gboolean refine, close_holes, despill, invert, require_zero_copy, fail_closed, presence, roi;
    gfloat presence_share; /* share of the frame */
    guint presence_delay;  /* ms */
    guint max_interval;    /* frames */
    gfloat max_rate;       /* runs of the network in a second; 0: any */
    guint interval;        /* frames */
    guint tile_overlap;    /* px */
    guint batch_size;     /* frames of several streams; 0: of as many as there are, 1: no batches */
    gfloat batch_timeout; /* ms; less than 0: one frame interval */
    guint said;           /* the user has set these of a look, bits as in struct gst_tdl_look */
    struct gst_tdl_prompt prompt; /* the last one that could be read */
};

/* How a model wants its mask made, where the user has set nothing. */
struct gst_tdl_look {
    guint said; /* a bit for each property that counts, in the order of the table */
    gboolean refine, close_holes;
    gfloat threshold, feather, smoothing;
};

/* Settings that are read when something is loaded. */
struct gst_tdl_sources {
    gchar *model, *device, *background; /* never NULL */
    /* How the model wants its picture, and what its output says; never NULL. */
    gchar *model_size, *model_output, *input_range, *input_mean, *input_deviation;
    gchar *foreground_output; /* never NULL */
    guint room;               /* points that there were in the largest prompt so far, rounded up */
    gboolean asks;            /* the last prompt that could be read has any */
    gchar *decoder_model, *prompt;                         /* never NULL */
    gchar *model_state, *model_constants, *model_pictures; /* other inputs; never NULL */
    gint decoder;                                          /* enum gst_tdl_decoder */
    gint input_fit;                                        /* enum gst_tdl_input_fit */
    gint input_order;                                      /* enum gst_tdl_input_order */
    gint input_filter;                                     /* enum gst_tdl_input_filter */
    gchar *output_range, *palette, *labels;                /* never NULL */
    gint output;                                           /* enum gst_tdl_output: of the mode */
    gboolean tensors;                                      /* all outputs are wanted, too */
    gchar *model_outputs;    /* which of them, where not all are; never NULL */
    gboolean boxes_in_frame; /* boxes among them are places in the frame: gsttdlboxes.h */
    gint colormap;           /* enum gst_tdl_colormap */
    guint threads;
    gint precision; /* enum tdl_precision */
    gboolean fuse;
    GArray *classes;                       /* gint */
    gfloat score_threshold, iou_threshold; /* for objects in boxes */
    GArray *inputs;           /* struct gst_tdl_input_options, which nobody changes; NULL: none */
    GArray *outputs;          /* struct gst_tdl_output_options, likewise */
    const gchar *group;       /* interned: a modelinfo file's id of all outputs; NULL: not said */
    gboolean said_output;     /* model_output is a modelinfo file's, too */
    struct gst_tdl_look look; /* wishes of models.ini and modelinfo files, no user's */
    gint rung;                /* enum gst_tdl_rung: the model that "auto" is now */
    gdouble aspect; /* aspect of the frames as they are seen, width to height; 0: not known yet, */
#define GST_TDL_LIKELY_ASPECT (16 / 9.) /* … and what most cameras send */
};

/* A modelinfo file's words about an input, where the user has said nothing. */
struct gst_tdl_input_options {
    const gchar *name; /* interned */
    gboolean has_ranges;
    gfloat ranges[3][2]; /* for black and white, by colour */
    gint dims[4];        /* below 1: open */
};

/* … and about an output. */
struct gst_tdl_output_options {
    const gchar *name, *id;  /* interned; id NULL: not said */
    gboolean col_major;      /* what the file calls the order of dimensions; else row-major */
    guint rank;              /* of the dimensions there; 0: not said */
    gint dims[TDL_MAX_RANK]; /* below 0: open */
};

struct gst_tdl_settings {
    struct gst_tdl_live live;
    struct gst_tdl_sources sources;
};

/* The settings with what the model wants in the place of what the user has not set. */
struct gst_tdl_live gst_tdl_live_with(const struct gst_tdl_live *live,
                                      const struct gst_tdl_look *look);
/* TRUE where no frame may be seen but behind its mask: fail-closed, in the modes that
 * hide. */
gboolean gst_tdl_live_guards(const struct gst_tdl_live *live);

/* Kinds of elements, which have properties of the same table. */
enum gst_tdl_kind { GST_TDL_OF_FILTER = 0, GST_TDL_OF_INFERENCE };

/* Installs the properties that this kind of element has, of which each has the same id in all. */
void gst_tdl_settings_install(GObjectClass *klass, enum gst_tdl_kind kind);
/* The first id that no property of the table has. */
guint gst_tdl_settings_first_free_id(void);
/* What elements begin with that attach tensors and do nothing else. */
void gst_tdl_settings_want_tensors_alone(struct gst_tdl_settings *settings);
void gst_tdl_settings_init(struct gst_tdl_settings *settings);
void gst_tdl_settings_finish(struct gst_tdl_settings *settings);
/* FALSE when `id` is not of the table. Call with the object lock held. */
gboolean gst_tdl_settings_set(struct gst_tdl_settings *settings, guint id, const GValue *value,
                              enum gst_tdl_effect *out_effect);
gboolean gst_tdl_settings_get(const struct gst_tdl_settings *settings, guint id, GValue *value);
/* Properties of which GStreamer's presets (GstPreset) are made: what the picture looks
 * like, and when the network runs; not what belongs to a model, machine or pipeline. Nor
 * paths: GStreamer reads strings with spaces otherwise than it has saved them. */
gchar **gst_tdl_settings_preset_names(void);

/* A model's wish for the property `name`, as text, unless the user has set it (of a look
 * gst_tdl_live_with() sees to that). FALSE: there is no such property of models, or it
 * cannot be that. */
gboolean gst_tdl_sources_fill(struct gst_tdl_sources *sources, const gchar *name,
                              const gchar *text);
/* Add all that a network is made by, so that equal text is an equal network, but for its file
 * and the device: whatever property of the sources there will be counts, unless the table says
 * otherwise. */
void gst_tdl_sources_key(const struct gst_tdl_sources *sources, GString *key);
/* Points that the network is to have room for; 0: it has no prompt. */
guint gst_tdl_sources_room(const struct gst_tdl_sources *sources);
void gst_tdl_sources_copy(const struct gst_tdl_sources *from, struct gst_tdl_sources *to);
void gst_tdl_sources_clear(struct gst_tdl_sources *sources);

/* The wish of a mode for a model's output. */
enum gst_tdl_output gst_tdl_settings_output_of(enum gst_tdl_mode mode);
/* TRUE where tensors are all that is asked for, as no picture shows a mask: not every model has
 * one. */
gboolean gst_tdl_live_wants_tensors_alone(const struct gst_tdl_live *live);
/* TRUE where a model whose output was made that can serve the mode. */
gboolean gst_tdl_settings_output_fits(enum gst_tdl_output output, enum gst_tdl_mode mode);

#endif
