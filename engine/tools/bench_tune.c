/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* --compare and --tune: every way to compute each convolution and product. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

/* What --tune does without --seconds and --share. */
#define TUNE_SECONDS 10
#define TUNE_SHARE 90 /* percent */

struct collector {
    struct bench *bench;
    bool failed;
};

static void collect(void *data, const struct tdl_tune_report *r)
{
    struct collector *c = data;
    struct bench *b = c->bench;
    struct bench_tuned *list = realloc(b->tuned, (b->tuned_count + 1) * sizeof(*list));

    if (!list) {
        c->failed = true;
        return;
    }
    b->tuned = list;
    list += b->tuned_count++;
    *list = (struct bench_tuned){
        .us = r->gpu_ns / 1e3, .is_default = r->is_default, .untuned = (int)r->untuned};
    snprintf(list->layer, sizeof(list->layer), "%s", r->layer);
    snprintf(list->algorithm, sizeof(list->algorithm), "%s", r->algorithm);
}

int bench_tune_run(struct bench *b)
{
    struct collector c = {b, false};
    const double seconds = b->told_seconds ? b->seconds : b->tune ? TUNE_SECONDS : 0;
    const double share = b->told_share ? b->share : b->tune ? TUNE_SHARE : 100;
    const struct tdl_tune_params params = {
        .build = b->build,
        .iterations = b->iterations,
        .patience = b->patience,
        .dry = !b->tune,
        .seconds = seconds,
        .share = share / 100,
        .report = collect,
        .report_data = &c,
    };

    if (tdl_tune(b->builder, &params, NULL) != TDL_OK)
        return tool_fail("%s", tdl_last_error());
    if (c.failed)
        return tool_fail("no memory for the results");
    if (!b->tuned)
        return tool_fail("there is no convolution and no product to compute in different ways");
    return TOOL_OK;
}

const struct bench_tuned *bench_tune_best(const struct bench *b, uint32_t i)
{
    const struct bench_tuned *best = &b->tuned[i];

    for (uint32_t k = 0; k < i; k++) {
        if (strcmp(b->tuned[k].layer, best->layer) == 0)
            return NULL;
    }
    for (uint32_t k = i; k < b->tuned_count; k++) {
        if (strcmp(b->tuned[k].layer, b->tuned[i].layer) == 0 && b->tuned[k].us < best->us)
            best = &b->tuned[k];
    }
    return best;
}

static int by_time(const void *a, const void *b)
{
    const struct bench_tuned *x = *(const struct bench_tuned *const *)a;
    const struct bench_tuned *y = *(const struct bench_tuned *const *)b;

    return (x->us > y->us) - (x->us < y->us);
}

static const char *const untuned[] = {
    [TDL_TUNED_WHOLLY] = "",
    [TDL_UNTUNED_SMALL] = "  (not tuned: it takes little; --share)",
    [TDL_UNTUNED_LATE] = "  (not tuned to the end: the time was up; --seconds)",
};

static uint32_t count_untuned(const struct bench *b, int why)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < b->tuned_count; i++)
        count += b->tuned[i].is_default && b->tuned[i].untuned == why;
    return count;
}

static void print_layer(const struct bench *b, uint32_t first, const struct bench_tuned *best)
{
    const struct bench_tuned **list = malloc(b->tuned_count * sizeof(const struct bench_tuned *));
    uint32_t count = 0;

    if (!list)
        return;
    for (uint32_t i = first; i < b->tuned_count; i++) {
        if (strcmp(b->tuned[i].layer, best->layer) == 0)
            list[count++] = &b->tuned[i];
    }
    qsort(list, count, sizeof(const struct bench_tuned *), by_time);
    printf("\n%s%s\n", best->layer, untuned[best->untuned]);
    for (uint32_t i = 0; i < count; i++)
        printf("  %-24s %10.2f us  %6.2f%s\n", list[i]->algorithm, list[i]->us,
               list[i]->us / best->us, list[i]->is_default ? "  default" : "");
    free(list);
}

void bench_tune_print_text(const struct bench *b)
{
    const struct tdl_device_info *device = tdl_context_device(b->context);
    const struct bench_tuned *best;

    printf("%s\n", b->model ? b->model : b->op.name);
    printf("device       %s (%s)\n", device->name, device->driver);
    printf("runs         %u of each; medians of device time, and their ratio to the best\n",
           b->iterations);
    printf("kept         %s\n", b->tune ? "the best, for later" : "nothing");
    printf("untuned      %u layers that take little, %u for which the time was up\n",
           count_untuned(b, TDL_UNTUNED_SMALL), count_untuned(b, TDL_UNTUNED_LATE));
    for (uint32_t i = 0; i < b->tuned_count; i++) {
        best = bench_tune_best(b, i);
        if (best)
            print_layer(b, i, best);
    }
}

void bench_tune_print_json(const struct bench *b)
{
    static const char *const reasons[] = {"", "small", "late"}; /* enum tdl_untuned */
    const struct tdl_device_info *device = tdl_context_device(b->context);

    printf("{\n");
    bench_print_string(b->model ? "model" : "op", b->model ? b->model : b->op.name);
    bench_print_string("device", device->name);
    bench_print_string("driver", device->driver);
    printf("  \"iterations\": %u, \"kept\": %s,\n  \"layers\": [", b->iterations,
           b->tune ? "true" : "false");
    for (uint32_t i = 0; i < b->tuned_count; i++)
        printf("%s\n    {\"layer\": \"%s\", \"algorithm\": \"%s\", \"gpu_us\": %.3f, "
               "\"default\": %s, \"untuned\": \"%s\"}",
               i ? "," : "", b->tuned[i].layer, b->tuned[i].algorithm, b->tuned[i].us,
               b->tuned[i].is_default ? "true" : "false", reasons[b->tuned[i].untuned]);
    printf("\n  ]\n}\n");
}
