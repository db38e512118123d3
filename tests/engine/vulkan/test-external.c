/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Memory by file descriptor: what is declined and why, for drivers that are
 * not at hand; opaque fds between two devices; dma-bufs both ways.
 */
#define _GNU_SOURCE
#include "fds.h"

#include <vulkan/share/external.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SIZE = 10000 }; /* bytes; no whole pages */

/* ----------------------------------------------------- drivers not at hand */

/* A plain import of 460,800 bytes (640×480 NV12) that works. */
static const struct tdl_import_facts good = {
    .type = TDL_HANDLE_DMA_BUF, .has_extension = true, .importable = true, .fd_size = 462848,
    .wanted = 460800, .limit = 1 << 27, .created = true, .required = 462848, .buffer_types = 3,
    .fd_types = 1,
};

static void declines(const char *name, struct tdl_import_facts facts, enum tdl_result expected,
                     const char *part)
{
    check_begin("driver: %s", name);
    if (expected == TDL_OK)
        CHECK(tdl_import_check(&facts) == TDL_OK, "declined: %s", tdl_last_error());
    else
        FAILS(tdl_import_check(&facts), expected, part);
}

#define CASE(name, expected, part, ...)                                                            \
    do {                                                                                           \
        struct tdl_import_facts f = good;                                                          \
        __VA_ARGS__;                                                                               \
        declines(name, f, expected, part);                                                         \
    } while (0)

static void check_drivers(void)
{
    const enum tdl_result no = TDL_ERROR_UNSUPPORTED, wrong = TDL_ERROR_INVALID_ARGUMENT;
    CASE("all well", TDL_OK, "");
    CASE("no extension", no, "VK_EXT_external_memory_dma_buf", f.has_extension = false);
    CASE("no extension for opaque fds", no, "VK_KHR_external_memory_fd", f.has_extension = false,
         f.type = TDL_HANDLE_OPAQUE_FD);
    CASE("not as a storage buffer", no, "no dma-buf as a storage buffer", f.importable = false);
    CASE("a pipe", wrong, "not a dma-buf", f.fd_size = -1);
    CASE("an empty dma-buf", wrong, "not a dma-buf", f.fd_size = 0);
    CASE("more than there is", wrong, "has 462848 bytes; 462849", f.wanted = 462849);
    CASE("a kernel's reach", no, "kernels reach 65536", f.limit = 65536);
    CASE("the whole, as far as kernels reach", TDL_OK, "", f.limit = 65536, f.wanted = 0,
         f.required = 65536);
    CASE("an opaque fd without size", wrong, "give the buffer's", f.type = TDL_HANDLE_OPAQUE_FD,
         f.wanted = 0);
    CASE("an opaque fd is not asked", TDL_OK, "", f.type = TDL_HANDLE_OPAQUE_FD, f.fd_size = -1,
         f.fd_types = UINT32_MAX);
    /* anv rounds up to pages: a dma-buf that was not is too small. */
    CASE("whole pages", no, "wants 462848 bytes of memory for a buffer of 460800",
         f.fd_size = 460800);
    /* v3dv wants 64 bytes behind the end: exactly full pages are too small. */
    CASE("read ahead, room left", TDL_OK, "", f.required = (460800 + 64 + 4095) / 4096 * 4096);
    CASE("read ahead, pages full", no, "allocate a page more", f.wanted = 462848,
         f.required = 462848 + 4096);
    CASE("foreign device", no, "no memory type", f.fd_types = 0);
    CASE("other memory types", no, "0x4 only, and storage buffers need one of 0x3",
         f.fd_types = 4);

    check_begin("size of the buffer");
    struct tdl_import_facts f = good;
    f.wanted = 460801;
    CHECK(tdl_import_size(&f) == 460816, "%llu", (unsigned long long)tdl_import_size(&f));
    f.wanted = 462847;
    CHECK(tdl_import_size(&f) == 462848, "%llu", (unsigned long long)tdl_import_size(&f));
    f.wanted = 0;
    CHECK(tdl_import_size(&f) == 462848, "%llu", (unsigned long long)tdl_import_size(&f));
    /* As its exporter, which is ours, rounded it; the fd says nothing. */
    f = (struct tdl_import_facts){.type = TDL_HANDLE_OPAQUE_FD, .fd_size = -1, .wanted = 460801};
    CHECK(tdl_import_size(&f) == 460816, "%llu", (unsigned long long)tdl_import_size(&f));
}

/* ------------------------------------------------------------------- errors */

static int count_fds(void)
{
    int count = 0;
    for (int fd = 0; fd < 256; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

static void check_errors(struct tdl_context *ctx)
{
    const enum tdl_result wrong = TDL_ERROR_INVALID_ARGUMENT;
    struct tdl_buffer *buffer;
    int pipes[2], fd;
    check_begin("errors");
    REQUIRE(pipe(pipes) == 0, "no pipe");
    FAILS(tdl_buffer_import_fd(ctx, (enum tdl_handle_type)2, pipes[0], 16, &buffer), wrong,
          "unknown kind of handle 2");
    CHECK(!buffer, "a buffer came out");
    FAILS(tdl_buffer_import_fd(ctx, TDL_HANDLE_OPAQUE_FD, -1, 16, &buffer), wrong, "not an open");
    if (tdl_context_device(ctx)->external_memory_dma_buf)
        FAILS(tdl_buffer_import_fd(ctx, TDL_HANDLE_DMA_BUF, pipes[0], 16, &buffer), wrong,
              "not a dma-buf");
    else
        FAILS(tdl_buffer_import_fd(ctx, TDL_HANDLE_DMA_BUF, pipes[0], 16, &buffer),
              TDL_ERROR_UNSUPPORTED, "dma");
    if (!tdl_context_device(ctx)->dma_buf_export)
        FAILS(tdl_buffer_create_exportable(ctx, TDL_HANDLE_DMA_BUF, SIZE, &buffer),
              TDL_ERROR_UNSUPPORTED, "exports no memory as dma-buf");
    if (tdl_context_device(ctx)->external_memory_fd) {
        FAILS(tdl_buffer_import_fd(ctx, TDL_HANDLE_OPAQUE_FD, pipes[0], 0, &buffer), wrong,
              "does not tell its size");
        FAILS(tdl_buffer_create_exportable(ctx, TDL_HANDLE_OPAQUE_FD, 0, &buffer), wrong,
              "0 bytes");
    }
    CHECK(tdl_external_family(ctx, TDL_HANDLE_OPAQUE_FD) == VK_QUEUE_FAMILY_EXTERNAL,
          "opaque fds are for drivers like ours");
    CHECK(tdl_external_family(ctx, TDL_HANDLE_DMA_BUF) ==
              (tdl_setup_has(&tdl_vk(ctx)->setup, VK_EXT_QUEUE_FAMILY_FOREIGN_EXTENSION_NAME)
                   ? VK_QUEUE_FAMILY_FOREIGN_EXT
                   : VK_QUEUE_FAMILY_EXTERNAL),
          "dma-bufs are for anybody");
    OK(tdl_buffer_create(ctx, 16, TDL_BUFFER_DEVICE, &buffer));
    FAILS(tdl_buffer_export_fd(buffer, &fd), wrong, "tdl_buffer_create_exportable");
    CHECK(fd == -1, "fd %d", fd);
    tdl_buffer_destroy(&buffer);
    close(pipes[0]);
    close(pipes[1]);
}

/* ------------------------------------------------------------ two contexts */

/* Tensors on both ends of it: what one writes the other reads. */
static void check_tensors_between(struct tdl_context *a, struct tdl_buffer *ours,
                                  struct tdl_context *b, struct tdl_buffer *theirs)
{
    enum { BYTES = 496 };
    const struct tdl_tensor_params p = {.dtype = TDL_UINT8, .rank = 1, .shape = {BYTES},
                                        .usage = TDL_TENSOR_READABLE | TDL_TENSOR_WRITABLE};
    uint8_t in[BYTES], out[BYTES];
    struct tdl_tensor *x, *y;
    OK(tdl_tensor_create_on(ours, &p, &x));
    OK(tdl_tensor_create_on(theirs, &p, &y));
    for (int round = 0; round < 4; round++) {
        fds_pattern(in, BYTES, (uint64_t)round + 41);
        OK(tdl_tensor_write(round & 1 ? y : x, in, BYTES, NULL));
        OK(tdl_context_sync(round & 1 ? b : a));
        OK(tdl_tensor_read(round & 1 ? x : y, out, BYTES));
        CHECK(!memcmp(in, out, BYTES), "round %d: other bytes arrived in the tensor", round);
    }
    tdl_tensor_destroy(&x);
    tdl_tensor_destroy(&y);
}

/* Both devices write to memory that the other one reads. */
static void check_shared(struct tdl_context *a, struct tdl_context *b, enum tdl_handle_type type)
{
    static uint8_t in[SIZE], out[SIZE];
    struct tdl_buffer *ours, *theirs;
    int fd, before = count_fds();
    check_begin("%s between two devices", type == TDL_HANDLE_DMA_BUF ? "dma-buf" : "opaque fd");
    OK(tdl_buffer_create_exportable(a, type, SIZE, &ours));
    OK(tdl_buffer_export_fd(ours, &fd));
    OK(tdl_buffer_import_fd(b, type, fd, SIZE, &theirs));
    close(fd);
    for (int round = 0; round < 3; round++) {
        fds_pattern(in, SIZE, (uint64_t)round + 1);
        fds_upload(round & 1 ? b : a, round & 1 ? theirs : ours, in, SIZE);
        fds_download(round & 1 ? a : b, round & 1 ? ours : theirs, out, SIZE);
        CHECK(!memcmp(in, out, SIZE), "round %d: other bytes arrived", round);
    }
    check_tensors_between(a, ours, b, theirs);
    fds_upload(a, ours, in, SIZE);
    tdl_buffer_destroy(&ours);
    fds_download(b, theirs, out, SIZE);
    CHECK(!memcmp(in, out, SIZE), "the memory went with its exporter");
    tdl_buffer_destroy(&theirs);
    OK(tdl_context_sync(a));
    OK(tdl_context_sync(b));
    CHECK(count_fds() == before, "%d fds are open, %d were", count_fds(), before);
}

/* ----------------------------------------------------------------- dma-bufs */

/* The dma-buf's memory as a tensor: what others wrote there is read, and the other way. */
static void check_tensor_on(struct tdl_context *ctx, struct tdl_buffer *buffer, int fd)
{
    enum { BYTES = 1008 };
    const struct tdl_tensor_params p = {.dtype = TDL_UINT8, .rank = 1, .shape = {BYTES},
                                        .usage = TDL_TENSOR_READABLE | TDL_TENSOR_WRITABLE};
    static uint8_t in[BYTES], out[BYTES];
    struct tdl_tensor *t;
    OK(tdl_tensor_create_on(buffer, &p, &t));
    fds_pattern(in, BYTES, 31);
    fds_write(fd, in, BYTES);
    OK(tdl_tensor_read(t, out, BYTES));
    CHECK(!memcmp(in, out, BYTES), "the tensor has other bytes than the dma-buf");
    fds_pattern(in, BYTES, 32);
    OK(tdl_tensor_write(t, in, BYTES, NULL));
    OK(tdl_context_sync(ctx));
    fds_read(fd, out, BYTES);
    CHECK(!memcmp(in, out, BYTES), "the dma-buf has other bytes than the tensor");
    tdl_tensor_destroy(&t);
}

/* Rounds of camera frames: the CPU plays the camera. */
static void check_dma_buf(struct tdl_context *ctx)
{
    static uint8_t in[SIZE], out[SIZE];
    const char *how;
    struct tdl_buffer *buffer, *again;
    int before = count_fds(), fd = fds_dma_buf(ctx, SIZE, &how);
    check_begin("dma-buf (%s)", how);
    if (fd < 0) {
        printf("not run: dma-buf import: %s\n", how);
        return;
    }
    printf("dma-buf import: by %s\n", how);
    OK(tdl_buffer_import_fd(ctx, TDL_HANDLE_DMA_BUF, fd, SIZE, &buffer));
    CHECK(tdl_buffer_size(buffer) >= SIZE, "%zu bytes", tdl_buffer_size(buffer));
    CHECK(!tdl_buffer_data(buffer), "an imported buffer is mapped");
    for (int round = 0; round < 3; round++) {
        fds_pattern(in, SIZE, (uint64_t)round + 10);
        fds_write(fd, in, SIZE);
        fds_download(ctx, buffer, out, SIZE);
        CHECK(!memcmp(in, out, SIZE), "round %d: the GPU read other bytes", round);
        fds_pattern(in, SIZE, (uint64_t)round + 20);
        fds_upload(ctx, buffer, in, SIZE);
        fds_read(fd, out, SIZE);
        CHECK(!memcmp(in, out, SIZE), "round %d: the GPU wrote other bytes", round);
    }
    OK(tdl_buffer_import_fd(ctx, TDL_HANDLE_DMA_BUF, fd, 0, &again));
    CHECK((off_t)tdl_buffer_size(again) == lseek(fd, 0, SEEK_END), "%zu bytes without a size",
          tdl_buffer_size(again));
    tdl_buffer_destroy(&again);
    FAILS(tdl_buffer_import_fd(ctx, TDL_HANDLE_DMA_BUF, fd, 100000, &again),
          TDL_ERROR_INVALID_ARGUMENT, "100000 were asked for");
    check_tensor_on(ctx, buffer, fd);
    fds_read(fd, out, SIZE);
    memcpy(in, out, SIZE);
    close(fd); /* the import has its own */
    fds_download(ctx, buffer, out, SIZE);
    CHECK(!memcmp(in, out, SIZE), "the memory went with the fd");
    tdl_buffer_destroy(&buffer);
    OK(tdl_context_sync(ctx));
    CHECK(count_fds() == before, "%d fds are open, %d were", count_fds(), before);
}

/* A software device maps what it imports. */
static void check_unmappable(struct tdl_context *ctx)
{
    struct tdl_buffer *buffer;
    if (tdl_context_device(ctx)->type != TDL_DEVICE_SOFTWARE)
        return;
    check_begin("a dma-buf that is only for reading");
    int fd = memfd_create("tdl-test", MFD_ALLOW_SEALING | MFD_CLOEXEC);
    REQUIRE(fd >= 0 && ftruncate(fd, 16384) == 0, "no memfd");
    REQUIRE(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE) == 0, "no seal");
    enum tdl_result r = tdl_buffer_import_fd(ctx, TDL_HANDLE_DMA_BUF, fd, SIZE, &buffer);
    CHECK(r == TDL_ERROR_UNSUPPORTED, "%s", tdl_result_string(r));
    CHECK(r == TDL_OK || strstr(tdl_last_error(), "reading and writing") ||
              strstr(tdl_last_error(), "no memory type"),
          "\"%s\"", tdl_last_error());
    if (r == TDL_OK)
        tdl_buffer_destroy(&buffer);
    close(fd);
}

int main(void)
{
    check_drivers();
    struct tdl_context *a = check_context_open(), *b = check_context_open();
    const struct tdl_device_info *info = tdl_context_device(a);
    check_errors(a);
    if (info->external_memory_fd)
        check_shared(a, b, TDL_HANDLE_OPAQUE_FD);
    else
        printf("not run: %s has no opaque fds\n", info->name);
    if (info->dma_buf_export && info->external_memory_dma_buf)
        check_shared(a, b, TDL_HANDLE_DMA_BUF);
    else
        printf("not run: %s exports no dma-bufs\n", info->name);
    if (info->external_memory_dma_buf) {
        check_dma_buf(a);
        check_unmappable(a);
    } else {
        printf("not run: %s imports no dma-bufs\n", info->name);
    }
    check_context_close(a);
    check_context_close(b);
    return check_result();
}
