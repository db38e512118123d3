/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 *     tdl-tuning 1
 *     key tuning-10005-0000-….txt
 *     LAYER ALGORITHM NS
 *     …
 *     checksum 0123456789abcdef
 *
 * The key is the file's own name: a file that was copied from another device
 * or build says so. The checksum is over all lines before its own.
 */
#include "tuning_file.h"

#include "cache_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FILE_BYTES (4u << 20)
static const char first_line[] = "tdl-tuning 1";

/* ------------------------------------------------------------------ reading */

static char *read_file(const char *path)
{
    FILE *f = tdl_cache_open(path);
    char *text = f ? malloc(MAX_FILE_BYTES + 1) : NULL;
    if (text) {
        size_t size = fread(text, 1, MAX_FILE_BYTES + 1, f);
        text[size <= MAX_FILE_BYTES ? size : 0] = 0;
    }
    if (f)
        fclose(f);
    return text;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* NULL, or why the text is not to be used. Cuts it into lines. */
static const char *parse(char *text, const char *key, struct tdl_tuning *out)
{
    char *sum = strstr(text, "\nchecksum ");
    char layer[160], algorithm[48], name[300];
    uint64_t want, ns;
    if (strncmp(text, first_line, sizeof(first_line) - 1) != 0 ||
        text[sizeof(first_line) - 1] != '\n')
        return "it is no tuning file of this version";
    if (!sum || sscanf(sum + 1, "checksum %" SCNx64, &want) != 1 ||
        tdl_hash_bytes(TDL_HASH_START, text, (size_t)(sum + 1 - text)) != want)
        return "it is damaged: the checksum is wrong";
    *sum = 0;
    char *line = text + sizeof(first_line);
    if (sscanf(line, "key %299s", name) != 1 || strcmp(name, key) != 0)
        return "it is of another device, driver or version";
    while ((line = strchr(line, '\n'))) {
        line++;
        if (sscanf(line, "%159s %47s %" SCNu64, layer, algorithm, &ns) != 3)
            return "it is damaged: a line is not understood";
        if (!tdl_tuning_set(out, layer, algorithm, ns))
            return "there is no memory for it";
    }
    return NULL;
}

const char *tdl_tuning_read(const char *path, struct tdl_tuning *out)
{
    char *text = read_file(path);
    *out = (struct tdl_tuning){0};
    const char *why = text ? parse(text, base_name(path), out) : NULL;
    if (why)
        tdl_tuning_finish(out);
    free(text);
    return why;
}

void tdl_tuning_load(struct tdl_context *ctx, struct tdl_tuning *out)
{
    char path[1200];
    *out = (struct tdl_tuning){0};
    if (!ctx->on->context_cache_path(ctx, "tuning", "txt", path, sizeof(path)))
        return;
    const char *why = tdl_tuning_read(path, out);
    if (why)
        tdl_log(ctx, TDL_LOG_WARNING, "%s is ignored: %s; delete it, or run tdl-bench --tune", path,
                why);
    else if (out->count)
        tdl_log(ctx, TDL_LOG_DEBUG, "tuning: %u layers from %s", out->count, path);
}

/* ------------------------------------------------------------------ writing */

enum tdl_result tdl_tuning_write(struct tdl_context *ctx, const char *path,
                                 const struct tdl_tuning *t)
{
    const size_t line = sizeof(struct tdl_tuning_entry) + 32;
    size_t size = 1500 + line * t->count, used;
    char *text = malloc(size);
    if (!text)
        return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while saving a tuning");
    used = (size_t)snprintf(text, size, "%s\nkey %s\n", first_line, base_name(path));
    for (uint32_t i = 0; i < t->count; i++)
        used += (size_t)snprintf(text + used, size - used, "%s %s %" PRIu64 "\n",
                                 t->entries[i].layer, t->entries[i].algorithm, t->entries[i].ns);
    used += (size_t)snprintf(text + used, size - used, "checksum %016" PRIx64 "\n",
                             tdl_hash_bytes(TDL_HASH_START, text, used));
    enum tdl_result r = tdl_cache_write(ctx, path, NULL, 0, text, used);
    free(text);
    return r;
}

enum tdl_result tdl_tuning_save(struct tdl_context *ctx, const struct tdl_tuning *t)
{
    char path[1200];
    return ctx->on->context_cache_path(ctx, "tuning", "txt", path, sizeof(path))
               ? tdl_tuning_write(ctx, path, t)
               : TDL_OK;
}

/* ------------------------------------------------------------------ context */

bool tdl_context_copy_tuning(struct tdl_context *ctx, struct tdl_tuning *out)
{
    *out = (struct tdl_tuning){0};
    pthread_mutex_lock(&ctx->tuning_lock);
    const struct tdl_tuning *t = &ctx->tuning;
    bool ok = true;
    if (t->count) {
        out->entries = malloc(t->count * sizeof(*t->entries));
        ok = out->entries != NULL;
        if (ok) {
            memcpy(out->entries, t->entries, t->count * sizeof(*t->entries));
            out->count = out->capacity = t->count;
        }
    }
    pthread_mutex_unlock(&ctx->tuning_lock);
    return ok;
}

enum tdl_result tdl_context_add_tuning(struct tdl_context *ctx, const struct tdl_tuning *t)
{
    enum tdl_result r = TDL_OK;
    pthread_mutex_lock(&ctx->tuning_lock);
    for (uint32_t i = 0; i < t->count && r == TDL_OK; i++)
        if (!tdl_tuning_set(&ctx->tuning, t->entries[i].layer, t->entries[i].algorithm,
                            t->entries[i].ns))
            r = tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while keeping a tuning");
    if (r == TDL_OK)
        r = tdl_tuning_save(ctx, &ctx->tuning);
    pthread_mutex_unlock(&ctx->tuning_lock);
    return r;
}
