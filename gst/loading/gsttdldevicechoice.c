/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdldevicechoice.h"

#include "memory/gsttdldevice.h"
#include "network/gsttdlinfer.h"

#include <string.h>

#define END_PATIENCE (2 * G_TIME_SPAN_SECOND)

enum side { GPU, CPU, SIDES };

/* The owner holds it, and the thread that measures, which may never end. */
struct gst_tdl_device_choice {
    const struct gst_tdl_device_choice_ops *ops;
    struct gst_tdl_sources sources;
    gchar *model;
    struct tdl_auto found;

    GMutex lock; /* guards the rest */
    GCond changed;
    enum side side; /* that is measured */
    enum gst_tdl_trial_phase phase;
    gboolean running, cancelled, skips_gpu;
    guint64 ns[SIDES];
    gchar *fault; /* of the GPU */
    struct gst_tdl_device_chosen chosen;
};

static void choice_clear(gpointer data)
{
    struct gst_tdl_device_choice *choice = data;

    gst_tdl_sources_clear(&choice->sources);
    g_mutex_clear(&choice->lock);
    g_cond_clear(&choice->changed);
    g_free(choice->model);
    g_free(choice->fault);
}

static void choice_unref(struct gst_tdl_device_choice *choice)
{
    g_atomic_rc_box_release_full(choice, choice_clear);
}

/* ------------------------------------------------------------- measuring */

static guint64 measure(const struct gst_tdl_trial *trial, GError **error)
{
    struct tdl_context *context =
        gst_tdl_device_open(trial->device, trial->sources->threads, error);
    const struct gst_tdl_model_params params = { context, trial->sources, 0 };
    struct gst_tdl_progress progress = { .cancelled = trial->cancelled, .data = trial->data };
    struct gst_tdl_infer *infer = NULL;
    guint64 ns = 0;

    if (context) {
        trial->reached(trial->data, GST_TDL_TRIAL_COMPILING);
        infer = gst_tdl_infer_new(&params, error);
    }
    if (infer &&
        gst_tdl_model_compile(infer->model, gst_tdl_progress_kernels, &progress) == TDL_OK) {
        trial->reached(trial->data, GST_TDL_TRIAL_RUNNING);
        if (gst_tdl_infer_compile(infer, context, &progress, error))
            ns = gst_tdl_infer_time(infer, context, GST_TDL_DEVICE_CHOICE_MOMENT, &progress);
    }
    gst_tdl_infer_free(infer);
    tdl_context_destroy(&context);
    return ns;
}

const struct gst_tdl_device_choice_ops gst_tdl_device_choice_engine = {
    .find = tdl_auto_find,
    .keep = tdl_auto_keep,
    .name_model = gst_tdl_model_key,
    .measure = measure,
};

static gboolean is_cancelled(gpointer data)
{
    struct gst_tdl_device_choice *choice = data;
    gboolean cancelled;

    g_mutex_lock(&choice->lock);
    cancelled = choice->cancelled || (choice->side == GPU && choice->skips_gpu);
    g_mutex_unlock(&choice->lock);
    return cancelled;
}

static void reached(gpointer data, enum gst_tdl_trial_phase phase)
{
    struct gst_tdl_device_choice *choice = data;

    g_mutex_lock(&choice->lock);
    choice->phase = phase;
    g_cond_broadcast(&choice->changed);
    g_mutex_unlock(&choice->lock);
}

static const gchar *selector(const struct gst_tdl_device_choice *choice, enum side side)
{
    if (side == CPU)
        return "cpu";
    return choice->found.type == TDL_DEVICE_SOFTWARE ? "vulkan" : "gpu";
}

static void keep(struct gst_tdl_device_choice *choice)
{
    const struct tdl_auto_params params = { .model = choice->model,
                                            .threads = choice->sources.threads };
    guint64 ns[SIDES];

    g_mutex_lock(&choice->lock);
    memcpy(ns, choice->ns, sizeof(ns));
    g_mutex_unlock(&choice->lock);
    if (ns[GPU] && ns[CPU] && choice->ops->keep(&params, ns[GPU], ns[CPU]) != TDL_OK)
        GST_CAT_INFO(gst_tdl_debug, "what was measured is not kept: %s", tdl_last_error());
}

/* FALSE: that failed, or was cancelled. */
static gboolean measure_side(struct gst_tdl_device_choice *choice, enum side side)
{
    const struct gst_tdl_trial trial = { .device = selector(choice, side),
                                         .sources = &choice->sources,
                                         .cancelled = is_cancelled,
                                         .reached = reached,
                                         .data = choice };
    GError *error = NULL;
    guint64 ns;

    g_mutex_lock(&choice->lock);
    choice->side = side;
    choice->phase = GST_TDL_TRIAL_OPENING;
    g_mutex_unlock(&choice->lock);
    if (is_cancelled(choice))
        return FALSE;
    ns = choice->ops->measure(&trial, &error);
    g_mutex_lock(&choice->lock);
    if (ns) /* it may have been told meanwhile */
        choice->ns[side] = ns;
    if (side == GPU && error)
        choice->fault = g_strdup(error->message);
    g_mutex_unlock(&choice->lock);
    g_clear_error(&error);
    return ns != 0;
}

/* The CPU comes first: it compiles nothing, and always answers. */
static gpointer run(gpointer data)
{
    struct gst_tdl_device_choice *choice = data;

    if (measure_side(choice, CPU))
        measure_side(choice, GPU);
    keep(choice);
    g_mutex_lock(&choice->lock);
    choice->running = FALSE;
    g_cond_broadcast(&choice->changed);
    g_mutex_unlock(&choice->lock);
    choice_unref(choice);
    return NULL;
}

/* --------------------------------------------------------------- choosing */

static void choose(struct gst_tdl_device_choice *choice, enum side side, const gchar *reason)
{
    choice->chosen = (struct gst_tdl_device_chosen){ .device = selector(choice, side),
                                                     .reason = reason,
                                                     .gpu_ns = choice->ns[GPU],
                                                     .cpu_ns = choice->ns[CPU] };
}

static void choose_faster(struct gst_tdl_device_choice *choice, const gchar *reason)
{
    choose(choice, tdl_auto_prefers_cpu(choice->ns[GPU], choice->ns[CPU]) ? CPU : GPU, reason);
}

/* The time is up. A GPU that compiles answers, and is what it would be without measuring; it is
 * not made to compile everything twice at once. */
static void choose_unmeasured(struct gst_tdl_device_choice *choice)
{
    if (choice->found.type == TDL_DEVICE_SOFTWARE) {
        choose(choice, CPU, "timing");
    } else if (choice->side == GPU && choice->phase == GST_TDL_TRIAL_OPENING) {
        choose(choice, CPU, "silent");
        choice->skips_gpu = TRUE;
    } else if (choice->side == GPU && choice->phase == GST_TDL_TRIAL_RUNNING) {
        choose(choice, CPU, "slow");
    } else {
        choose(choice, GPU, "timing");
        choice->skips_gpu = TRUE;
    }
}

static void start(struct gst_tdl_device_choice *choice)
{
    GThread *thread;

    choice->running = TRUE;
    choice->side = CPU;
    thread = g_thread_try_new("tdl-measure", run, g_atomic_rc_box_acquire(choice), NULL);
    if (thread) {
        g_thread_unref(thread);
    } else {
        choice->running = FALSE;
        choice_unref(choice);
    }
}

/* Call with the lock held. */
static gboolean wait_for_end(struct gst_tdl_device_choice *choice, gint64 patience)
{
    const gint64 end = g_get_monotonic_time() + patience;

    while (choice->running && g_cond_wait_until(&choice->changed, &choice->lock, end))
        ;
    return !choice->running;
}

static void choose_measured(struct gst_tdl_device_choice *choice, gint64 patience)
{
    start(choice);
    g_mutex_lock(&choice->lock);
    if (!wait_for_end(choice, patience))
        choose_unmeasured(choice);
    else if (choice->ns[GPU] && choice->ns[CPU])
        choose_faster(choice, "measured");
    else
        choose(choice, choice->ns[CPU] ? CPU : GPU, "failed");
    g_mutex_unlock(&choice->lock);
}

struct gst_tdl_device_choice *gst_tdl_device_choice_begin(
    const struct gst_tdl_device_choice_ops *ops, const struct gst_tdl_sources *sources,
    gint64 patience)
{
    gchar *model = ops->name_model(sources);
    const struct tdl_auto_params params = { .model = model, .threads = sources->threads };
    struct gst_tdl_device_choice *choice;
    struct tdl_auto found;

    if (!model || ops->find(&params, &found) != TDL_OK || !found.measures) {
        g_free(model);
        return NULL;
    }
    choice = g_atomic_rc_box_new0(struct gst_tdl_device_choice);
    choice->ops = ops;
    choice->model = model;
    choice->found = found;
    gst_tdl_sources_copy(sources, &choice->sources);
    g_mutex_init(&choice->lock);
    g_cond_init(&choice->changed);
    choice->ns[GPU] = found.gpu_ns;
    choice->ns[CPU] = found.cpu_ns;
    if (found.gpu_ns && found.cpu_ns)
        choose_faster(choice, "kept");
    else
        choose_measured(choice, patience);
    return choice;
}

struct gst_tdl_device_chosen gst_tdl_device_choice_get(struct gst_tdl_device_choice *choice)
{
    struct gst_tdl_device_chosen chosen;

    g_mutex_lock(&choice->lock);
    chosen = choice->chosen;
    g_mutex_unlock(&choice->lock);
    return chosen;
}

const gchar *gst_tdl_device_choice_fault(struct gst_tdl_device_choice *choice)
{
    const gchar *fault;

    g_mutex_lock(&choice->lock);
    fault = choice->running ? NULL : choice->fault; /* which does not change any more */
    g_mutex_unlock(&choice->lock);
    return fault;
}

gboolean gst_tdl_device_choice_wants_gpu(struct gst_tdl_device_choice *choice)
{
    gboolean wants;

    g_mutex_lock(&choice->lock);
    wants = choice->skips_gpu && !choice->ns[GPU] && !strcmp(choice->chosen.device, "gpu");
    g_mutex_unlock(&choice->lock);
    return wants;
}

void gst_tdl_device_choice_tell_gpu(struct gst_tdl_device_choice *choice, guint64 gpu_ns)
{
    g_mutex_lock(&choice->lock);
    choice->ns[GPU] = choice->chosen.gpu_ns = gpu_ns;
    choice->chosen.cpu_ns = choice->ns[CPU];
    g_mutex_unlock(&choice->lock);
    keep(choice);
}

void gst_tdl_device_choice_end(struct gst_tdl_device_choice **choice)
{
    if (!*choice)
        return;
    g_mutex_lock(&(*choice)->lock);
    (*choice)->cancelled = TRUE;
    wait_for_end(*choice, END_PATIENCE);
    g_mutex_unlock(&(*choice)->lock);
    g_clear_pointer(choice, choice_unref);
}
