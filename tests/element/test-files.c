/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files that properties name, seen from inside: what is refused, and that
 * nobody waits for a file system that has gone. Needs no device. */
#include "base/gsttdldetached.h"
#include "base/gsttdlfile.h"
#include "import/gsttdlpicture.h"

#include <glib/gstdio.h>
#include <gst/check/gstcheck.h>
#include <sys/stat.h>
#include <unistd.h>

/* -------------------------------------------------- a file system that hangs */

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);

static GMutex lock;
static GCond cond;
static gboolean hanging, answered;

static void hang(const char *path)
{
    if (strcmp(path, "/mount/that/hangs"))
        return;
    g_mutex_lock(&lock);
    hanging = TRUE;
    g_cond_broadcast(&cond);
    while (!answered)
        g_cond_wait(&cond, &lock);
    hanging = FALSE;
    g_cond_broadcast(&cond);
    g_mutex_unlock(&lock);
}

int __wrap_open(const char *path, int flags, ...)
{
    hang(path);
    return __real_open(path, flags, 0600);
}

int __wrap_open64(const char *path, int flags, ...)
{
    hang(path);
    return __real_open64(path, flags, 0600);
}

/* Runs the real function with a hundredth of its timeout. */
gboolean __real_gst_tdl_detached_run(const gchar *name, void (*run)(gpointer data), gpointer data,
                               GDestroyNotify destroy, gint64 timeout);
gboolean __wrap_gst_tdl_detached_run(const gchar *name, void (*run)(gpointer data), gpointer data,
                               GDestroyNotify destroy, gint64 timeout);

static gboolean impatient;

gboolean __wrap_gst_tdl_detached_run(const gchar *name, void (*run)(gpointer data), gpointer data,
                               GDestroyNotify destroy, gint64 timeout)
{
    return __real_gst_tdl_detached_run(name, run, data, destroy,
                                       impatient ? timeout / 100 : timeout);
}

GST_START_TEST(mount_that_hangs)
{
    g_autoptr(GError) error = NULL;

    impatient = TRUE;
    fail_if(gst_tdl_file_check("/mount/that/hangs", &error));
    fail_unless(strstr(error->message, "does not answer") != NULL, "%s", error->message);
    g_mutex_lock(&lock);
    fail_unless(hanging, "nobody opened the file");
    answered = TRUE;
    g_cond_broadcast(&cond);
    while (hanging) /* the thread ends by itself, and clears up (under ASan) */
        g_cond_wait(&cond, &lock);
    g_mutex_unlock(&lock);
    impatient = FALSE;
}
GST_END_TEST;

/* ------------------------------------------------------------------- tasks */

struct task {
    GMutex lock;
    GCond cond;
    gboolean may_end, destroyed;
};

static void work(gpointer data)
{
    struct task *task = data;

    g_mutex_lock(&task->lock);
    while (!task->may_end)
        g_cond_wait(&task->cond, &task->lock);
    g_mutex_unlock(&task->lock);
}

static void destroy(gpointer data)
{
    struct task *task = data;

    g_mutex_lock(&task->lock);
    task->destroyed = TRUE;
    g_cond_broadcast(&task->cond);
    g_mutex_unlock(&task->lock);
}

GST_START_TEST(task)
{
    struct task task = { .may_end = __i__ == 0 };

    g_mutex_init(&task.lock);
    g_cond_init(&task.cond);
    if (__i__ == 0) {
        fail_unless(gst_tdl_detached_run("test", work, &task, destroy, 60 * G_USEC_PER_SEC));
        fail_if(task.destroyed, "it is the caller's");
    } else {
        fail_if(gst_tdl_detached_run("test", work, &task, destroy, 1000));
        g_mutex_lock(&task.lock);
        fail_if(task.destroyed, "destroyed while it runs");
        task.may_end = TRUE;
        g_cond_broadcast(&task.cond);
        while (!task.destroyed) /* the test's timeout is the judge */
            g_cond_wait(&task.cond, &task.lock);
        g_mutex_unlock(&task.lock);
    }
}
GST_END_TEST;

/* --------------------------------------------------------------------- kinds */

static const struct {
    const char *text, *path; /* NULL: refused */
} texts[] = {
    { "/tmp/a.png", "/tmp/a.png" },
    { "a b.png", "a b.png" },
    { "c:strange", "c:strange" },
    { "file:///tmp/a%20b.png", "/tmp/a b.png" },
    { "FILE:///tmp/a.png", "/tmp/a.png" },
    { "http://host/a.png", NULL },
    { "v4l2:///dev/video0", NULL },
};

GST_START_TEST(path)
{
    g_autoptr(GError) error = NULL;
    g_autofree gchar *path = gst_tdl_file_path(texts[__i__].text, &error);

    fail_unless_equals_string(path, texts[__i__].path);
    fail_unless((error == NULL) == (path != NULL));
}
GST_END_TEST;

static void expect_check(const char *path, const char *word)
{
    g_autoptr(GError) error = NULL;

    fail_unless_equals_int(gst_tdl_file_check(path, &error), word == NULL);
    if (word)
        fail_unless(strstr(error->message, word) != NULL, "%s: %s", path, error->message);
}

GST_START_TEST(kinds)
{
    g_autofree gchar *folder = g_dir_make_tmp("tdl-test-XXXXXX", NULL);
    g_autofree gchar *file = g_build_filename(folder, "file", NULL);
    g_autofree gchar *fifo = g_build_filename(folder, "fifo", NULL);
    g_autofree gchar *link = g_build_filename(folder, "link", NULL);
    g_autofree gchar *missing = g_build_filename(folder, "missing", NULL);

    fail_unless(g_file_set_contents(file, "x", 1, NULL));
    fail_unless_equals_int(mkfifo(fifo, 0600), 0);
    fail_unless_equals_int(symlink("fifo", link), 0);
    expect_check(file, NULL);
    expect_check(missing, NULL); /* whoever opens it says so */
    expect_check(fifo, "a FIFO");
    expect_check(link, "a FIFO");
    expect_check(folder, "a directory");
    expect_check("/dev/zero", "a device");
    g_unlink(link);
    g_unlink(fifo);
    g_unlink(file);
    g_rmdir(folder);
}
GST_END_TEST;

/* ------------------------------------------------------------------ pictures */

static const struct {
    guint width, height, to_width, to_height;
} sizes[] = {
    { 640, 480, 640, 480 },     { 4096, 4096, 4096, 4096 },   { 8000, 6000, 4096, 3072 },
    { 3000, 9000, 1365, 4096 }, { 30000, 2, 4096, 1 },        { 1, 40000, 1, 4096 },
};

GST_START_TEST(picture_sizes)
{
    guint width, height;

    gst_tdl_picture_size(sizes[__i__].width, sizes[__i__].height, &width, &height);
    fail_unless_equals_int(width, sizes[__i__].to_width);
    fail_unless_equals_int(height, sizes[__i__].to_height);
}
GST_END_TEST;

static Suite *suite(void)
{
    Suite *s = suite_create("files");
    TCase *tc = tcase_create("files");

    tcase_set_timeout(tc, 120);
    suite_add_tcase(s, tc);
    tcase_add_test(tc, mount_that_hangs);
    tcase_add_loop_test(tc, task, 0, 2);
    tcase_add_loop_test(tc, path, 0, G_N_ELEMENTS(texts));
    tcase_add_test(tc, kinds);
    tcase_add_loop_test(tc, picture_sizes, 0, G_N_ELEMENTS(sizes));
    return s;
}

int main(int argc, char **argv)
{
    gst_check_init(&argc, &argv);
    return gst_check_run_suite(suite(), "files", __FILE__);
}
