/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Things of two contexts do not mix: a device that is handed another one's
 * buffers or commands crashes, so each meeting is refused.
 */
#include "check.h"

#include <tdl/frame.h>

struct side {
    struct tdl_context *ctx;
    struct tdl_graph *graph;
    struct tdl_tensor *image, *mask;
    struct tdl_batch *batch;
    struct tdl_composer *composer;
    struct tdl_buffer *buffer;
    struct tdl_frame frame;
};

static void build(struct side *s)
{
    const struct tdl_tensor_params desc = {
        .dtype = TDL_FLOAT32, .rank = 4, .shape = {1, 4, 4, 1}};
    struct tdl_builder *b;
    OK(check_builder(s->ctx, &b));
    OK(tdl_builder_output(b, "y", tdl_builder_activation(b, tdl_builder_input(b, "x", &desc),
                                                         TDL_ACTIVATION_RELU)));
    OK(tdl_builder_build(b, NULL, &s->graph));
    tdl_builder_destroy(&b);
}

static void open_side(struct side *s)
{
    struct tdl_tensor_params p = {.dtype = TDL_FLOAT32, .rank = 4, .shape = {1, 4, 4, 3}};
    s->ctx = check_context_open();
    build(s);
    OK(tdl_tensor_create(s->ctx, &p, &s->image));
    p.shape[3] = 1;
    OK(tdl_tensor_create(s->ctx, &p, &s->mask));
    OK(tdl_batch_create(s->ctx, &s->batch));
    OK(tdl_composer_create(s->ctx, &s->composer));
    OK(tdl_buffer_create(s->ctx, tdl_frame_layout(&s->frame, TDL_FORMAT_RGBA, 8, 8, 4),
                         TDL_BUFFER_DEVICE, &s->buffer));
    s->frame.planes[0].buffer = s->buffer;
}

static void close_side(struct side *s)
{
    tdl_graph_destroy(&s->graph);
    tdl_tensor_destroy(&s->image);
    tdl_tensor_destroy(&s->mask);
    tdl_batch_destroy(&s->batch);
    tdl_composer_destroy(&s->composer);
    tdl_buffer_destroy(&s->buffer);
    check_context_close(s->ctx);
}

#define REFUSED(call) FAILS(call, TDL_ERROR_INVALID_ARGUMENT, "context")

static void meet(struct side *a, struct side *b)
{
    const struct tdl_compose_params params = {.mode = TDL_MODE_OVERLAY};
    const struct tdl_binding x = {"x", b->mask}, y = {"y", a->mask};
    struct tdl_tensor *own;
    OK(tdl_tensor_create(a->ctx, tdl_tensor_get_params(a->mask), &own));
    const struct tdl_binding own_x = {"x", own};
    OK(tdl_batch_begin(a->batch));
    REFUSED(tdl_batch_graph(a->batch, b->graph, &own_x, 1, &y, 1));
    REFUSED(tdl_batch_graph(a->batch, a->graph, &x, 1, &y, 1));
    REFUSED(tdl_frame_to_tensor(a->batch, &b->frame, a->image, NULL));
    REFUSED(tdl_frame_to_tensor(a->batch, &a->frame, b->image, NULL));
    REFUSED(tdl_frame_from_tensor(a->batch, a->image, &b->frame, NULL));
    REFUSED(tdl_frame_from_tensor(a->batch, b->image, &a->frame, NULL));
    REFUSED(tdl_compose(a->batch, b->composer, &b->frame, b->mask, &b->frame, &params));
    REFUSED(tdl_compose(a->batch, a->composer, &b->frame, a->mask, &a->frame, &params));
    REFUSED(tdl_compose(a->batch, a->composer, &a->frame, b->mask, &a->frame, &params));
    REFUSED(tdl_compose(a->batch, a->composer, &a->frame, a->mask, &b->frame, &params));
    /* The batch is as good as before. */
    OK(tdl_batch_graph(a->batch, a->graph, &own_x, 1, &y, 1));
    OK(tdl_batch_submit(a->batch, NULL));
    tdl_tensor_destroy(&own);
}

int main(void)
{
    struct side a = {0}, b = {0};
    open_side(&a);
    open_side(&b);
    check_begin("strangers");
    meet(&a, &b);
    meet(&b, &a);
    close_side(&a);
    close_side(&b);
    return check_result();
}
