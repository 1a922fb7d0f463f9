#!/bin/bash
# A study on all nodes of one job: srun starts a process on each, and they share one folder. No MPI is needed.
# SPDX-License-Identifier: BSD-3-Clause
#
#   sbatch [options] study-mpi.sh STUDY.yaml FOLDER
#
# If a process is lost, the others take over its cells.
#SBATCH --job-name=study
#SBATCH --nodes=4 --ntasks-per-node=1 --exclusive
#SBATCH --time=04:00:00
#SBATCH --no-kill
set -eu
study=${1:?usage: sbatch study-mpi.sh STUDY.yaml FOLDER}
folder=${2:?usage: sbatch study-mpi.sh STUDY.yaml FOLDER}

srun --no-kill --kill-on-bad-exit=0 --cpu-bind=none idlewave study "$study" -o "$folder"
idlewave report "$folder" -o "$folder/report.html"
