/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdlproperties.h"

#include <string.h>

gboolean gst_tdl_live_guards(const struct gst_tdl_live *live)
{
    return live->fail_closed &&
           (live->mode == GST_TDL_MODE_BLUR || live->mode == GST_TDL_MODE_REPLACE);
}

/* In `said`; 0: it is no part of a look. */
static guint look_bit(const struct gst_tdl_property *p)
{
    guint bit = p->look ? 1 : 0;

    for (const struct gst_tdl_property *q = gst_tdl_properties; q < p; q++)
        bit <<= q->look ? 1 : 0;
    return bit;
}

struct gst_tdl_live gst_tdl_live_with(const struct gst_tdl_live *live,
                                      const struct gst_tdl_look *look)
{
    struct gst_tdl_live with = *live;

    for (guint i = 0; i < gst_tdl_property_count; i++) {
        const struct gst_tdl_property *p = &gst_tdl_properties[i];
        const gsize size = p->kind == FLOAT ? sizeof(gfloat) : sizeof(gboolean);

        if (p->look && look->said & ~live->said & look_bit(p))
            memcpy((guint8 *)&with + p->offset - GST_TDL_AT(live), (guint8 *)look + p->look, size);
    }
    return with;
}

void gst_tdl_settings_init(struct gst_tdl_settings *settings)
{
    *settings = (struct gst_tdl_settings){ 0 }; /* clears all that is no property, too */
    for (guint i = 0; i < gst_tdl_property_count; i++) {
        const struct gst_tdl_property *p = &gst_tdl_properties[i];
        gpointer field = (guint8 *)settings + p->offset;

        if (p->kind == FLOAT)
            *(gfloat *)field = p->def;
        else if (p->kind == STRING)
            *(gchar **)field = g_strdup(p->text ? p->text : "");
        else if (p->kind == CLASSES)
            *(GArray **)field = g_array_new(FALSE, FALSE, sizeof(gint));
        else
            *(guint *)field = p->def; /* gint, guint, gboolean */
    }
}

void gst_tdl_settings_finish(struct gst_tdl_settings *settings)
{
    gst_tdl_sources_clear(&settings->sources);
}

static void set_classes(GArray *classes, const GValue *value)
{
    g_array_set_size(classes, 0);
    for (guint i = 0; i < gst_value_array_get_size(value); i++) {
        gint index = g_value_get_int(gst_value_array_get_value(value, i));

        g_array_append_val(classes, index);
    }
}

static void get_classes(const GArray *classes, GValue *value)
{
    for (guint i = 0; i < classes->len; i++) {
        GValue item = G_VALUE_INIT;

        g_value_init(&item, G_TYPE_INT);
        g_value_set_int(&item, g_array_index(classes, gint, i));
        gst_value_array_append_and_take_value(value, &item);
    }
}

enum gst_tdl_output gst_tdl_settings_output_of(enum gst_tdl_mode mode)
{
    return mode == GST_TDL_MODE_PICTURE   ? GST_TDL_OUTPUT_PICTURE
           : mode == GST_TDL_MODE_CLASSES ? GST_TDL_OUTPUT_CLASSES
                                          : GST_TDL_OUTPUT_MASK;
}

gboolean gst_tdl_settings_output_fits(enum gst_tdl_output output, enum gst_tdl_mode mode)
{
    return mode == GST_TDL_MODE_PASSTHROUGH || gst_tdl_settings_output_of(mode) == output;
}

gboolean gst_tdl_live_wants_tensors_alone(const struct gst_tdl_live *live)
{
    return live->mode == GST_TDL_MODE_PASSTHROUGH && live->meta == GST_TDL_META_TENSORS &&
           !live->presence;
}

/* Passing through wants no kind of output in particular. */
static gint find_output(const struct gst_tdl_settings *settings)
{
    const struct gst_tdl_live *live = &settings->live;

    if (live->mode != GST_TDL_MODE_PASSTHROUGH)
        return gst_tdl_settings_output_of(live->mode);
    if (gst_tdl_live_wants_tensors_alone(live))
        return GST_TDL_OUTPUT_TENSORS;
    return settings->sources.output == GST_TDL_OUTPUT_TENSORS ? GST_TDL_OUTPUT_MASK
                                                              : settings->sources.output;
}

/* Another kind of output is another network. So is one that hands out all of them. */
static void set_output(struct gst_tdl_settings *settings, enum gst_tdl_effect *effect)
{
    const gint output = find_output(settings);
    const gboolean tensors = (settings->live.meta & GST_TDL_META_TENSORS) != 0;

    if (settings->sources.output != output)
        *effect = GST_TDL_OTHER_OUTPUT;
    else if (settings->sources.tensors != tensors)
        *effect = GST_TDL_MODEL;
    settings->sources.output = output;
    settings->sources.tensors = tensors;
}

/* Another prompt is taken with the next frame, where the network has room for its points. What
 * cannot be read changes nothing. */
static void note_prompt(struct gst_tdl_settings *settings, guint room, enum gst_tdl_effect *effect)
{
    struct gst_tdl_sources *sources = &settings->sources;

    if (!gst_tdl_prompt_parse(sources->prompt, &settings->live.prompt, NULL))
        return;
    settings->live.prompt.serial++;
    sources->asks = settings->live.prompt.count > 0;
    sources->room = MAX(sources->room, gst_tdl_prompt_room(&settings->live.prompt));
    if (gst_tdl_sources_room(sources) != room)
        *effect = GST_TDL_MODEL;
}

static void set_text(struct gst_tdl_settings *settings, const struct gst_tdl_property *p,
                     const gchar *text, enum gst_tdl_effect *effect)
{
    const guint room = gst_tdl_sources_room(&settings->sources);
    gchar **field = (gchar **)((guint8 *)settings + p->offset);

    g_free(*field);
    *field = g_strdup(text ? text : "");
    if (p->offset == GST_TDL_AT(sources.prompt))
        note_prompt(settings, room, effect);
}

void gst_tdl_settings_want_tensors_alone(struct gst_tdl_settings *settings)
{
    enum gst_tdl_effect effect;

    settings->live.mode = GST_TDL_MODE_PASSTHROUGH;
    settings->live.meta = GST_TDL_META_TENSORS;
    set_output(settings, &effect);
}

gboolean gst_tdl_settings_set(struct gst_tdl_settings *settings, guint id, const GValue *value,
                              enum gst_tdl_effect *out_effect)
{
    const struct gst_tdl_property *p;
    gpointer field;

    if (id < 1 || id > gst_tdl_property_count)
        return FALSE;
    p = &gst_tdl_properties[id - 1];
    field = (guint8 *)settings + p->offset;
    *out_effect = p->effect;
    settings->live.said |= look_bit(p);
    switch (p->kind) {
    case FLOAT:
        *(gfloat *)field = g_value_get_float(value);
        break;
    case UINT:
    case COLOR:
        *(guint *)field = g_value_get_uint(value);
        break;
    case BOOL:
        *(gboolean *)field = g_value_get_boolean(value);
        break;
    case STRING:
        set_text(settings, p, g_value_get_string(value), out_effect);
        break;
    case CLASSES:
        set_classes(*(GArray **)field, value);
        break;
    default:
        if (*(gint *)field == g_value_get_enum(value))
            *out_effect = GST_TDL_LIVE; /* controllers set it for every frame */
        *(gint *)field = g_value_get_enum(value);
    }
    set_output(settings, out_effect);
    return TRUE;
}

gboolean gst_tdl_settings_get(const struct gst_tdl_settings *settings, guint id, GValue *value)
{
    const struct gst_tdl_property *p;
    gconstpointer field;

    if (id < 1 || id > gst_tdl_property_count)
        return FALSE;
    p = &gst_tdl_properties[id - 1];
    field = (const guint8 *)settings + p->offset;
    switch (p->kind) {
    case FLOAT:
        g_value_set_float(value, *(const gfloat *)field);
        break;
    case UINT:
    case COLOR:
        g_value_set_uint(value, *(const guint *)field);
        break;
    case BOOL:
        g_value_set_boolean(value, *(const gboolean *)field);
        break;
    case STRING:
        g_value_set_string(value, *(gchar *const *)field);
        break;
    case CLASSES:
        get_classes(*(GArray *const *)field, value);
        break;
    default:
        g_value_set_enum(value, *(const gint *)field);
    }
    return TRUE;
}

gchar **gst_tdl_settings_preset_names(void)
{
    GStrvBuilder *names = g_strv_builder_new();
    gchar **all;

    for (guint i = 0; i < gst_tdl_property_count; i++) {
        const struct gst_tdl_property *p = &gst_tdl_properties[i];

        if ((p->effect == GST_TDL_LIVE || p->effect == GST_TDL_RENEGOTIATE) && !p->local)
            g_strv_builder_add(names, p->name);
    }
    all = g_strv_builder_end(names);
    g_strv_builder_unref(names);
    return all;
}

/* TRUE where the property is as it was before anybody set it. */
static gboolean is_unset(const struct gst_tdl_property *p, gconstpointer field)
{
    if (p->kind == FLOAT)
        return *(const gfloat *)field == (gfloat)p->def;
    if (p->kind == STRING)
        return !strcmp(*(gchar *const *)field, p->text ? p->text : "");
    if (p->kind == CLASSES)
        return (*(GArray *const *)field)->len == 0;
    return *(const gint *)field == (gint)p->def;
}

static gboolean fill_classes(GArray *classes, const gchar *text)
{
    GValue value = G_VALUE_INIT;
    gboolean ok;

    g_value_init(&value, GST_TYPE_ARRAY);
    ok = gst_value_deserialize(&value, text);
    for (guint i = 0; ok && i < gst_value_array_get_size(&value); i++) {
        const GValue *class = gst_value_array_get_value(&value, i);

        ok = G_VALUE_HOLDS_INT(class) && g_value_get_int(class) >= 0;
    }
    if (ok)
        set_classes(classes, &value);
    g_value_unset(&value);
    return ok;
}

static gboolean fill_number(const struct gst_tdl_property *p, gfloat *field, const gchar *text)
{
    gchar *end = NULL;
    gdouble number = g_ascii_strtod(text, &end);

    if (end == text || *end || !(number >= p->min && number <= p->max))
        return FALSE;
    *field = number;
    return TRUE;
}

static gboolean fill(const struct gst_tdl_property *p, gpointer field, const gchar *text)
{
    const GEnumValue *v = gst_tdl_property_values(p);

    if (p->kind == FLOAT)
        return fill_number(p, field, text);
    if (p->kind == CLASSES)
        return fill_classes(*(GArray **)field, text);
    if (p->kind == STRING) {
        g_free(*(gchar **)field);
        *(gchar **)field = g_strdup(text);
        return TRUE;
    }
    if (p->kind == BOOL) {
        *(gboolean *)field = !strcmp(text, "true");
        return *(gboolean *)field || !strcmp(text, "false");
    }
    for (; v && v->value_nick; v++) {
        if (!strcmp(v->value_nick, text)) {
            *(gint *)field = v->value;
            return TRUE;
        }
    }
    return FALSE;
}

/* The first to say it is heard. */
static gboolean fill_look(struct gst_tdl_look *look, const struct gst_tdl_property *p,
                          const gchar *text)
{
    const guint bit = look_bit(p);

    if (look->said & bit)
        return TRUE;
    look->said |= bit;
    return fill(p, (guint8 *)look + p->look, text);
}

gboolean gst_tdl_sources_fill(struct gst_tdl_sources *sources, const gchar *name, const gchar *text)
{
    for (guint i = 0; i < gst_tdl_property_count; i++) {
        const struct gst_tdl_property *p = &gst_tdl_properties[i];
        gpointer field = (guint8 *)sources + p->offset - GST_TDL_AT(sources);

        if (p->look && !strcmp(p->name, name))
            return fill_look(&sources->look, p, text);
        if (p->effect == GST_TDL_MODEL && p->offset != GST_TDL_AT(sources.model) &&
            !strcmp(p->name, name))
            return !is_unset(p, field) || fill(p, field, text);
    }
    return FALSE;
}

/* The place of a property of the sources; NULL: of others. */
static gpointer in_sources(const struct gst_tdl_property *p, struct gst_tdl_sources *sources)
{
    return p->offset < GST_TDL_AT(sources) ? NULL
                                           : (guint8 *)sources + p->offset - GST_TDL_AT(sources);
}

/* Texts with their length, so that none runs into the next. */
static void append_value(GString *key, const struct gst_tdl_property *p, gconstpointer field)
{
    const gchar *text;
    const GArray *list;

    switch (p->kind) {
    case FLOAT:
        g_string_append_printf(key, "|%a", (gdouble) * (const gfloat *)field);
        break;
    case STRING:
        text = *(gchar *const *)field;
        g_string_append_printf(key, "|%zu:%s", strlen(text), text);
        break;
    case CLASSES:
        list = *(GArray *const *)field;
        g_string_append_printf(key, "|%u:", list->len);
        for (guint i = 0; i < list->len; i++)
            g_string_append_printf(key, "%d,", g_array_index(list, gint, i));
        break;
    default:
        g_string_append_printf(key, "|%d", *(const gint *)field);
    }
}

static void append_inputs(GString *key, const GArray *inputs)
{
    for (guint i = 0; inputs && i < inputs->len; i++) {
        const struct gst_tdl_input_options *said =
            &g_array_index(inputs, struct gst_tdl_input_options, i);

        g_string_append_printf(key, "|%zu:%s", strlen(said->name), said->name);
        for (guint k = 0; k < 6 && said->has_ranges; k++)
            g_string_append_printf(key, ",%a", (gdouble)said->ranges[k / 2][k % 2]);
        for (guint k = 0; k < 4; k++)
            g_string_append_printf(key, ":%d", said->dims[k]);
    }
}

static void append_outputs(GString *key, const GArray *outputs)
{
    for (guint i = 0; outputs && i < outputs->len; i++) {
        const struct gst_tdl_output_options *said =
            &g_array_index(outputs, struct gst_tdl_output_options, i);
        const gchar *id = said->id ? said->id : "";

        g_string_append_printf(key, "|%zu:%s=%zu:%s,%d", strlen(said->name), said->name, strlen(id),
                               id, said->col_major);
        for (guint k = 0; k < said->rank; k++)
            g_string_append_printf(key, ":%d", said->dims[k]);
    }
}

guint gst_tdl_sources_room(const struct gst_tdl_sources *sources)
{
    if (*sources->decoder_model)
        return MAX(sources->room, 2);
    return sources->asks ? sources->room : 0;
}

void gst_tdl_sources_key(const struct gst_tdl_sources *sources, GString *key)
{
    g_string_append_printf(key, "|%d|%d|%x|%u", sources->output, sources->tensors,
                           sources->look.said, gst_tdl_sources_room(sources));
    for (guint i = 0; i < gst_tdl_property_count; i++) {
        const struct gst_tdl_property *p = &gst_tdl_properties[i];

        if (p->look)
            append_value(key, p, (const guint8 *)&sources->look + p->look);
        else if (p->offset >= GST_TDL_AT(sources) && !p->apart)
            append_value(key, p, (const guint8 *)sources + p->offset - GST_TDL_AT(sources));
    }
    append_inputs(key, sources->inputs);
    append_outputs(key, sources->outputs);
    if (sources->group)
        g_string_append_printf(key, "|%s", sources->group);
}

void gst_tdl_sources_copy(const struct gst_tdl_sources *from, struct gst_tdl_sources *to)
{
    *to = *from;
    if (to->inputs)
        g_array_ref(to->inputs);
    if (to->outputs)
        g_array_ref(to->outputs);
    for (guint i = 0; i < gst_tdl_property_count; i++) {
        gpointer field = in_sources(&gst_tdl_properties[i], to);

        if (field && gst_tdl_properties[i].kind == STRING)
            *(gchar **)field = g_strdup(*(gchar **)field);
        else if (field && gst_tdl_properties[i].kind == CLASSES)
            *(GArray **)field = g_array_copy(*(GArray **)field);
    }
}

void gst_tdl_sources_clear(struct gst_tdl_sources *sources)
{
    g_clear_pointer(&sources->inputs, g_array_unref);
    g_clear_pointer(&sources->outputs, g_array_unref);
    for (guint i = 0; i < gst_tdl_property_count; i++) {
        gpointer field = in_sources(&gst_tdl_properties[i], sources);

        if (field && gst_tdl_properties[i].kind == STRING)
            g_clear_pointer((gchar **)field, g_free);
        else if (field && gst_tdl_properties[i].kind == CLASSES)
            g_clear_pointer((GArray **)field, g_array_unref);
    }
}
