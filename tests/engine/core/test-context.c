/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Contexts: which device, the timeline's points, errors and log lines, and
 * the pipeline cache on disk.
 */
#include "neighbour.h"
#include "subject.h"

#include <vulkan/context.h>

#include <ctype.h>
#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

/* --------------------------------------------------------------------- logs */

/* Log lines of a context; several threads may write. */
struct lines {
    pthread_mutex_t lock;
    char text[1 << 16];
    unsigned count[TDL_LOG_TRACE + 1];
};

static struct lines *lines_new(void)
{
    struct lines *l = calloc(1, sizeof(*l));
    REQUIRE(l, "out of memory");
    pthread_mutex_init(&l->lock, NULL);
    return l;
}

static void lines_free(struct lines *l)
{
    pthread_mutex_destroy(&l->lock);
    free(l);
}

static void collect(void *data, enum tdl_log_level level, const char *message)
{
    struct lines *l = data;
    pthread_mutex_lock(&l->lock);
    size_t used = strlen(l->text);
    snprintf(l->text + used, sizeof(l->text) - used, "%d %s\n", (int)level, message);
    l->count[level]++;
    pthread_mutex_unlock(&l->lock);
}

/* ------------------------------------------------------------------ devices */

static struct tdl_device_info list[32];
static uint32_t device_count;

static void check_list(void)
{
    uint32_t counted;
    check_begin("device list");
    enum tdl_result r = tdl_device_list(NULL, 0, &counted);
    REQUIRE(r == TDL_OK, "%s", tdl_last_error());
    OK(tdl_device_list(list, COUNT(list), &device_count));
    CHECK(device_count == counted && counted, "%u devices, then %u", counted, device_count);
    for (uint32_t i = 0; i < device_count && i < COUNT(list); i++) {
        CHECK(*list[i].name && *list[i].driver, "device %u has no name", i);
        CHECK(list[i].usable == !*list[i].unusable_reason, "device %u: usable %d, reason \"%s\"", i,
              list[i].usable, list[i].unusable_reason);
        CHECK(!list[i].usable || (list[i].type == TDL_DEVICE_CPU && list[i].memory_bytes) ||
                  (list[i].subgroup_size && list[i].max_workgroup_invocations >= 128 &&
                   list[i].max_shared_memory >= 16384 && list[i].memory_bytes),
              "device %u has no limits", i);
    }
    CHECK(list[device_count - 1].type == TDL_DEVICE_CPU && list[device_count - 1].usable,
          "the CPU is not the last of the list");
    memset(&list[1], 0xee, sizeof(list[1]));
    OK(tdl_device_list(list, 1, &counted));
    CHECK(((uint8_t *)&list[1])[0] == 0xee, "more was written than there was room for");
    OK(tdl_device_list(list, COUNT(list), &device_count));
}

static void check_selected(const char *selector, const struct tdl_device_info *want)
{
    struct tdl_context *ctx;
    check_begin("device \"%s\"", selector ? selector : "(null)");
    OK(tdl_context_create(&(struct tdl_context_params){.device = selector, .cache_dir = ""}, &ctx));
    const struct tdl_device_info *got = tdl_context_device(ctx);
    CHECK(got->usable, "an unusable device was taken");
    CHECK(!want || !memcmp(got->uuid, want->uuid, sizeof(got->uuid)), "%s instead of %s", got->name,
          want ? want->name : "");
    tdl_context_destroy(&ctx);
    CHECK(!ctx, "destroy left the pointer");
    tdl_context_destroy(&ctx);
}

static void check_not_selected(const char *selector)
{
    struct tdl_context *ctx = (struct tdl_context *)list;
    check_begin("device \"%s\"", selector);
    FAILS(tdl_context_create(&(struct tdl_context_params){.device = selector}, &ctx),
          TDL_ERROR_NO_DEVICE, selector);
    CHECK(!ctx, "a context in spite of the error");
    for (uint32_t i = 0; i < device_count; i++) {
        char name[65];
        snprintf(name, sizeof(name), "%s", list[i].name);
        CHECK(strstr(tdl_last_error(), name), "\"%s\" does not list %s", tdl_last_error(), name);
    }
}

static void check_selection(void)
{
    char index[16], uuid[40] = "", upper[40] = "", name[8];
    uint32_t first = 0;
    while (first + 1 < device_count && !list[first].usable)
        first++;
    const struct tdl_device_info *d = &list[first];
    snprintf(index, sizeof(index), "%u", first);
    for (size_t i = 0; i < TDL_UUID_SIZE; i++) {
        snprintf(uuid + 2 * i, 3, "%02x", d->uuid[i]);
        snprintf(upper + strlen(upper), 4, i == 3 || i == 5 ? "%02X-" : "%02X", d->uuid[i]);
    }
    snprintf(name, sizeof(name), "%s", d->name);
    for (char *p = name; *p; p++)
        *p = (char)toupper((unsigned char)*p);
    check_selected(NULL, NULL);
    check_selected("", NULL);
    check_selected("auto", NULL);
    check_selected(index, d);
    check_selected(uuid, d);
    check_selected(upper, d);
    check_selected(name, NULL);
    check_selected("cpu", &list[device_count - 1]);
    check_selected(d->name, NULL);
    if (*d->drm_node)
        check_selected(d->drm_node, d);
    check_not_selected("no such device");
    check_not_selected("31");
    check_not_selected("999999999999999999999");
    check_not_selected("00000000-0000-0000-0000-0123456789ab");
    check_not_selected("/dev/dri/renderD99999");
}

/* ------------------------------------------------------------ graphs to run */

/* y = conv3×3(x), `channels` to `channels`. */
static struct tdl_graph *conv_graph(struct tdl_context *ctx, uint32_t size, uint32_t channels)
{
    const struct tdl_tensor_params p = subject_image(TDL_LAYOUT_NHWC, 1, size, size, channels);
    struct rng rng = {1};
    struct tdl_builder *b;
    struct tdl_graph *graph;
    OK(check_builder(ctx, &b));
    struct tdl_operand *x = tdl_builder_input(b, "x", &p);
    tdl_builder_output(b, "y", tdl_builder_conv2d(
                                   b, x, subject_filter(b, &rng, channels, 3, 3, channels),
                                   &(struct tdl_conv2d_params){.padding = TDL_PADDING_SAME_UPPER}));
    OK(tdl_builder_build(b, NULL, &graph));
    tdl_builder_destroy(&b);
    return graph;
}

/* ------------------------------------------------------------------- points */

static void check_points(void)
{
    struct tdl_context *ctx = check_context_open();
    const uint32_t size = 16, channels = 8;
    struct tdl_tensor_params p = subject_image(TDL_LAYOUT_NHWC, 1, size, size, channels);
    struct tdl_vulkan_device vk;
    struct tdl_batch *batch;
    struct tdl_tensor *x, *y;
    uint64_t point = 0, before, first = 0;
    check_begin("points");
    OK(tdl_context_wait(ctx, 0, TDL_WAIT_FOREVER));
    struct tdl_graph *graph = conv_graph(ctx, size, channels);
    OK(tdl_tensor_create(ctx, &p, &x));
    OK(tdl_tensor_create(ctx, &p, &y));
    OK(tdl_context_sync(ctx));
    before = tdl_context_last_point(ctx);
    OK(tdl_context_wait(ctx, before, 0));
    FAILS(tdl_context_wait(ctx, before + 1, TDL_WAIT_FOREVER), TDL_ERROR_INVALID_ARGUMENT,
          "not been submitted");
    FAILS(tdl_context_wait(ctx, UINT64_MAX, 0), TDL_ERROR_INVALID_ARGUMENT, "not been submitted");
    /* A gate keeps the device from being done before it is asked. */
    tdl_context_get_vulkan(ctx, &vk);
    VkSemaphore gate = semaphore_new(&vk, VK_SEMAPHORE_TYPE_TIMELINE);
    OK(tdl_batch_borrow(ctx, &batch));
    OK(tdl_batch_wait_semaphore(batch, gate, 1));
    OK(tdl_batch_submit(batch, &point));
    tdl_batch_give_back(&batch);
    for (int i = 0; i < 8; i++) {
        uint64_t last = point;
        OK(tdl_graph_dispatch(graph, &(struct tdl_binding){"x", x}, 1,
                              &(struct tdl_binding){"y", y}, 1, &point));
        CHECK(point > last && point > before, "points do not grow: %llu after %llu",
              (unsigned long long)point, (unsigned long long)last);
        if (!i)
            first = point;
    }
    CHECK(tdl_context_last_point(ctx) == point, "the last point is not the last work's");
    FAILS(tdl_context_wait(ctx, point, 0), TDL_ERROR_TIMEOUT, "not reached");
    FAILS(tdl_context_wait(ctx, point, 1000), TDL_ERROR_TIMEOUT, "not reached");
    semaphore_signal(&vk, gate, 1);
    OK(tdl_context_wait(ctx, first, TDL_WAIT_FOREVER));
    OK(tdl_context_wait(ctx, point, TDL_WAIT_FOREVER));
    OK(tdl_context_wait(ctx, first, 0));
    OK(tdl_context_wait(ctx, point, 0));
    vkDestroySemaphore(vk.device, gate, NULL);
    tdl_tensor_destroy(&x);
    tdl_tensor_destroy(&y);
    tdl_graph_destroy(&graph);
    check_context_close(ctx);
}

/* ------------------------------------------------------- errors, log, sharing */

static void *fail_elsewhere(void *data)
{
    struct tdl_builder *b;
    (void)data;
    CHECK(!*tdl_last_error(), "a new thread has an error: \"%s\"", tdl_last_error());
    OK(check_builder(NULL, &b));
    tdl_builder_output(b, "elsewhere", NULL);
    CHECK(*tdl_last_error(), "no error");
    tdl_builder_destroy(&b);
    return NULL;
}

static void check_errors(void)
{
    static const enum tdl_result all[] = {
        TDL_OK, TDL_ERROR_INVALID_ARGUMENT, TDL_ERROR_INVALID_STATE, TDL_ERROR_OUT_OF_MEMORY,
        TDL_ERROR_NO_DEVICE, TDL_ERROR_DEVICE_LOST, TDL_ERROR_UNSUPPORTED, TDL_ERROR_INVALID_MODEL,
        TDL_ERROR_IO, TDL_ERROR_TIMEOUT, TDL_ERROR_CANCELED, TDL_ERROR_BUSY};
    struct tdl_context *ctx;
    pthread_t thread;
    check_begin("results and texts");
    for (size_t i = 0; i < COUNT(all); i++)
        for (size_t k = 0; k < i; k++)
            CHECK(strcmp(tdl_result_string(all[i]), tdl_result_string(all[k])), "%d and %d: \"%s\"",
                  all[i], all[k], tdl_result_string(all[i]));
    CHECK(tdl_result_string((enum tdl_result)-99), "an unknown result has no text");
    FAILS(tdl_context_create(&(struct tdl_context_params){.device = "nobody"}, &ctx),
          TDL_ERROR_NO_DEVICE, "nobody");
    REQUIRE(!pthread_create(&thread, NULL, fail_elsewhere, NULL), "no thread");
    pthread_join(thread, NULL);
    CHECK(strstr(tdl_last_error(), "nobody"), "another thread's error came here: \"%s\"",
          tdl_last_error());
}

static void check_logging(void)
{
    struct lines *loud = lines_new(), *quiet = lines_new();
    struct tdl_context *ctx;
    check_begin("logging");
    OK(tdl_context_create(&(struct tdl_context_params){.log = collect,
                                                       .log_data = loud,
                                                       .log_level = TDL_LOG_TRACE,
                                                       .cache_dir = ""},
                          &ctx));
    CHECK(strstr(loud->text, tdl_context_device(ctx)->name), "no line names the device:\n%s",
          loud->text);
    CHECK(!strchr(loud->text, '\r') && !strstr(loud->text, "\n\n"), "lines with newlines");
    tdl_context_destroy(&ctx);
    OK(tdl_context_create(&(struct tdl_context_params){.log = collect, .log_data = quiet}, &ctx));
    CHECK(!quiet->count[TDL_LOG_INFO] && !quiet->count[TDL_LOG_DEBUG], "not only warnings:\n%s",
          quiet->text);
    tdl_context_destroy(&ctx);
    lines_free(loud);
    lines_free(quiet);
}

/* Objects hold their context; two contexts on one device are independent. */
static void check_references(void)
{
    struct tdl_context *ctx = check_context_open(), *second = check_context_open();
    struct tdl_tensor *t;
    float value = 3;
    check_begin("references");
    struct tdl_context *again = tdl_context_ref(ctx);
    CHECK(again == ctx, "ref gave something else");
    OK(tdl_tensor_create(ctx,
                         &(struct tdl_tensor_params){
                             .usage = TDL_TENSOR_READABLE | TDL_TENSOR_WRITABLE},
                         &t));
    tdl_context_destroy(&again);
    tdl_context_destroy(&ctx);
    OK(tdl_tensor_write(t, &value, sizeof(value), NULL));
    value = 0;
    OK(tdl_tensor_read(t, &value, sizeof(value)));
    CHECK(value == 3, "%g instead of 3", (double)value);
    tdl_tensor_destroy(&t);
    CHECK(tdl_context_last_point(second) == 0, "work of one context moved the other's timeline");
    check_context_close(second);
}

/* -------------------------------------------------------------------- cache */

static char cache_root[256];

/* The only file of the folder; "" if there is none. */
static void cache_file(const char *folder, char *path, size_t size)
{
    DIR *dir = opendir(folder);
    *path = 0;
    if (!dir)
        return;
    for (struct dirent *e; (e = readdir(dir));) {
        if (e->d_name[0] == '.')
            continue;
        CHECK(!*path, "more than one file in the cache: %s and %s", path, e->d_name);
        CHECK(!strncmp(e->d_name, "pipelines-", 10), "a strange file: %s", e->d_name);
        snprintf(path, size, "%s/%s", folder, e->d_name);
    }
    closedir(dir);
}

/* Bytes that a new context takes from the cache; it compiles something, and
 * writes when it goes. */
static size_t use_cache(const char *folder, struct lines *l)
{
    struct tdl_context *ctx;
    size_t bytes = 0;
    memset(l->text, 0, sizeof(l->text));
    memset(l->count, 0, sizeof(l->count));
    OK(tdl_context_create(&(struct tdl_context_params){.cache_dir = folder,
                                                       .log = collect,
                                                       .log_data = l,
                                                       .log_level = TDL_LOG_DEBUG},
                          &ctx));
    const char *line = strstr(l->text, "pipeline cache: ");
    CHECK(line && sscanf(line, "pipeline cache: %zu bytes", &bytes) == 1,
          "no line about the cache:\n%s", l->text);
    struct tdl_graph *graph = conv_graph(ctx, 4, 4);
    tdl_graph_destroy(&graph);
    tdl_context_destroy(&ctx);
    return bytes;
}

static void overwrite(const char *path, long at, const void *data, size_t size)
{
    FILE *f = fopen(path, "r+b");
    REQUIRE(f, "%s cannot be opened", path);
    REQUIRE(!fseek(f, at, SEEK_SET) && fwrite(data, size, 1, f) == 1, "cannot write %s", path);
    fclose(f);
}

static void check_damaged(const char *folder, const char *path, struct lines *l)
{
    /* `at` and `cut` count from the end if negative; a `cut` of 0 cuts nothing. */
    static const struct {
        const char *name;
        long at;
        const char *bytes;
        size_t size;
        long cut;
    } damages[] = {
        {"the last byte", -1, "\xa5", 1, 0},
        {"the first byte behind the header", 24, "\xa5\x5a", 2, 0},
        {"the mark", 0, "NOTCACHE", 8, 0},
        {"a size of nearly 2^64", 8, "\xff\xff\xff\xff\xff\xff\xff\xff", 8, 0},
        {"a size of 0", 8, "\0\0\0\0\0\0\0\0", 8, 0},
        {"the checksum", 16, "\1\2\3\4\5\6\7\10", 8, 0},
        {"cut short by one", 0, "T", 1, -1},
        {"cut in its header", 0, "T", 1, 11},
        {"cut to one byte", 0, "T", 1, 1},
    };
    for (size_t i = 0; i < COUNT(damages); i++) {
        struct stat st;
        check_begin("cache: damaged: %s", damages[i].name);
        REQUIRE(!stat(path, &st) && st.st_size > 32, "no cache");
        overwrite(path, damages[i].at + (damages[i].at < 0 ? (long)st.st_size : 0),
                  damages[i].bytes, damages[i].size);
        if (damages[i].cut)
            REQUIRE(!truncate(path, damages[i].cut + (damages[i].cut < 0 ? st.st_size : 0)),
                    "cannot cut");
        CHECK(use_cache(folder, l) == 0, "it was used");
        CHECK(!l->count[TDL_LOG_ERROR], "an error:\n%s", l->text);
        CHECK(use_cache(folder, l) > 0, "it was not written anew");
    }
}

static void check_cache(void)
{
    struct lines *l = lines_new();
    char folder[300], path[700];
    check_begin("cache");
    snprintf(folder, sizeof(folder), "%s/deep/below", cache_root);
    CHECK(use_cache(folder, l) == 0, "a cache from nowhere");
    cache_file(folder, path, sizeof(path));
    CHECK(*path, "no cache was written");
    CHECK(use_cache(folder, l) > 0, "the cache was not read:\n%s", l->text);
    check_damaged(folder, path, l);

    check_begin("cache: a pipe in the file's place");
    REQUIRE(!unlink(path) && !mkfifo(path, 0600), "no pipe");
    CHECK(use_cache(folder, l) == 0, "a pipe was read"); /* a pipe has no end */
    CHECK(use_cache(folder, l) > 0, "it was not written anew");

    check_begin("cache: where XDG says");
    snprintf(folder, sizeof(folder), "%s/xdg", cache_root);
    char *old = getenv("XDG_CACHE_HOME") ? strdup(getenv("XDG_CACHE_HOME")) : NULL;
    setenv("XDG_CACHE_HOME", folder, 1);
    use_cache(NULL, l);
    CHECK(use_cache(NULL, l) > 0, "the cache was not read");
    snprintf(folder, sizeof(folder), "%s/xdg/tdl", cache_root);
    cache_file(folder, path, sizeof(path));
    CHECK(*path, "nothing in %s", folder);
    check_begin("cache: not where XDG has no whole path");
    char *home = getenv("HOME") ? strdup(getenv("HOME")) : NULL;
    setenv("XDG_CACHE_HOME", "relative", 1);
    snprintf(folder, sizeof(folder), "%s/home", cache_root);
    setenv("HOME", folder, 1);
    use_cache(NULL, l);
    CHECK(access("relative", F_OK) != 0, "a folder below the current one");
    snprintf(folder, sizeof(folder), "%s/home/.cache/tdl", cache_root);
    cache_file(folder, path, sizeof(path));
    CHECK(*path, "nothing in %s", folder);
    if (home)
        setenv("HOME", home, 1);
    free(home);
    check_begin("cache: none");
    snprintf(folder, sizeof(folder), "%s/none", cache_root);
    setenv("XDG_CACHE_HOME", folder, 1);
    CHECK(use_cache("", l) == 0, "a cache from nowhere");
    snprintf(folder, sizeof(folder), "%s/none/tdl", cache_root);
    CHECK(access(folder, F_OK) != 0, "a cache was written");
    if (old)
        setenv("XDG_CACHE_HOME", old, 1);
    else
        unsetenv("XDG_CACHE_HOME");
    free(old);
    lines_free(l);
}

/* A folder that nobody can write to, root included: below a file. */
static void check_unwritable_cache(void)
{
    struct lines *l = lines_new();
    struct tdl_context *ctx;
    char file[300], folder[400];
    check_begin("cache: not writable");
    snprintf(file, sizeof(file), "%s/file", cache_root);
    snprintf(folder, sizeof(folder), "%s/folder", file);
    FILE *f = fopen(file, "wb");
    REQUIRE(f, "cannot create %s", file);
    fclose(f);
    OK(tdl_context_create(
        &(struct tdl_context_params){.cache_dir = folder, .log = collect, .log_data = l}, &ctx));
    struct tdl_graph *graph = conv_graph(ctx, 4, 4);
    tdl_graph_destroy(&graph);
    FAILS(tdl_context_save_cache(ctx), TDL_ERROR_IO, folder);
    CHECK(l->count[TDL_LOG_WARNING] == 1 && strstr(l->text, folder), "no warning:\n%s", l->text);
    tdl_context_destroy(&ctx);
    CHECK(!l->count[TDL_LOG_ERROR], "an error:\n%s", l->text);
    lines_free(l);
}

struct saver {
    pthread_t thread;
    const char *folder;
    struct lines *lines;
    uint32_t channels;
};

static void *save_often(void *data)
{
    struct saver *s = data;
    struct tdl_context *ctx;
    OK(tdl_context_create(&(struct tdl_context_params){.cache_dir = s->folder,
                                                       .log = collect,
                                                       .log_data = s->lines},
                          &ctx));
    struct tdl_graph *graph = conv_graph(ctx, 4, s->channels);
    tdl_graph_destroy(&graph);
    for (uint32_t i = 0; i < 100; i++) {
        tdl_vk(ctx)->pipeline_cache_dirty = true;
        OK(tdl_context_save_cache(ctx));
    }
    tdl_context_destroy(&ctx);
    return NULL;
}

static void check_shared_cache(void)
{
    struct saver savers[3];
    struct lines *l = lines_new();
    char folder[300], path[700];
    check_begin("cache: several contexts write it at once");
    snprintf(folder, sizeof(folder), "%s/shared", cache_root);
    for (size_t i = 0; i < COUNT(savers); i++) {
        savers[i] = (struct saver){.folder = folder, .lines = l, .channels = 1 + (uint32_t)i};
        REQUIRE(!pthread_create(&savers[i].thread, NULL, save_often, &savers[i]), "no thread");
    }
    for (size_t i = 0; i < COUNT(savers); i++)
        pthread_join(savers[i].thread, NULL);
    CHECK(!*l->text, "somebody complained:\n%s", l->text);
    cache_file(folder, path, sizeof(path));
    CHECK(use_cache(folder, l) > 0, "what they left cannot be read");
    lines_free(l);
}

/* ------------------------------------------------------------------- threads */

static const struct tdl_context_params validated = {
    .validation = true, .cache_dir = "", .log = check_log};
static atomic_uint churning;

static void *churn(void *data)
{
    for (unsigned i = 0; i < 30; i++) {
        struct tdl_context *ctx;
        OK(tdl_context_create(&validated, &ctx));
        tdl_context_destroy(&ctx);
    }
    atomic_fetch_sub(&churning, 1);
    return data;
}

/* Devices come and go in threads, while another names what it has: the loader looks for the
 * device of each name among all. */
static void check_coming_and_going(void)
{
    const struct tdl_tensor_params params = {.dtype = TDL_FLOAT32,
                                             .rank = 1,
                                             .shape = {64},
                                             .usage = TDL_TENSOR_READABLE,
                                             .label = "named"};
    struct tdl_context *ctx;
    pthread_t threads[2];
    check_begin("devices that come and go");
    OK(tdl_context_create(&validated, &ctx));
    atomic_store(&churning, 2);
    for (unsigned i = 0; i < 2; i++)
        REQUIRE(!pthread_create(&threads[i], NULL, churn, NULL), "no thread");
    while (atomic_load(&churning)) {
        struct tdl_tensor *named;
        OK(tdl_tensor_create(ctx, &params, &named));
        tdl_tensor_destroy(&named);
    }
    for (unsigned i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    check_context_close(ctx);
}

int main(void)
{
    const char *tmp = getenv("TMPDIR");
    char command[400], mesa[1024];
    /* Mesa's own cache must not follow XDG_CACHE_HOME into our folders. */
    const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    snprintf(mesa, sizeof(mesa), "%s%s", xdg ? xdg : home ? home : "/tmp", xdg ? "" : "/.cache");
    setenv("MESA_SHADER_CACHE_DIR", mesa, 0);
    check_device();
    check_list();
    check_selection();
    check_errors();
    check_logging();
    check_points();
    check_references();
    check_coming_and_going();
    snprintf(cache_root, sizeof(cache_root), "%s/tdl-test-XXXXXX", tmp ? tmp : "/tmp");
    REQUIRE(mkdtemp(cache_root), "no temporary folder");
    check_cache();
    check_unwritable_cache();
    check_shared_cache();
    snprintf(command, sizeof(command), "rm -rf '%s'", cache_root);
    check_begin("%s", "");
    CHECK(system(command) == 0, "%s failed", command);
    return check_result();
}
