/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Models of dynamic sizes: shapes are computed while a file is read, so for another size it is
 * read again. A file is read from the disk, as readers change what they have read; the weights
 * that come of it are those that the context has already.
 */
#define _GNU_SOURCE /* asprintf(), get_current_dir_name() */
#include "format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Copies of what the caller said. */
struct model {
    struct tdl_model_params params;
    const void *data; /* borrowed; NULL: it is a file */
    size_t size;
    char *path;
    struct stat file; /* as it was */
    struct tdl_model_dimension *dimensions;
    struct tdl_model_number *numbers;
};

static void release(void *data)
{
    struct model *m = data;

    for (uint32_t i = 0; m->dimensions && i < m->params.dimension_count; i++)
        free((char *)m->dimensions[i].name);
    for (uint32_t i = 0; m->numbers && i < m->params.number_count; i++)
        free((char *)m->numbers[i].input);
    free(m->dimensions);
    free(m->numbers);
    free(m->path);
    free(m);
}

/* False when out of memory; NULL stays NULL. */
static bool copy_text(const char *text, const char **out)
{
    *out = text ? strdup(text) : NULL;
    return !text || *out;
}

/* As it is found from another folder, too; files beside it are found beside that name. */
static bool copy_path(const char *path, char **out)
{
    char *folder = NULL;

    *out = NULL;
    if (!path || *path == '/')
        return copy_text(path, (const char **)out);
    folder = get_current_dir_name();
    if (!folder || asprintf(out, "%s/%s", folder, path) < 0)
        *out = NULL;
    free(folder);
    return *out != NULL;
}

static bool copy_params(struct model *m, const struct tdl_model_params *from)
{
    bool ok;

    m->params = *from;
    m->params.more = NULL;
    m->dimensions = calloc(from->dimension_count + (size_t)1, sizeof(*m->dimensions));
    m->numbers = calloc(from->number_count + (size_t)1, sizeof(*m->numbers));
    ok = m->dimensions && m->numbers;
    for (uint32_t i = 0; ok && i < from->dimension_count; i++) {
        m->dimensions[i] = from->dimensions[i];
        m->dimensions[i].optional = true; /* dynamic ones are said by their places */
        ok = copy_text(from->dimensions[i].name, &m->dimensions[i].name);
    }
    for (uint32_t i = 0; ok && i < from->number_count; i++) {
        m->numbers[i] = from->numbers[i];
        ok = copy_text(from->numbers[i].input, &m->numbers[i].input);
    }
    m->params.dimensions = m->dimensions;
    m->params.numbers = m->numbers;
    return ok;
}

/* ------------------------------------------------------------------- other sizes */

/* Sizes by the places of the inputs' dimensions, and behind them what the caller said. */
struct sizes {
    struct tdl_model_dimension *list;
    char **names;
    uint32_t count, named;
};

static void sizes_finish(struct sizes *s)
{
    for (uint32_t i = 0; s->names && i < s->named; i++)
        free(s->names[i]);
    free(s->names);
    free(s->list);
}

static bool add_place(struct sizes *s, const struct tdl_input_size *size, uint32_t i)
{
    const size_t room = strlen(size->name) + 16;
    char *name = malloc(room);

    if (!name)
        return false;
    snprintf(name, room, "%s:%u", size->name, i);
    s->names[s->named++] = name;
    s->list[s->count++] =
        (struct tdl_model_dimension){.name = name, .size = size->shape[i], .optional = true};
    return true;
}

static bool list_sizes(const struct model *m, const struct tdl_input_size *sizes, uint32_t count,
                       struct sizes *out)
{
    const size_t most = (size_t)count * TDL_MAX_RANK;
    bool ok;

    *out = (struct sizes){
        .list = calloc(most + m->params.dimension_count + 1, sizeof(*out->list)),
        .names = calloc(most + 1, sizeof(*out->names)),
    };
    ok = out->list && out->names;
    for (uint32_t k = 0; ok && k < count; k++)
        for (uint32_t i = 0; ok && i < TDL_MAX_RANK; i++)
            ok = !sizes[k].shape[i] || add_place(out, &sizes[k], i);
    for (uint32_t i = 0; ok && i < m->params.dimension_count; i++)
        out->list[out->count++] = m->dimensions[i];
    return ok;
}

static bool has_changed(const struct model *m)
{
    struct stat now;

    return stat(m->path, &now) != 0 || now.st_dev != m->file.st_dev ||
           now.st_ino != m->file.st_ino || now.st_size != m->file.st_size ||
           now.st_mtim.tv_sec != m->file.st_mtim.tv_sec ||
           now.st_mtim.tv_nsec != m->file.st_mtim.tv_nsec;
}

static enum tdl_result read_again(const struct model *m, struct tdl_builder *builder,
                                  const struct tdl_model_params *params)
{
    if (!m->path)
        return tdl_model_import(builder, m->data, m->size, params);
    if (!has_changed(m))
        return tdl_model_load(builder, m->path, params);
    tdl_builder_fail(builder, TDL_ERROR_IO,
                     "the model file '%s' is read again for another size, and it is not the file "
                     "that it was: build the graph anew",
                     m->path);
    return tdl_builder_status(builder);
}

static enum tdl_result remake(void *data, struct tdl_builder *builder,
                              const struct tdl_input_size *sizes, uint32_t count)
{
    const struct model *m = data;
    struct tdl_model_params params = m->params;
    struct sizes all;

    if (!list_sizes(m, sizes, count, &all))
        tdl_builder_fail(builder, TDL_ERROR_OUT_OF_MEMORY, "no memory to read the model again");
    params.dimensions = all.list;
    params.dimension_count = all.count;
    if (tdl_builder_status(builder) == TDL_OK)
        read_again(m, builder, &params);
    sizes_finish(&all);
    return tdl_builder_status(builder);
}

void tdl_model_remember(struct tdl_builder *builder, const struct tdl_model_source *source)
{
    const struct tdl_model_more *more = source->params->more;
    struct model *m;

    if (!more || (!more->dynamic && !more->range_count) || tdl_builder_status(builder) != TDL_OK)
        return;
    m = calloc(1, sizeof(*m));
    if (m && copy_params(m, source->params) && copy_path(source->path, &m->path)) {
        m->data = source->path ? NULL : source->data;
        m->size = source->size;
        if (!m->path || stat(m->path, &m->file) == 0) {
            tdl_builder_set_remake(builder, remake, m, release);
            return;
        }
        tdl_builder_fail(builder, TDL_ERROR_IO, "the model file '%s' has gone while it was read",
                         m->path);
    } else {
        tdl_builder_fail(builder, TDL_ERROR_OUT_OF_MEMORY, "no memory to keep a model's sizes");
    }
    if (m)
        release(m);
}
