/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdltensors.h"

#include <string.h>

#define TENSOR "tensor:" /* before an output's name: it may be the mask, too */

/* Only what has four dimensions can be packed, and one more of 1 changes no value. */
#define PACKED_RANK 4

/* What the modelinfo file says of an output; NULL: nothing. */
static const struct gst_tdl_output_options *said_of(const struct gst_tdl_sources *sources,
                                                    const gchar *name)
{
    for (guint i = 0; sources->outputs && i < sources->outputs->len; i++) {
        const struct gst_tdl_output_options *said =
            &g_array_index(sources->outputs, struct gst_tdl_output_options, i);

        if (!strcmp(said->name, name))
            return said;
    }
    return NULL;
}

static const gchar *id_of(const struct gst_tdl_output_options *said, const gchar *name)
{
    return said && said->id ? said->id : name;
}

/* The place of a name in "model-outputs"; -1: it is not there. */
static gint find_wanted(const gchar *list, const gchar *name)
{
    g_auto(GStrv) names = g_strsplit(list, ",", -1);

    for (gint i = 0; names[i]; i++)
        if (!strcmp(g_strstrip(names[i]), name))
            return i;
    return -1;
}

/* Images of a graph with states are packs of channels, which nobody downstream reads. */
static gboolean packs(const struct gst_tdl_sources *sources)
{
    return *sources->model_state != '\0';
}

void gst_tdl_tensors_output(struct tdl_builder *builder, const struct gst_tdl_sources *sources,
                            const gchar *name, struct tdl_operand *operand, gboolean *moved)
{
    const struct tdl_tensor_params *p = tdl_operand_get_desc(operand);
    g_autofree gchar *own_name = g_strconcat(TENSOR, name, NULL);
    uint32_t shape[PACKED_RANK + 1] = { 1 };

    if (*sources->model_outputs && find_wanted(sources->model_outputs, name) < 0)
        return;
    operand =
        gst_tdl_boxes_move(builder, sources, id_of(said_of(sources, name), name), operand, moved);
    if (packs(sources) && p->rank == PACKED_RANK) {
        memcpy(shape + 1, p->shape, PACKED_RANK * sizeof(shape[0]));
        operand = tdl_builder_reshape(builder, operand, G_N_ELEMENTS(shape), shape);
    }
    tdl_builder_output(builder, own_name, operand);
}

gboolean gst_tdl_tensors_is_name(const gchar *name)
{
    return g_str_has_prefix(name, TENSOR);
}

/* By the modelinfo file, or else the model's own name. */
static void identify(const struct gst_tdl_sources *sources, const gchar *name,
                     struct gst_tdl_tensor *out)
{
    const struct gst_tdl_output_options *said = said_of(sources, name);

    out->id = g_quark_from_string(id_of(said, name));
    out->col_major = said && said->col_major;
    for (guint k = 0; k < out->rank; k++)
        out->open[k] = said && said->rank == out->rank && said->dims[k] < 0;
}

static void describe(const struct tdl_tensor_params *p, gboolean packed, struct gst_tdl_tensor *out)
{
    const guint skipped = packed && p->rank == PACKED_RANK + 1 && p->shape[0] == 1;

    out->params = p;
    out->rank = p->rank - skipped;
    memcpy(out->shape, p->shape + skipped, out->rank * sizeof(out->shape[0]));
}

/* A name in "model-outputs" that no output has. */
static gchar *find_missing(const struct gst_tdl_tensors *found, const gchar *list)
{
    g_auto(GStrv) names = g_strsplit(list, ",", -1);

    for (guint i = 0; *list && names[i]; i++) {
        const gchar *name = g_strstrip(names[i]);
        guint k = 0;

        while (k < found->count && strcmp(found->list[k].binding + strlen(TENSOR), name) != 0)
            k++;
        if (k == found->count)
            return g_strdup_printf("\"model-outputs\" names the output \"%s\", and it has none of "
                                   "that name; tdl-run lists them",
                                   name);
    }
    return NULL;
}

gchar *gst_tdl_tensors_find(const struct tdl_graph *graph, const struct gst_tdl_sources *sources,
                            struct gst_tdl_tensors *out)
{
    const struct tdl_tensor_params *p;
    const gchar *name;

    out->count = 0;
    out->group = sources->group;
    for (guint i = 0; (p = tdl_graph_output(graph, i, &name)) != NULL; i++) {
        struct gst_tdl_tensor *tensor = &out->list[out->count];

        if (!gst_tdl_tensors_is_name(name))
            continue;
        if (out->count++ == GST_TDL_MAX_TENSORS)
            return g_strdup_printf("%d outputs of a model are handed out at most, and this one "
                                   "has \"%s\" beside as many: name fewer in \"model-outputs\"",
                                   GST_TDL_MAX_TENSORS, name + strlen(TENSOR));
        tensor->binding = name;
        describe(p, packs(sources), tensor);
        identify(sources, name + strlen(TENSOR), tensor);
    }
    gst_tdl_boxes_find(graph, &out->boxes);
    return sources->tensors ? find_missing(out, sources->model_outputs) : NULL;
}
