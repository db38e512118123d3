#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the compilers of Mesa's drivers make of the kernels, without the hardware.

compilers.py [--table] BUILD MODELS [CHIP...]

RADV compiles for a chip that its environment names. The others believe that they have hardware
with Mesa's shims, which tests/profiles/mesa.sh builds into BUILD/mesa. A layer answers the
rest (tests/profiles/compile_only.c). Compiled is what the person models take in both precisions,
frames in every mode, an operator of each kind that tdl-bench has, and pieces of networks like
YOLO, SegFormer and recurrent matting (tests/models/patterns.py); with MODELS/rvm.json matting,
too. A CHIP that only a later Mesa knows is compiled for where it is named. Prints lines for
tests/run.sh: a kernel that was refused or that spills registers fails, and so do ones of
which too few run beside each other, unless KNOWN has it.
"""
import json
import os
import subprocess
import sys
import tempfile

# Its name has the processor, or in later releases not.
DEBIAN = ["/usr/share/vulkan/icd.d/%s_icd" + end for end in
          (f".{os.uname().machine}.json", ".json")]
MODES = ("mask", "overlay", "blur", "replace", "alpha")
FORMATS = ("NV12", "RGBA")
OPERATORS = ("conv2d", "conv_transpose2d", "average_pool2d", "max_pool2d", "global_average_pool",
             "resample2d", "resample2d_nearest", "instance_normalization", "layer_normalization",
             "depth_to_space", "concat", "add", "mul", "matmul", "gemm", "relu", "hard_swish")


PIECES = ("recurrent", "segmenting-head", "attention", "segmenting-transformer")


class Driver:
    """A driver, its chips, and how it counts."""

    def __init__(self, name, chips, least, columns, *, later=(), debian=None, built=None,
                 shim=None, choose=None):
        self.name, self.chips, self.least, self.columns = name, chips, least, columns
        self.later = later
        self.debian, self.built, self.shim = debian, built, shim
        self.choose = choose

    def wanted(self, named):
        """Of the named chips its own, or those that Mesa 22.3 knows."""
        return [c for c in self.chips + self.later if c in named] if named else self.chips

    def installed(self):
        """The file that Debian's package has for the loader."""
        names = [name % self.debian for name in DEBIAN]
        return next(filter(os.path.exists, names), names[0])

    def missing(self, mesa):
        """What has to be there and is not, or None."""
        wanted = [self.installed()] if self.debian else [f"{mesa}/src/{self.built}"]
        wanted += [f"{mesa}/src/{self.shim}"] if self.shim else []
        return next((w for w in wanted if not os.path.exists(w)), None)

    def environment(self, mesa, chip, folder):
        """Variables with which a program meets that chip."""
        icd = self.installed() if self.debian else f"{folder}/{self.name}.json"
        if self.built:
            with open(icd, "w", encoding="utf-8") as f:
                json.dump({"file_format_version": "1.0.0",
                           "ICD": {"library_path": f"{mesa}/src/{self.built}",
                                   "api_version": "1.3.230"}}, f)
        result = {"VK_DRIVER_FILES": icd}
        if self.choose:
            result[self.choose] = chip
        if self.shim:
            result["LD_PRELOAD"] = f"{mesa}/src/{self.shim}"
        return result


# Columns: registers, what was spilled of them, bytes of shared memory, and how many subgroups
# run beside each other on a processor, as far as the driver says; 0 where it does not.
DRIVERS = (
    Driver("RADV", ("POLARIS10", "VEGA10", "NAVI10", "NAVI21", "GFX1100"), 4,
           lambda k: (k["VGPRs"], k["Spilled VGPRs"] + k["Spilled SGPRs"], k["LDS size"],
                      k["Subgroups per SIMD"]),
           later=("GFX1201",), debian="radeon", choose="RADV_FORCE_FAMILY"),
    Driver("ANV", ("skl", "icl", "tgl", "dg2"), 0,
           lambda k: (0, k["Spill Count"], k["Workgroup Memory Size"], 0),
           debian="intel", choose="INTEL_STUB_GPU_PLATFORM",
           shim="intel/tools/libintel_noop_drm_shim.so"),
    Driver("V3DV", ("V3D 4.2",), 2,
           # Of each value, which 16 lanes have; with what lies in arrays that are not unrolled.
           lambda k: (0, k["Spill Size"] // 64, 0, k["Thread Count"]),
           built="broadcom/vulkan/libvulkan_broadcom.so",
           shim="broadcom/drm-shim/libv3d_noop_drm_shim.so"),
    Driver("turnip", ("630", "660"), 2,
           lambda k: (4 * k["Registers used"], k["STP Count"] + k["LDP Count"], 0,
                      k["Max Waves Per Core"]),
           built="freedreno/vulkan/libvulkan_freedreno.so", choose="FD_GPU_ID",
           shim="freedreno/drm-shim/libfreedreno_noop_drm_shim.so"),
)
# What was seen with Mesa 22.3 and is past the bounds: spilled, and beside each other. More
# spilled, or fewer beside each other, would be new.
GATES = {f"conv2d_{kernel}_{precision}": (0, 3) for kernel in ("expand_depthwise", "pointwise")
         for precision in ("f16", "f32")}
GCN = {**GATES, "frame_compose": (0, 2), "frame_compose_blur": (0, 2)}
# Arrays in loops that V3DV unrolls too late to keep them in registers.
ARRAYS = {"conv2d_depthwise_f16": (36, 2), "conv2d_depthwise_f32": (36, 2),
          "frame_compose": (89, 2), "frame_compose_blur": (69, 2), "frame_guided": (152, 2),
          "frame_to_tensor_f32": (12, 2), "squeeze_excite_f16": (64, 2),
          "squeeze_excite_f16_chain": (32, 2), "squeeze_excite_f32": (64, 2),
          "squeeze_excite_f32_chain": (32, 2)}
# Stores and loads, as turnip's compiler loads early all that is unrolled.
EARLY = {"conv2d_depthwise_f32": (140, 2), "conv2d_direct_f16": (6, 2),
         "conv2d_direct_f32": (316, 2), "conv2d_gemm_f32": (118, 2),
         "conv2d_pointwise_f32": (265, 2), "conv2d_winograd_input_f32": (279, 2),
         "conv2d_winograd_output_f16": (206, 2), "conv2d_winograd_output_f32": (206, 2),
         "squeeze_excite_f32": (66, 2), "squeeze_excite_f32_chain": (28, 2)}
KNOWN = {"POLARIS10": GCN, "VEGA10": GCN, "V3D 4.2": ARRAYS, "630": EARLY, "660": EARLY}


def runs(models, folder):
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
    for name in PIECES:
        for precision in ("fp32", "fp16"):
            yield ["--precision", precision, f"{folder}/{name}.onnx"]


def make_pieces(folder):
    """Networks in ONNX, written by Debian's Python, which has NumPy; false, and said, if not."""
    script = os.path.join(os.path.dirname(__file__), "..", "models", "patterns.py")
    done = subprocess.run(["/usr/bin/python3", "-B", script, folder], capture_output=True,
                          text=True, check=False)
    if done.returncode:
        print(f"FAILED pieces of networks: {done.stderr.strip().splitlines()[-1:]}")
    return not done.returncode


def has_fp16(build, env):
    """Whether the device stores float16."""
    told = subprocess.run([f"{build}/engine/tools/tdl-info"], env=env, capture_output=True,
                          text=True, check=False).stdout
    return "fp16 storage         yes" in told


def compile_all(driver, chip, build, models, folder):
    """The statistics of all pipelines, and what was refused."""
    statistics = f"{folder}/{chip}"
    layers = "VK_LAYER_KHRONOS_validation:VK_LAYER_TDL_profile"
    env = dict(os.environ, TDL_DEVICE="vulkan", TDL_PROFILE="compile-only",
               TDL_PROFILE_STATISTICS=statistics, TDL_VALIDATION="1", VK_INSTANCE_LAYERS=layers,
               VK_ADD_LAYER_PATH=f"{build}/tests/profiles", XDG_CACHE_HOME=f"{folder}/cache-{chip}",
               **driver.environment(f"{build}/mesa/build", chip, folder))
    refused, halves = [], has_fp16(build, env)
    for arguments in runs(models, folder):
        if "fp16" in arguments and not halves:
            continue
        command = [f"{build}/engine/tools/tdl-bench", "--warmup", "0", "--iterations", "1"]
        done = subprocess.run(command + arguments, env=env, capture_output=True, text=True,
                              check=False)
        if done.returncode:
            said = [s for s in done.stderr.splitlines() if "tdl-bench: " in s][-1:]
            refused.append(f"{' '.join(arguments)}: status {done.returncode}: {' '.join(said)}")
    rows = {}
    open(statistics, "a", encoding="utf-8").close()
    with open(statistics, encoding="utf-8") as f:
        for line in f:
            name, *pairs = line.rstrip("\n").split("\t")
            values = {key: int(float(value)) for key, value in (p.split("=") for p in pairs)}
            rows.setdefault(name, []).append(driver.columns(values))
    return rows, refused


def worst(kinds):
    """Of a kernel's pipelines: registers, spills, shared memory, beside each other."""
    registers, spills, shared, beside = zip(*kinds)
    return max(registers), max(spills), max(shared), min(beside)


def judge(driver, chip, rows, refused, table):
    """Print what was found."""
    pipelines = sum(map(len, rows.values()))
    print(f"{'FAILED' if refused or len(rows) < 20 else 'ok'} {driver.name}, {chip}: {pipelines} "
          f"pipelines of {len(rows)} kernels compiled")
    for what in refused:
        print(f"| {what}")
    for name, kinds in sorted(rows.items()):
        registers, spills, shared, beside = worst(kinds)
        if table:
            print(f"| {name:36} {len(kinds):4} {registers:4} registers {spills:4} spilled "
                  f"{shared:6} bytes shared {beside:3} beside each other")
        most, least = KNOWN.get(chip, {}).get(name, (0, driver.least))
        if spills > most:
            print(f"FAILED {driver.name}, {chip}, {name}: {spills} registers spilled")
        if beside < least:
            print(f"FAILED {driver.name}, {chip}, {name}: only {beside} beside each other")


def main():
    arguments = [a for a in sys.argv[1:] if a != "--table"]
    build, models, *chips = arguments
    build = os.path.abspath(build)
    with tempfile.TemporaryDirectory() as folder:
        if not make_pieces(folder):
            return
        for driver in DRIVERS:
            wanted = driver.wanted(chips)
            missing = driver.missing(f"{build}/mesa/build")
            if wanted and missing:
                print(f"skipped {driver.name}'s compiler: there is no {missing}")
                continue
            for chip in wanted:
                judge(driver, chip, *compile_all(driver, chip, build, models, folder),
                      "--table" in sys.argv)


if __name__ == "__main__":
    main()
