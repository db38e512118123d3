# SPDX-License-Identifier: LGPL-2.1-or-later
# doc/element.md names every property of the element and none else; every page names
# only files that exist.
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
finish
