/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fibonacci numbers by chained inference: each run's output is an input of the
 * next two, the tensors rotate, and nothing waits or leaves the device until
 * the last one is read. (From WebNN's MLTensor explainer.)
 *
 *     cc fibonacci.c $(pkg-config --cflags --libs tdl) -o fibonacci
 */
#include <tdl/tdl.h>

#include <stdio.h>
#include <stdlib.h>

enum { N = 40 };

#define CHECK(call)                                                                                \
    do {                                                                                           \
        if ((call) != TDL_OK) {                                                                    \
            fprintf(stderr, "%s\n", tdl_last_error());                                             \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* f(n) = f(n - 1) + f(n - 2), for one int32. */
static struct tdl_graph *compile(struct tdl_context *context)
{
    const struct tdl_tensor_params scalar = {.dtype = TDL_INT32, .rank = 1, .shape = {1}};
    struct tdl_builder *b;
    struct tdl_graph *graph;

    CHECK(tdl_builder_create(context, &b));
    struct tdl_operand *one_back = tdl_builder_input(b, "F_n-1", &scalar);
    struct tdl_operand *two_back = tdl_builder_input(b, "F_n-2", &scalar);
    tdl_builder_output(b, "F_n", tdl_builder_add(b, one_back, two_back));
    CHECK(tdl_builder_build(b, NULL, &graph));
    tdl_builder_destroy(&b);
    return graph;
}

int main(void)
{
    const struct tdl_tensor_params params = {.dtype = TDL_INT32,
                                             .rank = 1,
                                             .shape = {1},
                                             .usage = TDL_TENSOR_READABLE | TDL_TENSOR_WRITABLE};
    const int32_t first[] = {0, 1};
    struct tdl_context *context;
    struct tdl_tensor *f[3];
    int32_t last = 0, a = 0, b = 1;

    CHECK(tdl_context_create(NULL, &context));
    struct tdl_graph *graph = compile(context);
    for (int i = 0; i < 3; i++)
        CHECK(tdl_tensor_create(context, &params, &f[i]));
    CHECK(tdl_tensor_write(f[0], &first[0], sizeof(first[0]), NULL));
    CHECK(tdl_tensor_write(f[1], &first[1], sizeof(first[1]), NULL));

    for (int n = 2; n <= N; n++) {
        const struct tdl_binding inputs[] = {{"F_n-1", f[(n - 1) % 3]}, {"F_n-2", f[(n - 2) % 3]}};
        const struct tdl_binding output = {"F_n", f[n % 3]};
        CHECK(tdl_graph_dispatch(graph, inputs, 2, &output, 1, NULL)); /* returns at once */
    }
    CHECK(tdl_tensor_read(f[N % 3], &last, sizeof(last))); /* the only wait */

    for (int n = 2; n <= N; n++) {
        int32_t next = a + b;
        a = b;
        b = next;
    }
    printf("F(%d) = %d\n", N, last);
    for (int i = 0; i < 3; i++)
        tdl_tensor_destroy(&f[i]);
    tdl_graph_destroy(&graph);
    tdl_context_destroy(&context);
    return last == b ? 0 : 1;
}
