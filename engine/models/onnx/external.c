/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Constants whose bytes are in files beside the model's own ("external data"). */
#include "onnx.h"

#include <stdio.h>
#include <stdlib.h>

/* A name as long as file systems have them. */
#define MAX_FILE_NAME 256

struct onnx_file {
    const uint8_t *data;
    size_t size;
};

static const struct onnx_file *add_file(struct onnx_import *im, const struct onnx_name *key,
                                        const char *name)
{
    const void *data;
    size_t size;
    struct onnx_file *more = realloc(im->files, (im->file_count + (size_t)1) * sizeof(*more));

    if (more)
        im->files = more;
    if (!more || !tdl_map_add(&im->file_names, key, sizeof(*key), im->file_count)) {
        tdl_kit_fail_memory(&im->kit);
        return NULL;
    }
    if (!tdl_model_read_companion(im->builder, im->kit.source, name, &data, &size))
        return NULL;
    im->kit.file_bytes += size;
    im->files[im->file_count] = (struct onnx_file){data, size};
    return &im->files[im->file_count++];
}

/* Each is read once. NULL with the builder in error. */
static const struct onnx_file *find_file(struct onnx_import *im, const struct onnx_tensor *t)
{
    struct tdl_pb location = t->location;
    char name[MAX_FILE_NAME];

    if (location.size > 2 && location.data[0] == '.' && location.data[1] == '/') {
        location.data += 2; /* the folder is the model's */
        location.size -= 2;
    }
    const struct onnx_name key = onnx_name_key(im, &location);
    const uint64_t *place = tdl_map_find(&im->file_names, &key, sizeof(key));
    if (place)
        return &im->files[*place];
    if (location.size >= sizeof(name)) {
        tdl_kit_damaged(&im->kit,
                        "the model file is damaged: its other file has a name of %zu bytes",
                        location.size);
        return NULL;
    }
    /* Text that a terminal would obey is refused with folders and the like. */
    snprintf(name, sizeof(name), "%.*s", (int)location.size, (const char *)location.data);
    return add_file(im, &key, name);
}

bool onnx_read_external(struct onnx_import *im, uint64_t wanted, struct onnx_tensor *t)
{
    const struct onnx_file *file = find_file(im, t);
    const uint64_t length = t->length ? t->length : wanted;
    char text[64];

    if (!file)
        return false;
    if (t->offset > file->size || length > file->size - t->offset)
        return tdl_kit_damaged(
            &im->kit,
            "the tensor '%s' lies at %llu with %llu bytes in a file of %zu bytes: the "
            "files do not belong together, or one is damaged; get both again",
            tdl_pb_text(&t->name, text, sizeof(text)), (unsigned long long)t->offset,
            (unsigned long long)length, file->size);
    t->raw = (struct tdl_pb){.data = file->data + t->offset, .size = (size_t)length};
    return true;
}

void onnx_forget_files(struct onnx_import *im)
{
    free(im->files);
    tdl_map_finish(&im->file_names);
}
