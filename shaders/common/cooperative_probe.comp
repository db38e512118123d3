// SPDX-License-Identifier: LGPL-2.1-or-later
#version 450
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_cooperative_matrix : require
#pragma use_vulkan_memory_model
// For meson.build: compiles where glslang knows cooperative matrices. (The kernel itself
// is no probe, for a mistake in it would leave it out without a word.)
layout(local_size_x = 32) in;
layout(std430, set = 0, binding = 0) buffer Out { float result[]; };

void main()
{
    coopmat<float, gl_ScopeSubgroup, 16, 16, gl_MatrixUseAccumulator> m;
    m = coopmat<float, gl_ScopeSubgroup, 16, 16, gl_MatrixUseAccumulator>(0.0);
    coopMatStore(m, result, 0, 16, gl_CooperativeMatrixLayoutRowMajor);
}
