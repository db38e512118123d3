#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A float16 model's numbers in float32: to-float32.py MODEL.onnx RESULT.onnx

Whatever is float16 in it, weights, inputs, outputs and what Cast makes, is float32 then.
Needs python3-onnx and python3-numpy.
"""
import sys

import numpy
import onnx
from onnx import TensorProto, numpy_helper

HALF, FLOAT = TensorProto.FLOAT16, TensorProto.FLOAT


def widen(tensor):
    if tensor.data_type == HALF:
        values = numpy_helper.to_array(tensor).astype(numpy.float32)
        tensor.CopyFrom(numpy_helper.from_array(values, tensor.name))


if len(sys.argv) != 3:
    sys.exit(__doc__)
model = onnx.load(sys.argv[1])
graph = model.graph
del graph.value_info[:]
for weight in graph.initializer:
    widen(weight)
for value in [*graph.input, *graph.output]:
    if value.type.tensor_type.elem_type == HALF:
        value.type.tensor_type.elem_type = FLOAT
for node in graph.node:
    for attribute in node.attribute:
        if attribute.HasField("t"):
            widen(attribute.t)
        elif node.op_type == "Cast" and attribute.i == HALF:
            attribute.i = FLOAT
onnx.save(model, sys.argv[2])
