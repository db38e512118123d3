/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdltensors.h"

#include <string.h>

#define TENSOR "tensor:" /* before an output's name: it may be the mask, too */

/* Only what has four dimensions can be packed, and one more of 1 changes no value. */
#define PACKED_RANK 4

void gst_tdl_tensors_output(struct tdl_builder *builder, const gchar *name,
                            struct tdl_operand *operand, gboolean packs)
{
    const struct tdl_tensor_params *p = tdl_operand_get_desc(operand);
    g_autofree gchar *own_name = g_strconcat(TENSOR, name, NULL);
    uint32_t shape[PACKED_RANK + 1] = { 1 };

    if (packs && p->rank == PACKED_RANK) {
        memcpy(shape + 1, p->shape, PACKED_RANK * sizeof(shape[0]));
        operand = tdl_builder_reshape(builder, operand, G_N_ELEMENTS(shape), shape);
    }
    tdl_builder_output(builder, own_name, operand);
}

gboolean gst_tdl_tensors_is_name(const gchar *name)
{
    return g_str_has_prefix(name, TENSOR);
}

/* Takes the words of the modelinfo file about the output. */
static void take_words(const struct gst_tdl_output_options *said, struct gst_tdl_tensor *out)
{
    if (said->id)
        out->id = g_quark_from_string(said->id);
    out->col_major = said->col_major;
    for (guint k = 0; said->rank == out->rank && k < out->rank; k++)
        out->open[k] = said->dims[k] < 0;
}

/* By the modelinfo file, or else the model's own name. */
static void identify(const struct gst_tdl_sources *sources, const gchar *name,
                     struct gst_tdl_tensor *out)
{
    out->id = g_quark_from_string(name);
    out->col_major = FALSE;
    memset(out->open, 0, sizeof(out->open));
    for (guint i = 0; sources->outputs && i < sources->outputs->len; i++) {
        const struct gst_tdl_output_options *said =
            &g_array_index(sources->outputs, struct gst_tdl_output_options, i);

        if (!strcmp(said->name, name))
            take_words(said, out);
    }
}

static void describe(const struct tdl_tensor_params *p, gboolean packs, struct gst_tdl_tensor *out)
{
    const guint skipped = packs && p->rank == PACKED_RANK + 1 && p->shape[0] == 1;

    out->params = p;
    out->rank = p->rank - skipped;
    memcpy(out->shape, p->shape + skipped, out->rank * sizeof(out->shape[0]));
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
                                   "has \"%s\" beside as many: set \"meta\" without tensors",
                                   GST_TDL_MAX_TENSORS, name + strlen(TENSOR));
        tensor->binding = name;
        describe(p, *sources->model_state != '\0', tensor);
        identify(sources, name + strlen(TENSOR), tensor);
    }
    return NULL;
}
