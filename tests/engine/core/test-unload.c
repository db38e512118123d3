/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test-unload LIBRARY...: programs that open the library, use a context, and close it, again
 * and again, as plugins of others do: neither threads nor mappings become more. A library
 * that is not libtdl (it exports no tdl_context_create) is opened and closed alone. Both
 * stay mapped: drivers and runtimes below them have threads, and run code at the end.
 */
#include <tdl/tdl.h>

#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { ROUNDS = 8, WARM = 2 };

static int failures;

static void fail(const char *library, const char *what, long before, long after)
{
    fprintf(stderr, "%s: %s: %ld after %d rounds, %ld after %d\n", library, what, before, WARM,
            after, ROUNDS);
    failures++;
}

static long count_threads(void)
{
    DIR *tasks = opendir("/proc/self/task");
    long count = 0;
    for (struct dirent *d; tasks && (d = readdir(tasks));)
        count += d->d_name[0] != '.';
    if (tasks)
        closedir(tasks);
    return count;
}

/* Counts mappings of files only, as those of the heap may come and go. */
static long count_maps(void)
{
    FILE *f = fopen("/proc/self/maps", "r");
    char line[1024];
    long count = 0;
    while (f && fgets(line, sizeof(line), f))
        for (char *p = line; *p; p++)
            if (*p == '/') {
                count++;
                break;
            }
    if (f)
        fclose(f);
    return count;
}

/* False: no device. */
static int use(void *library)
{
    enum tdl_result (*create)(const struct tdl_context_params *, struct tdl_context **);
    void (*destroy)(struct tdl_context **);
    struct tdl_context *ctx = NULL;
    *(void **)&create = dlsym(library, "tdl_context_create");
    *(void **)&destroy = dlsym(library, "tdl_context_destroy");
    if (!create)
        return 1;
    const struct tdl_context_params params = {.device = getenv("TDL_DEVICE")};
    if (create(&params, &ctx) != TDL_OK)
        return 0;
    destroy(&ctx);
    return 1;
}

static int check(const char *path)
{
    long threads = 0, maps = 0;
    for (int i = 0; i < ROUNDS; i++) {
        void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (!library) {
            fprintf(stderr, "%s\n", dlerror());
            exit(1);
        }
        const int used = use(library);
        dlclose(library);
        if (!used)
            return 77;
        if (i + 1 == WARM) {
            threads = count_threads();
            maps = count_maps();
        }
    }
    /* Threads that were told to end may take a moment. */
    for (int tries = 0; tries < 1000 && count_threads() > threads; tries++)
        usleep(5000);
    if (count_threads() > threads)
        fail(path, "threads", threads, count_threads());
    if (count_maps() > maps)
        fail(path, "mappings of files", maps, count_maps());
    if (!dlopen(path, RTLD_NOW | RTLD_NOLOAD))
        fail(path, "it is unmapped", 1, 0);
    return 0;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (check(argv[i]) == 77) {
            fprintf(stderr, "skipped: no device\n");
            return 77;
        }
    return failures != 0;
}
