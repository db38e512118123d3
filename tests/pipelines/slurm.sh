# SPDX-License-Identifier: LGPL-2.1-or-later
# farm.sh by Slurm: a controller and a node on this machine alone, and a piece whose
# worker is killed goes back into the queue.
. "$(dirname "$0")/common.sh"
for name in slurmctld slurmd sbatch munged; do
    command -v $name >/dev/null || skip "$name is not installed (slurmctld slurmd slurm-client munge)"
done
[ "$(id -u)" = 0 ] || skip "a node of Slurm is started by root"
gst-inspect-1.0 --exists vp8enc || skip "vp8enc is missing: install gstreamer1.0-plugins-good"
real=${GST_PLUGIN_PATH%/gst}
export TDL_DEVICE=cpu SLURM_CONF=$temp/slurm.conf
raw=video/x-raw,format=I420
host=$(hostname -s)
cd "$temp"
chmod 755 "$temp"

# What the daemons leave behind ends with the test.
stop() {
    local name pid
    for name in slurmd slurmctld; do
        [ -e $name.pid ] || continue
        pid=$(cat $name.pid)
        kill "$pid"
        timeout 30 tail --pid="$pid" -f /dev/null
    done
    [ -z "${munged:-}" ] || kill "$munged"
    wait
    rm -rf "$temp"
}
trap stop EXIT

# Messages are signed by a key of their own.
mkdir -m 700 munge
head -c 128 /dev/urandom >munge/key
chmod 600 munge/key
mkdir -m 755 socket
munged --foreground --force --key-file="$temp/munge/key" --socket="$temp/socket/munge" \
    --pid-file="$temp/munge/pid" --log-file="$temp/munge/log" --seed-file="$temp/munge/seed" &
munged=$!
mkdir state spool
cat >slurm.conf <<END
ClusterName=loopback
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$temp/socket/munge
CryptoType=crypto/munge
SlurmctldPort=16817
SlurmdPort=16818
StateSaveLocation=$temp/state
SlurmdSpoolDir=$temp/spool
SlurmctldPidFile=$temp/slurmctld.pid
SlurmdPidFile=$temp/slurmd.pid
SlurmctldLogFile=$temp/slurmctld.log
SlurmdLogFile=$temp/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
JobAcctGatherType=jobacct_gather/none
SchedulerParameters=sched_interval=1,batch_sched_delay=0
MinJobAge=300
ReturnToService=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=$host Default=YES State=UP OverSubscribe=FORCE:4
END
slurmctld -f "$SLURM_CONF" || skip "slurmctld does not start here: $(tail -n 1 slurmctld.log)"
slurmd -f "$SLURM_CONF" || skip "slurmd does not start here: $(tail -n 1 slurmd.log)"
tries=0
until sinfo --noheader --format=%t 2>/dev/null | grep -q idle; do
    [ $((tries += 1)) -lt 60 ] || skip "the node does not come up: $(tail -n 1 slurmd.log)"
    sleep 0.5
done

# A build whose worker dies in its first try at the second piece.
mkdir -p build/pipelines
ln -s "$real/gst" "$real/engine" build
cat >build/pipelines/farm <<END
#!/bin/bash
[[ \$* == *out-00001* ]] && [ ! -e "$temp/killed" ] || exec "$real/pipelines/farm" "\$@"
touch "$temp/killed"
kill -KILL \$\$
END
chmod +x build/pipelines/farm
gst-launch-1.0 -q videotestsrc pattern=ball num-buffers=45 ! \
    $raw,width=160,height=120,framerate=30/1 ! vp8enc deadline=1 keyframe-max-dist=15 ! \
    matroskamux ! filesink location=in.mkv
"$real/pipelines/farm" process one.mkv tdlfilter $raw in.mkv
status=0
TDL_BUILD=$temp/build timeout 400 "$root/pipelines/farm.sh" --engine slurm --workers 2 \
    --seconds 0.5 --encoder $raw in.mkv many.mkv >log 2>&1 || status=$?
cat log
[ $status = 0 ] || tail -n 20 slurmctld.log slurmd.log many.mkv.farm/log-*
check "three pieces by Slurm, one of them twice" test $status = 0
check "a worker was killed" test -e killed
for file in one many; do
    gst-launch-1.0 -q filesrc location=$file.mkv ! matroskademux ! filesink location=$file.raw
done
check "as many frames" test "$(stat -c %s one.raw many.raw | sort -u)" = $((45 * 160 * 120 * 3 / 2))
finish
