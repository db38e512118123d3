/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdlprompt.h"

#include <string.h>

#define FORM                                                                                       \
    "give it as \"point X,Y\", \"background X,Y\" and \"box LEFT,TOP,RIGHT,BOTTOM\", one behind "  \
    "the other, in shares of the picture from 0 to 1, such as \"point 0.5,0.4 background "         \
    "0.1,0.1\""

/* A word, and the labels of the points that its numbers are. */
static const struct kind {
    const gchar *word;
    guint count;
    gint labels[2];
} kinds[] = {
    { "point", 1, { GST_TDL_POINT_FOREGROUND } },
    { "background", 1, { GST_TDL_POINT_BACKGROUND } },
    { "box", 2, { GST_TDL_POINT_BOX_FIRST, GST_TDL_POINT_BOX_LAST } },
};

static gboolean refuse(GError **error, const gchar *text, const gchar *format, ...)
    G_GNUC_PRINTF(3, 4);
static gboolean refuse(GError **error, const gchar *text, const gchar *format, ...)
{
    g_autofree gchar *why = NULL;
    va_list args;

    va_start(args, format);
    why = g_strdup_vprintf(format, args);
    va_end(args);
    g_set_error(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, "\"prompt\" is \"%s\": %s.",
                text, why);
    return FALSE;
}

static const struct kind *kind_of(const gchar *word)
{
    for (gsize i = 0; i < G_N_ELEMENTS(kinds); i++)
        if (!g_ascii_strcasecmp(kinds[i].word, word))
            return &kinds[i];
    return NULL;
}

/* FALSE: they are not so many numbers between commas. */
static gboolean read_numbers(const gchar *word, guint count, gdouble *out)
{
    gchar *end = (gchar *)word;

    for (guint i = 0; i < count; i++) {
        const gchar *start = i ? end + 1 : word;

        out[i] = g_ascii_strtod(start, &end);
        if (end == start || *end != (i + 1 < count ? ',' : 0))
            return FALSE;
    }
    return TRUE;
}

static gboolean read_points(const gchar *text, const struct kind *kind, const gchar *word,
                            struct gst_tdl_prompt *out, GError **error)
{
    gdouble n[4];

    if (!read_numbers(word, 2 * kind->count, n))
        return refuse(error, text, "\"%s\" is no place of a %s: " FORM, word, kind->word);
    for (guint i = 0; i < 2 * kind->count; i++)
        if (!(n[i] >= 0 && n[i] <= 1))
            return refuse(error, text,
                          "\"%s\" is outside of the picture, whose left and top are 0, and right "
                          "and bottom 1: " FORM,
                          word);
    if (kind->count == 2 && !(n[0] < n[2] && n[1] < n[3]))
        return refuse(error, text, "the box \"%s\" has no area: left and top come first", word);
    if (out->count + kind->count > GST_TDL_MAX_POINTS)
        return refuse(error, text, "that is more than %d points, a box counting as two",
                      GST_TDL_MAX_POINTS);
    for (guint i = 0; i < kind->count; i++)
        out->points[out->count++] =
            (struct gst_tdl_point){ n[2 * i], n[2 * i + 1], kind->labels[i] };
    return TRUE;
}

/* Something is to be foreground, and one box is enough. */
static gboolean check(const gchar *text, const struct gst_tdl_prompt *p, GError **error)
{
    guint foreground = 0, boxes = 0;

    for (guint i = 0; i < p->count; i++) {
        foreground += p->points[i].label == GST_TDL_POINT_FOREGROUND;
        boxes += p->points[i].label == GST_TDL_POINT_BOX_FIRST;
    }
    if (boxes > 1)
        return refuse(error, text, "it has %u boxes, and one object has one", boxes);
    if (!foreground && !boxes)
        return refuse(error, text, "nothing of it is foreground: " FORM);
    return TRUE;
}

gboolean gst_tdl_prompt_parse(const gchar *text, struct gst_tdl_prompt *out, GError **error)
{
    g_auto(GStrv) words = g_strsplit_set(text, " ;\t\n", -1);
    struct gst_tdl_prompt read = { .serial = out->serial };
    const struct kind *kind = NULL;
    gboolean expected = FALSE, any = FALSE;

    for (guint i = 0; words[i]; i++) {
        const struct kind *named = kind_of(words[i]);

        if (!*words[i])
            continue;
        any = TRUE;
        if (expected ? named != NULL : !named && !kind)
            return refuse(error, text, "\"%s\" is not expected there: " FORM, words[i]);
        if (!named && !read_points(text, kind, words[i], &read, error))
            return FALSE;
        expected = named != NULL;
        kind = named ? named : kind;
    }
    if (expected)
        return refuse(error, text, "a place is missing behind \"%s\": " FORM, kind->word);
    if (any && !check(text, &read, error))
        return FALSE;
    *out = read;
    return TRUE;
}

guint gst_tdl_prompt_room(const struct gst_tdl_prompt *prompt)
{
    guint room = 2;

    if (!prompt->count)
        return 0;
    while (room < prompt->count)
        room *= 2;
    return room;
}
