/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdllinks.h"

#include "gsttdlforeground.h"
#include "gsttdlinputs.h"
#include "gsttdloutput.h"
#include "gsttdltensors.h"

#include <math.h>
#include <string.h>

#define STATE "state:" /* before an output's name: it may be the mask, too */

/* ------------------------------------------------------------- the properties */

static gboolean fail(GError **error, const gchar *property, const gchar *text, const gchar *wanted,
                     guint most)
{
    g_set_error(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                "\"%s\" is \"%s\": give it as %s, %u at most.", property, text, wanted, most);
    return FALSE;
}

/* "a=b,c=d" as a, b, c, d; NULL: it is something else. */
static GStrv parse(const gchar *text, guint most, guint *out_count)
{
    g_auto(GStrv) items = g_strsplit(text, ",", -1);
    GPtrArray *list = g_ptr_array_new_with_free_func(g_free);
    guint count = g_strv_length(items);
    gboolean ok = count <= most;

    for (guint i = 0; ok && i < count; i++) {
        g_auto(GStrv) sides = g_strsplit(items[i], "=", 2);

        ok = g_strv_length(sides) == 2 && *g_strstrip(sides[0]) && *g_strstrip(sides[1]);
        for (guint k = 0; ok && k < 2; k++)
            g_ptr_array_add(list, g_strdup(sides[k]));
    }
    g_ptr_array_add(list, NULL);
    *out_count = count;
    if (ok)
        return (GStrv)g_ptr_array_free(list, FALSE);
    g_ptr_array_free(list, TRUE);
    return NULL;
}

/* An input gets one thing. */
static gboolean check_names(const gchar *const *pairs, guint count, const gchar *property,
                            GError **error)
{
    for (guint i = 0; i < count; i++)
        for (guint k = 0; k < i; k++)
            if (!strcmp(pairs[2 * i], pairs[2 * k])) {
                g_set_error(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                            "\"%s\" names the input \"%s\" twice, as %s and %s: give it once.",
                            property, pairs[2 * i], pairs[2 * k + 1], pairs[2 * i + 1]);
                return FALSE;
            }
    return TRUE;
}

static void open_dimensions(struct gst_tdl_links *links, const struct gst_tdl_sources *sources)
{
    const guint states = links->state_count * GST_TDL_STATE_DIMS;

    links->dimension_count =
        states + gst_tdl_inputs_dimensions(sources, links->dimensions + states,
                                           links->places + states,
                                           GST_TDL_LINK_DIMS - GST_TDL_MASK_DECODER_DIMS - states);
    if (gst_tdl_mask_decoder_wanted(sources))
        links->dimension_count += gst_tdl_mask_decoder_dimensions(
            gst_tdl_sources_room(sources), links->dimensions + links->dimension_count,
            links->places + links->dimension_count);
    for (guint i = 0; i < links->state_count * GST_TDL_STATE_DIMS; i++) {
        links->places[i] = g_strdup_printf("%s:%u", links->states[i / GST_TDL_STATE_DIMS * 2],
                                           i % GST_TDL_STATE_DIMS);
        links->dimensions[i] =
            (struct tdl_model_dimension){ .name = links->places[i], .size = 1, .optional = true };
    }
}

gboolean gst_tdl_links_parse(struct gst_tdl_links *links, const struct gst_tdl_sources *sources,
                             GError **error)
{
    struct gst_tdl_prompt prompt = { 0 };

    *links = (struct gst_tdl_links){ .bytes = g_ptr_array_new_with_free_func(g_free) };
    if (*sources->model_constants) {
        links->constants =
            parse(sources->model_constants, GST_TDL_MAX_LINKS, &links->constant_count);
        if (!links->constants)
            return fail(error, "model-constants", sources->model_constants,
                        "NAME=NUMBER,…, such as downsample_ratio=0.25", GST_TDL_MAX_LINKS);
    }
    if (*sources->model_state) {
        links->states = parse(sources->model_state, GST_TDL_MAX_LINKS, &links->state_count);
        if (!links->states)
            return fail(error, "model-state", sources->model_state,
                        "INPUT=OUTPUT,…, such as r1i=r1o,r2i=r2o", GST_TDL_MAX_LINKS);
    }
    for (guint i = 0; i < links->constant_count; i++) {
        const gchar *text = links->constants[2 * i + 1];
        gchar *end = NULL;

        links->numbers[i].input = links->constants[2 * i];
        links->numbers[i].value = g_ascii_strtod(text, &end);
        if (end == text || *end || !(fabs(links->numbers[i].value) <= G_MAXFLOAT))
            return fail(error, "model-constants", sources->model_constants,
                        "NAME=NUMBER,…, such as downsample_ratio=0.25, with numbers up to 3.4e38",
                        GST_TDL_MAX_LINKS);
    }
    if (*sources->model_pictures) {
        links->pictures =
            parse(sources->model_pictures, GST_TDL_MAX_PICTURES - 1, &links->picture_count);
        if (!links->pictures)
            return fail(error, "model-pictures", sources->model_pictures,
                        "INPUT=FILE,…, such as bgr=empty-room.png", GST_TDL_MAX_PICTURES - 1);
    }
    if (!gst_tdl_prompt_parse(sources->prompt, &prompt, error))
        return FALSE;
    open_dimensions(links, sources);
    return check_names((const gchar *const *)links->pictures, links->picture_count,
                       "model-pictures", error) &&
           check_names((const gchar *const *)links->constants, links->constant_count,
                       "model-constants", error) &&
           check_names((const gchar *const *)links->states, links->state_count, "model-state",
                       error);
}

void gst_tdl_links_clear(struct gst_tdl_links *links)
{
    g_clear_pointer(&links->constants, g_strfreev);
    g_clear_pointer(&links->states, g_strfreev);
    g_clear_pointer(&links->pictures, g_strfreev);
    g_clear_pointer(&links->bytes, g_ptr_array_unref);
    for (guint i = 0; i < GST_TDL_LINK_DIMS; i++)
        g_clear_pointer(&links->places[i], g_free);
}

/* ------------------------------------------------------------------- reading */

/* The place of an output among the states; their count: it is none. */
static guint find_state(const struct gst_tdl_links *links, const gchar *output)
{
    guint i = 0;

    while (i < links->state_count && strcmp(links->states[2 * i + 1], output) != 0)
        i++;
    return i;
}

/* A state is the mask, too, only where the user says so, or where no other output is. */
static struct tdl_operand *read_output(void *data, struct tdl_builder *builder, const char *name,
                                       struct tdl_operand *operand)
{
    struct gst_tdl_links *links = data;
    const guint i = find_state(links, name);
    const struct gst_tdl_sources *sources = links->decode->sources;
    g_autofree gchar *own_name = g_strconcat(STATE, name, NULL);

    if (sources->tensors)
        gst_tdl_tensors_output(builder, sources, name, operand, &links->moved);
    if (i < links->state_count) {
        links->shapes[i] = *tdl_operand_get_desc(operand);
        links->seen[i] = operand;
        tdl_builder_output(builder, own_name, operand);
        if (strcmp(sources->model_output, name) != 0 &&
            strcmp(sources->foreground_output, name) != 0)
            return NULL;
    }
    return sources->output == GST_TDL_OUTPUT_TENSORS
               ? NULL
               : gst_tdl_decode_output(links->decode, builder, name, operand);
}

void gst_tdl_links_read(struct gst_tdl_links *links, struct gst_tdl_decode *decode,
                        struct tdl_model_params *reading)
{
    links->decode = decode;
    links->moved = FALSE;
    g_ptr_array_set_size(links->bytes, 0);
    decode->flat = links->state_count > 0;
    decode->prompted = (struct gst_tdl_mask_decoder){ .sources = decode->sources };
    reading->numbers = links->numbers;
    reading->number_count = links->constant_count;
    reading->dimensions = links->dimensions;
    reading->dimension_count = links->dimension_count;
    reading->output = read_output;
    reading->output_data = links;
    reading->input = gst_tdl_inputs_read;
    reading->input_data = links;
}

void gst_tdl_links_finish(struct gst_tdl_links *links, struct tdl_builder *builder)
{
    if (*links->decode->sources->model_output ||
        links->decode->sources->output == GST_TDL_OUTPUT_TENSORS)
        return;
    for (guint i = 0; i < links->state_count && !links->decode->found; i++) {
        const gchar *name = links->states[2 * i + 1];
        struct tdl_operand *mask =
            links->seen[i] ? gst_tdl_decode_alone(links->decode, builder, name, links->seen[i])
                           : NULL;

        if (mask)
            tdl_builder_output(builder, name, mask);
    }
}

void gst_tdl_links_resize(struct gst_tdl_links *links)
{
    for (guint i = 0; i < links->state_count * GST_TDL_STATE_DIMS; i++) {
        const guint d = i % GST_TDL_STATE_DIMS;
        const guint state = find_state(links, links->states[i / GST_TDL_STATE_DIMS * 2 + 1]);

        if (links->seen[state] && d < links->shapes[state].rank)
            links->dimensions[i].size = links->shapes[state].shape[d];
    }
}

/* ------------------------------------------------------------------ the graph */

typedef const struct tdl_tensor_params *(*list_fn)(const struct tdl_graph *, uint32_t,
                                                   const char **);

static const struct tdl_tensor_params *find_tensor(const struct tdl_graph *graph, list_fn list,
                                                   const gchar *name, const gchar **out_name)
{
    const struct tdl_tensor_params *p;

    for (guint i = 0; (p = list(graph, i, out_name)) != NULL; i++)
        if (!strcmp(*out_name, name))
            return p;
    return NULL;
}

static gboolean alike(const struct tdl_tensor_params *a, const struct tdl_tensor_params *b)
{
    return a->dtype == b->dtype && a->rank == b->rank &&
           !memcmp(a->shape, b->shape, a->rank * sizeof(a->shape[0])) && a->packing == b->packing;
}

gchar *gst_tdl_links_shape_text(const struct tdl_tensor_params *p)
{
    GString *text = g_string_new(tdl_dtype_name(p->dtype));

    for (guint i = 0; i < p->rank; i++)
        g_string_append_printf(text, "%s%u", i ? "," : "[", p->shape[i]);
    if (p->rank)
        g_string_append_c(text, ']');
    return g_string_free(text, FALSE);
}

static gchar *find_pair(const struct gst_tdl_links *links, const struct tdl_graph *graph, guint i,
                        struct gst_tdl_states *out, gboolean *out_open)
{
    const gchar *input = links->states[2 * i], *output = links->states[2 * i + 1];
    g_autofree gchar *own_name = g_strconcat(STATE, output, NULL), *a = NULL, *b = NULL;
    const struct tdl_tensor_params *to, *from;

    from = find_tensor(graph, tdl_graph_output, own_name, &out->outputs[i]);
    to = out->params[i] = find_tensor(graph, tdl_graph_input, input, &out->inputs[i]);
    if (!to || !from)
        return g_strdup_printf("\"model-state\" names the %s \"%s\", and it has none of that name",
                               to ? "output" : "input", to ? output : input);
    if (alike(from, to))
        return NULL;
    *out_open = TRUE;
    a = gst_tdl_links_shape_text(from);
    b = gst_tdl_links_shape_text(to);
    return g_strdup_printf("\"model-state\" gives its output \"%s\", %s, to its input \"%s\", "
                           "which takes %s",
                           output, a, input, b);
}

/* The state of what follows an object, where the graph has it. */
static void find_followed(const struct tdl_graph *graph, struct gst_tdl_states *out)
{
    const guint i = out->count;

    out->params[i] = find_tensor(graph, tdl_graph_input, GST_TDL_LAST, &out->inputs[i]);
    if (!out->params[i])
        return;
    find_tensor(graph, tdl_graph_output, GST_TDL_FOLLOWED, &out->outputs[i]);
    out->of[i] = i;
    out->count++;
}

static gboolean is_one_of(const gchar *const *list, guint count, const gchar *name)
{
    for (guint i = 0; i < count; i++)
        if (!strcmp(list[i], name))
            return TRUE;
    return FALSE;
}

gchar *gst_tdl_states_find(const struct gst_tdl_links *links, const struct tdl_graph *graph,
                           struct gst_tdl_states *out, guint *out_pictures,
                           guint *out_picture_count, guint *out_mask, gboolean *out_open)
{
    const gchar *name;
    gchar *fault = NULL;

    *out_open = FALSE;
    *out_picture_count = 0;
    *out = (struct gst_tdl_states){ .count = links->state_count };
    for (guint i = 0; i < out->count && !fault; i++) {
        fault = find_pair(links, graph, i, out, out_open);
        out->of[i] = find_state(links, links->states[2 * i + 1]);
    }
    if (fault)
        return fault;
    find_followed(graph, out);
    for (guint i = 0; tdl_graph_input(graph, i, &name); i++) {
        if (is_one_of(out->inputs, out->count, name) || !strcmp(name, GST_TDL_PROMPT) ||
            gst_tdl_boxes_is_name(name))
            continue;
        if (*out_picture_count == GST_TDL_MAX_PICTURES)
            return g_strdup_printf("tdlfilter gives a model %d pictures at most, and this one has "
                                   "the input \"%s\" beside as many; \"model-constants\" and "
                                   "\"model-state\" say what others get",
                                   GST_TDL_MAX_PICTURES, name);
        out_pictures[(*out_picture_count)++] = i;
    }
    for (guint i = 0; tdl_graph_output(graph, i, &name); i++)
        if (!is_one_of(out->outputs, out->count, name) && strcmp(name, GST_TDL_CLASSES) != 0 &&
            strcmp(name, GST_TDL_FOREGROUND) != 0 && !gst_tdl_tensors_is_name(name))
            *out_mask = i;
    return *out_picture_count
               ? NULL
               : g_strdup("it has no input that could be a picture, "
                          "beside what \"model-constants\" and \"model-state\" give");
}

/* ------------------------------------------------------------------ the memory */

enum tdl_result gst_tdl_carry_init(struct gst_tdl_carry *memory, struct tdl_context *context,
                                   const struct gst_tdl_states *states)
{
    enum tdl_result r = TDL_OK;

    for (guint i = 0; i < states->count && r == TDL_OK; i++) {
        struct tdl_tensor_params params = *states->params[i];
        struct tdl_tensor **all[] = { &memory->zeros[i], &memory->tensors[0][i],
                                      &memory->tensors[1][i] };

        if (states->of[i] != i)
            continue;
        params.usage = 0;
        params.label = "state";
        for (guint k = 0; k < G_N_ELEMENTS(all) && r == TDL_OK; k++)
            r = tdl_tensor_create(context, &params, all[k]);
    }
    return r;
}

void gst_tdl_carry_finish(struct gst_tdl_carry *memory)
{
    for (guint i = 0; i < GST_TDL_MAX_STATES; i++) {
        tdl_tensor_destroy(&memory->zeros[i]);
        tdl_tensor_destroy(&memory->tensors[0][i]);
        tdl_tensor_destroy(&memory->tensors[1][i]);
    }
}

guint gst_tdl_carry_bind(const struct gst_tdl_carry *memory, const struct gst_tdl_states *states,
                         struct tdl_binding *inputs, struct tdl_binding *outputs)
{
    guint count = 0;

    for (guint i = 0; i < states->count; i++) {
        const guint of = states->of[i];

        inputs[i] = (struct tdl_binding){ states->inputs[i],
                                          memory->kept ? memory->tensors[!memory->turn][of]
                                                       : memory->zeros[of] };
        if (of == i)
            outputs[count++] =
                (struct tdl_binding){ states->outputs[i], memory->tensors[memory->turn][i] };
    }
    return count;
}

void gst_tdl_carry_step(struct gst_tdl_carry *memory)
{
    memory->kept = TRUE;
    memory->turn = !memory->turn;
}
