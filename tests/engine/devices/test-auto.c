/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which devices "auto" measures, with lists of devices that are not there, and what is kept of
 * a measurement, and until when. */
#include "check.h"

#include <devices/auto.h>

#include <dirent.h>
#include <unistd.h>

static char folder[] = "/tmp/tdl-auto-XXXXXX";

static struct tdl_device_info device(enum tdl_device_type type, bool usable)
{
    return (struct tdl_device_info){.name = "a device", .type = type, .usable = usable};
}

static void check_choice(void)
{
    enum { D = TDL_DEVICE_DISCRETE_GPU, I = TDL_DEVICE_INTEGRATED_GPU, S = TDL_DEVICE_SOFTWARE,
           V = TDL_DEVICE_VIRTUAL_GPU, O = TDL_DEVICE_OTHER, C = TDL_DEVICE_CPU };
    static const struct {
        const char *name;
        int types[3]; /* negative: it cannot be used */
        bool slow, measures;
        uint32_t index;
    } rows[] = {
        {"a card", {D, C, C}, .measures = false},
        {"a card beside the processor's", {I, D, C}, .measures = false},
        {"a card that cannot be used", {-D, I, C}, .measures = true, .index = 1},
        {"the processor's GPU", {I, C, C}, .measures = true, .index = 0},
        {"one behind software", {S, I, C}, .measures = true, .index = 1},
        {"a virtual machine's", {V, S, C}, .measures = true, .index = 0},
        {"one of no known kind", {S, -I, -V}, .measures = false},
        {"one that cannot be used", {-I, C, C}, .measures = false},
        {"software", {S, C, C}, .measures = false},
        {"software, beside a CPU without its loops", {C, S, C}, true, true, 1},
        {"the CPU", {C, C, C}, true, false, 0},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct tdl_device_info infos[3];
        uint32_t index = 9;
        check_begin("%s", rows[i].name);
        for (int k = 0; k < 3; k++)
            infos[k] = device((enum tdl_device_type)abs(rows[i].types[k]), rows[i].types[k] >= 0);
        CHECK(tdl_auto_choose(infos, 3, !rows[i].slow, &index) == rows[i].measures,
              "it is measured, or not, and should not be so");
        CHECK(!rows[i].measures || index == rows[i].index, "device %u", index);
    }
    check_begin("the other kind");
    struct tdl_device_info other = device((enum tdl_device_type)O, true);
    uint32_t index = 9;
    CHECK(tdl_auto_choose(&other, 1, true, &index) && index == 0, "it is not measured");
    check_begin("no device");
    CHECK(!tdl_auto_choose(NULL, 0, false, &index), "one of none");
}

static void check_faster(void)
{
    check_begin("the faster one");
    CHECK(tdl_auto_prefers_cpu(100, 50), "the CPU takes half, and is not taken");
    CHECK(!tdl_auto_prefers_cpu(50, 100), "the CPU takes twice as long, and is taken");
    CHECK(!tdl_auto_prefers_cpu(100, 95), "the CPU is taken for 5 percent");
    CHECK(tdl_auto_prefers_cpu(100, 89), "the CPU is not taken for 11 percent");
}

/* What was measured is no more of use when one of these has changed. */
static void check_path(void)
{
    struct tdl_device_info gpu = device(TDL_DEVICE_INTEGRATED_GPU, true),
                           cpu = device(TDL_DEVICE_CPU, true), other;
    char first[256], path[256];
    check_begin("the name of the file");
    REQUIRE(tdl_auto_path("/x", &gpu, &cpu, 0, first, sizeof(first)), "none");
    CHECK(!strncmp(first, "/x/auto-", 8), "%s", first);
    REQUIRE(tdl_auto_path("/x", &gpu, &cpu, 0, path, sizeof(path)), "none");
    CHECK(!strcmp(first, path), "%s, then %s", first, path);
#define CHANGES(what, target, change)                                                             \
    do {                                                                                          \
        other = target;                                                                           \
        change;                                                                                   \
        REQUIRE(tdl_auto_path("/x", &target == &gpu ? &other : &gpu,                              \
                              &target == &cpu ? &other : &cpu, 0, path, sizeof(path)), "none");   \
        CHECK(strcmp(first, path), "another " what " has the same file");                         \
    } while (0)
    CHANGES("GPU", gpu, other.uuid[3] = 1);
    CHANGES("driver", gpu, strcpy(other.driver, "2"));
    CHANGES("model of GPU", gpu, other.device_id = 1);
    CHANGES("processor", cpu, strcpy(other.name, "another"));
    CHANGES("set of loops", cpu, strcpy(other.driver, "avx2"));
#undef CHANGES
    REQUIRE(tdl_auto_path("/x", &gpu, &cpu, 4, path, sizeof(path)), "none");
    CHECK(strcmp(first, path), "another number of threads has the same file");
    CHECK(!tdl_auto_path("/x", &gpu, &cpu, 0, path, 10), "a name of 10 bytes");
}

static void damage(void)
{
    DIR *dir = opendir(folder);
    char path[400];
    for (struct dirent *e; dir && (e = readdir(dir));)
        if (!strncmp(e->d_name, "auto-", 5)) {
            snprintf(path, sizeof(path), "%s/%.200s", folder, e->d_name);
            FILE *f = fopen(path, "r+b");
            REQUIRE(f && !fseek(f, 30, SEEK_SET) && fputc('~', f) == '~' && !fclose(f), "%s", path);
        }
    closedir(dir);
}

static struct tdl_auto find(const char *model, uint32_t threads)
{
    struct tdl_auto a;
    OK(tdl_auto_find(&(struct tdl_auto_params){.model = model, .threads = threads,
                                               .cache_dir = folder}, &a));
    return a;
}

/* On a device that is to be measured: a pretended one. */
static void check_keeping(void)
{
    const struct tdl_auto_params params = {.model = "a model", .cache_dir = folder};
    struct tdl_auto a = find("a model", 0);
    check_begin("what is kept");
    if (!a.measures) {
        printf("not run: nothing is measured on this machine's devices\n");
        OK(tdl_auto_keep(&params, 7, 5));
        CHECK(find("a model", 0).gpu_ns == 0, "something was kept");
        return;
    }
    CHECK(strlen(a.device) == 2 * TDL_UUID_SIZE && *a.name && !a.gpu_ns && !a.cpu_ns,
          "\"%s\", %s: %llu, %llu", a.device, a.name, (unsigned long long)a.gpu_ns,
          (unsigned long long)a.cpu_ns);
    OK(tdl_auto_keep(&params, 7000000000000, 5));
    a = find("a model", 0);
    CHECK(a.gpu_ns == 7000000000000 && a.cpu_ns == 5, "%llu, %llu", (unsigned long long)a.gpu_ns,
          (unsigned long long)a.cpu_ns);
    CHECK(!find("another", 0).gpu_ns && !find("a model", 3).gpu_ns, "another model has its times");
    OK(tdl_auto_keep(&(struct tdl_auto_params){.model = "another", .cache_dir = folder}, 1, 2));
    CHECK(find("a model", 0).gpu_ns == 7000000000000 && find("another", 0).cpu_ns == 2,
          "one took the other's place");
    damage();
    CHECK(!find("a model", 0).gpu_ns, "a damaged file was read");
    OK(tdl_auto_keep(&params, 3, 4));
    CHECK(find("a model", 0).gpu_ns == 3, "it was not written anew");
    setenv("TDL_DEVICE", "cpu", 1);
    CHECK(!find("a model", 0).measures, "what TDL_DEVICE says is measured");
    unsetenv("TDL_DEVICE");
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

int main(void)
{
    REQUIRE(mkdtemp(folder), "cannot make a folder");
    atexit(remove_folder);
    unsetenv("TDL_DEVICE");
    check_choice();
    check_faster();
    check_path();
    check_keeping();
    return check_result();
}
