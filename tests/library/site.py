#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The documentation's pages: links, images, properties, and error messages.

    site.py SOURCES CMARK-GFM GST-INSPECT PLUGIN REFERENCE
"""
import glob
import html.parser
import os
import re
import subprocess
import sys
import tempfile

root, cmark = sys.argv[1:3]
failures = 0


def check(what, good, why=""):
    global failures
    if not good:
        failures += 1
        print(f"FAILED: {what} {why}")
    return good


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.ids, self.links, self.resources, self.headings, self.cells = [], [], [], [], []
        self.inside = []
        with open(path, encoding="utf-8") as f:
            self.feed(f.read())

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.ids += [attrs["id"]] if "id" in attrs else []
        if tag == "a":
            self.links.append(attrs["href"])
        elif "src" in attrs or tag == "link":
            self.resources.append(attrs.get("src") or attrs["href"])
        check("no script", tag != "script")
        self.inside.append(tag)
        if tag in ("h3", "td"):
            (self.headings if tag == "h3" else self.cells).append("")

    def handle_endtag(self, tag):
        while self.inside and self.inside.pop() != tag:
            pass

    def handle_data(self, data):
        if "h3" in self.inside:
            self.headings[-1] += data
        elif "td" in self.inside:
            self.cells[-1] += data


def check_links(site, pages):
    """All links lead somewhere, and from the first page to every other."""
    reached, ahead = set(), ["index.html"]
    while ahead:
        name = ahead.pop()
        if name in reached:
            continue
        reached.add(name)
        for link in pages[name].links:
            path, _, anchor = link.partition("#")
            path = path or name
            if re.match(r"https://", link) or not check(f"{name}: {link} is there", path in pages):
                continue
            check(f"{name}: {link} is there", not anchor or anchor in pages[path].ids)
            ahead.append(path)
        for resource in pages[name].resources:
            check(f"{name}: {resource} is there",
                  "/" not in resource and os.path.getsize(os.path.join(site, resource)) > 0)
        check(f"{name}: an anchor is one place", len(set(pages[name].ids)) == len(pages[name].ids))
    check("every page is reached", reached == set(pages), str(set(pages) - reached))
    check("the picture is shown", "all-modes.jpg" in pages["index.html"].resources)


def messages():
    """The string literals of the element's sources, the tools' and farm's; values as …"""
    literal = r'"(?:[^"\\\n]|\\.)*"'
    sources = glob.glob(root + "/gst/**/*.[ch]", recursive=True)
    sources += glob.glob(root + "/engine/tools/*.c")
    for path in sources + glob.glob(root + "/pipelines/farm*.c"):
        with open(path, encoding="utf-8") as f:
            text = f.read()
        for found in re.findall(rf"{literal}(?:\s+(?:G_[A-Z0-9_]+_FORMAT\s+)?{literal})*", text):
            joined = re.sub(r'(?<!\\)"\s+(G_[A-Z0-9_]+_FORMAT\s+)?"',
                            lambda between: "s" if between.group(1) else "", found)[1:-1]
            yield re.sub(r"%[-0-9.]*[a-z]", "…", joined).replace('\\"', '"')


def script_messages():
    """What the virtual camera's scripts, farm.sh and all recipes say, variables as …"""
    for name in ("common.sh", "video-call.sh", "virtual-camera.bash", "farm.sh"):
        with open(f"{root}/pipelines/{name}", encoding="utf-8") as f:
            for text in re.findall(r'"((?:[^"\\]|\\.)*)"', f.read()):
                yield re.sub(r"\$(\w+|{[^}]*})", "…", text)


def gstreamer_messages():
    """What gst-launch-1.0 says of wrong properties, values as …"""
    inspect, plugin = sys.argv[3:5]
    with tempfile.TemporaryDirectory() as temp:
        surroundings = dict(os.environ, LC_ALL="C.UTF-8", GST_REGISTRY=f"{temp}/registry",
                            GST_PLUGIN_SYSTEM_PATH_1_0="", GST_PLUGIN_PATH=os.path.dirname(plugin))
        for wrong in (["mode=blurr"], ["moed=blur"], ["threshold=7", "!", "nothing"]):
            run = subprocess.run(
                [inspect.replace("inspect", "launch"), "tdlfilter"] + wrong, env=surroundings,
                check=False, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=60)
            for line in run.stderr.decode().splitlines():
                yield re.sub(r"'[^']*'", "'…'", re.sub(r'"[^"]*"', '"…"', line))


def check_messages(pages):
    said = list(messages()) + list(script_messages()) + list(gstreamer_messages())
    for heading in pages["troubleshooting.html"].headings:
        check(f"the sources say: {heading}", any(heading in text for text in said))
    for text in script_messages():
        if re.match(r"[A-Z].* (no|not|already)\b.*:$", text):
            check(f"troubleshooting has: {text}", text in pages["troubleshooting.html"].headings)
    # What the device or the engine refused: each begins with words of its own.
    calls = ""
    for path in glob.glob(root + "/gst/**/*.c", recursive=True):
        with open(path, encoding="utf-8") as f:
            calls += f.read()
    formats = re.findall(r'gst_tdl_error_set\([^"{;]*"((?:[^"\\]|\\.)*)"', calls)
    check("messages are found", len(formats) > 10)
    for text in formats:
        text = re.sub(r"%[-0-9.]*[a-z]", "…", text).replace('\\"', '"')
        check(f"troubleshooting has: {text}", text in pages["troubleshooting.html"].headings)
    # And what it says of itself, in whole sentences.
    literals = r'"(?:[^"\\]|\\.)*"'
    sentences = re.findall(rf"g_error_new\(\s*\w+,\s*\w+,\s*((?:{literals}\s*)+)", calls)
    check("sentences are found", len(sentences) > 5)
    for text in sentences:
        text = re.sub(r'(?<!\\)"\s+"', "", text.strip())[1:-1].replace('\\"', '"')
        text = re.sub(r"%[-0-9.]*[a-z]", "…", text)
        check(f"troubleshooting has: {text}",
              any(heading in text for heading in pages["troubleshooting.html"].headings))


def check_properties(pages):
    """Those that doc/element.md has, which another test holds against the element."""
    with open(root + "/doc/element.md", encoding="utf-8") as f:
        table = f.read().split("## Properties")[1].split("\n## ")[0]
    names = re.findall(r"^\| `([a-z0-9-]+)`", table, re.M)
    check("there are properties", len(names) > 10)
    cells = pages["properties.html"].cells
    rows = {cells[i]: cells[i + 1:i + 6] for i in range(0, len(cells), 6)}
    check("each has a row", sorted(rows) == sorted(names), str(set(rows) ^ set(names)))
    for name, (kind, values, default, when, blurb) in rows.items():
        check(f"{name} has a type and words", kind and when and len(blurb) > 10)
    check("interval is as it is", rows["interval"][:4] ==
          ["Unsigned Integer", "1 to 2147483647", "1", "live"], str(rows["interval"]))
    check("precision is as it is", rows["precision"][:4] ==
          ["Enum", "auto, fp32, fp16", "auto", "stopped"], str(rows["precision"]))
    check("a colour is as one writes it", rows["overlay-color"][2] == "0xff00c8ff")
    check("stats is read only", rows["stats"][3] == "read-only")


def main():
    with tempfile.TemporaryDirectory() as temp:
        site = temp + "/site"
        subprocess.run([sys.executable, root + "/doc/site.py", root, site] + sys.argv[2:], check=True)
        pages = {name: Page(os.path.join(site, name)) for name in os.listdir(site)
                 if name.endswith(".html")}
        check_links(site, pages)
        check_messages(pages)
        check_properties(pages)
    sys.exit(failures > 0)


main()
