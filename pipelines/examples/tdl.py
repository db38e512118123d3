# SPDX-License-Identifier: LGPL-2.1-or-later
"""libtdl for Python, as far as it takes to build or load a graph and to run it.

Needs libtdl.so.0 where the loader finds it, and NumPy. tensors.py beside this shows
it at work. What is missing is a line here for each function; <tdl/tdl.h> says what
they do, and who owns what.
"""
import ctypes as c

import numpy as np

_lib = c.CDLL("libtdl.so.0")
MAX_RANK = 6
READABLE, WRITABLE = 1, 2
ROW_MAJOR, PACKS = 0, 1  # how a tensor lies; packs of four channels are of [N, H, W, C]
# In the order of enum tdl_dtype.
DTYPES = [np.dtype(t) for t in ("float32", "float16", "int32", "uint32", "int8", "uint8",
                                "int64", "uint64")]


class ContextParams(c.Structure):
    """struct tdl_context_params; zeros are the defaults."""
    _fields_ = [("device", c.c_char_p), ("threads", c.c_uint32), ("cache_dir", c.c_char_p),
                ("validation", c.c_bool), ("log", c.c_void_p), ("log_data", c.c_void_p),
                ("log_level", c.c_int), ("max_queued", c.c_uint32), ("busy_when_full", c.c_bool),
                ("max_queues", c.c_uint64), ("reserved", c.c_uint64 * 2)]


class TensorParams(c.Structure):
    """struct tdl_tensor_params"""
    _fields_ = [("dtype", c.c_int), ("rank", c.c_uint32), ("shape", c.c_uint32 * MAX_RANK),
                ("packing", c.c_int), ("usage", c.c_uint32), ("label", c.c_char_p),
                ("reserved", c.c_uint64 * 4)]

    @classmethod
    def of(cls, shape, dtype, packing=ROW_MAJOR):
        return cls(dtype=DTYPES.index(np.dtype(dtype)), rank=len(shape), packing=packing,
                   shape=(c.c_uint32 * MAX_RANK)(*shape), usage=READABLE | WRITABLE)

    def numpy(self):
        """(shape, dtype, packing)"""
        return tuple(self.shape[:self.rank]), DTYPES[self.dtype], self.packing


class Binding(c.Structure):
    """struct tdl_binding"""
    _fields_ = [("name", c.c_char_p), ("tensor", c.c_void_p)]


class Error(Exception):
    """What tdl_last_error() says."""


_P, _OUT = c.c_void_p, c.POINTER(c.c_void_p)
_PARAMS, _BINDINGS = c.POINTER(TensorParams), c.POINTER(Binding)


def _declare(name, result, *arguments):
    function = getattr(_lib, "tdl_" + name)
    function.restype, function.argtypes = result, arguments
    return function


_last_error = _declare("last_error", c.c_char_p)
_context_create = _declare("context_create", c.c_int, c.POINTER(ContextParams), _OUT)
_tensor_create = _declare("tensor_create", c.c_int, _P, _PARAMS, _OUT)
_tensor_write = _declare("tensor_write", c.c_int, _P, _P, c.c_size_t, _P)
_tensor_read = _declare("tensor_read", c.c_int, _P, _P, c.c_size_t)
_builder_create = _declare("builder_create", c.c_int, _P, _OUT)
_builder_input = _declare("builder_input", _P, _P, c.c_char_p, _PARAMS)
_builder_constant = _declare("builder_constant", _P, _P, _PARAMS, _P, c.c_size_t)
_builder_output = _declare("builder_output", c.c_int, _P, c.c_char_p, _P)
_builder_build = _declare("builder_build", c.c_int, _P, _P, _OUT)
_model_load = _declare("model_load", c.c_int, _P, c.c_char_p, _P)
_graph_input = _declare("graph_input", _PARAMS, _P, c.c_uint32, c.POINTER(c.c_char_p))
_graph_output = _declare("graph_output", _PARAMS, _P, c.c_uint32, c.POINTER(c.c_char_p))
_graph_dispatch = _declare("graph_dispatch", c.c_int, _P, _BINDINGS, c.c_uint32, _BINDINGS,
                           c.c_uint32, _P)


def _check(result):
    if result:
        raise Error(_last_error().decode())


class _Object:
    """Something of libtdl's, destroyed with the Python object or by close()."""
    _kind = None

    def __init__(self, create, *arguments):
        self._as_parameter_ = c.c_void_p()
        _check(create(*arguments, c.byref(self._as_parameter_)))

    def close(self):
        getattr(_lib, f"tdl_{self._kind}_destroy")(c.byref(self._as_parameter_))

    def __del__(self):
        if getattr(self, "_as_parameter_", None):
            self.close()


class Context(_Object):
    """A device: None or a name as tdl_context_params.device has them."""
    _kind = "context"

    def __init__(self, device=None):
        params = ContextParams(device=device.encode() if device else None)
        super().__init__(_context_create, params)

    def tensor(self, shape, dtype="float32", packing=ROW_MAJOR):
        return Tensor(self, shape, dtype, packing)

    def builder(self):
        return Builder(self)


class Tensor(_Object):
    _kind = "tensor"

    def __init__(self, context, shape, dtype, packing):
        self.shape, self.dtype = tuple(shape), np.dtype(dtype)
        super().__init__(_tensor_create, context, TensorParams.of(shape, dtype, packing))

    def write(self, array):
        """Queued, in order with dispatches."""
        array = np.ascontiguousarray(array, self.dtype)
        if array.shape != self.shape:
            raise ValueError(f"{array.shape} for a tensor of {self.shape}")
        _check(_tensor_write(self, array.ctypes.data, array.nbytes, None))

    def read(self):
        """Waits for what was queued on this tensor."""
        array = np.empty(self.shape, self.dtype)
        _check(_tensor_read(self, array.ctypes.data, array.nbytes))
        return array


class Builder(_Object):
    """A graph in the making. Operators take and give operands; a mistake shows in build()."""
    _kind = "builder"

    def __init__(self, context):
        self._context = context
        self._constants = []  # libtdl reads them until it is destroyed
        super().__init__(_builder_create, context)

    def input(self, name, shape, dtype="float32"):
        return _builder_input(self, name.encode(), TensorParams.of(shape, dtype))

    def constant(self, array):
        array = np.ascontiguousarray(array)
        self._constants.append(array)
        return _builder_constant(self, TensorParams.of(array.shape, array.dtype),
                                 array.ctypes.data, array.nbytes)

    def load(self, path):
        """All of a model's file: its inputs, operators and outputs."""
        _check(_model_load(self, str(path).encode(), None))

    def output(self, name, operand):
        _check(_builder_output(self, name.encode(), operand))

    def build(self):
        return Graph(self._context, self)


def _operator(name, *numbers):
    """A method for tdl_builder_NAME() of operands, and numbers behind them."""
    count = {"add": 2, "sub": 2, "mul": 2, "div": 2, "matmul": 2}.get(name, 1)
    function = _declare("builder_" + name, _P, _P, *[_P] * count, *numbers)

    def method(self, *arguments):
        return function(self, *arguments)
    setattr(Builder, name, method)


for _name in ("add", "sub", "mul", "div", "matmul", "relu", "sigmoid", "tanh", "exp"):
    _operator(_name)
_operator("softmax", c.c_uint32)  # axis


class Graph(_Object):
    """What runs; `inputs` and `outputs` are dicts of (shape, dtype, packing) by name."""
    _kind = "graph"

    def __init__(self, context, builder):
        self._context = context
        super().__init__(_builder_build, builder, None)
        self.inputs, self.outputs = self._ends(_graph_input), self._ends(_graph_output)

    def _ends(self, ask):
        ends, name = {}, c.c_char_p()
        while params := ask(self, len(ends), c.byref(name)):
            ends[name.value.decode()] = params.contents.numpy()
        return ends

    def dispatch(self, inputs, outputs):
        """Queue a run on tensors by name; returns at once."""
        def bind(tensors):
            return (Binding * len(tensors))(*[(name.encode(), t._as_parameter_)
                                              for name, t in tensors.items()])
        _check(_graph_dispatch(self, bind(inputs), len(inputs), bind(outputs), len(outputs), None))

    def __call__(self, **arrays):
        """Arrays in, arrays out, by name: tensors are made for this run."""
        inputs = {name: self._context.tensor(*self.inputs[name]) for name in arrays}
        outputs = {name: self._context.tensor(*end) for name, end in self.outputs.items()}
        for name, array in arrays.items():
            inputs[name].write(array)
        self.dispatch(inputs, outputs)
        return {name: tensor.read() for name, tensor in outputs.items()}
