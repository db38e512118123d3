/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdlfirst.h"

#define BUSY GST_FLOW_CUSTOM_SUCCESS

/* The thread's load, with all that it needs, as nobody waits for it. */
struct gst_tdl_first_load_job {
    struct gst_tdl_first_load *begin; /* lives in the element, which the thread holds */
    struct gst_tdl_device *device;
    struct gst_tdl_sources sources;
    gboolean dropped; /* nobody wants it any more; guarded by begin->lock */
};

void gst_tdl_first_load_init(struct gst_tdl_first_load *begin, GstElement *element,
                             const struct gst_tdl_first_load_calls *calls)
{
    *begin = (struct gst_tdl_first_load){
        .element = element, .calls = calls, .model = GST_FLOW_FLUSHING, .network = GST_FLOW_FLUSHING
    };
    g_mutex_init(&begin->lock);
    g_cond_init(&begin->changed);
}

void gst_tdl_first_load_finish(struct gst_tdl_first_load *begin)
{
    g_mutex_clear(&begin->lock);
    g_cond_clear(&begin->changed);
}

static gboolean is_cancelled(gpointer data)
{
    struct gst_tdl_first_load *begin = data;
    gboolean cancelled;

    g_mutex_lock(&begin->lock);
    cancelled = begin->cancelled;
    g_mutex_unlock(&begin->lock);
    return cancelled;
}

bool gst_tdl_first_load_goes_on(void *begin, uint32_t done, uint32_t total)
{
    (void)done;
    (void)total;
    return !is_cancelled(begin);
}

static void note(struct gst_tdl_first_load *begin, GstFlowReturn *flow, GstFlowReturn value)
{
    g_mutex_lock(&begin->lock);
    *flow = value;
    g_cond_broadcast(&begin->changed);
    g_mutex_unlock(&begin->lock);
}

/* The thread is waited for from now on, unless what it loaded is not wanted. */
static gboolean end_loading(struct gst_tdl_first_load_job *job)
{
    struct gst_tdl_first_load *begin = job->begin;
    gboolean wanted;

    g_mutex_lock(&begin->lock);
    wanted = !job->dropped;
    if (wanted)
        begin->job = NULL;
    g_mutex_unlock(&begin->lock);
    return wanted;
}

/* FALSE: failed, or cancelled. */
static gboolean compile(struct gst_tdl_first_load *begin, struct gst_tdl_infer *infer,
                        struct tdl_context *context)
{
    struct gst_tdl_progress progress = { .element = begin->element,
                                         .cancelled = is_cancelled,
                                         .data = begin };
    GError *error = NULL;
    gboolean ok = gst_tdl_infer_compile(infer, context, &progress, &error);

    if (ok)
        error = gst_tdl_infer_notice(infer, 0);
    if (error)
        gst_tdl_error_post(begin->element, ok ? GST_MESSAGE_WARNING : GST_MESSAGE_ERROR, error);
    return ok;
}

/* The model to the element, and its network made. */
static void hand_over(struct gst_tdl_first_load_job *job, struct gst_tdl_infer *infer)
{
    struct gst_tdl_first_load *begin = job->begin;
    gboolean ok;

    begin->calls->loaded(begin->element, infer, &job->sources);
    note(begin, &begin->model, GST_FLOW_OK);
    ok = compile(begin, infer, job->device->context);
    if (ok)
        begin->calls->compiled(begin->element);
    note(begin, &begin->network,
         ok                    ? GST_FLOW_OK
         : is_cancelled(begin) ? GST_FLOW_FLUSHING
                               : GST_FLOW_ERROR);
}

static void job_free(struct gst_tdl_first_load_job *job)
{
    gst_tdl_sources_clear(&job->sources);
    gst_tdl_device_unref(job->device);
    gst_object_unref(job->begin->element);
    g_free(job);
}

static gpointer run(gpointer data)
{
    struct gst_tdl_first_load_job *job = data;
    struct gst_tdl_first_load *begin = job->begin;
    const struct gst_tdl_model_params params = { job->device->context, &job->sources };
    struct gst_tdl_infer *infer;
    GError *error = NULL;

    g_mutex_lock(&begin->lock);
    if (!job->dropped)
        begin->worker = g_thread_self();
    g_mutex_unlock(&begin->lock);
    infer = gst_tdl_infer_new(&params, &error);
    if (!end_loading(job)) {
        gst_tdl_infer_free(infer);
        g_clear_error(&error);
    } else if (infer) {
        hand_over(job, infer);
    } else {
        gst_tdl_error_post(begin->element, GST_MESSAGE_ERROR, error);
        note(begin, &begin->network, GST_FLOW_ERROR);
        note(begin, &begin->model, GST_FLOW_ERROR);
    }
    job_free(job);
    return NULL;
}

gboolean gst_tdl_first_load_start(struct gst_tdl_first_load *begin, struct gst_tdl_device *device,
                                  const struct gst_tdl_sources *sources)
{
    struct gst_tdl_first_load_job *job = g_new0(struct gst_tdl_first_load_job, 1);
    GError *error = NULL;

    job->begin = begin;
    job->device = gst_tdl_device_ref(device);
    gst_object_ref(begin->element);
    gst_tdl_sources_copy(sources, &job->sources);
    g_mutex_lock(&begin->lock);
    begin->job = job;
    begin->cancelled = begin->flushing = FALSE;
    begin->model = begin->network = BUSY;
    g_mutex_unlock(&begin->lock);
    begin->thread = g_thread_try_new("tdl-compile", run, job, NULL);
    if (begin->thread)
        return TRUE;
    g_mutex_lock(&begin->lock);
    begin->job = NULL;
    begin->model = begin->network = GST_FLOW_ERROR;
    g_mutex_unlock(&begin->lock);
    job_free(job);
    g_set_error(&error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
                "There is no thread to load the network in. " GST_TDL_THREAD_ADVICE);
    gst_tdl_error_post(begin->element, GST_MESSAGE_ERROR, error);
    return FALSE;
}

void gst_tdl_first_load_stop(struct gst_tdl_first_load *begin)
{
    gboolean loads;

    gst_tdl_first_load_cancel(begin);
    g_mutex_lock(&begin->lock);
    loads = begin->job != NULL;
    if (loads)
        begin->job->dropped = TRUE;
    begin->job = NULL;
    begin->model = begin->network = GST_FLOW_FLUSHING;
    g_mutex_unlock(&begin->lock);
    if (loads)
        g_clear_pointer(&begin->thread, g_thread_unref);
    else
        g_clear_pointer(&begin->thread, g_thread_join);
}

void gst_tdl_first_load_cancel(struct gst_tdl_first_load *begin)
{
    g_mutex_lock(&begin->lock);
    begin->cancelled = TRUE;
    g_cond_broadcast(&begin->changed);
    g_mutex_unlock(&begin->lock);
}

void gst_tdl_first_load_set_flushing(struct gst_tdl_first_load *begin, gboolean flushing)
{
    g_mutex_lock(&begin->lock);
    begin->flushing = flushing;
    g_cond_broadcast(&begin->changed);
    g_mutex_unlock(&begin->lock);
}

/* TRUE where the caller is to wait on; the thread does not for itself. Call with the lock
 * held. */
static gboolean is_busy(const struct gst_tdl_first_load *begin, GstFlowReturn flow)
{
    return flow == BUSY && !begin->cancelled && !begin->flushing &&
           begin->worker != g_thread_self();
}

GstFlowReturn gst_tdl_first_load_wait_model(struct gst_tdl_first_load *begin, gint64 patience)
{
    const gint64 end = g_get_monotonic_time() + patience;
    gboolean in_time = TRUE;
    GstFlowReturn flow;

    g_mutex_lock(&begin->lock);
    while (in_time && is_busy(begin, begin->model)) {
        if (patience < 0)
            g_cond_wait(&begin->changed, &begin->lock);
        else
            in_time = g_cond_wait_until(&begin->changed, &begin->lock, end);
    }
    flow = begin->model == BUSY && in_time ? GST_FLOW_FLUSHING : begin->model;
    g_mutex_unlock(&begin->lock);
    return flow;
}

GstFlowReturn gst_tdl_first_load_wait(struct gst_tdl_first_load *begin)
{
    GstFlowReturn flow;

    g_mutex_lock(&begin->lock);
    while (is_busy(begin, begin->network))
        g_cond_wait(&begin->changed, &begin->lock);
    flow = begin->network == BUSY ? GST_FLOW_FLUSHING : begin->network;
    g_mutex_unlock(&begin->lock);
    return flow;
}
