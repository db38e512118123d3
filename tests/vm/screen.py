# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compare the guest's display with the picture that should be on it.

screen.py MONITOR SCREENSHOT EXPECTED NAME    (pictures: PPM)

MONITOR is the socket of QEMU's monitor. The display refreshes on its own
clock, so a screenshot that differs is taken again, for a minute.
"""
import os
import socket
import sys
import time


def read_ppm(path):
    with open(path, "rb") as file:
        data = file.read()
    fields, pos = [], 0
    while len(fields) < 4:
        while data[pos:pos + 1].isspace():
            pos += 1
        end = pos
        while not data[end:end + 1].isspace():
            end += 1
        fields.append(data[pos:end])
        pos = end
    if fields[0] != b"P6" or fields[3] != b"255":
        raise ValueError("%s is no PPM of 8 bits" % path)
    return int(fields[1]), int(fields[2]), data[pos + 1:]


def screenshot(monitor, path):
    if os.path.exists(path):
        os.remove(path)
    monitor.send(b"screendump " + path.encode() + b"\n")
    for _ in range(600):
        time.sleep(0.1)
        try:
            picture = read_ppm(path)
        except (OSError, ValueError, IndexError):
            continue
        if len(picture[2]) == picture[0] * picture[1] * 3:
            return picture
    raise ValueError("QEMU made no screenshot")


def difference(screen, expected):
    if screen[:2] != expected[:2]:
        return "the screen is %dx%d, not %dx%d" % (screen[:2] + expected[:2])
    wrong = [at for at in range(0, len(screen[2]), 3)
             if screen[2][at:at + 3] != expected[2][at:at + 3]]
    if not wrong:
        return None
    at = wrong[0]
    return "%d of %d pixels differ, first at %d,%d: %s instead of %s" % (
        len(wrong), screen[0] * screen[1], at // 3 % screen[0], at // 3 // screen[0],
        tuple(screen[2][at:at + 3]), tuple(expected[2][at:at + 3]))


def main():
    socket_path, path, expected_path, name = sys.argv[1:]
    expected = read_ppm(expected_path)
    monitor = socket.socket(socket.AF_UNIX)
    monitor.connect(socket_path)
    deadline = time.monotonic() + 60
    while True:
        reason = difference(screenshot(monitor, path), expected)
        if not reason or time.monotonic() > deadline:
            break
        time.sleep(1)
    if reason:
        print("FAILED %s: screen: %s" % (name, reason), flush=True)
    else:
        print("ok %s: the screen shows the expected picture" % name, flush=True)


try:
    main()
except (OSError, ValueError) as error:
    print("FAILED %s: screen: %s" % (sys.argv[-1], error), flush=True)
