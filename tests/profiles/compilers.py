#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What AMD's compiler in Mesa (RADV) makes of the kernels, without a card.

compilers.py [--table] BUILD MODELS [CHIP...]

RADV compiles for the chip that RADV_FORCE_FAMILY names, and a layer answers the rest
(tests/profiles/compile_only.c). Compiled is what the person models take in both precisions,
frames in every mode, and an operator of each kind that tdl-bench has; with MODELS/rvm.json
matting, too. Prints lines for tests/run.sh: a kernel that was refused or that spills
registers fails, and so do ones of which too few run beside each other.
"""
import os
import subprocess
import sys
import tempfile

# Subgroups that a SIMD holds at least. GCN has registers for ten, and our widest tiles
# leave it one; RDNA has them for sixteen or twenty.
CHIPS = {"POLARIS10": 1, "VEGA10": 1, "NAVI10": 4, "NAVI21": 4, "GFX1100": 4}
# Registers that Mesa 22.3 spills, where it could do without: more would be ours.
SPILLED = {("GFX1100", "conv2d_winograd_input_f16"): 34,
           ("GFX1100", "conv2d_winograd_input_f32"): 34}
DRIVER = "/usr/share/vulkan/icd.d/radeon_icd.%s.json" % os.uname().machine
MODES = ("mask", "overlay", "blur", "replace", "alpha")
FORMATS = ("NV12", "RGBA")
OPERATORS = ("conv2d", "conv_transpose2d", "average_pool2d", "max_pool2d", "global_average_pool",
             "resample2d", "resample2d_nearest", "instance_normalization", "layer_normalization",
             "depth_to_space", "concat", "add", "mul", "matmul", "gemm", "relu", "hard_swish")


def runs(models):
    """Arguments of tdl-bench, for each thing that is compiled."""
    for name in ("selfie_segmentation", "selfie_segmentation_landscape"):
        for precision in ("fp32", "fp16"):
            yield ["--precision", precision, f"{models}/{name}.tflite"]
    person = f"{models}/selfie_segmentation.tflite"
    for mode in MODES:
        for format_ in FORMATS:
            yield ["--frame", "1280x720", "--mode", mode, "--format", format_, person]
    for operator in OPERATORS:
        yield ["--op", operator]
    if os.path.exists(f"{models}/rvm.json"):
        size = ["--input-size", "512x288", "--number", "downsample_ratio=1"]
        for precision in ("fp32", "fp16"):
            yield ["--precision", precision, *size, f"{models}/rvm.json"]


def compile_all(build, models, chip, folder):
    """The statistics of all pipelines, and what was refused."""
    statistics = f"{folder}/{chip}"
    layers = "VK_LAYER_KHRONOS_validation:VK_LAYER_TDL_profile"
    env = dict(os.environ, VK_DRIVER_FILES=DRIVER, RADV_FORCE_FAMILY=chip, TDL_DEVICE="vulkan",
               TDL_PROFILE="compile-only", TDL_PROFILE_STATISTICS=statistics, TDL_VALIDATION="1",
               VK_INSTANCE_LAYERS=layers, VK_ADD_LAYER_PATH=f"{build}/tests/profiles",
               XDG_CACHE_HOME=f"{folder}/cache-{chip}")
    refused = []
    for arguments in runs(models):
        command = [f"{build}/engine/tools/tdl-bench", "--warmup", "0", "--iterations", "1"]
        done = subprocess.run(command + arguments, env=env, capture_output=True, text=True,
                              check=False)
        if done.returncode:
            refused.append(f"{' '.join(arguments)}: {done.stderr.strip()[-300:]}")
    rows = {}
    open(statistics, "a", encoding="utf-8").close()
    with open(statistics, encoding="utf-8") as f:
        for line in f:
            name, *pairs = line.rstrip("\n").split("\t")
            values = dict(pair.split("=") for pair in pairs)
            rows.setdefault(name, []).append(
                {key: int(float(value)) for key, value in values.items()})
    return rows, refused


def worst(kinds):
    """Of a kernel's pipelines: registers, spills, bytes of LDS, subgroups a SIMD."""
    return (max(k["VGPRs"] for k in kinds),
            max(k["Spilled VGPRs"] + k["Spilled SGPRs"] for k in kinds),
            max(k["LDS size"] for k in kinds), min(k["Subgroups per SIMD"] for k in kinds))


def main():
    arguments = [a for a in sys.argv[1:] if a != "--table"]
    build, models, *chips = arguments
    if not os.path.exists(DRIVER):
        print("FAILED compilers: Debian package mesa-vulkan-drivers is missing")
        return
    with tempfile.TemporaryDirectory() as folder:
        for chip in chips or CHIPS:
            rows, refused = compile_all(build, models, chip, folder)
            pipelines = sum(map(len, rows.values()))
            print(f"{'FAILED' if refused or len(rows) < 20 else 'ok'} {chip}: {pipelines} "
                  f"pipelines of {len(rows)} kernels compiled")
            for what in refused:
                print(f"| {what}")
            for name, kinds in sorted(rows.items()):
                vgprs, spills, lds, subgroups = worst(kinds)
                if "--table" in sys.argv:
                    print(f"| {name:36} {len(kinds):4} {vgprs:4} VGPRs {spills:4} spilled "
                          f"{lds:6} bytes of LDS {subgroups:3} subgroups")
                if spills > SPILLED.get((chip, name), 0):
                    print(f"FAILED {chip}, {name}: {spills} registers spilled")
                if subgroups < CHIPS.get(chip, 4):
                    print(f"FAILED {chip}, {name}: only {subgroups} subgroups a SIMD")


if __name__ == "__main__":
    main()
