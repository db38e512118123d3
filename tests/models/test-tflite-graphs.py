#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Graphs of TensorFlow Lite within others, right and wrong ones: test-tflite-graphs.py TDL-RUN

Composites are operators of another graph (tflite-chains.py makes them at random); a file of
several signatures has a graph for each, of which the first runs.
"""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import chains  # noqa: E402
import tflite_writer as lite  # noqa: E402

ADD, RELU, COMPOSITE, BROADCAST_ARGS, BROADCAST_TO = 0, 19, 206, 145, 130
failures = 0


def check(what, good, why=""):
    global failures
    if not good:
        failures += 1
        print("FAIL: %s: %s" % (what, why))


def run(model, x, outputs=1):
    """The exit status, what was printed, and the outputs."""
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + "/m.tflite", "wb") as f:
            f.write(model.file())
        chains.write_npy(folder + "/x.npy", x.shape, x.data)
        line = [sys.argv[1], "-p", "fp32", folder + "/m.tflite", "-i", "x=%s/x.npy" % folder]
        for i in range(outputs):
            line += ["-o", "y%d=%s/y%d.npy" % (i, folder, i)]
        done = subprocess.run(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              check=False, timeout=120)
        return done.returncode, done.stdout, [
            chains.read_npy("%s/y%d.npy" % (folder, i)) for i in range(outputs)
            if done.returncode == 0]


X = chains.Value((2, 3), [-2.0, -1.0, 0.0, 1.0, 2.0, 3.0])


def doubled(graph=1, given=1, graphs=None, name="y0"):
    """y0 = relu(x + x), the sum in a composite."""
    m = lite.Model()
    x, middle, y = m.tensor(X.shape, name="x"), m.tensor(X.shape), m.tensor(X.shape, name=name)
    m.inputs, m.outputs = [x], [y]
    m.operator(ADD, [x, x], [middle])
    m.operator(RELU, [middle], [y])
    m.outline(0, 1)
    m.operators[0][12][1] = graph
    m.operators[0][1] = [x] * given
    m.graphs += graphs or []
    return m


def several():
    """Two composites of the same graph, one behind the other; and a graph that nobody calls."""
    m = doubled()
    m.operators.insert(1, dict(m.operators[0]))
    z = m.tensor(X.shape)
    m.operators[1] = m.operators[1] | {1: [m.operators[0][2][0]], 2: [z]}
    m.operators[2] = m.operators[2] | {1: [z]}
    m.graphs.append(dict(m.graphs[0]))
    return m


def endless():
    """A graph that calls itself."""
    m = doubled()
    m.graphs[0][3] = [{0: m.operators[0][0], 1: [0], 2: [1], 11: lite.Byte(21),
                       12: {0: "again", 1: 1}}]
    return m


def doubling():
    """Each graph calls the next one twice, twenty times over: a million operators and more."""
    m = doubled()
    call, leaf = m.operators[0], m.graphs[0]
    m.graphs = []
    for i in range(24):
        m.graphs.append({0: [{0: list(X.shape), 1: lite.Byte(0)} for _ in range(3)], 1: [0], 2: [2],
                         3: [{0: call[0], 1: [k], 2: [k + 1], 11: lite.Byte(21),
                              12: {0: "twice", 1: i + 2}} for k in range(2)]})
    m.graphs.append(leaf)
    return m


def broadcast(first, second):
    """x as large as two shapes make it together."""
    m = lite.Model()
    x, shape = m.tensor(X.shape, name="x"), m.tensor((4,), lite.INT32)
    y = m.tensor((4, 1, 2, 3), name="y0")
    m.inputs, m.outputs = [x], [y]
    m.operator(BROADCAST_ARGS, [m.tensor((len(n),), lite.INT32, data=n) for n in (first, second)],
               [shape])
    m.operator(BROADCAST_TO, [x, shape], [y], version=2)
    return m


def main():
    for name, model, right in (
            ("a composite", doubled(), [max(2 * a, 0) for a in X.data]),
            ("twice", several(), [max(4 * a, 0) for a in X.data])):
        status, text, outputs = run(model, X)
        check(name, status == 0 and outputs[0] == (X.shape, tuple(right)), (text, outputs))
    for first, second in (([4, 1, 1, 3], [2, 1]), ([2, 3], [4, 1, 1, 1])):
        status, text, outputs = run(broadcast(first, second), X)
        check("broadcast", status == 0 and
              outputs[0] == ((4, 1, 2, 3), tuple(4 * list(X.data))), (text, outputs))
    for name, model, wrong in (
            ("no such graph", doubled(graph=9), "there is no graph 9, only 2"),
            ("a graph below 0", doubled(graph=-1), "there is no graph 4294967295"),
            ("other inputs", doubled(given=2), "2 inputs and 1 outputs of a graph that has 1 and 1"),
            ("itself", endless(), "nested deeper than 32"),
            ("the first graph", doubled(graph=0), "nested deeper than 32"),
            ("out of proportion", doubling(), "more than 1000000 operators"),
            ("strangers", broadcast([3, 1], [2, 1]), "sizes 3 and 2 do not broadcast")):
        status, text, _ = run(model, X, 0)
        check(name, status == 1 and wrong in text, text)
    print("%d failures" % failures)
    return failures > 0


sys.exit(main())
