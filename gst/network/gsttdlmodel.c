/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of shared models. Its lock is held for lookups only, never while
 * a model is loaded or compiled: who wants one that somebody is at waits for its
 * entry, and a streaming thread that gives one back waits for nobody.
 */
#include "gsttdlmodel.h"

#include "gsttdlbatcher.h"
#include "model/gsttdldecode.h"
#include "base/gsttdlfile.h"
#include "model/gsttdlmodelinfo.h"
#include "model/gsttdlpreset.h"
#include "gsttdlread.h"
#include "model/gsttdlrung.h"
#include "model/gsttdlshape.h"

#include <glib/gstdio.h>

struct entry {
    struct gst_tdl_model model; /* first: an entry is found from it by a cast */
    gchar *key;
    guint users;
    gboolean loading, compiling, compiled;
    guint done, total; /* kernels, while it compiles */
    guint heard;       /* how often that was said */
};

static GMutex lock;
static GCond changed;
static GPtrArray *entries; /* struct entry *, guarded by `lock` */

/* A file that was written anew is another model, and one that is read otherwise. */
static void append_file(GString *key, const gchar *path)
{
    GStatBuf st = { 0 };

    if (*path && !gst_tdl_read_bundled(path))
        g_stat(path, &st);
    g_string_append_printf(key, "%s|%" G_GINT64_FORMAT "|%" G_GINT64_FORMAT "|", path,
                           (gint64)st.st_size, (gint64)st.st_mtime);
}

static gchar *make_key(const struct gst_tdl_sources *sources, const gchar *path)
{
    GString *key = g_string_new(NULL);
    g_autofree gchar *decoder = gst_tdl_file_path(sources->decoder_model, NULL);

    append_file(key, *path ? path : "person");
    append_file(key, decoder ? decoder : "");
    gst_tdl_sources_key(sources, key);
    return g_string_free(key, FALSE);
}

/* Graphs belong to a context. */
static gchar *make_context_key(const struct gst_tdl_model_params *params, const gchar *path)
{
    g_autofree gchar *key = make_key(params->sources, path);

    return g_strdup_printf("%p|%s", (gpointer)params->context, key);
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
    gst_tdl_batcher_free(entry->model.batcher);
    tdl_graph_destroy(&entry->model.graph);
    gst_tdl_inputs_clear(&entry->model.pictures);
    g_free(entry->model.name);
    g_free(entry->key);
    g_free(entry);
}

/* Before anybody opens the file, or asks for its date. */
static gchar *check_file(const gchar *text, GError **error)
{
    gchar *path = gst_tdl_read_bundled(text) ? g_strdup(text) : gst_tdl_file_path(text, error);

    if (path && (gst_tdl_read_bundled(path) || gst_tdl_file_check(path, error)))
        return path;
    g_prefix_error(error, "Cannot load model \"%s\": ", text);
    g_free(path);
    return NULL;
}

static const struct gst_tdl_model *acquire(const struct gst_tdl_model_params *params,
                                           const gchar *path, GError **error)
{
    gchar *key = make_context_key(params, path);
    struct entry *entry, *dead = NULL;
    gboolean ok;

    g_mutex_lock(&lock);
    entry = find(key);
    while (entry && entry->loading) {
        g_cond_wait(&changed, &lock);
        entry = find(key); /* an entry whose loading failed is gone */
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
    entry->model.look = params->sources->look;
    entry->model.name = g_strdup(*path ? path : "person");
    entry->model.finds = gst_tdl_preset_finds(entry->model.name);
    if (!entries)
        entries = g_ptr_array_new();
    g_ptr_array_add(entries, entry);
    g_mutex_unlock(&lock);

    ok = gst_tdl_read(&entry->model, params, path, error);
    if (ok)
        entry->model.batcher = gst_tdl_batcher_new(&entry->model, params, path);

    g_mutex_lock(&lock);
    entry->loading = FALSE;
    if (!ok)
        dead = unuse(entry);
    g_cond_broadcast(&changed);
    g_mutex_unlock(&lock);
    entry_free(dead);
    return ok ? &entry->model : NULL;
}

const struct gst_tdl_person *gst_tdl_model_person(const struct gst_tdl_sources *sources)
{
    const gint rung = gst_tdl_rung_of(sources);
    const gchar *name = rung == GST_TDL_NO_RUNG ? sources->model : gst_tdl_rung_name(rung);

    return gst_tdl_read_bundled(name) ? NULL : gst_tdl_person_choose(sources);
}

static gboolean is_here(const gchar *name)
{
    return gst_tdl_read_bundled(name) || gst_tdl_preset_exists(name);
}

/* The name "auto" becomes that of the model which it is now. */
static void choose_rung(struct gst_tdl_sources *sources)
{
    const gint rung = gst_tdl_rung_of(sources);

    if (rung == GST_TDL_NO_RUNG)
        return;
    g_free(sources->model);
    sources->model = g_strdup(gst_tdl_rung_name(rung));
}

/* The name "person" becomes that of the model for these frames, of those that are here. */
static void choose_person(struct gst_tdl_sources *sources)
{
    const struct gst_tdl_person *way = gst_tdl_model_person(sources);

    if (!way)
        return;
    g_free(sources->model);
    if (is_here(way->model)) {
        sources->model = g_strdup(way->model);
        gst_tdl_sources_fill(sources, "input-fit", way->fit);
    } else {
        sources->model = g_strdup(is_here("person-square") ? "person-square" : "person");
    }
}

gchar *gst_tdl_model_resolve(struct gst_tdl_sources *sources, GError **error)
{
    g_autofree gchar *path = NULL;

    choose_rung(sources);
    choose_person(sources);
    if (gst_tdl_read_bundled(sources->model)) {
        gst_tdl_preset_fill(sources);
        path = check_file(sources->model, error);
    } else if (gst_tdl_preset_apply(sources, error)) {
        path = check_file(sources->model, error);
    }
    if (path && (gst_tdl_read_bundled(path) || gst_tdl_modelinfo_apply(sources, path, error)))
        return g_steal_pointer(&path);
    return NULL;
}

/* A size that follows the frame's shape becomes that of these frames: who shares a network
 * shares its size. Noted is what it follows from. */
static gboolean settle_size(struct gst_tdl_sources *sources, gchar **out_follows, GError **error)
{
    uint32_t size[2];

    if (!gst_tdl_shape_follows(sources->model_size))
        return TRUE;
    if (!gst_tdl_decode_size(sources, size, error))
        return FALSE;
    *out_follows = g_steal_pointer(&sources->model_size);
    sources->model_size = g_strdup_printf("%ux%u", size[1], size[0]);
    return TRUE;
}

const struct gst_tdl_model *gst_tdl_model_acquire(const struct gst_tdl_model_params *params,
                                                  gchar **out_follows, GError **error)
{
    struct gst_tdl_model_params resolved = *params;
    const struct gst_tdl_model *model = NULL;
    struct gst_tdl_sources sources;
    g_autofree gchar *path = NULL;

    gst_tdl_sources_copy(params->sources, &sources);
    resolved.sources = &sources;
    path = gst_tdl_model_resolve(&sources, error);
    *out_follows = NULL;
    if (path && settle_size(&sources, out_follows, error))
        model = acquire(&resolved, path, error);
    /* A file that fixes its picture follows nothing. */
    if (*out_follows && (!model || gst_tdl_model_misfits(model, &sources)))
        g_clear_pointer(out_follows, g_free);
    gst_tdl_sources_clear(&sources);
    return model;
}

gchar *gst_tdl_model_key(const struct gst_tdl_sources *sources)
{
    struct gst_tdl_sources resolved;
    g_autofree gchar *path = NULL;
    gchar *key = NULL;

    gst_tdl_sources_copy(sources, &resolved);
    path = gst_tdl_model_resolve(&resolved, NULL);
    if (path)
        key = make_key(&resolved, path);
    gst_tdl_sources_clear(&resolved);
    return key;
}

gboolean gst_tdl_model_misfits(const struct gst_tdl_model *model,
                               const struct gst_tdl_sources *sources)
{
    uint32_t size[2];

    return gst_tdl_decode_size(sources, size, NULL) &&
           !gst_tdl_model_takes(model, size[1], size[0]);
}

gboolean gst_tdl_model_takes(const struct gst_tdl_model *model, gint width, gint height)
{
    const struct tdl_tensor_params *p = model->input_params;

    return p->shape[1] == (guint)height && p->shape[2] == (guint)width;
}

GError *gst_tdl_model_notice(const struct gst_tdl_model *model,
                             const struct gst_tdl_sources *sources)
{
    const struct tdl_tensor_params *p = model->input_params;

    if (model->stray)
        return g_error_new(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                           "The .modelinfo file of model \"%s\" speaks of an input \"%s\", and it "
                           "has none of that name: \"%s\" gets the frame. Give the group [%s] the "
                           "name of the input that it is for.",
                           model->name, model->stray, model->input, model->stray);
    if (!*sources->model_size || !strcmp(sources->model_size, "frame") ||
        !gst_tdl_model_misfits(model, sources))
        return NULL;
    return g_error_new(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                       "model-size=%s changes nothing: the file of model \"%s\" fixes its picture, "
                       "which has %ux%u px. Leave model-size empty.",
                       sources->model_size, model->name, p->shape[2], p->shape[1]);
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
    compiler->entry->heard++;
    g_cond_broadcast(&changed);
    g_mutex_unlock(&lock);
    return compiler->progress(compiler->data, done, total);
}

/* Until nobody is at it. FALSE: cancelled. Call with the lock held. */
static gboolean wait_for_compiler(struct entry *entry, tdl_progress_fn progress, void *data)
{
    while (entry->compiling) {
        guint done = entry->done, total = entry->total, heard = entry->heard;
        bool more;

        g_mutex_unlock(&lock);
        more = progress(data, done, total);
        g_mutex_lock(&lock);
        if (!more)
            return FALSE;
        while (entry->compiling && entry->heard == heard)
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
