// SPDX-License-Identifier: LGPL-2.1-or-later
// Writes what ONNX Runtime's optimizer makes of a model, for all processors:
//
//     node optimise.mjs MODEL.onnx OUT.onnx
import { createRequire } from 'node:module';

const [model, optimizedModelFilePath] = process.argv.slice(2);
await createRequire(process.cwd() + '/')('onnxruntime-node').InferenceSession.create(model,
    { graphOptimizationLevel: 'extended', optimizedModelFilePath, logSeverityLevel: 3 });
