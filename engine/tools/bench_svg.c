/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Times as horizontal bars, drawn as SVG: the dispatches of a run in their
 * order, every layer's algorithms, quickest first, the devices, or the frames of streams.
 */
#include "bench.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROW = 18, BAR = 12, LEFT = 330, WIDTH = 460, RIGHT = 150, TOP = 64, MAX_LABEL = 46 };

struct bar {
    char label[200];
    double length; /* in the unit of its heading */
    const char *colour;
    bool heading;
    char note[40];
};

struct chart {
    struct bar *bars;
    uint32_t count, capacity;
};

static const char *const plain = "#4e79a7", *const best = "#59a14f", *const chosen = "#f28e2b";

static bool add(struct chart *c, const struct bar *bar)
{
    if (c->count == c->capacity) {
        const uint32_t capacity = c->capacity ? 2 * c->capacity : 64;
        struct bar *bars = realloc(c->bars, capacity * sizeof(*bars));

        if (!bars)
            return false;
        c->bars = bars;
        c->capacity = capacity;
    }
    c->bars[c->count++] = *bar;
    return true;
}

/* ---------------------------------------------------------------- contents */

static bool add_steps(const struct bench *b, struct chart *c)
{
    bool ok = b->step_us != NULL;

    for (uint32_t i = 0; ok && i < b->step_count; i++) {
        const struct tdl_graph_step *step = tdl_graph_get_step(b->graph, i);
        struct bar bar = {.length = b->step_us[i], .colour = plain};

        snprintf(bar.label, sizeof(bar.label), "%u %s %s%s%s", i, step->kernel, step->algorithm,
                 *step->algorithm ? " · " : "", step->label);
        snprintf(bar.note, sizeof(bar.note), "%.2f µs", bar.length);
        ok = add(c, &bar);
    }
    return ok;
}

static int by_time(const void *a, const void *b)
{
    const struct bar *x = a, *y = b;

    return (x->length > y->length) - (x->length < y->length);
}

static bool add_layer(const struct bench *b, uint32_t first, const struct bench_tuned *fastest,
                      struct chart *c)
{
    struct bar heading = {.heading = true};
    uint32_t start;
    bool ok;

    snprintf(heading.label, sizeof(heading.label), "%s", fastest->layer);
    ok = add(c, &heading);
    start = c->count;
    for (uint32_t i = first; ok && i < b->tuned_count; i++) {
        const struct bench_tuned *t = &b->tuned[i];
        struct bar bar = {.length = t->us,
                          .colour = t == fastest    ? best
                                    : t->is_default ? chosen
                                                    : plain};

        if (strcmp(t->layer, fastest->layer) != 0)
            continue;
        snprintf(bar.label, sizeof(bar.label), "%s%s", t->algorithm,
                 t->is_default ? " (default)" : "");
        snprintf(bar.note, sizeof(bar.note), "%.2f µs, %.2f×", t->us, t->us / fastest->us);
        ok = add(c, &bar);
    }
    if (ok)
        qsort(c->bars + start, c->count - start, sizeof(*c->bars), by_time);
    return ok;
}

static bool add_layers(const struct bench *b, struct chart *c)
{
    bool ok = true;

    for (uint32_t i = 0; ok && i < b->tuned_count; i++) {
        const struct bench_tuned *fastest = bench_tune_best(b, i);

        if (fastest)
            ok = add_layer(b, i, fastest, c);
    }
    return ok;
}

static bool add_devices(const struct bench *b, struct chart *c)
{
    const struct bench *d;
    const char *reason;
    bool ok = true;

    for (uint32_t i = 0; ok && (d = bench_devices_get(b, i, &reason)); i++) {
        struct bar bar = {.length = reason ? 0 : 1e3 * d->wall.median, .colour = plain};

        if (reason) {
            snprintf(bar.label, sizeof(bar.label), "device %s", d->device);
            snprintf(bar.note, sizeof(bar.note), "%.39s", reason);
        } else {
            snprintf(bar.label, sizeof(bar.label), "%.199s", tdl_context_device(d->context)->name);
            snprintf(bar.note, sizeof(bar.note), "%.3f ms (min %.3f)", d->wall.median, d->wall.min);
        }
        ok = add(c, &bar);
    }
    return ok;
}

static bool add_heading(struct chart *c, const char *text)
{
    struct bar heading = {.heading = true};

    snprintf(heading.label, sizeof(heading.label), "%s", text);
    return add(c, &heading);
}

/* Frames a second, and then how long one takes. */
static bool add_streams(const struct bench *b, struct chart *c)
{
    const struct bench_stream_result *r;
    bool ok = add_heading(c, "frames/s of all streams");

    for (uint32_t i = 0; ok && (r = bench_streams_get(b, i)); i++) {
        struct bar bar = {.length = r->rate, .colour = r->batch > 1 ? best : plain};

        snprintf(bar.label, sizeof(bar.label), "%u streams, %u a batch", r->streams, r->batch);
        snprintf(bar.note, sizeof(bar.note), "%.0f frames/s", r->rate);
        ok = add(c, &bar);
    }
    ok = ok &&
         add_heading(c, "from the begin of one frame of each stream to the end of one, median");
    for (uint32_t i = 0; ok && (r = bench_streams_get(b, i)); i++) {
        struct bar bar = {.length = r->median_ms, .colour = r->batch > 1 ? best : plain};

        snprintf(bar.label, sizeof(bar.label), "%u streams, %u a batch", r->streams, r->batch);
        snprintf(bar.note, sizeof(bar.note), "%.2f ms (99 %%: %.2f)", r->median_ms, r->p99_ms);
        ok = add(c, &bar);
    }
    return ok;
}

/* ----------------------------------------------------------------- drawing */

static void put_text(FILE *f, int x, int y, const char *attributes, const char *text)
{
    uint32_t length = 0;

    fprintf(f, "<text x=\"%d\" y=\"%d\" %s>", x, y, attributes);
    for (; *text; text++) {
        const bool start = ((unsigned char)*text & 0xc0) != 0x80; /* start of a character */

        if (start && ++length > MAX_LABEL && text[1] && !strstr(attributes, "long")) {
            fputs("…", f);
            break;
        }
        if (*text == '<' || *text == '>' || *text == '&' || *text == '"')
            fprintf(f, "&#%d;", *text);
        else
            fputc(*text, f);
    }
    fputs("</text>\n", f);
}

static double largest(const struct chart *c, uint32_t from, uint32_t to)
{
    double most = 0;

    for (uint32_t i = from; i < to; i++)
        most = c->bars[i].length > most ? c->bars[i].length : most;
    return most > 0 ? most : 1;
}

/* Each heading starts a scale of its own. */
static void draw_bars(FILE *f, const struct chart *c)
{
    double scale = WIDTH / largest(c, 0, c->count);

    for (uint32_t i = 0; i < c->count; i++) {
        const struct bar *bar = &c->bars[i];
        const int y = TOP + (int)i * ROW, width = (int)(bar->length * scale + 0.5);

        if (bar->heading) {
            uint32_t end = i + 1;

            while (end < c->count && !c->bars[end].heading)
                end++;
            scale = WIDTH / largest(c, i, end);
            put_text(f, 12, y + BAR - 1, "class=\"h long\"", bar->label);
            continue;
        }
        put_text(f, LEFT - 8, y + BAR - 2, "text-anchor=\"end\"", bar->label);
        fprintf(f, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\"/>\n", LEFT, y,
                width > 0 ? width : 1, BAR, bar->colour);
        put_text(f, LEFT + width + 6, y + BAR - 2, "class=\"n long\"", bar->note);
    }
}

static void draw(FILE *f, const struct bench *b, const struct chart *c)
{
    const struct tdl_device_info *device = b->devices ? NULL : tdl_context_device(b->context);
    const int height = TOP + (int)c->count * ROW + 16, width = LEFT + WIDTH + RIGHT;
    char text[700];

    fprintf(f,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "viewBox=\"0 0 %d %d\">\n"
            "<style>text{font:11px sans-serif;fill:#222}.h{font-weight:bold}.n{fill:#555}"
            ".t{font-size:15px;font-weight:bold}</style>\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
            width, height, width, height);
    snprintf(text, sizeof(text), "%s: %s", b->model ? b->model : b->op.name,
             !device      ? "a run on each device"
             : b->streams ? "frames of several streams"
             : b->tuned   ? "device time of each layer by algorithm"
                          : "device time of each dispatch");
    put_text(f, 12, 24, "class=\"t long\"", text);
    if (device)
        snprintf(text, sizeof(text), "%s (%s); medians", device->name, device->driver);
    else
        snprintf(text, sizeof(text), "from the call to the result; medians of runs in turns");
    put_text(f, 12, 42, "class=\"n long\"", text);
    draw_bars(f, c);
    fputs("</svg>\n", f);
}

int bench_svg_check(const char *path)
{
    const bool was_there = access(path, F_OK) == 0;
    FILE *f = fopen(path, "a"); /* leaves what is there */

    if (!f)
        return tool_fail("%s cannot be written: %s", path, strerror(errno));
    fclose(f);
    if (!was_there)
        remove(path);
    return TOOL_OK;
}

int bench_svg_write(const struct bench *b)
{
    struct chart c = {0};
    bool ok = b->devices   ? add_devices(b, &c)
              : b->streams ? add_streams(b, &c)
              : b->tuned   ? add_layers(b, &c)
                           : add_steps(b, &c);
    FILE *f;

    if (!ok) {
        free(c.bars);
        return tool_fail(b->tuned || b->step_us || b->streams
                             ? "no memory for the drawing"
                             : "this device has no timestamps to draw");
    }
    f = fopen(b->svg, "w");
    if (f)
        draw(f, b, &c);
    free(c.bars);
    if (!f || ferror(f) || fclose(f) != 0)
        return tool_fail("%s cannot be written: %s", b->svg, strerror(errno));
    return TOOL_OK;
}
