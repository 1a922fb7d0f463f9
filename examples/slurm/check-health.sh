#!/bin/bash
# Health of a node by `idlewave check`: drains it while it is noisy or contradicts its settings, and resumes it afterwards.
# SPDX-License-Identifier: BSD-3-Clause
#
#   slurm.conf: HealthCheckProgram=/etc/slurm/check-health.sh  HealthCheckInterval=86400  HealthCheckNodeState=IDLE,CYCLE
#
# Slurm ends it after 60 s. CYCLE spreads the nodes over the interval; without it all are measured at once. Its limits are
# in a profile that `idlewave check --learn` made on a good node. Busy nodes, nodes without a verdict and nodes that somebody
# else has drained stay unchanged.
idlewave=${IDLEWAVE:-/usr/bin/idlewave}
scontrol=${SCONTROL:-/usr/bin/scontrol}
logger=${LOGGER:-/usr/bin/logger}
profile=${IDLEWAVE_PROFILE:-/etc/idlewave/node.json}
within=${IDLEWAVE_WITHIN:-50s}
node=${SLURMD_NODENAME:-$(/bin/hostname -s)}

arguments=(check --quiet --within "$within")
if [ -r "$profile" ]; then
  arguments+=(--require "$profile")
fi
answer=$("$idlewave" "${arguments[@]}" 2>&1)
code=$?
line=${answer##*$'\n'} # behind warnings, if there are any
"$logger" -t idlewave-check "exit $code: $answer" 2> /dev/null

is_ours() {
  [[ $("$scontrol" --oneliner show node "$node") == *" Reason=idlewave: "* ]]
}

case $code in
  2 | 4) # contradicted, noisy
    if [[ $("$scontrol" --oneliner show node "$node") != *"+DRAIN"* ]]; then
      "$scontrol" update NodeName="$node" State=DRAIN Reason="idlewave: ${line:0:300}"
    fi
    ;;
  0)
    if is_ours; then
      "$scontrol" update NodeName="$node" State=RESUME
    fi
    ;;
esac
exit 0 # a program that fails marks nothing by itself, but keeps slurmd from registering
