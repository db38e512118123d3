/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdlpresence.h"

#define STRIDE 16 /* bytes between shares, as copies begin at a multiple of 4 */
#define RATHER 0.5f

static const struct gst_tdl_moment never = { GST_CLOCK_TIME_NONE, GST_CLOCK_TIME_NONE };

gboolean gst_tdl_watch_see(struct gst_tdl_watch *watch, const struct gst_tdl_live *live,
                           gdouble share, const struct gst_tdl_moment *moment,
                           struct gst_tdl_moment *out_since)
{
    const GstClockTime delay = live->presence_delay * GST_MSECOND;

    watch->share = share;
    if ((share > 0 && share >= live->presence_share) == watch->present) {
        watch->since = never;
        return FALSE;
    }
    if (!GST_CLOCK_TIME_IS_VALID(watch->since.running) || moment->running < watch->since.running)
        watch->since = *moment;
    if (moment->running - watch->since.running < delay)
        return FALSE;
    *out_since = watch->since;
    watch->since = never;
    watch->present = !watch->present;
    return TRUE;
}

void gst_tdl_presence_finish(struct gst_tdl_presence *presence)
{
    tdl_graph_destroy(&presence->graph);
    tdl_tensor_destroy(&presence->share);
    tdl_buffer_destroy(&presence->shares);
    *presence = (struct gst_tdl_presence){ .watch.since = never };
}

/* The mean of what is 1 where the mask is more than RATHER, and else 0. */
static enum tdl_result build(struct tdl_context *context, const struct tdl_tensor_params *mask,
                             struct tdl_graph **out_graph)
{
    static const gfloat rather = RATHER;
    const struct tdl_tensor_params scalar = { .dtype = TDL_FLOAT32 };
    struct tdl_builder *b = NULL;
    enum tdl_result r = tdl_builder_create(context, &b);
    struct tdl_operand *x;

    if (r != TDL_OK)
        return r;
    x = tdl_builder_input(b, "mask", mask);
    x = tdl_builder_greater(b, x, tdl_builder_constant(b, &scalar, &rather, sizeof(rather)));
    x = tdl_builder_cast(b, x, TDL_FLOAT32);
    x = tdl_builder_reduce(b, x, TDL_REDUCE_MEAN, &(struct tdl_reduce_params){ 0 });
    r = tdl_builder_output(b, "share", x);
    if (r == TDL_OK)
        r = tdl_builder_build(b, &(struct tdl_build_params){ .precision = TDL_PRECISION_FP32 },
                              out_graph);
    tdl_builder_destroy(&b);
    return r;
}

static enum tdl_result make(struct gst_tdl_presence *presence, struct tdl_context *context,
                            const struct tdl_tensor_params *mask)
{
    const struct tdl_tensor_params share = { .dtype = TDL_FLOAT32,
                                             .usage = TDL_TENSOR_READABLE,
                                             .label = "share" };
    const struct gst_tdl_watch watch = presence->watch;
    enum tdl_result r;

    if (presence->graph && presence->height == mask->shape[1] && presence->width == mask->shape[2])
        return TDL_OK;
    gst_tdl_presence_finish(presence);
    presence->watch = watch;
    r = build(context, mask, &presence->graph);
    if (r == TDL_OK)
        r = tdl_tensor_create(context, &share, &presence->share);
    if (r == TDL_OK)
        r = tdl_buffer_create(context, GST_TDL_SHARES * STRIDE, TDL_BUFFER_READBACK,
                              &presence->shares);
    presence->height = mask->shape[1];
    presence->width = mask->shape[2];
    if (r != TDL_OK)
        tdl_graph_destroy(&presence->graph);
    return r;
}

enum tdl_result gst_tdl_presence_record(struct gst_tdl_presence *presence,
                                        struct tdl_context *context, struct tdl_batch *batch,
                                        const struct gst_tdl_infer *infer,
                                        const struct gst_tdl_moment *moment)
{
    const struct gst_tdl_mask_part *part = &infer->part;
    enum tdl_result r = make(presence, context, tdl_tensor_get_params(infer->mask));
    struct tdl_binding in = { "mask", infer->mask }, out = { "share", presence->share };
    guint place;

    if (r != TDL_OK)
        return r;
    if (presence->count == GST_TDL_SHARES) { /* nobody has looked */
        presence->first++;
        presence->count--;
    }
    place = (presence->first + presence->count) % GST_TDL_SHARES;
    presence->ring[place] =
        (struct gst_tdl_share){ .scale = 1, .prompt = infer->asked.serial, .moment = *moment };
    if (part->width)
        presence->ring[place].scale =
            (gdouble)presence->width * presence->height / ((gdouble)part->width * part->height);
    presence->count++;
    r = tdl_batch_graph(batch, presence->graph, &in, 1, &out, 1);
    return r == TDL_OK ? tdl_batch_tensor_to_buffer(batch, presence->share, 0, presence->shares,
                                                    place * STRIDE, sizeof(gfloat))
                       : r;
}

void gst_tdl_presence_submitted(struct gst_tdl_presence *presence, guint64 point)
{
    struct gst_tdl_share *last;

    if (!presence->count)
        return;
    last = &presence->ring[(presence->first + presence->count - 1) % GST_TDL_SHARES];
    if (last->point)
        return;
    last->point = point;
    presence->count -= point == 0;
}

gboolean gst_tdl_presence_look(struct gst_tdl_presence *presence, struct tdl_context *context,
                               struct gst_tdl_seen *out_seen)
{
    const guint place = presence->first % GST_TDL_SHARES;
    const struct gst_tdl_share *share = &presence->ring[place];
    const guint8 *data;

    if (!presence->count || tdl_context_wait(context, share->point, 0) != TDL_OK)
        return FALSE;
    data = tdl_buffer_data(presence->shares);
    out_seen->share = MIN(*(const gfloat *)(const void *)(data + place * STRIDE) * share->scale, 1);
    out_seen->prompt = share->prompt;
    out_seen->moment = share->moment;
    presence->first++;
    presence->count--;
    return TRUE;
}
