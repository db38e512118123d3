/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdlproperties.h"

const struct gst_tdl_property gst_tdl_properties[] = {
    { "model", "Model",
      "The network: \"person\" or empty for the person model that fits the frames' shape, which "
      "is \"person-landscape\" (256x144 px) or \"person-square\" (256x256 px, slower); \"auto\" "
      "for "
      "the best of these and of \"matting-small\", \"matting\" and \"matting-hd\", if they are "
      "fetched, that the device holds at the frame rate (\"model\" in stats, and the element "
      "message tdl-model (model, reason) with each change, say which one that is); another "
      "name of a model that tdl-fetch-models (in the source tree: pipelines/fetch-models.sh) has "
      "fetched (\"isnet\", "
      "\"text\", \"pose\", \"enlarge\"), or the path (or file:// URI) of a model file "
      "(TensorFlow Lite, ONNX, ncnn or TensorFlow.js) with pictures in and a mask, or a "
      "probability for each class, out. When changed while PLAYING the old one "
      "works on until the new one is ready; if that cannot be loaded, a warning message says why",
      STRING, GST_TDL_MODEL, GST_TDL_AT(sources.model), .text = "person", .apart = TRUE,
      .inference = "model-file" },
    { "mode", "Mode", "What becomes of the picture", MODE, GST_TDL_RENEGOTIATE,
      GST_TDL_AT(live.mode), .def = GST_TDL_MODE_OVERLAY },
    { "device", "Device",
      "What computes: \"auto\" or empty (a discrete GPU, else an integrated one, else the CPU; "
      "what "
      "TDL_DEVICE in the environment says comes first), \"cpu\", \"gpu\", \"vulkan\" (the best "
      "Vulkan device, be it software), an index, a UUID in hex, a DRM node such as "
      "/dev/dri/renderD128, or a part of the name; tdl-info lists them",
      STRING, GST_TDL_RESTART, GST_TDL_AT(sources.device), .text = "auto", .apart = TRUE,
      .inference = "device" },
    { "threads", "Threads",
      "Most threads that compute on the CPU where that is the device, shared by all elements of "
      "the process with the same number; 0, and more than that: as many as cores that the process "
      "may use (its affinity mask, and the time that its control groups give it); with 0 a small "
      "network has one",
      UINT, GST_TDL_RESTART, GST_TDL_AT(sources.threads), 0, 1024, 0, .apart = TRUE,
      .inference = "threads" },
    { "precision", "Precision", "How the network stores its intermediate values", PRECISION,
      GST_TDL_RESTART, GST_TDL_AT(sources.precision), .def = TDL_PRECISION_AUTO,
      .inference = "precision" },
    { "fuse", "Fuse operators",
      "Compile several operators of the network into one GPU kernel; off is slower and there to "
      "look for mistakes in the fused kernels",
      BOOL, GST_TDL_RESTART, GST_TDL_AT(sources.fuse), .def = TRUE, .inference = "fuse" },
    { "classes", "Classes",
      "Class indices that count as foreground, of models of several classes, as \"<0,15>\", also "
      "where it is one, as \"<15>\": the mask is the sum of their probabilities. Empty: all but "
      "class 0, which most models keep for the background; of models that find objects, all",
      CLASSES, GST_TDL_MODEL, GST_TDL_AT(sources.classes) },
    { "model-size", "Model size",
      "Size of the picture as WIDTHxHEIGHT where the model's file leaves it open, as "
      "\"~512x288\": so many pixels in the frame's shape, or \"frame\": that of the frames, up to "
      "1920x1080; empty: 256x256",
      STRING, GST_TDL_MODEL, GST_TDL_AT(sources.model_size), .inference = "model-size" },
    { "model-output", "Model output",
      "Name of the model's output that is the mask; empty: the first. tdl-run lists them", STRING,
      GST_TDL_MODEL, GST_TDL_AT(sources.model_output) },
    { "model-outputs", "Model outputs",
      "Names of the model's outputs that meta=tensors hands out, as \"boxes,scores\"; empty: all",
      STRING, GST_TDL_MODEL, GST_TDL_AT(sources.model_outputs), .inference = "model-outputs" },
    { "boxes-in-frame", "Boxes in the frame",
      "Boxes among the tensors, where the ids of the .modelinfo file are those of detectors that "
      "GStreamer's decoders know, are places in the frame, whatever its size and input-fit; off: "
      "in the model's own picture, as the model has them",
      BOOL, GST_TDL_MODEL, GST_TDL_AT(sources.boxes_in_frame), .def = TRUE,
      .inference = "boxes-in-frame" },
    { "foreground-output", "Foreground output",
      "Name of the output with the foreground's own colours, red, green and blue of 0 to 1 at the "
      "mask's size, which networks for matting have: they take the place of despill in "
      "mode=replace and alpha. Empty: \"fgr\" beside a mask that is called \"pha\", where there "
      "is one",
      STRING, GST_TDL_MODEL, GST_TDL_AT(sources.foreground_output) },
    { "model-state", "Model state",
      "Of a recurrent model, which inputs get what an output was in the run before, as "
      "\"r1i=r1o,r2i=r2o\"; zeros in the first run, and behind a discontinuity",
      STRING, GST_TDL_MODEL, GST_TDL_AT(sources.model_state), .inference = "model-state" },
    { "model-constants", "Model constants",
      "Inputs that are the same number in every run, as \"downsample_ratio=0.25\"", STRING,
      GST_TDL_MODEL, GST_TDL_AT(sources.model_constants), .inference = "model-constants" },
    { "model-pictures", "Model pictures",
      "Of a model that takes several pictures, which inputs get the picture of a file, the same in "
      "every run, as \"bgr=empty-room.png\"; the others get the frame",
      STRING, GST_TDL_MODEL, GST_TDL_AT(sources.model_pictures), .inference = "model-pictures" },
    { "decoder", "Decoder", "What the model's output says", DECODER, GST_TDL_MODEL,
      GST_TDL_AT(sources.decoder), .def = GST_TDL_DECODE_AUTO },
    { "decoder-model", "Decoder model",
      "Of a model in two files, as Segment Anything, SAM 2, EdgeTAM, MobileSAM and EfficientSAM "
      "are "
      "exported, the path (or file:// URI) of the second one, which makes a mask of what the file "
      "of model has seen in the frame and of prompt",
      STRING, GST_TDL_MODEL, GST_TDL_AT(sources.decoder_model) },
    { "prompt", "Prompt",
      "Which object is meant, of a model with prompts (decoder-model) or of one that finds "
      "objects: "
      "\"point X,Y\", \"background X,Y\" and \"box LEFT,TOP,RIGHT,BOTTOM\", one behind the "
      "other, in shares of the picture from 0 to 1, up to 16 points, such as \"point 0.5,0.4 "
      "background 0.1,0.1\". It says where the object is in the next frame; in those behind it is "
      "followed by its last mask. Set it anew, be it to the same, to begin anew. The element "
      "message tdl-object (found, share, running-time, timestamp) tells when the object is found "
      "or "
      "lost. Empty: all objects, and with decoder-model none",
      STRING, GST_TDL_LIVE, GST_TDL_AT(sources.prompt), .apart = TRUE, .local = TRUE },
    { "score-threshold", "Score threshold",
      "How sure a model that finds objects must be of one, for its mask to count", FLOAT,
      GST_TDL_MODEL, GST_TDL_AT(sources.score_threshold), 0, 1, 0.25 },
    { "iou-threshold", "IoU threshold",
      "Of two of a YOLO's objects of one class whose boxes have more than this in common, as a "
      "share of "
      "what both cover, the one with the lower score goes",
      FLOAT, GST_TDL_MODEL, GST_TDL_AT(sources.iou_threshold), 0, 1, 0.45 },
    { "input-range", "Input range",
      "Numbers that the model wants for black and white, as \"-1,1\"; empty: \"0,1\", of pictures "
      "of uint8 \"0,255\"",
      STRING, GST_TDL_MODEL, GST_TDL_AT(sources.input_range), .inference = "input-range" },
    { "input-mean", "Input mean",
      "Red, green and blue that are taken off then, as \"0.485,0.456,0.406\"; empty: 0", STRING,
      GST_TDL_MODEL, GST_TDL_AT(sources.input_mean), .inference = "input-mean" },
    { "input-deviation", "Input deviation",
      "Red, green and blue by which the rest is divided, as \"0.229,0.224,0.225\"; empty: 1",
      STRING, GST_TDL_MODEL, GST_TDL_AT(sources.input_deviation), .inference = "input-deviation" },
    { "input-fit", "Input fit", "How the frame comes to the size that the model wants", FIT,
      GST_TDL_MODEL, GST_TDL_AT(sources.input_fit), .def = GST_TDL_FIT_STRETCH,
      .inference = "input-fit" },
    { "input-order", "Input order", "Order of the colours in the model's picture", ORDER,
      GST_TDL_MODEL, GST_TDL_AT(sources.input_order), .def = GST_TDL_ORDER_RGB,
      .inference = "input-order" },
    { "input-filter", "Input filter",
      "How the frame is shrunk to the size that the model wants: best as its training pictures "
      "were",
      FILTER, GST_TDL_MODEL, GST_TDL_AT(sources.input_filter), .def = GST_TDL_FILTER_AUTO,
      .inference = "input-filter" },
    { "output-range", "Output range",
      "Numbers that stand for black and white in the model's output in mode=picture, or for "
      "background and foreground in a mask of probabilities, as \"0,1\" "
      "(what empty means), \"-1,1\" or \"0,255\"",
      STRING, GST_TDL_MODEL, GST_TDL_AT(sources.output_range) },
    { "colormap", "Colour map", "Colours for one channel in mode=picture", COLORMAP, GST_TDL_MODEL,
      GST_TDL_AT(sources.colormap), .def = GST_TDL_COLORMAP_NONE },
    { "palette", "Palette",
      "Colours of the classes in mode=classes, from class 0 on, as \"0x000000,0xff0000\"; empty, "
      "and for classes behind: those of PASCAL VOC",
      STRING, GST_TDL_MODEL, GST_TDL_AT(sources.palette) },
    { "labels", "Labels",
      "File with the classes' names, one a line, from class 0 on: with mode=classes the element "
      "message tdl-legend has them with their colours, and meta=segmentation has the names",
      STRING, GST_TDL_MODEL, GST_TDL_AT(sources.labels), .apart = TRUE },
    { "background", "Background picture",
      "Picture (a path or file:// URI of anything that GStreamer decodes) put behind the "
      "foreground in mode=replace, the right side up, scaled to cover the frame, what sticks out "
      "cut "
      "off evenly; background-color shows where it is transparent. Made smaller than 4096 px while "
      "it is loaded. A video stands still at its first frame. Empty: background-color",
      STRING, GST_TDL_PICTURE, GST_TDL_AT(sources.background), .apart = TRUE },
    { "background-color", "Background colour",
      "Colour behind the foreground in mode=replace without a picture, as 0xAARRGGBB", COLOR,
      GST_TDL_LIVE, GST_TDL_AT(live.background_color), .def = 0xff00b140 },
    { "overlay-color", "Overlay colour",
      "Colour that tints the foreground in mode=overlay, as 0xAARRGGBB", COLOR, GST_TDL_LIVE,
      GST_TDL_AT(live.overlay_color), .def = 0xff00c8ff },
    { "opacity", "Opacity", "Strength of the overlay: 0 invisible, 1 opaque", FLOAT, GST_TDL_LIVE,
      GST_TDL_AT(live.opacity), 0, 1, 0.5 },
    { "blur-radius", "Blur radius",
      "Standard deviation of the background's blur in mode=blur, in px of the frame", FLOAT,
      GST_TDL_LIVE, GST_TDL_AT(live.blur_radius), 0, 128, 16 },
    { "blur-share", "Blur share",
      "The same as a share of the frame's height, so that frames of every size look alike (0.022 "
      "is "
      "16 px of 720; 128 px at most); 0: blur-radius counts",
      FLOAT, GST_TDL_LIVE, GST_TDL_AT(live.blur_share), 0, 0.25, 0 },
    { "threshold", "Threshold",
      "How sure the network must be of the foreground (0 to 1): lower takes in more of the "
      "picture; "
      "0 without feather takes in everything",
      FLOAT, GST_TDL_LIVE, GST_TDL_AT(live.threshold), 0, 1, 0.5, .look = GST_TDL_LOOK(threshold) },
    { "feather", "Feather",
      "Width of the soft step around the threshold (0 to 1): 0 is a hard outline", FLOAT,
      GST_TDL_LIVE, GST_TDL_AT(live.feather), 0, 1, 0.4, .look = GST_TDL_LOOK(feather) },
    { "smoothing", "Smoothing",
      "Share of the previous mask that is left after 1/30 s, by the frames' timestamps, where the "
      "picture stands still and the network wavers (0 to 0.99): more flickers less. What moves is "
      "not smoothed",
      FLOAT, GST_TDL_LIVE, GST_TDL_AT(live.smoothing), 0, 0.99, 0.75,
      .look = GST_TDL_LOOK(smoothing) },
    { "refine", "Refine edges", "Let the mask's outline follow the edges of the full-size picture",
      BOOL, GST_TDL_LIVE, GST_TDL_AT(live.refine), .def = TRUE, .look = GST_TDL_LOOK(refine) },
    { "close-holes", "Close holes",
      "Close holes inside the foreground where the network is nowhere sure of the background, such "
      "as "
      "a badge on clothes",
      BOOL, GST_TDL_LIVE, GST_TDL_AT(live.close_holes), .def = TRUE,
      .look = GST_TDL_LOOK(close_holes) },
    { "min-area", "Minimum area",
      "Pieces of foreground or background that are smaller than this share of the frame's area go "
      "over to what is round them, background first (0 to 1): 0.01 is a hundredth of the frame, 0 "
      "keeps all",
      FLOAT, GST_TDL_LIVE, GST_TDL_AT(live.min_area), 0, 1, 0 },
    { "grow", "Grow",
      "Let the mask of the person grow by this many px of the frame, or shrink where negative; "
      "before "
      "invert",
      FLOAT, GST_TDL_LIVE, GST_TDL_AT(live.grow), -TDL_MAX_GROW, TDL_MAX_GROW, 0 },
    { "despill", "Despill",
      "Take the old background's colours out of the foreground's outline, in mode=replace and "
      "mode=alpha",
      BOOL, GST_TDL_LIVE, GST_TDL_AT(live.despill), .def = FALSE },
    { "light-wrap", "Light wrap",
      "How much of the new background's light falls on the edge of the foreground, in mode=replace "
      "(0 to 1): the brighter the background there, the more",
      FLOAT, GST_TDL_LIVE, GST_TDL_AT(live.light_wrap), 0, 1, 0 },
    { "invert", "Invert", "Let foreground and background change places", BOOL, GST_TDL_LIVE,
      GST_TDL_AT(live.invert), .def = FALSE },
    { "tile-overlap", "Tile overlap",
      "Of input-fit=tiles: px at a tile's borders that its neighbour shows, as the network sees "
      "too little there",
      UINT, GST_TDL_LIVE, GST_TDL_AT(live.tile_overlap), 0, 1024, 16, .local = TRUE },
    { "interval", "Interval",
      "Run the network on every Nth frame only; the frames between keep the last mask. After a "
      "discontinuity, a gap or in a new segment it runs at once",
      UINT, GST_TDL_LIVE, GST_TDL_AT(live.interval), 1, G_MAXINT, 1, .inference = "interval" },
    { "max-interval", "Maximum interval",
      "Where the device cannot hold the frame rate, or frames come too late (QoS), interval is "
      "raised in effect, up to this, and lowered again when there is room: the element message "
      "tdl-load (interval, reason) says so. 1: off",
      UINT, GST_TDL_LIVE, GST_TDL_AT(live.max_interval), 1, G_MAXINT, 1, .local = TRUE,
      .inference = "max-interval" },
    { "max-rate", "Maximum rate",
      "Run the network at most so often in a second of the stream's time, fractions counted; "
      "frames between keep the last mask, as with interval. 0: as often as frames come",
      FLOAT, GST_TDL_LIVE, GST_TDL_AT(live.max_rate), 0, 1000, 0, .local = TRUE,
      .inference = "max-rate" },
    { "latency-mode", "Latency mode", "Which mask a frame is composed with", LATENCY, GST_TDL_LIVE,
      GST_TDL_AT(live.latency_mode), .def = GST_TDL_LATENCY_EXACT, .inference = "latency-mode" },
    { "batch-size", "Batch size",
      "Elements of one process with the same model, device and precision run the network on up "
      "to so many frames at once, one of each stream; each with a value other than 1 takes part. "
      "0: as many as there are streams, up to 16; 1: each frame alone. Of use on GPUs that one "
      "frame does not keep busy. Models with a state, input-fit=tiles, latency-mode=freshest and "
      "networks that cannot take several pictures go alone: stats says why",
      UINT, GST_TDL_LIVE, GST_TDL_AT(live.batch_size), 0, GST_TDL_MOST_STACKED, 1, .local = TRUE },
    { "batch-timeout", "Batch timeout",
      "How long a frame waits for those of other streams, in ms, which the latency grows by "
      "where there are any; -1: one frame interval. A batch begins as soon as each stream that is "
      "running has brought its frame",
      FLOAT, GST_TDL_LIVE, GST_TDL_AT(live.batch_timeout), -1, 600000, -1, .local = TRUE },
    { "fail-closed", "Fail closed",
      "In mode=blur and mode=replace: where there is no mask for a frame, as the network for it is "
      "still to come or could not be loaded, and round what a GstVideoCropMeta shows, all is "
      "background, blurred or replaced; off: as mode was before, and round a crop as it comes",
      BOOL, GST_TDL_LIVE, GST_TDL_AT(live.fail_closed), .def = TRUE, .local = TRUE },
    { "presence", "Presence",
      "Tell by the element message tdl-presence (present, share, running-time, timestamp) when "
      "somebody comes, or nobody is there any more; in mode=passthrough the network runs for "
      "that alone. At first nobody is there",
      BOOL, GST_TDL_LIVE, GST_TDL_AT(live.presence), .def = FALSE, .local = TRUE },
    { "presence-share", "Presence share",
      "Share of the frame that is somebody: pixels that the network is rather sure of, before "
      "threshold, smoothing and invert. 0: any pixel",
      FLOAT, GST_TDL_LIVE, GST_TDL_AT(live.presence_share), 0, 1, 0.01, .local = TRUE },
    { "presence-delay", "Presence delay",
      "How long a change must last before it is told, in ms of the stream's time", UINT,
      GST_TDL_LIVE, GST_TDL_AT(live.presence_delay), 0, 3600000, 1000, .local = TRUE },
    { "roi", "Regions of interest",
      "Have the network look where the regions of interest are that come with a frame "
      "(GstVideoRegionOfInterestMeta, and with GStreamer 1.26 GstAnalyticsODMtd), which it sees "
      "larger so; the rest of the frame is background. A frame without any is looked at as a "
      "whole",
      BOOL, GST_TDL_LIVE, GST_TDL_AT(live.roi), .def = FALSE, .local = TRUE },
    { "meta", "Metadata",
      "What the network has found, as GStreamer's standard metadata on each frame, in every mode "
      "that has a mask, in passthrough, and in mode=classes, which has no tensor of a mask; "
      "\"tensors\" in every mode. With it alone in mode=passthrough the model needs no mask, "
      "such as one that finds objects in boxes. Needs a build "
      "with GStreamer 1.26 or later: in others anything but \"none\" is an error at the start, "
      "and a warning later",
      META, GST_TDL_LIVE, GST_TDL_AT(live.meta), .def = GST_TDL_META_NONE, .local = TRUE },
    { "require-zero-copy", "Require zero copy",
      "Stop with an error where the CPU would have to copy a frame, or where frames of a device "
      "would go on through its memory, instead of doing so, counting it (stats) and announcing it "
      "once (element message tdl-fallback: side, path, reason). Where the CPU itself computes, "
      "frames of a device are such an error, and those in memory are not",
      BOOL, GST_TDL_LIVE, GST_TDL_AT(live.require_zero_copy), .def = FALSE, .local = TRUE,
      .inference = "require-zero-copy" },
};

const guint gst_tdl_property_count = G_N_ELEMENTS(gst_tdl_properties);

static const GEnumValue modes[] = {
    { GST_TDL_MODE_MASK, "The mask as a GRAY8 picture, foreground white", "mask" },
    { GST_TDL_MODE_OVERLAY, "Foreground tinted with overlay-color", "overlay" },
    { GST_TDL_MODE_BLUR, "Background blurred", "blur" },
    { GST_TDL_MODE_REPLACE, "Background replaced by a picture or a colour", "replace" },
    { GST_TDL_MODE_ALPHA, "Background transparent, as an RGBA or BGRA picture", "alpha" },
    { GST_TDL_MODE_PASSTHROUGH, "The picture untouched", "passthrough" },
    { GST_TDL_MODE_PICTURE,
      "The model's output, which is a picture, in the frame's place; as much larger as the model "
      "makes it",
      "picture" },
    { GST_TDL_MODE_CLASSES, "The classes of a model in their colours, laid over the picture",
      "classes" },
    { 0, NULL, NULL },
};

static const GEnumValue precisions[] = {
    { TDL_PRECISION_AUTO, "What suits any model: fp32", "auto" },
    { TDL_PRECISION_FP32, "32-bit floating point", "fp32" },
    { TDL_PRECISION_FP16, "Halves (up to 65504); computed with 32 bits", "fp16" },
    { 0, NULL, NULL },
};

static const GEnumValue latencies[] = {
    { GST_TDL_LATENCY_EXACT, "A frame is composed with its own mask, and waits for it", "exact" },
    { GST_TDL_LATENCY_FRESHEST,
      "A frame takes the newest finished mask; the network's time is not added to the latency, "
      "and frames that it has no time for keep the last mask",
      "freshest" },
    { 0, NULL, NULL },
};

static const GEnumValue decoders[] = {
    { GST_TDL_DECODE_AUTO,
      "Outputs of objects: what they are; one channel: probability; several: softmax; whole "
      "numbers: labels",
      "auto" },
    { GST_TDL_DECODE_PROBABILITY, "From 0 to 1, for each class", "probability" },
    { GST_TDL_DECODE_LOGIT, "Before a sigmoid, for each class", "logit" },
    { GST_TDL_DECODE_SOFTMAX, "Before a softmax over the classes", "softmax" },
    { GST_TDL_DECODE_LABELS, "The class of each pixel, as a number", "labels" },
    { GST_TDL_DECODE_DEPTH,
      "Distances to any scale: in mode=picture stretched between the frame's least and greatest",
      "depth" },
    { GST_TDL_DECODE_YOLO_SEG, "Objects in boxes, with coefficients of prototypes of their masks",
      "yolo-seg" },
    { GST_TDL_DECODE_MASK2FORMER,
      "Queries with a mask each and scores of classes, the last of which is no object",
      "mask2former" },
    { GST_TDL_DECODE_RF_DETR_SEG,
      "Queries with a box and a mask each, and scores of classes before a sigmoid", "rf-detr-seg" },
    { GST_TDL_DECODE_MASK_RCNN,
      "Objects with a label, a score, a mask and mostly a box each, as those of Mask R-CNN and "
      "SOLO",
      "mask-rcnn" },
    { 0, NULL, NULL },
};

static const GEnumValue fits[] = {
    { GST_TDL_FIT_STRETCH, "Stretched, whatever becomes of its aspect", "stretch" },
    { GST_TDL_FIT_LETTERBOX, "Whole in its aspect, in the middle, with grey (114 of 255) round it",
      "letterbox" },
    { GST_TDL_FIT_CROP, "Its middle in the model's aspect; the rest is background", "crop" },
    { GST_TDL_FIT_TILES, "Not at all: tiles of that size, one by one (mode=picture)", "tiles" },
    { 0, NULL, NULL },
};

static const GEnumValue orders[] = {
    { GST_TDL_ORDER_RGB, "Red, green, blue", "rgb" },
    { GST_TDL_ORDER_BGR, "Blue, green, red", "bgr" },
    { 0, NULL, NULL },
};

static const GEnumValue filters[] = {
    { GST_TDL_FILTER_AUTO, "What models known by name want; of others triangle", "auto" },
    { GST_TDL_FILTER_TRIANGLE,
      "Smoothly: all pixels count, as with antialiasing in PyTorch and Pillow", "triangle" },
    { GST_TDL_FILTER_BILINEAR,
      "The four nearest pixels count, as with OpenCV, TensorFlow and textures of GPUs",
      "bilinear" },
    { 0, NULL, NULL },
};

static const GEnumValue colormaps[] = {
    { GST_TDL_COLORMAP_NONE, "Grey", "none" },
    { GST_TDL_COLORMAP_TURBO, "From blue over green to red", "turbo" },
    { 0, NULL, NULL },
};

static const GEnumValue metadata[] = {
    { GST_TDL_META_NONE, "None", "none" },
    { GST_TDL_META_SEGMENTATION,
      "A GstAnalyticsSegmentationMtd: a mask of the frame's size that is 1 where there is "
      "foreground and else 0, and the names of the two in a GstAnalyticsClsMtd",
      "segmentation" },
    { GST_TDL_META_TENSOR,
      "A GstTensorMeta with the network's mask, of its size: float32, 0 to 1, with the id "
      "\"tdl-mask\"",
      "tensor" },
    { GST_TDL_META_BOTH, "Both", "both" },
    { GST_TDL_META_TENSORS,
      "A GstTensorMeta with every output of the model as it is, for elements that decode them: "
      "the id is that of the .modelinfo file, or else the output's name",
      "tensors" },
    { GST_TDL_META_SEGMENTATION | GST_TDL_META_TENSORS, "Segmentation and tensors",
      "segmentation-tensors" },
    { GST_TDL_META_TENSOR | GST_TDL_META_TENSORS, "The mask's tensor and tensors",
      "tensor-tensors" },
    { GST_TDL_META_ALL, "All of them", "all" },
    { 0, NULL, NULL },
};

static struct {
    const gchar *name;
    const GEnumValue *values;
    gsize type; /* 0: not registered yet */
} enums[] = {
    [MODE - MODE] = { "GstTdlMode", modes, 0 },
    [PRECISION - MODE] = { "GstTdlPrecision", precisions, 0 },
    [LATENCY - MODE] = { "GstTdlLatencyMode", latencies, 0 },
    [DECODER - MODE] = { "GstTdlDecoder", decoders, 0 },
    [FIT - MODE] = { "GstTdlInputFit", fits, 0 },
    [ORDER - MODE] = { "GstTdlInputOrder", orders, 0 },
    [FILTER - MODE] = { "GstTdlInputFilter", filters, 0 },
    [COLORMAP - MODE] = { "GstTdlColormap", colormaps, 0 },
    [META - MODE] = { "GstTdlMeta", metadata, 0 },
};

static GType enum_type(enum gst_tdl_property_kind kind)
{
    gsize *type = &enums[kind - MODE].type;

    if (g_once_init_enter(type)) {
        GType new_type = g_enum_register_static(enums[kind - MODE].name, enums[kind - MODE].values);

        gst_type_mark_as_plugin_api(new_type, 0);
        g_once_init_leave(type, new_type);
    }
    return *type;
}

/* Properties that are a matter of the picture; how frames travel is not a matter of time. */
static gboolean is_controllable(const struct gst_tdl_property *p)
{
    return (p->effect == GST_TDL_LIVE || p->effect == GST_TDL_RENEGOTIATE) && p->kind != CLASSES &&
           p->kind != LATENCY && (!p->local || p->offset == GST_TDL_AT(live.tile_overlap));
}

static GParamFlags param_flags(const struct gst_tdl_property *p)
{
    GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS;

    if (p->effect == GST_TDL_RESTART)
        return flags | GST_PARAM_MUTABLE_READY;
    if (is_controllable(p))
        flags |= GST_PARAM_CONTROLLABLE;
    return flags | GST_PARAM_MUTABLE_PLAYING;
}

static GParamSpec *param_spec(const struct gst_tdl_property *p)
{
    GParamFlags flags = param_flags(p);

    switch (p->kind) {
    case FLOAT:
        return g_param_spec_float(p->name, p->nick, p->blurb, p->min, p->max, p->def, flags);
    case UINT:
        return g_param_spec_uint(p->name, p->nick, p->blurb, p->min, p->max, p->def, flags);
    case COLOR:
        return g_param_spec_uint(p->name, p->nick, p->blurb, 0, G_MAXUINT32, p->def, flags);
    case BOOL:
        return g_param_spec_boolean(p->name, p->nick, p->blurb, p->def != 0, flags);
    case STRING:
        return g_param_spec_string(p->name, p->nick, p->blurb, p->text ? p->text : "", flags);
    case CLASSES:
        return gst_param_spec_array(p->name, p->nick, p->blurb,
                                    g_param_spec_int("class", "Class", "Class index", 0, G_MAXINT,
                                                     0, G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS),
                                    flags);
    default:
        return g_param_spec_enum(p->name, p->nick, p->blurb, enum_type(p->kind), p->def, flags);
    }
}

const GEnumValue *gst_tdl_property_values(const struct gst_tdl_property *p)
{
    return p->kind >= MODE ? enums[p->kind - MODE].values : NULL;
}

void gst_tdl_settings_install(GObjectClass *klass, enum gst_tdl_kind kind)
{
    for (guint i = 0; i < gst_tdl_property_count; i++) {
        struct gst_tdl_property p = gst_tdl_properties[i];

        if (kind == GST_TDL_OF_INFERENCE)
            p.name = p.inference;
        if (p.name)
            g_object_class_install_property(klass, i + 1, param_spec(&p));
    }
}

guint gst_tdl_settings_first_free_id(void)
{
    return gst_tdl_property_count + 1;
}
