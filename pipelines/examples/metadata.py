#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What tdlfilter finds, read in Python as GStreamer's standard metadata.

    metadata.py [--source ELEMENTS] [PROPERTY=VALUE...]
    metadata.py --source "v4l2src ! videoconvert" mode=blur

For each frame it prints how much of it each region of the segmentation covers, by name. What
other elements attach can be read the same way. It needs GStreamer 1.26.
"""
import argparse
import sys

import gi
import numpy as np

gi.require_version("Gst", "1.0")
gi.require_version("GstVideo", "1.0")
try:
    gi.require_version("GstAnalytics", "1.0")
except ValueError:
    sys.exit("metadata.py: GStreamer has no analytics library for Python: it needs 1.26 or later "
             "(Debian 13: gir1.2-gst-plugins-bad-1.0, python3-gst-1.0)")
from gi.repository import GLib, Gst, GstAnalytics, GstVideo  # noqa: E402 (versions come first)


def as_array(mask):
    """The region of each pixel; the rows may be longer than the picture is wide."""
    meta = GstVideo.buffer_get_video_meta(mask)
    data = np.frombuffer(mask.extract_dup(0, mask.get_size()), np.uint8)
    rows = data[meta.offset[0]:][:meta.stride[0] * meta.height].reshape(meta.height, -1)
    return rows[:, :meta.width]


def segmentations(buffer):
    """Each segmentation of a frame: mask, place in the frame, names by region id."""
    relations = GstAnalytics.buffer_get_analytics_relation_meta(buffer)
    found = list(relations) if relations else []
    for segmentation in found:
        if not isinstance(segmentation, GstAnalytics.SegmentationMtd):
            continue
        mask, *place = segmentation.get_mask()
        names = {}
        for classes in found:
            if (isinstance(classes, GstAnalytics.ClsMtd) and
                    relations.get_relation(segmentation.id, classes.id) ==
                    GstAnalytics.RelTypes.N_TO_N):
                names = {segmentation.get_region_id(i): GLib.quark_to_string(classes.get_quark(i))
                         for i in range(segmentation.get_region_count())}
        yield as_array(mask), place, names


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source", default="videotestsrc num-buffers=30")
    parser.add_argument("settings", nargs="*", metavar="PROPERTY=VALUE")
    args = parser.parse_args()
    Gst.init(None)
    pipeline = Gst.parse_launch(
        f"{args.source} ! tdlfilter name=filter mode=passthrough meta=segmentation ! "
        "appsink name=sink sync=false")
    for setting in args.settings:
        Gst.util_set_object_arg(pipeline.get_by_name("filter"), *setting.split("=", 1))
    pipeline.set_state(Gst.State.PLAYING)
    sink, count = pipeline.get_by_name("sink"), 0
    while sample := sink.emit("pull-sample"):
        for mask, (x, y, width, height), names in segmentations(sample.get_buffer()):
            shares = ", ".join(f"{100 * np.mean(mask == region):.1f}% {name}"
                               for region, name in names.items())
            print(f"frame {count}: {width}x{height} at {x},{y}: {shares}")
        count += 1
    error = pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)
    pipeline.set_state(Gst.State.NULL)
    if error:
        sys.exit(f"{error.src.name}: {error.parse_error()[0].message}")


if __name__ == "__main__":
    main()
