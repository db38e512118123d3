/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdlfirstload.h"

#define BUSY GST_FLOW_CUSTOM_SUCCESS

/* The thread's load, with all that it needs, as nobody waits for it. */
struct gst_tdl_first_load_job {
    struct gst_tdl_first_load *first_load; /* lives in the element, which the thread holds */
    struct gst_tdl_device *device;
    struct gst_tdl_sources sources;
    gboolean dropped; /* nobody wants it any more; guarded by first_load->lock */
};

void gst_tdl_first_load_init(struct gst_tdl_first_load *first_load, GstElement *element,
                             const struct gst_tdl_first_load_calls *calls)
{
    *first_load = (struct gst_tdl_first_load){
        .element = element, .calls = calls, .model = GST_FLOW_FLUSHING, .network = GST_FLOW_FLUSHING
    };
    g_mutex_init(&first_load->lock);
    g_cond_init(&first_load->changed);
}

void gst_tdl_first_load_finish(struct gst_tdl_first_load *first_load)
{
    g_mutex_clear(&first_load->lock);
    g_cond_clear(&first_load->changed);
}

static gboolean is_cancelled(gpointer data)
{
    struct gst_tdl_first_load *first_load = data;
    gboolean cancelled;

    g_mutex_lock(&first_load->lock);
    cancelled = first_load->cancelled;
    g_mutex_unlock(&first_load->lock);
    return cancelled;
}

bool gst_tdl_first_load_goes_on(void *first_load, uint32_t done, uint32_t total)
{
    (void)done;
    (void)total;
    return !is_cancelled(first_load);
}

static void note(struct gst_tdl_first_load *first_load, GstFlowReturn *flow, GstFlowReturn value)
{
    g_mutex_lock(&first_load->lock);
    *flow = value;
    g_cond_broadcast(&first_load->changed);
    g_mutex_unlock(&first_load->lock);
}

/* The thread is waited for from now on, unless what it loaded is not wanted. */
static gboolean end_loading(struct gst_tdl_first_load_job *job)
{
    struct gst_tdl_first_load *first_load = job->first_load;
    gboolean wanted;

    g_mutex_lock(&first_load->lock);
    wanted = !job->dropped;
    if (wanted)
        first_load->job = NULL;
    g_mutex_unlock(&first_load->lock);
    return wanted;
}

/* FALSE: failed, or cancelled. */
static gboolean compile(struct gst_tdl_first_load *first_load, struct gst_tdl_infer *infer,
                        struct tdl_context *context)
{
    struct gst_tdl_progress progress = { .element = first_load->element,
                                         .cancelled = is_cancelled,
                                         .data = first_load };
    GError *error = NULL;
    gboolean ok = gst_tdl_infer_compile(infer, context, &progress, &error);

    if (ok)
        error = gst_tdl_infer_notice(infer, 0);
    if (error)
        gst_tdl_error_post(first_load->element, ok ? GST_MESSAGE_WARNING : GST_MESSAGE_ERROR,
                           error);
    return ok;
}

/* The model to the element, and its network made. */
static void hand_over(struct gst_tdl_first_load_job *job, struct gst_tdl_infer *infer)
{
    struct gst_tdl_first_load *first_load = job->first_load;
    gboolean ok;

    first_load->calls->loaded(first_load->element, infer, &job->sources);
    note(first_load, &first_load->model, GST_FLOW_OK);
    ok = compile(first_load, infer, job->device->context);
    if (ok)
        first_load->calls->compiled(first_load->element);
    note(first_load, &first_load->network,
         ok                         ? GST_FLOW_OK
         : is_cancelled(first_load) ? GST_FLOW_FLUSHING
                                    : GST_FLOW_ERROR);
}

static void job_free(struct gst_tdl_first_load_job *job)
{
    gst_tdl_sources_clear(&job->sources);
    gst_tdl_device_unref(job->device);
    gst_object_unref(job->first_load->element);
    g_free(job);
}

static gpointer run(gpointer data)
{
    struct gst_tdl_first_load_job *job = data;
    struct gst_tdl_first_load *first_load = job->first_load;
    const struct gst_tdl_model_params params = { job->device->context, &job->sources };
    struct gst_tdl_infer *infer;
    GError *error = NULL;

    g_mutex_lock(&first_load->lock);
    if (!job->dropped)
        first_load->worker = g_thread_self();
    g_mutex_unlock(&first_load->lock);
    infer = gst_tdl_infer_new(&params, &error);
    if (!end_loading(job)) {
        gst_tdl_infer_free(infer);
        g_clear_error(&error);
    } else if (infer) {
        hand_over(job, infer);
    } else {
        gst_tdl_error_post(first_load->element, GST_MESSAGE_ERROR, error);
        note(first_load, &first_load->network, GST_FLOW_ERROR);
        note(first_load, &first_load->model, GST_FLOW_ERROR);
    }
    job_free(job);
    return NULL;
}

gboolean gst_tdl_first_load_start(struct gst_tdl_first_load *first_load,
                                  struct gst_tdl_device *device,
                                  const struct gst_tdl_sources *sources)
{
    struct gst_tdl_first_load_job *job = g_new0(struct gst_tdl_first_load_job, 1);
    GError *error = NULL;

    job->first_load = first_load;
    job->device = gst_tdl_device_ref(device);
    gst_object_ref(first_load->element);
    gst_tdl_sources_copy(sources, &job->sources);
    g_mutex_lock(&first_load->lock);
    first_load->job = job;
    first_load->cancelled = first_load->flushing = FALSE;
    first_load->model = first_load->network = BUSY;
    g_mutex_unlock(&first_load->lock);
    first_load->thread = g_thread_try_new("tdl-compile", run, job, NULL);
    if (first_load->thread)
        return TRUE;
    g_mutex_lock(&first_load->lock);
    first_load->job = NULL;
    first_load->model = first_load->network = GST_FLOW_ERROR;
    g_mutex_unlock(&first_load->lock);
    job_free(job);
    g_set_error(&error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
                "There is no thread to load the network in. " GST_TDL_THREAD_ADVICE);
    gst_tdl_error_post(first_load->element, GST_MESSAGE_ERROR, error);
    return FALSE;
}

void gst_tdl_first_load_stop(struct gst_tdl_first_load *first_load)
{
    gboolean loads;

    gst_tdl_first_load_cancel(first_load);
    g_mutex_lock(&first_load->lock);
    loads = first_load->job != NULL;
    if (loads)
        first_load->job->dropped = TRUE;
    first_load->job = NULL;
    first_load->model = first_load->network = GST_FLOW_FLUSHING;
    g_mutex_unlock(&first_load->lock);
    if (loads)
        g_clear_pointer(&first_load->thread, g_thread_unref);
    else
        g_clear_pointer(&first_load->thread, g_thread_join);
}

void gst_tdl_first_load_cancel(struct gst_tdl_first_load *first_load)
{
    g_mutex_lock(&first_load->lock);
    first_load->cancelled = TRUE;
    g_cond_broadcast(&first_load->changed);
    g_mutex_unlock(&first_load->lock);
}

void gst_tdl_first_load_set_flushing(struct gst_tdl_first_load *first_load, gboolean flushing)
{
    g_mutex_lock(&first_load->lock);
    first_load->flushing = flushing;
    g_cond_broadcast(&first_load->changed);
    g_mutex_unlock(&first_load->lock);
}

/* TRUE where the caller is to wait on; the thread does not for itself. Call with the lock
 * held. */
static gboolean is_busy(const struct gst_tdl_first_load *first_load, GstFlowReturn flow)
{
    return flow == BUSY && !first_load->cancelled && !first_load->flushing &&
           first_load->worker != g_thread_self();
}

GstFlowReturn gst_tdl_first_load_wait_model(struct gst_tdl_first_load *first_load, gint64 patience)
{
    const gint64 end = g_get_monotonic_time() + patience;
    gboolean in_time = TRUE;
    GstFlowReturn flow;

    g_mutex_lock(&first_load->lock);
    while (in_time && is_busy(first_load, first_load->model)) {
        if (patience < 0)
            g_cond_wait(&first_load->changed, &first_load->lock);
        else
            in_time = g_cond_wait_until(&first_load->changed, &first_load->lock, end);
    }
    flow = first_load->model == BUSY && in_time ? GST_FLOW_FLUSHING : first_load->model;
    g_mutex_unlock(&first_load->lock);
    return flow;
}

GstFlowReturn gst_tdl_first_load_wait(struct gst_tdl_first_load *first_load)
{
    GstFlowReturn flow;

    g_mutex_lock(&first_load->lock);
    while (is_busy(first_load, first_load->network))
        g_cond_wait(&first_load->changed, &first_load->lock);
    flow = first_load->network == BUSY ? GST_FLOW_FLUSHING : first_load->network;
    g_mutex_unlock(&first_load->lock);
    return flow;
}
