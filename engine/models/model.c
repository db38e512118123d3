/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Model files, whatever their format. */
#include <tdl/tdl.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads until the end instead of asking for the size: the path may be a pipe,
 * a file that grows, or a folder (which fails at the first read). */
static enum tdl_result read_file(struct tdl_builder *builder, const char *path, FILE *file,
                                 void **out_data, size_t *out_size)
{
    unsigned char *data = NULL;
    size_t size = 0, room = 0;

    for (;;) {
        size_t got;

        if (size == room) {
            const size_t more = room ? 2 * room : 512 * 1024;
            unsigned char *larger = more > INT32_MAX ? NULL : realloc(data, more);

            if (!larger) {
                free(data);
                tdl_builder_fail(builder, TDL_ERROR_OUT_OF_MEMORY,
                                 "no memory for the model file '%s' of more than %zu bytes", path,
                                 size);
                return TDL_ERROR_OUT_OF_MEMORY;
            }
            data = larger;
            room = more;
        }
        got = fread(data + size, 1, room - size, file);
        size += got;
        if (got == 0)
            break;
    }
    if (ferror(file)) {
        tdl_builder_fail(builder, TDL_ERROR_IO, "cannot read the model file '%s': %s", path,
                         strerror(errno));
        free(data);
        return TDL_ERROR_IO;
    }
    *out_data = data;
    *out_size = size;
    return TDL_OK;
}

enum tdl_result tdl_model_load(struct tdl_builder *builder, const char *path)
{
    enum tdl_result r;
    void *data = NULL;
    size_t size = 0;
    FILE *file;

    if (!builder)
        return TDL_ERROR_INVALID_ARGUMENT;
    if (tdl_builder_status(builder) != TDL_OK)
        return tdl_builder_status(builder);
    if (!path || !*path) {
        tdl_builder_fail(builder, TDL_ERROR_INVALID_ARGUMENT, "no path of a model file was given");
        return TDL_ERROR_INVALID_ARGUMENT;
    }
    file = fopen(path, "rbe");
    if (!file) {
        tdl_builder_fail(builder, TDL_ERROR_IO, "cannot open the model file '%s': %s", path,
                         strerror(errno));
        return TDL_ERROR_IO;
    }
    r = read_file(builder, path, file, &data, &size);
    fclose(file);
    if (r != TDL_OK)
        return r;
    tdl_builder_own(builder, data, free); /* constants point into it */
    return tdl_tflite_import(builder, data, size);
}
