/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A cache file (cache_file.h) that is damaged is ignored: the driver checks Vulkan's
 * header, and the checksum in front of it covers the rest.
 */
#include "pipeline.h"

#include "cache_path.h"
#include "table.h"

#include "core/cache_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cache_header {
    char magic[8];
    uint64_t size;     /* bytes after this header */
    uint64_t checksum; /* FNV-1a of them */
};
static const char cache_magic[8] = "TDLPIPE1";
#define MAX_CACHE_BYTES (256u << 20)

/* The cache's bytes, or NULL. Owned by the caller. */
static void *read_cache(const char *path, size_t *out_size)
{
    struct cache_header header;
    void *data = NULL;
    FILE *f = tdl_cache_open(path);
    if (!f)
        return NULL;
    if (fread(&header, sizeof(header), 1, f) == 1 &&
        !memcmp(header.magic, cache_magic, sizeof(cache_magic)) && header.size &&
        header.size <= MAX_CACHE_BYTES)
        data = malloc(header.size);
    if (data && (fread(data, header.size, 1, f) != 1 ||
                 tdl_hash_bytes(TDL_HASH_START, data, header.size) != header.checksum)) {
        free(data);
        data = NULL;
    }
    fclose(f);
    if (data)
        *out_size = header.size;
    return data;
}

enum tdl_result tdl_pipelines_init(struct tdl_context *ctx)
{
    char path[1200];
    size_t size = 0;
    void *data = tdl_cache_path(ctx, "pipelines", "bin", path, sizeof(path))
                     ? read_cache(path, &size)
                     : NULL;
    enum tdl_result r;
    TRY(VK(ctx, vkCreatePipelineCache(tdl_vk(ctx)->device,
                                      &(VkPipelineCacheCreateInfo){
                                          .sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO,
                                          .initialDataSize = size,
                                          .pInitialData = data,
                                      },
                                      NULL, &tdl_vk(ctx)->pipeline_cache)));
    tdl_log(ctx, TDL_LOG_DEBUG, "pipeline cache: %zu bytes from %s", size,
            ctx->cache_dir ? ctx->cache_dir : "nowhere");
    r = TDL_OK;
fail:
    free(data);
    return r;
}

void tdl_pipelines_finish(struct tdl_context *ctx)
{
    for (struct tdl_pipeline *p = tdl_vk(ctx)->pipelines, *next; p; p = next) {
        next = p->next;
        vkDestroyPipeline(tdl_vk(ctx)->device, p->pipeline, NULL);
        free(p);
    }
    vkDestroyPipelineCache(tdl_vk(ctx)->device, tdl_vk(ctx)->pipeline_cache, NULL);
    tdl_kernel_layouts_finish(ctx);
}

enum tdl_result tdl_vk_context_save_cache(struct tdl_context *ctx)
{
    char path[1200];
    size_t size = 0;
    void *data = NULL;
    enum tdl_result r = TDL_OK;
    pthread_mutex_lock(&tdl_vk(ctx)->pipeline_lock);
    if (!tdl_vk(ctx)->pipeline_cache_dirty ||
        !tdl_cache_path(ctx, "pipelines", "bin", path, sizeof(path)))
        goto fail;
    TRY(VK(ctx,
           vkGetPipelineCacheData(tdl_vk(ctx)->device, tdl_vk(ctx)->pipeline_cache, &size, NULL)));
    if (!size || !(data = malloc(size)))
        goto fail;
    TRY(VK(ctx,
           vkGetPipelineCacheData(tdl_vk(ctx)->device, tdl_vk(ctx)->pipeline_cache, &size, data)));
    struct cache_header header = {.size = size,
                                  .checksum = tdl_hash_bytes(TDL_HASH_START, data, size)};
    memcpy(header.magic, cache_magic, sizeof(cache_magic));
    TRY(tdl_cache_write(ctx, path, &header, sizeof(header), data, size));
    tdl_vk(ctx)->pipeline_cache_dirty = false;
fail:
    free(data);
    pthread_mutex_unlock(&tdl_vk(ctx)->pipeline_lock);
    return r;
}

/* -------------------------------------------------------------- pipelines */

bool tdl_pipeline_is_used(const struct tdl_pipeline *pipeline)
{
    return atomic_load(&((struct tdl_pipeline *)pipeline)->used);
}

void tdl_pipeline_set_used(const struct tdl_pipeline *pipeline)
{
    atomic_store(&((struct tdl_pipeline *)pipeline)->used, true);
}

static enum tdl_result compile(struct tdl_context *ctx, struct tdl_pipeline *p)
{
    VkSpecializationMapEntry entries[TDL_MAX_SPEC + TDL_MAX_CHAIN];
    uint32_t values[TDL_MAX_SPEC + TDL_MAX_CHAIN], count = p->spec_count + p->chain_count;
    VkShaderModule module = VK_NULL_HANDLE;
    enum tdl_result r;
    for (uint32_t i = 0; i < count; i++) {
        bool own = i < p->spec_count;
        values[i] = own ? p->spec[i] : p->chain[i - p->spec_count];
        entries[i] = (VkSpecializationMapEntry){own ? i : TDL_MAX_SPEC + i - p->spec_count,
                                                i * sizeof(uint32_t), sizeof(uint32_t)};
    }
    pthread_mutex_lock(&tdl_vk(ctx)->pipeline_lock);
    r = tdl_kernel_layout_get(ctx, p->shader->binds, &p->layout);
    pthread_mutex_unlock(&tdl_vk(ctx)->pipeline_lock);
    if (r != TDL_OK)
        return r;
    TRY(VK(ctx, vkCreateShaderModule(tdl_vk(ctx)->device,
                                     &(VkShaderModuleCreateInfo){
                                         .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                         .codeSize = p->shader->size,
                                         .pCode = p->shader->code,
                                     },
                                     NULL, &module)));
    TRY(VK(ctx,
           vkCreateComputePipelines(
               tdl_vk(ctx)->device, tdl_vk(ctx)->pipeline_cache, 1,
               &(VkComputePipelineCreateInfo){
                   .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
                   .stage =
                       {
                           .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                           .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                           .module = module,
                           .flags = p->shader->matrices
                                        ? VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT
                                        : 0,
                           .pName = "main",
                           .pSpecializationInfo =
                               &(VkSpecializationInfo){
                                   .mapEntryCount = count,
                                   .pMapEntries = entries,
                                   .dataSize = count * sizeof(uint32_t),
                                   .pData = values,
                               },
                       },
                   .layout = p->layout->pipeline,
               },
               NULL, &p->pipeline)));
    tdl_context_name(ctx, VK_OBJECT_TYPE_PIPELINE, TDL_HANDLE(p->pipeline), p->shader->name);
    atomic_fetch_add(&ctx->stats.pipelines, 1);
    r = TDL_OK;
fail:
    vkDestroyShaderModule(tdl_vk(ctx)->device, module, NULL);
    return r;
}

static uint64_t hash_of(const struct tdl_pipeline *p)
{
    uint64_t hash = tdl_hash_bytes(TDL_HASH_START, &p->shader, sizeof(p->shader));
    hash = tdl_hash_bytes(hash, p->spec, p->spec_count * sizeof(*p->spec));
    return tdl_hash_bytes(hash, p->chain, p->chain_count * sizeof(*p->chain));
}

/* The one that is like `like`, held once more, or kept. Call with the lock held. */
static struct tdl_pipeline *find(struct tdl_vk_context *vk, const struct tdl_pipeline *like,
                                 bool keep)
{
    struct tdl_pipeline *p = vk->pipelines;
    while (p && (p->hash != like->hash || p->shader != like->shader ||
                 p->spec_count != like->spec_count || p->chain_count != like->chain_count ||
                 memcmp(p->spec, like->spec, like->spec_count * sizeof(*like->spec)) ||
                 memcmp(p->chain, like->chain, like->chain_count * sizeof(*like->chain))))
        p = p->next;
    if (p && !p->holders && !p->kept)
        vk->idle_pipelines--;
    if (p && keep)
        p->kept = true;
    else if (p)
        p->holders++;
    return p;
}

static enum tdl_result describe(const char *shader_name, const uint32_t *spec, uint32_t spec_count,
                                const uint32_t *chain, uint32_t chain_count,
                                struct tdl_pipeline *out)
{
    if (spec_count > TDL_MAX_SPEC || chain_count > TDL_MAX_CHAIN)
        return tdl_fail(TDL_ERROR_INVALID_ARGUMENT,
                        "%s: %u + %u specialization constants, %d + %d at most", shader_name,
                        spec_count, chain_count, TDL_MAX_SPEC, TDL_MAX_CHAIN);
    *out = (struct tdl_pipeline){.shader = tdl_shader_find(shader_name),
                                 .spec_count = spec_count,
                                 .chain_count = chain_count};
    if (!out->shader)
        return tdl_fail(TDL_ERROR_UNSUPPORTED, "this build has no shader %s", shader_name);
    memcpy(out->spec, spec, spec_count * sizeof(*spec));
    if (chain_count)
        memcpy(out->chain, chain, chain_count * sizeof(*chain));
    out->hash = hash_of(out);
    return TDL_OK;
}

/* Make one like `like`, unless another thread was quicker. */
static enum tdl_result make(struct tdl_context *ctx, const struct tdl_pipeline *like, bool keep,
                            const struct tdl_pipeline **out_pipeline)
{
    struct tdl_vk_context *vk = tdl_vk(ctx);
    struct tdl_pipeline *p = malloc(sizeof(*p));
    if (!p)
        return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while creating a pipeline");
    *p = *like;
    enum tdl_result r = compile(ctx, p);
    if (r != TDL_OK) {
        free(p);
        return r;
    }
    pthread_mutex_lock(&vk->pipeline_lock);
    *out_pipeline = find(vk, like, keep);
    if (!*out_pipeline) {
        p->kept = keep;
        p->holders = keep ? 0 : 1;
        p->next = vk->pipelines;
        *out_pipeline = vk->pipelines = p;
        atomic_fetch_add(&ctx->stats.pipelines_held, 1);
        vk->pipeline_cache_dirty = true;
        p = NULL;
    }
    pthread_mutex_unlock(&vk->pipeline_lock);
    if (p) {
        vkDestroyPipeline(vk->device, p->pipeline, NULL);
        free(p);
    }
    return TDL_OK;
}

static enum tdl_result find_or_make(struct tdl_context *ctx, const char *shader_name,
                                    const uint32_t *spec, uint32_t spec_count,
                                    const uint32_t *chain, uint32_t chain_count, bool keep,
                                    const struct tdl_pipeline **out_pipeline)
{
    struct tdl_pipeline like;
    enum tdl_result r;
    *out_pipeline = NULL;
    TRY(tdl_context_check(ctx));
    TRY(describe(shader_name, spec, spec_count, chain, chain_count, &like));
    pthread_mutex_lock(&tdl_vk(ctx)->pipeline_lock);
    *out_pipeline = find(tdl_vk(ctx), &like, keep);
    pthread_mutex_unlock(&tdl_vk(ctx)->pipeline_lock);
    if (!*out_pipeline)
        TRY(make(ctx, &like, keep, out_pipeline));
fail:
    return r;
}

enum tdl_result tdl_pipeline_get(struct tdl_context *ctx, const char *shader_name,
                                 const uint32_t *spec, uint32_t spec_count,
                                 const struct tdl_pipeline **out_pipeline)
{
    return find_or_make(ctx, shader_name, spec, spec_count, NULL, 0, true, out_pipeline);
}

enum tdl_result tdl_pipeline_hold(struct tdl_context *ctx, const char *shader_name,
                                  const uint32_t *spec, uint32_t spec_count, const uint32_t *chain,
                                  uint32_t chain_count, const struct tdl_pipeline **out_pipeline)
{
    return find_or_make(ctx, shader_name, spec, spec_count, chain, chain_count, false,
                        out_pipeline);
}

/* ---------------------------------------------------------------- holding */

const struct tdl_pipeline *tdl_pipeline_ref(struct tdl_context *ctx,
                                            const struct tdl_pipeline *pipeline)
{
    pthread_mutex_lock(&tdl_vk(ctx)->pipeline_lock);
    ((struct tdl_pipeline *)pipeline)->holders++;
    pthread_mutex_unlock(&tdl_vk(ctx)->pipeline_lock);
    return pipeline;
}

/* Take the one out of the table that has been idle for longest. With the lock held. */
static struct tdl_pipeline *take_oldest(struct tdl_vk_context *vk)
{
    struct tdl_pipeline **oldest = NULL;
    for (struct tdl_pipeline **p = &vk->pipelines; *p; p = &(*p)->next)
        if (!(*p)->holders && !(*p)->kept && (!oldest || (*p)->idle_since < (*oldest)->idle_since))
            oldest = p;
    struct tdl_pipeline *taken = *oldest;
    *oldest = taken->next;
    vk->idle_pipelines--;
    atomic_fetch_sub(&vk->base.stats.pipelines_held, 1);
    return taken;
}

void tdl_pipelines_let_go(struct tdl_context *ctx, const struct tdl_pipeline *const *pipelines,
                          uint32_t count, bool kept)
{
    struct tdl_vk_context *vk = tdl_vk(ctx);
    struct tdl_pipeline *gone = NULL;
    pthread_mutex_lock(&vk->pipeline_lock);
    for (uint32_t i = 0; i < count; i++) {
        struct tdl_pipeline *p = (struct tdl_pipeline *)pipelines[i];
        if (!p)
            continue;
        p->kept |= kept;
        if (!--p->holders && !p->kept) {
            p->idle_since = ++vk->pipeline_clock;
            vk->idle_pipelines++;
        }
    }
    while (vk->idle_pipelines > TDL_IDLE_PIPELINES) {
        struct tdl_pipeline *p = take_oldest(vk);
        p->next = gone;
        gone = p;
    }
    pthread_mutex_unlock(&vk->pipeline_lock);
    for (struct tdl_pipeline *next; gone; gone = next) {
        next = gone->next;
        vkDestroyPipeline(vk->device, gone->pipeline, NULL);
        free(gone);
    }
}

struct tdl_pipeline_list *tdl_pipeline_list_new(uint32_t count)
{
    struct tdl_pipeline_list *list =
        calloc(1, sizeof(*list) + (size_t)count * sizeof(list->pipelines[0]));
    if (!list) {
        tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while compiling a graph");
        return NULL;
    }
    atomic_init(&list->refs, 1);
    list->count = count;
    return list;
}

struct tdl_pipeline_list *tdl_pipeline_list_ref(struct tdl_pipeline_list *list)
{
    atomic_fetch_add(&list->refs, 1);
    return list;
}

void tdl_pipeline_list_release(struct tdl_context *ctx, struct tdl_pipeline_list *list)
{
    if (!list || atomic_fetch_sub(&list->refs, 1) != 1)
        return;
    tdl_pipelines_let_go(ctx, list->pipelines, list->count, false);
    free(list);
}
