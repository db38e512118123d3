/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "values.h"

#include <string.h>

#define GROUP "filter"

GParamSpec **values_list(GstElement *filter)
{
    guint count = 0, kept = 0;
    GParamSpec **all = g_object_class_list_properties(G_OBJECT_GET_CLASS(filter), &count);

    for (guint i = 0; i < count; i++)
        if (all[i]->owner_type == G_OBJECT_TYPE(filter) && all[i]->flags & G_PARAM_WRITABLE)
            all[kept++] = all[i];
    all[kept] = NULL; /* there is room: the name is not the filter's own */
    return all;
}

bool values_is_live(const GParamSpec *spec)
{
    return spec->flags & GST_PARAM_MUTABLE_PLAYING;
}

char *values_get(GstElement *filter, const GParamSpec *spec)
{
    g_auto(GValue) value = G_VALUE_INIT;

    g_value_init(&value, spec->value_type);
    g_object_get_property(G_OBJECT(filter), spec->name, &value);
    if (G_VALUE_HOLDS_STRING(&value))
        return g_strdup(g_value_get_string(&value) ? g_value_get_string(&value) : "");
    return gst_value_serialize(&value);
}

bool values_parse(const GParamSpec *spec, const char *text, GValue *out)
{
    g_value_init(out, spec->value_type);
    if (G_VALUE_HOLDS_STRING(out)) {
        g_value_set_string(out, text);
        return true;
    }
    if (GST_VALUE_HOLDS_ARRAY(out)) {
        g_autofree char *bracketed = *text == '<' ? g_strdup(text) : g_strdup_printf("<%s>", text);

        return gst_value_deserialize(out, bracketed);
    }
    return gst_value_deserialize(out, text);
}

void values_reset(GstElement *filter)
{
    g_autofree GParamSpec **specs = values_list(filter);

    for (int i = 0; specs[i]; i++)
        g_object_set_property(G_OBJECT(filter), specs[i]->name,
                              g_param_spec_get_default_value(specs[i]));
}

void values_load(GstElement *filter, GKeyFile *from)
{
    g_autofree GParamSpec **specs = values_list(filter);

    for (int i = 0; specs[i]; i++) {
        g_autofree char *text = g_key_file_get_string(from, GROUP, specs[i]->name, NULL);
        g_auto(GValue) value = G_VALUE_INIT;

        if (text && values_parse(specs[i], text, &value))
            g_object_set_property(G_OBJECT(filter), specs[i]->name, &value);
    }
}

void values_save(GstElement *filter, GKeyFile *to)
{
    g_autofree GParamSpec **specs = values_list(filter);

    g_key_file_remove_group(to, GROUP, NULL);
    for (int i = 0; specs[i]; i++) {
        g_auto(GValue) value = G_VALUE_INIT;
        g_autofree char *text = values_get(filter, specs[i]);

        g_value_init(&value, specs[i]->value_type);
        g_object_get_property(G_OBJECT(filter), specs[i]->name, &value);
        if (text && !g_param_value_defaults(specs[i], &value))
            g_key_file_set_string(to, GROUP, specs[i]->name, text);
    }
}
