/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "plot.h"

#define POINTS 120
#define HEIGHT 64

struct plot {
    GtkWidget *area, *legend;
    double ms[POINTS][PLOT_SERIES];
    guint count, next;
};

static const struct series {
    const char *name, *colour;
} all_series[PLOT_SERIES] = {
    [PLOT_PREPROCESS] = {"device: picture to network", "#3584e4"},
    [PLOT_NETWORK] = {"network", "#e66100"},
    [PLOT_COMPOSE] = {"composition", "#26a269"},
    [PLOT_PROCESSOR] = {"processor, a frame:", "#9141ac"},
};

static const double *at(const struct plot *plot, guint i)
{
    return plot->ms[(plot->next + POINTS - plot->count + i) % POINTS];
}

static double stacked(const double *ms, int series)
{
    double sum = 0;

    for (int i = 0; i <= series; i++)
        sum += ms[i];
    return sum;
}

static double highest(const struct plot *plot)
{
    double most = 1;

    for (guint i = 0; i < plot->count; i++)
        most = MAX(most, MAX(stacked(at(plot, i), PLOT_COMPOSE), at(plot, i)[PLOT_PROCESSOR]));
    return most;
}

static void set_colour(cairo_t *cr, int series)
{
    GdkRGBA c;

    gdk_rgba_parse(&c, all_series[series].colour);
    gdk_cairo_set_source_rgba(cr, &c);
}

static void draw(GtkDrawingArea *area, cairo_t *cr, int width, int height, gpointer data)
{
    const struct plot *plot = data;
    const double step = (double)width / POINTS, scale = height / highest(plot);

    (void)area;
    for (guint i = 0; i < plot->count; i++) {
        for (int s = PLOT_COMPOSE; s >= 0; s--) {
            const double h = stacked(at(plot, i), s) * scale;

            set_colour(cr, s);
            cairo_rectangle(cr, i * step, height - h, step, h);
            cairo_fill(cr);
        }
    }
    set_colour(cr, PLOT_PROCESSOR);
    cairo_set_line_width(cr, 1.5);
    for (guint i = 0; i < plot->count; i++)
        cairo_line_to(cr, (i + 0.5) * step, height - at(plot, i)[PLOT_PROCESSOR] * scale);
    cairo_stroke(cr);
}

static void say(struct plot *plot, const double *ms)
{
    g_autoptr(GString) text = g_string_new("ms a run, means:");

    for (int s = 0; s < PLOT_SERIES; s++)
        g_string_append_printf(text, "   <span foreground=\"%s\">■</span> %s %.1f",
                               all_series[s].colour, all_series[s].name, ms[s]);
    gtk_label_set_markup(GTK_LABEL(plot->legend), text->str);
}

void plot_add(struct plot *plot, const double ms[PLOT_SERIES])
{
    memcpy(plot->ms[plot->next], ms, sizeof(plot->ms[0]));
    plot->next = (plot->next + 1) % POINTS;
    plot->count = MIN(plot->count + 1, POINTS);
    say(plot, ms);
    gtk_widget_queue_draw(plot->area);
}

static void on_destroy(GtkWidget *widget, gpointer plot)
{
    (void)widget;
    g_free(plot);
}

GtkWidget *plot_new(struct plot **out)
{
    struct plot *plot = g_new0(struct plot, 1);
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 2);

    plot->area = gtk_drawing_area_new();
    plot->legend = gtk_label_new("");
    gtk_label_set_xalign(GTK_LABEL(plot->legend), 0);
    gtk_label_set_wrap(GTK_LABEL(plot->legend), TRUE);
    gtk_drawing_area_set_content_height(GTK_DRAWING_AREA(plot->area), HEIGHT);
    gtk_drawing_area_set_draw_func(GTK_DRAWING_AREA(plot->area), draw, plot, NULL);
    gtk_accessible_update_property(GTK_ACCESSIBLE(plot->area), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   "Plot of the times below", -1);
    gtk_box_append(GTK_BOX(box), plot->area);
    gtk_box_append(GTK_BOX(box), plot->legend);
    g_signal_connect(box, "destroy", G_CALLBACK(on_destroy), plot);
    *out = plot;
    return box;
}
