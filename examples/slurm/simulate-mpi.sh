#!/bin/bash
# One simulation over all tasks of a job: each has a block of the ranks.
# SPDX-License-Identifier: BSD-3-Clause
#
#   sbatch [options] simulate-mpi.sh OPTIONS OF idlewave simulate
#   sbatch simulate-mpi.sh --pattern barrier:dissemination --ranks 1Gi --net altix --noise periodic:0.5Hz,220us
#
# srun connects the processes by PMI2 (MPICH) or PMIx (Open MPI): PMI=pmix sbatch simulate-mpi.sh ...
# To split trials instead of ranks, add --parallel trials; the last value counts.
#SBATCH --job-name=simulate
#SBATCH --nodes=4 --ntasks-per-node=1 --exclusive
#SBATCH --time=01:00:00
set -eu

srun --mpi="${PMI:-pmi2}" --cpu-bind=none --kill-on-bad-exit=1 idlewave simulate --parallel ranks "$@"
