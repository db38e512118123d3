/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* NumPy's format 1.0 (numpy.lib.format): a magic number, the length of a header, the
 * header, a Python dictionary, and the elements. */
#include "run_npy.h"
#include "tool.h"

#include <stdlib.h>
#include <string.h>

static const char magic[] = "\x93NUMPY";

static const struct {
    enum tdl_dtype dtype;
    const char *name;
} types[] = {
    {TDL_FLOAT32, "<f4"}, {TDL_FLOAT16, "<f2"}, {TDL_INT32, "<i4"},
    {TDL_UINT32, "<u4"},  {TDL_INT8, "|i1"},    {TDL_UINT8, "|u1"},
    {TDL_INT64, "<i8"},   {TDL_UINT64, "<u8"},  {TDL_UINT8, "|b1"},
};

static const char *type_name(enum tdl_dtype dtype)
{
    size_t i = 0;

    while (types[i].dtype != dtype)
        i++;
    return types[i].name;
}

#define MAX_RANK 32 /* NumPy's */

struct shape {
    uint32_t rank;
    unsigned long long size[MAX_RANK];
};

/* The header of an open file: the name of the type into `type`, and the shape; NULL, or what
 * is wrong with it. */
static const char *read_header(FILE *file, char type[8], struct shape *shape)
{
    static const char none[] = "it is no NumPy array of format 1.0";
    unsigned char start[10];
    char header[1024];
    const char *at, *end;
    size_t length;

    if (fread(start, 1, sizeof(start), file) != sizeof(start) || memcmp(start, magic, 6) != 0 ||
        start[6] != 1)
        return none;
    length = start[8] | (size_t)start[9] << 8;
    if (length >= sizeof(header))
        return none;
    if (fread(header, 1, length, file) != length)
        return "it ends in its header: copy it again";
    header[length] = 0;
    at = strstr(header, "'descr'");
    if (!at || sscanf(at, "'descr': '%7[^']'", type) != 1)
        return none;
    if (strstr(header, "True"))
        return "its elements are in Fortran's order: save numpy.ascontiguousarray() of it";
    at = strstr(header, "'shape'");
    at = at ? strchr(at, '(') : NULL;
    end = at ? strchr(at, ')') : NULL;
    if (!end)
        return none;
    for (shape->rank = 0, at++; at < end && shape->rank < MAX_RANK; at++) {
        char *rest;
        const unsigned long long size = strtoull(at, &rest, 10);

        if (rest == at)
            continue;
        shape->size[shape->rank++] = size;
        at = rest;
    }
    return NULL;
}

/* TRUE for equal dimensions, but for those of 1: a picture with its channels elsewhere is
 * another one. */
static bool fits(const struct shape *shape, const struct tdl_tensor_params *params)
{
    uint32_t a = 0, b = 0;

    for (;; a++, b++) {
        while (a < shape->rank && shape->size[a] == 1)
            a++;
        while (b < params->rank && params->shape[b] == 1)
            b++;
        if (a == shape->rank || b == params->rank)
            return a == shape->rank && b == params->rank;
        if (shape->size[a] != params->shape[b])
            return false;
    }
}

static const char *shape_text(const struct shape *shape, char *text, size_t size)
{
    size_t used = 0;

    *text = 0;
    for (uint32_t i = 0; i < shape->rank && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%llu", i ? "," : "", shape->size[i]);
    return text;
}

uint32_t run_npy_shape(const char *path, uint32_t *out, uint32_t capacity)
{
    FILE *file = fopen(path, "rb");
    struct shape shape = {0};
    char type[8];

    if (!file)
        return 0;
    if (read_header(file, type, &shape) || shape.rank > capacity)
        shape.rank = 0;
    fclose(file);
    for (uint32_t i = 0; i < shape.rank; i++) {
        if (shape.size[i] == 0 || shape.size[i] > INT32_MAX)
            return 0;
        out[i] = (uint32_t)shape.size[i];
    }
    return shape.rank;
}

void *run_read_npy(const char *path, const struct tdl_tensor_params *params)
{
    const size_t size = tdl_tensor_params_size(params);
    const char *wanted = type_name(params->dtype);
    FILE *file = fopen(path, "rb");
    char type[8], text[96], wanted_text[96];
    const char *wrong;
    void *data = NULL;
    struct shape shape;

    if (!file) {
        tool_fail("%s: it cannot be opened", path);
        return NULL;
    }
    wrong = read_header(file, type, &shape);
    if (wrong)
        tool_fail("%s: %s", path, wrong);
    else if (strcmp(type, wanted) && !(params->dtype == TDL_UINT8 && !strcmp(type, "|b1")))
        tool_fail("%s: its elements are '%s'; the input takes '%s'", path, type, wanted);
    else if (!fits(&shape, params))
        tool_fail("%s: its shape is [%s]; the input is %s", path,
                  shape_text(&shape, text, sizeof(text)),
                  tool_shape(params, wanted_text, sizeof(wanted_text)));
    else if (!(data = malloc(size)) || fread(data, 1, size, file) != size) {
        tool_fail("%s: it ends too early, or there is no memory for it", path);
        free(data);
        data = NULL;
    }
    fclose(file);
    return data;
}

int run_write_npy(const char *path, const struct tdl_tensor_params *params, const void *data)
{
    const size_t size = tdl_tensor_params_size(params);
    char header[256];
    int length;
    FILE *file = fopen(path, "wb");
    bool ok;

    length = snprintf(header, sizeof(header), "{'descr': '%s', 'fortran_order': False, 'shape': (",
                      type_name(params->dtype));
    for (uint32_t i = 0; i < params->rank; i++)
        length +=
            snprintf(header + length, sizeof(header) - (size_t)length, "%u,", params->shape[i]);
    length += snprintf(header + length, sizeof(header) - (size_t)length, ")}");
    while ((10 + length + 1) % 64) /* elements begin at a multiple */
        header[length++] = ' ';
    header[length++] = '\n';
    const unsigned char start[] = {0x93,
                                   'N',
                                   'U',
                                   'M',
                                   'P',
                                   'Y',
                                   1,
                                   0,
                                   (unsigned char)(length & 255),
                                   (unsigned char)(length >> 8)};
    ok = file && fwrite(start, 1, sizeof(start), file) == sizeof(start) &&
         fwrite(header, 1, (size_t)length, file) == (size_t)length &&
         fwrite(data, 1, size, file) == size;
    if (file && fclose(file) != 0)
        ok = false;
    return ok ? TOOL_OK : tool_fail("%s: it cannot be written", path);
}
