/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdldetached.h"

struct task {
    GMutex lock;
    GCond ended;
    gboolean done, abandoned;
    void (*run)(gpointer data);
    gpointer data;
    GDestroyNotify destroy;
};

static void task_free(struct task *task)
{
    g_cond_clear(&task->ended);
    g_mutex_clear(&task->lock);
    g_free(task);
}

/* Whoever comes last clears up. */
static gpointer go(gpointer data)
{
    struct task *task = data;
    gboolean abandoned;

    task->run(task->data);
    g_mutex_lock(&task->lock);
    task->done = TRUE;
    abandoned = task->abandoned;
    g_cond_signal(&task->ended);
    g_mutex_unlock(&task->lock);
    if (abandoned) {
        task->destroy(task->data);
        task_free(task);
    }
    return NULL;
}

gboolean gst_tdl_detached_run(const gchar *name, void (*run)(gpointer data), gpointer data,
                              GDestroyNotify destroy, gint64 timeout_us)
{
    struct task *task = g_new0(struct task, 1);
    gint64 end = g_get_monotonic_time() + timeout_us;
    GThread *thread;
    gboolean done;

    *task = (struct task){ .run = run, .data = data, .destroy = destroy };
    g_mutex_init(&task->lock);
    g_cond_init(&task->ended);
    thread = g_thread_try_new(name, go, task, NULL);
    if (!thread) { /* here, without an end to the patience */
        run(data);
        task_free(task);
        return TRUE;
    }
    g_thread_unref(thread);
    g_mutex_lock(&task->lock);
    while (!task->done && g_cond_wait_until(&task->ended, &task->lock, end))
        ;
    done = task->done;
    task->abandoned = !done;
    g_mutex_unlock(&task->lock);
    if (done)
        task_free(task);
    return done;
}
