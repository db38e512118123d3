/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "foreign.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

#define TO_ONNX "torch.onnx.export(model, example, \"model.onnx\", dynamo=True)"

enum {
    PYTORCH,
    WEIGHTS,
    TENSORRT,
    OPENVINO,
    COREML,
    KERAS,
    TENSORFLOW,
    ORT,
    GGUF,
    PADDLE,
    CAFFE,
    BOARD,
    MNN,
    MEDIAPIPE,
    ARCHIVE,
    POINTER,
    PAGE,
    ARRAY,
    PICTURE
};

static const struct tdl_foreign_kind kinds[] = {
    [PYTORCH] = {"a PyTorch file",
                 "build the model in Python, load the file into it and run " TO_ONNX
                 "; Ultralytics' files: yolo export model=FILE format=onnx"},
    [WEIGHTS] = {"weights without a network",
                 "load them into the model's own code in Python and run " TO_ONNX},
    [TENSORRT] = {"a TensorRT engine", "it is compiled for one GPU and cannot be turned back: "
                                       "give the ONNX file that it was built from"},
    [OPENVINO] = {"OpenVINO's IR", "give the ONNX or TensorFlow Lite file that it was converted "
                                   "from, or export the original model to ONNX"},
    [COREML] = {"a Core ML model", "export the original model to ONNX or TensorFlow Lite instead"},
    [KERAS] = {"a Keras model", "run tf.lite.TFLiteConverter.from_keras_model(model).convert() in "
                                "Python and write what it returns to a .tflite file"},
    [TENSORFLOW] = {"a TensorFlow graph or SavedModel",
                    "convert it: tf.lite.TFLiteConverter.from_saved_model(FOLDER), or python -m "
                    "tf2onnx.convert --saved-model FOLDER --output model.onnx (a frozen graph: "
                    "--graphdef FILE --inputs A:0 --outputs B:0)"},
    [ORT] = {"a model in ONNX Runtime's own format",
             "give the .onnx file that it was made from; it cannot be turned back"},
    [GGUF] = {"a GGUF file", "it has weights for ggml's programs; export the original model to "
                             "ONNX"},
    [PADDLE] = {"a PaddlePaddle model", "run paddle2onnx --model_dir FOLDER --model_filename "
                                        "X.pdmodel --params_filename X.pdiparams --save_file "
                                        "model.onnx"},
    [CAFFE] = {"a Caffe model", "convert it with ncnn's caffe2ncnn X.prototxt X.caffemodel "
                                "X.param X.bin"},
    [BOARD] = {"a model compiled for another chip",
               "give the ONNX or TensorFlow Lite file that it was compiled from"},
    [MNN] = {"an MNN model", "give the model that it was converted from"},
    [MEDIAPIPE] = {"a MediaPipe bundle", "unpack it (unzip FILE): it has .tflite files inside"},
    [ARCHIVE] = {"an archive", "unpack it, and give the model that is inside"},
    [POINTER] = {"a pointer of Git LFS in the model's place",
                 "run git lfs install and git lfs pull in its folder"},
    [PAGE] = {"a web page in the model's place",
              "download the file itself: the address shows it or asks for something"},
    [ARRAY] = {"an array of NumPy", "it goes to tdl-run's -i; the model is another file"},
    [PICTURE] = {"a picture", "it goes through the pipeline, or to tdl-run's -i; the model is "
                              "another file"},
};

/* By their first bytes; the first that fits. */
static const struct {
    uint8_t kind, at, size;
    const char *bytes;
} signatures[] = {
    {ORT, 4, 4, "ORTM"},
    {TENSORRT, 0, 4, "ftrt"},
    {GGUF, 0, 4, "GGUF"},
    {KERAS, 0, 8, "\x89HDF\r\n\x1a\n"},
    {PYTORCH, 0, 2, "\x80\x02"}, /* pickles, as old versions wrote them */
    {BOARD, 0, 4, "RKNN"},
    {POINTER, 0, 23, "version https://git-lfs"},
    {PAGE, 0, 5, "<!DOC"},
    {PAGE, 0, 5, "<!doc"},
    {PAGE, 0, 5, "<html"},
    {OPENVINO, 0, 5, "<?xml"},
    {OPENVINO, 0, 4, "<net"},
    {WEIGHTS, 8, 2, "{\""}, /* safetensors: the length of a header in JSON, and it */
    {ARRAY, 1, 5, "NUMPY"},
    {PICTURE, 0, 4, "\x89PNG"},
    {PICTURE, 0, 3, "\xff\xd8\xff"},
    {ARCHIVE, 0, 3, "\x1f\x8b\x08"},
    {ARCHIVE, 0, 6, "7z\xbc\xaf\x27\x1c"},
    {ARCHIVE, 0, 5,
     "\xfd"
     "7zXZ"},
};

/* By the end of their names. */
static const struct {
    uint8_t kind;
    const char *ending;
} endings[] = {
    {PYTORCH, ".pt"},
    {PYTORCH, ".pth"},
    {PYTORCH, ".torchscript"},
    {PYTORCH, ".ptl"},
    {PYTORCH, ".pt2"},
    {PYTORCH, ".ckpt"},
    {WEIGHTS, ".safetensors"},
    {TENSORRT, ".engine"},
    {TENSORRT, ".plan"},
    {TENSORRT, ".trt"},
    {OPENVINO, ".xml"},
    {COREML, ".mlmodel"},
    {COREML, ".mlpackage"},
    {COREML, ".mlmodelc"},
    {KERAS, ".keras"},
    {KERAS, ".h5"},
    {KERAS, ".hdf5"},
    {TENSORFLOW, ".pb"},
    {TENSORFLOW, ".pbtxt"},
    {ORT, ".ort"},
    {GGUF, ".gguf"},
    {PADDLE, ".pdmodel"},
    {PADDLE, ".pdiparams"},
    {CAFFE, ".caffemodel"},
    {CAFFE, ".prototxt"},
    {BOARD, ".rknn"},
    {BOARD, ".hef"},
    {BOARD, ".blob"},
    {BOARD, ".om"},
    {BOARD, ".dlc"},
    {MNN, ".mnn"},
    {MEDIAPIPE, ".task"},
    {ARCHIVE, ".zip"},
};

const struct tdl_foreign_kind *tdl_foreign_find_name(const char *path)
{
    size_t length = path ? strlen(path) : 0;

    while (length > 1 && path[length - 1] == '/') /* folders may be given so */
        length--;
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        const size_t size = strlen(endings[i].ending);

        if (length > size && !strncasecmp(path + length - size, endings[i].ending, size))
            return &kinds[endings[i].kind];
    }
    return NULL;
}

const struct tdl_foreign_kind *tdl_foreign_find_mistaken(const char *path)
{
    const struct tdl_foreign_kind *named = tdl_foreign_find_name(path);

    return named == &kinds[COREML] ? named : NULL;
}

/* Archives that programs use as files: by the name of the first thing in it. */
static const struct tdl_foreign_kind *find_zip(const unsigned char *head, size_t size)
{
    char name[TDL_FOREIGN_HEAD] = "";

    if (size < 30 || memcmp(head, "PK\3\4", 4) != 0)
        return NULL;
    for (size_t i = 0; i < head[26] && 30 + i < size; i++)
        name[i] = (char)head[30 + i];
    if (strstr(name, "/data.pkl") || strstr(name, "/.format_version") || strstr(name, "/.data/"))
        return &kinds[PYTORCH];
    if (!strcmp(name, "metadata.json"))
        return &kinds[KERAS];
    return &kinds[strstr(name, ".tflite") ? MEDIAPIPE : ARCHIVE];
}

const struct tdl_foreign_kind *tdl_foreign_find(const void *head, size_t size, const char *path)
{
    const struct tdl_foreign_kind *named = tdl_foreign_find_name(path), *zip;
    const unsigned char *bytes = head;

    size = size < TDL_FOREIGN_HEAD ? size : TDL_FOREIGN_HEAD;
    for (size_t i = 0; i < sizeof(signatures) / sizeof(signatures[0]); i++)
        if (size >= signatures[i].at + (size_t)signatures[i].size &&
            !memcmp(bytes + signatures[i].at, signatures[i].bytes, signatures[i].size))
            return &kinds[signatures[i].kind];
    zip = find_zip(bytes, size);
    return zip && (zip != &kinds[ARCHIVE] || !named) ? zip : named;
}
