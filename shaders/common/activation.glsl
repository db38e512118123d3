// SPDX-License-Identifier: LGPL-2.1-or-later
// enum tdl_activation. The kind is a specialization constant everywhere, so
// that only one branch is left. 64 is a chain of element-wise functions, which
// the constants from 40 on tell (tdl_plan_chain()). Kernels have variants of
// their own for it, since drivers take their time for code that goes unused.
#include "common/gelu.glsl"
#ifdef TDL_CHAIN
#include "common/eltwise.glsl"

layout(constant_id = 40) const uint STAGES = 0;
layout(constant_id = 41) const uint STAGE0 = 0;
layout(constant_id = 42) const float STAGE0_A = 0.0;
layout(constant_id = 43) const float STAGE0_B = 0.0;
layout(constant_id = 44) const uint STAGE1 = 0;
layout(constant_id = 45) const float STAGE1_A = 0.0;
layout(constant_id = 46) const float STAGE1_B = 0.0;
layout(constant_id = 47) const uint STAGE2 = 0;
layout(constant_id = 48) const float STAGE2_A = 0.0;
layout(constant_id = 49) const float STAGE2_B = 0.0;
layout(constant_id = 50) const uint STAGE3 = 0;
layout(constant_id = 51) const float STAGE3_A = 0.0;
layout(constant_id = 52) const float STAGE3_B = 0.0;
layout(constant_id = 53) const uint STAGE4 = 0;
layout(constant_id = 54) const float STAGE4_A = 0.0;
layout(constant_id = 55) const float STAGE4_B = 0.0;
layout(constant_id = 56) const uint STAGE5 = 0;
layout(constant_id = 57) const float STAGE5_A = 0.0;
layout(constant_id = 58) const float STAGE5_B = 0.0;

#ifdef TDL_STAGE_OPERANDS
vec4 stage_operand(uint slot); // further operand of a stage, from the kernel
#endif

vec4 run_stage(uint function, vec4 x, float a, float b)
{
#ifdef TDL_STAGE_OPERANDS
    if (function == F_ADD_PRODUCT)
        return x + stage_operand(uint(a)) * stage_operand(uint(a) + 1);
    if (function >= F_ADD) {
        vec4 y = stage_operand(uint(a));
        return b != 0.0 ? eltwise_binary(function, y, x) : eltwise_binary(function, x, y);
    }
#endif
    return eltwise_unary(function, x, a, b);
}

vec4 run_stages(vec4 x)
{
    if (STAGES > 0)
        x = run_stage(STAGE0, x, STAGE0_A, STAGE0_B);
    if (STAGES > 1)
        x = run_stage(STAGE1, x, STAGE1_A, STAGE1_B);
    if (STAGES > 2)
        x = run_stage(STAGE2, x, STAGE2_A, STAGE2_B);
    if (STAGES > 3)
        x = run_stage(STAGE3, x, STAGE3_A, STAGE3_B);
    if (STAGES > 4)
        x = run_stage(STAGE4, x, STAGE4_A, STAGE4_B);
    if (STAGES > 5)
        x = run_stage(STAGE5, x, STAGE5_A, STAGE5_B);
    return x;
}
#endif

vec4 activate(uint kind, vec4 x)
{
    switch (kind) {
    case 1:
        return max(x, 0.0);
    case 2:
        return clamp(x, 0.0, 6.0);
    case 3:
        return 1.0 / (1.0 + exp(-x));
    case 4:
        return x * clamp(x * (1.0 / 6.0) + 0.5, 0.0, 1.0);
    case 5:
        return tanh(x);
    case 6:
        return x / (1.0 + exp(-x));
    case 7:
        return gelu_of(x);
#ifdef TDL_CHAIN
    case 64:
        return run_stages(x);
#endif
    default:
        return x;
    }
}
