/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdlbegin.h"

#define COMPILING GST_FLOW_CUSTOM_SUCCESS

void gst_tdl_begin_init(struct gst_tdl_begin *begin, GstElement *element,
                        void (*compiled)(GstElement *element))
{
    *begin = (struct gst_tdl_begin){ .element = element,
                                     .compiled = compiled,
                                     .flow = GST_FLOW_FLUSHING };
    g_mutex_init(&begin->lock);
    g_cond_init(&begin->changed);
}

void gst_tdl_begin_finish(struct gst_tdl_begin *begin)
{
    g_mutex_clear(&begin->lock);
    g_cond_clear(&begin->changed);
}

static gboolean is_canceled(gpointer data)
{
    struct gst_tdl_begin *begin = data;
    gboolean canceled;

    g_mutex_lock(&begin->lock);
    canceled = begin->canceled;
    g_mutex_unlock(&begin->lock);
    return canceled;
}

bool gst_tdl_begin_goes_on(void *begin, uint32_t done, uint32_t total)
{
    (void)done;
    (void)total;
    return !is_canceled(begin);
}

static gpointer run(gpointer data)
{
    struct gst_tdl_begin *begin = data;
    struct gst_tdl_progress progress = { .element = begin->element,
                                         .canceled = is_canceled,
                                         .data = begin };
    GError *error = NULL;
    gboolean ok = gst_tdl_infer_compile(begin->infer, begin->device->context, &progress, &error);

    if (ok) {
        GError *notice = gst_tdl_infer_notice(begin->infer);

        if (notice)
            gst_tdl_error_post(begin->element, GST_MESSAGE_WARNING, notice);
        begin->compiled(begin->element);
    } else if (error) {
        gst_tdl_error_post(begin->element, GST_MESSAGE_ERROR, g_steal_pointer(&error));
    }
    g_mutex_lock(&begin->lock);
    begin->flow = ok ? GST_FLOW_OK : begin->canceled ? GST_FLOW_FLUSHING : GST_FLOW_ERROR;
    g_cond_broadcast(&begin->changed);
    g_mutex_unlock(&begin->lock);
    return NULL;
}

gboolean gst_tdl_begin_start(struct gst_tdl_begin *begin, struct gst_tdl_device *device,
                             struct gst_tdl_infer *infer)
{
    GError *error = NULL;

    begin->device = device;
    begin->infer = infer;
    begin->canceled = begin->flushing = FALSE;
    begin->flow = COMPILING;
    begin->thread = g_thread_try_new("tdl-compile", run, begin, NULL);
    if (begin->thread)
        return TRUE;
    begin->flow = GST_FLOW_ERROR;
    g_set_error(&error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
                "There is no thread to load the network in. " GST_TDL_THREAD_ADVICE);
    gst_tdl_error_post(begin->element, GST_MESSAGE_ERROR, error);
    return FALSE;
}

void gst_tdl_begin_stop(struct gst_tdl_begin *begin)
{
    gst_tdl_begin_cancel(begin);
    g_clear_pointer(&begin->thread, g_thread_join);
    begin->flow = GST_FLOW_FLUSHING;
}

void gst_tdl_begin_cancel(struct gst_tdl_begin *begin)
{
    g_mutex_lock(&begin->lock);
    begin->canceled = TRUE;
    g_cond_broadcast(&begin->changed);
    g_mutex_unlock(&begin->lock);
}

void gst_tdl_begin_set_flushing(struct gst_tdl_begin *begin, gboolean flushing)
{
    g_mutex_lock(&begin->lock);
    begin->flushing = flushing;
    g_cond_broadcast(&begin->changed);
    g_mutex_unlock(&begin->lock);
}

GstFlowReturn gst_tdl_begin_wait(struct gst_tdl_begin *begin)
{
    GstFlowReturn flow;

    g_mutex_lock(&begin->lock);
    while (begin->flow == COMPILING && !begin->canceled && !begin->flushing)
        g_cond_wait(&begin->changed, &begin->lock);
    flow = begin->flow == COMPILING ? GST_FLOW_FLUSHING : begin->flow;
    g_mutex_unlock(&begin->lock);
    return flow;
}
