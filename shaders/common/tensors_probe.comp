// SPDX-License-Identifier: LGPL-2.1-or-later
#version 450
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_cooperative_matrix : require
#extension GL_NV_cooperative_matrix2 : require
#pragma use_vulkan_memory_model
// For meson.build, as cooperative_probe.comp: compiles where glslang knows matrices that a
// workgroup holds, and tensors.
layout(local_size_x = 128) in;
layout(std430, set = 0, binding = 0) buffer Out { float result[]; };

void main()
{
    coopmat<float, gl_ScopeWorkgroup, 64, 64, gl_MatrixUseAccumulator> m;
    tensorLayoutNV<2> t = setTensorLayoutDimensionNV(createTensorLayoutNV(2), 64, 64);
    m = coopmat<float, gl_ScopeWorkgroup, 64, 64, gl_MatrixUseAccumulator>(0.0);
    coopMatStoreTensorNV(m, result, 0, t);
}
