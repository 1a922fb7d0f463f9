#!/bin/bash
# A study as a job array: its tasks share one folder, and each takes the next free cell.
# SPDX-License-Identifier: BSD-3-Clause
#
#   sbatch [options] array.sh STUDY.yaml FOLDER
#
# Tasks may start when there is room, end early, or be lost: the others run the rest. Submit it again to resume.
#SBATCH --job-name=study
#SBATCH --array=1-8
#SBATCH --nodes=1 --ntasks=1 --exclusive
#SBATCH --time=04:00:00
#SBATCH --requeue --open-mode=append
#SBATCH --signal=B:INT@300
set -eu
study=${1:?usage: sbatch array.sh STUDY.yaml FOLDER}
folder=${2:?usage: sbatch array.sh STUDY.yaml FOLDER}

# exec: five minutes before the time is over the signal reaches idlewave, which then begins no more cells
exec idlewave study "$study" -o "$folder"
