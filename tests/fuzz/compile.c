/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "compile.h"

#include "../../engine/compile/passes.h"

#include <stdio.h>
#include <stdlib.h>

/* More only make a run longer. */
#define MAX_NODES 3000

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
    if (r == TDL_OK)
        r = tdl_pass_labels(plan.ir);
    if (r == TDL_OK && !params->no_fuse)
        r = tdl_pass_fuse(plan.ir, true);
    if (r == TDL_OK)
        r = tdl_pass_layout(plan.ir, params, plan.storage);
    if (r == TDL_OK)
        r = tdl_plan_build(&plan);
    tdl_plan_finish(&plan);
    return r;
}

struct tdl_context *fuzz_context(void)
{
    static struct tdl_context *context;

    if (!context && tdl_context_create(&(struct tdl_context_params){.device = "cpu", .threads = 2},
                                       &context) != TDL_OK) {
        fprintf(stderr, "device cpu: %s\n", tdl_last_error());
        abort();
    }
    return context;
}

/* ------------------------------------------------------------- on the CPU */

/* Is a run over in no time? */
static bool is_small(const struct tdl_ir *ir)
{
    enum { BYTES = 4 << 20, MACS = 1 << 21 };
    uint64_t bytes = 0, macs = 0;

    for (uint32_t i = 0; i < ir->operand_count; i++)
        bytes += tdl_tensor_params_size(&ir->operands[i]->desc);
    for (uint32_t i = 0; i < ir->node_count; i++)
        macs += tdl_node_macs(ir->nodes[i]);
    return bytes < BYTES && macs < MACS;
}

/* Tensors for what the graph binds; false if one cannot be had. */
static bool bind(const struct tdl_tensor_params *(*describe)(const struct tdl_graph *, uint32_t,
                                                             const char **),
                 const struct tdl_graph *graph, struct tdl_binding *list, uint32_t *count)
{
    const struct tdl_tensor_params *params;

    for (; (params = describe(graph, *count, &list[*count].name)); ++*count)
        if (tdl_tensor_create(fuzz_context(), params, &list[*count].tensor) != TDL_OK)
            return false;
    return true;
}

/* Runs every graph that was built: a failure would lose the device. */
static void run(struct tdl_builder *builder, const struct tdl_build_params *params)
{
    struct tdl_binding inputs[TDL_MAX_INPUTS] = {0}, outputs[TDL_MAX_OUTPUTS] = {0};
    uint32_t input_count = 0, output_count = 0;
    struct tdl_graph *graph = NULL;

    if (tdl_builder_build(builder, params, &graph) != TDL_OK)
        return;
    if (bind(tdl_graph_input, graph, inputs, &input_count) &&
        bind(tdl_graph_output, graph, outputs, &output_count) &&
        (tdl_graph_dispatch(graph, inputs, input_count, outputs, output_count, NULL) != TDL_OK ||
         tdl_context_sync(fuzz_context()) != TDL_OK)) {
        fprintf(stderr, "a graph that was built does not run: %s\n", tdl_last_error());
        abort();
    }
    for (uint32_t i = 0; i < 16; i++) {
        tdl_tensor_destroy(&inputs[i].tensor);
        tdl_tensor_destroy(&outputs[i].tensor);
    }
    tdl_graph_destroy(&graph);
}

void fuzz_compile(struct tdl_builder *builder)
{
    if (tdl_builder_ir(builder)->node_count > MAX_NODES)
        return;
    if (is_small(tdl_builder_ir(builder))) {
        run(builder, NULL);
        run(builder, &(struct tdl_build_params){.no_fuse = true,
                                                .input_packing = TDL_PACKING_C4,
                                                .output_packing = TDL_PACKING_C4});
    }
    compile(builder, &(struct tdl_build_params){.precision = TDL_PRECISION_FP16});
    compile(builder, &(struct tdl_build_params){.precision = TDL_PRECISION_FP32, .no_fuse = true});
}

void fuzz_check_status(struct tdl_builder *builder, enum tdl_result r)
{
    if (r == tdl_builder_status(builder) && (r == TDL_OK || *tdl_builder_error(builder)))
        return;
    fprintf(stderr, "result %d, builder %d \"%s\"\n", r, tdl_builder_status(builder),
            tdl_builder_error(builder));
    abort();
}
