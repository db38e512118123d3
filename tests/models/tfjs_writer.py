# SPDX-License-Identifier: LGPL-2.1-or-later
"""Small TensorFlow.js graph models, written down as its converter does."""
import base64
import json
import os

import numpy as np

TYPES = {"float32": "DT_FLOAT", "int32": "DT_INT32", "bool": "DT_BOOL", "uint8": "DT_UINT8"}


def attribute(value):
    """A value of Python as an AttrValue of TensorFlow's in JSON."""
    def text(s):
        return base64.b64encode(s.encode()).decode()

    if isinstance(value, bool):
        return {"b": value}
    if isinstance(value, int):
        return {"i": str(value)}
    if isinstance(value, float):
        return {"f": value}
    if isinstance(value, str):
        return {"type": value} if value.startswith("DT_") else {"s": text(value)}
    if isinstance(value, list):
        if value and isinstance(value[0], str):
            return {"list": {"s": [text(s) for s in value]}}
        return {"list": {"i": [str(i) for i in value]}}
    return value


class Model:
    """Nodes by their names; an array where an input is expected becomes a Const."""

    def __init__(self):
        self.nodes, self.weights, self.data = [], [], []
        self.inputs, self.outputs = {}, {}

    def placeholder(self, name, shape, dtype="float32"):
        proto = {"unknownRank": True} if shape is None else {
            "dim": [{"size": str(d)} for d in shape]}
        self.nodes.append({"name": name, "op": "Placeholder", "attr": {
            "dtype": {"type": TYPES[dtype]}, "shape": {"shape": proto}}})
        self.inputs[name] = {"name": name + ":0", "dtype": TYPES[dtype], "tensorShape": proto}
        return name

    def const(self, array, dtype=None, quantization=None, name=None):
        array = np.asarray(array)
        name = name or "const_%d" % len(self.weights)
        dtype = dtype or ("bool" if array.dtype == bool else
                          "float32" if array.dtype.kind == "f" else "int32")
        spec = {"name": name, "shape": list(array.shape), "dtype": dtype}
        stored = {"float32": "<f4", "int32": "<i4", "bool": "u1", "float16": "<f2",
                  "uint8": "u1"}[dtype]
        if quantization:
            spec["quantization"] = quantization
            stored = {"float16": "<f2", "uint8": "u1", "uint16": "<u2"}[quantization["dtype"]]
        self.nodes.append({"name": name, "op": "Const", "attr": {}})
        self.weights.append(spec)
        self.data.append(array.astype(stored).tobytes())
        return name

    def node(self, op, inputs, name=None, **attributes):
        name = name or "%s_%d" % (op.lower(), len(self.nodes))
        inputs = [i if isinstance(i, str) else self.const(i) for i in inputs]
        self.nodes.append({"name": name, "op": op, "input": inputs, "attr": {
            k: attribute(v) for k, v in attributes.items()}})
        return name

    def output(self, key, reference):
        self.outputs[key] = {"name": reference if ":" in reference else reference + ":0"}

    def json(self, paths=("it.bin",)):
        return {"format": "graph-model", "generatedBy": "a test", "convertedBy": None,
                "signature": {"inputs": self.inputs, "outputs": self.outputs},
                "modelTopology": {"node": self.nodes, "library": {}},
                "weightsManifest": [{"paths": list(paths), "weights": self.weights}]}

    def bytes(self):
        return b"".join(self.data)

    def write(self, folder, shards=1):
        """it.json, and its weights in so many files beside it."""
        data = self.bytes()
        paths = ["it.bin"] if shards == 1 else ["it-%d.bin" % i for i in range(shards)]
        size = -(-len(data) // shards) or 1
        for i, path in enumerate(paths):
            with open(os.path.join(folder, path), "wb") as f:
                f.write(data[i * size:(i + 1) * size])
        with open(os.path.join(folder, "it.json"), "w", encoding="utf-8") as f:
            json.dump(self.json(paths), f)
        return os.path.join(folder, "it.json")


class Layers(Model):
    """A model of Keras's layers; `inbound` names the layers that one reads, or calls of them
    ("name", 1)."""

    def __init__(self):
        super().__init__()
        self.layers, self.ends = [], []

    def layer(self, kind, name, calls=(), weights=None, **config):
        calls = [[[i, 0, 0, {}] if isinstance(i, str) else [i[0], i[1], 0, {}] for i in call]
                 for call in calls]
        self.layers.append({"class_name": kind, "name": name, "inbound_nodes": calls,
                            "config": {"name": name, **config}})
        for key, array in (weights or {}).items():
            self.const(array, name="%s/%s" % (name, key))
        return name

    def json(self, paths=("it.bin",)):
        inputs = [[l["name"], 0, 0] for l in self.layers if l["class_name"] == "InputLayer"]
        return {"format": "layers-model", "modelTopology": {"model_config": {
            "class_name": "Functional", "config": {
                "layers": self.layers, "input_layers": inputs,
                "output_layers": [[e, 0, 0] for e in self.ends]}}},
                "weightsManifest": [{"paths": list(paths), "weights": self.weights}]}
