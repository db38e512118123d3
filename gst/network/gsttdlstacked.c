/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The pictures are copied by the device: each stream keeps its own tensors, of any
 * alignment, and may go on or come to an end when it has submitted its part. What that
 * costs is far below what a run for each of them does.
 */
#include "gsttdlstacked.h"

#include "gsttdlflight.h"
#include "model/gsttdlforeground.h"
#include "gsttdlread.h"

#include <string.h>

static gboolean is_stack_of(const struct tdl_tensor_params *many,
                            const struct tdl_tensor_params *one, guint count)
{
    return many && many->rank == one->rank && one->rank > 0 && one->shape[0] == 1 &&
           many->shape[0] == count && many->dtype == one->dtype && many->packing == one->packing &&
           !memcmp(many->shape + 1, one->shape + 1, (one->rank - 1) * sizeof(one->shape[0]));
}

/* Zeros at first: what is computed for nobody should be numbers, too. */
static enum tdl_result create(struct gst_tdl_stack *stack, guint count, struct tdl_context *context,
                              const struct tdl_tensor_params *params, const gchar *label)
{
    const gsize size = tdl_tensor_params_size(params);
    struct tdl_tensor_params mine = *params;
    enum tdl_result r =
        tdl_buffer_create(context, (size + 15) / 16 * 16, TDL_BUFFER_DEVICE, &stack->buffer);

    stack->size = size / count;
    mine.usage = TDL_TENSOR_WRITABLE;
    mine.label = label;
    if (r == TDL_OK)
        r = tdl_tensor_create_on(stack->buffer, &mine, &stack->tensor);
    if (r == TDL_OK) {
        g_autofree guint8 *zeros = g_malloc0(size);

        r = tdl_tensor_write(stack->tensor, zeros, size, NULL);
    }
    return r;
}

static enum tdl_result run(struct gst_tdl_stacked *s, struct tdl_batch *batch)
{
    const struct tdl_binding input = { s->input.name, s->input.tensor };
    const struct gst_tdl_stack *const others[] = { &s->indices, &s->foreground };
    struct tdl_binding outputs[3] = { { s->output.name, s->output.tensor } };
    guint count = 1;

    for (guint i = 0; i < G_N_ELEMENTS(others); i++)
        if (others[i]->name)
            outputs[count++] = (struct tdl_binding){ others[i]->name, others[i]->tensor };
    return tdl_batch_graph(batch, s->graph, &input, 1, outputs, count);
}

/* The first run compiles on some drivers; the second is timed. */
static enum tdl_result warm_up(struct gst_tdl_stacked *s, struct tdl_context *context,
                               const struct tdl_compile_params *compile)
{
    struct tdl_batch *batch = NULL;
    enum tdl_result r = tdl_batch_create(context, &batch);

    for (guint i = 0; i < 2 && r == TDL_OK && s->network_ns < GST_SECOND; i++) {
        const gint64 start = g_get_monotonic_time();

        r = tdl_batch_begin(batch);
        if (r == TDL_OK)
            r = run(s, batch);
        if (r == TDL_OK)
            r = gst_tdl_flight_run_batch(context, batch, compile->progress, compile->progress_data);
        s->network_ns = (g_get_monotonic_time() - start) * 1000;
    }
    tdl_batch_destroy(&batch);
    if (r == TDL_OK)
        tdl_context_save_cache(context);
    return r;
}

/* The shapes of a stack's tensors. */
struct ends {
    const struct tdl_tensor_params *in, *out, *indices, *foreground;
};

/* FALSE: the graph has other inputs or outputs than one picture's, or not for each. */
static gboolean find_ends(struct gst_tdl_stacked *s, const struct gst_tdl_model *model,
                          struct ends *ends)
{
    const guint count = 1 + (model->indices != NULL) + (model->foreground != NULL);
    const struct tdl_tensor_params *p;
    const gchar *name;

    *ends = (struct ends){ .in = tdl_graph_input(s->graph, 0, &s->input.name) };
    for (guint i = 0; (p = tdl_graph_output(s->graph, i, &name)) != NULL; i++) {
        const gboolean classes = !strcmp(name, GST_TDL_CLASSES);
        const gboolean colors = !strcmp(name, GST_TDL_FOREGROUND);

        *(classes ? &ends->indices : colors ? &ends->foreground : &ends->out) = p;
        *(classes ? &s->indices.name : colors ? &s->foreground.name : &s->output.name) = name;
    }
    return is_stack_of(ends->in, model->input_params, s->count) &&
           is_stack_of(ends->out, model->output_params, s->count) &&
           (!model->indices || is_stack_of(ends->indices, model->indices, s->count)) &&
           (!model->foreground || is_stack_of(ends->foreground, model->foreground, s->count)) &&
           !tdl_graph_input(s->graph, 1, NULL) && !tdl_graph_output(s->graph, count, NULL);
}

static gboolean set_up(struct gst_tdl_stacked *s, const struct gst_tdl_model *model,
                       struct tdl_context *context, const struct tdl_compile_params *compile,
                       GError **error)
{
    struct ends ends;
    enum tdl_result r;

    if (!find_ends(s, model, &ends)) {
        g_set_error(error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                    "its output for several pictures has no place for each");
        return FALSE;
    }
    r = create(&s->input, s->count, context, ends.in, "pictures");
    if (r == TDL_OK)
        r = create(&s->output, s->count, context, ends.out, "masks");
    if (r == TDL_OK && ends.indices)
        r = create(&s->indices, s->count, context, ends.indices, "classes");
    if (r == TDL_OK && ends.foreground)
        r = create(&s->foreground, s->count, context, ends.foreground, "foregrounds");
    if (r == TDL_OK)
        r = tdl_graph_compile(s->graph, compile);
    if (r == TDL_OK)
        r = warm_up(s, context, compile);
    if (r != TDL_OK && r != TDL_ERROR_CANCELED)
        gst_tdl_error_set(error, r, "Cannot run model \"%s\" on %u frames at once", model->name,
                          s->count);
    return r == TDL_OK;
}

struct gst_tdl_stacked *gst_tdl_stacked_new(const struct gst_tdl_model *model,
                                            const struct gst_tdl_model_params *params,
                                            const gchar *path,
                                            const struct tdl_compile_params *compile,
                                            GError **error)
{
    struct gst_tdl_stacked *s = g_new0(struct gst_tdl_stacked, 1);

    s->count = params->stack;
    s->graph = gst_tdl_read_stacked(params, path, error);
    if (!s->graph || !set_up(s, model, params->context, compile, error))
        g_clear_pointer(&s, gst_tdl_stacked_free);
    return s;
}

static void destroy(struct gst_tdl_stack *stack)
{
    tdl_tensor_destroy(&stack->tensor);
    tdl_buffer_destroy(&stack->buffer);
}

void gst_tdl_stacked_free(struct gst_tdl_stacked *s)
{
    if (!s)
        return;
    destroy(&s->input);
    destroy(&s->output);
    destroy(&s->indices);
    destroy(&s->foreground);
    tdl_graph_destroy(&s->graph);
    g_free(s);
}

/* Place `i` of a stack to a stream's own tensor. */
static enum tdl_result hand_out(struct tdl_batch *batch, const struct gst_tdl_stack *stack, guint i,
                                struct tdl_tensor *tensor)
{
    return tdl_batch_buffer_to_tensor(batch, stack->buffer, i * stack->size, tensor, 0,
                                      stack->size);
}

enum tdl_result gst_tdl_stacked_record(struct gst_tdl_stacked *s, struct tdl_batch *batch,
                                       struct gst_tdl_infer *const *infers, guint count)
{
    enum tdl_result r = tdl_batch_stage(batch, GST_TDL_STAGE_NETWORK);

    for (guint i = 0; i < count && r == TDL_OK; i++)
        r = tdl_batch_tensor_to_buffer(batch, infers[i]->input, 0, s->input.buffer,
                                       i * s->input.size, s->input.size);
    if (r == TDL_OK)
        r = run(s, batch);
    for (guint i = 0; i < count && r == TDL_OK; i++) {
        r = hand_out(batch, &s->output, i, infers[i]->output);
        if (r == TDL_OK && s->indices.name)
            r = hand_out(batch, &s->indices, i, infers[i]->indices);
        if (r == TDL_OK && s->foreground.name)
            r = hand_out(batch, &s->foreground, i, infers[i]->foreground);
    }
    return r;
}
