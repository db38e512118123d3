/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libFuzzer target: any bytes into the TensorFlow Lite importer. It may refuse
 * them, with a text; it may not read outside them, overflow, leak or hang.
 * What it takes goes on through the passes of the compiler that need no
 * device, fused and not, on a device made up here.
 */
#include "../../engine/graph/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

/* Passes look through all nodes for each node; that is not what we test. */
#define MAX_NODES 300

static enum tdl_result compile(struct tdl_builder *builder, const struct tdl_build_params *params)
{
    static const struct tdl_device_info device = {
        .subgroup_size = 32, .max_workgroup_invocations = 128, .max_shared_memory = 16384};
    struct tdl_plan plan = {
        .device = &device,
        .ir = tdl_ir_clone(tdl_builder_ir(builder)),
        .storage = params->precision == TDL_PRECISION_FP16 ? TDL_FLOAT16 : TDL_FLOAT32,
    };
    enum tdl_result r = plan.ir ? TDL_OK : TDL_ERROR_OUT_OF_MEMORY;

    if (r == TDL_OK)
        r = tdl_pass_fold(plan.ir);
    if (r == TDL_OK && !params->no_fuse)
        r = tdl_pass_fuse(plan.ir, true);
    if (r == TDL_OK)
        r = tdl_pass_layout(plan.ir, params, plan.storage);
    if (r == TDL_OK)
        r = tdl_plan_build(&plan);
    tdl_plan_finish(&plan);
    return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tdl_builder *builder = NULL;
    enum tdl_result r;

    if (tdl_builder_create(NULL, &builder) != TDL_OK)
        return 0;
    r = tdl_tflite_import(builder, data, size);
    if (r != tdl_builder_status(builder) || (r != TDL_OK && !*tdl_builder_error(builder))) {
        fprintf(stderr, "result %d, builder %d \"%s\"\n", r, tdl_builder_status(builder),
                tdl_builder_error(builder));
        abort();
    }
    if (r == TDL_OK && tdl_builder_ir(builder)->node_count <= MAX_NODES) {
        compile(builder, &(struct tdl_build_params){.precision = TDL_PRECISION_FP16});
        compile(builder, &(struct tdl_build_params){.precision = TDL_PRECISION_FP32,
                                                    .no_fuse = true});
    }
    tdl_builder_destroy(&builder);
    return 0;
}

static uint32_t next(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* The file is a web of aligned 32-bit offsets, counts and numbers and of
 * 16-bit vtable entries. Random bit flips in weights find nothing; half of the
 * time put a telling value into one word, or copy one word over another. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
    static const uint32_t telling[] = {0, 1, 2, 3, 4, 5, 8, 0x7f, 0x80, 0xff, 0x7fff, 0xffff,
                                       0x10000, 0x7fffffff, 0x80000000u, 0xffffffffu, 0xfffffffcu,
                                       0x40000000, 0x55555556};
    uint32_t state = seed;
    const size_t width = next(&state) % 2 ? 4 : 2;

    if (next(&state) % 2 || size < 64)
        return LLVMFuzzerMutate(data, size, max_size);
    for (uint32_t i = next(&state) % 3; i < 3; i++) {
        const size_t to = next(&state) % (size / width) * width;
        const size_t from = next(&state) % (size / width) * width;
        uint32_t value = telling[next(&state) % (sizeof(telling) / sizeof(telling[0]))];

        switch (next(&state) % 4) {
        case 0: /* another word */
            memcpy(&value, data + from, width);
            break;
        case 1: /* a little more or less than now */
            memcpy(&value, data + to, width);
            value += next(&state) % 17 - 8;
            break;
        case 2: /* an offset to somewhere, or to just past the end */
            value = (uint32_t)(size - to) - (next(&state) % 2 ? 0 : next(&state) % (uint32_t)size);
            break;
        default:
            break;
        }
        memcpy(data + to, &value, width);
    }
    return size;
}
