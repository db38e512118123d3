/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Every public function with NULL in the place of each of its pointers, and of all of
 * them: nothing is read there. Where something is needed, it says so.
 */
#include "subject.h"

#include <tdl/frame.h>
#include <tdl/models.h>
#ifdef TEST_VULKAN
#include <tdl/vulkan.h>
#endif

/* What stands in the place of what is not NULL. `scratch` is all zeros, and is given
 * back so: any struct of numbers, or room for a result. */
static struct {
    struct tdl_context *context;
    struct tdl_builder *builder;
    struct tdl_operand *operand, *operands[3];
    struct tdl_tensor *tensor, *other;
    struct tdl_graph *graph;
    struct tdl_buffer *buffer;
    struct tdl_batch *batch;
    struct tdl_composer *composer;
    struct tdl_binding inputs[1], outputs[1];
    struct {
        struct tdl_context *context;
        struct tdl_builder *builder;
        struct tdl_tensor *tensor;
        struct tdl_graph *graph;
        struct tdl_buffer *buffer;
        struct tdl_batch *batch;
        struct tdl_composer *composer;
    } out;
    _Alignas(16) char scratch[1 << 16];
} v;

static void release(void *memory)
{
    (void)memory;
}

static struct tdl_operand *add_input(struct tdl_builder *b)
{
    return tdl_builder_input(b, "input", &(struct tdl_tensor_params){.dtype = TDL_FLOAT32});
}

static void open_values(void)
{
    const struct tdl_tensor_params scalar = {.dtype = TDL_FLOAT32,
                                             .usage = TDL_TENSOR_READABLE | TDL_TENSOR_WRITABLE};
    struct tdl_builder *b;
    v.context = check_context_open();
    OK(tdl_builder_create(v.context, &b));
    OK(tdl_builder_output(b, "output", tdl_builder_relu(b, add_input(b))));
    OK(tdl_builder_build(b, NULL, &v.graph));
    tdl_builder_destroy(&b);
    OK(tdl_tensor_create(v.context, &scalar, &v.tensor));
    OK(tdl_tensor_create(v.context, &scalar, &v.other));
    OK(tdl_buffer_create(v.context, 64, TDL_BUFFER_UPLOAD, &v.buffer));
    OK(tdl_batch_create(v.context, &v.batch));
    OK(tdl_composer_create(v.context, &v.composer));
    v.inputs[0] = (struct tdl_binding){"input", v.tensor};
    v.outputs[0] = (struct tdl_binding){"output", v.other};
}

static void close_values(void)
{
    tdl_composer_destroy(&v.composer);
    tdl_batch_destroy(&v.batch);
    tdl_buffer_destroy(&v.buffer);
    tdl_tensor_destroy(&v.tensor);
    tdl_tensor_destroy(&v.other);
    tdl_graph_destroy(&v.graph);
}

/* A builder keeps its first error, so each call has a new one. */
static void begin(const char *function, const char *parameter)
{
    check_begin("%s, %s NULL", function, parameter);
    OK(tdl_builder_create(v.context, &v.builder));
    v.operand = v.operands[0] = v.operands[1] = v.operands[2] = add_input(v.builder);
    OK(tdl_batch_begin(v.batch));
    tdl_context_wait(v.context, UINT64_MAX, 0); /* an error that is not the next one's */
}

static void end(void)
{
    tdl_batch_cancel(v.batch);
    tdl_builder_destroy(&v.builder);
    tdl_context_destroy(&v.out.context);
    tdl_builder_destroy(&v.out.builder);
    tdl_tensor_destroy(&v.out.tensor);
    tdl_graph_destroy(&v.out.graph);
    tdl_buffer_destroy(&v.out.buffer);
    tdl_batch_destroy(&v.out.batch);
    tdl_composer_destroy(&v.out.composer);
    memset(v.scratch, 0, sizeof(v.scratch));
}

static void check_result_of(enum tdl_result r, bool needed)
{
    if (needed)
        CHECK(r == TDL_ERROR_INVALID_ARGUMENT && *tdl_last_error() &&
                  !strstr(tdl_last_error(), "not been submitted"),
              "%s, \"%s\"", tdl_result_string(r), tdl_last_error());
}

/* The builder tells, if there is one. */
static void check_operand(const struct tdl_operand *got, const char *parameter, bool needed)
{
    const bool there = strcmp(parameter, "builder") != 0 && strcmp(parameter, "all") != 0;
    if (!needed)
        return;
    CHECK(!got, "an operand in spite of it");
    check_result_of(there ? tdl_builder_status(v.builder) : TDL_ERROR_INVALID_ARGUMENT, true);
}

/* Some thousand lines: a function for each header's would be no better. */
static unsigned call_all(void)
{
    unsigned calls = 0;
#define CALL(function, parameter, ...)                                                             \
    begin(function, parameter);                                                                    \
    __VA_ARGS__;                                                                                   \
    end();                                                                                         \
    calls++;
#define RESULT(function, parameter, needed, call)                                                  \
    CALL(function, parameter, check_result_of(call, needed))
#define OPERAND(function, parameter, needed, call)                                                 \
    CALL(function, parameter, check_operand(call, parameter, needed))
#define OTHER(function, parameter, needed, call) CALL(function, parameter, (void)call)
#include "nulls.h"
    return calls;
}

int main(void)
{
    open_values();
    const unsigned calls = call_all();
    CHECK(calls > 300, "%u calls", calls);
    close_values();
    check_context_close(v.context);
    return check_result();
}
