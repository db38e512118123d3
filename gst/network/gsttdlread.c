/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdlread.h"

#include "model/gsttdldecode.h"
#include "model/gsttdlforeground.h"
#include "model/gsttdlpreset.h"

#include <string.h>

const struct gst_tdl_bundled_model *gst_tdl_read_bundled(const gchar *name)
{
    if (!*name)
        name = "person";
    for (gsize i = 0; i < gst_tdl_bundled_model_count; i++)
        if (!g_strcmp0(gst_tdl_bundled_models[i].name, name))
            return &gst_tdl_bundled_models[i];
    return NULL;
}

static enum tdl_result import(struct tdl_builder *builder, const gchar *name,
                              const struct tdl_model_params *params)
{
    const struct gst_tdl_bundled_model *bundled = gst_tdl_read_bundled(name);

    if (bundled)
        return tdl_model_import(builder, bundled->data, bundled->size, params);
    return tdl_model_load(builder, name, params);
}

static gboolean refuse(GError **error, const gchar *name, const gchar *format, ...)
    G_GNUC_PRINTF(3, 4);
static gboolean refuse(GError **error, const gchar *name, const gchar *format, ...)
{
    g_autofree gchar *why = NULL;
    va_list args;

    va_start(args, format);
    why = g_strdup_vprintf(format, args);
    va_end(args);
    g_set_error(error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                "Model \"%s\" does not fit: %s. Correct the property that decides this, or choose "
                "another model; an empty \"model\" is the person model.",
                name, why);
    return FALSE;
}

/* The part of a picture whose shape may be any: it covers the picture, but for rounded
 * sizes. */
static gboolean has_aspect(const struct tdl_tensor_params *image,
                           const struct tdl_tensor_params *in)
{
    const gint64 h = in->shape[1], w = in->shape[2];

    return ABS(image->shape[1] * w - image->shape[2] * h) <= 2 * (h + w);
}

/* Tiles are put together where each pixel follows from those near it alone. */
static gboolean check_tiles(const struct gst_tdl_model *model, gint decoder, const gchar *name,
                            GError **error)
{
    if (model->kind != GST_TDL_OUTPUT_PICTURE)
        return refuse(error, name, "input-fit=tiles is for mode=picture");
    if (model->states.count)
        return refuse(error, name,
                      "input-fit=tiles has no model-state: a tile knows nothing of "
                      "the tile before");
    if (model->pictures.count > 1)
        return refuse(error, name,
                      "input-fit=tiles is for models of one picture, and it takes \"%s\" and "
                      "\"%s\"",
                      model->pictures.list[0].name, model->pictures.list[1].name);
    if (decoder == GST_TDL_DECODE_DEPTH)
        return refuse(error, name,
                      "input-fit=tiles and decoder=depth, which stretches each "
                      "picture between its ends, do not go together");
    if (model->scale.width[1] != 1 || model->scale.height[1] != 1)
        return refuse(error, name,
                      "input-fit=tiles is for models whose output is as large as their input, or a "
                      "multiple of it, and this is %d/%d times as wide and %d/%d times as high",
                      model->scale.width[0], model->scale.width[1], model->scale.height[0],
                      model->scale.height[1]);
    return TRUE;
}

/* Memory between operators lies in proportion to weights and picture: real networks keep
 * some hundred times their picture at most, and a small file that says "twice as large"
 * again and again is none. */
static gboolean check_size(const struct gst_tdl_model *model, const gchar *name, GError **error)
{
    const guint64 least = G_GUINT64_CONSTANT(1) << 30, per_weight = 64, per_picture = 1024;
    const guint64 picture = tdl_tensor_params_size(model->input_params);
    struct tdl_graph_stats stats;

    tdl_graph_get_stats(model->graph, &stats);
    if (stats.arena_bytes <= least + per_weight * stats.weight_bytes + per_picture * picture)
        return TRUE;
    return refuse(error, name,
                  "a run keeps %" G_GUINT64_FORMAT " MiB between its operators, out of all "
                  "proportion to %" G_GUINT64_FORMAT " KiB of weights and a picture of "
                  "%" G_GUINT64_FORMAT " KiB",
                  stats.arena_bytes >> 20, (guint64)stats.weight_bytes >> 10, picture >> 10);
}

/* A prompt that nothing hears is a mistake. */
static gboolean check_prompt(const struct gst_tdl_model *model,
                             const struct gst_tdl_sources *sources, const gchar *name,
                             GError **error)
{
    if (*sources->prompt && model->kind == GST_TDL_OUTPUT_MASK && !model->prompt)
        return refuse(error, name,
                      "\"prompt\" is for models that find objects, and for those with a mask "
                      "decoder (\"decoder-model\"): leave it empty");
    return TRUE;
}

/* A mask was made of the output already. */
static gboolean check(struct gst_tdl_model *model, const struct gst_tdl_sources *sources,
                      const gchar *name, GError **error)
{
    const struct tdl_tensor_params *in = model->input_params;

    if (!check_size(model, name, error) || !check_prompt(model, sources, name, error))
        return FALSE;
    if (model->guessed && !has_aspect(&model->image, in))
        return refuse(error, name,
                      "none of its outputs is a picture: \"%s\" has %ux%u numbers for "
                      "a picture of %ux%u px; \"model-output\" names another one, and a YOLO has "
                      "candidates [1, 4 + classes + M, N] and prototypes [1, M, h, w]",
                      model->output, model->image.shape[2], model->image.shape[1], in->shape[2],
                      in->shape[1]);
    if (model->kind != GST_TDL_OUTPUT_MASK && model->kind != GST_TDL_OUTPUT_TENSORS &&
        model->fit == GST_TDL_FIT_CROP)
        return refuse(error, name,
                      "the mode shows its output for the whole frame, and input-fit=crop gives it "
                      "the middle: stretch and letterbox are possible");
    model->scale = gst_tdl_output_scale(model->kind, in, &model->image);
    return model->fit != GST_TDL_FIT_TILES || check_tiles(model, sources->decoder, name, error);
}

static const struct tdl_tensor_params *find_output(const struct tdl_graph *graph,
                                                   const gchar *wanted)
{
    const struct tdl_tensor_params *p;
    const gchar *name;

    for (guint i = 0; (p = tdl_graph_output(graph, i, &name)) != NULL; i++)
        if (!strcmp(name, wanted))
            return p;
    return NULL;
}

static const struct tdl_tensor_params *find_prompt(const struct tdl_graph *graph)
{
    const struct tdl_tensor_params *p;
    const gchar *name;

    for (guint i = 0; (p = tdl_graph_input(graph, i, &name)) != NULL; i++)
        if (!strcmp(name, GST_TDL_PROMPT))
            return p;
    return NULL;
}

static gboolean is_input(const struct tdl_graph *graph, const struct gst_tdl_links *links,
                         const gchar *wanted)
{
    const gchar *name;

    for (guint i = 0; i < links->constant_count; i++)
        if (!strcmp(links->constants[2 * i], wanted))
            return TRUE;
    for (guint i = 0; tdl_graph_input(graph, i, &name); i++)
        if (!strcmp(name, wanted))
            return TRUE;
    return FALSE;
}

/* A name in a modelinfo file that no input of this graph has; NULL: none. */
static const gchar *find_stray(const struct tdl_graph *graph, const struct gst_tdl_links *links,
                               const GArray *inputs)
{
    for (guint i = 0; inputs && i < inputs->len; i++) {
        const gchar *name = g_array_index(inputs, struct gst_tdl_input_options, i).name;

        if (!is_input(graph, links, name))
            return name;
    }
    return NULL;
}

/* Of outputs that nobody makes a mask of there is none: what covers the input covers them. */
static void find_mask(struct gst_tdl_model *model, guint index)
{
    const gboolean any = model->kind != GST_TDL_OUTPUT_TENSORS;

    model->output_params = any ? tdl_graph_output(model->graph, index, &model->output) : NULL;
    model->image = any ? gst_tdl_decode_image(model->output_params) : *model->input_params;
}

/* Finds the roles of the graph's inputs and outputs. *again: the file may be read once
 * more, and then, that this may mend what is wrong: no error yet. */
static gboolean find_ends(struct gst_tdl_model *model, const struct gst_tdl_links *links,
                          const struct gst_tdl_sources *sources, const gchar *name, gboolean *again,
                          GError **error)
{
    guint pictures[GST_TDL_MAX_PICTURES], count = 0, mask = 0;
    gboolean open = FALSE;
    g_autofree gchar *fault =
        gst_tdl_states_find(links, model->graph, &model->states, pictures, &count, &mask, &open);

    *again = *again && open;
    if (!fault)
        fault = gst_tdl_inputs_find(&model->pictures, links, sources, model->graph, pictures, count,
                                    &model->picture);
    if (!fault)
        fault = gst_tdl_tensors_find(model->graph, sources, &model->tensors);
    if (fault)
        return *again ? FALSE : refuse(error, name, "%s", fault);
    model->input = model->pictures.list[0].name;
    model->input_params = model->pictures.list[0].params;
    model->picture = model->pictures.list[0].how;
    find_mask(model, mask);
    model->indices = find_output(model->graph, GST_TDL_CLASSES);
    model->foreground = find_output(model->graph, GST_TDL_FOREGROUND);
    model->prompt = find_prompt(model->graph);
    model->stray = find_stray(model->graph, links, sources->inputs);
    return TRUE;
}

static gboolean tell(GError **error, enum tdl_result r, const gchar *path, const gchar *name)
{
    g_autofree gchar *names = gst_tdl_preset_names();

    if (r == TDL_OK)
        return TRUE;
    if (r == TDL_ERROR_IO && !g_file_test(path, G_FILE_TEST_EXISTS))
        return gst_tdl_error_set(error, r, "There is no model \"%s\" (by name: %s)", name, names);
    return gst_tdl_error_set(error, r, "Cannot load model \"%s\"", name);
}

/* The file, its output made a mask, as a graph. */
static gboolean build(struct gst_tdl_model *model, const struct gst_tdl_model_params *params,
                      struct gst_tdl_links *links, const gchar *path, const gchar *name,
                      GError **error)
{
    struct tdl_build_params build = {
        .precision = params->sources->precision,
        .no_fuse = !params->sources->fuse,
        .input_packing = TDL_PACKING_C4,
        .output_packing = links->state_count ? TDL_PACKING_C4 : TDL_PACKING_NONE,
        .defer_compile = true,
    };
    struct gst_tdl_decode decode = { .sources = params->sources,
                                     .trusted = gst_tdl_read_bundled(path) != NULL,
                                     .others = g_string_new(NULL) };
    struct tdl_model_params reading = { 0 };
    struct tdl_builder *builder = NULL;
    gboolean ok = gst_tdl_decode_size(params->sources, reading.size, error) &&
                  gst_tdl_decode_picture(params->sources, &model->picture, error) &&
                  gst_tdl_output_read(params->sources, &model->shown, error);
    enum tdl_result r = TDL_OK;

    gst_tdl_links_read(links, &decode, &reading);
    if (ok) {
        r = tdl_builder_create(params->context, &builder);
        if (r == TDL_OK)
            r = import(builder, path, &reading);
        if (r == TDL_ERROR_INVALID_ARGUMENT)
            r = TDL_ERROR_INVALID_MODEL; /* the given file is empty */
        if (r == TDL_OK)
            gst_tdl_decode_finish(&decode, builder);
        if (r == TDL_OK)
            gst_tdl_links_finish(links, builder);
        if (r == TDL_OK)
            gst_tdl_foreground_finish(&decode, builder);
        if (r == TDL_OK && !decode.found && model->kind != GST_TDL_OUTPUT_TENSORS)
            ok = refuse(error, name, "%s: %s", gst_tdl_decode_wanted(params->sources),
                        decode.others->str);
    }
    if (ok && r == TDL_OK && params->stack > 1)
        r = tdl_builder_stack(builder, params->stack);
    if (ok && r == TDL_OK)
        r = tdl_builder_build(builder, &build, &model->graph);
    ok = ok && tell(error, r, path, decode.prompted.file ? decode.prompted.file : name);
    model->guessed = decode.guessed;
    model->classes = decode.classes;
    model->shares = decode.shares;
    tdl_builder_destroy(&builder);
    gst_tdl_decode_clear(&decode);
    return ok;
}

/* Once more where the file leaves sizes of states open, with those of their outputs. */
static gboolean build_linked(struct gst_tdl_model *model, const struct gst_tdl_model_params *params,
                             const gchar *path, const gchar *name, GError **error)
{
    struct gst_tdl_links links;
    gboolean ok = gst_tdl_links_parse(&links, params->sources, error), again = TRUE;

    while (ok) {
        ok = build(model, params, &links, path, name, error);
        if (!ok || find_ends(model, &links, params->sources, name, &again, error))
            break;
        ok = again;
        again = FALSE;
        tdl_graph_destroy(&model->graph);
        gst_tdl_inputs_clear(&model->pictures);
        gst_tdl_links_resize(&links);
    }
    gst_tdl_links_clear(&links);
    return ok;
}

gboolean gst_tdl_read(struct gst_tdl_model *model, const struct gst_tdl_model_params *params,
                      const gchar *path, GError **error)
{
    const gchar *name = *path ? path : "person";

    model->kind = params->sources->output;
    if (build_linked(model, params, path, name, error) &&
        check(model, params->sources, name, error))
        return TRUE;
    tdl_graph_destroy(&model->graph);
    return FALSE;
}

struct tdl_graph *gst_tdl_read_stacked(const struct gst_tdl_model_params *params, const gchar *path,
                                       GError **error)
{
    struct gst_tdl_model model = { 0 };
    struct gst_tdl_links links;

    if (gst_tdl_links_parse(&links, params->sources, error))
        build(&model, params, &links, path, *path ? path : "person", error);
    gst_tdl_links_clear(&links);
    return model.graph;
}
