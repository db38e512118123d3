/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Services of the door to readers: inputs and outputs as the caller wants them, files,
 * and sizes that a model leaves open. */
#define _GNU_SOURCE /* SEEK_DATA, asprintf() */
#include "format.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Larger than any model with a picture in and a mask out. */
#define MAX_FILE_SIZE (INT64_C(1) << 30)

bool tdl_model_output(struct tdl_builder *builder, const struct tdl_model_source *source,
                      const char *name, struct tdl_operand *operand)
{
    const struct tdl_model_params *p = source->params;

    if (p->output)
        operand = p->output(p->output_data, builder, name, operand);
    if (!operand)
        return tdl_builder_status(builder) == TDL_OK;
    return tdl_builder_output(builder, name, operand) == TDL_OK;
}

static bool stands_for(const struct tdl_tensor_params *own, const struct tdl_tensor_params *desc)
{
    const bool types =
        own->dtype == desc->dtype || (own->dtype == TDL_FLOAT32 && desc->dtype == TDL_FLOAT16);

    return types && own->rank == desc->rank &&
           !memcmp(own->shape, desc->shape, own->rank * sizeof(own->shape[0]));
}

struct tdl_operand *tdl_model_input(struct tdl_builder *builder,
                                    const struct tdl_model_source *source, const char *name,
                                    const struct tdl_tensor_params *desc, bool *out_given)
{
    const struct tdl_model_params *p = source->params;
    struct tdl_operand *own = p->input ? p->input(p->input_data, builder, name, desc) : NULL;

    *out_given = own != NULL;
    if (tdl_builder_status(builder) != TDL_OK)
        return NULL;
    if (!own)
        return tdl_builder_input(builder, name, desc);
    if (stands_for(tdl_operand_get_desc(own), desc))
        return own;
    tdl_builder_fail(builder, TDL_ERROR_INVALID_ARGUMENT,
                     "what is given for the input '%.400s' has another shape or type", name);
    return NULL;
}

/* ------------------------------------------------------------------- files */

/* "cannot read the model file 'x': no such file": false for convenience. */
static bool fail_errno(struct tdl_builder *builder, const char *what, const char *path, int error)
{
    tdl_builder_fail(builder, error == ENOMEM ? TDL_ERROR_OUT_OF_MEMORY : TDL_ERROR_IO,
                     "cannot %s the model file '%s': %s", what, path, strerror(error));
    return false;
}

/* A file without an end, or with none yet, is refused before anything is read. */
static bool check_kind(struct tdl_builder *builder, const char *path, int fd, size_t *out_size)
{
    struct stat st;

    if (fstat(fd, &st) != 0)
        return fail_errno(builder, "read", path, errno);
    if (S_ISDIR(st.st_mode))
        return fail_errno(builder, "read", path, EISDIR);
    if (!S_ISREG(st.st_mode)) {
        tdl_builder_fail(builder, TDL_ERROR_IO,
                         "cannot read the model file '%s': it is no regular file", path);
        return false;
    }
    if (st.st_size > MAX_FILE_SIZE) {
        tdl_builder_fail(builder, TDL_ERROR_INVALID_MODEL,
                         "the model file '%s' has %lld bytes; libtdl reads up to 1 GiB", path,
                         (long long)st.st_size);
        return false;
    }
    *out_size = (size_t)st.st_size;
    return true;
}

/* Bytes `start` to `end` of the file into the same place of `data`. */
bool tdl_model_read_range(struct tdl_builder *builder, const char *path, int fd,
                          unsigned char *data, size_t start, size_t end)
{
    while (start < end) {
        const ssize_t got = pread(fd, data + start, end - start, (off_t)start);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return fail_errno(builder, "read", path, errno);
        if (got == 0) {
            tdl_builder_fail(builder, TDL_ERROR_IO,
                             "the model file '%s' ends at byte %zu of %zu: it is being written",
                             path, start, end);
            return false;
        }
        start += (size_t)got;
    }
    return true;
}

/* Holes of the file stay holes: pages that nobody touches cost no memory. */
static bool read_data(struct tdl_builder *builder, const char *path, int fd, unsigned char *data,
                      size_t size)
{
    size_t end = 0;

    while (end < size) {
        const off_t start = lseek(fd, (off_t)end, SEEK_DATA);
        const off_t hole = start < 0 ? -1 : lseek(fd, start, SEEK_HOLE);

        if (start < 0 && errno == ENXIO) /* nothing more */
            return true;
        if (hole <= start) /* not on this file system */
            return tdl_model_read_range(builder, path, fd, data, end, size);
        end = (size_t)hole < size ? (size_t)hole : size;
        if (!tdl_model_read_range(builder, path, fd, data, (size_t)start, end))
            return false;
    }
    return true;
}

/* Without O_NONBLOCK, opening a pipe waits for its writer. */
int tdl_model_open_file(struct tdl_builder *builder, const char *path, size_t *out_size)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

    if (fd < 0)
        fail_errno(builder, "open", path, errno);
    else if (check_kind(builder, path, fd, out_size))
        return fd;
    else
        close(fd);
    return -1;
}

/* Not mapped: a file that shrinks meanwhile would kill the process. NULL with the
 * builder in error, which otherwise owns the memory: constants point into it. */
void *tdl_model_read_file(struct tdl_builder *builder, const char *path, int fd, size_t size)
{
    unsigned char *data = calloc(1, size ? size : 1);

    if (!data) {
        fail_errno(builder, "read", path, ENOMEM);
        return NULL;
    }
    if (!read_data(builder, path, fd, data, size)) {
        free(data);
        return NULL;
    }
    tdl_builder_own(builder, data, free);
    return data;
}

/* -------------------------------------------------------------- companions */

/* Names come from files: no folders, and nothing that a terminal would obey. */
static bool is_plain_name(const char *name)
{
    if (!*name || !strcmp(name, ".") || !strcmp(name, ".."))
        return false;
    for (const char *c = name; *c; c++)
        if (*c == '/' || (unsigned char)*c < 0x20 || *c == 0x7f)
            return false;
    return true;
}

/* Path of the file beside the source's own; the caller frees it. NULL on errors. */
static char *companion_path(struct tdl_builder *builder, const struct tdl_model_source *source,
                            const char *name)
{
    const char *slash = source->path ? strrchr(source->path, '/') : NULL;
    const int folder = slash ? (int)(slash + 1 - source->path) : 0;
    char *path;

    if (!is_plain_name(name))
        tdl_builder_fail(builder, TDL_ERROR_INVALID_MODEL,
                         "the model needs another file by a name that no file beside its own can "
                         "have: put both into one folder, and name it without that folder");
    else if (!source->path)
        tdl_builder_fail(builder, TDL_ERROR_UNSUPPORTED,
                         "the model needs the file '%.200s' beside its own, and was given as "
                         "memory: load it by its path",
                         name);
    else if (asprintf(&path, "%.*s%s", folder, source->path, name) < 0)
        fail_errno(builder, "open", name, ENOMEM);
    else
        return path;
    return NULL;
}

bool tdl_model_read_companion(struct tdl_builder *builder, const struct tdl_model_source *source,
                              const char *name, const void **out_data, size_t *out_size)
{
    char *path = companion_path(builder, source, name);

    if (path && access(path, F_OK) != 0 && errno == ENOENT)
        tdl_builder_fail(builder, TDL_ERROR_IO,
                         "cannot open the model file '%s': %s. The model is more than one file; "
                         "copy this one, too, into the folder of '%s'",
                         path, strerror(ENOENT), source->path);
    const int fd = path && tdl_builder_status(builder) == TDL_OK
                       ? tdl_model_open_file(builder, path, out_size)
                       : -1;
    *out_data = fd >= 0 ? tdl_model_read_file(builder, path, fd, *out_size) : NULL;
    if (fd >= 0)
        close(fd);
    free(path);
    return *out_data != NULL;
}
