/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of shared models. Its lock is held for lookups only, never while
 * a model is loaded or compiled: who wants one that somebody is at waits for its
 * entry, and a streaming thread that gives one back waits for nobody.
 */
#include "gsttdlmodel.h"

#include <tdl/models.h>

#include "gsttdldecode.h"
#include "gsttdlfile.h"
#include "gsttdlmodelinfo.h"
#include "gsttdlmodels.h"
#include "gsttdlpreset.h"

#include <glib/gstdio.h>

struct entry {
    struct gst_tdl_model model; /* first: an entry is found from it by a cast */
    gchar *key;
    guint users;
    gboolean loading, compiling, compiled;
    guint done, total; /* kernels, while it compiles */
};

static GMutex lock;
static GCond changed;
static GPtrArray *entries; /* of struct entry *, guarded by `lock` */

static const struct tdl_model *find_bundled(const gchar *name)
{
    if (!*name)
        name = "person";
    for (gsize i = 0; i < tdl_model_count; i++)
        if (!g_strcmp0(tdl_models[i].name, name))
            return &tdl_models[i];
    return NULL;
}

/* A file that was written anew is another model, and one that is read otherwise. */
static gchar *make_key(const struct gst_tdl_model_params *params, const gchar *path)
{
    const struct gst_tdl_sources *s = params->sources;
    GString *key = g_string_new(NULL);
    GStatBuf st = { 0 };

    if (!find_bundled(path))
        g_stat(path, &st);
    g_string_printf(
        key, "%p|%d|%d|%s|%" G_GINT64_FORMAT "|%" G_GINT64_FORMAT "|%d|%d|%d|%s|%s|%s|%s|%s|%g|%g",
        (void *)params->context, s->precision, s->fuse, *path ? path : "person", (gint64)st.st_size,
        (gint64)st.st_mtime, s->decoder, s->input_fit, s->input_order, s->model_size,
        s->model_output, s->input_range, s->input_mean, s->input_deviation,
        (gdouble)s->score_threshold, (gdouble)s->iou_threshold);
    g_string_append_printf(key, "|%d|%d|%s|%s|%s|%s", s->output, s->colormap, s->output_range,
                           s->palette, s->model_state, s->model_constants);
    for (guint i = 0; i < s->classes->len; i++)
        g_string_append_printf(key, "|%d", g_array_index(s->classes, gint, i));
    return g_string_free(key, FALSE);
}

static enum tdl_result import(struct tdl_builder *builder, const gchar *name,
                              const struct tdl_model_params *params)
{
    const struct tdl_model *bundled = find_bundled(name);

    if (bundled)
        return tdl_model_import(builder, bundled->data, bundled->size, params);
    return tdl_model_load(builder, name, params);
}

/* Channels of one image; 0 of what is none. */
static guint channels_of(const struct tdl_tensor_params *p)
{
    if (!p || p->rank != 4 || p->shape[0] != 1)
        return 0;
    return p->shape[p->layout == TDL_LAYOUT_NCHW ? 1 : 3];
}

static gboolean refuse(GError **error, const gchar *name, const gchar *format, ...)
    G_GNUC_PRINTF(3, 4);
static gboolean refuse(GError **error, const gchar *name, const gchar *format, ...)
{
    g_autofree gchar *why = NULL;
    va_list args;

    va_start(args, format);
    why = g_strdup_vprintf(format, args);
    va_end(args);
    g_set_error(error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                "Model \"%s\" does not fit: %s. Choose another model, or leave \"model\" empty for "
                "the bundled person model.",
                name, why);
    return FALSE;
}

/* The element feeds one picture; a mask was made of the output already. */
static gboolean check(struct gst_tdl_model *model, const gchar *name, GError **error)
{
    const struct tdl_tensor_params *in = model->input_params;

    if (channels_of(in) != 3 || in->dtype != TDL_FLOAT32)
        return refuse(
            error, name,
            "tdlfilter gives a model one picture of float32 with 3 channels, and its input "
            "\"%s\" has %u",
            model->input, channels_of(in));
    if (model->kind != GST_TDL_OUTPUT_MASK && model->fit == GST_TDL_FIT_CROP)
        return refuse(error, name,
                      "the mode shows its output for the whole frame, and input-fit=crop gives it "
                      "the middle: stretch and letterbox are possible");
    model->scale = gst_tdl_output_scale(model->kind, in, &model->image);
    return TRUE;
}

/* Which of the graph's inputs and outputs is what. *again: the file may be read once more,
 * and then, that this may mend what is wrong: no error yet. */
static gboolean find_ends(struct gst_tdl_model *model, const struct gst_tdl_links *links,
                          const gchar *name, gboolean *again, GError **error)
{
    guint picture = 0, mask = 0;
    gboolean open = FALSE;
    g_autofree gchar *fault =
        gst_tdl_states_find(links, model->graph, &model->states, &picture, &mask, &open);

    *again = *again && open;
    if (fault)
        return *again ? FALSE : refuse(error, name, "%s", fault);
    model->input_params = tdl_graph_input(model->graph, picture, &model->input);
    model->output_params = tdl_graph_output(model->graph, mask, &model->output);
    model->image = gst_tdl_decode_image(model->output_params);
    return TRUE;
}

static gboolean is_bundled_name(const gchar *name)
{
    return !*name || !strcmp(name, "person") || !strcmp(name, "person-landscape");
}

/* Builds without the bundled models may load one from a file. */
static gboolean check_bundled(const gchar *name, GError **error)
{
    if (find_bundled(name) || !is_bundled_name(name) || g_file_test(name, G_FILE_TEST_EXISTS))
        return TRUE;
    g_set_error(
        error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND,
        "This build of tdlfilter has no bundled model \"%s\": run pipelines/fetch-models.sh "
        "in its source tree, then configure and build it again (meson setup --reconfigure), "
        "or set model=FILE to a TensorFlow Lite, ONNX or ncnn model.",
        *name ? name : "person");
    return FALSE;
}

static gboolean tell(GError **error, enum tdl_result r, const gchar *path, const gchar *name)
{
    g_autofree gchar *names = gst_tdl_preset_names();

    if (r == TDL_OK)
        return TRUE;
    if (r == TDL_ERROR_IO && !g_file_test(path, G_FILE_TEST_EXISTS))
        return gst_tdl_error_set(error, r, "There is no model \"%s\" (by name: %s)", name, names);
    return gst_tdl_error_set(error, r, "Cannot load model \"%s\"", name);
}

/* The file, its output made a mask, as a graph. */
static gboolean build(struct gst_tdl_model *model, const struct gst_tdl_model_params *params,
                      struct gst_tdl_links *links, const gchar *path, const gchar *name,
                      GError **error)
{
    struct tdl_build_params build = {
        .precision = params->sources->precision,
        .no_fuse = !params->sources->fuse,
        .input_layout = TDL_LAYOUT_NC4HW4,
        .output_layout = links->state_count ? TDL_LAYOUT_NC4HW4 : TDL_LAYOUT_NHWC,
        .defer_compile = true,
    };
    struct gst_tdl_decode decode = { .sources = params->sources, .others = g_string_new(NULL) };
    struct tdl_model_params reading = { 0 };
    struct tdl_builder *builder = NULL;
    gboolean ok = gst_tdl_decode_size(params->sources, reading.size, error) &&
                  gst_tdl_decode_picture(params->sources, &model->picture, error) &&
                  gst_tdl_output_read(params->sources, &model->shown, error);
    enum tdl_result r = TDL_OK;

    gst_tdl_links_read(links, &decode, &reading);
    if (ok) {
        r = tdl_builder_create(params->context, &builder);
        if (r == TDL_OK)
            r = import(builder, path, &reading);
        if (r == TDL_ERROR_INVALID_ARGUMENT)
            r = TDL_ERROR_INVALID_MODEL; /* what was given is the file: an empty one */
        if (r == TDL_OK)
            gst_tdl_decode_finish(&decode, builder);
        if (r == TDL_OK && !decode.found)
            ok = refuse(error, name, "%s: %s", gst_tdl_decode_wanted(params->sources),
                        decode.others->str);
    }
    if (ok && r == TDL_OK)
        r = tdl_builder_build(builder, &build, &model->graph);
    ok = ok && tell(error, r, path, name);
    tdl_builder_destroy(&builder);
    gst_tdl_decode_clear(&decode);
    return ok;
}

/* Once more where the file leaves sizes of states open, with those of their outputs. */
static gboolean build_linked(struct gst_tdl_model *model, const struct gst_tdl_model_params *params,
                             const gchar *path, const gchar *name, GError **error)
{
    struct gst_tdl_links links;
    gboolean ok = gst_tdl_links_parse(&links, params->sources, error), again = TRUE;

    while (ok) {
        ok = build(model, params, &links, path, name, error);
        if (!ok || find_ends(model, &links, name, &again, error))
            break;
        ok = again;
        again = FALSE;
        tdl_graph_destroy(&model->graph);
        gst_tdl_links_resize(&links);
    }
    gst_tdl_links_clear(&links);
    return ok;
}

static gboolean load(struct gst_tdl_model *model, const struct gst_tdl_model_params *params,
                     const gchar *path, GError **error)
{
    const gchar *name = *path ? path : "person";

    model->kind = params->sources->output;
    if (check_bundled(path, error) && build_linked(model, params, path, name, error) &&
        check(model, name, error))
        return TRUE;
    tdl_graph_destroy(&model->graph);
    return FALSE;
}

static struct entry *find(const gchar *key)
{
    for (guint i = 0; entries && i < entries->len; i++) {
        struct entry *entry = g_ptr_array_index(entries, i);

        if (!g_strcmp0(entry->key, key))
            return entry;
    }
    return NULL;
}

/* Drop a user; frees the entry with the last one. Call with the lock held. */
static struct entry *unuse(struct entry *entry)
{
    if (--entry->users)
        return NULL;
    g_ptr_array_remove_fast(entries, entry);
    if (!entries->len)
        g_clear_pointer(&entries, g_ptr_array_unref);
    return entry;
}

static void entry_free(struct entry *entry)
{
    if (!entry)
        return;
    tdl_graph_destroy(&entry->model.graph);
    g_free(entry->model.name);
    g_free(entry->key);
    g_free(entry);
}

/* Before anybody opens the file, or asks for its date. */
static gchar *check_file(const gchar *text, GError **error)
{
    gchar *path = find_bundled(text) ? g_strdup(text) : gst_tdl_file_path(text, error);

    if (path && (find_bundled(path) || gst_tdl_file_check(path, error)))
        return path;
    g_prefix_error(error, "Cannot load model \"%s\": ", text);
    g_free(path);
    return NULL;
}

static const struct gst_tdl_model *acquire(const struct gst_tdl_model_params *params,
                                           const gchar *path, GError **error)
{
    gchar *key = make_key(params, path);
    struct entry *entry, *dead = NULL;
    gboolean ok;

    g_mutex_lock(&lock);
    entry = find(key);
    while (entry && entry->loading) {
        g_cond_wait(&changed, &lock);
        entry = find(key); /* it is gone if its loading failed */
    }
    if (entry) {
        entry->users++;
        g_mutex_unlock(&lock);
        g_free(key);
        return &entry->model;
    }
    entry = g_new0(struct entry, 1);
    entry->key = key;
    entry->users = 1;
    entry->loading = TRUE;
    entry->model.fit = params->sources->input_fit;
    entry->model.name = g_strdup(*path ? path : "person");
    if (!entries)
        entries = g_ptr_array_new();
    g_ptr_array_add(entries, entry);
    g_mutex_unlock(&lock);

    ok = load(&entry->model, params, path, error);

    g_mutex_lock(&lock);
    entry->loading = FALSE;
    if (!ok)
        dead = unuse(entry);
    g_cond_broadcast(&changed);
    g_mutex_unlock(&lock);
    entry_free(dead);
    return ok ? &entry->model : NULL;
}

const struct gst_tdl_model *gst_tdl_model_acquire(const struct gst_tdl_model_params *params,
                                                  GError **error)
{
    struct gst_tdl_model_params resolved = *params;
    const struct gst_tdl_model *model = NULL;
    struct gst_tdl_sources sources;
    g_autofree gchar *path = NULL;

    gst_tdl_sources_copy(params->sources, &sources);
    resolved.sources = &sources;
    if (is_bundled_name(sources.model) || gst_tdl_preset_apply(&sources, error))
        path = check_file(sources.model, error);
    if (path && (find_bundled(path) || gst_tdl_modelinfo_apply(&sources, path, error)))
        model = acquire(&resolved, path, error);
    gst_tdl_sources_clear(&sources);
    return model;
}

gboolean gst_tdl_model_takes(const struct gst_tdl_model *model, gint width, gint height)
{
    const struct tdl_tensor_params *p = model->input_params;
    const guint first = p->layout == TDL_LAYOUT_NCHW ? 2 : 1;

    return p->shape[first] == (guint)height && p->shape[first + 1] == (guint)width;
}

/* The one who compiles, telling those who wait. */
struct compiler {
    struct entry *entry;
    tdl_progress_fn progress;
    void *data;
};

static bool on_progress(void *data, uint32_t done, uint32_t total)
{
    struct compiler *compiler = data;

    g_mutex_lock(&lock);
    compiler->entry->done = done;
    compiler->entry->total = total;
    g_cond_broadcast(&changed);
    g_mutex_unlock(&lock);
    return compiler->progress(compiler->data, done, total);
}

/* Until nobody is at it. FALSE: cancelled. Call with the lock held. */
static gboolean wait_for_compiler(struct entry *entry, tdl_progress_fn progress, void *data)
{
    while (entry->compiling) {
        guint done = entry->done, total = entry->total;
        bool more;

        g_mutex_unlock(&lock);
        more = progress(data, done, total);
        g_mutex_lock(&lock);
        if (!more)
            return FALSE;
        while (entry->compiling && entry->done == done)
            g_cond_wait(&changed, &lock);
    }
    return TRUE;
}

enum tdl_result gst_tdl_model_compile(const struct gst_tdl_model *model, tdl_progress_fn progress,
                                      void *progress_data)
{
    struct entry *entry = (struct entry *)model;
    struct compiler compiler = { entry, progress, progress_data };
    struct tdl_compile_params params = { .progress = on_progress, .progress_data = &compiler };
    enum tdl_result r = TDL_OK;
    gboolean mine;

    g_mutex_lock(&lock);
    if (!wait_for_compiler(entry, progress, progress_data)) {
        g_mutex_unlock(&lock);
        return TDL_ERROR_CANCELED;
    }
    mine = !entry->compiled;
    entry->compiling = mine;
    entry->done = entry->total = 0;
    g_mutex_unlock(&lock);
    if (!mine)
        return TDL_OK;

    r = tdl_graph_compile(entry->model.graph, &params);

    g_mutex_lock(&lock);
    entry->compiling = FALSE;
    entry->compiled = r == TDL_OK;
    g_cond_broadcast(&changed);
    g_mutex_unlock(&lock);
    return r;
}

void gst_tdl_model_release(const struct gst_tdl_model **model)
{
    struct entry *dead;

    if (!*model)
        return;
    g_mutex_lock(&lock);
    dead = unuse((struct entry *)*model);
    g_mutex_unlock(&lock);
    entry_free(dead);
    *model = NULL;
}
