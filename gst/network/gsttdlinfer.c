/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdlinfer.h"

#include "gsttdlflight.h"
#include "model/gsttdlforeground.h"
#include "model/gsttdlrung.h"

#include <math.h>
#include <string.h>

#define WARM_UP_RUNS 2      /* the first one compiles on some drivers, the second is timed */
#define TRIED_RUNS 4        /* … likewise of a model that is tried beside another at work */
#define LONG_RUN GST_SECOND /* nobody waits for a second one */
#define SHORT_RUN (50 * GST_MSECOND) /* frames at work beside it hardly wait for more of these */
#define LOOK_EACH 4                  /* times as many runs as before */

/* Bound where the model has it. */
static enum tdl_result create_output(struct tdl_context *context,
                                     const struct tdl_tensor_params *params, const gchar *label,
                                     struct tdl_tensor **out_tensor)
{
    struct tdl_tensor_params mine;

    if (!params)
        return TDL_OK;
    mine = *params;
    mine.usage = TDL_TENSOR_WRITABLE | TDL_TENSOR_READABLE;
    mine.label = label;
    return tdl_tensor_create(context, &mine, out_tensor);
}

/* Nothing is asked for yet. */
static enum tdl_result create_prompt(struct gst_tdl_infer *infer, struct tdl_context *context)
{
    struct tdl_tensor_params mine;

    if (!infer->model->prompt)
        return TDL_OK;
    mine = *infer->model->prompt;
    mine.usage = TDL_TENSOR_WRITABLE;
    mine.label = "prompt";
    return tdl_tensor_create(context, &mine, &infer->prompt);
}

static enum tdl_result create_boxes(struct gst_tdl_infer *infer, struct tdl_context *context)
{
    const struct gst_tdl_boxes *boxes = &infer->model->tensors.boxes;
    enum tdl_result r = create_output(context, boxes->params, "boxes", &infer->factors);

    return r == TDL_OK ? create_output(context, boxes->params, "boxes", &infer->summands) : r;
}

static enum tdl_result create_tensors(struct gst_tdl_infer *infer, struct tdl_context *context)
{
    struct tdl_tensor_params input = *infer->model->input_params;
    enum tdl_result r;

    input.usage = TDL_TENSOR_READABLE; /* by batches, which copy both */
    input.label = "picture";
    r = tdl_tensor_create(context, &input, &infer->input);
    if (r == TDL_OK)
        r = create_output(context, infer->model->output_params, "mask", &infer->output);
    if (r == TDL_OK)
        r = create_output(context, infer->model->indices, "classes", &infer->indices);
    if (r == TDL_OK)
        r = create_output(context, infer->model->foreground, "foreground", &infer->foreground);
    if (r == TDL_OK)
        r = create_prompt(infer, context);
    for (guint i = 0; i < infer->model->tensors.count && r == TDL_OK; i++)
        r = create_output(context, infer->model->tensors.list[i].params, "output",
                          &infer->tensors[i]);
    if (r == TDL_OK)
        r = create_boxes(infer, context);
    if (r == TDL_OK && infer->output)
        r = tdl_tensor_reshape(infer->output, 4, infer->model->image.shape, &infer->mask);
    return r == TDL_OK ? gst_tdl_carry_init(&infer->memory, context, &infer->model->states) : r;
}

/* Bindings that a run reads and writes. */
struct bindings {
    struct tdl_binding inputs[1 + GST_TDL_MAX_PICTURES + GST_TDL_MAX_STATES + 2];
    struct tdl_binding outputs[3 + GST_TDL_MAX_STATES + GST_TDL_MAX_TENSORS];
    guint input_count, output_count;
};

static void bind(const struct gst_tdl_infer *infer, struct bindings *b)
{
    b->inputs[0] = (struct tdl_binding){ infer->model->input, infer->input };
    b->input_count =
        1 + gst_tdl_aux_inputs_bind(&infer->others, &infer->model->pictures, b->inputs + 1);
    if (infer->prompt)
        b->inputs[b->input_count++] = (struct tdl_binding){ GST_TDL_PROMPT, infer->prompt };
    b->output_count = 0;
    if (infer->output)
        b->outputs[b->output_count++] = (struct tdl_binding){ infer->model->output, infer->output };
    if (infer->indices)
        b->outputs[b->output_count++] = (struct tdl_binding){ GST_TDL_CLASSES, infer->indices };
    if (infer->foreground)
        b->outputs[b->output_count++] =
            (struct tdl_binding){ GST_TDL_FOREGROUND, infer->foreground };
    for (guint i = 0; i < infer->model->tensors.count; i++)
        b->outputs[b->output_count++] =
            (struct tdl_binding){ infer->model->tensors.list[i].binding, infer->tensors[i] };
    b->output_count += gst_tdl_carry_bind(&infer->memory, &infer->model->states,
                                          b->inputs + b->input_count, b->outputs + b->output_count);
    b->input_count += infer->model->states.count;
    if (infer->factors) {
        b->inputs[b->input_count++] =
            (struct tdl_binding){ infer->model->tensors.boxes.factor, infer->factors };
        b->inputs[b->input_count++] =
            (struct tdl_binding){ infer->model->tensors.boxes.summand, infer->summands };
    }
}

static enum tdl_result run_network(struct gst_tdl_infer *infer, struct tdl_batch *batch)
{
    struct bindings b;

    bind(infer, &b);
    return tdl_batch_graph(batch, infer->model->graph, b.inputs, b.input_count, b.outputs,
                           b.output_count);
}

/* Times `count` runs, at most three that count, without the first one, which may have
 * compiled. */
static guint64 median(const guint64 *ns, guint count)
{
    if (count < TRIED_RUNS)
        return ns[count - 1];
    return MAX(MIN(ns[1], ns[2]), MIN(MAX(ns[1], ns[2]), ns[3]));
}

/* In its turn. */
static enum tdl_result run_alone(struct gst_tdl_infer *infer, struct tdl_context *context,
                                 struct gst_tdl_progress *progress, guint64 *out_ns)
{
    struct tdl_batch *batch = NULL;
    enum tdl_result r = tdl_batch_create(context, &batch);
    const gint64 start = g_get_monotonic_time();

    if (r == TDL_OK)
        r = tdl_batch_begin(batch);
    if (r == TDL_OK)
        r = run_network(infer, batch);
    if (r == TDL_OK)
        r = gst_tdl_flight_run_batch(context, batch, gst_tdl_progress_kernels, progress);
    tdl_batch_destroy(&batch);
    *out_ns = (g_get_monotonic_time() - start) * 1000;
    return r;
}

/* While frames go on, which hardly wait for it. */
static enum tdl_result run_beside(struct gst_tdl_infer *infer, struct gst_tdl_progress *progress,
                                  guint64 *out_ns)
{
    const struct tdl_compile_params params = { .progress = gst_tdl_progress_kernels,
                                               .progress_data = progress };
    struct bindings b;

    bind(infer, &b);
    return tdl_graph_try(infer->model->graph, b.inputs, b.input_count, b.outputs, b.output_count,
                         &params, out_ns);
}

static enum tdl_result warm_up(struct gst_tdl_infer *infer, struct tdl_context *context,
                               struct gst_tdl_progress *progress)
{
    const gboolean waits_for_none =
        infer->beside && tdl_context_device(context)->type == TDL_DEVICE_CPU;
    const guint64 longest = waits_for_none ? LONG_RUN : SHORT_RUN;
    const guint runs = infer->choice.rung > GST_TDL_RUNG_PERSON ? TRIED_RUNS : WARM_UP_RUNS;
    guint64 ns[TRIED_RUNS];
    enum tdl_result r = TDL_OK;

    for (guint i = 0; i < runs && r == TDL_OK && (i == 0 || infer->network_ns < LONG_RUN) &&
                      (i < WARM_UP_RUNS || infer->network_ns < longest);
         i++) {
        r = infer->beside ? run_beside(infer, progress, &ns[i])
                          : run_alone(infer, context, progress, &ns[i]);
        infer->network_ns = median(ns, i + 1);
    }
    /* Now, as many a pipeline ends by a signal. Failing is logged, no more. */
    if (r == TDL_OK)
        tdl_context_save_cache(context);
    return r;
}

guint64 gst_tdl_infer_time(struct gst_tdl_infer *infer, struct tdl_context *context, guint64 moment,
                           struct gst_tdl_progress *progress)
{
    guint64 least = G_MAXUINT64, sum = 0, ns;

    while (sum < moment) {
        if (run_alone(infer, context, progress, &ns) != TDL_OK)
            return 0;
        least = MIN(least, ns);
        sum += MAX(ns, 1);
    }
    return least;
}

struct gst_tdl_infer *gst_tdl_infer_new(const struct gst_tdl_model_params *params, GError **error)
{
    struct gst_tdl_infer *infer = g_new0(struct gst_tdl_infer, 1);
    enum tdl_result r;

    infer->model = gst_tdl_model_acquire(params, &infer->choice.follows, error);
    if (!infer->model)
        goto fail;
    infer->choice.person = gst_tdl_model_person(params->sources);
    infer->choice.rung = gst_tdl_rung_of(params->sources);
    infer->choice.rungs = gst_tdl_rungs_here(params->sources);
    r = create_tensors(infer, params->context);
    if (r != TDL_OK) {
        gst_tdl_error_set(error, r, "Cannot run model \"%s\"", infer->model->name);
        goto fail;
    }
    if (!gst_tdl_aux_inputs_init(&infer->others, params->context, &infer->model->pictures, error))
        goto fail;
    return infer;
fail:
    gst_tdl_infer_free(infer);
    return NULL;
}

gboolean gst_tdl_infer_compile(struct gst_tdl_infer *infer, struct tdl_context *context,
                               struct gst_tdl_progress *progress, GError **error)
{
    GError *failure = NULL;
    enum tdl_result r;

    /* The CPU compiles nothing, and says nothing of it. */
    if (tdl_context_device(context)->type == TDL_DEVICE_CPU)
        progress->element = NULL;
    gst_tdl_progress_begin(progress);
    r = gst_tdl_model_compile(infer->model, gst_tdl_progress_kernels, progress);
    if (r == TDL_OK)
        r = gst_tdl_aux_inputs_fill(&infer->others, context, &infer->model->pictures,
                                    infer->model->fit);
    if (r == TDL_OK)
        r = warm_up(infer, context, progress);
    if (r != TDL_OK && r != TDL_ERROR_CANCELED)
        gst_tdl_error_set(&failure, r, "Cannot run model \"%s\"", infer->model->name);
    gst_tdl_progress_end(progress, r == TDL_OK, failure);
    if (failure)
        g_propagate_error(error, failure);
    return r == TDL_OK;
}

GError *gst_tdl_infer_notice(struct gst_tdl_infer *infer, guint64 runs)
{
    g_autofree gfloat *mask = NULL;
    gsize size;

    if (infer->model->kind != GST_TDL_OUTPUT_MASK || infer->strange ||
        (runs && runs < LOOK_EACH * infer->looked))
        return NULL;
    infer->looked = runs;
    size = tdl_tensor_params_size(tdl_tensor_get_params(infer->mask));
    mask = g_malloc(size);
    if (tdl_tensor_read(infer->mask, mask, size) != TDL_OK)
        return NULL;
    for (gsize i = 0; i < size / sizeof(*mask) && !infer->strange; i++)
        infer->strange = !isfinite(mask[i]);
    return infer->strange
               ? g_error_new(
                     GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
                     "The mask of model \"%s\" has numbers far from 0 to 1, or NaN, which are "
                     "taken for background. If they are 0 to 255, set "
                     "output-range=0,255; if they are logits, decoder=logit.",
                     infer->model->name)
               : NULL;
}

void gst_tdl_infer_free(struct gst_tdl_infer *infer)
{
    if (!infer)
        return;
    tdl_tensor_destroy(&infer->input);
    tdl_tensor_destroy(&infer->mask);
    tdl_tensor_destroy(&infer->output);
    tdl_tensor_destroy(&infer->indices);
    tdl_tensor_destroy(&infer->foreground);
    tdl_tensor_destroy(&infer->prompt);
    for (guint i = 0; i < GST_TDL_MAX_TENSORS; i++)
        tdl_tensor_destroy(&infer->tensors[i]);
    tdl_tensor_destroy(&infer->factors);
    tdl_tensor_destroy(&infer->summands);
    gst_tdl_carry_finish(&infer->memory);
    gst_tdl_aux_inputs_finish(&infer->others);
    gst_tdl_model_release(&infer->model);
    g_free(infer->choice.follows);
    g_free(infer);
}

enum tdl_result gst_tdl_infer_prepare(struct gst_tdl_infer *infer, const struct tdl_frame *frame,
                                      const struct tdl_compile_params *compile)
{
    enum tdl_result r = tdl_frame_to_tensor_prepare(frame, infer->input, compile);

    return r == TDL_OK
               ? gst_tdl_aux_inputs_prepare(&infer->others, &infer->model->pictures, frame, compile)
               : r;
}

/* Width and height of one image, which has its channels last. */
static void image_size(const struct tdl_tensor_params *p, guint out_size[2])
{
    out_size[0] = p->shape[2];
    out_size[1] = p->shape[1];
}

static void fit(struct gst_tdl_infer *infer, const struct tdl_frame *frame, gfloat pixel_aspect,
                struct tdl_frame_to_tensor_params *out_picture)
{
    struct gst_tdl_fit_sizes sizes = { .frame = { frame->width, frame->height },
                                       .pixel_aspect = pixel_aspect };

    image_size(infer->model->input_params, sizes.input);
    image_size(&infer->model->image, sizes.mask);
    memcpy(sizes.region, infer->region, sizeof(sizes.region));
    *out_picture = infer->model->picture;
    gst_tdl_fit(infer->model->fit, &sizes, out_picture, &infer->part);
}

gboolean gst_tdl_infer_ask(struct gst_tdl_infer *infer, const struct gst_tdl_prompt *prompt)
{
    if (!infer->prompt || prompt->serial == infer->asked.serial ||
        prompt->count > infer->model->prompt->shape[0])
        return FALSE;
    infer->asked = *prompt;
    return TRUE;
}

/* The prompt's points where the picture has them, at most once for each that is set, unless the
 * frame comes to the picture in another way. */
static enum tdl_result tell_prompt(struct gst_tdl_infer *infer, const struct tdl_frame *frame,
                                   const struct tdl_frame_to_tensor_params *picture)
{
    struct gst_tdl_point points[GST_TDL_MAX_POINTS] = { { 0 } };
    struct gst_tdl_fit_sizes sizes = { .frame = { frame->width, frame->height } };
    enum tdl_result r;

    if (!infer->prompt)
        return TDL_OK;
    image_size(infer->model->input_params, sizes.input);
    for (guint i = 0; i < GST_TDL_MAX_POINTS; i++)
        points[i] = i < infer->asked.count
                        ? gst_tdl_fit_point(&infer->asked.points[i], &sizes, picture)
                        : (struct gst_tdl_point){ 0, 0, GST_TDL_POINT_NONE };
    if (!memcmp(points, infer->told, sizeof(points)))
        return TDL_OK;
    r = tdl_tensor_write(infer->prompt, points, tdl_tensor_params_size(infer->model->prompt), NULL);
    if (r == TDL_OK)
        memcpy(infer->told, points, sizeof(points));
    return r;
}

/* Boxes of the next run are places in the frame. Written where it lies otherwise in the picture
 * than before. */
static enum tdl_result place_boxes(struct gst_tdl_infer *infer, const struct tdl_frame *frame,
                                   const struct tdl_frame_to_tensor_params *how)
{
    const struct gst_tdl_boxes *boxes = &infer->model->tensors.boxes;
    const guint *whole = infer->whole, size[2] = { frame->width, frame->height };
    struct gst_tdl_boxes_view view = {
        .inside = { how->inside.x, how->inside.y, how->inside.width, how->inside.height },
        .seen = { whole[0] + how->crop.x, whole[1] + how->crop.y,
                  how->crop.width ? how->crop.width : size[0],
                  how->crop.height ? how->crop.height : size[1] },
        .frame = { whole[2] ? whole[2] : size[0], whole[3] ? whole[3] : size[1] },
    };
    g_autofree gfloat *factors = NULL, *summands = NULL;
    enum tdl_result r;
    gsize bytes;

    image_size(infer->model->input_params, view.input);
    if (!infer->factors || !memcmp(&view, &infer->view, sizeof(view)))
        return TDL_OK;
    bytes = tdl_tensor_params_size(boxes->params);
    factors = g_malloc(bytes);
    summands = g_malloc(bytes);
    gst_tdl_boxes_fill(boxes, &view, factors, summands);
    r = tdl_tensor_write(infer->factors, factors, bytes, NULL);
    if (r == TDL_OK)
        r = tdl_tensor_write(infer->summands, summands, bytes, NULL);
    if (r == TDL_OK)
        infer->view = view;
    return r;
}

enum tdl_result gst_tdl_infer_run(struct gst_tdl_infer *infer, struct tdl_batch *batch,
                                  const struct tdl_frame *frame,
                                  const struct tdl_frame_to_tensor_params *picture)
{
    enum tdl_result r = tdl_frame_to_tensor(batch, frame, infer->input, picture);

    return r == TDL_OK ? run_network(infer, batch) : r;
}

enum tdl_result gst_tdl_infer_picture(struct gst_tdl_infer *infer, struct tdl_batch *batch,
                                      const struct tdl_frame *frame, gfloat pixel_aspect)
{
    struct tdl_frame_to_tensor_params picture;
    enum tdl_result r = tdl_batch_stage(batch, GST_TDL_STAGE_PREPROCESS);

    fit(infer, frame, pixel_aspect, &picture);
    if (frame->width != infer->frame[0] || frame->height != infer->frame[1] ||
        memcmp(infer->seen, infer->region, sizeof(infer->seen)))
        gst_tdl_infer_forget(infer);
    memcpy(infer->seen, infer->region, sizeof(infer->seen));
    infer->frame[0] = frame->width;
    infer->frame[1] = frame->height;
    if (r == TDL_OK)
        r = tell_prompt(infer, frame, &picture);
    if (r == TDL_OK)
        r = place_boxes(infer, frame, &picture);
    if (r == TDL_OK)
        r = tdl_frame_to_tensor(batch, frame, infer->input, &picture);
    return r == TDL_OK ? gst_tdl_aux_inputs_record(&infer->others, &infer->model->pictures,
                                                   infer->model->fit, batch, frame, pixel_aspect)
                       : r;
}

enum tdl_result gst_tdl_infer_network(struct gst_tdl_infer *infer, struct tdl_batch *batch)
{
    enum tdl_result r = tdl_batch_stage(batch, GST_TDL_STAGE_NETWORK);

    return r == TDL_OK ? run_network(infer, batch) : r;
}

enum tdl_result gst_tdl_infer_record(struct gst_tdl_infer *infer, struct tdl_batch *batch,
                                     const struct tdl_frame *frame, gfloat pixel_aspect)
{
    enum tdl_result r = gst_tdl_infer_picture(infer, batch, frame, pixel_aspect);

    return r == TDL_OK ? gst_tdl_infer_network(infer, batch) : r;
}

void gst_tdl_infer_ran(struct gst_tdl_infer *infer)
{
    gst_tdl_carry_step(&infer->memory);
}

void gst_tdl_infer_forget(struct gst_tdl_infer *infer)
{
    infer->memory.kept = FALSE;
}

struct tdl_compose_more gst_tdl_infer_colors(const struct gst_tdl_infer *infer, gboolean ran)
{
    const struct tdl_frame_to_tensor_params *how = &infer->model->picture;
    struct tdl_compose_more more = { .keep_foreground = infer->foreground != NULL };

    if (!ran || !infer->foreground)
        return more;
    more.foreground = infer->foreground;
    more.picture = infer->input;
    more.bgr = how->bgr;
    memcpy(more.scale, how->scale, sizeof(more.scale));
    memcpy(more.bias, how->bias, sizeof(more.bias));
    return more;
}
