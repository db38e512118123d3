/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tdl_tune() and its file, tdl_benchmark(), and the planned arena.
 *
 *     test-tune          without models
 *     test-tune models   the arena of both person models
 */
#include "check.h"

#include <tdl/models.h>

#include <vulkan/cache_path.h>
#include <vulkan/context.h>
#include <measure/measure.h>
#include <core/tuning_file.h>

#include <dirent.h>
#include <math.h>
#include <unistd.h>

static char folder[] = "/tmp/tdl-tune-XXXXXX";
static uint32_t warnings; /* number of warnings about ignored files */

static void count_log(void *data, enum tdl_log_level level, const char *message)
{
    (void)data;
    warnings += level == TDL_LOG_WARNING && strstr(message, "is ignored") != NULL;
}

static struct tdl_context *open_context(void)
{
    struct tdl_context *ctx = NULL;
    enum tdl_result r = tdl_context_create(
        &(struct tdl_context_params){.cache_dir = folder, .log = count_log}, &ctx);
    if (r == TDL_ERROR_NO_DEVICE) {
        fprintf(stderr, "skipped: %s\n", tdl_last_error());
        exit(EXIT_SKIP);
    }
    REQUIRE(r == TDL_OK, "%s", tdl_last_error());
    return ctx;
}

/* The path of the tuning file; false if there is none. */
static bool find_file(char *path, size_t size)
{
    DIR *dir = opendir(folder);
    bool found = false;
    for (struct dirent *e; dir && (e = readdir(dir));)
        if (!strncmp(e->d_name, "tuning-", 7)) {
            found = true;
            snprintf(path, size, "%s/%.200s", folder, e->d_name);
        }
    if (dir)
        closedir(dir);
    return found;
}

/* Two layers of one shape and one of another. */
static struct tdl_builder *build(struct tdl_context *ctx)
{
    static float weights[8 * 9 * 8];
    struct tdl_tensor_params image = {.rank = 4, .shape = {1, 9, 9, 8}};
    struct tdl_tensor_params three = {.rank = 4, .shape = {8, 3, 3, 8}};
    struct tdl_tensor_params one = {.rank = 4, .shape = {8, 1, 1, 8}};
    struct tdl_conv2d_params same = {.padding = TDL_PADDING_SAME_UPPER};
    struct tdl_builder *b;
    for (size_t i = 0; i < COUNT(weights); i++)
        weights[i] = (float)(i % 7) / 70;
    OK(check_builder(ctx, &b));
    struct tdl_operand *x = tdl_builder_input(b, "x", &image);
    struct tdl_operand *f = tdl_builder_constant(b, &three, weights, sizeof(weights));
    struct tdl_operand *g = tdl_builder_constant(b, &one, weights, 8 * 8 * sizeof(float));
    x = tdl_builder_conv2d(b, tdl_builder_conv2d(b, x, f, &same), f, &same);
    tdl_builder_output(b, "y", tdl_builder_conv2d(b, x, g, NULL));
    return b;
}

/* The algorithm of the graph's step with this choice, of a 3×3 layer. */
static void find_algorithm(struct tdl_builder *b, enum tdl_choice choice, char *out, size_t size)
{
    const struct tdl_graph_step *s;
    struct tdl_graph *graph;
    *out = 0;
    OK(tdl_builder_build(b, &(struct tdl_build_params){.precision = TDL_PRECISION_FP32}, &graph));
    for (uint32_t i = 0; (s = tdl_graph_get_step(graph, i)); i++)
        if (s->choice == choice && s->macs > 9 * 81 * 8)
            snprintf(out, size, "%s", s->algorithm);
    tdl_graph_destroy(&graph);
}

struct seen {
    uint32_t reports, defaults, bad, untuned[3];
};

static void on_report(void *data, const struct tdl_tune_report *r)
{
    struct seen *seen = data;
    seen->reports++;
    seen->defaults += r->is_default;
    if (r->untuned < COUNT(seen->untuned))
        seen->untuned[r->untuned] += r->is_default;
    seen->bad += r->untuned >= COUNT(seen->untuned) ||
                 strncmp(r->layer, "conv2d-f32-1x9x9x8-", 19) != 0 || !*r->algorithm ||
                 !(r->gpu_ns >= 0);
}

static const struct tdl_tune_params *params(struct seen *seen, bool dry)
{
    static struct tdl_tune_params p;
    p = (struct tdl_tune_params){.build.precision = TDL_PRECISION_FP32,
                                 .iterations = 3,
                                 .patience = 1000,
                                 .dry = dry,
                                 .report = on_report,
                                 .report_data = seen};
    return &p;
}

static void check_tuning(void)
{
    struct tdl_context *ctx = open_context();
    struct tdl_builder *b = build(ctx);
    struct seen seen = {0};
    char path[400], name[64];
    uint32_t layers = 0;
    check_begin("tuning");
    FAILS(tdl_tune(NULL, NULL, NULL), TDL_ERROR_INVALID_ARGUMENT, "builder");
    enum tdl_result r = tdl_tune(b, params(&seen, true), &layers);
    if (r == TDL_ERROR_UNSUPPORTED) {
        fprintf(stderr, "skipped: %s\n", tdl_last_error());
        exit(EXIT_SKIP);
    }
    REQUIRE(r == TDL_OK, "%s", tdl_last_error());
    CHECK(layers == 2, "%u layers instead of 2", layers);
    CHECK(seen.defaults == 2 && seen.reports > 10 && !seen.bad,
          "%u reports, %u of them defaults, %u wrong", seen.reports, seen.defaults, seen.bad);
    CHECK(!find_file(path, sizeof(path)), "a dry run wrote %s", path);
    find_algorithm(b, TDL_CHOICE_TUNED, name, sizeof(name));
    CHECK(!*name, "a dry run tuned");
    OK(tdl_tune(b, params(&seen, false), &layers));
    CHECK(find_file(path, sizeof(path)), "no file was written");
    find_algorithm(b, TDL_CHOICE_TUNED, name, sizeof(name));
    CHECK(*name, "the graph does not use what was tuned");
    tdl_builder_destroy(&b);
    tdl_context_destroy(&ctx);
}

/* ------------------------------------------------------------------- bounds */

static void check_arithmetic(void)
{
    enum { MS = 1000000 };
    struct tdl_tune_load loads[] = {{"small", 5}, {"large", 60}, {"middle", 30}, {"least", 5}};
    check_begin("which layers are large, and what there is time for");
    CHECK(tdl_tune_select(loads, COUNT(loads), 0.9) == 2 && !strcmp(loads[0].layer, "large") &&
              !strcmp(loads[1].layer, "middle"),
          "%s and %s make up 90 percent", loads[0].layer, loads[1].layer);
    CHECK(tdl_tune_select(loads, COUNT(loads), 0.91) == 3, "91 percent are not three layers");
    CHECK(tdl_tune_select(loads, COUNT(loads), 0) == COUNT(loads) &&
              tdl_tune_select(loads, COUNT(loads), 1) == COUNT(loads),
          "not all are all");
    CHECK(tdl_tune_select(loads, 0, 0.9) == 0, "one of none");
    CHECK(tdl_tune_room(INFINITY, MS, 8) == 8 &&
              tdl_tune_iterations(INFINITY, MS, 8, 15) == 15,
          "an endless time has no room for all");
    CHECK(tdl_tune_room(60. * MS, MS, 8) == 4, "a third of 60 ms has room for %u graphs",
          tdl_tune_room(60. * MS, MS, 8));
    CHECK(tdl_tune_room(10. * MS, MS, 8) == 2, "10 ms have no room for two graphs");
    CHECK(tdl_tune_room(9. * MS, MS, 8) < 2, "9 ms have room for two graphs");
    CHECK(tdl_tune_room(-5. * MS, MS, 8) == 0, "no time has room");
    CHECK(tdl_tune_iterations(120. * MS, MS, 4, 15) == 8, "40 ms are %u runs of four",
          tdl_tune_iterations(120. * MS, MS, 4, 15));
    CHECK(tdl_tune_iterations(MS, MS, 4, 15) == 3, "fewer runs than three");
}

#define LATE_SECONDS 6
struct sleeper {
    uint32_t graphs; /* graphs that began to compile */
    double end;
};

/* The time is up when the third graph is to be compiled. */
static bool sleep_at_third(void *data, uint32_t done, uint32_t total)
{
    struct sleeper *s = data;
    (void)total;
    s->graphs += done == 0;
    while (s->graphs == 3 && tdl_now_ns() < s->end)
        usleep(10000);
    return true;
}

static void check_bounds(void)
{
    struct tdl_context *ctx = open_context();
    struct tdl_builder *b = build(ctx);
    struct sleeper sleeper = {0};
    struct seen seen = {0};
    struct tdl_tune_params p = *params(&seen, true);
    uint32_t layers = 9;
    check_begin("tuning of what makes up half of the time");
    p.share = 0.5;
    OK(tdl_tune(b, &p, &layers));
    CHECK(layers == 1 && seen.untuned[TDL_TUNED_WHOLLY] == 1 &&
              seen.untuned[TDL_UNTUNED_SMALL] == 1 && seen.reports > 4 && !seen.bad,
          "%u layers kept, %u tuned, %u small, %u reports", layers,
          seen.untuned[TDL_TUNED_WHOLLY], seen.untuned[TDL_UNTUNED_SMALL], seen.reports);

    check_begin("a time that is up before the graph has run");
    p.seconds = 1e-9;
    FAILS(tdl_tune(b, &p, &layers), TDL_ERROR_TIMEOUT, "seconds");
    CHECK(layers == 0, "%u layers", layers);

    check_begin("a time that is up behind the first way");
    seen = (struct seen){0};
    p.share = 0;
    p.seconds = LATE_SECONDS;
    p.build.compile.progress = sleep_at_third;
    p.build.compile.progress_data = &sleeper;
    sleeper.end = tdl_now_ns() + LATE_SECONDS * 1e9;
    OK(tdl_tune(b, &p, &layers));
    CHECK(sleeper.graphs == 3, "%u graphs were compiled", sleeper.graphs);
    CHECK(seen.untuned[TDL_UNTUNED_LATE] == 2 && !seen.bad, "%u layers are late",
          seen.untuned[TDL_UNTUNED_LATE]);
    CHECK(tdl_now_ns() < sleeper.end + LATE_SECONDS * 1e9, "it went on");
    tdl_builder_destroy(&b);
    tdl_context_destroy(&ctx);
}

/* ------------------------------------------------------- products and blocks */

static const struct {
    const char *layer, *algorithm, *kernel;
} products[] = {
    {"matmul-f32-1x20x40x24", "team", "matmul_team_float"},
    {"matmul-f32-1x24x20x8-aT-bT-c", "tiled:64x64", "matmul_float"},
    {"convTranspose2d-f32-1x6x6x8-12x12x8-k2x2-s2x2-d1x1-p0x0-g1", "gather:2",
     "conv_transpose2d_f32"},
};

/* A matmul, a gemm of its result, and a transposed convolution. */
static struct tdl_builder *build_products(struct tdl_context *ctx)
{
    static const struct tdl_tensor_params a = {.rank = 2, .shape = {20, 40}},
                                          w = {.rank = 2, .shape = {40, 24}},
                                          v = {.rank = 2, .shape = {8, 20}},
                                          c = {.rank = 1, .shape = {8}},
                                          image = {.rank = 4, .shape = {1, 6, 6, 8}},
                                          blocks = {.rank = 4, .shape = {8, 2, 2, 8}};
    static float filter[8 * 4 * 8];
    struct tdl_builder *b;
    for (size_t i = 0; i < COUNT(filter); i++)
        filter[i] = (float)(i % 5) / 50;
    OK(check_builder(ctx, &b));
    struct tdl_operand *product =
        tdl_builder_matmul(b, tdl_builder_input(b, "a", &a), tdl_builder_input(b, "w", &w));
    tdl_builder_output(b, "y",
                       tdl_builder_gemm(b, product, tdl_builder_input(b, "v", &v),
                                        &(struct tdl_gemm_params){
                                            .a_transpose = true,
                                            .b_transpose = true,
                                            .c = tdl_builder_input(b, "c", &c),
                                        }));
    tdl_builder_output(
        b, "z",
        tdl_builder_conv_transpose2d(b, tdl_builder_input(b, "x", &image),
                                     tdl_builder_constant(b, &blocks, filter, sizeof(filter)),
                                     &(struct tdl_conv_transpose2d_params){.stride = {2, 2}}));
    return b;
}

struct seen_products {
    uint32_t ways[COUNT(products)], defaults[COUNT(products)], bad;
};

static void on_product(void *data, const struct tdl_tune_report *r)
{
    struct seen_products *seen = data;
    size_t i = 0;
    while (i < COUNT(products) && strcmp(products[i].layer, r->layer))
        i++;
    seen->bad += i == COUNT(products) || !*r->algorithm || !(r->gpu_ns > 0);
    if (i < COUNT(products)) {
        seen->ways[i]++;
        seen->defaults[i] += r->is_default;
    }
}

/* Steps of layer i that are as the file says. */
static uint32_t tuned_so(struct tdl_builder *b, size_t i)
{
    const struct tdl_graph_step *s;
    struct tdl_graph *graph;
    uint32_t count = 0;
    OK(tdl_builder_build(b, &(struct tdl_build_params){.precision = TDL_PRECISION_FP32}, &graph));
    for (uint32_t k = 0; (s = tdl_graph_get_step(graph, k)); k++)
        count += s->choice == TDL_CHOICE_TUNED && !strcmp(s->algorithm, products[i].algorithm) &&
                 !strcmp(s->kernel, products[i].kernel);
    tdl_graph_destroy(&graph);
    return count;
}

static void check_products(void)
{
    struct tdl_context *ctx = open_context();
    struct tdl_builder *b = build_products(ctx);
    struct seen_products seen = {0};
    struct tdl_tuning tuning = {0};
    const struct tdl_tune_params p = {.build.precision = TDL_PRECISION_FP32,
                                      .iterations = 3,
                                      .patience = 1000,
                                      .dry = true,
                                      .report = on_product,
                                      .report_data = &seen};
    uint32_t layers = 0;
    check_begin("tuning of products and of transposed convolutions");
    OK(tdl_tune(b, &p, &layers));
    CHECK(layers == COUNT(products) && !seen.bad, "%u layers, %u wrong reports", layers, seen.bad);
    for (size_t i = 0; i < COUNT(products); i++) {
        CHECK(seen.ways[i] >= 3 && seen.defaults[i] == 1, "%s: %u ways, %u defaults",
              products[i].layer, seen.ways[i], seen.defaults[i]);
        CHECK(tuned_so(b, i) == 0, "%s: tuned by a dry run", products[i].layer);
        CHECK(tdl_tuning_set(&tuning, products[i].layer, products[i].algorithm, 5),
              "out of memory");
    }
    OK(tdl_context_add_tuning(ctx, &tuning));
    for (size_t i = 0; i < COUNT(products); i++)
        CHECK(tuned_so(b, i) == 1, "%s is not computed by %s", products[i].layer,
              products[i].algorithm);
    tdl_tuning_finish(&tuning);
    tdl_builder_destroy(&b);
    tdl_context_destroy(&ctx);
}

static void write_text(const char *path, const char *text, size_t size)
{
    FILE *f = fopen(path, "wb");
    REQUIRE(f && fwrite(text, 1, size, f) == size && !fclose(f), "cannot write %s", path);
}

/* The graph of a new context says how its 3×3 layer was chosen. */
static bool is_tuned(const char *algorithm)
{
    struct tdl_context *ctx = open_context();
    struct tdl_builder *b = build(ctx);
    char name[64];
    find_algorithm(b, TDL_CHOICE_TUNED, name, sizeof(name));
    tdl_builder_destroy(&b);
    tdl_context_destroy(&ctx);
    return *name && (!algorithm || !strcmp(name, algorithm));
}

static void check_file(void)
{
    char path[400], text[8192], other[8192];
    struct tdl_tuning tuning = {0};
    check_begin("the tuning file");
    REQUIRE(find_file(path, sizeof(path)), "there is no file");
    FILE *f = fopen(path, "rb");
    size_t size = f ? fread(text, 1, sizeof(text) - 1, f) : 0;
    REQUIRE(size > 50 && !fclose(f), "cannot read %s", path);
    text[size] = 0;
    warnings = 0;
    CHECK(is_tuned(NULL) && !warnings, "what was written is not read");

    /* Damage: every kind is noticed, said, and survived. */
    for (size_t cut = 0; cut < size; cut += size / 7 + 1) {
        write_text(path, text, cut);
        warnings = 0;
        CHECK(!is_tuned(NULL) && warnings == 1, "a file of %zu bytes: %u warnings", cut, warnings);
    }
    for (size_t at = 0; at < size - 1; at += size / 11 + 1) {
        memcpy(other, text, size);
        other[at] ^= 1;
        write_text(path, other, size);
        warnings = 0;
        CHECK(!is_tuned(NULL) && warnings == 1, "byte %zu wrong: %u warnings", at, warnings);
    }
    /* A whole file, but of another device: its key is another. */
    char *key = strstr(text, "tuning-"), *sum = strstr(text, "checksum ");
    REQUIRE(key && sum, "the file has no key");
    memcpy(other, text, size + 1);
    other[key - text + 8] ^= 1;
    size_t used = (size_t)(sum - text);
    used += (size_t)snprintf(other + used, sizeof(other) - used, "checksum %016llx\n",
                             (unsigned long long)tdl_hash_bytes(TDL_HASH_START, other, used));
    write_text(path, other, used);
    warnings = 0;
    CHECK(!is_tuned(NULL) && warnings == 1, "a foreign file: %u warnings", warnings);
    REQUIRE(!unlink(path), "cannot remove %s", path);
    CHECK(!is_tuned(NULL), "tuned without a file");

    /* The file's choices are applied, and names that are no algorithm are not. */
    struct tdl_context *ctx = open_context();
    struct tdl_builder *b = build(ctx);
    static const char layer[] = "conv2d-f32-1x9x9x8-9x9x8-k3x3-s1x1-d1x1-p1x1-g1-pre0";
    CHECK(tdl_tuning_set(&tuning, layer, "winograd23:32x16", 5), "out of memory");
    OK(tdl_tuning_save(ctx, &tuning));
    warnings = 0;
    CHECK(is_tuned("winograd23:32x16") && !warnings, "the file's algorithm was not taken");
    CHECK(tdl_tuning_set(&tuning, layer, "winograd99", 5), "out of memory");
    OK(tdl_tuning_save(ctx, &tuning));
    CHECK(!is_tuned(NULL), "an algorithm that there is not was taken");
    tdl_tuning_finish(&tuning);
    tdl_builder_destroy(&b);
    tdl_context_destroy(&ctx);
}

/* -------------------------------------------------------------------- benchmark */

static void check_benchmark(void)
{
    enum { RUNS = 9 };
    struct tdl_context *ctx = open_context();
    struct tdl_builder *b = build(ctx);
    struct tdl_benchmark_result result;
    struct tdl_binding in = {"x", NULL}, out = {"y", NULL};
    struct tdl_graph *graph;
    double wall[RUNS], gpu[RUNS], sum = 0, squares = 0, low = INFINITY, high = 0;
    check_begin("benchmark");
    OK(tdl_builder_build(b, NULL, &graph));
    struct tdl_tensor_params p = *tdl_graph_input(graph, 0, NULL);
    OK(tdl_tensor_create(ctx, &p, &in.tensor));
    p = *tdl_graph_output(graph, 0, NULL);
    OK(tdl_tensor_create(ctx, &p, &out.tensor));
    FAILS(tdl_benchmark(graph, &in, 1, &out, 1, NULL, NULL), TDL_ERROR_INVALID_ARGUMENT, "result");
    FAILS(tdl_benchmark(graph, &in, 0, &out, 1, NULL, &result), TDL_ERROR_INVALID_ARGUMENT,
          "inputs");
    OK(tdl_benchmark(graph, &in, 1, &out, 1,
                     &(struct tdl_benchmark_params){
                         .warmup = 1, .iterations = RUNS, .wall_ns = wall, .gpu_ns = gpu},
                     &result));
    for (int i = 0; i < RUNS; i++) {
        sum += wall[i];
        low = fmin(low, wall[i]);
        high = fmax(high, wall[i]);
        CHECK(wall[i] > 0 && gpu[i] <= wall[i], "run %d: %g ns, %g of them on the device", i,
              wall[i], gpu[i]);
    }
    for (int i = 0; i < RUNS; i++)
        squares += (wall[i] - sum / RUNS) * (wall[i] - sum / RUNS);
    const double deviation = sqrt(squares / (RUNS - 1));
    uint32_t below = 0;
    for (int i = 0; i < RUNS; i++)
        below += wall[i] < result.wall.median;
    CHECK(result.iterations == RUNS && result.first_ns > 0, "%u runs", result.iterations);
    CHECK(fabs(result.wall.mean - sum / RUNS) < 1e-6 * sum, "the mean is %g", result.wall.mean);
    CHECK(fabs(result.wall.deviation - deviation) <= 1e-6 * sum, "the deviation is %g, not %g",
          result.wall.deviation, deviation);
    CHECK(!(result.wall.min < low || result.wall.min > low) && below <= RUNS / 2 &&
              !(result.wall.max < high || result.wall.max > high),
          "min %g, median %g, max %g", result.wall.min, result.wall.median, result.wall.max);
    tdl_tensor_destroy(&in.tensor);
    tdl_tensor_destroy(&out.tensor);
    tdl_graph_destroy(&graph);
    tdl_builder_destroy(&b);
    tdl_context_destroy(&ctx);
}

/* ----------------------------------------------------------------------- arena */

static void check_arena(const char *path)
{
    struct tdl_context *ctx = open_context();
    struct tdl_graph_stats stats;
    struct tdl_builder *b;
    struct tdl_graph *graph;
    check_begin("the arena of %s", path);
    OK(check_builder(ctx, &b));
    OK(tdl_model_load(b, path, NULL));
    for (int fuse = 0; fuse < 2; fuse++) {
        OK(tdl_builder_build(
            b, &(struct tdl_build_params){.no_fuse = !fuse, .defer_compile = true}, &graph));
        tdl_graph_get_stats(graph, &stats);
        /* Planned before anything has run; the sum is of all activations. */
        CHECK(stats.arena_bytes > 0 && stats.arena_bytes < stats.tensor_bytes,
              "%llu bytes of %llu", (unsigned long long)stats.arena_bytes,
              (unsigned long long)stats.tensor_bytes);
        tdl_graph_destroy(&graph);
    }
    tdl_builder_destroy(&b);
    tdl_context_destroy(&ctx);
}

static void remove_folder(void)
{
    DIR *dir = opendir(folder);
    char path[400];
    for (struct dirent *e; dir && (e = readdir(dir));) {
        snprintf(path, sizeof(path), "%s/%.200s", folder, e->d_name);
        if (e->d_name[0] != '.')
            unlink(path);
    }
    if (dir)
        closedir(dir);
    rmdir(folder);
}

/* Choice by times that are given, not measured. */
static void check_choice(void)
{
    static const struct tdl_tune_result results[] = {
        {"first", "direct", 1, 100, true},      {"second", "grouped", 1, 500, true},
        {"third", "pointwise", 1, 70, true},    {"first", "winograd23", 0.5, 60, false},
        {"second", "direct", 0.99, 400, false}, /* faster, but hardly */
        {"first", "implicit", 0.4, 90, false},  /* a slow round: its ratio counts */
        {"third", "im2col", 8, 10, false},      {"first", "im2col", 3, 300, false},
    };
    static const struct {
        const char *layer, *algorithm;
    } want[] = {{"first", "implicit"}, {"second", "grouped"}, {"third", "pointwise"}};
    struct tdl_tuning chosen = {0};
    check_begin("the choice");
    REQUIRE(tdl_tune_choose(results, COUNT(results), &chosen), "out of memory");
    CHECK(chosen.count == COUNT(want), "%u layers", chosen.count);
    for (size_t i = 0; i < COUNT(want); i++) {
        const char *got = tdl_tuning_find(&chosen, want[i].layer);
        CHECK(got && !strcmp(got, want[i].algorithm), "%s: %s instead of %s", want[i].layer,
              got ? got : "nothing", want[i].algorithm);
    }
    tdl_tuning_finish(&chosen);
}

int main(int argc, char **argv)
{
    REQUIRE(mkdtemp(folder), "cannot make a folder");
    atexit(remove_folder);
    for (int i = 1; i < argc; i++) {
        if (access(argv[i], R_OK) != 0) {
            fprintf(stderr, "skipped: there is no %s\n", argv[i]);
            return EXIT_SKIP;
        }
        check_arena(argv[i]);
    }
    if (argc == 1) {
        check_choice();
        check_arithmetic();
        check_tuning();
        check_bounds();
        check_file();
        check_products();
        check_benchmark();
    }
    return check_result();
}
