/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "groups.h"

#include <string.h>

enum { MAX_PATH = 1024 };

struct walk {
    const char *root, *controller;
    void (*see)(void *data, const char *folder);
    void *data;
};

FILE *tdl_cpu_open(const char *folder, const char *name)
{
    char path[2 * MAX_PATH];
    if ((size_t)snprintf(path, sizeof(path), "%s/%s", folder, name) >= sizeof(path))
        return NULL;
    return fopen(path, "re");
}

bool tdl_cpu_read_line(const char *folder, const char *name, char *line, int size)
{
    FILE *f = tdl_cpu_open(folder, name);
    const bool there = f && fgets(line, size, f);
    if (f)
        fclose(f);
    return there;
}

/* From the group at `path` below the mount up to the mount itself. In a container the
 * path may be the host's, of which nothing is mounted but the last: at the mount. */
static void walk_path(const struct walk *w, const char *mount, char *path)
{
    char folder[2 * MAX_PATH];
    for (;;) {
        if ((size_t)snprintf(folder, sizeof(folder), "%s%s", mount, path) < sizeof(folder))
            w->see(w->data, folder);
        char *slash = strrchr(path, '/');
        if (!slash)
            return;
        *slash = 0;
    }
}

/* "cpu" in "cpu,cpuacct" */
static bool names(const char *controllers, const char *controller)
{
    const size_t length = strlen(controller);
    const char *end;
    for (; *controllers; controllers = end + (*end == ',')) {
        end = controllers + strcspn(controllers, ",");
        if ((size_t)(end - controllers) == length && !memcmp(controllers, controller, length))
            return true;
    }
    return false;
}

/* A line is "NUMBER:CONTROLLERS:PATH", of v2 without controllers. */
static void walk_line(const struct walk *w, char *line)
{
    char mount[MAX_PATH];
    char *controllers = strchr(line, ':');
    char *path = controllers ? strchr(++controllers, ':') : NULL;
    if (!path)
        return;
    *path++ = 0;
    path[strcspn(path, "\n")] = 0;
    if (*controllers && !names(controllers, w->controller))
        return;
    if (strstr(path, "/..")) /* the group is out of sight */
        *path = 0;
    if ((size_t)snprintf(mount, sizeof(mount), "%s/sys/fs/cgroup%s%s", w->root,
                         *controllers ? "/" : "", controllers) < sizeof(mount))
        walk_path(w, mount, path);
}

void tdl_cpu_groups(const char *root, const char *controller,
                    void (*see)(void *data, const char *folder), void *data)
{
    const struct walk w = {root, controller, see, data};
    char proc[MAX_PATH], line[MAX_PATH];
    FILE *f = NULL;
    if ((size_t)snprintf(proc, sizeof(proc), "%s/proc/self", root) < sizeof(proc))
        f = tdl_cpu_open(proc, "cgroup");
    while (f && fgets(line, sizeof(line), f))
        walk_line(&w, line);
    if (f)
        fclose(f);
}
