// SPDX-License-Identifier: LGPL-2.1-or-later
// compare-onnxruntime.mjs TDL-BENCH MODEL.tflite MODEL.onnx THREADS ROUNDS
// One network in ONNX Runtime and in tdl-bench --device cpu, a round each in turns,
// so that whatever else the machine does hits both.
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';

const ort = createRequire(process.cwd() + '/')('onnxruntime-node');
const [bench, tflite, onnx, threads, rounds] = process.argv.slice(2);
const RUNS = 100; // of a round

const session = await ort.InferenceSession.create(onnx, {
    intraOpNumThreads: Number(threads), interOpNumThreads: 1, executionMode: 'sequential',
    graphOptimizationLevel: 'all',
});
const shape = session.inputMetadata[0].shape;
const data = Float32Array.from({ length: shape.reduce((a, b) => a * b) }, Math.random);
const feeds = { [session.inputNames[0]]: new ort.Tensor('float32', data, shape) };

async function roundOfOrt() {
    const ms = [];
    for (let i = 0; i < RUNS + 10; i++) {
        const start = process.hrtime.bigint();
        await session.run(feeds);
        ms.push(Number(process.hrtime.bigint() - start) / 1e6);
    }
    return ms.slice(10).sort((a, b) => a - b);
}

function roundOfTdl(count) {
    const out = execFileSync(bench, ['--device', 'cpu', '--threads', count, '--json',
        '--iterations', String(RUNS), tflite], { encoding: 'utf8' });
    const o = JSON.parse(out);
    return [o.wall_ms.min, o.wall_ms.median, o.steps_ms];
}

const rows = { 'ONNX Runtime': [], 'tdl, as many threads': [], 'tdl, its own choice': [] };
for (let i = 0; i < Number(rounds); i++) {
    const ms = await roundOfOrt();
    rows['ONNX Runtime'].push([ms[0], ms[ms.length >> 1], NaN]);
    rows['tdl, as many threads'].push(roundOfTdl(threads));
    rows['tdl, its own choice'].push(roundOfTdl('0'));
}
const median = list => list.sort((a, b) => a - b)[list.length >> 1];
const base = median(rows['ONNX Runtime'].map(r => r[1]));
console.log(`${tflite}: ${rounds} rounds of ${RUNS} runs each in turns, ${threads} threads`);
console.log('                        min ms   median ms   of ORT   inside operators ms');
for (const [name, list] of Object.entries(rows)) {
    const m = median(list.map(r => r[1])), inside = median(list.map(r => r[2]));
    console.log(name.padEnd(22), Math.min(...list.map(r => r[0])).toFixed(3).padStart(7),
        m.toFixed(3).padStart(11), (m / base).toFixed(2).padStart(8),
        Number.isNaN(inside) ? '' : inside.toFixed(3).padStart(12));
}
