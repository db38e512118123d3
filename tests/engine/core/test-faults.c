/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Everything that can fail fails once: every allocation and every Vulkan call
 * that libtdl makes, one after the other. Each time the call that met it has
 * to say so or to do without, nothing may leak, and the next try has to work.
 * Then the device is lost in the middle, and all has to end without a hang.
 *
 * The linker puts this file between libtdl and libc and Vulkan (--wrap).
 */
#include "subject.h"

#include <tdl/vulkan.h>

#include <cpu/cpu.h>
#include <vulkan/context.h>

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

static uint64_t seed;

/* ------------------------------------------------------------------- faults */

static struct {
    bool armed;
    atomic_long countdown; /* calls until the one that fails */
    atomic_bool struck;
    bool lose_device; /* every submission fails with it */
} fault;

static bool fails(void)
{
    if (!fault.armed || atomic_fetch_sub(&fault.countdown, 1) != 0)
        return false;
    atomic_store(&fault.struck, true);
    return true;
}

static void arm(long countdown)
{
    atomic_store(&fault.countdown, countdown);
    atomic_store(&fault.struck, false);
    fault.armed = true;
}

/* ------------------------------------------------------------------- memory */

/* Blocks that libtdl has from malloc() and friends: a set of pointers. */
enum { SLOTS = 1 << 16 };
static void *held[SLOTS];
static long held_count;
static pthread_mutex_t held_lock = PTHREAD_MUTEX_INITIALIZER;

static void *keep(void *p)
{
    pthread_mutex_lock(&held_lock);
    size_t i = (uintptr_t)p / 16 % SLOTS;
    while (p && held[i])
        i = (i + 1) % SLOTS;
    if (p) {
        held[i] = p;
        held_count++;
    }
    REQUIRE(held_count < SLOTS / 2, "too many allocations for this test");
    pthread_mutex_unlock(&held_lock);
    return p;
}

static void forget(void *p)
{
    pthread_mutex_lock(&held_lock);
    size_t i = (uintptr_t)p / 16 % SLOTS;
    while (p && held[i] && held[i] != p)
        i = (i + 1) % SLOTS;
    if (p && held[i]) { /* others were allocated past the wrappers, as by strdup() */
        held_count--;
        held[i] = NULL;
        /* Later entries may have been moved there by a collision with this one. */
        for (size_t j = (i + 1) % SLOTS; held[j]; j = (j + 1) % SLOTS) {
            void *moved = held[j];
            size_t k = (uintptr_t)moved / 16 % SLOTS;
            held[j] = NULL;
            while (held[k])
                k = (k + 1) % SLOTS;
            held[k] = moved;
        }
    }
    pthread_mutex_unlock(&held_lock);
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *p, size_t size);
void __real_free(void *p);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *p, size_t size);
void __wrap_free(void *p);
void *__real_aligned_alloc(size_t alignment, size_t size);
int __real_posix_memalign(void **out, size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
int __wrap_posix_memalign(void **out, size_t alignment, size_t size);

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : keep(__real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : keep(__real_calloc(count, size));
}

void *__wrap_realloc(void *p, size_t size)
{
    if (fails())
        return NULL;
    forget(p);
    return keep(__real_realloc(p, size));
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return fails() ? NULL : keep(__real_aligned_alloc(alignment, size));
}

int __wrap_posix_memalign(void **out, size_t alignment, size_t size)
{
    const int error = fails() ? ENOMEM : __real_posix_memalign(out, alignment, size);
    if (!error)
        keep(*out);
    return error;
}

void __wrap_free(void *p)
{
    forget(p);
    __real_free(p);
}

/* ------------------------------------------------------------------- Vulkan */

static atomic_long objects; /* Vulkan objects created and not destroyed */

#define ARGS(...) __VA_ARGS__
/* A call that may fail; `made` objects come from it. */
#define WRAP(name, made, params, args)                                                             \
    VkResult __real_##name params;                                                                 \
    VkResult __wrap_##name params;                                                                 \
    VkResult __wrap_##name params                                                                  \
    {                                                                                              \
        VkResult r = fails() ? VK_ERROR_OUT_OF_DEVICE_MEMORY : __real_##name args;                 \
        if (r >= 0)                                                                                \
            atomic_fetch_add(&objects, made);                                                      \
        return r;                                                                                  \
    }
#define CREATE(type, info)                                                                         \
    WRAP(vkCreate##type, 1,                                                                        \
         (VkDevice d, const info *i, const VkAllocationCallbacks *a, Vk##type *o), (d, i, a, o))
#define DESTROY(name, type)                                                                        \
    void __real_##name(VkDevice d, type o, const VkAllocationCallbacks *a);                        \
    void __wrap_##name(VkDevice d, type o, const VkAllocationCallbacks *a);                        \
    void __wrap_##name(VkDevice d, type o, const VkAllocationCallbacks *a)                         \
    {                                                                                              \
        if (o)                                                                                     \
            atomic_fetch_sub(&objects, 1);                                                         \
        __real_##name(d, o, a);                                                                    \
    }

CREATE(Buffer, VkBufferCreateInfo)
CREATE(CommandPool, VkCommandPoolCreateInfo)
CREATE(DescriptorPool, VkDescriptorPoolCreateInfo)
CREATE(DescriptorSetLayout, VkDescriptorSetLayoutCreateInfo)
CREATE(PipelineLayout, VkPipelineLayoutCreateInfo)
CREATE(PipelineCache, VkPipelineCacheCreateInfo)
CREATE(QueryPool, VkQueryPoolCreateInfo)
CREATE(Semaphore, VkSemaphoreCreateInfo)
CREATE(ShaderModule, VkShaderModuleCreateInfo)
WRAP(vkAllocateMemory, 1,
     (VkDevice d, const VkMemoryAllocateInfo *i, const VkAllocationCallbacks *a, VkDeviceMemory *o),
     (d, i, a, o))
WRAP(vkCreateComputePipelines, 1,
     (VkDevice d, VkPipelineCache c, uint32_t n, const VkComputePipelineCreateInfo *i,
      const VkAllocationCallbacks *a, VkPipeline *o),
     (d, c, n, i, a, o))
WRAP(vkCreateInstance, 1,
     (const VkInstanceCreateInfo *i, const VkAllocationCallbacks *a, VkInstance *o), (i, a, o))
WRAP(vkCreateDevice, 1,
     (VkPhysicalDevice p, const VkDeviceCreateInfo *i, const VkAllocationCallbacks *a, VkDevice *o),
     (p, i, a, o))
WRAP(vkEnumeratePhysicalDevices, 0, (VkInstance i, uint32_t *n, VkPhysicalDevice *o), (i, n, o))
WRAP(vkAllocateCommandBuffers, 0,
     (VkDevice d, const VkCommandBufferAllocateInfo *i, VkCommandBuffer *o), (d, i, o))
WRAP(vkAllocateDescriptorSets, 0,
     (VkDevice d, const VkDescriptorSetAllocateInfo *i, VkDescriptorSet *o), (d, i, o))
WRAP(vkBindBufferMemory, 0, (VkDevice d, VkBuffer b, VkDeviceMemory m, VkDeviceSize o),
     (d, b, m, o))
WRAP(vkMapMemory, 0,
     (VkDevice d, VkDeviceMemory m, VkDeviceSize o, VkDeviceSize s, VkMemoryMapFlags f, void **p),
     (d, m, o, s, f, p))
WRAP(vkBeginCommandBuffer, 0, (VkCommandBuffer c, const VkCommandBufferBeginInfo *i), (c, i))
WRAP(vkEndCommandBuffer, 0, (VkCommandBuffer c), (c))
WRAP(vkResetCommandPool, 0, (VkDevice d, VkCommandPool p, VkCommandPoolResetFlags f), (d, p, f))
WRAP(vkGetPipelineCacheData, 0, (VkDevice d, VkPipelineCache c, size_t *n, void *o), (d, c, n, o))
WRAP(vkGetQueryPoolResults, 0,
     (VkDevice d, VkQueryPool p, uint32_t first, uint32_t n, size_t size, void *o,
      VkDeviceSize stride, VkQueryResultFlags f),
     (d, p, first, n, size, o, stride, f))
DESTROY(vkDestroyBuffer, VkBuffer)
DESTROY(vkDestroyCommandPool, VkCommandPool)
DESTROY(vkDestroyDescriptorPool, VkDescriptorPool)
DESTROY(vkDestroyDescriptorSetLayout, VkDescriptorSetLayout)
DESTROY(vkDestroyPipelineLayout, VkPipelineLayout)
DESTROY(vkDestroyPipelineCache, VkPipelineCache)
DESTROY(vkDestroyPipeline, VkPipeline)
DESTROY(vkDestroyQueryPool, VkQueryPool)
DESTROY(vkDestroySemaphore, VkSemaphore)
DESTROY(vkDestroyShaderModule, VkShaderModule)
DESTROY(vkFreeMemory, VkDeviceMemory)

VkResult __real_vkQueueSubmit(VkQueue q, uint32_t n, const VkSubmitInfo *i, VkFence f);
VkResult __wrap_vkQueueSubmit(VkQueue q, uint32_t n, const VkSubmitInfo *i, VkFence f);
VkResult __wrap_vkQueueSubmit(VkQueue q, uint32_t n, const VkSubmitInfo *i, VkFence f)
{
    if (fault.lose_device)
        return VK_ERROR_DEVICE_LOST;
    return fails() ? VK_ERROR_OUT_OF_DEVICE_MEMORY : __real_vkQueueSubmit(q, n, i, f);
}

void __real_vkDestroyDevice(VkDevice d, const VkAllocationCallbacks *a);
void __wrap_vkDestroyDevice(VkDevice d, const VkAllocationCallbacks *a);
void __wrap_vkDestroyDevice(VkDevice d, const VkAllocationCallbacks *a)
{
    atomic_fetch_sub(&objects, 1);
    __real_vkDestroyDevice(d, a);
}

void __real_vkDestroyInstance(VkInstance i, const VkAllocationCallbacks *a);
void __wrap_vkDestroyInstance(VkInstance i, const VkAllocationCallbacks *a);
void __wrap_vkDestroyInstance(VkInstance i, const VkAllocationCallbacks *a)
{
    atomic_fetch_sub(&objects, 1);
    __real_vkDestroyInstance(i, a);
}

/* ---------------------------------------------------------------- scenarios */

static struct tdl_context *ctx;

static enum tdl_result make_context(void)
{
    struct tdl_context *own = NULL;
    enum tdl_result r = tdl_context_create(&(struct tdl_context_params){.cache_dir = ""}, &own);
    if (r == TDL_OK) {
        struct tdl_device_info infos[4];
        uint32_t count;
        r = tdl_device_list(infos, 4, &count);
    }
    tdl_context_destroy(&own);
    return r;
}

enum { SIDE = 6, CHANNELS = 4, VALUES = SIDE * SIDE * CHANNELS };

/* A bottleneck with a gate: relu(x · w) · mean(…) + x, of all kinds of passes. */
static struct tdl_operand *describe(struct tdl_builder *b)
{
    static const float filter[CHANNELS * CHANNELS] = {1, 0, 0, 0, 0, 1, 0, 0,
                                                      0, 0, 1, 0, 0, 0, 0, 1};
    static const float bias[CHANNELS] = {0.5f, 0.5f, 0.5f, 0.5f};
    const struct tdl_tensor_params image = {
        .dtype = TDL_FLOAT32, .rank = 4, .shape = {1, SIDE, SIDE, CHANNELS}};
    tdl_builder_set_input_layout(b, TDL_LAYOUT_NHWC);
    struct tdl_operand *x = tdl_builder_input(b, "x", &image);
    struct tdl_operand *w = tdl_builder_constant(
        b,
        &(struct tdl_tensor_params){
            .dtype = TDL_FLOAT32, .rank = 4, .shape = {CHANNELS, 1, 1, CHANNELS}},
        filter, sizeof(filter));
    struct tdl_operand *c = tdl_builder_constant(
        b, &(struct tdl_tensor_params){.dtype = TDL_FLOAT32, .rank = 1, .shape = {CHANNELS}}, bias,
        sizeof(bias));
    struct tdl_operand *y =
        tdl_builder_conv2d(b, x, w, &(struct tdl_conv2d_params){.bias = c});
    y = tdl_builder_activation(b, y, TDL_ACTIVATION_RELU);
    struct tdl_operand *gate = tdl_builder_global_average_pool(b, y);
    gate = tdl_builder_conv2d(b, gate, w, &(struct tdl_conv2d_params){.bias = c});
    return tdl_builder_add(b, tdl_builder_mul(b, y, gate), x);
}

static enum tdl_result build(struct tdl_graph **out_graph)
{
    struct tdl_builder *b = NULL;
    enum tdl_result r = tdl_builder_create(ctx, &b);
    *out_graph = NULL;
    if (r == TDL_OK)
        r = tdl_builder_output(b, "y", describe(b));
    if (r == TDL_OK)
        r = tdl_builder_build(b, NULL, out_graph);
    tdl_builder_destroy(&b);
    return r;
}

struct told {
    sem_t here;
    enum tdl_result result;
    atomic_uint calls;
};

static void tell(void *data, enum tdl_result result)
{
    struct told *t = data;
    t->result = result;
    atomic_fetch_add(&t->calls, 1);
    sem_post(&t->here);
}

static void tell_lost(void *data, const char *why)
{
    CHECK(strstr(why, "fails") || strstr(why, "DEVICE_LOST"), "lost, because: \"%s\"", why);
    tell(data, TDL_ERROR_DEVICE_LOST);
}

/* Without waiting here, but for being told. */
static enum tdl_result read_async(struct tdl_tensor *t, void *out_data, size_t size)
{
    struct told told = {.calls = 0};
    sem_init(&told.here, 0, 0);
    enum tdl_result r = tdl_tensor_read_async(t, out_data, size, tell, &told, NULL);
    if (r == TDL_OK) {
        sem_wait(&told.here);
        r = told.result;
        if (r != TDL_OK) /* the error text belongs to the other thread */
            tdl_fail(r, "told so");
    }
    sem_destroy(&told.here);
    return r;
}

/* x is 1 everywhere: 1.5 · (1.5 + 0.5) + 1. */
static enum tdl_result compute(struct tdl_graph *g, bool profile)
{
    struct tdl_tensor *x = NULL, *y = NULL;
    struct tdl_tensor_params p = *tdl_graph_input(g, 0, NULL);
    float values[VALUES];
    enum tdl_result r;
    p.usage = TDL_TENSOR_READABLE | TDL_TENSOR_WRITABLE;
    for (int i = 0; i < VALUES; i++)
        values[i] = 1;
    r = tdl_tensor_create(ctx, &p, &x);
    if (r == TDL_OK)
        r = tdl_tensor_create(ctx, &p, &y);
    if (r == TDL_OK)
        r = tdl_tensor_write(x, values, sizeof(values), NULL);
    const struct tdl_binding in = {"x", x}, out = {"y", y};
    if (r == TDL_OK)
        r = tdl_graph_dispatch(g, &in, 1, &out, 1, NULL);
    if (r == TDL_OK && profile && tdl_context_device(ctx)->timestamps)
        r = tdl_graph_profile(g, &in, 1, &out, 1);
    if (r == TDL_OK)
        r = tdl_tensor_read(y, values, sizeof(values));
    if (r == TDL_OK)
        r = read_async(y, values, sizeof(values));
    for (int i = 0; i < VALUES && r == TDL_OK; i++)
        CHECK(values[i] == 4, "value %d is %g instead of 4", i, (double)values[i]);
    tdl_tensor_destroy(&x);
    tdl_tensor_destroy(&y);
    return r;
}

static enum tdl_result run_graph(void)
{
    struct tdl_graph *g;
    enum tdl_result r = build(&g);
    if (r == TDL_OK)
        r = compute(g, true);
    tdl_graph_destroy(&g);
    return r;
}

/* A tensor rented out by fd, used on the other side, and given back. */
static enum tdl_result run_rental(void)
{
    const struct tdl_tensor_params params = {
        .dtype = TDL_FLOAT32, .rank = 1, .shape = {VALUES},
        .usage = TDL_TENSOR_EXPORTABLE | TDL_TENSOR_READABLE};
    struct tdl_rental rental = {.memory_fd = -1, .semaphore_fd = -1}, back;
    struct tdl_tensor *ours = NULL, *theirs = NULL;
    float values[VALUES];
    enum tdl_result r;
    TRY(tdl_tensor_create(ctx, &params, &ours));
    TRY(tdl_tensor_rent(ours, TDL_HANDLE_OPAQUE_FD, &rental));
    TRY(tdl_tensor_import(ctx, &params, &rental, &theirs));
    TRY(tdl_tensor_read(theirs, values, sizeof(values)));
    TRY(tdl_tensor_rent(theirs, TDL_HANDLE_KNOWN, &back));
    TRY(tdl_tensor_return(ours, &back));
    TRY(tdl_tensor_read(ours, values, sizeof(values)));
fail:
    if (rental.memory_fd >= 0)
        close(rental.memory_fd);
    if (rental.semaphore_fd >= 0)
        close(rental.semaphore_fd);
    tdl_tensor_destroy(&ours);
    tdl_tensor_destroy(&theirs);
    return r;
}

static int modes[2] = {TDL_MODE_MASK, TDL_MODE_PASSTHROUGH}; /* first and last */

/* A frame through picture, tensor and composition, in these modes. */
static enum tdl_result run_frame(void)
{
    struct tdl_frame source = {0}, target = {0}, picture = {0};
    struct tdl_buffer *in = NULL, *out = NULL, *behind = NULL;
    struct tdl_batch *batch = NULL;
    struct tdl_composer *composer = NULL;
    struct tdl_tensor *input = NULL, *mask = NULL;
    struct tdl_tensor_params p = {
        .dtype = TDL_FLOAT32, .rank = 4, .shape = {1, 8, 8, 3}, .packing = TDL_PACKING_C4};
    struct tdl_compose_params params = {.blur_radius = 8, .threshold = 0.5f, .feather = 0.1f,
                                        .refine = true, .background = &picture};
    size_t size = tdl_frame_layout(&source, TDL_FORMAT_RGBA, 32, 24, 4);
    enum tdl_result r = tdl_buffer_create(ctx, size, TDL_BUFFER_UPLOAD, &in);
    tdl_frame_layout(&picture, TDL_FORMAT_NV12, 16, 16, 4);
    if (r == TDL_OK)
        r = tdl_buffer_create(ctx, size, TDL_BUFFER_READBACK, &out);
    if (r == TDL_OK)
        r = tdl_buffer_create(ctx, size, TDL_BUFFER_UPLOAD, &behind);
    if (r == TDL_OK)
        r = tdl_tensor_create(ctx, &p, &input);
    p.shape[3] = 1;
    p.packing = TDL_PACKING_NONE;
    if (r == TDL_OK)
        r = tdl_tensor_create(ctx, &p, &mask);
    if (r == TDL_OK)
        r = tdl_batch_create(ctx, &batch);
    if (r == TDL_OK)
        r = tdl_composer_create(ctx, &composer);
    source.planes[0].buffer = in;
    picture.planes[0].buffer = picture.planes[1].buffer = behind;
    for (int mode = modes[0]; mode <= modes[1] && r == TDL_OK; mode++) {
        params.mode = (enum tdl_mode)mode;
        tdl_frame_layout(&target, mode == TDL_MODE_MASK ? TDL_FORMAT_GRAY8 : TDL_FORMAT_RGBA, 32,
                         24, 4);
        target.planes[0].buffer = out;
        r = tdl_batch_begin(batch);
        if (r == TDL_OK)
            r = tdl_batch_stage(batch, PREPROCESS);
        if (r == TDL_OK)
            r = tdl_frame_to_tensor(batch, &source, input, NULL);
        if (r == TDL_OK)
            r = tdl_batch_stage(batch, COMPOSE);
        if (r == TDL_OK)
            r = tdl_compose(batch, composer, &source, mask, &target, &params);
        if (r == TDL_OK)
            r = tdl_batch_submit(batch, NULL);
        else
            tdl_batch_cancel(batch);
    }
    if (r == TDL_OK)
        r = tdl_buffer_wait(out, false);
    tdl_composer_destroy(&composer);
    tdl_batch_destroy(&batch);
    tdl_tensor_destroy(&input);
    tdl_tensor_destroy(&mask);
    tdl_buffer_destroy(&in);
    tdl_buffer_destroy(&out);
    tdl_buffer_destroy(&behind);
    return r;
}

/* With what a context makes only once: pipelines and idle batches. */
static enum tdl_result run_afresh(void)
{
    enum tdl_result r = tdl_context_create(&(struct tdl_context_params){.cache_dir = ""}, &ctx);
    if (r == TDL_OK)
        r = run_graph();
    if (r == TDL_OK)
        r = run_frame();
    tdl_context_destroy(&ctx);
    return r;
}

struct level {
    long memory, objects;
};

static struct level level_now(void)
{
    uint32_t devices;
    tdl_device_list(NULL, 0, &devices); /* the instance is kept, unless making it has just failed */
    return (struct level){held_count, atomic_load(&objects)};
}

/* How many calls the scenario makes that may fail. */
static long count_calls(enum tdl_result (*scenario)(void))
{
    arm(LONG_MAX);
    OK(scenario());
    fault.armed = false;
    return LONG_MAX - atomic_load(&fault.countdown);
}

/* Fail every nth call of the scenario in turn, from another one on in every run; nearer ones
 * where that would be a few. */
static void fail_everywhere(const char *name, enum tdl_result (*scenario)(void), uint64_t nth)
{
    enum { FEWEST = 16 };
    long step = (long)check_stride(nth), start, calls, failures = 0, tried = 0;
    check_begin("%s", name);
    OK(scenario()); /* whatever is made only once */
    calls = count_calls(scenario);
    if (step > calls / FEWEST)
        step = calls < FEWEST ? 1 : calls / FEWEST;
    start = (long)(seed % (uint64_t)step);
    for (long n = start;; n += step) {
        check_begin("%s, failure of call %ld", name, n);
        arm(n);
        enum tdl_result r = scenario();
        fault.armed = false;
        if (!atomic_load(&fault.struck)) {
            CHECK(r == TDL_OK, "nothing failed, but: %s", tdl_last_error());
            break;
        }
        tried++;
        failures += r != TDL_OK;
        if (r != TDL_OK)
            CHECK(*tdl_last_error() && (r == TDL_ERROR_OUT_OF_MEMORY || !ctx), "%d: \"%s\"", r,
                  tdl_last_error());
        /* The context is none the worse for it. */
        check_begin("%s, after the failure of call %ld", name, n);
        OK(scenario());
        if (ctx)
            OK(tdl_context_sync(ctx));
    }
    check_begin("%s", name);
    /* Some are made up for: half at most and one, of which a sample may have hit more. */
    CHECK((step == 1 ? 2 : 4) * failures + 1 >= tried, "%ld of %ld failures were noticed", failures,
          tried);
    printf("%s: %ld of %ld calls failed in turn, %ld times with an error\n", name, tried, calls,
           failures);
}

/* Contexts come and go whole: nothing at all may stay. */
static void test_context(void)
{
    struct level before = level_now(), after;
    fail_everywhere("context", make_context, 1);
    /* Each round compiles all kernels, so a run tries one mode, others in other runs. */
    const int all[2] = {modes[0], modes[1]};
    if (check_stride(2) > 1)
        modes[0] = modes[1] = all[0] + (int)(seed % (uint64_t)(all[1] - all[0] + 1));
    fail_everywhere("everything", run_afresh, 47);
    memcpy(modes, all, sizeof(modes));
    after = level_now();
    CHECK(after.memory == before.memory, "%ld allocations leaked", after.memory - before.memory);
    CHECK(after.objects == before.objects, "%ld Vulkan objects leaked",
          after.objects - before.objects);
}

static void open_context(void)
{
    /* Not under validation: the layer has tables of its own. */
    OK(tdl_context_create(&(struct tdl_context_params){.cache_dir = ""}, &ctx));
}

static void test_work(void)
{
    struct level before = level_now(), after;
    open_context();
    fail_everywhere("graph", run_graph, 1);
    fail_everywhere("frame", run_frame, 1);
    if (tdl_context_device(ctx)->external_memory_fd) {
        int first = dup(0), last; /* the lowest that is free */
        close(first);
        fail_everywhere("rental", run_rental, 1);
        last = dup(0);
        close(last);
        CHECK(first == last, "fds leaked: the lowest free one is %d, it was %d", last, first);
    }
    tdl_context_destroy(&ctx);
    after = level_now();
    check_begin("graph and frame");
    CHECK(after.memory == before.memory, "%ld allocations leaked", after.memory - before.memory);
    CHECK(after.objects == before.objects, "%ld Vulkan objects leaked",
          after.objects - before.objects);
}

/* On the CPU a piece of work that fails takes the device with it. */
static enum tdl_result give_up(struct tdl_cpu_work *work, struct tdl_cpu_threads *threads)
{
    (void)work, (void)threads;
    return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "a piece of work that fails");
}

/* Fails every submission from now on. */
static void lose_device(void)
{
    struct tdl_batch *batch;
    fault.lose_device = true;
    if (subject_has_kernels(ctx))
        return;
    OK(tdl_batch_create(ctx, &batch));
    OK(tdl_batch_begin(batch));
    CHECK(tdl_cpu_batch_add(batch, sizeof(struct tdl_cpu_work), give_up), "no work");
    OK(tdl_batch_submit(batch, NULL));
    FAILS(tdl_context_sync(ctx), TDL_ERROR_DEVICE_LOST, "was lost");
    tdl_batch_destroy(&batch);
}

static void test_lost_device(void)
{
    struct level before = level_now(), after;
    struct told lost = {.calls = 0};
    struct tdl_graph *g, *other;
    check_begin("lost device");
    open_context();
    sem_init(&lost.here, 0, 0);
    OK(tdl_context_on_lost(ctx, tell_lost, &lost));
    OK(build(&g));
    OK(compute(g, false));
    lose_device();
    FAILS(compute(g, false), TDL_ERROR_DEVICE_LOST, "");
    sem_wait(&lost.here);
    fault.lose_device = false; /* the device stays lost */
    FAILS(compute(g, true), TDL_ERROR_DEVICE_LOST, "was lost");
    FAILS(build(&other), TDL_ERROR_DEVICE_LOST, "was lost");
    FAILS(run_frame(), TDL_ERROR_DEVICE_LOST, "was lost");
    FAILS(tdl_context_sync(ctx), TDL_ERROR_DEVICE_LOST, "was lost");
    tdl_graph_destroy(&g);
    tdl_context_destroy(&ctx);
    CHECK(lost.calls == 1, "told %u times that the device is lost", lost.calls);
    sem_destroy(&lost.here);
    after = level_now();
    CHECK(after.memory == before.memory, "%ld allocations leaked", after.memory - before.memory);
    CHECK(after.objects == before.objects, "%ld Vulkan objects leaked",
          after.objects - before.objects);
}

int main(int argc, char **argv)
{
    seed = check_seed(argc, argv, 1);
    check_context_close(check_context_open()); /* skips without a device */
    alarm(500); /* a hang is a failure, too */
    test_context();
    test_work();
    test_lost_device();
    return check_result();
}
