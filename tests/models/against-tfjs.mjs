// SPDX-License-Identifier: LGPL-2.1-or-later
// Holds what tdl-run gives for TensorFlow.js models against what TensorFlow.js gives:
//
//     node against-tfjs.mjs TDL_RUN DEVICE[,DEVICE...] MODEL.json [OPTION]...
//
// from a folder that has @tensorflow/tfjs and @tensorflow/tfjs-backend-wasm. Prints a line
// for each device: the model, its kinds of operators, the largest difference of an output
// over that output's largest element, and whether that is within 1e-3. Options:
//     --size WxH        of the pictures that it takes, where they are open
//     --number NAME=X   an input that is one number
//     --states N        outputs NAMEo become inputs NAMEi, for N runs on a moving picture
//     --precision P     of tdl-run; --limit X: instead of 1e-3
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const [tdlRun, devices, modelPath, ...rest] = process.argv.slice(2);
const options = { number: {}, states: 0, limit: 1e-3, precision: 'fp32' };
for (let i = 0; i < rest.length; i += 2) {
    const value = rest[i + 1];
    if (rest[i] === '--number') options.number[value.split('=')[0]] = +value.split('=')[1];
    else if (rest[i] === '--size') options.size = value.split('x').map(Number);
    else options[rest[i].slice(2)] = rest[i] === '--precision' ? value : +value;
}

const require = createRequire(process.cwd() + '/');
const tf = require('@tensorflow/tfjs');
require('@tensorflow/tfjs-backend-wasm').setWasmPaths(
    path.join(process.cwd(), 'node_modules/@tensorflow/tfjs-backend-wasm/dist/'));

function writeNpy(file, { dims, data }) {
    const type = data instanceof Int32Array ? '<i4' : data instanceof Uint8Array ? '|u1' : '<f4';
    const shape = dims.length === 1 ? `${dims[0]},` : dims.join(',');
    let header = `{'descr': '${type}', 'fortran_order': False, 'shape': (${shape}), }`;
    header = header.padEnd(Math.ceil((11 + header.length) / 64) * 64 - 11) + '\n';
    const start = Buffer.from([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0,
        header.length & 255, header.length >> 8]);
    fs.writeFileSync(file, Buffer.concat([start, Buffer.from(header),
        Buffer.from(data.buffer, data.byteOffset, data.byteLength)]));
}

function readNpy(file) {
    const types = { '<f4': Float32Array, '<i4': Int32Array, '|u1': Uint8Array };
    const bytes = fs.readFileSync(file), length = bytes.readUInt16LE(8);
    const Type = types[/'descr': '([^']*)'/.exec(bytes.toString('latin1', 10, 10 + length))[1]];
    const copy = bytes.subarray(10 + length);
    return new Type(copy.buffer.slice(copy.byteOffset, copy.byteOffset + copy.length));
}

// A ball before stripes, which moves; a little noise, so that nothing is equal.
function picture(dims, integer, step) {
    const count = dims.reduce((a, b) => a * b, 1), data = new (integer ? Int32Array : Float32Array)(count);
    const first = dims.length === 4 && dims[3] > 4; // channels come first
    const [h, w, c] = dims.length !== 4 ? [1, count, 1] : first ? [dims[2], dims[3], dims[1]] : dims.slice(1);
    for (let i = 0, state = 1 + step; i < count; i++) {
        const at = first ? i % (h * w) : Math.floor(i / c) % (h * w);
        const channel = first ? Math.floor(i / (h * w)) % c : i % c;
        const y = Math.floor(at / w) / h, x = (at % w) / w;
        const inside = Math.hypot(x - 0.3 - 0.03 * step, (y - 0.5) * h / w) < 0.2;
        state = state * 48271 % 0x7fffffff;
        const value = (inside ? 0.8 - 0.2 * channel : 0.3 + 0.2 * Math.sin(20 * x + channel)) +
            0.1 * state / 0x7fffffff;
        data[i] = integer ? Math.round(255 * value) : value;
    }
    return { dims, data };
}

const plain = name => name.replace(/:0$/, '');
const spec = JSON.parse(fs.readFileSync(modelPath));
const groups = spec.weightsManifest;
const bin = Buffer.concat(groups.flatMap(g => g.paths).map(
    p => fs.readFileSync(path.join(path.dirname(modelPath), p))));
const artifacts = {
    modelTopology: spec.modelTopology, weightSpecs: groups.flatMap(g => g.weights), format: spec.format,
    weightData: bin.buffer.slice(bin.byteOffset, bin.byteOffset + bin.byteLength),
};
const layers = !spec.modelTopology.node;
const load = () => (layers ? tf.loadLayersModel : tf.loadGraphModel)({ load: async () => artifacts });

function describe() { // inputs and outputs as tdl-run names them
    if (layers) return null;
    const signature = spec.signature?.outputs ? spec.signature : spec.userDefinedMetadata?.signature;
    const nodes = Object.fromEntries(spec.modelTopology.node.map(n => [n.name, n]));
    const inputs = signature?.inputs ? Object.entries(signature.inputs).map(
        ([key, v]) => [plain(key), plain(v.name)]) : spec.modelTopology.node.filter(
        n => n.op === 'Placeholder').map(n => [n.name, n.name]);
    const hints = Object.fromEntries(Object.entries(signature?.inputs ?? {}).map(([k, v]) => [plain(k), v.tensorShape]));
    return {
        inputs: inputs.map(([name, node]) => {
            const shape = nodes[node].attr.shape.shape, type = nodes[node].attr.dtype.type;
            let dims = shape.unknownRank ? null : (shape.dim ?? []).map(d => +d.size);
            if (dims?.length === 4) {
                if (dims[0] < 0) dims[0] = 1;
                for (const d of [1, 2])
                    if (dims[d] < 0) dims[d] = options.size ? options.size[2 - d] : +hints[name].dim[d].size;
            }
            return { name, node, dims, integer: type !== 'DT_FLOAT' , bytes: type === 'DT_UINT8' };
        }),
        outputs: Object.entries(signature.outputs).map(([key, v]) => [plain(key), v.name]),
    };
}

async function withModel(backend, use) {
    await tf.setBackend(backend);
    return use(await load());
}

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tdl-'));
const ops = layers ? [].concat((spec.modelTopology.model_config ?? spec.modelTopology).config).flatMap(
        c => c.layers ?? c).map(l => l.class_name) :
    spec.modelTopology.node.map(n => n.op);
const kinds = new Set(ops).size;
const io = describe();
const name = path.basename(modelPath, '.json');

async function reference(model, feeds, names) {
    const results = [].concat(await model.executeAsync(feeds, names));
    return Promise.all(results.map(async t => ({ dims: t.shape, data: (await t.data()).slice(), tensor: t })));
}

function feedsOf(step, states = {}) {
    return Object.fromEntries(io.inputs.map(({ name: n, node, dims, integer }) => {
        if (n in options.number) return [node, tf.tensor(options.number[n])];
        if (options.states && /^r\di$/.test(n)) return [node, tf.tensor(0)];
        const p = picture(dims, integer, step);
        return [node, tf.tensor(p.data, dims, integer ? 'int32' : 'float32')];
    }));
}

// How far its two back-ends are from each other, for the pictures of some steps: what
// amplifies rounding, as a steep sigmoid does, nobody computes to the last digit.
async function spread() {
    const names = io.outputs.map(([, v]) => v);
    let worst = 0;
    for (let step = 0; step < Math.min(3, Math.max(1, options.states)); step++) {
        const both = [];
        for (const backend of ['wasm', 'cpu']) {
            await open(backend);
            both.push(await reference(model, feedsOf(step), names));
        }
        names.forEach((n, i) => worst = Math.max(worst, difference(both[0][i].data, both[1][i].data)));
    }
    return worst;
}

function tdl(device, inputs, outputs) {
    const args = ['-d', device, '-p', options.precision, modelPath];
    if (options.size) args.push('--input-size', options.size.join('x'));
    for (const [n, x] of Object.entries(options.number)) args.push('--number', `${n}=${x}`);
    for (const [n, value] of inputs) {
        const file = path.join(folder, `in-${args.length}.npy`);
        writeNpy(file, value);
        args.push('--input', `${n}=${file}`);
    }
    const files = outputs.map((n, i) => path.join(folder, `out-${i}.npy`));
    outputs.forEach((n, i) => args.push('--output', `${n}=${files[i]}`));
    execFileSync(tdlRun, args, { stdio: ['ignore', 'ignore', 'pipe'], maxBuffer: 1 << 26 });
    return files.map(readNpy);
}

function difference(want, got) {
    if (want.length !== got.length) return Infinity;
    let most = 1e-3, worst = 0;
    for (const v of want) most = Math.max(most, Math.abs(v));
    for (let i = 0; i < want.length; i++)
        if (!(Object.is(want[i], got[i]))) {
            const d = Math.abs(want[i] - got[i]);
            worst = Math.max(worst, Number.isNaN(d) ? Infinity : d);
        }
    return worst / most;
}

let model, faults = 0;
async function open(backend) {
    await tf.setBackend(backend);
    model = await load();
}
await open(process.env.BACKEND ?? 'wasm');
if (layers) { // names are those of its layers
    const ends = [].concat(model.inputs).map(t => ({
        name: plain(t.name), dims: t.shape.map((d, i) => d ?? (i === 0 ? 1 : options.size[2 - i])) }));
    const feeds = ends.map(e => picture(e.dims, false, 0));
    const results = [].concat(model.predict(feeds.map(f => tf.tensor(f.data, f.dims))));
    const names = model.outputNames;
    for (const device of devices.split(',')) {
        let worst = 0;
        const got = tdl(device, ends.map((e, i) => [e.name, feeds[i]]), names);
        for (let i = 0; i < names.length; i++)
            worst = Math.max(worst, difference(await results[i].data(), got[i]));
        faults += worst > options.limit;
        console.log(`| ${name} | ${kinds} | ${device} | ${worst.toExponential(1)} |`);
    }
    process.exit(faults ? 1 : 0);
}
for (const device of devices.split(',')) {
    let worst = 0, states = {};
    const worsts = [];
    try {
        for (let step = 0; step < Math.max(1, options.states); step++) {
            const feeds = {}, inputs = [];
            for (const { name: n, node, dims, integer, bytes } of io.inputs) {
                if (n in options.number) {
                    feeds[node] = tf.tensor(options.number[n]);
                } else if (options.states && /^r\di$/.test(n)) {
                    feeds[node] = states[n]?.tensor ?? tf.tensor(0);
                    if (states[n]) inputs.push([n, states[n].got]);
                } else {
                    const p = picture(dims, integer, step);
                    feeds[node] = tf.tensor(p.data, dims, integer ? 'int32' : 'float32');
                    inputs.push([n, bytes ? { dims, data: Uint8Array.from(p.data) } : p]);
                }
            }
            const names = io.outputs.map(([, v]) => v);
            let want;
            try {
                want = await reference(model, feeds, names);
            } catch (error) {
                if (tf.getBackend() === 'cpu' || !/not registered|not yet supported/.test(error.message)) throw error;
                await open('cpu'); // in plain JavaScript it has all operators
                want = await reference(model, Object.fromEntries(Object.entries(feeds).map(
                    ([k, t]) => [k, tf.tensor(t.dataSync(), t.shape, t.dtype)])), names);
            }
            const got = tdl(device, inputs, io.outputs.map(([n]) => n));
            io.outputs.forEach(([n], i) => {
                const d = difference(want[i].data, got[i]);
                worst = Math.max(worst, d);
                if (options.states && /^r\do$/.test(n))
                    states[n.replace(/o$/, 'i')] = { tensor: want[i].tensor, got: { dims: want[i].dims, data: got[i] } };
            });
        }
        let note = '';
        if (!(worst <= options.limit)) {
            const own = await spread();
            const ok = worst <= 2 * own;
            faults += !ok;
            note = ` ${ok ? '' : 'FAILED'} (TensorFlow.js differs from itself by ${own.toExponential(1)})`;
        }
        console.log(`| ${name} | ${kinds} | ${device} | ${worst.toExponential(1)}${note} |`);
    } catch (error) {
        const text = String(error.stderr ?? error.stack).trim().split('\n').pop();
        console.log(`| ${name} | ${kinds} | ${device} | ${text.replace(modelPath + ': ', '').replace('tdl-run: ', '')} |`);
        faults += error.status !== 1; // refused, with a reason, is no fault
    }
}
fs.rmSync(folder, { recursive: true });
process.exit(faults ? 1 : 0);
