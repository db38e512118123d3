#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Put the group photographs of the test "shapes" under models/pictures/. They come from an npm
# package, whose contents are pinned here; what is there already is not fetched again.
set -euo pipefail
. "$(dirname "$0")/../pipelines/common.sh"
to=$TDL_ROOT/models/pictures
package=@vladmandic/face-api version=1.7.15 # MIT, 12 MB
integrity=sha512-WDMmK3CfNLo8jylWqMoQgf4nIst3M0fzx1dnac96wv/dvMTN4DxC/Pq1DGtduDk1lktCamQ3MIDXFnvrdHTXDw==

no_options "$@"
[ ! -e "$to/sample6.jpg" ] || exit 0
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
say "Fetching photographs for the tests: $package $version"
python3 "$TDL_ROOT/pipelines/npm-package.py" $package $version $integrity "$temp/package.tgz" ||
    die "$package $version could not be fetched"
tar -xzf "$temp/package.tgz" -C "$temp"
mkdir -p "$to"
install -m 644 "$temp"/package/demo/sample[1-6].jpg "$to" # the last one says that all are there
