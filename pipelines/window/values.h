/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The filter's properties as text, and as a group of a file of settings. */
#ifndef WINDOW_VALUES_H
#define WINDOW_VALUES_H

#include <gst/gst.h>
#include <stdbool.h>

/* The filter's own writable properties, ended by NULL; g_free. */
GParamSpec **values_list(GstElement *filter);

/* May it change while frames flow? */
bool values_is_live(const GParamSpec *spec);

char *values_get(GstElement *filter, const GParamSpec *spec); /* g_free */
bool values_parse(const GParamSpec *spec, const char *text, GValue *out);

void values_reset(GstElement *filter); /* all as they were made */
void values_load(GstElement *filter, GKeyFile *from);
/* only values that differ from their defaults */
void values_save(GstElement *filter, GKeyFile *to);

#endif
