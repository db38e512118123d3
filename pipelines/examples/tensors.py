#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""libtdl from Python: a graph of a few operators, chained runs, and a model's file.

    tensors.py [--device NAME] [MODEL]
"""
import argparse

import numpy as np

import tdl


def classifier(context):
    """softmax(relu(x · w + b)), against NumPy."""
    random = np.random.default_rng(1)
    w, b, x = (random.standard_normal(s, np.float32) for s in ((8, 3), (3,), (4, 8)))
    builder = context.builder()
    features = builder.input("x", x.shape)
    sums = builder.add(builder.matmul(features, builder.constant(w)), builder.constant(b))
    builder.output("y", builder.softmax(builder.relu(sums), 1))
    y = builder.build()(x=x)["y"]
    e = np.exp(np.maximum(x @ w + b, 0))
    print("softmax: largest difference to NumPy", np.abs(y - e / e.sum(1, keepdims=True)).max())


def fibonacci(context, n=40):
    """Outputs are the next run's inputs, and nothing waits until the last is read."""
    builder = context.builder()
    back = [builder.input(name, (1,), "int32") for name in ("a", "b")]
    builder.output("sum", builder.add(*back))
    graph = builder.build()
    f = [context.tensor((1,), "int32") for _ in range(3)]
    f[0].write([0])
    f[1].write([1])
    for i in range(2, n + 1):
        graph.dispatch({"a": f[(i - 1) % 3], "b": f[(i - 2) % 3]}, {"sum": f[i % 3]})
    print(f"F({n}) =", f[n % 3].read()[0])


def model(context, path):
    builder = context.builder()
    builder.load(path)
    graph = builder.build()
    results = graph(**{name: np.full(shape, 0.5, dtype)
                       for name, (shape, dtype, _packing) in graph.inputs.items()})
    for name, (shape, dtype, _packing) in graph.inputs.items():
        print(f"input {name}: {dtype}{list(shape)}")
    for name, array in results.items():
        print(f"output {name}: {array.dtype}{list(array.shape)}, {array.min():g} to {array.max():g}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", help="cpu, gpu, … as tdl-info takes them")
    parser.add_argument("model", nargs="?", help="TensorFlow Lite, ONNX or ncnn (.param)")
    arguments = parser.parse_args()
    context = tdl.Context(arguments.device)
    classifier(context)
    fibonacci(context)
    if arguments.model:
        model(context, arguments.model)


if __name__ == "__main__":
    main()
