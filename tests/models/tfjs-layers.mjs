// SPDX-License-Identifier: LGPL-2.1-or-later
// Layers models of all kinds that libtdl reads, made and saved by TensorFlow.js itself:
//
//     node tfjs-layers.mjs FOLDER
//
// from a folder that has @tensorflow/tfjs. Weights are random, also where training would
// begin with zeros and ones.
import { createRequire } from 'node:module';
import fs from 'node:fs';
import path from 'node:path';

const tf = createRequire(process.cwd() + '/')('@tensorflow/tfjs');
const L = tf.layers, folder = process.argv[2];

async function save(name, model) {
    model.setWeights(model.getWeights().map((w, i) => w.shape.length > 1 ? tf.randomNormal(w.shape, 0, 0.3, 'float32', i)
        : tf.randomUniform(w.shape, 0.2, 1.2, 'float32', i)));
    await model.save({ save: async artifacts => {
        const { weightData, weightSpecs, ...rest } = artifacts;
        fs.writeFileSync(path.join(folder, name + '.bin'), Buffer.from(weightData));
        fs.writeFileSync(path.join(folder, name + '.json'), JSON.stringify({
            ...rest, weightsManifest: [{ paths: [name + '.bin'], weights: weightSpecs }] }));
        return { modelArtifactsInfo: { dateSaved: new Date(0) } };
    } });
}

const picture = [12, 16, 3];
await save('sequential', tf.sequential({ layers: [
    L.conv2d({ inputShape: picture, filters: 8, kernelSize: 3, strides: 2, padding: 'same', activation: 'relu' }),
    L.batchNormalization(), L.depthwiseConv2d({ kernelSize: 3, depthMultiplier: 2, padding: 'valid' }),
    L.leakyReLU({ alpha: 0.2 }), L.maxPooling2d({ poolSize: 2 }), L.dropout({ rate: 0.5 }), L.flatten(),
    L.dense({ units: 10, activation: 'softmax' })] }));
await save('upwards', tf.sequential({ layers: [
    L.separableConv2d({ inputShape: picture, filters: 6, kernelSize: 3, padding: 'same', activation: 'elu' }),
    L.conv2dTranspose({ filters: 5, kernelSize: 3, strides: 2, padding: 'same' }), L.prelu({ sharedAxes: [1, 2] }),
    L.conv2dTranspose({ filters: 4, kernelSize: 4, strides: 2, padding: 'valid', useBias: false }),
    L.averagePooling2d({ poolSize: [2, 3], strides: [1, 2], padding: 'same' }),
    L.upSampling2d({ size: [2, 3] }), L.upSampling2d({ size: [2, 1], interpolation: 'bilinear' }),
    L.cropping2D({ cropping: [[1, 0], [2, 3]] }), L.zeroPadding2d({ padding: [[0, 2], [1, 0]] }),
    L.conv2d({ filters: 2, kernelSize: 3, dilationRate: 2, activation: 'sigmoid' })] }));

const x = tf.input({ shape: picture, name: 'x' });
const conv = L.conv2d({ filters: 3, kernelSize: 3, padding: 'same', name: 'shared' });
const a = conv.apply(x), b = conv.apply(a); // one layer, twice
const parts = [L.add().apply([a, b, x]), L.multiply().apply([a, b]), L.average().apply([a, b, x]),
    L.maximum().apply([a, b]), L.minimum().apply([a, b])];
const all = L.concatenate().apply(parts);
await save('joined', tf.model({ inputs: x, outputs: [
    L.globalAveragePooling2d({}).apply(all), L.globalMaxPooling2d({}).apply(all),
    L.reshape({ targetShape: [16, -1] }).apply(L.permute({ dims: [2, 1, 3] }).apply(all)),
    L.activation({ activation: 'hardSigmoid' }).apply(L.reLU({ maxValue: 0.5 }).apply(all)),
    L.softmax({ axis: -1 }).apply(all), L.activation({ activation: 'swish' }).apply(b)] }));
