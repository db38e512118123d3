# SPDX-License-Identifier: LGPL-2.1-or-later
# doc/element.md names every property of the element and none else; every page names
# only files that exist, and elements with properties that they have; the lines for
# cameras play, with a test picture for the camera.
. "$(dirname "$0")/common.sh"
readme=$root/doc/element.md

# Properties of the element itself: those after its base classes'.
gst-inspect-1.0 tdlfilter >"$temp/inspect"
sed -n '/^Element Properties:/,/^Element Signals:/p' "$temp/inspect" |
    sed -n 's/^  \([a-z][a-z0-9-]*\) *:.*/\1/p' | grep -vx 'name\|parent' | sort >"$temp/inspected"
sed -n '/^## Properties/,/^## /p' "$readme" | sed -n 's/^| `\([a-z0-9-]*\)`.*/\1/p' |
    sort >"$temp/documented"
check "gst-inspect-1.0 shows properties" [ "$(wc -l <"$temp/inspected")" -gt 10 ]
check "doc/element.md has the element's properties" diff "$temp/inspected" "$temp/documented"

# Formats: those of the first list in the sink pad's template, and the sentence of that page.
sed -n '/SINK template/,/SRC template/s/^ *format: {\(.*\)}.*/\1/p' "$temp/inspect" |
    sed 's/(string)//g' | tr -d ' ' | tr , '\n' | sort -u >"$temp/offered"
sed -n 's/^Formats in and out[^:]*: \([^.]*\)\. .*/\1/p' "$readme" | tr -d ' ' | tr , '\n' |
    sort >"$temp/listed"
check "gst-inspect-1.0 shows formats" [ "$(wc -l <"$temp/offered")" -gt 10 ]
check "doc/element.md has the element's formats" diff "$temp/offered" "$temp/listed"

# Fields of the property "stats".
sed -n '/"tdl-stats"/,/NULL);/p' "$root/gst/gsttdlreport.c" | tr -d '\n ' |
    grep -oE '"[a-z-]+",G_TYPE' | cut -d '"' -f 2 >"$temp/fields"
check "the element has statistics" [ "$(wc -l <"$temp/fields")" -gt 10 ]
while read -r field; do
    check "doc/element.md has the statistics' $field" grep -q "^| .stats.*\`$field\`" "$readme"
done <"$temp/fields"

cd "$root"
for page in README.md CONTRIBUTING.md {engine,doc}/*.md gst/ZERO-COPY.md; do
    check "$page is there" [ -s "$root/$page" ]
    while read -r link; do
        check "$page: $link is there" [ -e "$root/$(dirname "$page")/$link" ]
    done < <(grep -oE '\]\([^)#:]+\)' "$root/$page" | sed 's/^](//; s/)$//')
done

# ------------------------------------------------------------------ launch lines
# lines_of PAGE : the arguments of gst-launch-1.0, a line each.
lines_of() { sed -n 's/^    gst-launch-1\.0 \(.* ! .*\)/\1/p' "$root/$1"; }
# read_words LINE : sets `words`, as a shell reads them; fails where it could not.
read_words() {
    words=()
    bash -nc "true $1" && eval "words=($1)"
}
# has_properties ELEMENT WORD... : those that it is given; what is not here is not looked at.
has_properties() {
    local element=$1 word
    shift
    gst-inspect-1.0 --exists "$element" || return 0
    gst-inspect-1.0 "$element" >"$temp/inspect"
    for word in "$@"; do
        [[ $word != *=* || $word = @* ]] || grep -q "^  ${word%%=*} *:" "$temp/inspect" ||
            { echo "$element has no property ${word%%=*}"; return 1; }
    done
}
# has_elements : all of `words`.
has_elements() {
    local word part=()
    for word in "${words[@]}" !; do
        if [ "$word" != ! ]; then
            part+=("$word")
            continue
        fi
        [[ ${part[0]} = -* ]] && part=("${part[@]:1}")
        [[ ${part[0]} = */* ]] || has_properties "${part[@]}" || return
        part=()
    done
}
# plays : `words`, with a test picture in the source's place, and no window.
plays() {
    local source="videotestsrc num-buffers=3" rest=("${words[@]}")
    while [ "${rest[0]}" != ! ]; do rest=("${rest[@]:1}"); done
    case ${rest[1]} in
    image/jpeg*) source+=" ! jpegenc" ;;
    multipartdemux) source+=" ! jpegenc ! multipartmux" ;;
    *DMA_DRM*) rest[1]="video/x-raw,format=NV12" ;; # which memory files cannot be
    esac
    rest[-1]=fakesink
    # shellcheck disable=SC2086 # words of a pipeline
    TDL_DEVICE=cpu timeout 120 gst-launch-1.0 -q $source "${rest[@]}" >"$temp/log" 2>&1 && [ ! -s "$temp/log" ] && return
    cat "$temp/log"
    return 1
}
for page in README.md CONTRIBUTING.md {engine,doc}/*.md gst/ZERO-COPY.md; do
    while IFS= read -r line; do
        check "$page: a shell takes: $line" read_words "$line"
        check "$page: elements and properties of: $line" has_elements
        [ "$page" != doc/cameras.md ] || check "$page: plays: $line" plays
    done < <(lines_of "$page")
done
check "doc/cameras.md has lines" [ "$(lines_of doc/cameras.md | wc -l)" -gt 5 ]
finish
