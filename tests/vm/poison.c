/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Preloaded into a pipeline's process: whoever maps a frame for the CPU gets
 * memory that kills on the first touch.
 *
 * A frame is a dma-buf, mapped by mmap() from its file, or memory that the
 * Vulkan driver has imported or can export as one, mapped by vkMapMemory().
 * The software Vulkan driver's own mmap() is let through: there the CPU plays
 * the GPU. At exit the counts go to stderr; DMA_BUF_IOCTL_SYNC, which goes with
 * reading or writing a dma-buf by the CPU, is counted as well.
 */
#define _GNU_SOURCE /* RTLD_NEXT, dladdr(), mmap64() */
#include <dlfcn.h>
#include <execinfo.h>
#include <linux/dma-buf.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <vulkan/vulkan_core.h>

static atomic_int driver_maps, cpu_maps, vulkan_maps, syncs;

static int is_dma_buf(int fd)
{
    char link[64], target[64] = "";

    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    return fd >= 0 && readlink(link, target, sizeof(target) - 1) > 0 && strstr(target, "dmabuf");
}

static int is_driver(const void *caller)
{
    Dl_info info;

    return dladdr(caller, &info) && info.dli_fname && strstr(info.dli_fname, "libvulkan_lvp");
}

static void *map(void *address, size_t size, int access, int flags, int fd, off_t offset,
                 const void *caller)
{
    static void *(*next)(void *, size_t, int, int, int, off_t);

    if (!next)
        next = (void *(*)(void *, size_t, int, int, int, off_t))dlsym(RTLD_NEXT, "mmap");
    if (!(flags & MAP_ANONYMOUS) && is_dma_buf(fd)) {
        int driver = is_driver(caller);

        atomic_fetch_add(driver ? &driver_maps : &cpu_maps, 1);
        if (getenv("POISON_TRACE"))
            backtrace_symbols_fd(&(void *){(void *)caller}, 1, STDERR_FILENO);
        if (!driver)
            access = PROT_NONE;
    }
    return next(address, size, access, flags, fd, offset);
}

void *mmap(void *address, size_t size, int access, int flags, int fd, off_t offset);
void *mmap(void *address, size_t size, int access, int flags, int fd, off_t offset)
{
    return map(address, size, access, flags, fd, offset, __builtin_return_address(0));
}

void *mmap64(void *address, size_t size, int access, int flags, int fd, off_t offset);
void *mmap64(void *address, size_t size, int access, int flags, int fd, off_t offset)
{
    return map(address, size, access, flags, fd, offset, __builtin_return_address(0));
}

int ioctl(int fd, unsigned long request, ...)
{
    static int (*next)(int, unsigned long, ...);
    va_list args;

    va_start(args, request);
    void *argument = va_arg(args, void *);
    va_end(args);
    if (!next)
        next = (int (*)(int, unsigned long, ...))dlsym(RTLD_NEXT, "ioctl");
    if (request == DMA_BUF_IOCTL_SYNC)
        atomic_fetch_add(&syncs, 1);
    return next(fd, request, argument);
}

/* ---- Vulkan: which memory is a frame's ---- */

#define MOST 256
static struct poisoned {
    VkDeviceMemory memory;
    void *map;
    size_t size;
} poisoned[MOST];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct poisoned *find(VkDeviceMemory memory)
{
    for (int i = 0; i < MOST; i++)
        if (poisoned[i].memory == memory)
            return &poisoned[i];
    return NULL;
}

static int is_frame(const VkMemoryAllocateInfo *info)
{
    for (const VkBaseInStructure *s = info->pNext; s; s = s->pNext) {
        if (s->sType == VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR)
            return 1;
        if (s->sType == VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO &&
            (((const VkExportMemoryAllocateInfo *)s)->handleTypes &
             VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT))
            return 1;
    }
    return 0;
}

VKAPI_ATTR VkResult VKAPI_CALL vkAllocateMemory(VkDevice device, const VkMemoryAllocateInfo *info,
                                                const VkAllocationCallbacks *callbacks,
                                                VkDeviceMemory *out_memory);
VKAPI_ATTR VkResult VKAPI_CALL vkAllocateMemory(VkDevice device, const VkMemoryAllocateInfo *info,
                                                const VkAllocationCallbacks *callbacks,
                                                VkDeviceMemory *out_memory)
{
    PFN_vkAllocateMemory next = (PFN_vkAllocateMemory)dlsym(RTLD_NEXT, "vkAllocateMemory");
    VkResult result = next(device, info, callbacks, out_memory);

    if (result == VK_SUCCESS && is_frame(info)) {
        pthread_mutex_lock(&lock);
        struct poisoned *free_one = find(VK_NULL_HANDLE);
        if (free_one)
            *free_one = (struct poisoned){ .memory = *out_memory, .size = info->allocationSize };
        pthread_mutex_unlock(&lock);
        if (!free_one) {
            fprintf(stderr, "poison: too many frames\n");
            abort();
        }
    }
    return result;
}

VKAPI_ATTR void VKAPI_CALL vkFreeMemory(VkDevice device, VkDeviceMemory memory,
                                        const VkAllocationCallbacks *callbacks);
VKAPI_ATTR void VKAPI_CALL vkFreeMemory(VkDevice device, VkDeviceMemory memory,
                                        const VkAllocationCallbacks *callbacks)
{
    PFN_vkFreeMemory next = (PFN_vkFreeMemory)dlsym(RTLD_NEXT, "vkFreeMemory");

    if (memory) {
        pthread_mutex_lock(&lock);
        struct poisoned *one = find(memory);
        if (one && one->map)
            munmap(one->map, one->size);
        if (one)
            *one = (struct poisoned){ 0 };
        pthread_mutex_unlock(&lock);
    }
    next(device, memory, callbacks);
}

/* The real map is made, too, so that an unmap finds it. */
VKAPI_ATTR VkResult VKAPI_CALL vkMapMemory(VkDevice device, VkDeviceMemory memory,
                                           VkDeviceSize offset, VkDeviceSize size,
                                           VkMemoryMapFlags flags, void **out_data);
VKAPI_ATTR VkResult VKAPI_CALL vkMapMemory(VkDevice device, VkDeviceMemory memory,
                                           VkDeviceSize offset, VkDeviceSize size,
                                           VkMemoryMapFlags flags, void **out_data)
{
    PFN_vkMapMemory next = (PFN_vkMapMemory)dlsym(RTLD_NEXT, "vkMapMemory");
    VkResult result = next(device, memory, offset, size, flags, out_data);

    pthread_mutex_lock(&lock);
    struct poisoned *one = memory ? find(memory) : NULL;
    if (one && result == VK_SUCCESS) {
        atomic_fetch_add(&vulkan_maps, 1);
        if (!one->map)
            one->map = mmap(NULL, one->size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        *out_data = (char *)one->map + offset;
    }
    pthread_mutex_unlock(&lock);
    return result;
}

static void tell(void)
{
    fprintf(stderr, "poison: driver-maps=%d cpu-maps=%d vulkan-maps=%d syncs=%d\n", driver_maps,
            cpu_maps, vulkan_maps, syncs);
}

/* Handler of a touched guard page: prints the stack and exits. */
static void touched(int number)
{
    void *callers[32];
    static const char text[] = "poison: a frame was touched by\n";

    if (write(STDERR_FILENO, text, sizeof(text) - 1) > 0)
        backtrace_symbols_fd(callers, backtrace(callers, 32), STDERR_FILENO);
    tell();
    signal(number, SIG_DFL);
    raise(number);
}

__attribute__((constructor)) static void watch(void)
{
    struct sigaction action = { .sa_handler = touched };
    void *warm_up[1];

    backtrace(warm_up, 1); /* loads a library the first time */
    sigaction(SIGSEGV, &action, NULL);
}

__attribute__((destructor)) static void finish(void)
{
    tell();
}
