#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints what a pipeline finds, one line of JSON for each frame.

    detections.py PIPELINE

PIPELINE is as for gst-launch-1.0, up to the decoder:

    detections.py v4l2src ! tdlinference model-file=yolov8s.onnx ! yolov8tensordec

A line has the frame's time in seconds and a list of objects, each with its class, its score, and
x, y, width and height in px of the frame. It needs GStreamer 1.26, gir1.2-gst-plugins-bad-1.0,
python3-gi and python3-gst-1.0.
"""
import json
import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstAnalytics", "1.0")
from gi.repository import GLib, Gst, GstAnalytics  # noqa: E402


def objects(buffer):
    meta = GstAnalytics.buffer_get_analytics_relation_meta(buffer)
    for mtd in meta or []:
        if isinstance(mtd, GstAnalytics.ODMtd):
            _, x, y, width, height, score = mtd.get_location()
            yield {"class": GLib.quark_to_string(mtd.get_obj_type()), "score": round(score, 4),
                   "box": [x, y, width, height]}


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    Gst.init(None)
    line = " ".join(sys.argv[1:])
    pipeline = Gst.parse_launch(line + " ! appsink name=frames sync=false max-buffers=2")
    frames = pipeline.get_by_name("frames")
    started = pipeline.set_state(Gst.State.PLAYING) != Gst.StateChangeReturn.FAILURE
    while started and (sample := frames.emit("pull-sample")):
        buffer = sample.get_buffer()
        found = {"time": round(buffer.pts / Gst.SECOND, 3), "objects": list(objects(buffer))}
        print(json.dumps(found), flush=True)
    error = pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)
    pipeline.set_state(Gst.State.NULL)
    if error:
        sys.exit(error.parse_error()[0].message)


main()
