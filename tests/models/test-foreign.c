/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files of kinds that libtdl does not read: each is told apart, by its content or by its
 * name, and the message says what to run.
 */
#include <tdl/models.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BYTES(text) text, sizeof(text) - 1
/* What begins with its own size, as a header of safetensors. */
#define LENGTH "\x40\0\0\0\0\0\0\0"
/* A zip's first file, whose name has so many bytes. */
#define ZIP(length) "PK\3\4\x14\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0" length "\0\0\0"

static const struct {
    const char *name;
    const char *bytes;
    size_t size;
    const char *what, *way; /* parts of the error */
} files[] = {
    {"net.pt", BYTES(ZIP("\x10") "archive/data.pkl"), "a PyTorch file", "dynamo=True"},
    {"net", BYTES(ZIP("\x0c") "net/data.pkl"), "a PyTorch file", "torch.onnx.export("},
    {"old.pth", BYTES("\x80\x02\x8a\x0al\xfc\x9c\x46\xf9"), "a PyTorch file", "yolo export"},
    {"named.ckpt", BYTES("0123456789"), "a PyTorch file", "dynamo=True"},
    {"net.safetensors", BYTES(LENGTH "{\"__metadata__\":{}}"), "weights without a network",
     "the model's own code"},
    {"unnamed", BYTES(LENGTH "{\"a\":{}}"), "weights without a network", "torch.onnx.export("},
    {"net.engine", BYTES("ftrt\0\0\0\0"), "a TensorRT engine", "the ONNX file"},
    {"net.plan", BYTES("0123456789"), "a TensorRT engine", "one GPU"},
    {"net.xml", BYTES("<?xml version=\"1.0\"?>"), "OpenVINO's IR", "export"},
    {"net.mlmodel", BYTES("\x08\x07\x12\x20\x0a\x10\x0a\x05"), "a Core ML model", "to ONNX"},
    {"net.keras", BYTES(ZIP("\x0d") "metadata.json"), "a Keras model", "from_keras_model"},
    {"net.h5", BYTES("\x89HDF\r\n\x1a\n\0\0"), "a Keras model", "TFLiteConverter"},
    {"net.pb", BYTES("\x0a\x10\x0a\x05input"), "a TensorFlow graph", "tf2onnx"},
    {"net.ort", BYTES("\x1c\0\0\0ORTM\0\0"), "ONNX Runtime's own format", ".onnx file"},
    {"net.gguf", BYTES("GGUF\3\0\0\0"), "a GGUF file", "ggml"},
    {"net.pdmodel", BYTES("\x0a\x10\x0a\x05"), "a PaddlePaddle model", "paddle2onnx"},
    {"net.caffemodel", BYTES("\x0a\x10\x0a\x05"), "a Caffe model", "caffe2ncnn"},
    {"net.rknn", BYTES("RKNN\0\0\0\0"), "another chip", "compiled from"},
    {"net.mnn", BYTES("0123456789"), "an MNN model", "converted from"},
    {"pose.task", BYTES(ZIP("\x14") "pose_detector.tflite"), "a MediaPipe bundle", "unzip"},
    {"net.zip", BYTES(ZIP("\x08") "net.onnx"), "an archive", "unpack it"},
    {"net.tar.gz", BYTES("\x1f\x8b\x08\0\0\0\0\0"), "an archive", "unpack it"},
    {"net.onnx", BYTES("version https://git-lfs.github.com/spec/v1\n"), "a pointer of Git LFS",
     "git lfs pull"},
    {"page.tflite", BYTES("<!DOCTYPE html><html></html>"), "a web page", "download the file"},
    {"x.npy", BYTES("\x93NUMPY\1\0"), "an array of NumPy", "-i"},
    {"x.png", BYTES("\x89PNG\r\n\x1a\n"), "a picture", "-i"},
    {"x.jpg", BYTES("\xff\xd8\xff\xe0\0\x10JFIF"), "a picture", "-i"},
    {"zip-of-nothing", BYTES("PK\3\4"), "no model of a kind that libtdl reads", ""},
    {"cut.zip", BYTES("PK\3\4\x14\0\0\0"), "an archive", "unpack it"},
};

static int failures;

static void check(const char *name, struct tdl_builder *b, enum tdl_result r, const char *what,
                  const char *way)
{
    const char *text = tdl_builder_error(b);

    if (r == TDL_ERROR_INVALID_MODEL && strstr(text, what) && strstr(text, way))
        return;
    printf("FAIL %s: %d, \"%s\" instead of \"%s … %s\"\n", name, r, text, what, way);
    failures++;
}

/* As a file, and as memory where the content alone tells. */
static void try_file(const char *folder, size_t i)
{
    char path[600];
    FILE *f;
    struct tdl_builder *b = NULL;

    snprintf(path, sizeof(path), "%s/%s", folder, files[i].name);
    f = fopen(path, "wb");
    if (!f || fwrite(files[i].bytes, 1, files[i].size, f) != files[i].size || fclose(f) != 0)
        exit(1);
    if (tdl_builder_create(NULL, &b) != TDL_OK)
        exit(1);
    check(files[i].name, b, tdl_model_load(b, path, NULL), files[i].what, files[i].way);
    tdl_builder_destroy(&b);
    unlink(path);
}

/* Memory has no name: what has no signature is of no known kind. */
static void try_memory(const void *bytes, size_t size, const char *what)
{
    struct tdl_builder *b = NULL;

    if (tdl_builder_create(NULL, &b) != TDL_OK)
        exit(1);
    check("memory", b, tdl_model_import(b, bytes, size, NULL), what, "");
    tdl_builder_destroy(&b);
}

static void try_folder(const char *folder, const char *name, const char *inside, const char *what,
                       const char *way)
{
    char path[600], file[700];
    struct tdl_builder *b = NULL;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    snprintf(file, sizeof(file), "%s/%s", path, inside);
    if (mkdir(path, 0700) != 0 || tdl_builder_create(NULL, &b) != TDL_OK)
        exit(1);
    FILE *f = fopen(file, "wb");
    if (!f || fclose(f) != 0)
        exit(1);
    check(name, b, tdl_model_load(b, path, NULL), what, way);
    tdl_builder_destroy(&b);
    unlink(file);
    rmdir(path);
}

int main(void)
{
    const char *temp = getenv("TMPDIR");
    char folder[500];

    snprintf(folder, sizeof(folder), "%s/tdl-foreign-XXXXXX", temp ? temp : "/tmp");
    if (!mkdtemp(folder))
        return 1;
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        try_file(folder, i);
    try_memory(BYTES("\x89HDF\r\n\x1a\n\0\0"), "a Keras model");
    try_memory(BYTES("0123456789"), "no model of a kind that libtdl reads");
    try_folder(folder, "net.mlpackage", "Manifest.json", "a Core ML model", "to ONNX");
    try_folder(folder, "saved", "saved_model.pb", "SavedModel", "from_saved_model");
    rmdir(folder);
    printf("%d failures\n", failures);
    return failures > 0;
}
