#!/bin/sh
# Runs in the guest of osnoise_qemu_test.py (busybox): rtla, trace-cmd and idlewave with the osnoise tracer.
# SPDX-License-Identifier: BSD-3-Clause
#
# Leaves its findings in /out; looks at nothing itself.
tracing=/sys/kernel/tracing

# wait_for INSTANCE: until it uses the osnoise tracer, 30 s at most
wait_for() {
    for _ in $(seq 150); do
        sleep 0.2
        grep -qs '^osnoise' "$tracing/instances/$1/current_tracer" && break
    done
}

witness=$tracing/instances/witness

# an instance that collects what the osnoise tracer says
make_witness() {
    mkdir "$witness"
    echo 8192 > "$witness/buffer_size_kb"
    echo mono_raw > "$witness/trace_clock"
    echo 1 > "$witness/events/osnoise/enable"
}

# end_witness FILE: what it has collected
end_witness() {
    echo 0 > "$witness/tracing_on"
    cat "$witness/trace" > "$1"
    echo nop > "$witness/current_tracer"
    rmdir "$witness"
}

uname -r > /out/kernel.txt

# 1. rtla counts, while an instance of our own collects the events that it counts, and the sums of each period. Half
#    of each period and a threshold leave room for others: the emulator is slow and makes noise itself.
make_witness
rtla osnoise top -q -d 10s -p 1000000 -r 500000 -T 50 > /out/rtla_top.txt 2>&1 &
rtla=$!
wait_for osnoise_top
echo osnoise > "$witness/current_tracer"
wait "$rtla"
end_witness /out/rtla_trace.txt

# 2. The same events as text and as trace.dat. Symbols of the kernel would only make the file large.
: > /tmp/empty
mount --bind /tmp/empty /proc/kallsyms
echo 500000 > "$tracing/osnoise/runtime_us"
echo 50 > "$tracing/tracing_thresh"
trace-cmd start -p osnoise -e osnoise
sleep 2
trace-cmd stop
cat "$tracing/trace" > /out/trace.txt
trace-cmd extract -o /out/trace.dat
trace-cmd reset
echo 0 > "$tracing/tracing_thresh"
echo 1000000 > "$tracing/osnoise/runtime_us"
umount /proc/kallsyms

# 3. idlewave, while an instance of our own collects what the tracer says.
cat "$tracing/osnoise/options" > /out/options_before.txt
make_witness
idlewave record --attribution osnoise --duration 5s --format json -o /out/osnoise.h5 \
    > /out/record.json 2> /out/record_errors.txt &
recorder=$!
sleep 2
ls "/proc/$recorder/task" > /out/recorder_threads.txt
wait "$recorder"
echo $? > /out/record_exit.txt
end_witness /out/witness.txt
cat "$tracing/osnoise/options" > /out/options_after.txt

# 4. idlewave killed while it uses the tracer.
idlewave record --attribution osnoise --duration 60s -o /out/killed.h5 > /dev/null 2>&1 &
recorder=$!
wait_for "idlewave-$recorder"
sleep 3
ls "$tracing/instances" > /out/instances_running.txt
cat "$tracing/osnoise/options" > /out/options_running.txt
kill -9 "$recorder"
wait "$recorder"
sleep 2
ls "$tracing/instances" > /out/instances_killed.txt
cat "$tracing/osnoise/options" > /out/options_killed.txt
ps > /out/processes_killed.txt
