#!/bin/bash
# A prolog: drains a node whose settings against noise are not in effect.
# SPDX-License-Identifier: BSD-3-Clause
#
#   slurm.conf: Prolog=/etc/slurm/verify-prolog.sh  PrologFlags=Alloc
#
# It reads files and counters for two seconds, and changes nothing. A prolog that fails drains its node and requeues the
# job, so no Slurm command is needed, and none should be called here. Prologs have no search path; use full names.
# The reason goes to the system's log.
idlewave=${IDLEWAVE:-/usr/bin/idlewave}
logger=${LOGGER:-/usr/bin/logger}

answer=$("$idlewave" verify --quiet 2>&1)
code=$?
if [ $code -eq 0 ]; then
  exit 0
fi
"$logger" -t verify-prolog "exit $code: $answer" 2> /dev/null
[ $code -ne 2 ] # only a contradiction, a line each, is the node's fault; not that verify itself failed
