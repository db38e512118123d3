/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Every public function with NULL in the place of each of its pointers, and of all of
 * them: nothing is read there. Where something is needed, it says so. Likewise with a
 * struct from a later version. And the sizes of structs, which stay.
 */
#include "subject.h"

#include <semaphore.h>

#include <tdl/frame.h>
#include <tdl/models.h>
#ifdef TEST_VULKAN
#include <tdl/vulkan.h>
#endif

/* Arguments that are not NULL. `scratch` is all zeros before and after each call; it serves as any
 * struct of numbers, and as room for a result. */
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
    float later[1];
} v;

static void release(void *memory)
{
    (void)memory;
}

static void on_done(void *data, enum tdl_result result)
{
    (void)data;
    CHECK(result == TDL_OK, "a read ended so: %s", tdl_last_error());
}

static void on_report(void *data, const struct tdl_graph_step *step)
{
    (void)data, (void)step;
}

static void on_lost(void *data, const char *why)
{
    (void)data;
    CHECK(false, "lost: %s", why);
}

static enum tdl_result on_remake(void *data, struct tdl_builder *builder,
                                 const struct tdl_input_size *sizes, uint32_t count)
{
    (void)data, (void)builder, (void)sizes, (void)count;
    return TDL_ERROR_INVALID_STATE;
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
    OK(check_builder(v.context, &b));
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

static void on_last(void *data, enum tdl_result result)
{
    on_done(NULL, result);
    sem_post(data);
}

/* Reads are called back in their order. */
static void wait_for_reads(void)
{
    sem_t last;
    sem_init(&last, 0, 0);
    OK(tdl_tensor_read_async(v.tensor, v.later, sizeof(v.later), on_last, &last, NULL));
    sem_wait(&last);
    sem_destroy(&last);
}

static void close_values(void)
{
    wait_for_reads();
    tdl_composer_destroy(&v.composer);
    tdl_batch_destroy(&v.batch);
    tdl_buffer_destroy(&v.buffer);
    tdl_tensor_destroy(&v.tensor);
    tdl_tensor_destroy(&v.other);
    tdl_graph_destroy(&v.graph);
}

/* A builder keeps its first error, so each call has a new one. */
static void begin(const char *function, const char *parameter, const char *how)
{
    check_begin("%s, %s %s", function, parameter, how);
    OK(check_builder(v.context, &v.builder));
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

/* ------------------------------------------------ structs of other versions */

/* Programs are built against these: what is new takes reserved words. Where pointers
 * have 64 bits. */
static const struct size {
    const char *name;
    size_t bytes, reserved;
} sizes[] = {
    {"tdl_device_info", 832, 4},
    {"tdl_context_params", 88, 4},
    {"tdl_auto_params", 56, 4},
    {"tdl_auto", 344, 4},
    {"tdl_context_stats", 88, 4},
    {"tdl_tensor_params", 80, 4},
    {"tdl_compile_params", 56, 4},
    {"tdl_build_params", 120, 2},
    {"tdl_input_size", 64, 4},
    {"tdl_binding", 16, 0},
    {"tdl_graph_step", 104, 4},
    {"tdl_graph_stats", 80, 3},
    {"tdl_limits", 72, 4},
    {"tdl_operand_limits", 56, 4},
    {"tdl_operator_limits", 552, 4},
    {"tdl_times", 40, 0},
    {"tdl_benchmark_params", 56, 4},
    {"tdl_benchmark_result", 128, 4},
    {"tdl_tune_report", 64, 4},
    {"tdl_tune_params", 192, 4},
    {"tdl_conv2d_params", 88, 3},
    {"tdl_im2col_params", 80, 3},
    {"tdl_conv_transpose2d_params", 104, 3},
    {"tdl_pool2d_params", 96, 3},
    {"tdl_resample2d_params", 72, 3},
    {"tdl_grid_sample_params", 48, 3},
    {"tdl_slice_params", 104, 4},
    {"tdl_pad_params", 96, 4},
    {"tdl_batch_normalization_params", 56, 3},
    {"tdl_instance_normalization_params", 56, 3},
    {"tdl_layer_normalization_params", 88, 4},
    {"tdl_gemm_params", 56, 4},
    {"tdl_arg_min_max_params", 40, 4},
    {"tdl_reduce_params", 64, 4},
    {"tdl_cumulative_sum_params", 40, 4},
    {"tdl_top_k_params", 40, 4},
    {"tdl_scatter_params", 40, 4},
    {"tdl_lstm_params", 96, 4},
    {"tdl_gru_params", 80, 4},
    {"tdl_rnn_params", 72, 4},
    {"tdl_triangular_params", 40, 4},
    {"tdl_model_dimension", 16, 0},
    {"tdl_model_number", 16, 0},
    {"tdl_model_more", 56, 4},
    {"tdl_model_params", 88, 0},
    {"tdl_dynamic_dimension", 48, 4},
    {"tdl_plan_stats", 72, 4},
    {"tdl_plane", 24, 0},
    {"tdl_frame", 128, 4},
    {"tdl_frame_to_tensor_params", 96, 3},
    {"tdl_frame_from_tensor_params", 88, 4},
    {"tdl_compose_more", 80, 4},
    {"tdl_compose_params", 144, 3},
    {"tdl_vulkan_device", 120, 4},
    {"tdl_image_import_params", 80, 4},
    {"tdl_image_modifier", 48, 4},
    {"tdl_image_create_params", 56, 4},
    {"tdl_image_place", 56, 4},
    {"tdl_buffer_wrap_params", 56, 4},
    {"tdl_image_wrap_params", 72, 4},
    {"tdl_image_state", 64, 4},
    {"tdl_rental", 104, 4},
};

static void check_size(const char *name, size_t bytes, size_t reserved)
{
    check_begin("struct %s", name);
    if (sizeof(void *) != 8)
        return;
    for (size_t i = 0; i < COUNT(sizes); i++)
        if (!strcmp(sizes[i].name, name)) {
            CHECK(bytes == sizes[i].bytes, "%zu bytes; programs know it with %zu", bytes,
                  sizes[i].bytes);
            CHECK(reserved <= sizes[i].reserved, "%zu words in reserve, more than %zu", reserved,
                  sizes[i].reserved);
            return;
        }
    CHECK(false, "is not in the table: {\"%s\", %zu, %zu}", name, bytes, reserved);
}

static void check_sizes(void)
{
    size_t count = 0;
#define STRUCT(name, reserved) check_size(#name, sizeof(struct name), reserved), count++;
#define RESULT(...)
#define OPERAND(...)
#define OTHER(...)
#define NEWER_RESULT(...)
#define NEWER_OPERAND(...)
#include "nulls.h"
#undef STRUCT
#undef RESULT
#undef OPERAND
#undef OTHER
#undef NEWER_RESULT
#undef NEWER_OPERAND
    check_begin("structs");
#ifdef TEST_VULKAN
    CHECK(count == COUNT(sizes), "%zu structs in the headers, %zu in the table", count,
          COUNT(sizes));
#endif
}

static void check_newer(enum tdl_result r)
{
    CHECK(r == TDL_ERROR_INVALID_ARGUMENT && strstr(tdl_last_error(), "does not know"),
          "%s, \"%s\", with a field of a later version", tdl_result_string(r), tdl_last_error());
}

static void check_newer_operand(const struct tdl_operand *got)
{
    CHECK(!got, "an operand in spite of it");
    check_newer(tdl_builder_status(v.builder));
    CHECK(strstr(tdl_builder_error(v.builder), "does not know"), "\"%s\"",
          tdl_builder_error(v.builder));
}

static void check_version(void)
{
    check_begin("version");
    CHECK(tdl_version() ==
              TDL_VERSION_NUMBER(TDL_VERSION_MAJOR, TDL_VERSION_MINOR, TDL_VERSION_MICRO),
          "%#x", tdl_version());
    CHECK(TDL_VERSION_CHECK(0, 1, 0) && !TDL_VERSION_CHECK(TDL_VERSION_MAJOR + 1, 0, 0) &&
              !TDL_VERSION_CHECK(TDL_VERSION_MAJOR, TDL_VERSION_MINOR + 1, 0) &&
              !TDL_VERSION_CHECK(TDL_VERSION_MAJOR, TDL_VERSION_MINOR, TDL_VERSION_MICRO + 1),
          "versions compare wrongly");
}

/* Lists of models' parameters that are not there, though they are said to have something. */
static void check_lists(void)
{
    static const struct tdl_model_params lists[] = {
        {.dimension_count = 1}, {.number_count = 1}, {.dimension_count = UINT32_MAX}};
    static const char *const names[] = {"dimensions", "numbers", "dimensions"};
    for (size_t i = 0; i < 2 * COUNT(lists); i++) {
        const struct tdl_model_params *p = &lists[i / 2];
        struct tdl_builder *b;
        check_begin("%s without a list", names[i / 2]);
        OK(check_builder(v.context, &b));
        if (i % 2)
            FAILS(tdl_model_load(b, "/nonexistent", p), TDL_ERROR_INVALID_ARGUMENT, names[i / 2]);
        else
            FAILS(tdl_model_import(b, "none", 4, p), TDL_ERROR_INVALID_ARGUMENT, names[i / 2]);
        tdl_builder_destroy(&b);
    }
}

/* Some thousand lines: a function for each header's would be no better. */
static unsigned call_all(void)
{
    unsigned calls = 0;
#define CALL(function, parameter, how, ...)                                                        \
    begin(function, parameter, how);                                                               \
    __VA_ARGS__;                                                                                   \
    end();                                                                                         \
    calls++;
#define RESULT(function, parameter, needed, call)                                                  \
    CALL(function, parameter, "NULL", check_result_of(call, needed))
#define OPERAND(function, parameter, needed, call)                                                 \
    CALL(function, parameter, "NULL", check_operand(call, parameter, needed))
#define OTHER(function, parameter, needed, call) CALL(function, parameter, "NULL", (void)call)
#define STRUCT(name, reserved)
#define NEWER_RESULT(function, parameter, call)                                                    \
    CALL(function, parameter, "newer", check_newer(call))
#define NEWER_OPERAND(function, parameter, call)                                                   \
    CALL(function, parameter, "newer", check_newer_operand(call))
#include "nulls.h"
    return calls;
}

int main(void)
{
    check_version();
    check_sizes();
    open_values();
    check_lists();
    const unsigned calls = call_all();
    CHECK(calls > 300, "%u calls", calls);
    close_values();
    check_context_close(v.context);
    return check_result();
}
