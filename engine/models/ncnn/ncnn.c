/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ncnn's models: a text of layers in an order in which they can run, X.param, and
 * the weights in that order, X.bin beside it.
 *
 *     7767517
 *     2 2                                             layers, blobs
 *     Input        picture  0 1 data 0=640 1=480 2=3  type, name, bottoms, tops, parameters
 *     Convolution  conv     1 1 data out 0=8 1=3 6=216
 *
 * Nothing in either is believed: names, counts and numbers are checked where they
 * are read, shapes by the builder; weights are taken from the front to the end, so
 * that none is read twice. What no layer reads is an output.
 */
#include "ncnn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC "7767517"
#define MAX_LAYERS 1000000
#define COLOURS 3          /* of the first input, where a layer does not say how many */
#define MAX_OPEN_INPUTS 16 /* for whose channels the text is searched */

/* -------------------------------------------------------------------- layers */

/* Type, name and the numbers of bottoms and tops. */
static bool read_head(struct ncnn_text *text, struct ncnn_layer *l)
{
    const char *start;

    return ncnn_word(text, l->type, sizeof(l->type), &start) > 0 &&
           ncnn_word(text, l->name, sizeof(l->name), &start) > 0 &&
           ncnn_count(text, NCNN_MAX_ARGS, &l->bottom_count) &&
           ncnn_count(text, NCNN_MAX_ARGS, &l->top_count);
}

static bool read_layer(struct ncnn_import *im, struct ncnn_layer *l)
{
    const char *start;
    char word[8];

    if (!read_head(&im->text, l))
        return tdl_kit_damaged(
            &im->kit,
            "the model file is damaged: line %u is no layer of up to %d bottoms and "
            "tops",
            im->text.line, NCNN_MAX_ARGS);
    for (uint32_t i = 0; i < l->bottom_count; i++) {
        const uint32_t length = ncnn_word(&im->text, word, sizeof(word), &start);

        if (!ncnn_find_blob(im, start, length, false, &l->bottoms[i]))
            return false;
        im->blobs[l->bottoms[i]].used = true;
    }
    for (uint32_t i = 0; i < l->top_count; i++) {
        const uint32_t length = ncnn_word(&im->text, word, sizeof(word), &start);

        if (!ncnn_find_blob(im, start, length, true, &l->tops[i]))
            return false;
    }
    return ncnn_read_params(im, l);
}

/* ---------------------------------------------------------------------- inputs */

/* Channels that the first layer behind a blob takes, or `fallback` if it does not say: the text
 * is read on as far as there, past the layers that only give the blob other names. */
static uint32_t find_channels(struct ncnn_import *im, const struct ncnn_blob *blob,
                              uint32_t fallback)
{
    struct {
        const char *name;
        uint32_t length;
    } names[NCNN_MAX_ARGS] = {{blob->name, blob->length}};
    const struct ncnn_text here = im->text;
    uint32_t known = 1, channels = 0;
    const char *start;
    char word[8];
    bool found = false;

    while (!found && ncnn_next_line(&im->text)) {
        struct ncnn_layer l = {0};

        if (!read_head(&im->text, &l))
            break;
        for (uint32_t i = 0; i < l.bottom_count; i++) {
            const uint32_t length = ncnn_word(&im->text, word, sizeof(word), &start);

            for (uint32_t k = 0; k < known; k++)
                found |= length == names[k].length && !memcmp(start, names[k].name, length);
        }
        const bool splits = found && !strcmp(l.type, "Split");
        for (uint32_t i = 0; i < l.top_count; i++) {
            const uint32_t length = ncnn_word(&im->text, word, sizeof(word), &start);

            if (splits && known < NCNN_MAX_ARGS) {
                names[known].name = start;
                names[known++].length = length;
            }
        }
        if (splits)
            found = false;
        else if (found && !strncmp(l.type, "Convolution", 11) && ncnn_read_params(im, &l)) {
            const int64_t w = ncnn_int(&l, 1, 1), h = ncnn_int(&l, 11, (int32_t)w);
            const int64_t outputs = ncnn_int(&l, 0, 1), groups = ncnn_int(&l, 7, 1);
            const int64_t taps = w > 0 && h > 0 && w < 4096 && h < 4096 ? w * h : 1;

            if (outputs > 0 && groups > 0)
                channels = (uint32_t)((int64_t)ncnn_int(&l, 6, 0) / taps / outputs * groups);
        } else if (found) {
            channels = fallback;
        }
    }
    im->text = here;
    return channels;
}

static void blob_name(const struct ncnn_blob *blob, char text[TDL_KIT_NAME])
{
    const size_t length = blob->length < TDL_KIT_NAME - 1 ? blob->length : TDL_KIT_NAME - 1;

    memcpy(text, blob->name, length);
    text[length] = 0;
}

/* A picture: its sizes are what the caller says, since ncnn takes those of the file, which
 * seldom are there, for a hint. */
static void read_picture(struct ncnn_import *im, const struct ncnn_layer *l,
                         struct tdl_kit_input *in, uint32_t *searched)
{
    in->rank = 4;
    in->size[0] = 1;
    for (uint32_t d = 1; d < 4; d++)
        in->hint[d] = ncnn_int(l, 3 - d, 0);
    if (in->hint[1] <= 0 && !tdl_kit_said(&im->kit, in, 1) && ++*searched <= MAX_OPEN_INPUTS)
        in->hint[1] = find_channels(im, &im->blobs[l->tops[0]], l->index == 0 ? COLOURS : 0);
}

static bool add_input(struct ncnn_import *im, const struct ncnn_layer *l, uint32_t *searched)
{
    struct tdl_kit_input in = {.dtype = TDL_FLOAT32, .layout = TDL_LAYOUT_NCHW, .has_rank = true};
    const int32_t w = ncnn_int(l, 0, 0), h = ncnn_int(l, 1, 0), c = ncnn_int(l, 2, 0);
    const int32_t depth = ncnn_int(l, 11, 0);
    struct tdl_kit_open open = {0};
    struct tdl_tensor_params desc;

    if (l->bottom_count != 0 || l->top_count != 1)
        return tdl_kit_damaged(&im->kit, "an input of other than one blob");
    blob_name(&im->blobs[l->tops[0]], in.name);
    if (depth > 0) {
        in.rank = 5;
        memcpy(in.size, (const int64_t[]){1, c, depth, h, w}, 5 * sizeof(in.size[0]));
    } else if (w > 0 && c <= 0) {
        in.rank = h > 0 ? 2 : 1;
        in.size[0] = h > 0 ? h : w;
        in.size[1] = w;
    } else {
        read_picture(im, l, &in, searched);
    }
    const struct tdl_model_number *said = tdl_kit_find_number(&im->kit, in.name);
    if (tdl_builder_status(im->builder) != TDL_OK || !tdl_kit_bind(&im->kit, &in, &desc, &open) ||
        (open.count && !tdl_kit_check_bound(&im->kit, &open))) /* told before the layers fail */
        return false;
    for (uint32_t d = 1; d < 4 && in.rank == 4; d++)
        if (!ncnn_in_range(im,
                           d == 1   ? "number of channels"
                           : d == 2 ? "height"
                                    : "width",
                           desc.shape[d], 1))
            return false;
    im->blobs[l->tops[0]].operand =
        said ? tdl_kit_fill(&im->kit, &desc, said->value) : tdl_kit_add_input(&im->kit, &in, &desc);
    return im->blobs[l->tops[0]].operand != NULL;
}

/* ------------------------------------------------------------------------ file */

static const void *const tables[] = {ncnn_rows_conv,   ncnn_rows_eltwise, ncnn_rows_functions,
                                     ncnn_rows_image,  ncnn_rows_interp,  ncnn_rows_matrix,
                                     ncnn_rows_move,   ncnn_rows_norm,    ncnn_rows_recurrent,
                                     ncnn_rows_reduce, ncnn_rows_shape};
static const struct tdl_kit_tables types = {tables, sizeof(tables) / sizeof(tables[0]),
                                            sizeof(struct ncnn_row)};

static const char *layer_name(uint32_t index)
{
    return tdl_kit_row_name(&types, index);
}

static bool add_tops(struct ncnn_import *im, const struct ncnn_layer *l)
{
    const struct ncnn_row *row = im->row;
    struct tdl_operand *tops[NCNN_MAX_ARGS];

    if (row->add_tops && !row->add_tops(im, l, tops))
        return false;
    if (!row->add_tops)
        tops[0] = row->add(im, l);
    for (uint32_t i = 0; i < l->top_count; i++) {
        struct tdl_operand *top = row->add_tops ? tops[i] : tops[0];

        if (!top)
            return false;
        im->blobs[l->tops[i]].operand = top;
    }
    return tdl_builder_status(im->builder) == TDL_OK;
}

static bool add_layer(struct ncnn_import *im, const struct ncnn_layer *l, uint32_t *searched)
{
    const struct ncnn_row *row = tdl_kit_find_row(&types, l->type, strlen(l->type));
    char label[128];

    snprintf(label, sizeof(label), "layer %u %s '%s'", l->index, l->type, l->name);
    for (char *c = label; *c; c++)
        *c = (unsigned char)*c < 0x20 || (unsigned char)*c > 0x7e ? '?' : *c;
    tdl_builder_set_label(im->builder, label);
    im->layer = l;
    im->row = row;
    if (!strcmp(l->type, "Input"))
        return add_input(im, l, searched);
    if (!row)
        return ncnn_refuse(im, l);
    if (l->bottom_count < row->least || l->bottom_count > row->most || l->top_count < 1 ||
        (l->top_count > 1 && !row->many_tops && !row->add_tops))
        return tdl_kit_damaged(&im->kit, "%u bottoms and %u tops", l->bottom_count, l->top_count);
    return add_tops(im, l);
}

static bool add_layers(struct ncnn_import *im)
{
    uint32_t layers, blobs, searched = 0;

    ncnn_next_line(&im->text);
    if (!ncnn_count(&im->text, MAX_LAYERS, &layers) || !ncnn_count(&im->text, MAX_LAYERS, &blobs))
        return tdl_kit_damaged(
            &im->kit, "the model file is damaged: its second line has no numbers of layers and "
                      "blobs");
    for (uint32_t i = 0; i < layers; i++) {
        struct ncnn_layer l = {.index = i};

        tdl_builder_set_label(im->builder, NULL);
        if (!ncnn_next_line(&im->text))
            return tdl_kit_damaged(&im->kit, "the model file is damaged: it ends at layer %u of %u",
                                   i, layers);
        if (!read_layer(im, &l) || !add_layer(im, &l, &searched))
            return false;
    }
    tdl_builder_set_label(im->builder, NULL);
    if (im->bin_pos != im->bin_size)
        return tdl_kit_damaged(
            &im->kit,
            "the file of weights has %zu bytes, of which the layers read %zu: it is "
            "another model's",
            im->bin_size, im->bin_pos);
    return true;
}

static void add_outputs(struct ncnn_import *im)
{
    uint32_t count = 0;
    char name[TDL_KIT_NAME];

    for (uint32_t i = 0; i < im->blob_count; i++) {
        if (im->blobs[i].used)
            continue;
        blob_name(&im->blobs[i], name);
        if (!tdl_model_output(im->builder, im->kit.source, name, im->blobs[i].operand))
            return;
        count++;
    }
    if (count == 0)
        tdl_kit_damaged(&im->kit, "the model has no output: every blob is read");
}

/* X.bin beside X.param. */
static bool read_bin(struct ncnn_import *im)
{
    static const char end[] = ".param";
    const char *path = im->kit.source->path, *slash = path ? strrchr(path, '/') : NULL;
    const char *base = slash ? slash + 1 : path;
    const size_t length = base ? strlen(base) : 0, stem = length - (sizeof(end) - 1);
    const void *data = NULL;
    char name[256];
    bool ok;

    if (!path)
        return tdl_kit_refuse(
            &im->kit, "ncnn keeps weights in a file of their own: load the model by the path of "
                      "its .param file, with the .bin file beside it");
    if (length < sizeof(end) || stem > sizeof(name) - 8 || strcmp(base + stem, end) != 0)
        return tdl_kit_damaged(
            &im->kit, "ncnn's models are two files, NAME.param and NAME.bin: name them so");
    snprintf(name, sizeof(name), "%.*s.bin", (int)stem, base);
    ok = tdl_model_read_companion(im->builder, im->kit.source, name, &data, &im->bin_size);
    im->bin = data;
    return ok;
}

static const struct tdl_kit_ways ways = {
    .other = "convert the model anew with pnnx, or give the ONNX file that it came "
             "from",
    .fixed = "",
};

static void import(struct tdl_builder *builder, const struct tdl_model_source *source)
{
    const char *text = source->data;
    struct ncnn_import im = {
        .kit = tdl_kit_begin(builder, source, &ways),
        .builder = builder,
        .text = {.at = text, .end = text + source->size, .line = 1},
    };

    tdl_builder_set_input_layout(builder, TDL_LAYOUT_NCHW);
    if (read_bin(&im) && add_layers(&im) && tdl_kit_check_bound(&im.kit, &(struct tdl_kit_open){0}))
        add_outputs(&im);
    tdl_builder_set_label(builder, NULL);
    free(im.blobs);
    free(im.slots);
}

/* The number, and the line's end. */
static bool recognises(const void *head, size_t size)
{
    const char *text = head;

    return size > strlen(MAGIC) && !memcmp(text, MAGIC, strlen(MAGIC)) &&
           (text[7] == '\n' || text[7] == '\r');
}

const struct tdl_model_format tdl_model_ncnn = {
    .name = "ncnn",
    .recognises = recognises,
    .operator_name = layer_name,
    .import = import,
};
