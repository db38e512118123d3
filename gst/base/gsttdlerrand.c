/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdlerrand.h"

struct errand {
    GMutex lock;
    GCond ended;
    gboolean done, abandoned;
    void (*run)(gpointer data);
    gpointer data;
    GDestroyNotify destroy;
};

static void errand_free(struct errand *errand)
{
    g_cond_clear(&errand->ended);
    g_mutex_clear(&errand->lock);
    g_free(errand);
}

/* Whoever comes last clears up. */
static gpointer go(gpointer data)
{
    struct errand *errand = data;
    gboolean abandoned;

    errand->run(errand->data);
    g_mutex_lock(&errand->lock);
    errand->done = TRUE;
    abandoned = errand->abandoned;
    g_cond_signal(&errand->ended);
    g_mutex_unlock(&errand->lock);
    if (abandoned) {
        errand->destroy(errand->data);
        errand_free(errand);
    }
    return NULL;
}

gboolean gst_tdl_errand(const gchar *name, void (*run)(gpointer data), gpointer data,
                        GDestroyNotify destroy, gint64 timeout_us)
{
    struct errand *errand = g_new0(struct errand, 1);
    gint64 end = g_get_monotonic_time() + timeout_us;
    GThread *thread;
    gboolean done;

    *errand = (struct errand){ .run = run, .data = data, .destroy = destroy };
    g_mutex_init(&errand->lock);
    g_cond_init(&errand->ended);
    thread = g_thread_try_new(name, go, errand, NULL);
    if (!thread) { /* here, without an end to the patience */
        run(data);
        errand_free(errand);
        return TRUE;
    }
    g_thread_unref(thread);
    g_mutex_lock(&errand->lock);
    while (!errand->done && g_cond_wait_until(&errand->ended, &errand->lock, end))
        ;
    done = errand->done;
    errand->abandoned = !done;
    g_mutex_unlock(&errand->lock);
    if (done)
        errand_free(errand);
    return done;
}
