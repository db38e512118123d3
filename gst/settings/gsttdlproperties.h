/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of properties, which gsttdlsettings.c reads and writes by. */
#ifndef GST_TDL_PROPERTIES_H
#define GST_TDL_PROPERTIES_H

#include "gsttdlsettings.h"

#include <stddef.h>

enum gst_tdl_property_kind {
    FLOAT,
    UINT,
    COLOR,
    BOOL,
    STRING,
    CLASSES,
    MODE, /* enumerations from here on */
    PRECISION,
    LATENCY,
    DECODER,
    FIT,
    ORDER,
    FILTER,
    COLORMAP,
    META,
};

/* Enumerations and booleans take `def` as their default, too. */
struct gst_tdl_property {
    const gchar *name, *nick, *blurb;
    enum gst_tdl_property_kind kind;
    enum gst_tdl_effect effect;
    gsize offset; /* in struct gst_tdl_settings */
    gdouble min, max, def;
    const gchar *inference; /* its name with tdlinference; NULL: that has none such */
    const gchar *text;      /* the default of a string; NULL: empty */
    gsize look;     /* in struct gst_tdl_look, of what models may want otherwise; 0: nowhere */
    gboolean apart; /* key of the sources, but networks are shared whatever its value */
    /* belongs to this machine, pipeline or model: not saved in GStreamer's presets */
    gboolean local;
};
#define GST_TDL_LOOK(field) offsetof(struct gst_tdl_look, field)
#define GST_TDL_AT(field) offsetof(struct gst_tdl_settings, field)

extern const struct gst_tdl_property gst_tdl_properties[]; /* ids from 1 on */
extern const guint gst_tdl_property_count;

/* Values of an enumeration, with an end; NULL of other kinds. */
const GEnumValue *gst_tdl_property_values(const struct gst_tdl_property *property);

#endif
