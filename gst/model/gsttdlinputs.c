/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdlinputs.h"

#include "base/gsttdlerror.h"

#include <string.h>

#define GST_CAT_DEFAULT gst_tdl_filter_debug

/* ------------------------------------------------------------------ the model */

/* Channels of one image; 0 of what is none. */
static guint channels_of(const struct gst_tdl_model_picture *picture)
{
    const struct tdl_tensor_params *p = picture->params;

    if (p->rank != 4 || p->shape[0] != 1)
        return 0;
    return p->shape[picture->layout == TDL_LAYOUT_NCHW ? 1 : 3];
}

static const struct gst_tdl_input_options *said_of(const struct gst_tdl_sources *sources,
                                                   const gchar *name)
{
    for (guint i = 0; sources->inputs && i < sources->inputs->len; i++) {
        const struct gst_tdl_input_options *said =
            &g_array_index(sources->inputs, struct gst_tdl_input_options, i);

        if (!strcmp(said->name, name))
            return said;
    }
    return NULL;
}

/* The modelinfo file's words about this input, where it has any. */
static void set_ranges(const struct gst_tdl_sources *sources, struct gst_tdl_model_picture *picture)
{
    const struct gst_tdl_input_options *said = said_of(sources, picture->name);

    for (guint c = 0; said && said->has_ranges && c < 3; c++) {
        const guint channel = picture->how.bgr ? 2 - c : c;

        picture->how.scale[channel] = said->ranges[c][1] - said->ranges[c][0];
        picture->how.bias[channel] = said->ranges[c][0];
    }
}

static const gchar *file_of(const struct gst_tdl_links *links, const gchar *input)
{
    for (guint i = 0; i < links->picture_count; i++)
        if (!strcmp(links->pictures[2 * i], input))
            return links->pictures[2 * i + 1];
    return NULL;
}

static gboolean is_state(const struct gst_tdl_links *links, const gchar *input)
{
    for (guint i = 0; i < links->state_count; i++)
        if (!strcmp(links->states[2 * i], input))
            return TRUE;
    return FALSE;
}

/* FALSE where the modelinfo file has a size that the model has another of; how many pictures
 * at once is ours to say. */
static gboolean check_dims(const struct gst_tdl_sources *sources, struct tdl_builder *builder,
                           const gchar *name, const struct tdl_tensor_params *params)
{
    const struct gst_tdl_input_options *said = said_of(sources, name);

    for (guint d = 1; said && params->rank == 4 && d < G_N_ELEMENTS(said->dims); d++) {
        g_autofree gchar *is = NULL;

        if (said->dims[d] < 1 || (guint)said->dims[d] == params->shape[d])
            continue;
        is = gst_tdl_links_shape_text(params);
        tdl_builder_fail(builder, TDL_ERROR_UNSUPPORTED,
                         "its input \"%s\" is %s, and the modelinfo file beside it has %d as "
                         "number %u of the \"dims\" in group [%s]",
                         name, is, said->dims[d], d + 1, name);
        return FALSE;
    }
    return TRUE;
}

struct tdl_operand *gst_tdl_inputs_read(void *data, struct tdl_builder *builder, const char *name,
                                        const struct tdl_tensor_params *params)
{
    const enum tdl_layout layout = tdl_builder_get_input_layout(builder);
    const guint axis = layout == TDL_LAYOUT_NCHW ? 1 : 3;
    const gboolean bytes = params->dtype == TDL_UINT8;
    struct gst_tdl_links *links = data;
    struct tdl_tensor_params real = *params;
    struct tdl_operand *x;

    if (!check_dims(links->decode->sources, builder, name, params))
        return NULL;
    x = gst_tdl_mask_decoder_input(&links->decode->prompted, builder, name, params);
    if (x || tdl_builder_status(builder) != TDL_OK)
        return x;
    if (params->rank != 4 || params->shape[axis] != 3 || is_state(links, name))
        return NULL;
    if (params->shape[0] != 1)
        return tdl_builder_fail(builder, TDL_ERROR_UNSUPPORTED,
                                "its input \"%s\" takes batches of %u pictures, and tdlfilter "
                                "gives a model one: export it with a batch of 1, or an open one",
                                name, params->shape[0]);
    if (!links->decode->picture.rank && !file_of(links, name)) {
        links->decode->picture = *params;
        links->decode->layout = layout;
        links->decode->prompted.height = params->shape[axis == 1 ? 2 : 1];
        links->decode->prompted.width = params->shape[axis == 1 ? 3 : 2];
    }
    if (!bytes && params->dtype != TDL_FLOAT16)
        return NULL;
    real.dtype = TDL_FLOAT32;
    x = tdl_builder_input(builder, name, &real);
    if (!x || !bytes)
        return x;
    g_ptr_array_add(links->bytes, g_strdup(name));
    return tdl_builder_cast(builder, tdl_builder_round_even(builder, x), TDL_UINT8);
}

/* Bytes are 0 to 255, unless a property says more. */
static void set_bytes(const struct gst_tdl_links *links, const struct gst_tdl_sources *sources,
                      struct gst_tdl_model_picture *picture)
{
    const gboolean bytes =
        g_ptr_array_find_with_equal_func(links->bytes, picture->name, g_str_equal, NULL);

    for (guint c = 0; bytes && !*sources->input_range && c < 3; c++)
        picture->how.scale[c] *= 255;
}

static gchar *check_names(const struct gst_tdl_links *links,
                          const struct gst_tdl_model_pictures *pictures)
{
    for (guint i = 0; i < links->picture_count; i++) {
        guint k = 0;

        while (k < pictures->count && strcmp(links->pictures[2 * i], pictures->list[k].name) != 0)
            k++;
        if (k == pictures->count)
            return g_strdup_printf("\"model-pictures\" names the input \"%s\", and it has no "
                                   "picture of that name",
                                   links->pictures[2 * i]);
    }
    return NULL;
}

static gchar *refuse(const struct gst_tdl_model_picture *picture)
{
    const guint channels = channels_of(picture);
    g_autofree gchar *is = channels ? g_strdup_printf("has %u, of %s", channels,
                                                      tdl_dtype_name(picture->params->dtype))
                                    : gst_tdl_links_shape_text(picture->params);

    return g_strdup_printf(
        "tdlfilter gives a model pictures of 3 channels, [1, h, w, 3] or [1, 3, "
        "h, w], of float32, float16 or uint8, and its input \"%s\" %s%s; \"model-constants\" and "
        "\"model-state\" say what others get",
        picture->name, channels ? "" : "is ", is);
}

gchar *gst_tdl_inputs_find(struct gst_tdl_model_pictures *out, const struct gst_tdl_links *links,
                           const struct gst_tdl_sources *sources, const struct tdl_graph *graph,
                           const guint *ids, guint count,
                           const struct tdl_frame_to_tensor_params *how)
{
    guint frame = count;

    *out = (struct gst_tdl_model_pictures){ .count = count };
    for (guint i = 0; i < count; i++) {
        struct gst_tdl_model_picture *picture = &out->list[i];

        picture->params = tdl_graph_input(graph, ids[i], &picture->name);
        picture->layout = tdl_graph_input_layout(graph, ids[i]);
        picture->how = *how;
        set_bytes(links, sources, picture);
        set_ranges(sources, picture);
        picture->file = g_strdup(file_of(links, picture->name));
        if (!picture->file && frame == count)
            frame = i;
        if (channels_of(picture) != 3 || picture->params->dtype != TDL_FLOAT32)
            return refuse(picture);
    }
    if (frame == count)
        return g_strdup("\"model-pictures\" has a file for each of its pictures, and leaves none "
                        "for the frame");
    if (frame > 0) {
        const struct gst_tdl_model_picture first = out->list[0];

        out->list[0] = out->list[frame];
        out->list[frame] = first;
    }
    return check_names(links, out);
}

void gst_tdl_inputs_clear(struct gst_tdl_model_pictures *pictures)
{
    for (guint i = 0; i < pictures->count; i++)
        g_clear_pointer(&pictures->list[i].file, g_free);
    pictures->count = 0;
}

guint gst_tdl_inputs_dimensions(const struct gst_tdl_sources *sources,
                                struct tdl_model_dimension *dimensions, gchar **places, guint room)
{
    guint count = 0;

    for (guint i = 0; sources->inputs && i < sources->inputs->len; i++) {
        const struct gst_tdl_input_options *said =
            &g_array_index(sources->inputs, struct gst_tdl_input_options, i);

        for (guint d = 0; d < G_N_ELEMENTS(said->dims) && count < room; d++) {
            if (said->dims[d] < 1)
                continue;
            places[count] = g_strdup_printf("%s:%u", said->name, d);
            dimensions[count] = (struct tdl_model_dimension){ .name = places[count],
                                                              .size = said->dims[d],
                                                              .optional = true };
            count++;
        }
    }
    return count;
}

/* ---------------------------------------------------------------- the element */

static gboolean load(struct gst_tdl_aux_inputs *others, guint i, struct tdl_context *context,
                     const struct gst_tdl_model_picture *picture, GError **error)
{
    g_autoptr(GError) notice = NULL;

    others->files[i] = gst_tdl_picture_load(context, picture->file, GST_TDL_PICTURE_INPUT, error);
    if (!others->files[i]) {
        g_prefix_error(error, "\"model-pictures\", input \"%s\": ", picture->name);
        return FALSE;
    }
    notice = gst_tdl_picture_notice(others->files[i], picture->file, GST_TDL_PICTURE_INPUT);
    if (notice)
        GST_WARNING("\"model-pictures\", input \"%s\": %s", picture->name, notice->message);
    return TRUE;
}

gboolean gst_tdl_aux_inputs_init(struct gst_tdl_aux_inputs *others, struct tdl_context *context,
                                 const struct gst_tdl_model_pictures *pictures, GError **error)
{
    for (guint i = 0; i + 1 < pictures->count; i++) {
        const struct gst_tdl_model_picture *picture = &pictures->list[i + 1];
        struct tdl_tensor_params params = *picture->params;
        enum tdl_result r;

        params.usage = 0;
        params.label = "picture";
        r = tdl_tensor_create(context, &params, &others->tensors[i]);
        if (r != TDL_OK)
            return gst_tdl_error_set(error, r, "Cannot give the model's input \"%s\" a picture",
                                     picture->name);
        if (picture->file && !load(others, i, context, picture, error))
            return FALSE;
    }
    return TRUE;
}

void gst_tdl_aux_inputs_finish(struct gst_tdl_aux_inputs *others)
{
    for (guint i = 0; i < GST_TDL_MAX_OTHERS; i++) {
        tdl_tensor_destroy(&others->tensors[i]);
        g_clear_pointer(&others->files[i], gst_tdl_picture_free);
    }
}

/* One picture to tensor `i`, fitted as the frame is to the network's. */
static enum tdl_result record(const struct gst_tdl_aux_inputs *others, guint i,
                              const struct gst_tdl_model_picture *to, gint fit,
                              struct tdl_batch *batch, const struct tdl_frame *frame,
                              gfloat pixel_aspect)
{
    const guint width = to->params->shape[2], height = to->params->shape[1];
    const struct gst_tdl_fit_sizes sizes = { .frame = { frame->width, frame->height },
                                             .pixel_aspect = pixel_aspect,
                                             .input = { width, height },
                                             .mask = { width, height } };
    struct tdl_frame_to_tensor_params how = to->how;
    struct gst_tdl_mask_part unused;

    gst_tdl_fit(fit, &sizes, &how, &unused);
    return tdl_frame_to_tensor(batch, frame, others->tensors[i], &how);
}

enum tdl_result gst_tdl_aux_inputs_fill(struct gst_tdl_aux_inputs *others,
                                        struct tdl_context *context,
                                        const struct gst_tdl_model_pictures *pictures, gint fit)
{
    struct tdl_batch *batch = NULL;
    enum tdl_result r = TDL_OK;
    gboolean any = FALSE;
    uint64_t point;

    for (guint i = 0; i < GST_TDL_MAX_OTHERS; i++)
        any |= others->files[i] != NULL;
    if (!any)
        return TDL_OK;
    r = tdl_batch_create(context, &batch);
    if (r == TDL_OK)
        r = tdl_batch_begin(batch);
    for (guint i = 0; i < GST_TDL_MAX_OTHERS && r == TDL_OK; i++)
        if (others->files[i])
            r = record(others, i, &pictures->list[i + 1], fit, batch, &others->files[i]->frame,
                       others->files[i]->aspect);
    if (r == TDL_OK)
        r = tdl_batch_submit(batch, &point);
    if (r == TDL_OK)
        r = tdl_context_wait(context, point, TDL_WAIT_FOREVER);
    tdl_batch_destroy(&batch);
    for (guint i = 0; i < GST_TDL_MAX_OTHERS && r == TDL_OK; i++)
        g_clear_pointer(&others->files[i], gst_tdl_picture_free);
    return r;
}

enum tdl_result gst_tdl_aux_inputs_prepare(const struct gst_tdl_aux_inputs *others,
                                           const struct gst_tdl_model_pictures *pictures,
                                           const struct tdl_frame *frame,
                                           const struct tdl_compile_params *compile)
{
    enum tdl_result r = TDL_OK;

    for (guint i = 0; i + 1 < pictures->count && r == TDL_OK; i++)
        if (!pictures->list[i + 1].file)
            r = tdl_frame_to_tensor_prepare(frame, others->tensors[i], compile);
    return r;
}

enum tdl_result gst_tdl_aux_inputs_record(const struct gst_tdl_aux_inputs *others,
                                          const struct gst_tdl_model_pictures *pictures, gint fit,
                                          struct tdl_batch *batch, const struct tdl_frame *frame,
                                          gfloat pixel_aspect)
{
    enum tdl_result r = TDL_OK;

    for (guint i = 0; i + 1 < pictures->count && r == TDL_OK; i++)
        if (!pictures->list[i + 1].file)
            r = record(others, i, &pictures->list[i + 1], fit, batch, frame, pixel_aspect);
    return r;
}

guint gst_tdl_aux_inputs_bind(const struct gst_tdl_aux_inputs *others,
                              const struct gst_tdl_model_pictures *pictures,
                              struct tdl_binding *inputs)
{
    for (guint i = 0; i + 1 < pictures->count; i++)
        inputs[i] = (struct tdl_binding){ pictures->list[i + 1].name, others->tensors[i] };
    return pictures->count - 1;
}
