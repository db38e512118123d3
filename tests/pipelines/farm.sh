# SPDX-License-Identifier: LGPL-2.1-or-later
# A recording in pieces is the recording in one: the same frames within a step, the
# same sound, also when a worker is killed on the way.
. "$(dirname "$0")/common.sh"
command -v parallel >/dev/null || skip "GNU parallel is not installed"
gst-inspect-1.0 --exists vp8enc || skip "vp8enc is missing: install gstreamer1.0-plugins-good"
real=${GST_PLUGIN_PATH%/gst}
export TDL_DEVICE=cpu # the device is not what is tried here
frames=60 size=$((160 * 120 * 3 / 2))
raw=video/x-raw,format=I420
cd "$temp"

# A build whose worker dies in its first try at the second piece, in the middle.
mkdir -p build/pipelines
ln -s "$real/gst" "$real/engine" build
cat >build/pipelines/farm <<END
#!/bin/bash
[[ \$* == *out-00001* ]] && [ ! -e "$temp/killed" ] || exec "$real/pipelines/farm" "\$@"
touch "$temp/killed"
"$real/pipelines/farm" "\$@" &
sleep 0.2
kill -KILL \$! \$\$
END
chmod +x build/pipelines/farm

gst-launch-1.0 -q videotestsrc pattern=ball num-buffers=$frames ! \
    $raw,width=160,height=120,framerate=30/1 ! vp8enc deadline=1 keyframe-max-dist=15 ! \
    queue max-size-time=0 ! matroskamux name=m ! filesink location=in.mkv \
    audiotestsrc num-buffers=86 ! audio/x-raw,rate=44100 ! vorbisenc ! queue ! m.

stream() { # stream FILE PAD OUT : what the container holds
    gst-launch-1.0 -q filesrc "location=$1" ! matroskademux name=d "d.$2" ! queue ! \
        filesink "location=$3"
}
farm() { TDL_BUILD=$1 "$root/pipelines/farm.sh" --workers 4 --encoder $raw "${@:2}"; }

"$real/pipelines/farm" process one.mkv tdlfilter $raw in.mkv
status=0
farm "$temp/build" --seconds 0.5 in.mkv four.mkv mode=overlay >log 2>&1 || status=$?
cat log
check "four workers, one of them killed" test $status = 0
check "in four pieces" grep -q '^4 pieces, 4 at once' log
check "one was killed" test -e killed
check "the folder is gone" not test -e four.mkv.farm
stream one.mkv video_0 one.raw
stream four.mkv video_0 four.raw
stream in.mkv audio_0 in.ogg
stream four.mkv audio_0 four.ogg
check "as many frames" test "$(stat -c %s one.raw four.raw | sort -u)" = $((frames * size))
most=$(most_apart one.raw four.raw)
check "frames are equal but for $most steps" test "$most" -le 1
check "there is sound" test -s in.ogg
check "the sound is the same" cmp in.ogg four.ogg

# refused STATUS WORDS ARGUMENT... : at once, saying so, and nothing is left.
refused() {
    local status=$1 words=$2 got=0
    shift 2
    farm "$real" "$@" >log 2>&1 || got=$?
    [ $got = "$status" ] && grep -q -- "$words" log && [ ! -e bad.mkv.farm ] && return
    cat log
    return 1
}
cp in.mkv same.mkv
check "not in the video's place" refused 2 "take the video's place" same.mkv same.mkv
check "nor is it touched" cmp in.mkv same.mkv
check "no such mode" refused 1 nonsense in.mkv bad.mkv mode=nonsense
check "no such property" refused 1 'no property "mod"' in.mkv bad.mkv mod=mask
check "no line breaks" refused 2 "has a line break" in.mkv bad.mkv $'labels=a\nb'
check "no folder" refused 1 "there is no folder" in.mkv nowhere/bad.mkv
check "Matroska alone" refused 2 "does not end in .mkv" in.mkv bad.mp4
check "no number of workers" refused 2 "takes a number" --workers x in.mkv bad.mkv
check "no length" refused 2 "a number above 0" --seconds 0.0 in.mkv bad.mkv
check "no hosts" refused 1 "there is no file nohosts" --hosts nohosts in.mkv bad.mkv
check "no tries" refused 2 "takes a number from 1 on" --retries 0 in.mkv bad.mkv
echo words >words.txt
check "no video" refused 1 "words.txt is no video" words.txt bad.mkv
rm -rf bad.mkv.farm

# Four seconds, of which the last three are missing.
gst-launch-1.0 -q videotestsrc pattern=ball num-buffers=40 ! \
    $raw,width=160,height=120,framerate=10/1 ! vp8enc deadline=1 keyframe-max-dist=5 ! \
    matroskamux ! filesink location=whole.mkv
head -c $(($(stat -c %s whole.mkv) / 4)) whole.mkv >short.mkv
check "a video that is cut short" farm "$real" short.mkv beginning.mkv >log 2>&1
check "... is said to be, with its length" grep -q "short.mkv end after .* it has 4.0 s" log
check "... and what there is is done" test -s beginning.mkv

# The sound is not decoded, the pictures are.
export GST_PLUGIN_FEATURE_RANK=vorbisdec:NONE,avdec_vorbis:NONE
check "one piece, a space in its name, and sound that nothing decodes" farm "$real" in.mkv "a b.mkv"
stream "a b.mkv" audio_0 ab.ogg
check "it is there" cmp in.ogg ab.ogg
# Names of which printf, parallel and shells have ideas of their own.
for name in "out%s%n.mkv" "{} {%} {.}.mkv" "a'b\"c;\$d\`e.mkv" $'two\nlines.mkv' "{= die =}*[a].mkv"; do
    check "a result named ${name@Q}" farm "$real" --seconds 0.5 in.mkv "$name"
    mv -- "$name" named.mkv && stream named.mkv audio_0 named.ogg
    check "... is there, and nothing beside it" eval 'cmp in.ogg named.ogg && [ ! -e "$name.farm" ]'
done
check "a result with a dash before it" farm "$real" in.mkv ./-n.mkv
export GST_PLUGIN_FEATURE_RANK=vp8dec:NONE,avdec_vp8:NONE
check "no decoder" refused 1 "in.mkv need a VP8 decoder" in.mkv bad.mkv
unset GST_PLUGIN_FEATURE_RANK
gst-launch-1.0 -q audiotestsrc num-buffers=10 ! vorbisenc ! matroskamux ! filesink location=sound.mkv
check "sound alone" refused 1 "sound.mkv is no video" sound.mkv bad.mkv

# step STATUS WORDS ARGUMENT... : one step alone, which ends.
step() {
    local status=$1 words=$2 got=0
    shift 2
    timeout 60 "$real/pipelines/farm" "$@" >log 2>&1 || got=$?
    [ $got = "$status" ] && grep -q -- "$words" log && return
    cat log
    return 1
}
TDL_FARM_PATIENCE=2 check "a filter that stands still" step 1 "nothing has moved for 2 s" \
    process no.mkv "identity sleep-time=100000000" $raw in.mkv
check "a filter that lets nothing through" step 1 "has 60 frames, and 0 of them" \
    process no.mkv "identity drop-probability=1.0" $raw in.mkv

# within SECONDS COMMAND... : it comes to pass.
within() {
    local tries=$(($1 * 10))
    until "${@:2}"; do
        [ $((tries -= 1)) -gt 0 ] || return 1
        sleep 0.1
    done
}
# at_work : whatever works in the folder; the script itself was not told the whole path.
at_work() { pgrep -f "$temp/slow.mkv.farm" >at-work; }
processing() { pgrep -f "farm process $temp/slow.mkv.farm" >at-work; }

# Half a minute for a piece, so that a second one, and then the end, come in between.
mkdir -p slow/pipelines
ln -s "$real/gst" "$real/engine" slow
cat >slow/pipelines/farm <<END
#!/bin/bash
words=("\$@")
[ "\$1" != process ] || [ -e "$temp/go" ] || words[3]="identity sleep-time=2000000 ! \${words[3]}"
exec "$real/pipelines/farm" "\${words[@]}"
END
chmod +x slow/pipelines/farm
export TDL_BUILD=$temp/slow
slow=("$root/pipelines/farm.sh" --workers 4 --seconds 0.5 --encoder $raw in.mkv slow.mkv)
"${slow[@]}" >slow.log 2>&1 &
first=$!
check "workers work" within 60 processing
status=0
"${slow[@]}" >log 2>&1 || status=$?
check "a second one on the same result is refused" test $status = 1
check "... and told why" grep -q "slow.mkv.farm is in use" log
check "... and the first goes on" processing
kill -TERM $first || true
wait $first 2>/dev/null || true
check "who is ended ends all of them" within 10 not at_work
[ ! -s at-work ] || xargs kill <at-work || true
touch go
check "the same line does the rest" "${slow[@]}"
stream slow.mkv video_0 slow.raw
check "as many frames" test "$(stat -c %s one.raw slow.raw | sort -u)" = $((frames * size))

# Slurm's jobs are no processes of the script.
mkdir slurm
cat >slurm/sbatch <<END
#!/bin/bash
echo "7;cluster"
exec tail -f "$temp/slurm/sbatch"
END
printf '#!/bin/bash\necho "$@" >>cancelled\n' >slurm/scancel
chmod +x slurm/*
PATH=$temp/slurm:$PATH "${slow[0]}" --engine slurm --encoder $raw in.mkv queued.mkv >slow.log 2>&1 &
first=$!
check "a job is queued" within 60 test -s queued.mkv.farm/job
kill -TERM $first || true
wait $first 2>/dev/null || true
check "... and cancelled" grep -qx 7 cancelled
check "... and nobody waits for it" within 10 not pgrep -f "$temp/slurm/sbatch"

# Jobs are lines for sh, which knows fewer quotes than bash.
cat >slurm/sbatch <<'END'
#!/bin/bash
for word in "$@"; do
    [[ $word != --array=* ]] || last=${word#--array=0-} last=${last%%%*}
done
for ((i = 0; i <= last; i++)); do
    SLURM_ARRAY_TASK_ID=$i SLURM_RESTART_COUNT=9 sh -c "${!#}" >&2 || exit
done
END
name=$'it'"'s "$'two\n"lines" of $HOME.mkv'
PATH=$temp/slurm:$PATH check "a job for a result named ${name@Q}" \
    "${slow[0]}" --engine slurm --seconds 0.5 --encoder $raw in.mkv "$name"
check "... is done" test -s "$name"
unset TDL_BUILD

# What is done stays, and is not of another line.
mkdir bad.mkv.farm
echo "another line" >bad.mkv.farm/filter
status=0
farm "$real" --seconds 0.5 in.mkv bad.mkv mode=mask >log 2>&1 || status=$?
check "another line is refused" test $status = 1
check "it says so" grep -q "bad.mkv.farm is of another line" log
finish
