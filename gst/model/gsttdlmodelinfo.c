/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An INI file: the group [modelinfo] with its version, and a group for each tensor, named
 * as in the model. Of an input `ranges` has the numbers for black and white, one pair for
 * all channels or one for each; `dims` its sizes, -1 where the model leaves one open.
 * A group [tdlfilter] of ours has properties by their names, which others ignore.
 */
#include "gsttdlmodelinfo.h"

#include "gsttdldecode.h"
#include "base/gsttdlfile.h"
#include "gsttdllinks.h"
#include "gsttdloutput.h"

#include <math.h>
#include <string.h>

#define HEAD "modelinfo"
#define OURS "tdlfilter"
#define MAJOR 1 /* major number of the format's version */
#define MAX_DIMS 8

struct info {
    GKeyFile *keys;
    gchar *path;
};

static gboolean refuse(const struct info *info, const gchar *group, const gchar *key,
                       const gchar *wanted, GError **error)
{
    g_autofree gchar *value = g_key_file_get_value(info->keys, group, key, NULL);
    g_autofree gchar *text =
        g_strdup_printf("%s: group [%s], key \"%s\" is %s%s%s: %s.", info->path, group, key,
                        value ? "\"" : "missing", value ? value : "", value ? "\"" : "", wanted);
    /* The file may be in any encoding, and messages are UTF-8. */
    g_autofree gchar *valid = g_utf8_make_valid(text, -1);

    g_set_error_literal(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, valid);
    return FALSE;
}

static gboolean check_version(const struct info *info, GError **error)
{
    g_autofree gchar *version = g_key_file_get_string(info->keys, HEAD, "version", NULL);
    gchar *end = NULL;

    if (version && g_ascii_strtoull(version, &end, 10) == MAJOR && *end == '.')
        return TRUE;
    return refuse(info, HEAD, "version", "versions 1.x are understood, as version=1.0", error);
}

/* Numbers between commas, as many as there are, at most `max`; 0: others. */
static guint parse(const gchar *text, gdouble *out, guint max)
{
    guint count = 0;
    gchar *end = NULL;

    for (; count < max; text = end + 1) {
        out[count] = g_ascii_strtod(text, &end);
        if (end == text || !(fabs(out[count]) <= G_MAXFLOAT))
            return 0;
        count++;
        while (*end == ' ')
            end++;
        if (*end != ',')
            break;
    }
    return *end ? 0 : count;
}

/* ---------------------------------------------------------------- the input */

static void append(GString *list, gdouble number)
{
    gchar text[G_ASCII_DTOSTR_BUF_SIZE];

    if (list->len)
        g_string_append_c(list, ',');
    g_string_append(list, g_ascii_dtostr(text, sizeof(text), number));
}

/* The pairs as input-range or, one a channel, as mean and deviation of 0 to 1. */
static void fill_ranges(struct gst_tdl_sources *s, gdouble pairs[3][2], guint count)
{
    GString *range = g_string_new(NULL), *mean = g_string_new(NULL),
            *deviation = g_string_new(NULL);

    append(range, count == 1 ? pairs[0][0] : 0);
    append(range, count == 1 ? pairs[0][1] : 1);
    for (guint c = 0; c < 3; c++) {
        const gdouble width = pairs[c][1] - pairs[c][0];

        append(mean, count == 1 ? 0 : -pairs[c][0] / width);
        append(deviation, count == 1 ? 1 : 1 / width);
    }
    if (!*s->input_range && !*s->input_mean && !*s->input_deviation) {
        gst_tdl_sources_fill(s, "input-range", range->str);
        gst_tdl_sources_fill(s, "input-mean", mean->str);
        gst_tdl_sources_fill(s, "input-deviation", deviation->str);
    }
    g_string_free(range, TRUE);
    g_string_free(mean, TRUE);
    g_string_free(deviation, TRUE);
}

/* Their ranges are of the integers, and libtdl gives such an input real values. */
static gboolean is_quantized(const struct info *info, const gchar *group)
{
    g_autofree gchar *type = g_key_file_get_string(info->keys, group, "type", NULL);

    return type && strstr(type, "int") != NULL;
}

/* Black and white for each colour; *out_count pairs were there, 0: none that count. */
static gboolean read_ranges(const struct info *info, const gchar *group, gdouble pairs[3][2],
                            guint *out_count, GError **error)
{
    g_autofree gchar *text = g_key_file_get_string(info->keys, group, "ranges", NULL);
    g_auto(GStrv) list = text ? g_strsplit(text, ";", -1) : NULL;
    guint count = list ? g_strv_length(list) : 0;

    *out_count = 0;
    if (!text)
        return TRUE;
    while (count > 1 && !*g_strstrip(list[count - 1]))
        count--; /* a list may end with its separator */
    if (count != 1 && count != 3)
        return refuse(info, group, "ranges", "give one pair MIN,MAX, or three between semicolons",
                      error);
    for (guint i = 0; i < count; i++)
        if (parse(g_strstrip(list[i]), pairs[i], 2) != 2 || pairs[i][0] == pairs[i][1])
            return refuse(info, group, "ranges",
                          "a pair is MIN,MAX, two numbers that differ, as 0.0,255.0", error);
    if (!is_quantized(info, group))
        *out_count = count;
    return TRUE;
}

/* Sizes of a picture, where all are there. */
static void fill_size(struct gst_tdl_sources *sources, const gdouble *dims)
{
    const guint h = dims[1] == 3 ? 2 : 1;
    gchar text[2 * G_ASCII_DTOSTR_BUF_SIZE];

    if ((dims[1] != 3 && dims[3] != 3) || dims[h] < 1 || dims[h + 1] < 1)
        return;
    g_snprintf(text, sizeof(text), "%.0fx%.0f", dims[h + 1], dims[h]);
    gst_tdl_sources_fill(sources, "model-size", text);
}

/* *out_count: of a picture's, or of an output's. */
static gboolean read_dims(const struct info *info, const gchar *group, gboolean input,
                          gdouble *dims, guint *out_count, GError **error)
{
    g_autofree gchar *text = g_key_file_get_string(info->keys, group, "dims", NULL);
    guint count;

    *out_count = 0;
    if (!text)
        return TRUE;
    count = parse(text, dims, MAX_DIMS);
    for (guint i = 0; i < count; i++)
        if (dims[i] != floor(dims[i]) || dims[i] < -1 || dims[i] > G_MAXINT)
            count = 0;
    if (!count)
        return refuse(info, group, "dims", "give whole numbers, -1 for what is open, as 1,3,-1,-1",
                      error);
    if (!input || count == 4)
        *out_count = count;
    else if (g_key_file_has_key(info->keys, group, "ranges", NULL))
        return refuse(info, group, "dims", "a picture has four sizes, as 1,3,-1,-1", error);
    return TRUE;
}

/* --------------------------------------------------------------- the tensors */

static gboolean check_type(const struct info *info, const gchar *group, GError **error)
{
    static const gchar *const types[] = { "int4",    "int8",    "int16",   "int32",    "int64",
                                          "uint4",   "uint8",   "uint16",  "uint32",   "uint64",
                                          "float16", "float32", "float64", "bfloat16", NULL };
    g_autofree gchar *type = g_key_file_get_string(info->keys, group, "type", NULL);

    if (!type || g_strv_contains(types, type))
        return TRUE;
    return refuse(info, group, "type", "a data type is wanted, as float32 or uint8", error);
}

static gboolean is_col_major(const struct info *info, const gchar *group)
{
    g_autofree gchar *order = g_key_file_get_string(info->keys, group, "dims-order", NULL);

    return order && !strcmp(order, "col-major");
}

/* An output's order is a word for those who decode it, and says nothing of memory. */
static gboolean check_order(const struct info *info, const gchar *group, gboolean input,
                            GError **error)
{
    g_autofree gchar *order = g_key_file_get_string(info->keys, group, "dims-order", NULL);

    if (!order || !strcmp(order, "row-major") || (!input && !strcmp(order, "col-major")))
        return TRUE;
    return refuse(info, group, "dims-order",
                  "tdlfilter reads tensors in row-major order, which is the default", error);
}

/* The sum of the groups of tensors. */
struct tensors {
    gboolean own_ranges, own_size; /* the user has set them */
    GArray *inputs;                /* struct gst_tdl_input_options */
    GArray *ids;                   /* struct gst_tdl_output_options */
    guint outputs;
    const gchar *output; /* the last one's name */
};

/* The words about an input hold for it; the first ranges, and sizes, for all of which
 * nothing is said. */
static gboolean read_input(const struct info *info, const gchar *group, struct tensors *t,
                           struct gst_tdl_sources *sources, GError **error)
{
    struct gst_tdl_input_options said = { 0 };
    gdouble dims[MAX_DIMS], pairs[3][2];
    guint sizes, ranges;

    if (!read_dims(info, group, TRUE, dims, &sizes, error) ||
        !read_ranges(info, group, pairs, &ranges, error))
        return FALSE;
    if (sizes)
        fill_size(sources, dims);
    if (ranges)
        fill_ranges(sources, pairs, ranges);
    said.name = g_intern_string(group);
    said.has_ranges = ranges && !t->own_ranges;
    for (guint i = 0; said.has_ranges && i < 6; i++)
        said.ranges[i / 2][i % 2] = pairs[ranges == 1 ? 0 : i / 2][i % 2];
    for (guint i = 0; sizes && !t->own_size && i < 4; i++)
        said.dims[i] = dims[i];
    g_array_append_val(t->inputs, said);
    return TRUE;
}

static void note_output(const struct info *info, const gchar *group, const gdouble *dims,
                        guint rank, struct tensors *t)
{
    g_autofree gchar *id = g_key_file_get_string(info->keys, group, "id", NULL);
    struct gst_tdl_output_options said = { g_intern_string(group),
                                           id && *id ? g_intern_string(id) : NULL,
                                           is_col_major(info, group), rank };

    for (guint i = 0; i < rank; i++)
        said.dims[i] = (gint)dims[i];
    t->outputs++;
    t->output = group;
    g_array_append_val(t->ids, said);
}

static gboolean read_tensor(const struct info *info, const gchar *group, struct tensors *t,
                            struct gst_tdl_sources *sources, GError **error)
{
    g_autofree gchar *dir = g_key_file_get_string(info->keys, group, "dir", NULL);
    gboolean input = dir && !strcmp(dir, "input");
    gdouble dims[MAX_DIMS];
    guint count;

    if (!input && (!dir || strcmp(dir, "output") != 0))
        return refuse(info, group, "dir", "a tensor is \"input\" or \"output\"", error);
    if (!check_type(info, group, error) || !check_order(info, group, input, error))
        return FALSE;
    if (input)
        return read_input(info, group, t, sources, error);
    if (!read_dims(info, group, FALSE, dims, &count, error))
        return FALSE;
    note_output(info, group, dims, count, t);
    return TRUE;
}

static gboolean is_file(const gchar *key)
{
    return !strcmp(key, "labels") || !strcmp(key, "decoder-model");
}

/* A file is where this one is, if nothing else is said. */
static gchar *find_file(const struct info *info, const gchar *text)
{
    g_autofree gchar *folder = g_path_get_dirname(info->path);

    return g_path_is_absolute(text) || strstr(text, "://") ? g_strdup(text)
                                                           : g_build_filename(folder, text, NULL);
}

/* TRUE where the later reader will take this text, so that the file is named that has it. */
static gboolean check_value(const struct info *info, const gchar *key, const gchar *text,
                            GError **error)
{
    struct tdl_frame_from_tensor_params shown;
    struct tdl_frame_to_tensor_params picture;
    struct gst_tdl_settings alone;
    struct gst_tdl_links links;
    uint32_t size[2];
    gboolean ok;

    gst_tdl_settings_init(&alone);
    gst_tdl_sources_fill(&alone.sources, key, text);
    ok = gst_tdl_decode_size(&alone.sources, size, error) &&
         gst_tdl_decode_picture(&alone.sources, &picture, error) &&
         gst_tdl_output_read(&alone.sources, &shown, error);
    if (ok) {
        ok = gst_tdl_links_parse(&links, &alone.sources, error);
        gst_tdl_links_clear(&links);
    }
    gst_tdl_settings_finish(&alone);
    if (!ok)
        g_prefix_error(error, "%s: group [%s], key ", info->path, OURS);
    return ok;
}

/* Properties by their names. */
static gboolean read_ours(const struct info *info, struct gst_tdl_sources *sources, GError **error)
{
    g_auto(GStrv) keys = g_key_file_get_keys(info->keys, OURS, NULL, NULL);

    for (guint i = 0; keys && keys[i]; i++) {
        g_autofree gchar *text = g_key_file_get_string(info->keys, OURS, keys[i], NULL);

        if (text && *text && is_file(keys[i])) {
            g_autofree gchar *given = g_steal_pointer(&text);

            text = find_file(info, given);
        }
        if (!text || !gst_tdl_sources_fill(sources, keys[i], text))
            return refuse(info, OURS, keys[i],
                          "no property of tdlfilter's about models has that name and takes that "
                          "value; doc/models.md, \"Your own model\", has them",
                          error);
        if (!check_value(info, keys[i], text, error))
            return FALSE;
    }
    return TRUE;
}

static gboolean read_groups(const struct info *info, struct gst_tdl_sources *sources,
                            GError **error)
{
    g_auto(GStrv) groups = g_key_file_get_groups(info->keys, NULL);
    g_autofree gchar *id = g_key_file_get_string(info->keys, HEAD, "group-id", NULL);
    struct tensors tensors = { 0 };

    if (!check_version(info, error) || !read_ours(info, sources, error))
        return FALSE;
    tensors.own_ranges = *sources->input_range || *sources->input_mean || *sources->input_deviation;
    tensors.own_size = *sources->model_size != '\0';
    sources->group = id && *id ? g_intern_string(id) : NULL;
    g_clear_pointer(&sources->inputs, g_array_unref);
    sources->inputs = tensors.inputs =
        g_array_new(FALSE, FALSE, sizeof(struct gst_tdl_input_options));
    g_clear_pointer(&sources->outputs, g_array_unref);
    sources->outputs = tensors.ids =
        g_array_new(FALSE, FALSE, sizeof(struct gst_tdl_output_options));
    for (guint i = 0; groups[i]; i++)
        if (strcmp(groups[i], HEAD) != 0 && strcmp(groups[i], OURS) != 0 &&
            !read_tensor(info, groups[i], &tensors, sources, error))
            return FALSE;
    if (tensors.outputs == 1 && !*sources->model_output) {
        gst_tdl_sources_fill(sources, "model-output", tensors.output);
        sources->said_output = TRUE;
    }
    return TRUE;
}

/* A link to nowhere, too: what reads it says so. */
static gboolean exists(const gchar *path)
{
    return g_file_test(path, G_FILE_TEST_EXISTS) || g_file_test(path, G_FILE_TEST_IS_SYMLINK);
}

/* MODEL.modelinfo, else the same with the model's ending taken off; or NULL. */
static gchar *find(const gchar *model)
{
    g_autofree gchar *long_name = g_strconcat(model, ".modelinfo", NULL), *short_name = NULL;
    const gchar *dot = strrchr(model, '.');

    if (exists(long_name))
        return g_steal_pointer(&long_name);
    if (!dot || strchr(dot, G_DIR_SEPARATOR))
        return NULL;
    short_name = g_strdup_printf("%.*s.modelinfo", (gint)(dot - model), model);
    return exists(short_name) ? g_steal_pointer(&short_name) : NULL;
}

gboolean gst_tdl_modelinfo_apply(struct gst_tdl_sources *sources, const gchar *path, GError **error)
{
    g_autoptr(GKeyFile) keys = g_key_file_new();
    g_autofree gchar *beside = find(path);
    struct info info = { keys, beside };
    g_autoptr(GError) cause = NULL;

    if (!beside)
        return TRUE;
    if (!gst_tdl_file_check(beside, &cause) ||
        !g_key_file_load_from_file(keys, beside, G_KEY_FILE_NONE, &cause)) {
        g_autofree gchar *text = g_utf8_make_valid(cause->message, -1);

        g_set_error(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
                    "%s: %s%s Correct this file, or take it away from the model.", beside, text,
                    g_str_has_suffix(text, ".") ? "" : ".");
        return FALSE;
    }
    return read_groups(&info, sources, error);
}
