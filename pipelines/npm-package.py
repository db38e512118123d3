#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Fetch the tarball of an npm package, without npm.

npm-package.py PACKAGE VERSION INTEGRITY FILE

INTEGRITY is what npm calls so: "sha512-" and the digest in base 64. FILE appears only when
the whole of it is there and right. The registry, its proxy, certificates and tokens are those
of npm's configuration: variables (npm_config_registry), .npmrc files, npm itself if it is
installed. Where nothing names one, it is the default of npm, read out of Debian's package of
it, which is downloaded for that but not installed.
"""
import base64
import hashlib
import http.client
import json
import os
import re
import shutil
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

TRIES = 3
TIMEOUT = 60  # seconds without a byte


class Failure(Exception):
    """What to tell the user."""


def rc_files():
    """npm's configuration files, the first one counts."""
    home = os.path.expanduser("~")
    tree = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    yield os.path.join(tree, ".npmrc")
    yield variable("userconfig") or os.path.join(home, ".npmrc")
    yield variable("globalconfig") or "/etc/npmrc"
    yield "/usr/etc/npmrc"
    yield "/usr/local/etc/npmrc"


def variable(key):
    """npm takes its settings from variables, too, in any case."""
    wanted = "npm_config_" + key.replace("-", "_")
    for name, value in os.environ.items():
        if name.lower().replace("-", "_") == wanted.lower() and value:
            return value
    return None


def read_settings():
    settings = {}
    for path in rc_files():
        try:
            with open(path, encoding="utf-8", errors="replace") as lines:
                for line in lines:
                    key, equals, value = line.strip().partition("=")
                    if equals and key[:1] not in "#;":
                        value = os.path.expandvars(value.strip().strip("\"'"))
                        settings.setdefault(key.strip(), value)
        except OSError:
            pass  # most do not exist
    return settings


def setting(settings, key):
    return variable(key) or settings.get(key)


def ask_npm(key):
    """npm's own answer; None where it is not installed, or has none."""
    if not shutil.which("npm"):
        return None
    done = subprocess.run(["npm", "config", "get", key], capture_output=True, text=True, check=False)
    answer = done.stdout.strip()
    return answer if done.returncode == 0 and answer.startswith("http") else None


def npm_default():
    """What npm takes where nothing is configured, as a file of its Debian package says."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(["apt-get", "download", "-qq", "npm"], cwd=folder, check=False,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for deb in os.listdir(folder) if done.returncode == 0 else ():
            subprocess.run(["dpkg-deb", "-x", deb, "."], cwd=folder, check=False)
        for place, _, files in os.walk(folder):
            if "default-opts.js" not in files:
                continue
            with open(os.path.join(place, "default-opts.js"), encoding="utf-8") as text:
                found = re.search(r"^\s*registry:\s*'(https://[^']+)'", text.read(), re.MULTILINE)
            if found:
                return found.group(1)
    return None


def registry_of(package, settings):
    scope = package.split("/")[0] + ":registry" if package.startswith("@") else None
    found = (scope and settings.get(scope)) or setting(settings, "registry") or \
        (scope and ask_npm(scope)) or ask_npm("registry")
    if not found and shutil.which("apt-get"):
        found = npm_default()
    if not found:
        raise Failure("no registry of npm packages is known: name one in ~/.npmrc (registry=URL) or "
                      "in the variable npm_config_registry, or install npm")
    return found.rstrip("/") + "/"


def opener_of(settings):
    context = ssl.create_default_context()
    for path in (setting(settings, "cafile"), os.environ.get("NODE_EXTRA_CA_CERTS")):
        if path and os.path.exists(path):  # npm, too, passes over files that are not there
            try:
                context.load_verify_locations(path)
            except (OSError, ssl.SSLError) as error:
                raise Failure("the certificates in %s cannot be read: %s" % (path, error)) from error
    proxies = urllib.request.getproxies()
    for scheme, key in (("https", "https-proxy"), ("http", "proxy")):
        if scheme not in proxies and setting(settings, key) not in (None, "null", "false"):
            proxies[scheme] = setting(settings, key)
    return urllib.request.build_opener(urllib.request.ProxyHandler(proxies),
                                       urllib.request.HTTPSHandler(context=context))


def request_for(url, registry, settings):
    request = urllib.request.Request(url, headers={"User-Agent": "tdlfilter"})
    place = registry.split(":", 1)[1]
    if url.startswith(registry):  # a token is for its registry alone
        for key, scheme in (("_authToken", "Bearer "), ("_auth", "Basic ")):
            if place + ":" + key in settings:
                request.add_unredirected_header("Authorization", scheme + settings[place + ":" + key])
    return request


def download(opener, request, part, integrity):
    digest = hashlib.sha512()
    with opener.open(request, timeout=TIMEOUT) as answer, open(part, "wb") as to:
        expected = answer.headers.get("Content-Length")
        got = 0
        for data in iter(lambda: answer.read(1 << 16), b""):
            digest.update(data)
            to.write(data)
            got += len(data)
    if expected and got < int(expected):
        raise http.client.IncompleteRead(b"", int(expected) - got)
    found = "sha512-" + base64.b64encode(digest.digest()).decode()
    if found != integrity:
        raise Failure("what came is not the package that tdlfilter knows: its integrity is %s, and "
                      "%s was expected" % (found, integrity))


def tarball_named_by(opener, registry, package, version, settings):
    """Where a registry with ways of its own has it."""
    url = registry + urllib.parse.quote(package, safe="@") + "/" + version
    with opener.open(request_for(url, registry, settings), timeout=TIMEOUT) as answer:
        return json.load(answer)["dist"]["tarball"]


def fetch(package, version, integrity, path):
    settings = read_settings()
    registry = registry_of(package, settings)
    opener = opener_of(settings)
    url = "%s%s/-/%s-%s.tgz" % (registry, package, package.split("/")[-1], version)
    part = path + ".part"
    for left in reversed(range(TRIES)):
        try:
            download(opener, request_for(url, registry, settings), part, integrity)
            os.replace(part, path)
            return
        except urllib.error.HTTPError as error:
            if error.code == 404 and "/-/" in url:
                try:
                    named = tarball_named_by(opener, registry, package, version, settings)
                except (OSError, ValueError, KeyError, TypeError):
                    named = url
                if named != url:
                    url = named
                    continue
            if left == 0 or error.code < 500:
                raise Failure("%s answers %d %s" % (url, error.code, error.reason)) from error
        except (urllib.error.URLError, http.client.HTTPException, ConnectionError, TimeoutError) as error:
            if left == 0:
                raise Failure("%s cannot be had: %s. Is there a network?"
                              % (url, getattr(error, "reason", error))) from error
        time.sleep(1)


def main():
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    part = sys.argv[4] + ".part"
    try:
        fetch(*sys.argv[1:])
    except Failure as failure:
        sys.exit(str(failure))
    except (OSError, ValueError) as error:
        sys.exit("cannot fetch %s: %s" % (sys.argv[1], error))
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        if os.path.exists(part):
            os.unlink(part)


if __name__ == "__main__":
    main()
