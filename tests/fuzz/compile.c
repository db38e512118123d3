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
    if (r == TDL_OK && !params->no_fuse)
        r = tdl_pass_fuse(plan.ir, true);
    if (r == TDL_OK)
        r = tdl_pass_layout(plan.ir, params, plan.storage);
    if (r == TDL_OK)
        r = tdl_plan_build(&plan);
    tdl_plan_finish(&plan);
    return r;
}

void fuzz_compile(struct tdl_builder *builder)
{
    if (tdl_builder_ir(builder)->node_count > MAX_NODES)
        return;
    compile(builder, &(struct tdl_build_params){.precision = TDL_PRECISION_FP16});
    compile(builder,
            &(struct tdl_build_params){.precision = TDL_PRECISION_FP32, .no_fuse = true});
}

void fuzz_check_status(struct tdl_builder *builder, enum tdl_result r)
{
    if (r == tdl_builder_status(builder) && (r == TDL_OK || *tdl_builder_error(builder)))
        return;
    fprintf(stderr, "result %d, builder %d \"%s\"\n", r, tdl_builder_status(builder),
            tdl_builder_error(builder));
    abort();
}
