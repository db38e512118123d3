/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The engine over a device that is no GPU (null-device.c): whatever stands above
 * the line works without Vulkan, and what only Vulkan has is refused in words.
 */
#include "line.h"
#include "null-device.h"

#include <tdl/vulkan.h>

static struct tdl_context *ctx;

static void check_tensors(void)
{
    check_begin("tensors");
    struct tdl_tensor *t = tensor_of(ctx, READ | WRITE), *view;
    const uint32_t flat = ELEMENTS;
    CHECK(expect_all(t, 0), "a new tensor is not zero");
    write_all(t, 3);
    CHECK(expect_all(t, 3), "what was written");
    OK(tdl_tensor_reshape(t, 1, &flat, &view));
    tdl_tensor_destroy(&t);
    float got[ELEMENTS] = {0};
    OK(tdl_tensor_read(view, got, sizeof(got)));
    CHECK(got[0] == 3 && got[ELEMENTS - 1] == 3, "the view's memory went with its tensor");
    tdl_tensor_destroy(&view);
}

/* Values are those of y = x · factor + summand, by hand. */
static void check_graphs(void)
{
    check_begin("graphs");
    struct tdl_tensor *x = tensor_of(ctx, READ | WRITE), *y = tensor_of(ctx, READ | WRITE);
    struct tdl_graph *g = line_graph(ctx, 2, 1), *h = line_graph(ctx, -1, 10);
    const uint64_t before = tdl_context_last_point(ctx);
    write_all(x, 4);
    OK(dispatch(g, x, y));
    OK(dispatch(h, y, x));
    OK(dispatch(g, x, y));
    CHECK(expect_all(x, 1) && expect_all(y, 3), "a chain of three");
    CHECK(tdl_context_last_point(ctx) >= before + 4, "the timeline stood still");
    OK(tdl_context_wait(ctx, tdl_context_last_point(ctx), TDL_WAIT_FOREVER));
    FAILS(tdl_context_wait(ctx, tdl_context_last_point(ctx) + 1, 0), TDL_ERROR_INVALID_ARGUMENT,
          "not been submitted");
    CHECK(!tdl_graph_get_step(g, 0), "steps on a device that wants none");
    tdl_graph_destroy(&g);
    tdl_graph_destroy(&h);
    tdl_tensor_destroy(&x);
    tdl_tensor_destroy(&y);
}

static void check_batches(void)
{
    check_begin("batches");
    struct tdl_tensor *x = tensor_of(ctx, READ | WRITE), *y = tensor_of(ctx, READ | WRITE);
    struct tdl_graph *g = line_graph(ctx, 3, 0);
    struct tdl_batch *b;
    write_all(x, 2);
    write_all(y, 7);
    OK(tdl_batch_create(ctx, &b));
    FAILS(add_to_batch(b, g, x, y), TDL_ERROR_INVALID_STATE, "begun");
    OK(tdl_batch_begin(b));
    OK(add_to_batch(b, g, x, y));
    tdl_batch_cancel(b);
    CHECK(expect_all(y, 7), "what was cancelled ran");
    OK(tdl_batch_begin(b));
    OK(add_to_batch(b, g, x, y));
    OK(add_to_batch(b, g, y, x));
    tdl_tensor_destroy(&y); /* the batch holds its memory */
    OK(tdl_batch_submit(b, NULL));
    CHECK(expect_all(x, 18), "two in one batch");
    tdl_batch_destroy(&b);
    tdl_graph_destroy(&g);
    tdl_tensor_destroy(&x);
}

/* A convolution of ones: each pixel is the number of its neighbours inside. */
static void check_constants(void)
{
    check_begin("constants");
    const struct tdl_tensor_params desc = {.rank = 4, .shape = {1, 3, 3, 1}, .usage = READ | WRITE};
    const float expected[9] = {4, 6, 4, 6, 9, 6, 4, 6, 4};
    float ones[9], got[9];
    struct tdl_builder *builder;
    struct tdl_graph *g;
    struct tdl_tensor *x, *y;
    for (int i = 0; i < 9; i++)
        ones[i] = 1;
    OK(check_builder(ctx, &builder));
    struct tdl_operand *filter = tdl_builder_constant(builder, &desc, ones, sizeof(ones));
    struct tdl_operand *in = tdl_builder_input(builder, "x", &desc);
    tdl_builder_output(
        builder, "y",
        tdl_builder_conv2d(builder, in, filter, &(struct tdl_conv2d_params){.pad = {1, 1, 1, 1}}));
    OK(tdl_builder_build(builder, NULL, &g));
    tdl_builder_destroy(&builder);
    OK(tdl_tensor_create(ctx, &desc, &x));
    OK(tdl_tensor_create(ctx, &desc, &y));
    OK(tdl_tensor_write(x, ones, sizeof(ones), NULL));
    memset(ones, 0, sizeof(ones)); /* the filter is the graph's own by now */
    OK(dispatch(g, x, y));
    OK(tdl_tensor_read(y, got, sizeof(got)));
    CHECK(!memcmp(got, expected, sizeof(got)), "corner %g, edge %g, middle %g", (double)got[0],
          (double)got[1], (double)got[4]);
    tdl_tensor_destroy(&x);
    tdl_tensor_destroy(&y);
    tdl_graph_destroy(&g);
}

static void check_refusals(void)
{
    check_begin("refusals");
    struct tdl_tensor_params shared = image(READ | WRITE | TDL_TENSOR_EXPORTABLE);
    struct tdl_tensor *t = tensor_of(ctx, READ | WRITE), *none;
    struct tdl_vulkan_device device;
    struct tdl_composer *composer;
    struct tdl_buffer *buffer;
    struct tdl_rental rental;
    uint64_t offset;
    FAILS(tdl_tensor_create(ctx, &shared, &none), TDL_ERROR_UNSUPPORTED, "nobody else");
    FAILS(tdl_tensor_rent(t, TDL_HANDLE_OPAQUE_FD, &rental), TDL_ERROR_UNSUPPORTED, "Vulkan");
    FAILS(tdl_buffer_import_host(ctx, &device, sizeof(device), &buffer, &offset),
          TDL_ERROR_UNSUPPORTED, "imports nothing");
    FAILS(tdl_buffer_create_exportable(ctx, TDL_HANDLE_DMA_BUF, 64, &buffer), TDL_ERROR_UNSUPPORTED,
          "Vulkan");
    FAILS(tdl_composer_create(ctx, &composer), TDL_ERROR_UNSUPPORTED, "frames");
    tdl_context_get_vulkan(ctx, &device);
    CHECK(!device.device && !device.instance, "a Vulkan device from nowhere");
    tdl_tensor_destroy(&t);
}

int main(void)
{
    ctx = null_context_create();
    REQUIRE(ctx, "no context");
    check_tensors();
    check_graphs();
    check_batches();
    check_constants();
    check_refusals();
    struct tdl_tensor *last = tensor_of(ctx, READ);
    tdl_context_destroy(&ctx);
    check_begin("the end");
    CHECK(null_count_buffers() == 3,
          "%u buffers, not the last tensor's, and one to write and one "
          "to read with",
          null_count_buffers());
    tdl_tensor_destroy(&last);
    CHECK(!null_count_buffers(), "%u buffers are left", null_count_buffers());
    return check_result();
}
