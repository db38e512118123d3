/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Calls that a careless program makes: they do nothing, or say what is wrong. */
#include "check.h"

#include <vulkan/context.h>

#include <tdl/frame.h>
#include <tdl/models.h>
#include <tdl/vulkan.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

static struct tdl_context *ctx;

/* A NULL pointer, and the address of one. */
static void test_destroy_nothing(void)
{
    int called = 0;
    check_begin("destroying nothing");
#define DESTROY(type)                                                                              \
    {                                                                                              \
        struct type *none = NULL;                                                                  \
        type##_destroy(NULL);                                                                      \
        type##_destroy(&none);                                                                     \
        CHECK(!none, #type);                                                                       \
        called++;                                                                                  \
    }
#include "destroys.h"
    CHECK(called >= 8, "only %d destroy functions were found", called);
}

static void test_unknown_stage(void)
{
    static const int stages[] = {TDL_MAX_STAGES, 77, -1, INT32_MAX};
    struct {
        uint64_t times[STAGES], behind[77];
    } got;
    struct tdl_batch *batch;
    uint64_t point;
    OK(tdl_batch_create(ctx, &batch));
    OK(tdl_batch_begin(batch));
    OK(tdl_batch_stage(batch, NETWORK));
    for (size_t i = 0; i < COUNT(stages); i++) {
        check_begin("stage %d", stages[i]);
        FAILS(tdl_batch_stage(batch, (uint32_t)stages[i]), TDL_ERROR_INVALID_ARGUMENT,
              "there is no stage");
    }
    OK(tdl_batch_stage(batch, COMPOSE));
    for (int i = 2; i < TDL_MAX_STAGES; i++)
        OK(tdl_batch_stage(batch, NETWORK));
    if (tdl_context_device(ctx)->timestamps)
        FAILS(tdl_batch_stage(batch, COMPOSE), TDL_ERROR_UNSUPPORTED, "8 times");
    OK(tdl_batch_submit(batch, &point));
    OK(tdl_context_wait(ctx, point, TDL_WAIT_FOREVER));
    memset(&got, 0xaa, sizeof(got));
    check_begin("times of stages");
    CHECK(tdl_batch_stage_times(batch, got.times, STAGES) == tdl_context_device(ctx)->timestamps,
          "times are there, or not");
    for (size_t i = 0; i < COUNT(got.behind); i++)
        CHECK(got.behind[i] == 0xaaaaaaaaaaaaaaaa, "written behind the times: %zu", i);
    tdl_batch_destroy(&batch);
}

static void test_endless_host_memory(void)
{
    static const size_t sizes[] = {SIZE_MAX,        SIZE_MAX - 1,          SIZE_MAX - 63,
                                   SIZE_MAX - 4095, SIZE_MAX - 8191,       SIZE_MAX / 2 + 1,
                                   (size_t)1 << 40, (size_t)UINT32_MAX + 1};
    static const size_t offsets[] = {0, 1, 64, 4095};
    char *memory = NULL;
    if (!tdl_vk(ctx)->host_pointer_alignment) {
        printf("host memory: not checked, the device imports none\n");
        return;
    }
    REQUIRE(!posix_memalign((void **)&memory, 65536, 65536), "no memory");
    for (size_t i = 0; i < COUNT(sizes); i++)
        for (size_t j = 0; j < COUNT(offsets); j++) {
            struct tdl_buffer *buffer = (struct tdl_buffer *)memory; /* not NULL */
            uint64_t offset;
            check_begin("host memory of %zu bytes, %zu behind a page", sizes[i], offsets[j]);
            enum tdl_result r =
                tdl_buffer_import_host(ctx, memory + offsets[j], sizes[i], &buffer, &offset);
            CHECK(r == TDL_ERROR_INVALID_ARGUMENT || r == TDL_ERROR_UNSUPPORTED, "%d", r);
            CHECK(!buffer && strstr(tdl_last_error(), "host memory"), "\"%s\"", tdl_last_error());
            tdl_buffer_destroy(&buffer);
        }
    free(memory);
}

static void test_endless_fd(void)
{
    int fd = dup(STDOUT_FILENO);
    struct tdl_buffer *buffer;
    check_begin("an endless file descriptor");
    if (tdl_context_device(ctx)->external_memory_fd)
        FAILS(tdl_buffer_import_fd(ctx, TDL_HANDLE_OPAQUE_FD, fd, SIZE_MAX, &buffer),
              TDL_ERROR_UNSUPPORTED, "kernels reach");
    close(fd);
}

/* Errors name no function but the one that was called. */
static void test_no_builder(void)
{
    check_begin("no builder");
    FAILS(tdl_model_load(NULL, "x", NULL), TDL_ERROR_INVALID_ARGUMENT, "the builder is NULL");
    FAILS(tdl_model_import(NULL, "x", 1, NULL), TDL_ERROR_INVALID_ARGUMENT, "the builder is NULL");
}

/* Numbers and enums that mean nothing, one at a time. */
static void test_nonsense(void)
{
    const struct tdl_tensor_params image = {.rank = 4, .shape = {1, 4, 4, 2}};
    const struct tdl_pool2d_params twice = {
        .window = {2, 2}, .padding = TDL_PADDING_SAME_UPPER, .pad = {0, 0, 1, 0}};
    const struct {
        struct tdl_build_params params;
        const char *text;
    } builds[] = {{{.precision = 9}, "no precision 9"},
                  {{.input_packing = 9}, "no packing 9"},
                  {{.output_packing = 9}, "no packing 9"}};
    struct tdl_tensor *t;
    check_begin("nonsense");
    for (int i = 0; i < 6; i++) {
        static const char *const texts[] = {"epsilon is -1", "epsilon is nan", "alpha is not",
                                            "beta is not", "give one of them", "alpha is not"};
        struct tdl_builder *b;
        OK(check_builder(ctx, &b));
        struct tdl_operand *x = tdl_builder_input(b, "x", &image);
        struct tdl_operand *y =
            i < 2    ? tdl_builder_layer_normalization(
                        b, x,
                        &(struct tdl_layer_normalization_params){.epsilon = i ? NAN : -1,
                                                                 .axes = {3}, .axis_count = 1})
            : i == 2 ? tdl_builder_elu(b, x, NAN)
            : i == 3 ? tdl_builder_hard_sigmoid(b, x, 1, NAN)
            : i == 4 ? tdl_builder_max_pool2d(b, x, &twice)
                     : tdl_builder_leaky_relu(b, x, NAN);
        CHECK(!y && strstr(tdl_builder_error(b), texts[i]), "%d: \"%s\"", i, tdl_builder_error(b));
        tdl_builder_destroy(&b);
    }
    for (size_t i = 0; i < COUNT(builds); i++) {
        struct tdl_builder *b;
        struct tdl_graph *graph;
        OK(check_builder(ctx, &b));
        OK(tdl_builder_output(b, "y", tdl_builder_relu(b, tdl_builder_input(b, "x", &image))));
        FAILS(tdl_builder_build(b, &builds[i].params, &graph), TDL_ERROR_INVALID_ARGUMENT,
              builds[i].text);
        tdl_builder_destroy(&b);
    }
    FAILS(tdl_tensor_create(ctx, &(struct tdl_tensor_params){.rank = 1, .shape = {4}, .usage = 64},
                            &t),
          TDL_ERROR_INVALID_ARGUMENT, "no usage 0x40");
}

/* Errors of the builder after a build that failed, and after one that did not. */
static void test_builder_error(void)
{
    const struct tdl_tensor_params image = {.rank = 4, .shape = {1, 2, 2, 3}};
    const struct tdl_tensor_params bytes = {.dtype = TDL_UINT8, .rank = 4, .shape = {1, 2, 2, 3}};
    const struct tdl_tensor_params packs = {
        .rank = 4, .shape = {1, 2, 2, 3}, .packing = TDL_PACKING_C4};
    struct tdl_builder *b;
    struct tdl_graph *graph;
    struct tdl_tensor *wrong, *right;
    check_begin("builder's error");
    OK(check_builder(ctx, &b));
    struct tdl_operand *x = tdl_builder_input(b, "x", &image);
    FAILS(tdl_builder_build(b, NULL, &graph), TDL_ERROR_INVALID_STATE, "no output");
    CHECK(strstr(tdl_builder_error(b), "no output"), "\"%s\"", tdl_builder_error(b));
    OK(tdl_builder_output(b, "y", tdl_builder_activation(b, x, TDL_ACTIVATION_RELU)));
    OK(tdl_builder_build(b, NULL, &graph));
    CHECK(!*tdl_builder_error(b), "\"%s\"", tdl_builder_error(b));
    OK(tdl_tensor_create(ctx, &image, &right));
    OK(tdl_tensor_create(ctx, &packs, &wrong));
    FAILS(tdl_graph_dispatch(graph, &(struct tdl_binding){"x", wrong}, 1,
                             &(struct tdl_binding){"y", right}, 1, NULL),
          TDL_ERROR_INVALID_ARGUMENT, " in packs; the graph has float32[1,2,2,3]");
    tdl_tensor_destroy(&wrong);
    tdl_tensor_destroy(&right);
    tdl_graph_destroy(&graph);
    tdl_builder_destroy(&b);

    OK(check_builder(ctx, &b));
    x = tdl_builder_input(b, "x", &image);
    tdl_builder_add(b, x, tdl_builder_input(b, "z", &bytes));
    CHECK(strstr(tdl_builder_error(b), "two data types"), "\"%s\"", tdl_builder_error(b));
    tdl_builder_destroy(&b);
}

int main(void)
{
    test_destroy_nothing(); /* needs no device */
    test_no_builder();
    ctx = check_context_open();
    test_unknown_stage();
    test_nonsense();
    test_builder_error();
    test_endless_host_memory();
    test_endless_fd();
    check_context_close(ctx);
    return check_result();
}
