/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * "auto" by measuring: which GPU is to be timed beside the CPU, and what was timed before. That
 * is kept in files like those of tuning, one for each pair of devices, whose names follow
 * from all that decides over the times but the model: the devices, their drivers, the number
 * of threads, the library. A line is a model's on one of the two.
 */
#include "auto.h"

#include "core/cache_file.h"
#include "core/tuning_file.h"
#include "cpu/device.h"
#include "kernels.h"
#include "map.h"
#include "vulkan/device.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEVICES = 16, MAX_KEPT = 512 };
/* A GPU leaves the CPU to others: that has to be faster by more than chance. */
#define LEAST_GAIN 0.9
#define WAY "run" /* in the place of a tuning file's algorithm */

bool tdl_auto_choose(const struct tdl_device_info *infos, uint32_t count, bool quick,
                     uint32_t *out_index)
{
    uint32_t best = count;
    for (uint32_t i = 0; i < count; i++)
        if (infos[i].usable && infos[i].type != TDL_DEVICE_CPU &&
            (best == count || tdl_device_rank(infos[i].type) < tdl_device_rank(infos[best].type)))
            best = i;
    if (best == count || infos[best].type == TDL_DEVICE_DISCRETE_GPU ||
        (infos[best].type == TDL_DEVICE_SOFTWARE && quick))
        return false;
    *out_index = best;
    return true;
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
    return tdl_hash_bytes(hash, text, strlen(text) + 1);
}

static uint64_t hash_device(uint64_t hash, const struct tdl_device_info *info)
{
    const uint32_t numbers[] = {info->vendor_id, info->device_id, info->api_version,
                                (uint32_t)info->type};
    hash = hash_text(hash_text(hash, info->name), info->driver);
    hash = tdl_hash_bytes(hash, info->uuid, sizeof(info->uuid));
    return tdl_hash_bytes(hash, numbers, sizeof(numbers));
}

bool tdl_auto_path(const char *folder, const struct tdl_device_info *gpu,
                   const struct tdl_device_info *cpu, uint32_t threads, char *path, size_t size)
{
    const uint32_t numbers[] = {tdl_version(), threads};
    uint64_t hash = hash_device(hash_device(TDL_HASH_START, gpu), cpu);
    hash = tdl_hash_bytes(hash, numbers, sizeof(numbers));
    for (size_t i = 0; i < tdl_shader_count; i++)
        hash = tdl_hash_bytes(hash, tdl_shaders[i].code, tdl_shaders[i].size);
    const int length = snprintf(path, size, "%s/auto-%016" PRIx64 ".txt", folder, hash);
    return length > 0 && (size_t)length < size;
}

/* The names of a model's two lines. */
static void name_lines(const char *model, char out_gpu[64], char out_cpu[64])
{
    const uint64_t hash = hash_text(TDL_HASH_START, model);
    snprintf(out_gpu, 64, "gpu-%016" PRIx64, hash);
    snprintf(out_cpu, 64, "cpu-%016" PRIx64, hash);
}

/* The GPU to be timed, and the file of what was. False: nothing is to be measured. */
static bool find(const struct tdl_auto_params *p, struct tdl_device_info *out_gpu, char *path,
                 size_t size)
{
    const char *told = getenv("TDL_DEVICE");
    struct tdl_device_info *infos = calloc(MAX_DEVICES + 1, sizeof(*infos));
    uint32_t count = 0, index;
    bool measured = infos && tdl_device_is_auto(told) &&
                    tdl_vulkan_device_list(infos, MAX_DEVICES, &count) == TDL_OK;
    count = TDL_MIN(count, MAX_DEVICES);
    measured = measured && tdl_auto_choose(infos, count, tdl_cpu_is_quick(), &index);
    *path = 0;
    if (measured) {
        char *folder = tdl_cache_folder(p->cache_dir);
        *out_gpu = infos[index];
        tdl_cpu_describe(&infos[MAX_DEVICES]);
        if (!folder || !tdl_auto_path(folder, out_gpu, &infos[MAX_DEVICES], p->threads, path, size))
            *path = 0;
        free(folder);
    }
    free(infos);
    return measured;
}

static uint64_t kept_ns(const struct tdl_tuning *t, const char *line)
{
    for (uint32_t i = 0; i < t->count; i++)
        if (!strcmp(t->entries[i].layer, line))
            return t->entries[i].ns;
    return 0;
}

static enum tdl_result check(const struct tdl_auto_params *p)
{
    TDL_NEED(p, "params");
    TDL_NEED_KNOWN(p);
    TDL_NEED(p->model, "params.model");
    return TDL_OK;
}

enum tdl_result tdl_auto_find(const struct tdl_auto_params *params, struct tdl_auto *out)
{
    struct tdl_device_info gpu;
    struct tdl_tuning kept = {0};
    char path[1200], lines[2][64];
    enum tdl_result r = check(params);
    TDL_NEED(out, "out");
    *out = (struct tdl_auto){.measures = false};
    if (r != TDL_OK || !find(params, &gpu, path, sizeof(path)))
        return r;
    out->measures = true;
    out->type = gpu.type;
    memcpy(out->name, gpu.name, sizeof(out->name));
    for (int i = 0; i < TDL_UUID_SIZE; i++)
        snprintf(&out->device[2 * i], 3, "%02x", gpu.uuid[i]);
    /* A file that is damaged, or foreign, is written anew. */
    if (*path && !tdl_tuning_read(path, &kept)) {
        name_lines(params->model, lines[0], lines[1]);
        out->gpu_ns = kept_ns(&kept, lines[0]);
        out->cpu_ns = kept_ns(&kept, lines[1]);
    }
    if (!out->gpu_ns || !out->cpu_ns)
        out->gpu_ns = out->cpu_ns = 0;
    tdl_tuning_finish(&kept);
    return TDL_OK;
}

enum tdl_result tdl_auto_keep(const struct tdl_auto_params *params, uint64_t gpu_ns,
                              uint64_t cpu_ns)
{
    struct tdl_device_info gpu;
    struct tdl_tuning kept = {0};
    char path[1200], lines[2][64];
    enum tdl_result r = check(params);
    if (r != TDL_OK || !find(params, &gpu, path, sizeof(path)) || !*path)
        return r;
    if (tdl_tuning_read(path, &kept) || kept.count >= MAX_KEPT)
        tdl_tuning_finish(&kept);
    name_lines(params->model, lines[0], lines[1]);
    r = tdl_tuning_set(&kept, lines[0], WAY, gpu_ns) && tdl_tuning_set(&kept, lines[1], WAY, cpu_ns)
            ? tdl_tuning_write(NULL, path, &kept)
            : tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while keeping a measurement");
    tdl_tuning_finish(&kept);
    return r;
}

bool tdl_auto_prefers_cpu(uint64_t gpu_ns, uint64_t cpu_ns)
{
    return (double)cpu_ns < (double)gpu_ns * LEAST_GAIN;
}
