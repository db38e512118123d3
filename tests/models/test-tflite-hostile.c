/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Small model files that ask for much (hostile-models.c): each is compiled as
 * far as goes without a device, or is refused, within bounds that follow from
 * the size of the file. What is counted are the bytes that libtdl holds at most,
 * as the linker puts this file between it and libc (--wrap), and the weights.
 * The alarm is for what would take hours.
 *
 * And paths that lead to no file: refused at once, with nothing read.
 *
 *     test-tflite-hostile [paths]
 */
#include "hostile-models.h"

#include <tdl/models.h>

#include <compile/passes.h>

#include <fcntl.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)

/* ------------------------------------------------------------------- memory */

static atomic_size_t held, most;

static void *count(void *p)
{
    const size_t now = p ? atomic_fetch_add(&held, malloc_usable_size(p)) + malloc_usable_size(p)
                         : 0;
    size_t before = most;

    while (now > before && !atomic_compare_exchange_weak(&most, &before, now))
        ;
    return p;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *p, size_t size);
void __real_free(void *p);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *p, size_t size);
void __wrap_free(void *p);

void *__wrap_malloc(size_t size)
{
    return count(__real_malloc(size));
}

void *__wrap_calloc(size_t number, size_t size)
{
    return count(__real_calloc(number, size));
}

void *__wrap_realloc(void *p, size_t size)
{
    const size_t before = malloc_usable_size(p);
    void *grown = __real_realloc(p, size);

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

struct row {
    const char *model;
    int n;               /* operators: files of about a megabyte */
    size_t peak;         /* bytes held at most */
    size_t weights;      /* bytes of weights at most */
    const char *error;   /* NULL: it compiles */
};

/* The filters of the shared ones have one megabyte. */
static const struct row rows[] = {
    {"nested", 9000, 64 * MIB, 5 * MIB},
    {"constants", 3000, 64 * MIB, 5 * MIB},
    {"pieces", 4000, 64 * MIB, 2 * MIB},
    {"deep", 9000, 64 * MIB, 0},
    {"chain", 9000, 64 * MIB, 1024},
    {"kernels", 4000, 64 * MIB, 0},
    {"table", 3, 1 * MIB, 256 * 1024},
    {"shared", 3000, 64 * MIB, 2 * MIB},
    {"shared-depthwise", 3000, 64 * MIB, 2 * MIB},
    {"shared-scaled", 1500, 128 * MIB, 32 * MIB},
    {"shared-buffer", 3000, 64 * MIB, 2 * MIB},
    {"shared-half", 1500, 64 * MIB, 2 * MIB},
    {"shared-int8", 1500, 64 * MIB, 2 * MIB},
    {"rescaled", 1500, 64 * MIB, 32 * MIB, "its constants overlap"},
    {"shared-addend", 3000, 64 * MIB, 2 * MIB},
    {"overlapping", 2000, 80 * MIB, 64 * MIB, "as its kernels want them, the weights are more"},
};

static enum tdl_result compile(struct tdl_builder *builder, bool fuse, size_t *out_weights)
{
    static const struct tdl_device_info device = {
        .type = TDL_DEVICE_SOFTWARE, .subgroup_size = 8, .max_workgroup_invocations = 1024,
        .max_shared_memory = 32768};
    const struct tdl_build_params params = {0};
    struct tdl_plan plan = {.device = &device, .storage = TDL_FLOAT32,
                            .ir = tdl_ir_clone(tdl_builder_ir(builder))};
    enum tdl_result r = plan.ir ? tdl_pass_fold(plan.ir) : TDL_ERROR_OUT_OF_MEMORY;

    if (r == TDL_OK)
        r = tdl_pass_labels(plan.ir);
    if (r == TDL_OK && fuse)
        r = tdl_pass_fuse(plan.ir, false);
    if (r == TDL_OK)
        r = tdl_pass_layout(plan.ir, &params, plan.storage);
    if (r == TDL_OK)
        r = tdl_plan_build(&plan);
    *out_weights = plan.weight_count * sizeof(float);
    tdl_plan_finish(&plan);
    return r;
}

static void test_row(const struct row *row, bool fuse)
{
    struct tdl_builder *builder = NULL;
    size_t size = 0, weights = 0, before;
    uint8_t *data = hostile_find(row->model)->write(row->n, &size);
    enum tdl_result r;

    before = most = held;
    r = tdl_builder_create(NULL, &builder);
    if (r == TDL_OK)
        r = tdl_model_import(builder, data, size, NULL);
    if (r == TDL_OK)
        r = compile(builder, fuse, &weights);
    tdl_builder_destroy(&builder);
    printf("%-17s %7zu bytes of file, %9zu at most, %8zu of weights%s\n", row->model, size,
           most - before, weights, fuse ? "" : ", not fused");
    if (row->error ? r == TDL_OK || !strstr(tdl_last_error(), row->error)
                   : r != TDL_OK)
        FAIL("%s: %d \"%s\"", row->model, r, tdl_last_error());
    if (most - before > row->peak)
        FAIL("%s: %zu bytes instead of %zu", row->model, most - before, row->peak);
    if (weights > row->weights)
        FAIL("%s: %zu bytes of weights instead of %zu", row->model, weights, row->weights);
    if (held != before)
        FAIL("%s: %zu bytes are left", row->model, held - before);
    free(data);
}

/* Twenty times as many operators as above, which cost twenty times as much. */
static void test_long(const char *model, bool fuse)
{
    enum { OPERATORS = 200000 };
    const struct row row = {model, OPERATORS, 1024 * MIB, 64 * MIB, NULL};

    test_row(&row, fuse);
}

/* At an odd address, constants are copied. */
static void test_odd(const char *model, enum tdl_result expected, const char *text)
{
    struct tdl_builder *builder = NULL;
    size_t size = 0, before;
    uint8_t *data = hostile_find(model)->write(2000, &size), *odd = malloc(size + 1);
    enum tdl_result r;

    if (!odd)
        abort();
    memcpy(odd + 1, data, size);
    before = most = held;
    r = tdl_builder_create(NULL, &builder);
    if (r == TDL_OK)
        r = tdl_model_import(builder, odd + 1, size, NULL);
    if (r != expected || !strstr(tdl_builder_error(builder), text))
        FAIL("%s at an odd address: \"%s\"", model, tdl_last_error());
    if (most - before > 16 * MIB)
        FAIL("%s at an odd address: %zu bytes", model, most - before);
    tdl_builder_destroy(&builder);
    free(odd);
    free(data);
}

/* --------------------------------------------------------------------- paths */

static void refuse(const char *path, enum tdl_result expected, const char *text)
{
    struct tdl_builder *builder = NULL;
    const size_t before = held;
    enum tdl_result r;

    most = before;
    if (tdl_builder_create(NULL, &builder) != TDL_OK)
        abort();
    r = tdl_model_load(builder, path, NULL);
    if (r != expected || r != tdl_builder_status(builder) ||
        !strstr(tdl_builder_error(builder), text))
        FAIL("%s: %d \"%s\"", path, r, tdl_builder_error(builder));
    if (most - before > 16384)
        FAIL("%s: %zu bytes", path, most - before);
    tdl_builder_destroy(&builder);
}

/* A file of so many bytes that begins like this, and has a hole behind. */
static void write_hole(const char *path, const char *head, off_t size)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    if (fd < 0 || write(fd, head, strlen(head)) < 0 || ftruncate(fd, size) != 0)
        abort();
    close(fd);
}

static void test_paths(void)
{
    char folder[] = "/tmp/tdl-hostile-XXXXXX", path[64], link[64];

    if (!mkdtemp(folder))
        abort();
    snprintf(path, sizeof(path), "%s/it", folder);
    snprintf(link, sizeof(link), "%s/link", folder);
    refuse(folder, TDL_ERROR_IO, "Is a directory");
    refuse(path, TDL_ERROR_IO, "No such file");
    refuse("/dev/zero", TDL_ERROR_IO, "it is no regular file");
    refuse("/dev/urandom", TDL_ERROR_IO, "it is no regular file");
    if (mkfifo(path, 0600) != 0 || symlink(path, link) != 0)
        abort();
    refuse(path, TDL_ERROR_IO, "it is no regular file"); /* nobody writes into it */
    refuse(link, TDL_ERROR_IO, "it is no regular file");
    unlink(path);
    write_hole(path, "", 0);
    refuse(path, TDL_ERROR_INVALID_ARGUMENT, "it is empty");
    write_hole(path, "nothing like it", (off_t)1 << 30);
    refuse(path, TDL_ERROR_INVALID_MODEL, "no model of a kind that libtdl reads");
    write_hole(path, "\x20@@@TFL3", ((off_t)1 << 30) + 1);
    refuse(path, TDL_ERROR_INVALID_MODEL, "libtdl reads up to 1 GiB");
    unlink(path);
    unlink(link);
    rmdir(folder);
}

/* A hole in a file takes no memory: counted by the kernel, in pages. */
static void test_hole(void)
{
    char path[] = "/tmp/tdl-hole-XXXXXX", text[256];
    const int fd = mkstemp(path);
    struct tdl_builder *builder = NULL;
    long before = 0, after = 0, total;
    FILE *statm;

    close(fd);
    mallopt(M_PERTURB, 0); /* tests run with memory that malloc() writes into */
    write_hole(path, "\x08@@@TFL3", 512 * (off_t)MIB);
    for (int i = 0; i < 2; i++) {
        if (i && (tdl_builder_create(NULL, &builder) != TDL_OK ||
                  tdl_model_load(builder, path, NULL) != TDL_ERROR_INVALID_MODEL))
            FAIL("a hole: \"%s\"", tdl_last_error());
        statm = fopen("/proc/self/statm", "r");
        if (!statm || !fgets(text, sizeof(text), statm) ||
            sscanf(text, "%ld %ld", &total, i ? &after : &before) != 2)
            abort();
        fclose(statm);
    }
    if (after - before > 4096)
        FAIL("a hole of 512 MiB takes %ld pages", after - before);
    tdl_builder_destroy(&builder);
    unlink(path);
}

static void test_models(void)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        test_row(&rows[i], true);
        test_row(&rows[i], false);
    }
    test_long("deep", false);
    test_long("chain", true);
    test_long("pieces", true);
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    alarm(500);
    if (argc < 2 || strcmp(argv[1], "paths") != 0)
        test_models();
    test_odd("shared-addend", TDL_OK, "");
    test_odd("overlapping", TDL_ERROR_INVALID_MODEL, "its constants overlap");
    test_paths();
    test_hole();
    printf("%d failures\n", failures);
    return failures ? 1 : 0;
}
