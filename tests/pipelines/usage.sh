# SPDX-License-Identifier: LGPL-2.1-or-later
# Every script tells how it is used, and starts nothing for an option that it does
# not have.
. "$(dirname "$0")/common.sh"
# What a script would start: none of it may be.
mkdir "$temp/bin"
for name in gst-launch-1.0 meson ninja npm apt-get node; do
    printf '#!/bin/sh\necho "%s" >>"%s/started"\n' "$name" "$temp" >"$temp/bin/$name"
    chmod +x "$temp/bin/$name"
done
PATH=$temp/bin:$PATH
cd "$temp"

ends() { # ends STATUS COMMAND... : with this status, and with usage
    local status=$1 got=0
    shift
    timeout 60 "$@" >"$temp/log" 2>&1 </dev/null || got=$?
    [ $got = "$status" ] && grep -q "${1##*/}" "$temp/log" && return
    head -n 20 "$temp/log"
    return 1
}

for script in "$root"/pipelines/*.sh "$root/tests/run.sh"; do
    name=${script##*/}
    [ "$name" != common.sh ] || continue # sourced only
    check "$name --help" ends 0 "$script" --help
    check "$name -h" ends 0 "$script" -h
    check "$name --no-such-option" ends 2 "$script" --no-such-option
done
check "demo.sh --clip --help" ends 0 "$root/pipelines/demo.sh" --clip --help
check "demo.sh with two folders" ends 2 "$root/pipelines/demo.sh" a b
for script in mask-to-file masks-to-program over-video replace-background; do
    check "$script.sh without arguments" ends 2 "$root/pipelines/$script.sh"
done
for row in mask-to-file,o enlarge,o.mkv over-video replace-background cut-out,o.png; do
    # shellcheck disable=SC2046 # the result's name is a word, or none
    check "${row%%,*}.sh without such a file" ends 1 "$root/pipelines/${row%%,*}.sh" none.mkv \
        $([[ $row != *,* ]] || echo "${row#*,}")
    check "it says so" grep -q "there is no .* none.mkv" log
done
check "two-cameras.sh with three" ends 2 "$root/pipelines/two-cameras.sh" a b c
: >"$temp/model.onnx"
export TDL_BUILD=${GST_PLUGIN_PATH%/gst}
check "classes.sh without such a model" ends 1 "$root/pipelines/classes.sh" none.onnx model.onnx
check "it says so" grep -q "no model 'none.onnx'" log
for labels in "$temp" none.txt; do
    check "classes.sh with labels in $labels" ends 1 "$root/pipelines/classes.sh" model.onnx "$labels"
    check "it says what they should be" grep -q "'$labels' is no file.*one a line" log
done
rm "$temp/model.onnx"
export TDL_BUILD=/proc/none
check "setup.sh where nothing can be written" ends 1 "$root/pipelines/setup.sh" --plugin
check "it says what to do" grep -q "nothing can be written to /proc/none: name .* TDL_BUILD" log
check "nothing was started" not [ -e "$temp/started" ]
check "nothing was written" [ "$(ls "$temp")" = "$(printf 'bin\nlog')" ]

# A tree that cannot be written to, and a folder for the build that can: the model is the
# user's own then. Another folder of models could not be made even by root.
mkdir -p tree/gst
cp -r "$root/pipelines" "$root/meson.build" tree
cp "$root/gst/models.ini" tree/gst
ln -s /proc/none tree/models
export TDL_BUILD=$temp/mine XDG_DATA_HOME=$temp/data npm_config_registry=http://127.0.0.1:1/
# A Debian in which nothing is missing.
printf '#!/bin/sh\nprintf installed\n' >bin/dpkg-query
chmod +x bin/dpkg-query
read_only() { env -u DISPLAY -u WAYLAND_DISPLAY tree/pipelines/setup.sh --plugin >log 2>&1; }
check "setup.sh in a tree that cannot be written to, without a network" not read_only
check "it says for whom the model is fetched" grep -q "written to .*tree/models: the model is fetched for you alone" log
check "... which it tries" grep -q "^Fetching person" log
check "... and does not build without" not [ -e started ]
if [ -e "$TDL_TEST_MODELS/selfie_segmentation_landscape.tflite" ]; then
    mkdir -p data/tdlfilter/models
    cp "$TDL_TEST_MODELS"/*.tflite data/tdlfilter/models
    check "with the model there it builds" read_only
    check "... there where it may" [ -e mine/setup.log ]
    rm started
fi
rm bin/dpkg-query

# Whoever installs packages waits for another apt's lock.
check "nobody calls apt-get past apt_get" not grep -rnE '^ *([a-z_]*over_there )?apt-get (-y|update|install|dist-upgrade|build-dep|clean)' \
    "$root/pipelines" "$root/tests" --include='*.sh'

# An apt-get that finds the lock taken twice, or always.
cat >"$temp/bin/apt-get" <<END
#!/bin/sh
echo asked >>"$temp/asked"
[ \$(wc -l <"$temp/asked") -gt \${TAKEN:-2} ] || {
    echo "\${TOLD:-E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 1 (apt)}" >&2
    exit 100
}
END
patient() { (. "$root/pipelines/common.sh" && apt_get install nothing) >"$temp/log" 2>&1; }
check "apt-get's lock is waited for" patient
check "... which is said once" [ "$(grep -c "waiting for it" "$temp/log")" = 1 ]
export TAKEN=9 TDL_APT_PATIENCE=0
check "... not without end" not patient
check "... and then told" grep -q "held by process 1" "$temp/log"
# A lock that this user may not take is nobody's: waiting would not help.
export TDL_APT_PATIENCE=900 TAKEN=2
export TOLD="E: Unable to acquire the dpkg frontend lock (/var/lib/dpkg/lock-frontend), are you root?"
: >"$temp/asked"
check "a lock that may not be had ends it" not patient
check "... at once" [ "$(wc -l <"$temp/asked")" = 1 ]
check "... and is told" grep -q "are you root" "$temp/log"
finish
