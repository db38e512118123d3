/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdlreload.h"

#define LOCK(reload) GST_OBJECT_LOCK((reload)->element)
#define UNLOCK(reload) GST_OBJECT_UNLOCK((reload)->element)

/* The load of a helper thread. */
struct job {
    struct gst_tdl_reload *reload; /* lives in the element, which the thread holds */
    enum gst_tdl_reload_kind which;
    struct gst_tdl_sources sources;
    struct gst_tdl_device *device;
    struct tdl_frame frame;
    gboolean beside;
    guint serial;
};

void gst_tdl_reload_init(struct gst_tdl_reload *reload, GstElement *element,
                         const struct gst_tdl_sources *sources)
{
    *reload = (struct gst_tdl_reload){ .element = element, .sources = sources };
}

static void loaded_clear(struct gst_tdl_reload_result *loaded)
{
    gst_tdl_infer_free(loaded->infer);
    gst_tdl_picture_free(loaded->picture);
    *loaded = (struct gst_tdl_reload_result){ NULL };
}

/* FALSE when there is nothing (more) to load. */
static gboolean job_begin(struct job *job)
{
    struct gst_tdl_reload *reload = job->reload;
    gboolean more;

    LOCK(reload);
    more = reload->device &&
           reload->requests[job->which].serial != reload->requests[job->which].started;
    reload->requests[job->which].loading = more;
    if (more) {
        job->serial = reload->requests[job->which].started = reload->requests[job->which].serial;
        job->device = gst_tdl_device_ref(reload->device);
        gst_tdl_sources_copy(reload->sources, &job->sources);
        job->sources.precision = reload->precision;
        job->sources.fuse = reload->fuse;
        job->sources.rung = reload->rung;
        job->frame = reload->frame;
        job->beside = reload->beside;
    }
    UNLOCK(reload);
    return more;
}

static void job_end(struct job *job)
{
    g_clear_pointer(&job->device, gst_tdl_device_unref);
    gst_tdl_sources_clear(&job->sources);
}

/* Is somebody still waiting for it? */
static gboolean job_outdated(gpointer data)
{
    const struct job *job = data;
    gboolean outdated;

    LOCK(job->reload);
    outdated = !job->reload->device || job->reload->requests[job->which].serial != job->serial;
    UNLOCK(job->reload);
    return outdated;
}

static struct gst_tdl_infer *job_load_model(struct job *job,
                                            const struct gst_tdl_model_params *params,
                                            GError **error)
{
    struct gst_tdl_progress progress = { .element = job->reload->element,
                                         .cancelled = job_outdated,
                                         .data = job };
    struct gst_tdl_infer *infer = gst_tdl_infer_new(params, error);

    if (infer)
        infer->beside = job->beside;
    if (infer && !gst_tdl_infer_compile(infer, job->device->context, &progress, error))
        g_clear_pointer(&infer, gst_tdl_infer_free);
    /* Frames would wait for it. A later caller gets the error that is kept. */
    if (infer && job->frame.width)
        gst_tdl_infer_prepare(infer, &job->frame, NULL);
    return infer;
}

static struct gst_tdl_reload_result job_load(struct job *job, GError **error)
{
    struct gst_tdl_reload_result loaded = { .has_picture = job->which == GST_TDL_RELOAD_PICTURE };
    struct gst_tdl_model_params params = {
        .context = job->device->context,
        .sources = &job->sources,
    };

    if (job->which == GST_TDL_RELOAD_MODEL)
        loaded.infer = job_load_model(job, &params, error);
    else if (*job->sources.background)
        loaded.picture = gst_tdl_picture_load(job->device->context, job->sources.background,
                                              GST_TDL_PICTURE_BACKGROUND, error);
    return loaded;
}

/* Hands the result to the streaming thread; leaves in `loaded` what is outdated. */
static void job_hand_over(const struct job *job, struct gst_tdl_reload_result *loaded)
{
    struct gst_tdl_reload *reload = job->reload;
    struct gst_tdl_reload_result *ready = &reload->ready, old;

    LOCK(reload);
    old = *ready;
    if (!reload->device || reload->requests[job->which].serial != job->serial) {
        /* outdated */
    } else if (job->which == GST_TDL_RELOAD_MODEL) {
        ready->serial = job->serial;
        ready->failed = loaded->failed;
        if (!loaded->failed) {
            ready->infer = loaded->infer;
            loaded->infer = old.infer;
        }
    } else {
        ready->picture = loaded->picture;
        ready->has_picture = TRUE;
        loaded->picture = old.picture;
    }
    UNLOCK(reload);
}

static void job_run(GstElement *element, gpointer data)
{
    struct job *job = data;

    while (job_begin(job)) {
        GError *error = NULL;
        struct gst_tdl_reload_result loaded = job_load(job, &error);

        if (error && job_outdated(job)) { /* by a property that was set since */
            g_error_free(error);
        } else if (error) {
            gst_tdl_error_post(element, GST_MESSAGE_WARNING, error);
            loaded.failed = job->which == GST_TDL_RELOAD_MODEL;
            if (loaded.failed)
                job_hand_over(job, &loaded);
        } else {
            error = loaded.infer ? gst_tdl_model_notice(loaded.infer->model, &job->sources)
                                 : gst_tdl_picture_notice(loaded.picture, job->sources.background,
                                                          GST_TDL_PICTURE_BACKGROUND);
            if (error)
                gst_tdl_error_post(element, GST_MESSAGE_WARNING, error);
            error = loaded.infer ? gst_tdl_infer_notice(loaded.infer, 0) : NULL;
            if (error)
                gst_tdl_error_post(element, GST_MESSAGE_WARNING, error);
            job_hand_over(job, &loaded);
        }
        loaded_clear(&loaded);
        job_end(job);
    }
}

void gst_tdl_reload_begin(struct gst_tdl_reload *reload)
{
    reload->precision = reload->sources->precision;
    reload->fuse = reload->sources->fuse;
    reload->rung = reload->sources->rung;
    reload->beside = FALSE;
    reload->frame = (struct tdl_frame){ 0 };
    for (guint i = 0; i < GST_TDL_RELOAD_KINDS; i++)
        reload->requests[i].serial_before = reload->requests[i].serial;
}

/* Get a helper thread to work, if there is something to do and none is. */
static void kick(struct gst_tdl_reload *reload, enum gst_tdl_reload_kind which)
{
    struct job *job;
    gboolean start;

    LOCK(reload);
    start = reload->device && !reload->requests[which].loading &&
            reload->requests[which].serial != reload->requests[which].started;
    reload->requests[which].loading |= start;
    UNLOCK(reload);
    if (!start)
        return;
    job = g_new0(struct job, 1);
    job->reload = reload;
    job->which = which;
    gst_element_call_async(reload->element, job_run, job, g_free);
}

void gst_tdl_reload_start(struct gst_tdl_reload *reload, struct gst_tdl_device *device)
{
    LOCK(reload);
    reload->device = gst_tdl_device_ref(device);
    for (guint i = 0; i < GST_TDL_RELOAD_KINDS; i++)
        reload->requests[i].started = reload->requests[i].serial_before;
    UNLOCK(reload);
    for (guint i = 0; i < GST_TDL_RELOAD_KINDS; i++)
        kick(reload, i);
}

void gst_tdl_reload_stop(struct gst_tdl_reload *reload)
{
    struct gst_tdl_reload_result loaded;
    struct gst_tdl_device *device;

    LOCK(reload);
    device = g_steal_pointer(&reload->device);
    loaded = reload->ready;
    reload->ready = (struct gst_tdl_reload_result){ NULL };
    for (guint i = 0; i < GST_TDL_RELOAD_KINDS; i++)
        reload->requests[i].serial++;
    UNLOCK(reload);
    loaded_clear(&loaded);
    g_clear_pointer(&device, gst_tdl_device_unref);
}

void gst_tdl_reload_request(struct gst_tdl_reload *reload, enum gst_tdl_reload_kind which)
{
    LOCK(reload);
    reload->requests[which].serial++;
    UNLOCK(reload);
    kick(reload, which);
}

guint gst_tdl_reload_request_rung(struct gst_tdl_reload *reload, gint rung, gboolean beside,
                                  const struct tdl_frame *frame)
{
    guint serial;

    LOCK(reload);
    reload->rung = rung;
    reload->beside = beside;
    reload->frame = *frame;
    serial = ++reload->requests[GST_TDL_RELOAD_MODEL].serial;
    UNLOCK(reload);
    kick(reload, GST_TDL_RELOAD_MODEL);
    return serial;
}

void gst_tdl_reload_keep_rung(struct gst_tdl_reload *reload, gint rung)
{
    LOCK(reload);
    reload->rung = rung;
    reload->beside = FALSE;
    UNLOCK(reload);
}

struct gst_tdl_reload_result gst_tdl_reload_take(struct gst_tdl_reload *reload)
{
    struct gst_tdl_reload_result loaded;

    LOCK(reload);
    loaded = reload->ready;
    reload->ready = (struct gst_tdl_reload_result){ NULL };
    UNLOCK(reload);
    return loaded;
}
