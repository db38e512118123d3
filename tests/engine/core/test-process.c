/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The library as a guest in a process: its threads leave signals to the program, and what a
 * fork takes along of it is refused in words.
 */
#include "line.h"

#include <dirent.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __has_feature
#if __has_feature(thread_sanitizer)
#define __SANITIZE_THREAD__
#endif
#endif

/* A line of /proc/self/task/ID/FILE that begins with `key`, or its first; "" if gone. */
static void read_task(const char *id, const char *file, const char *key, char *text, int size)
{
    char path[320];
    snprintf(path, sizeof(path), "/proc/self/task/%s/%s", id, file);
    FILE *f = fopen(path, "r");
    *text = 0;
    while (f && fgets(text, size, f) && strncmp(text, key, strlen(key)) != 0)
        *text = 0;
    if (f)
        fclose(f);
    text[strcspn(text, "\n")] = 0;
}

static bool blocks(const char *line, int signal)
{
    return strtoull(line + strlen("SigBlk:"), NULL, 16) >> (signal - 1) & 1;
}

/* TRUE if the thread is one of the library's. */
static bool check_thread(const char *id)
{
    char name[64], line[128];
    bool takes, faults;
    for (int tries = 0; tries < 1000; tries++) {
        read_task(id, "comm", "", name, sizeof(name));
        read_task(id, "status", "SigBlk:", line, sizeof(line));
        if (!*line) /* the thread has ended meanwhile */
            return false;
        takes = !blocks(line, SIGUSR1) || !blocks(line, SIGALRM) || !blocks(line, SIGTERM);
        faults = strncmp(name, "tdl-", 4) != 0 || !blocks(line, SIGSEGV);
        if (!takes && faults)
            break;
        usleep(5000); /* libc's own beginnings of a thread have everything blocked */
    }
    CHECK(!takes, "thread \"%s\" takes signals: %s", name, line);
    CHECK(faults, "thread \"%s\" blocks its own faults: %s", name, line);
    return !strncmp(name, "tdl-", 4);
}

static void check_threads(bool after_use)
{
    DIR *tasks = opendir("/proc/self/task");
    uint32_t ours = 0;
    check_begin("threads%s", after_use ? ", after use" : "");
    for (struct dirent *d; tasks && (d = readdir(tasks));) {
        const long id = strtol(d->d_name, NULL, 10);
        if (id && id != getpid() && check_thread(d->d_name))
            ours++;
    }
    if (tasks)
        closedir(tasks);
    CHECK(!after_use || ours, "no thread has a name of the library's");
}

static void on_read(void *data, enum tdl_result r)
{
    CHECK(r == TDL_OK, "%s", tdl_last_error());
    sem_post(data);
}

/* Everything that starts threads. */
static void use(struct tdl_context *ctx)
{
    static float got[ELEMENTS];
    struct tdl_tensor *x = tensor_of(ctx, READ | WRITE), *y = tensor_of(ctx, READ | WRITE);
    struct tdl_graph *g = line_graph(ctx, 2, 1);
    sem_t done;
    sem_init(&done, 0, 0);
    OK(dispatch(g, x, y));
    OK(tdl_tensor_read_async(y, got, sizeof(got), on_read, &done, NULL));
    while (sem_wait(&done))
        ;
    check_threads(true);
    sem_destroy(&done);
    tdl_graph_destroy(&g);
    tdl_tensor_destroy(&x);
    tdl_tensor_destroy(&y);
}

/* --------------------------------------------------------------------- forks */

static void ignore_read(void *data, enum tdl_result r)
{
    (void)data, (void)r;
}

struct things {
    struct tdl_context *ctx;
    struct tdl_tensor *x, *y;
    struct tdl_graph *graph;
    struct tdl_batch *batch;
};

/* In the child: each call ends, and with the reason. */
static void check_child(struct things *t)
{
    static const char why[] = "was forked";
    static float values[ELEMENTS];
    const struct tdl_tensor_params params = {.rank = 0};
    struct tdl_tensor *made;
    check_begin("in a forked process");
    FAILS(tdl_tensor_create(t->ctx, &params, &made), TDL_ERROR_INVALID_STATE, why);
    FAILS(tdl_tensor_write(t->x, values, sizeof(values), NULL), TDL_ERROR_INVALID_STATE, why);
    FAILS(tdl_tensor_read(t->x, values, sizeof(values)), TDL_ERROR_INVALID_STATE, why);
    FAILS(tdl_tensor_read_async(t->x, values, sizeof(values), ignore_read, NULL, NULL),
          TDL_ERROR_INVALID_STATE, why);
    FAILS(dispatch(t->graph, t->x, t->y), TDL_ERROR_INVALID_STATE, why);
    FAILS(tdl_context_sync(t->ctx), TDL_ERROR_INVALID_STATE, why);
    FAILS(tdl_context_save_cache(t->ctx), TDL_ERROR_INVALID_STATE, why);
    FAILS(tdl_batch_begin(t->batch), TDL_ERROR_INVALID_STATE, why);
    tdl_batch_destroy(&t->batch);
    tdl_graph_destroy(&t->graph);
    tdl_tensor_destroy(&t->x);
    tdl_tensor_destroy(&t->y);
    tdl_context_destroy(&t->ctx);
#ifndef __SANITIZE_THREAD__ /* its runtime allows a forked process no threads */
    const struct tdl_context_params cpu = {.device = "cpu", .threads = 2};
    OK(tdl_context_create(&cpu, &t->ctx));
    t->x = tensor_of(t->ctx, READ | WRITE);
    write_all(t->x, 3);
    CHECK(expect_all(t->x, 3), "the child's own context");
    tdl_tensor_destroy(&t->x);
    tdl_context_destroy(&t->ctx);
#endif
}

static void check_fork(struct tdl_context *ctx)
{
    struct things t = {.ctx = ctx,
                       .x = tensor_of(ctx, READ | WRITE),
                       .y = tensor_of(ctx, READ | WRITE),
                       .graph = line_graph(ctx, 2, 1)};
    int status;
    OK(tdl_batch_create(ctx, &t.batch));
    write_all(t.x, 4);
    fflush(stdout);
    const int failures = check_failures();
    const pid_t child = fork();
    REQUIRE(child >= 0, "no fork");
    if (!child) {
        alarm(60);
        check_child(&t);
        fflush(stdout);
        _exit(check_failures() > failures ? EXIT_FAILURE : EXIT_SUCCESS);
    }
    check_begin("fork");
    while (waitpid(child, &status, 0) < 0)
        ;
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS, "the child ended with %#x",
          (unsigned)status);
    OK(dispatch(t.graph, t.x, t.y));
    CHECK(expect_all(t.y, 9), "the parent's own went on");
    tdl_batch_destroy(&t.batch);
    tdl_graph_destroy(&t.graph);
    tdl_tensor_destroy(&t.x);
    tdl_tensor_destroy(&t.y);
}

/* A level that there is not was taken for one that lets all pass. */
static void check_log_level(void)
{
    const struct tdl_context_params params = {.device = "cpu", .log_level = (enum tdl_log_level)77};
    struct tdl_context *ctx;
    check_begin("log level");
    FAILS(tdl_context_create(&params, &ctx), TDL_ERROR_INVALID_ARGUMENT, "no level 77");
}

int main(void)
{
    check_log_level();
    struct tdl_context *ctx = check_context_open();
    check_threads(false);
    use(ctx);
    check_fork(ctx);
    check_context_close(ctx);
    return check_result();
}
