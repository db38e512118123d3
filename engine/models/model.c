/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The door for models: recognises what a file is, and has it imported. */
#define _GNU_SOURCE /* SEEK_DATA, asprintf() */
#include "foreign.h"
#include "format.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* One line a kind of file. */
static const struct tdl_model_format *const formats[] = {
    &tdl_model_tflite,
    &tdl_model_ncnn,
    &tdl_model_onnx,
    &tdl_model_tfjs,
};
#define FORMATS (sizeof(formats) / sizeof(formats[0]))

static const struct tdl_model_params nothing_known;

const char *tdl_model_format_name(uint32_t index)
{
    return index < FORMATS ? formats[index]->name : NULL;
}

const char *tdl_model_operator_name(uint32_t format, uint32_t index)
{
    return format < FORMATS ? formats[format]->operator_name(index) : NULL;
}

static const struct tdl_model_format *find_format(const void *head, size_t size)
{
    for (size_t i = 0; i < FORMATS; i++)
        if (formats[i]->recognises(head, size))
            return formats[i];
    return NULL;
}

/* What people have instead of a model that is read, and how one becomes of it. */
static enum tdl_result fail_foreign(struct tdl_builder *builder,
                                    const struct tdl_foreign_kind *kind)
{
    tdl_builder_fail(builder, TDL_ERROR_INVALID_MODEL, "this is %s, which libtdl does not read: %s",
                     kind->what, kind->way);
    return tdl_builder_status(builder);
}

static enum tdl_result fail_unknown(struct tdl_builder *builder, const char *path, const void *head,
                                    size_t size)
{
    const struct tdl_foreign_kind *foreign = tdl_foreign_find(head, size, path);
    const size_t length = path ? strlen(path) : 0;
    char known[128];
    size_t used = 0;

    if (foreign)
        return fail_foreign(builder, foreign);

    if (length > 4 && !strcmp(path + length - 4, ".bin")) {
        tdl_builder_fail(builder, TDL_ERROR_INVALID_MODEL,
                         "this is no model; if it has the weights of an ncnn one, give the "
                         "file \"%.*s.param\" that goes with it",
                         (int)length - 4, path);
        return tdl_builder_status(builder);
    }

    for (size_t i = 0; i < FORMATS && used < sizeof(known); i++)
        used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s",
                                 i == 0             ? ""
                                 : i + 1 == FORMATS ? " and "
                                                    : ", ",
                                 formats[i]->name);
    tdl_builder_fail(builder, TDL_ERROR_INVALID_MODEL,
                     "this is no model of a kind that libtdl reads, which are %s", known);
    return tdl_builder_status(builder);
}

static enum tdl_result import_source(struct tdl_builder *builder,
                                     const struct tdl_model_source *source)
{
    if (!source->data || source->size == 0) {
        tdl_builder_fail(builder, TDL_ERROR_INVALID_ARGUMENT,
                         "there is no model to import: it is empty");
        return tdl_builder_status(builder);
    }
    const struct tdl_model_format *format = find_format(source->data, source->size);
    if (!format)
        return fail_unknown(builder, source->path, source->data, source->size);
    format->import(builder, source);
    tdl_builder_fix_sizes(builder); /* from which shapes were computed */
    tdl_model_remember(builder, source);
    return tdl_builder_status(builder);
}

/* False, with an error, if something is set in what is kept for later versions. */
static bool check_known(struct tdl_builder *builder, const struct tdl_model_params *params)
{
    const struct tdl_model_more *more = params ? params->more : NULL;
    const size_t words = more ? sizeof(more->reserved) / sizeof(more->reserved[0]) : 0;

    for (size_t i = 0; i < words; i++)
        if (more->reserved[i])
            tdl_builder_fail(builder, TDL_ERROR_INVALID_ARGUMENT,
                             "struct tdl_model_more: a field that this version does not know "
                             "is set; zero the struct before filling it in, or use a newer libtdl");
    return tdl_builder_status(builder) == TDL_OK;
}

static bool check_list(struct tdl_builder *builder, const char *name, const void *list,
                       uint32_t count)
{
    if (count == 0 || list)
        return true;
    tdl_builder_fail(builder, TDL_ERROR_INVALID_ARGUMENT,
                     "struct tdl_model_params: %s is NULL, and there are said to be %u", name,
                     count);
    return false;
}

/* Checks this for every reader: false with an error. */
static bool check_params(struct tdl_builder *builder, const struct tdl_model_params *params)
{
    return check_known(builder, params) &&
           (!params ||
            (check_list(builder, "dimensions", params->dimensions, params->dimension_count) &&
             check_list(builder, "numbers", params->numbers, params->number_count) &&
             (!params->more ||
              check_list(builder, "ranges", params->more->ranges, params->more->range_count))));
}

enum tdl_result tdl_model_import(struct tdl_builder *builder, const void *data, size_t size,
                                 const struct tdl_model_params *params)
{
    const struct tdl_model_source source = {
        .data = data, .size = size, .params = params ? params : &nothing_known};

    if (!builder) {
        tdl_builder_fail(NULL, TDL_ERROR_INVALID_ARGUMENT, NULL); /* says so */
        return TDL_ERROR_INVALID_ARGUMENT;
    }
    if (!check_params(builder, params))
        return tdl_builder_status(builder);
    return import_source(builder, &source);
}

/* ------------------------------------------------------------------- files */

/* A file that is no model is refused by its first bytes, or by its name. */
static bool check_head(struct tdl_builder *builder, const char *path, int fd, size_t size)
{
    const struct tdl_foreign_kind *mistaken = tdl_foreign_find_mistaken(path);
    unsigned char head[TDL_FOREIGN_HEAD];

    if (mistaken)
        fail_foreign(builder, mistaken);
    if (mistaken || size < TDL_MODEL_HEAD)
        return !mistaken;
    size = size < sizeof(head) ? size : sizeof(head);
    if (!tdl_model_read_range(builder, path, fd, head, 0, size))
        return false;
    if (!find_format(head, size))
        fail_unknown(builder, path, head, size);
    return tdl_builder_status(builder) == TDL_OK;
}

/* Folders that are models of other kinds; true if it is one. */
static bool refuse_folder(struct tdl_builder *builder, const char *path)
{
    const struct tdl_foreign_kind *kind = NULL;
    struct stat st;
    char *saved;

    if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode))
        return false;
    kind = tdl_foreign_find_name(path);
    if (!kind && asprintf(&saved, "%s/saved_model.pb", path) >= 0) {
        kind = access(saved, F_OK) == 0 ? tdl_foreign_find_name(saved) : NULL;
        free(saved);
    }
    if (kind)
        fail_foreign(builder, kind);
    return kind != NULL;
}

enum tdl_result tdl_model_load(struct tdl_builder *builder, const char *path,
                               const struct tdl_model_params *params)
{
    struct tdl_model_source source = {
        .path = path, .writable = true, .params = params ? params : &nothing_known};
    int fd;

    if (!builder) {
        tdl_builder_fail(NULL, TDL_ERROR_INVALID_ARGUMENT, NULL); /* says so */
        return TDL_ERROR_INVALID_ARGUMENT;
    }
    if (!check_params(builder, params))
        return tdl_builder_status(builder);
    if (!path || !*path) {
        tdl_builder_fail(builder, TDL_ERROR_INVALID_ARGUMENT, "no path of a model file was given");
        return TDL_ERROR_INVALID_ARGUMENT;
    }
    if (refuse_folder(builder, path))
        return tdl_builder_status(builder);
    fd = tdl_model_open_file(builder, path, &source.size);
    if (fd < 0)
        return tdl_builder_status(builder);
    if (check_head(builder, path, fd, source.size))
        source.data = tdl_model_read_file(builder, path, fd, source.size);
    close(fd);
    return source.data ? import_source(builder, &source) : tdl_builder_status(builder);
}
