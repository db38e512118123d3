#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The documentation as static pages, from the tree's Markdown.

    site.py SOURCES OUTPUT CMARK-GFM GST-INSPECT PLUGIN REFERENCE

REFERENCE is libtdl's, as engine/reference.py makes it. Files and folders of the
tree that a page links to become pages of their own. In doc/properties.md a
paragraph of nothing but names of properties becomes a table, which GST-INSPECT
makes of the plugin's element; a property in no such paragraph is an error.
"""
import html
import os
import re
import shutil
import subprocess
import sys
import tempfile

# In the order of the menu.
PAGES = [
    ("README.md", "index.html", "Start"),
    ("doc/building.md", "building.html", "Building and tests"),
    ("doc/recipes.md", "recipes.html", "Recipes"),
    ("doc/cameras.md", "cameras.html", "Cameras"),
    ("doc/drivers.md", "drivers.html", "Graphics drivers"),
    ("doc/window.md", "window.html", "The demo window"),
    ("doc/element.md", "element.html", "The element"),
    ("doc/properties.md", "properties.html", "All properties"),
    ("doc/models.md", "models.html", "Your own model"),
    ("doc/loading.md", "loading.html", "A model that does not load"),
    ("doc/analytics.md", "analytics.html", "Detectors and decoders"),
    ("doc/streams.md", "streams.html", "Several streams"),
    ("gst/ZERO-COPY.md", "zero-copy.html", "Zero-copy"),
    ("doc/performance.md", "performance.html", "Performance"),
    ("doc/troubleshooting.md", "troubleshooting.html", "Error messages"),
    ("engine/README.md", "libtdl.html", "libtdl"),
    ("engine/libtdl-reference.md", "libtdl-reference.html", "libtdl: reference"),
    ("engine/CONVOLUTION.md", "convolution.html", "libtdl: convolution"),
    ("CONTRIBUTING.md", "contributing.html", "Contributing"),
]
NAMES = {source: page for source, page, _ in PAGES}


def said_default(name, values, text):
    """As one writes it: a colour's digits, and one of several values without quotes."""
    if name.endswith("-color"):
        return f"0x{int(text):08x}"
    return text.strip('"') if values else text


def inspected(program, plugin):
    """Name to (type, range, default, when it may change, blurb), as the element says."""
    with tempfile.TemporaryDirectory() as temp:
        surroundings = dict(os.environ, LC_ALL="C.UTF-8", GST_PLUGIN_SYSTEM_PATH_1_0="",
                            GST_PLUGIN_PATH=os.path.dirname(plugin), GST_REGISTRY=f"{temp}/registry")
        text = subprocess.run([program, "--no-colors", "tdlfilter"], env=surroundings, check=True,
                              stdout=subprocess.PIPE).stdout.decode()
    text = text.split("\nElement Properties:\n")[1].split("\nElement ")[0]
    found = {}
    for part in re.split(r"\n(?=  [a-z])", "\n" + text)[1:]:
        name, blurb = re.match(r"  ([a-z0-9-]+) *: (.*)", part).groups()
        flags = re.search(r"flags: (.*)", part).group(1)
        values = re.findall(r"\(-?\d+\): (\S+) +- (.*)", part)
        kind = re.search(r"(String|Boolean|Float|Double|Enum|Unsigned Integer64|Integer64|"
                         r"Unsigned Integer|Integer|GstValueArray|Boxed)\b", part.split("flags:")[1])
        limits = re.search(r"Range: *(\S+) - *(\S+)", part)
        default = re.search(r"Default: *(?:-?\d+, )?(\"[^\"]*\"|\S+)", part)
        found[name] = (kind.group(1) if kind else "",
                       ", ".join(value for value, _ in values) or
                       (f"{limits.group(1)} to {limits.group(2)}" if limits else ""),
                       said_default(name, values, default.group(1) if default else ""),
                       "read-only" if "writable" not in flags else
                       "stopped" if "only in NULL" in flags else "live",
                       blurb + "".join(f"; {value}: {what}" for value, what in values))
    return {name: what for name, what in found.items() if name not in ("name", "parent")}


def property_tables(text, properties):
    """The paragraphs of names as tables, in Markdown."""
    left = set(properties)

    def table(found):
        rows = ["| property | type | values | default | may change | meaning |", "|---|---|---|---|---|---|"]
        for name in re.findall(r"`([a-z0-9-]+)`", found.group()):
            if name not in left:
                sys.exit(f"doc/properties.md: the element has no property {name}, or it is there twice")
            left.remove(name)
            kind, values, default, when, blurb = (re.sub(r"([|<>\\*_])", r"\\\1", cell)
                                                  for cell in properties[name])
            rows.append(f"| `{name}` | {kind} | {values} | {default} | {when} | {blurb} |")
        return "\n".join(rows)

    text = re.sub(r"^`[a-z0-9-]+`(?:,\s+`[a-z0-9-]+`)*$", table, text, flags=re.M)
    if left:
        sys.exit(f"doc/properties.md lacks {', '.join(sorted(left))}")
    return text


class Site:
    def __init__(self, root, output, cmark):
        self.root, self.output, self.cmark = root, output, cmark
        self.files = {} # of the tree, that pages link to: path to page

    def address(self, source, link):
        """Where a link of the page `source` leads to in the site."""
        if re.match(r"[a-z]+:", link) or link.startswith("#"):
            return link
        path, sharp, anchor = link.partition("#")
        path = os.path.normpath(os.path.join(os.path.dirname(source), path))
        if path in NAMES:
            return NAMES[path] + sharp + anchor
        if path.endswith((".jpg", ".png")):
            shutil.copy(os.path.join(self.root, path), self.output)
            return os.path.basename(path)
        if path.endswith(".md") or not os.path.exists(os.path.join(self.root, path)):
            sys.exit(f"{source}: {link} is no page of the site, and no other file")
        self.files.setdefault(path, "file-" + path.replace("/", "-") + ".html")
        return self.files[path]

    def body(self, source, markdown):
        """A page's HTML, with anchors for its headings and links within the site."""
        text = subprocess.run([self.cmark, "-e", "table"], input=markdown.encode(), check=True,
                              stdout=subprocess.PIPE).stdout.decode()
        seen, contents = {}, []

        def heading(found):
            level, inner = found.groups()
            words = html.unescape(re.sub(r"<[^>]*>", "", inner))
            anchor = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
            seen[anchor] = seen.get(anchor, -1) + 1
            anchor += f"-{seen[anchor]}" if seen[anchor] else ""
            if level == "2":
                contents.append(f'<li><a href="#{anchor}">{html.escape(words)}</a></li>')
            return f'<h{level} id="{anchor}">{inner}</h{level}>'

        text = re.sub(r"<h([1-6])>(.*?)</h\1>", heading, text, flags=re.S)
        text = re.sub(r'\b(href|src)="([^"]*)"', lambda found: '{}="{}"'.format(
            found.group(1), html.escape(self.address(source, html.unescape(found.group(2))))), text)
        if len(contents) > 2:
            text = text.replace("</h1>", '</h1>\n<ul class="contents">\n' + "\n".join(contents) +
                                "\n</ul>", 1)
        return text

    def write(self, page, title, body):
        menu = "\n".join('<a href="{}"{}>{}</a>'.format(
            name, ' class="here"' if name == page else "", label) for _, name, label in PAGES)
        with open(os.path.join(self.output, page), "w", encoding="utf-8") as f:
            f.write('<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
                    '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
                    f"<title>{html.escape(title)} – tdlfilter</title>\n"
                    '<link rel="stylesheet" href="site.css">\n</head>\n<body>\n'
                    f"<nav>\n{menu}\n</nav>\n<main>\n{body}</main>\n</body>\n</html>\n")

    def write_file(self, path, page):
        """A file of the tree as it is, or a folder's list of files."""
        whole = os.path.join(self.root, path)
        if os.path.isdir(whole):
            rows = (self.address(path + "/", name) for name in sorted(os.listdir(whole)))
            body = "<ul>\n" + "".join(
                f'<li><a href="{html.escape(row)}">{html.escape(name)}</a></li>\n'
                for row, name in zip(rows, sorted(os.listdir(whole)))) + "</ul>\n"
        else:
            with open(whole, encoding="utf-8") as f:
                body = f"<pre><code>{html.escape(f.read())}</code></pre>\n"
        self.write(page, path, f"<h1>{html.escape(path)}</h1>\n{body}")


def main():
    root, output, cmark, inspect, plugin, reference = sys.argv[1:]
    shutil.rmtree(output, ignore_errors=True)
    os.makedirs(output)
    shutil.copy(os.path.join(root, "doc/site.css"), output)
    site = Site(root, output, cmark)
    for source, page, title in PAGES:
        path = reference if source == "engine/libtdl-reference.md" else os.path.join(root, source)
        with open(path, encoding="utf-8") as f:
            text = f.read()
        if page == "properties.html":
            text = property_tables(text, inspected(inspect, plugin))
        site.write(page, title, site.body(source, text))
    written = set()
    while left := set(site.files) - written: # folders name more
        for path in left:
            site.write_file(path, site.files[path])
        written |= left
    print(f"{len(PAGES) + len(written)} pages: {os.path.join(output, 'index.html')}")


if __name__ == "__main__":
    main()
