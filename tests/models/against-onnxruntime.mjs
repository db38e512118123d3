// SPDX-License-Identifier: LGPL-2.1-or-later
// Holds what tdl-run gives for a model against what ONNX Runtime gives:
//
//     node against-onnxruntime.mjs TDL_RUN MODEL.onnx[=FLOAT32.onnx] DEVICE[,DEVICE...] \\
//         INPUT=1,3,320,320... [--OPTION VALUE]...
//
// from a folder that has onnxruntime-node. Options are for tdl-run. A model in float16 comes with the same in
// float32 (to-float32.py), since ONNX Runtime rounds between operators. Inputs are numbers from 0 to 1, the same in
// every run. Each output may differ by a thousandth of its largest element, or of a
// thousandth where that is less: probabilities of nothing at all.
// Models that quantize what they compute (DynamicQuantizeLinear) differ by more: a number
// beside a step's edge falls to either side, and ONNX Runtime differs as much from itself
// when the input changes by 1e-7.
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const LIMIT = 1e-3;
const types = {
    '<f4': ['float32', Float32Array], '<i4': ['int32', Int32Array], '<i8': ['int64', BigInt64Array],
    '|u1': ['uint8', Uint8Array], '|i1': ['int8', Int8Array],
};

function writeNpy(file, dims, data) {
    let header = `{'descr': '<f4', 'fortran_order': False, 'shape': (${dims.join(',')},)}`;
    header = header.padEnd(Math.ceil((11 + header.length) / 64) * 64 - 11) + '\n';
    const start = Buffer.from([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0,
        header.length & 255, header.length >> 8]);
    fs.writeFileSync(file, Buffer.concat([start, Buffer.from(header), Buffer.from(data.buffer)]));
}

function readNpy(file) {
    const bytes = fs.readFileSync(file), length = bytes.readUInt16LE(8);
    const header = bytes.toString('latin1', 10, 10 + length);
    const [, Type] = types[/'descr': '([^']*)'/.exec(header)[1]];
    const copy = bytes.subarray(10 + length);
    return new Type(copy.buffer.slice(copy.byteOffset, copy.byteOffset + copy.length));
}

function random(count) { // Lehmer, MINSTD
    const data = new Float32Array(count);
    for (let i = 0, state = 1; i < count; i++) {
        state = state * 48271 % 0x7fffffff;
        data[i] = state / 0x7fffffff;
    }
    return data;
}

const [tdlRun, models, devices, ...rest] = process.argv.slice(2);
const options = rest.findIndex(text => text.startsWith('--'));
const shapes = options < 0 ? rest : rest.slice(0, options);
const [model, reference = model] = models.split('=');
const ort = createRequire(process.cwd() + '/')('onnxruntime-node');
const session = await ort.InferenceSession.create(reference, { graphOptimizationLevel: 'basic' });
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tdl-'));
const feeds = {}, args = options < 0 ? [] : rest.slice(options);
for (const text of shapes) {
    const at = text.lastIndexOf('='), name = text.slice(0, at);
    const dims = text.slice(at + 1).split(',').map(Number);
    const data = random(dims.reduce((a, b) => a * b, 1)), file = path.join(folder, `in${args.length}.npy`);
    feeds[name] = new ort.Tensor('float32', data, dims);
    writeNpy(file, dims, data);
    args.push('--input', `${name}=${file}`);
    session.inputMetadata?.forEach(i => i.name === name && i.shape.forEach((size, d) =>
        typeof size === 'string' && args.push('--bind', `${size}=${dims[d]}`)));
    if (!session.inputMetadata && dims.length === 4)
        args.push('--input-size', `${dims[3]}x${dims[2]}`);
}
const start = performance.now(), wanted = await session.run(feeds);
console.log(`ONNX Runtime: ${(performance.now() - start).toFixed(1)} ms, the first run`);
const outputs = session.outputNames.map((name, i) => ({ name, file: path.join(folder, `out${i}.npy`) }));
let failures = 0;
for (const device of devices.split(','))
    for (const fuse of [[], ['--no-fuse']]) {
        const text = execFileSync(tdlRun, [model, ...args, '--device', device, ...fuse,
            ...outputs.flatMap(o => ['--output', `${o.name}=${o.file}`])], { encoding: 'utf8' });
        let worst = 0;
        for (const { name, file } of outputs) {
            const got = readNpy(file), want = wanted[name].data;
            let largest = 0, error = 0;
            if (got.length !== want.length)
                error = Infinity;
            for (let i = 0; i < want.length; i++) {
                largest = Math.max(largest, Math.abs(Number(want[i])));
                const difference = Math.abs(Number(got[i]) - Number(want[i]));
                error = difference > error || Number.isNaN(difference) ? difference : error;
            }
            worst = Math.max(worst, Number.isNaN(error) ? Infinity : error / Math.max(largest, 1e-3));
        }
        failures += worst > LIMIT;
        console.log(`${device}${fuse.length ? ', not fused' : ''}: ${worst.toExponential(1)} of the ` +
            `largest${worst > LIMIT ? ', TOO MUCH' : ''}; ${/run +1 times on [^:]*: ([^,]*)/.exec(text)[1]}`);
    }
fs.rmSync(folder, { recursive: true });
process.exit(failures ? 1 : 0);
