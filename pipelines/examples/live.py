#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""tdlfilter from Python: live properties, messages, statistics, and masks as NumPy arrays.

    live.py [--source ELEMENTS] [--sink ELEMENTS] [PROPERTY=VALUE...]
    live.py --source "v4l2src ! videoconvert" --sink autovideosink blur-radius=30

The mode changes every thirty frames while the stream plays, unless mode=… is given. In
mode=picture and mode=classes there is no mask.
"""
import argparse
import json
import sys

import gi
import numpy as np

gi.require_version("Gst", "1.0")
gi.require_version("GstVideo", "1.0")
from gi.repository import GLib, Gst, GstVideo  # noqa: E402 (versions come first)

MODES = ("overlay", "blur", "replace")  # their frames have the same format


def choices(element, name):
    """The words that a property takes, as gst-launch-1.0 writes them."""
    return [value.value_nick for value in
            type(element.get_property(name)).__enum_values__.values()]


def parse(line):
    """A pipeline from a line as gst-launch-1.0 takes it; a value that is none ends the program,
    which Gst.util_set_object_arg() would say nothing of."""
    try:
        return Gst.parse_launch(line)
    except GLib.Error as error:
        sys.exit(f"live.py: {error.message}")


def as_array(sample):
    """A GRAY8 frame; rows may be longer than the picture is wide."""
    buffer, info = sample.get_buffer(), GstVideo.VideoInfo.new_from_caps(sample.get_caps())
    meta = GstVideo.buffer_get_video_meta(buffer)
    offset, stride = (meta.offset[0], meta.stride[0]) if meta else (info.offset[0], info.stride[0])
    data = np.frombuffer(buffer.extract_dup(0, buffer.get_size()), np.uint8)
    rows = np.lib.stride_tricks.as_strided(data[offset:], (info.height, info.width), (stride, 1))
    return rows.copy()


class Player:
    def __init__(self, source, sink, settings):
        self.seen, self.status = 0, 0
        self.cycle = "mode" not in settings
        masks = ("filter.mask_src ! queue ! appsink name=masks emit-signals=true sync=false"
                 if settings.get("mode") not in ("picture", "classes") else "")
        words = " ".join(f"{name}={json.dumps(value)}" for name, value in settings.items())
        self.pipeline = parse(f"{source} ! tdlfilter name=filter {words} ! queue ! {sink} {masks}")
        self.filter = self.pipeline.get_by_name("filter")
        if masks:
            self.pipeline.get_by_name("masks").connect("new-sample", self.on_mask)
        bus = self.pipeline.get_bus()
        bus.add_signal_watch()
        bus.connect("message", self.on_message)
        self.loop = GLib.MainLoop()

    def on_mask(self, appsink):
        """On the stream's own thread: short, or the stream waits."""
        mask = as_array(appsink.emit("pull-sample"))
        self.seen += 1
        if self.seen % 30 == 0:
            print(f"frame {self.seen}: {mask.shape[1]}x{mask.shape[0]},",
                  f"{(mask > 127).mean():.1%} foreground")
            if self.cycle:
                self.filter.set_property("mode", MODES[self.seen // 30 % len(MODES)])
                print("mode", self.filter.get_property("mode").value_nick)
        return Gst.FlowReturn.OK

    def on_message(self, _bus, message):
        structure = message.get_structure()
        if message.type == Gst.MessageType.ERROR:
            error, _debug = message.parse_error()
            print(f"{message.src.get_name()}: {error.message}", file=sys.stderr)
            self.status = 1
            self.loop.quit()
        elif message.type == Gst.MessageType.WARNING:
            print(message.parse_warning()[0].message, file=sys.stderr)
        elif message.type == Gst.MessageType.PROGRESS:
            kind, _code, text = message.parse_progress()
            print(f"{kind.value_nick}: {text}")
        elif message.type == Gst.MessageType.ELEMENT and structure.get_name() == "tdl-legend":
            print(structure.to_string())
        elif message.type == Gst.MessageType.EOS:
            self.loop.quit()

    def run(self):
        self.pipeline.set_state(Gst.State.PLAYING)
        try:
            self.loop.run()
        except KeyboardInterrupt:
            pass
        statistics = self.filter.get_property("stats")
        self.pipeline.set_state(Gst.State.NULL)
        for i in range(statistics.n_fields()):
            name = statistics.nth_field_name(i)
            print(f"{name}: {statistics.get_value(name)}")
        return self.status


def main():
    Gst.init(None)
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source", default="videotestsrc pattern=ball num-buffers=120 ! "
                        "video/x-raw,format=NV12")
    parser.add_argument("--sink", default="fakesink")
    parser.add_argument("settings", nargs="*", metavar="PROPERTY=VALUE")
    arguments = parser.parse_args()
    if not Gst.ElementFactory.find("tdlfilter"):
        sys.exit("live.py: GStreamer finds no tdlfilter: install it, or run this in meson devenv")
    settings = dict(setting.partition("=")[::2] for setting in arguments.settings)
    player = Player(arguments.source, arguments.sink, settings)
    print("modes:", *choices(player.filter, "mode"))
    sys.exit(player.run())


if __name__ == "__main__":
    main()
