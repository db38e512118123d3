/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One lock for all batchers: it is held to look and to note, never while anything is
 * recorded, submitted or compiled. A round is closed once, by its leader; who is in a
 * closed one waits until the leader has submitted it.
 */
#include "gsttdlbatcher.h"

#include "gsttdlflight.h"
#include "gsttdlstacked.h"

#define GST_CAT_DEFAULT gst_tdl_filter_debug

#define SIZES 4   /* 2, 4, 8, 16 */
#define BATCHES 3 /* submissions under way */

struct gst_tdl_round {
    struct gst_tdl_batch_slot *batch_slots[GST_TDL_MOST_STACKED];
    struct gst_tdl_infer *infers[GST_TDL_MOST_STACKED];
    guint count;
    guint waiting; /* members who have not looked at the end yet */
    gboolean closed, done, ran;
    guint64 network_ns; /* the device's, of the last run that has ended; 0: none, or not timed */
};

struct gst_tdl_batcher {
    const struct gst_tdl_model *model; /* borrowed: whose this is */
    struct tdl_context *context;       /* borrowed */
    struct gst_tdl_sources sources;
    gchar *path;
    GCond changed; /* a round, or who is there */
    GPtrArray *batch_slots;
    struct gst_tdl_round *filling; /* NULL: none */

    const gchar *alone; /* why all go alone; interned. NULL: they need not */
    guint ready;        /* frames of the largest graph there is */
    guint top;          /* … that may be tried */
    gboolean building, ending;
    GThread *builder;
    struct gst_tdl_stacked *sizes[SIZES]; /* written once, before `ready` */

    GMutex submitting; /* guards the rest */
    struct tdl_batch *batches[BATCHES];
    uint64_t points[BATCHES]; /* points of their last submissions */
    guint turn;
    guint64 network_ns; /* time of the last batch that has come round again */
};

static GMutex lock;

static guint size_index(guint count)
{
    guint i = 0;

    while (2u << i < count)
        i++;
    return i;
}

/* ---------------------------------------------------------------- graphs */

static bool goes_on(void *data, uint32_t done, uint32_t total)
{
    const struct gst_tdl_batcher *b = data;
    gboolean ending;

    (void)done;
    (void)total;
    g_mutex_lock(&lock);
    ending = b->ending;
    g_mutex_unlock(&lock);
    return !ending;
}

/* How many frames a batch may have, of those who sit there. */
static guint wanted(const struct gst_tdl_batcher *b)
{
    guint most = 1;

    for (guint i = 0; i < b->batch_slots->len; i++)
        most = MAX(most,
                   ((const struct gst_tdl_batch_slot *)g_ptr_array_index(b->batch_slots, i))->most);
    return MIN(MIN(most, b->batch_slots->len), b->top);
}

static void build_next(struct gst_tdl_batcher *b, guint count)
{
    const struct gst_tdl_model_params params = { b->context, &b->sources, count };
    const struct tdl_compile_params compile = { .progress = goes_on, .progress_data = b };
    GError *error = NULL;
    struct gst_tdl_stacked *s = gst_tdl_stacked_new(b->model, &params, b->path, &compile, &error);

    g_mutex_lock(&lock);
    if (s) {
        b->sizes[size_index(count)] = s;
        b->ready = count;
        GST_INFO("model \"%s\" takes up to %u frames at once", b->model->name, count);
    } else if (error && b->ready == 1) {
        g_autofree gchar *why = g_strdup_printf("alone: %s", error->message);

        b->alone = g_intern_string(why);
        b->top = 1;
    } else if (error) {
        GST_WARNING("batches have %u frames at most: %s", b->ready, error->message);
        b->top = b->ready;
    }
    g_cond_broadcast(&b->changed);
    g_mutex_unlock(&lock);
    g_clear_error(&error);
}

static gpointer build(gpointer data)
{
    struct gst_tdl_batcher *b = data;

    g_mutex_lock(&lock);
    while (!b->ending && b->ready < wanted(b)) {
        const guint count = b->ready * 2;

        g_mutex_unlock(&lock);
        build_next(b, count);
        g_mutex_lock(&lock);
    }
    b->building = FALSE;
    g_mutex_unlock(&lock);
    return NULL;
}

/* Call with the lock held. */
static void build_wanted(struct gst_tdl_batcher *b)
{
    GError *error = NULL;

    if (b->building || b->ready >= wanted(b))
        return;
    if (b->builder)
        g_thread_join(b->builder); /* the builder has nothing left to do */
    b->building = TRUE;
    b->builder = g_thread_try_new("tdl-batches", build, b, &error);
    if (b->builder)
        return;
    GST_WARNING("batches have %u frames at most: %s", b->ready, error->message);
    b->building = FALSE;
    b->top = b->ready;
    g_error_free(error);
}

struct gst_tdl_batcher *gst_tdl_batcher_new(const struct gst_tdl_model *model,
                                            const struct gst_tdl_model_params *params,
                                            const gchar *path)
{
    struct gst_tdl_batcher *b = g_new0(struct gst_tdl_batcher, 1);

    b->model = model;
    b->context = params->context;
    gst_tdl_sources_copy(params->sources, &b->sources);
    b->path = g_strdup(path);
    b->batch_slots = g_ptr_array_new();
    b->ready = 1;
    b->top = GST_TDL_MOST_STACKED;
    g_cond_init(&b->changed);
    g_mutex_init(&b->submitting);
    if (model->states.count)
        b->alone = g_intern_static_string("alone: the model has a state of its own in each stream");
    else if (model->pictures.count > 1)
        b->alone = g_intern_static_string("alone: the model takes several pictures");
    else if (model->fit == GST_TDL_FIT_TILES)
        b->alone = g_intern_static_string("alone: a frame is several tiles (input-fit=tiles)");
    return b;
}

void gst_tdl_batcher_free(struct gst_tdl_batcher *b)
{
    if (!b)
        return;
    g_mutex_lock(&lock);
    b->ending = TRUE;
    g_mutex_unlock(&lock);
    g_clear_pointer(&b->builder, g_thread_join);
    for (guint i = 0; i < BATCHES; i++)
        tdl_batch_destroy(&b->batches[i]);
    for (guint i = 0; i < SIZES; i++)
        gst_tdl_stacked_free(b->sizes[i]);
    gst_tdl_sources_clear(&b->sources);
    g_free(b->path);
    g_ptr_array_unref(b->batch_slots);
    g_cond_clear(&b->changed);
    g_mutex_clear(&b->submitting);
    g_free(b);
}

/* ---------------------------------------------------------------- rounds */

/* Frames that the round may have; the lock is held in all of these. */
static guint limit(const struct gst_tdl_batcher *b, const struct gst_tdl_round *round)
{
    guint most = b->ready;

    for (guint i = 0; i < round->count; i++)
        most = MIN(most, round->batch_slots[i]->most);
    return most;
}

/* A member may bring a frame while `round` waits: two elements in a row, or behind a
 * tee without queues, have one thread, and what waits in the one keeps the other from its
 * frame. */
static gboolean may_come(const struct gst_tdl_batch_slot *batch_slot,
                         const struct gst_tdl_round *round)
{
    for (guint i = 0; i < round->count; i++)
        if (round->batch_slots[i]->thread == batch_slot->thread)
            return FALSE;
    return batch_slot->present;
}

static gboolean is_full(const struct gst_tdl_batcher *b, const struct gst_tdl_round *round)
{
    if (round->count >= limit(b, round))
        return TRUE;
    for (guint i = 0; i < b->batch_slots->len; i++) {
        const struct gst_tdl_batch_slot *batch_slot = g_ptr_array_index(b->batch_slots, i);

        if (may_come(batch_slot, round))
            return FALSE;
    }
    return TRUE;
}

static struct gst_tdl_round *join_round(struct gst_tdl_batch_slot *batch_slot)
{
    struct gst_tdl_batcher *b = batch_slot->batcher;

    if (!b->filling)
        b->filling = g_new0(struct gst_tdl_round, 1);
    b->filling->batch_slots[b->filling->count] = batch_slot;
    b->filling->infers[b->filling->count++] = batch_slot->infer;
    b->filling->waiting++;
    batch_slot->round = b->filling;
    batch_slot->present = TRUE;
    return b->filling;
}

static void leave_round(struct gst_tdl_batch_slot *batch_slot)
{
    struct gst_tdl_batcher *b = batch_slot->batcher;
    struct gst_tdl_round *round = g_steal_pointer(&batch_slot->round);

    for (guint i = 0; !round->closed && i < round->count; i++)
        if (round->batch_slots[i] == batch_slot) {
            round->batch_slots[i] = round->batch_slots[--round->count];
            round->infers[i] = round->infers[round->count];
        }
    if (!round->closed && !round->count)
        b->filling = NULL;
    if (--round->waiting == 0)
        g_free(round);
}

/* The next batch, begun: which waits for what it did before, whose time is noted. */
static enum tdl_result begin_batch(struct gst_tdl_batcher *b, struct tdl_batch **out_batch)
{
    const guint turn = b->turn++ % BATCHES;
    uint64_t ns[GST_TDL_STAGES];
    enum tdl_result r = TDL_OK;

    if (!b->batches[turn])
        r = tdl_batch_create(b->context, &b->batches[turn]);
    *out_batch = b->batches[turn];
    if (r == TDL_OK)
        r = tdl_context_wait(b->context, b->points[turn], TDL_WAIT_FOREVER);
    if (r == TDL_OK && tdl_batch_stage_times(*out_batch, ns, GST_TDL_STAGES))
        b->network_ns = ns[GST_TDL_STAGE_NETWORK];
    return r == TDL_OK ? tdl_batch_begin(*out_batch) : r;
}

static enum tdl_result submit(struct gst_tdl_batcher *b, struct gst_tdl_stacked *stacked,
                              struct gst_tdl_round *round)
{
    struct tdl_batch *batch;
    enum tdl_result r;

    g_mutex_lock(&b->submitting);
    r = begin_batch(b, &batch);
    round->network_ns = b->network_ns;
    if (r == TDL_OK) {
        r = gst_tdl_stacked_record(stacked, batch, round->infers, round->count);
        if (r == TDL_OK)
            r = tdl_batch_submit(batch, &b->points[(b->turn - 1) % BATCHES]);
        else
            tdl_batch_cancel(batch);
    }
    if (r != TDL_OK)
        GST_WARNING("a batch of %u frames failed, each goes alone: %s", round->count,
                    tdl_last_error());
    g_mutex_unlock(&b->submitting);
    return r;
}

/* Whoever is late is not waited for again. */
static void close_round(struct gst_tdl_batcher *b, struct gst_tdl_round *round, gboolean late)
{
    for (guint i = 0; late && i < b->batch_slots->len; i++) {
        struct gst_tdl_batch_slot *batch_slot = g_ptr_array_index(b->batch_slots, i);

        batch_slot->present = batch_slot->present && batch_slot->round;
    }
    round->closed = TRUE;
    b->filling = NULL;
}

/* Run what is there; unlocks meanwhile. */
static void lead(struct gst_tdl_batcher *b, struct gst_tdl_round *round, gboolean late)
{
    struct gst_tdl_stacked *stacked = NULL;

    close_round(b, round, late);
    if (round->count > 1 && round->count <= b->ready)
        stacked = b->sizes[size_index(round->count)];
    g_mutex_unlock(&lock);
    if (stacked && submit(b, stacked, round) == TDL_OK)
        round->ran = TRUE;
    g_mutex_lock(&lock);
    if (stacked && !round->ran) {
        b->ready = b->top = 1;
        b->alone = g_intern_static_string("alone: a batch failed, see the log");
    }
    round->done = TRUE;
    g_cond_broadcast(&b->changed);
}

enum gst_tdl_turn gst_tdl_batch_slot_run(struct gst_tdl_batch_slot *batch_slot, gint64 timeout)
{
    const gint64 end = g_get_monotonic_time() + timeout;
    struct gst_tdl_batcher *b = batch_slot->batcher;
    enum gst_tdl_turn turn = GST_TDL_TURN_FLUSHING;
    struct gst_tdl_round *round;
    gboolean late = FALSE;

    g_mutex_lock(&lock);
    round = join_round(batch_slot);
    while (!round->closed && !batch_slot->flushing) {
        if (late || is_full(b, round))
            lead(b, round, late);
        else
            late = !g_cond_wait_until(&b->changed, &lock, end);
    }
    while (round->closed && !round->done)
        g_cond_wait(&b->changed, &lock);
    if (round->closed)
        turn = round->ran ? GST_TDL_TURN_DONE : GST_TDL_TURN_ALONE;
    if (round->ran) {
        batch_slot->batches++;
        batch_slot->frames += round->count;
        batch_slot->network_ns += round->network_ns;
        batch_slot->network_runs += round->network_ns > 0;
    }
    leave_round(batch_slot);
    if (batch_slot->flushing)
        batch_slot->present = FALSE;
    g_cond_broadcast(&b->changed);
    g_mutex_unlock(&lock);
    return turn;
}

/* ----------------------------------------------------------------- batch slots */

/* Call with the lock held. */
static void get_up(struct gst_tdl_batch_slot *batch_slot)
{
    struct gst_tdl_batcher *b = g_steal_pointer(&batch_slot->batcher);

    batch_slot->present = FALSE;
    g_clear_pointer(&batch_slot->thread, g_thread_unref);
    if (!b)
        return;
    g_ptr_array_remove_fast(b->batch_slots, batch_slot);
    g_cond_broadcast(&b->changed);
}

static gboolean has_others(const struct gst_tdl_batch_slot *batch_slot)
{
    const struct gst_tdl_batcher *b = batch_slot->batcher;

    for (guint i = 0; i < b->batch_slots->len; i++) {
        const struct gst_tdl_batch_slot *other = g_ptr_array_index(b->batch_slots, i);

        if (other != batch_slot && other->present && other->thread != batch_slot->thread)
            return TRUE;
    }
    return FALSE;
}

static const gchar *sit_down(struct gst_tdl_batch_slot *batch_slot, struct gst_tdl_infer *infer,
                             guint most)
{
    struct gst_tdl_batcher *b = infer->model->batcher;

    if (batch_slot->batcher != b) {
        get_up(batch_slot);
        batch_slot->batcher = b;
        g_ptr_array_add(b->batch_slots, batch_slot);
    }
    batch_slot->infer = infer;
    if (batch_slot->thread != g_thread_self()) {
        g_clear_pointer(&batch_slot->thread, g_thread_unref);
        batch_slot->thread = g_thread_ref(g_thread_self());
    }
    batch_slot->most = most ? MIN(most, GST_TDL_MOST_STACKED) : GST_TDL_MOST_STACKED;
    batch_slot->present = !batch_slot->flushing;
    if (b->alone)
        return b->alone;
    build_wanted(b);
    if (b->ready > 1 && has_others(batch_slot))
        return NULL;
    return b->batch_slots->len > 1 && b->ready == 1 ? "alone: batches are being compiled"
                                                    : "alone: no other stream is there";
}

gboolean gst_tdl_batch_slot_take(struct gst_tdl_batch_slot *batch_slot, struct gst_tdl_infer *infer,
                                 guint most, const gchar *why)
{
    const gchar *before = batch_slot->state;
    gboolean permanent;

    g_mutex_lock(&lock);
    permanent = why || infer->model->batcher->alone;
    if (why)
        get_up(batch_slot);
    else
        why = sit_down(batch_slot, infer, most);
    g_mutex_unlock(&lock);
    batch_slot->state = why ? why : "shared";
    if (batch_slot->state != before && (permanent || !before))
        GST_INFO("batches of model \"%s\": %s", infer->model->name, batch_slot->state);
    return !why;
}

void gst_tdl_batch_slot_rest(struct gst_tdl_batch_slot *batch_slot)
{
    g_mutex_lock(&lock);
    batch_slot->present = FALSE;
    if (batch_slot->batcher)
        g_cond_broadcast(&batch_slot->batcher->changed);
    g_mutex_unlock(&lock);
}

void gst_tdl_batch_slot_leave(struct gst_tdl_batch_slot *batch_slot)
{
    g_mutex_lock(&lock);
    get_up(batch_slot);
    g_mutex_unlock(&lock);
}

void gst_tdl_batch_slot_set_flushing(struct gst_tdl_batch_slot *batch_slot, gboolean flushing)
{
    g_mutex_lock(&lock);
    batch_slot->flushing = flushing;
    batch_slot->present = batch_slot->present && !flushing;
    if (batch_slot->batcher)
        g_cond_broadcast(&batch_slot->batcher->changed);
    g_mutex_unlock(&lock);
}

guint64 gst_tdl_batch_slot_network_ns(const struct gst_tdl_batch_slot *batch_slot)
{
    const struct gst_tdl_batcher *b;
    guint64 ns = 0;

    g_mutex_lock(&lock);
    b = batch_slot->batcher;
    if (b && b->ready > 1 && b->batch_slots->len > 1)
        ns = b->sizes[size_index(MIN(wanted(b), b->ready))]->network_ns;
    g_mutex_unlock(&lock);
    return ns;
}
