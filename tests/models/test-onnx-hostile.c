/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ONNX files of about a megabyte that ask for much: each is imported or refused within
 * bounds that follow from the size of the file. What is counted are the bytes that
 * libtdl holds at most, as the linker puts this file between it and libc (--wrap), and
 * the processor's time, of which a slow machine gets ten times as much as was measured.
 *
 * And what it takes to load convolutions from a file, in sizes of the file.
 */
#include "onnx-writer.h"

#include <tdl/models.h>

#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)
/* Half of it is what the builder keeps of tens of thousands of operators. */
#define MAX_PEAK (96 * MIB)
#define MAX_SECONDS 10

typedef struct onnx_bytes bytes;
enum { FLOAT = 1, INT64 = 7, BOOL = 9, FLOAT16 = 10 };

/* ------------------------------------------------------------------- memory */

static atomic_size_t held, most;
static long fails_in = -1; /* allocations until one fails; less than 0: none does */

static bool fails(void)
{
    return fails_in >= 0 && fails_in-- == 0;
}

static void *count(void *p)
{
    const size_t size = p ? malloc_usable_size(p) : 0;
    const size_t now = atomic_fetch_add(&held, size) + size;
    size_t before = most;

    while (now > before && !atomic_compare_exchange_weak(&most, &before, now))
        ;
    return p;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t number, size_t size);
void *__real_realloc(void *p, size_t size);
void __real_free(void *p);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t number, size_t size);
void *__wrap_realloc(void *p, size_t size);
void __wrap_free(void *p);

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : count(__real_malloc(size));
}

void *__wrap_calloc(size_t number, size_t size)
{
    return fails() ? NULL : count(__real_calloc(number, size));
}

void *__wrap_realloc(void *p, size_t size)
{
    const size_t before = malloc_usable_size(p);
    void *grown = fails() ? NULL : __real_realloc(p, size);

    if (grown)
        atomic_fetch_sub(&held, before);
    return grown ? count(grown) : NULL;
}

void __wrap_free(void *p)
{
    atomic_fetch_sub(&held, malloc_usable_size(p));
    __real_free(p);
}

/* -------------------------------------------------------------------- models */

static int failures;

#define FAIL(...)                                                                                  \
    do {                                                                                           \
        printf("FAIL ");                                                                           \
        printf(__VA_ARGS__);                                                                       \
        printf("\n");                                                                              \
        failures++;                                                                                \
    } while (0)

/* Constants that the nodes read; x is the graph's input. */
static void add_constants(bytes *g)
{
    static float large[65536];

    onnx_input(g, "x", FLOAT, 4, (const int64_t[]){1, 1, 64, 64});
    onnx_initializer(g, "large", FLOAT, 4, (const int64_t[]){1, 1, 256, 256}, large, sizeof(large));
    onnx_initializer(g, "column", FLOAT, 2, (const int64_t[]){256, 1}, large, 1024);
    onnx_initializer(g, "row", FLOAT, 2, (const int64_t[]){1, 256}, large, 1024);
    onnx_initializer(g, "one", FLOAT, 0, NULL, (const float[]){1}, 4);
    onnx_initializer(g, "pair", FLOAT, 1, (const int64_t[]){2}, large, 8);
    onnx_initializer(g, "i0", INT64, 0, NULL, (const int64_t[]){0}, 8);
    onnx_initializer(g, "i1", INT64, 0, NULL, (const int64_t[]){1}, 8);
    onnx_initializer(g, "many", INT64, 0, NULL, (const int64_t[]){65536}, 8);
    onnx_initializer(g, "depth", INT64, 0, NULL, (const int64_t[]){1 << 20}, 8);
    onnx_int64s(g, "place", 1, (const int64_t[]){0});
    onnx_initializer(g, "rows", INT64, 2, (const int64_t[]){256, 1}, large, 2048);
    onnx_int64s(g, "wide", 2, (const int64_t[]){256, 256});
    onnx_int64s(g, "huge", 3, (const int64_t[]){1024, 1024, 1024});
    onnx_int64s(g, "twice", 4, (const int64_t[]){1, 1, 2, 2});
    onnx_int64s(g, "larger", 4, (const int64_t[]){1, 1, 1500, 1500});
    onnx_int64s(g, "smaller", 4, (const int64_t[]){1, 1, 100, 100});
}

/* `count` nodes of a type, each with these inputs; "@" is the node before, and the first "@" is
 * `first`. */
struct row {
    const char *name, *type, *inputs, *first, *attribute, *text;
    int64_t value; /* value of the attribute, if that has no text */
    int n;
};

static void write_nodes(bytes *g, const struct row *row)
{
    char last[32], output[32], inputs[256];

    add_constants(g);
    snprintf(last, sizeof(last), "%s", row->first ? row->first : "x");
    for (int i = 0; i < row->n; i++) {
        bytes a = {0};
        const char *at = strchr(row->inputs, '@');

        if (row->text)
            onnx_attr_text(&a, row->attribute, row->text);
        else if (row->attribute)
            onnx_attr_int(&a, row->attribute, row->value);
        snprintf(output, sizeof(output), "o%d", i);
        snprintf(inputs, sizeof(inputs), "%.*s%s%s",
                 at ? (int)(at - row->inputs) : (int)strlen(row->inputs), row->inputs,
                 at ? last : "", at ? at + 1 : "");
        onnx_node(g, row->type, inputs, output, &a);
        memcpy(last, output, sizeof(last));
    }
}

static const struct row rows[] = {
    {"functions of one constant", "Exp", "large", .n = 30000},
    {"functions of functions", "Exp", "@", "large", .n = 30000},
    {"sums of rows and columns", "Add", "row column", .n = 30000},
    {"comparisons of them", "Equal", "row column", .n = 30000},
    {"sums of one constant", "ReduceSum", "large", .attribute = "keepdims", .n = 20000},
    {"logarithms of sums", "ReduceLogSumExp", "large", .attribute = "keepdims", .n = 20000},
    {"places of the largest", "ArgMax", "large", .attribute = "axis", .value = 3, .n = 20000},
    {"running sums", "CumSum", "large i1", .n = 20000},
    {"turned", "Transpose", "large", .n = 20000},
    {"triangles", "Trilu", "large", .n = 20000},
    {"matrices", "MatMul", "large large", .n = 20000},
    {"repeated", "Expand", "one wide", .n = 20000},
    {"repeated by much", "Expand", "one huge", .n = 20000},
    {"repeated and again", "Tile", "@ twice", "large", .n = 12},
    {"tiles", "Tile", "large twice", .n = 20000},
    {"shapes", "ConstantOfShape", "wide", .n = 20000},
    {"ranges", "Range", "i0 many i1", .n = 20000},
    {"one of many", "OneHot", "place depth pair", .n = 20000},
    {"one of many, of x", "Hardmax", "x", .attribute = "axis", .value = 1, .n = 5000},
    {"scattered", "ScatterElements", "column rows column", .n = 20000},
    {"gathered", "Gather", "large place", .attribute = "axis", .value = 3, .n = 20000},
    {"cubic", "Resize", "x - - larger", .attribute = "mode", .text = "cubic", .n = 10000},
    {"cubic, of a constant", "Resize", "large - - smaller", .attribute = "mode", .text = "cubic",
     .n = 10000},
    {"diagonals", "EyeLike", "row", .n = 20000},
    {"sorted out", "Softmax", "large", .attribute = "axis", .value = 3, .n = 20000},
    {"concatenated", "Concat", "@ large", "large", "axis", .value = 0, .n = 20000},
    {"deep", "Add", "@ x", "x", .n = 30000},
};

/* ---------------------------------------------------------- other ways to be large */

static void backwards(bytes *g)
{
    char in[32], out[32];

    add_constants(g);
    for (int i = 40000; i-- > 0;) {
        snprintf(in, sizeof(in), "n%d", i - 1);
        snprintf(out, sizeof(out), "n%d", i);
        onnx_node(g, "Relu", i ? in : "x", out, NULL);
    }
}

/* One that waits for each of them. */
static void waiting(bytes *g)
{
    enum { N = 30000 };
    char *names = calloc(N, 8), out[32];
    size_t used = 0;
    bytes a = {0};

    if (!names)
        abort();
    add_constants(g);
    for (int i = 0; i < N; i++)
        used += (size_t)sprintf(names + used, "%sn%d", i ? " " : "", i);
    onnx_attr_int(&a, "axis", 0);
    onnx_node(g, "Concat", names, "all", &a);
    for (int i = N; i-- > 0;) {
        snprintf(out, sizeof(out), "n%d", i);
        onnx_node(g, "Relu", "x", out, NULL);
    }
    free(names);
}

static void same_inputs(bytes *g)
{
    enum { N = 300000 };
    char *names = malloc(2 * N);
    bytes a = {0};

    if (!names)
        abort();
    add_constants(g);
    for (int i = 0; i < N; i++)
        memcpy(names + 2 * i, "x ", 2);
    names[2 * N - 1] = 0;
    onnx_attr_int(&a, "axis", 0);
    onnx_node(g, "Concat", names, "all", &a);
    free(names);
}

/* An operator that looks for many of them, of a node that has many others. */
static void many_attributes(bytes *g)
{
    bytes a = {0};

    add_constants(g);
    for (int i = 0; i < 100000; i++)
        onnx_put_bytes(&a, 5, "\x0a\1a", 3);
    onnx_node(g, "Resize", "x - - larger", "all", &a);
}

static void attributes_each(bytes *g)
{
    char out[32];

    add_constants(g);
    for (int i = 0; i < 1000; i++) {
        bytes a = {0};

        for (int k = 0; k < 300; k++)
            onnx_put_bytes(&a, 5, "", 0);
        snprintf(out, sizeof(out), "n%d", i);
        onnx_node(g, "Resize", "x - - twice", out, &a);
    }
}

static void names(bytes *g)
{
    char name[32];

    add_constants(g);
    for (int i = 0; i < 60000; i++) {
        snprintf(name, sizeof(name), "%d", i);
        onnx_initializer(g, name, FLOAT, 0, NULL, "", 0);
    }
}

static void empty_nodes(bytes *g)
{
    add_constants(g);
    for (int i = 0; i < 400000; i++)
        onnx_put_bytes(g, 1, "", 0);
}

static void empty_fields(bytes *g)
{
    bytes n = {0};

    add_constants(g);
    for (int i = 0; i < 400000; i++)
        onnx_put_bytes(&n, 1 + i % 2, "", 0);
    onnx_put_text(&n, 4, "Concat");
    onnx_put_message(g, 1, &n);
}

static void many_outputs(bytes *g)
{
    add_constants(g);
    onnx_node(g, "Relu", "x", "y", NULL);
    for (int i = 0; i < 100000; i++)
        onnx_output(g, "y");
}

static void many_inputs(bytes *g)
{
    char name[32];

    for (int i = 0; i < 30000; i++) {
        snprintf(name, sizeof(name), "i%d", i);
        onnx_input(g, name, FLOAT, 1, (const int64_t[]){1});
    }
    add_constants(g);
}

static void branches(bytes *g)
{
    char out[32];

    add_constants(g);
    onnx_initializer(g, "true", BOOL, 0, NULL, "\1", 1);
    for (int i = 0; i < 8000; i++) {
        bytes a = {0}, inner = {0};

        snprintf(out, sizeof(out), "r%d", i);
        onnx_node(&inner, "Relu", "x", out, NULL);
        onnx_output(&inner, out);
        onnx_attr_message(&a, "then_branch", 6, &inner);
        snprintf(out, sizeof(out), "n%d", i);
        onnx_node(g, "If", "true", out, &a);
    }
}

/* Tuples that all name one place, with as many updates as the graph's input has. */
static void scattered_often(bytes *g)
{
    static const int64_t tuples[40000];
    char out[32];

    add_constants(g);
    onnx_input(g, "updates", FLOAT, 2, (const int64_t[]){40000, 4096});
    onnx_input(g, "data", FLOAT, 2, (const int64_t[]){4, 4096});
    onnx_initializer(g, "t", INT64, 2, (const int64_t[]){40000, 1}, tuples, sizeof(tuples));
    for (int i = 0; i < 10000; i++) {
        snprintf(out, sizeof(out), "n%d", i);
        onnx_node(g, "ScatterND", "data t updates", out, NULL);
    }
}

static const struct {
    const char *name;
    void (*write)(bytes *g);
} others[] = {
    {"backwards", backwards},
    {"one that waits for all", waiting},
    {"one input many times", same_inputs},
    {"one node's attributes", many_attributes},
    {"every node's attributes", attributes_each},
    {"names", names},
    {"empty nodes", empty_nodes},
    {"empty fields", empty_fields},
    {"outputs", many_outputs},
    {"inputs", many_inputs},
    {"branches", branches},
    {"scattered often", scattered_often},
};

/* ------------------------------------------------------------------------ tests */

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void test_model(const char *name, bytes *graph)
{
    struct tdl_builder *builder = NULL;
    size_t size, before;
    double start, end;
    uint8_t *data;
    enum tdl_result r;

    onnx_node(graph, "Relu", "x", "result", NULL);
    onnx_output(graph, "result");
    data = onnx_model(graph, 13, &size);
    before = most = held;
    start = seconds();
    r = tdl_builder_create(NULL, &builder);
    if (r == TDL_OK)
        r = tdl_model_import(builder, data, size, NULL);
    if (r != tdl_builder_status(builder) || (r != TDL_OK && !*tdl_builder_error(builder)))
        FAIL("%s: %d \"%s\"", name, r, tdl_builder_error(builder));
    printf("%-27s %7zu bytes, %9zu at most, %5.3f s, %.90s\n", name, size, most - before,
           (end = seconds()) - start, r == TDL_OK ? "taken" : tdl_builder_error(builder));
    tdl_builder_destroy(&builder);
    if (most - before > MAX_PEAK)
        FAIL("%s: %zu bytes", name, most - before);
    if (seconds() - start > MAX_SECONDS)
        FAIL("%s: %.3f s", name, seconds() - start);
    if (held != before)
        FAIL("%s: %zu bytes are left", name, held - before);
    free(data);
}

/* Every allocation of an import fails once: an error, and nothing is left. */
static void test_no_memory(void)
{
    size_t size;
    uint8_t *data = onnx_example(&size);
    long n = 0;

    for (bool done = false; !done && n < 10000; n++) {
        struct tdl_builder *builder = NULL;
        const size_t before = held;

        fails_in = n;
        const bool created = tdl_builder_create(NULL, &builder) == TDL_OK;
        const enum tdl_result r =
            created ? tdl_model_import(builder, data, size, NULL) : TDL_ERROR_OUT_OF_MEMORY;
        done = fails_in >= 0;
        fails_in = -1;
        if (r != (done ? TDL_OK : TDL_ERROR_OUT_OF_MEMORY))
            FAIL("allocation %ld fails: %d \"%s\"", n, r, tdl_builder_error(builder));
        tdl_builder_destroy(&builder);
        if (held != before)
            FAIL("allocation %ld fails: %zu bytes are left", n, held - before);
    }
    printf("%ld allocations failed\n", n);
    free(data);
}

/* Convolutions of 3x3, and what is held while they are loaded, as a part of the file. */
static void test_load(int type, size_t element)
{
    enum { N = 6, CHANNELS = 256 };
    static const int64_t shape[] = {CHANNELS, CHANNELS, 3, 3};
    const size_t filter_size = CHANNELS * CHANNELS * 9 * element;
    char path[] = "/tmp/tdl-onnx-load-XXXXXX", names_[64], out[32];
    const int fd = mkstemp(path);
    struct tdl_builder *builder = NULL;
    uint8_t *filter = calloc(1, filter_size), *data;
    bytes g = {0};
    size_t size, before;

    if (!filter || fd < 0)
        abort();
    onnx_input(&g, "n", FLOAT, 4, (const int64_t[]){1, CHANNELS, 32, 32});
    for (int i = 0; i < N; i++) {
        snprintf(names_, sizeof(names_), "filter%.*s", i, "123456789");
        onnx_initializer(&g, names_, type, 4, shape, filter, filter_size);
        snprintf(names_, sizeof(names_), "n%.*s filter%.*s", i, "123456789", i, "123456789");
        snprintf(out, sizeof(out), "n%.*s", i + 1, "123456789");
        onnx_node(&g, "Conv", names_, out, NULL);
    }
    onnx_output(&g, out);
    data = onnx_model(&g, 13, &size);
    if (write(fd, data, size) != (ssize_t)size)
        abort();
    close(fd);
    free(data);
    free(filter);
    before = most = held;
    if (tdl_builder_create(NULL, &builder) != TDL_OK ||
        tdl_model_load(builder, path, NULL) != TDL_OK)
        FAIL("convolutions: \"%s\"", tdl_builder_error(builder));
    printf("convolutions of %zu bytes: %zu bytes of file, %.3f times as much at most\n", element,
           size, (double)(most - before) / (double)size);
    if (2 * (most - before) > 3 * size)
        FAIL("convolutions: %zu bytes for a file of %zu", most - before, size);
    tdl_builder_destroy(&builder);
    unlink(path);
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    alarm(500);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        bytes g = {0};

        write_nodes(&g, &rows[i]);
        test_model(rows[i].name, &g);
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        bytes g = {0};

        others[i].write(&g);
        test_model(others[i].name, &g);
    }
    test_no_memory();
    test_load(FLOAT, 4);
    test_load(FLOAT16, 2);
    printf("%d failures\n", failures);
    return failures ? 1 : 0;
}
