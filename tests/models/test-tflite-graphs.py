#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Files of TensorFlow Lite with several graphs or outputs: test-tflite-graphs.py TDL-RUN

Composites are operators of another graph (tflite-chains.py makes them at random); a file of
several signatures has a graph for each, of which the first runs. Non-maximum suppression is held
against its definition, for random boxes (TDL_TEST_SEED=N).
"""
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import chains  # noqa: E402
import tflite_writer as lite  # noqa: E402

ADD, RELU, BROADCAST_ARGS, BROADCAST_TO, SUPPRESSION = 0, 19, 145, 130, (120, 121)
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
        line = [sys.argv[1], "-p", "fp32", folder + "/m.tflite"]
        for name, value in x.items():
            chains.write_npy("%s/%s.npy" % (folder, name), value.shape, value.data)
            line += ["-i", "%s=%s/%s.npy" % (name, folder, name)]
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


def overlap(a, b):
    """Intersection over union of two boxes, given by opposite corners."""
    def ends(box, i):
        return min(box[i], box[i + 2]), max(box[i], box[i + 2])

    def area(box):
        return (ends(box, 0)[1] - ends(box, 0)[0]) * (ends(box, 1)[1] - ends(box, 1)[0])
    both = 1.0
    for i in range(2):
        (a0, a1), (b0, b1) = ends(a, i), ends(b, i)
        both *= max(0.0, min(a1, b1) - max(a0, b0))
    return both / (area(a) + area(b) - both)


def check_suppression(r):
    """One case: boxes on a grid, of which some overlap by half, and that is a threshold."""
    count, most, scored = r.randint(1, 12), r.randint(1, 14), r.random() < 0.5
    boxes = []
    for _ in range(count):
        y, x = r.randrange(4), r.randrange(4)
        box = [y, x, y + r.randint(1, 3), x + r.randint(1, 3)]
        boxes.append(r.choice([box, [box[2], box[3], box[0], box[1]]]))
    scores = [s / 16 for s in r.sample(range(16), count)]
    iou, least = r.choice([0.34, 0.5, 0.71]), 0.2
    kept = []
    for i in sorted(range(count), key=lambda i: -scores[i]):
        if len(kept) < most and scores[i] > least and \
                all(overlap(boxes[i], boxes[k]) < iou for k in kept):
            kept.append(i)
    m = lite.Model()
    inputs = [m.tensor((count, 4), name="boxes"), m.tensor((count,), name="scores")]
    m.inputs = list(inputs)
    inputs += [m.tensor((), lite.INT32, data=[most]), m.tensor((), data=[iou]),
               m.tensor((), data=[least])] + ([m.tensor((), data=[0.0])] if scored else [])
    m.outputs = [m.tensor((most,), lite.INT32, name="y0")]
    m.outputs += [m.tensor((most,), name="y1")] if scored else []
    m.outputs.append(m.tensor((), lite.INT32, name="y%d" % len(m.outputs)))
    m.operator(SUPPRESSION[scored], inputs, m.outputs)
    right = [((most,), tuple(kept + [0] * (most - len(kept))))]
    right += [((most,), tuple([scores[i] for i in kept] + [0.0] * (most - len(kept))))] * scored
    right.append(((), (len(kept),)))
    status, text, outputs = run(m, {
        "boxes": chains.Value((count, 4), [float(a) for b in boxes for a in b]),
        "scores": chains.Value((count,), scores)}, len(right))
    check("suppression of %s with %s, %d of overlaps below %g" % (boxes, scores, most, iou),
          status == 0 and outputs == right, (text, outputs, right))


def main():
    seed = int(os.environ.get("TDL_TEST_SEED") or random.randrange(2 ** 31))
    print("TDL_TEST_SEED=%d" % seed)
    for case in range(int(os.environ.get("TDL_TEST_CASES") or 20)):
        check_suppression(random.Random(seed + case))
    for name, model, right in (
            ("a composite", doubled(), [max(2 * a, 0) for a in X.data]),
            ("twice", several(), [max(4 * a, 0) for a in X.data])):
        status, text, outputs = run(model, {"x": X})
        check(name, status == 0 and outputs[0] == (X.shape, tuple(right)), (text, outputs))
    for first, second in (([4, 1, 1, 3], [2, 1]), ([2, 3], [4, 1, 1, 1])):
        status, text, outputs = run(broadcast(first, second), {"x": X})
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
        status, text, _ = run(model, {"x": X}, 0)
        check(name, status == 1 and wrong in text, text)
    print("%d failures" % failures)
    return failures > 0


sys.exit(main())
