#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# boot.sh ROOT LOGS [TEST...]: boot the guest, pass on the lines with which it
# tells its results, take pictures of its display when it asks. Started by
# tests/vm/run.sh, in namespaces that end all that is started here.
set -uo pipefail
here=$(dirname "$0")
. "$here/qemu.sh"
find_qemu || exit 1
root=$1 logs=$2
shift 2
tests=$(IFS=,; echo "$*")
memory=2048 # MiB
limit=${TDL_VM_SECONDS:-3600}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# -cpu max: Mesa's compiler uses what it finds. Not AVX2: QEMU 7.2 takes an index
# in xmm4 for none when it gathers, and texture filters read wrong addresses. No
# initial ram disk: virtiofs is built into Debian's kernel.
machine=(
    -accel "tcg,thread=multi" -cpu max,-avx2 -smp 2 -m "$memory"
    -object "memory-backend-memfd,id=mem,size=${memory}M,share=on" -numa "node,memdev=mem"
    -chardev "socket,id=fs,path=$scratch/fs" -device "vhost-user-fs-pci,chardev=fs,tag=root"
    -device cirrus-vga -vga none -display none -nic none -device virtio-rng-pci
    -device "isa-debug-exit,iobase=0x501,iosize=1" -no-reboot
    -pidfile "$scratch/pid" -serial stdio -monitor "unix:$scratch/monitor,server=on,wait=off"
)
# A kernel that patches itself while another processor runs sometimes dies of it
# under emulation; tsc=reliable leaves out the patch that comes late. What it learns
# about its timers by measuring is wrong where neighbours take the processor: it is
# told how fast they are, and believes that they work.
kernel="console=ttyS0 edd=off panic=-1 quiet mitigations=off nokaslr tsc=reliable no_timer_check"
kernel+=" tsc_early_khz=$(<"$root/vm/tsc-khz")"
[ "${VM_LONG:-0}" = 0 ] || kernel+=" vm.long=1"
kernel+=" rootfstype=virtiofs root=root rw init=/src/tests/vm/guest/init vm.tests=$tests"

start_machine() {
    rm -f "$scratch"/*
    start_virtiofsd "$scratch/fs" "$root" >"$logs/virtiofsd.log" 2>&1 &
    for _ in $(seq 100); do
        [ ! -S "$scratch/fs" ] || break
        sleep 0.1
    done
    mkfifo "$scratch/serial" "$scratch/answers"
    exec {answers}<>"$scratch/answers"
    timeout --kill-after=5 "$limit" qemu-system-x86_64 "${machine[@]}" \
        -kernel "$root/vm/vmlinuz" -append "$kernel" >"$scratch/serial" 2>&1 <&"$answers" &
    qemu=$!
}

# Sets `clock` to the seconds since the machine was started, and those that its
# processors have worked: what the first grows by alone went to waiting.
read_clock() {
    local fields worked=0
    if read -r pid <"$scratch/pid" && read -r fields <"/proc/$pid/stat"; then
        read -ra fields <<<"${fields##*) }"
        worked=$(((fields[11] + fields[12]) / 10)) # user's and system's, of 100 Hz
    fi 2>/dev/null
    local now=$(((${EPOCHREALTIME//[!0-9]/} - start) / 100000))
    seconds=$((now / 10))
    printf -v clock '%4d.%d %4d.%d' $seconds $((now % 10)) $((worked / 10)) $((worked % 10))
}

# What the guest says, with the time at which it came, goes to its log; sets
# `began` and `ended` when it says that tests do.
follow_machine() {
    local line clock seconds clocks='' start=${EPOCHREALTIME//[!0-9]/} pid
    : >"$logs/guest.log"
    while IFS= read -r line; do
        line=${line%$'\r'}
        read_clock
        printf '%s %s\n' "$clock" "$line" >>"$logs/guest.log"
        case $line in
        "ok "* | "FAILED "* | "skipped "* | "| "*) printf '%s\n' "$line" ;;
        "VM PHASE "*) began=yes; printf '| %s (%d s)\n' "$line" "$seconds" ;;
        "VM CLOCK "*) line=${line#VM CLOCK }; compare_clocks $((${line%%.*})) "$seconds" ;;
        "VM SCREEN "*": "*) line=${line#VM SCREEN }; compare_screen "${line%%: *}" "${line#*: }" ;;
        "VM END") ended=yes ;;
        esac
    done <"$scratch/serial"
    status=0
    wait "$qemu" || status=$?
}

# compare_clocks GUEST'S HOST'S, at the tests' begin and at their end, s.
compare_clocks() {
    if [ -z "$clocks" ]; then
        clocks="$1 $2"
        return
    fi
    local theirs=$(($1 - ${clocks% *})) ours=$(($2 - ${clocks#* }))
    local off=$((theirs > ours ? theirs - ours : ours - theirs))
    if [ $off -le $((10 + ours / 20)) ]; then
        echo "ok guest: its clock is right"
    else
        echo "FAILED guest: its clock counted $theirs s in $ours s"
    fi
}

compare_screen() { # compare_screen NAME EXPECTED
    python3 "$here/screen.py" "$scratch/monitor" "$logs/${1//[^a-z]/_}.ppm" "$root$2" "$1"
    echo looked >&"$answers"
}

# A guest that dies before its first test has shown nothing but that.
began=no ended=no
for _ in 1 2 3; do
    start_machine
    follow_machine
    [ $began = no ] || break
    echo "| the guest did not come up (QEMU's status $status)"
    cp "$logs/guest.log" "$logs/guest-failed.log"
done
[ $ended = no ] || exit 0
case $status in
124) echo "FAILED guest: still running after $limit s" ;;
*) echo "FAILED guest: it ended by itself (QEMU's status $status)" ;;
esac
tail -n 15 "$logs/guest.log" | sed 's/^/| /'
exit 1
