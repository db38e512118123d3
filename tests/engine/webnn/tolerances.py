# SPDX-License-Identifier: LGPL-2.1-or-later
"""How far results may be off: the numbers of WebNN's own tests (web-platform-tests,
webnn/resources/utils.js, and the operators' files beside it), which come from
https://github.com/webmachinelearning/webnn/issues/265#issuecomment-1256242643. ULP: units in
the last place of the result's type; ATOL: absolutely."""

import math

# Of float32 and float16.
ULP = {
    'add': (1, 1), 'sub': (1, 1), 'mul': (1, 1), 'div': (2, 2), 'pow': (32, 2), 'exp': (32, 1),
    'reciprocal': (2, 2), 'sqrt': (1, 1), 'batchNormalization': (6, 6), 'cast': (1, 1),
    'elu': (18, 18), 'gelu': (18, 18), 'hardSigmoid': (2, 2), 'hardSwish': (4, 4),
    'instanceNormalization': (840, 8400), 'leakyRelu': (1, 1), 'linear': (2, 2), 'prelu': (1, 1),
    'sigmoid': (34, 3), 'softplus': (18, 18), 'softsign': (3, 3), 'tanh': (16, 16),
    'quantizeLinear': (1, 1), 'dequantizeLinear': (1, 1),
}
ATOL = {
    'cos': (1 / 1024, 1 / 512), 'erf': (1 / 1024, 1 / 512), 'log': (1 / 1024, 1 / 1024),
    'sin': (1 / 1024, 1 / 512), 'tan': (1 / 1024, 1 / 512),
    'layerNormalization': (1 / 1024, 1 / 512),
}


def conv(filter, layout, groups, transposed):
    sizes = dict(zip(layout, filter.shape))
    inside = sizes['i'] // groups if transposed else sizes['i']
    return sizes['h'] * sizes['w'] * inside * 2


def gemm(a):
    alpha, beta = a.get('alpha', 1), a.get('beta', 1)
    ulp = a['a'].shape[0 if a.get('aTranspose') else 1] * 2 + (alpha != 1)
    return ulp + (1 + (beta != 1) if 'c' in a and beta else 0)


def pool(a):
    nchw = a.get('layout', 'nchw') == 'nchw'
    return math.prod(a.get('windowDimensions', a['input'].shape[2:] if nchw
                           else a['input'].shape[1:3])) + 2


def reduction(op, a):
    shape = a['input'].shape
    count = math.prod(shape[i] for i in a['axes']) if 'axes' in a else math.prod(shape)
    return {'L1': count, 'Product': count, 'Sum': count, 'L2': 2 * count + 1, 'Mean': count + 2,
            'LogSum': count + 18, 'LogSumExp': 2 * count + 18, 'SumSquare': 2 * count,
            'Max': 0, 'Min': 0}[op[len('reduce'):]]


def recurrent(a):
    """WebNN's tests have 1 and 3 ULP, for one cell of sums that are exact. Here it is the sum of
    what a step's operators may be off, but absolutely, as states near 0 come of larger terms."""
    return a.get('steps', 1) * (34 + 16 + 16 + 4)


def tolerance(op, a, dtype, largest):
    """Of an operator with these arguments, whose results are up to `largest` in magnitude."""
    which = dtype == 'float16'
    if op in ATOL:
        return 'ATOL', ATOL[op][which]
    if op in ULP:
        return 'ULP', ULP[op][which]
    if op == 'conv2d':
        return 'ULP', conv(a['filter'], a.get('filterLayout', 'oihw'), 1, False)
    if op == 'convTranspose2d':
        return 'ULP', conv(a['filter'], a.get('filterLayout', 'iohw'), a.get('groups', 1), True)
    if op == 'gemm':
        return 'ULP', gemm(a)
    if op == 'matmul':
        return 'ULP', a['a'].shape[-1] * 2
    if op in ('averagePool2d', 'l2Pool2d'):
        return 'ULP', pool(a)
    if op.startswith('reduce'):
        return 'ULP', reduction(op, a)
    if op == 'softmax':
        return 'ULP', a['input'].shape[a['axis']] * 3 + 3
    if op == 'cumulativeSum':
        return 'ULP', a['input'].shape[a['axis']]
    if op == 'resample2d' and a.get('mode') == 'linear':
        return 'ULP', (84, 10)[which]
    if op in ('gru', 'gruCell', 'lstm', 'lstmCell'):
        return 'ATOL', recurrent(a) * (2.0 ** -24, 2.0 ** -12)[which] * max(1, largest)
    return 'ULP', 0
