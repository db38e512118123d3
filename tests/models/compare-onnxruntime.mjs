// SPDX-License-Identifier: LGPL-2.1-or-later
// compare-onnxruntime.mjs TDL-BENCH MODEL MODEL.onnx THREADS ROUNDS [RUNS [OPTION...]]
// One network in ONNX Runtime and in tdl-bench --device cpu, a round each in turns,
// so that whatever else the machine does hits both: MODEL may be of TensorFlow Lite or
// TensorFlow.js. RUNS of a round are 100; options are for tdl-bench.
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';

const ort = createRequire(process.cwd() + '/')('onnxruntime-node');
const [bench, model, onnx, threads, rounds, runs = '100', ...options] = process.argv.slice(2);
const RUNS = Number(runs);

const session = await ort.InferenceSession.create(onnx, {
    intraOpNumThreads: Number(threads), interOpNumThreads: 1, executionMode: 'sequential',
    graphOptimizationLevel: 'all',
});
const feeds = {};
for (const { name, shape } of session.inputMetadata) {
    const data = Float32Array.from({ length: shape.reduce((a, b) => a * b) }, Math.random);
    feeds[name] = new ort.Tensor('float32', data, shape);
}

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
        '--iterations', String(RUNS), ...options, model], { encoding: 'utf8' });
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
console.log(`${model}: ${rounds} rounds of ${RUNS} runs each in turns, ${threads} threads`);
console.log('                        min ms    of ORT   median ms   of ORT   inside operators ms');
for (const [name, list] of Object.entries(rows)) {
    const m = median(list.map(r => r[1])), inside = median(list.map(r => r[2]));
    const least = rows => Math.min(...rows.map(r => r[0]));
    console.log(name.padEnd(22), least(list).toFixed(3).padStart(7),
        (least(list) / least(rows['ONNX Runtime'])).toFixed(2).padStart(9),
        m.toFixed(3).padStart(11), (m / base).toFixed(2).padStart(8),
        Number.isNaN(inside) ? '' : inside.toFixed(3).padStart(12));
}
