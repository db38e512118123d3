// SPDX-License-Identifier: LGPL-2.1-or-later
// What test-microsoft.py left in a folder (--keep), in ONNX Runtime:
//
//     node nodes-onnxruntime.mjs FOLDER
//
// Its results are held against NumPy's and libtdl's, which lie there: floats within 1e-4 of the
// largest, or of 1, other numbers within one step. What its CPU has not is counted.
import { createRequire } from 'node:module';
import fs from 'node:fs';

const ort = createRequire(process.cwd() + '/')('onnxruntime-node');
const folder = process.argv[2];
const types = { '<f4': Float32Array, '|u1': Uint8Array, '|i1': Int8Array, '<i4': Int32Array,
    '<i8': BigInt64Array };

function readNpy(file) {
    const bytes = fs.readFileSync(file), length = bytes.readUInt16LE(8);
    const Type = types[/'descr': '([^']*)'/.exec(bytes.toString('latin1', 10, 10 + length))[1]];
    const copy = bytes.subarray(10 + length);
    return new Type(copy.buffer.slice(copy.byteOffset, copy.byteOffset + copy.length));
}

function isNear(got, want) {
    const largest = want.reduce((a, b) => Math.max(a, Math.abs(b)), 1);
    const limit = want instanceof Float32Array ? 1e-4 * largest : 1;
    return got.length === want.length && got.every((x, i) => Math.abs(x - want[i]) <= limit);
}

async function results(file, number, { inputs }) {
    const session = await ort.InferenceSession.create(file,
        { graphOptimizationLevel: 'disabled', logSeverityLevel: 4 });
    return session.run(Object.fromEntries(inputs.map(([name, type, dims]) =>
        [name, new ort.Tensor(type, readNpy(`${folder}/${number}.${name}.npy`), dims)])));
}

const count = { same: 0, other: 0, lacking: 0 };
for (const [number, node] of JSON.parse(fs.readFileSync(`${folder}/cases.json`)).entries()) {
    let wanted;
    if (node.name.endsWith('in float16'))
        continue; // Node's arrays have none
    try {
        wanted = await results(`${folder}/${number}.onnx`, number, node);
    } catch {
        count.lacking++;
        continue;
    }
    const same = node.outputs.every(name =>
        isNear(readNpy(`${folder}/${number}.right${name.slice(1)}.npy`), wanted[name].data) &&
        isNear(readNpy(`${folder}/${number}.${name}.npy`), wanted[name].data));
    count[same ? 'same' : 'other']++;
    if (!same)
        console.log(`${node.name}: ONNX Runtime has other numbers`);
}
console.log(`${count.same} nodes agree, ${count.other} do not, ${count.lacking} ONNX Runtime's CPU has not`);
process.exit(count.other || !count.same ? 1 : 0);
