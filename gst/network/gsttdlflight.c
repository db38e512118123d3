/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdlflight.h"

#include <string.h>

#define PATIENCE GST_SECOND /* with what is in flight when the element stops */

/* ------------------------------------------------------------- giving back */

/* A submission has finished, for which the device has been at work since it came, or since the
 * one before it had finished. Call with the lock held. */
static void add_busy(struct gst_tdl_flight *flight, const struct gst_tdl_slot *slot)
{
    struct gst_tdl_returner *lane = &flight->returners[slot->lane];
    const gint64 now = g_get_monotonic_time();

    flight->busy_us += now - MAX(slot->submitted, lane->passed);
    lane->passed = now;
}

guint64 gst_tdl_flight_busy_ns(struct gst_tdl_flight *flight)
{
    guint64 busy;

    g_mutex_lock(&flight->lock);
    busy = flight->busy_us * 1000;
    g_mutex_unlock(&flight->lock);
    return busy;
}

/* Unless somebody was faster. Call with the lock held, which the buffer's way
 * back, into whatever its upstream does then, goes without. */
static void give_back(struct gst_tdl_flight *flight, struct gst_tdl_slot *slot, guint64 point)
{
    struct gst_tdl_access *accesses[G_N_ELEMENTS(slot->accesses)];
    guint n_accesses = slot->n_accesses;
    GstBuffer *buffer;

    if (!slot->held || slot->point != point)
        return;
    buffer = g_steal_pointer(&slot->held);
    add_busy(flight, slot);
    memcpy(accesses, slot->accesses, sizeof(accesses));
    slot->n_accesses = 0;
    flight->giving++;
    g_mutex_unlock(&flight->lock);
    while (n_accesses)
        gst_tdl_access_unref(accesses[--n_accesses]);
    gst_buffer_unref(buffer);
    g_mutex_lock(&flight->lock);
    flight->giving--;
    g_cond_broadcast(&flight->changed);
}

/* Call with the lock held. */
static struct gst_tdl_slot *oldest(struct gst_tdl_flight *flight, guint lane)
{
    struct gst_tdl_slot *found = NULL;

    for (guint i = 0; i < GST_TDL_FLIGHT_SLOTS; i++) {
        struct gst_tdl_slot *slot = &flight->slots[i];

        if (slot->held && slot->lane == lane && (!found || slot->point < found->point))
            found = slot;
    }
    return found;
}

/* A lost device passes no point any more, but it reads nothing either. */
static gpointer return_inputs(gpointer data)
{
    const struct gst_tdl_returner *returner = data;
    struct gst_tdl_flight *flight = returner->flight;

    g_mutex_lock(&flight->lock);
    while (!flight->ending) {
        struct gst_tdl_slot *slot = oldest(flight, returner->lane);
        guint64 point = slot ? slot->point : 0;

        if (!slot) {
            g_cond_wait(&flight->changed, &flight->lock);
            continue;
        }
        g_mutex_unlock(&flight->lock);
        tdl_context_wait(flight->context, point, TDL_WAIT_FOREVER);
        g_mutex_lock(&flight->lock);
        give_back(flight, slot, point);
    }
    g_mutex_unlock(&flight->lock);
    return NULL;
}

/* ------------------------------------------------------------ life and slots */

enum tdl_result gst_tdl_flight_init(struct gst_tdl_flight *flight, struct tdl_context *context,
                                    guint queue)
{
    enum tdl_result r = TDL_OK;

    *flight = (struct gst_tdl_flight){ .context = context, .queue = queue };
    for (guint i = 0; i < GST_TDL_FLIGHT_LANES; i++)
        flight->returners[i] = (struct gst_tdl_returner){ .flight = flight, .lane = i };
    g_mutex_init(&flight->lock);
    g_cond_init(&flight->changed);
    for (guint i = 0; i < GST_TDL_FLIGHT_SLOTS && r == TDL_OK; i++) {
        flight->slots[i].flight = flight;
        r = tdl_batch_create(context, &flight->slots[i].batch);
    }
    return r;
}

static void collect_times(struct gst_tdl_flight *flight, struct gst_tdl_slot *slot)
{
    uint64_t ns[GST_TDL_STAGES];

    if (!slot->timed || !tdl_batch_stage_times(slot->batch, ns, GST_TDL_STAGES))
        return;
    slot->timed = FALSE;
    for (guint i = 0; i < GST_TDL_STAGES; i++) {
        flight->stage_ns[i] += ns[i];
        flight->stage_runs[i] += ns[i] > 0;
    }
}

static enum tdl_result retire_slot(struct gst_tdl_flight *flight, struct gst_tdl_slot *slot,
                                   gboolean wait)
{
    enum tdl_result r;

    if (!slot->open)
        return TDL_OK;
    r = tdl_context_wait(flight->context, slot->point, wait ? TDL_WAIT_FOREVER : 0);
    if (r == TDL_ERROR_TIMEOUT)
        return TDL_OK;
    slot->open = FALSE;
    collect_times(flight, slot);
    g_mutex_lock(&flight->lock);
    give_back(flight, slot, slot->point);
    g_mutex_unlock(&flight->lock);
    return r;
}

enum tdl_result gst_tdl_flight_retire(struct gst_tdl_flight *flight, gboolean wait)
{
    enum tdl_result result = TDL_OK;

    for (guint i = 0; i < GST_TDL_FLIGHT_SLOTS; i++) {
        enum tdl_result r = retire_slot(flight, &flight->slots[i], wait);

        if (result == TDL_OK)
            result = r;
    }
    g_mutex_lock(&flight->lock);
    while (wait && flight->giving)
        g_cond_wait(&flight->changed, &flight->lock);
    g_mutex_unlock(&flight->lock);
    return result;
}

void gst_tdl_flight_abort(struct gst_tdl_flight *flight)
{
    guint64 newest = 0;

    g_mutex_lock(&flight->lock);
    flight->aborted = TRUE;
    for (guint i = 0; i < GST_TDL_FLIGHT_SLOTS; i++)
        if (flight->slots[i].held)
            newest = MAX(newest, flight->slots[i].point);
    g_mutex_unlock(&flight->lock);
    /* Somebody may look at a frame that was handed out when the pipeline has stopped. */
    if (newest)
        tdl_context_wait(flight->context, newest, PATIENCE);
    for (guint i = 0; i < GST_TDL_FLIGHT_SLOTS; i++)
        tdl_batch_abort(flight->slots[i].batch);
}

gboolean gst_tdl_flight_is_aborted(struct gst_tdl_flight *flight)
{
    gboolean aborted;

    g_mutex_lock(&flight->lock);
    aborted = flight->aborted;
    g_mutex_unlock(&flight->lock);
    return aborted;
}

static void end_threads(struct gst_tdl_flight *flight)
{
    g_mutex_lock(&flight->lock);
    flight->ending = TRUE;
    g_cond_broadcast(&flight->changed);
    g_mutex_unlock(&flight->lock);
    for (guint i = 0; i < GST_TDL_FLIGHT_LANES; i++)
        g_clear_pointer(&flight->returners[i].thread, g_thread_join);
}

void gst_tdl_flight_finish(struct gst_tdl_flight *flight)
{
    gst_tdl_flight_retire(flight, TRUE);
    end_threads(flight);
    for (guint i = 0; i < GST_TDL_FLIGHT_SLOTS; i++) {
        tdl_batch_destroy(&flight->slots[i].batch);
        gst_tdl_staging_clear(&flight->slots[i].staging);
    }
    g_cond_clear(&flight->changed);
    g_mutex_clear(&flight->lock);
}

/* The next that is free: a network that is slow on a queue of its own is passed by. */
static struct gst_tdl_slot *next_slot(struct gst_tdl_flight *flight)
{
    for (guint i = 0; i < GST_TDL_FLIGHT_SLOTS; i++) {
        struct gst_tdl_slot *slot = &flight->slots[(flight->next + i) % GST_TDL_FLIGHT_SLOTS];

        if (!slot->open)
            return slot;
    }
    return &flight->slots[flight->next];
}

enum tdl_result gst_tdl_flight_begin(struct gst_tdl_flight *flight, guint lane,
                                     struct gst_tdl_slot **out_slot)
{
    struct gst_tdl_slot *slot;
    enum tdl_result r;

    if (gst_tdl_flight_is_aborted(flight))
        return TDL_ERROR_CANCELED;
    gst_tdl_flight_retire(flight, FALSE);
    slot = next_slot(flight);
    retire_slot(flight, slot, TRUE);
    tdl_batch_set_queue(slot->batch, flight->queue + lane);
    r = tdl_batch_begin(slot->batch);
    if (r != TDL_OK)
        return r;
    slot->lane = lane; /* nothing is held */
    flight->next = (guint)(slot - flight->slots + 1) % GST_TDL_FLIGHT_SLOTS;
    *out_slot = slot;
    return TDL_OK;
}

void gst_tdl_flight_cancel(struct gst_tdl_slot *slot)
{
    tdl_batch_cancel(slot->batch);
}

enum tdl_result gst_tdl_flight_submit(struct gst_tdl_slot *slot, GstBuffer *input,
                                      struct gst_tdl_importer *importer,
                                      struct gst_tdl_fences *fences)
{
    struct gst_tdl_flight *flight = slot->flight;
    struct gst_tdl_returner *returner = &flight->returners[slot->lane];
    uint64_t point = 0;
    enum tdl_result r = gst_tdl_fences_wait(fences, importer, slot->batch);

    if (r != TDL_OK)
        tdl_batch_cancel(slot->batch);
    else
        r = tdl_batch_submit(slot->batch, &point);
    if (r != TDL_OK) {
        gst_tdl_fences_clear(fences);
        return r;
    }
    if (gst_tdl_flight_is_aborted(flight)) /* between begin and submit */
        tdl_batch_abort(slot->batch);
    if (!returner->thread)
        returner->thread = g_thread_try_new("tdl-inputs", return_inputs, returner, NULL);
    g_mutex_lock(&flight->lock);
    slot->point = point;
    slot->submitted = g_get_monotonic_time();
    slot->held = gst_buffer_ref(input);
    memcpy(slot->accesses, fences->accesses, sizeof(slot->accesses));
    slot->n_accesses = fences->n_accesses;
    g_cond_broadcast(&flight->changed);
    g_mutex_unlock(&flight->lock);
    slot->open = slot->timed = TRUE;
    fences->n_accesses = 0;
    /* Done, and out of our hands, before anybody looks; so too where no thread can be had to
     * give inputs back when the device is done with them. */
    if (fences->writes || !returner->thread) {
        importer->stats.cpu_waits++;
        return gst_tdl_flight_retire(flight, TRUE);
    }
    return gst_tdl_fences_attach(fences, importer, slot->batch, point);
}

/* ------------------------------------------------------------------- alone */

enum tdl_result gst_tdl_flight_run_batch(struct tdl_context *context, struct tdl_batch *batch,
                                         tdl_progress_fn goes_on, void *data)
{
    const guint64 look = 50 * GST_MSECOND; /* few networks take that long */
    uint64_t point = 0;
    enum tdl_result r = tdl_batch_submit(batch, &point);

    if (r == TDL_OK)
        r = tdl_context_wait(context, point, goes_on ? look : TDL_WAIT_FOREVER);
    while (r == TDL_ERROR_TIMEOUT && goes_on(data, 0, 0))
        r = tdl_context_wait(context, point, look);
    if (r != TDL_ERROR_TIMEOUT)
        return r;
    tdl_batch_abort(batch);
    r = tdl_context_wait(context, point, TDL_WAIT_FOREVER);
    return r == TDL_OK ? TDL_ERROR_CANCELED : r;
}
