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
limit=${TDL_VM_SECONDS:-540}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

start_virtiofsd "$scratch/fs" "$root" >"$logs/virtiofsd.log" 2>&1 &
for _ in $(seq 100); do
    [ ! -S "$scratch/fs" ] || break
    sleep 0.1
done

# -cpu max: Mesa's compiler uses what it finds. No initial ram disk: virtiofs is
# built into Debian's kernel.
machine=(
    -accel "tcg,thread=multi" -cpu max -smp 2 -m "$memory"
    -object "memory-backend-memfd,id=mem,size=${memory}M,share=on" -numa "node,memdev=mem"
    -chardev "socket,id=fs,path=$scratch/fs" -device "vhost-user-fs-pci,chardev=fs,tag=root"
    -device cirrus-vga -vga none -display none -nic none -device virtio-rng-pci
    -device "isa-debug-exit,iobase=0x501,iosize=1" -no-reboot
    -serial stdio -monitor "unix:$scratch/monitor,server=on,wait=off"
)
kernel="console=ttyS0 edd=off panic=-1 quiet mitigations=off nokaslr"
kernel+=" rootfstype=virtiofs root=root rw init=/src/tests/vm/guest/init vm.tests=$tests"
mkfifo "$scratch/serial"
timeout --kill-after=5 "$limit" qemu-system-x86_64 "${machine[@]}" \
    -kernel "$root/vm/vmlinuz" -append "$kernel" >"$scratch/serial" 2>&1 </dev/null &
qemu=$!

# The guest's log has the time at which each line came.
ended=no
start=$SECONDS
while IFS= read -r line; do
    line=${line%$'\r'}
    printf '%4d %s\n' $((SECONDS - start)) "$line" >>"$logs/guest.log"
    case $line in
    "ok "* | "FAILED "* | "skipped "* | "| "*) printf '%s\n' "$line" ;;
    "VM PHASE "*) printf '| %s (%d s)\n' "$line" $((SECONDS - start)) ;;
    "VM SCREEN "*)
        read -r _ _ name expected <<<"$line"
        python3 "$here/screen.py" "$scratch/monitor" "$logs/$name.ppm" "$root$expected" "$name"
        ;;
    "VM END") ended=yes ;;
    esac
done < <(: >"$logs/guest.log"; cat "$scratch/serial")
wait "$qemu"
status=$?
[ $ended = yes ] && exit 0
case $status in
124) echo "FAILED guest: still running after $limit s" ;;
*) echo "FAILED guest: it ended by itself (QEMU's status $status)" ;;
esac
tail -n 15 "$logs/guest.log" | sed 's/^/| /'
exit 1
