#!/bin/bash
# A sweep as a Slurm array: each task runs one part, and the last step joins them.
#
#   sbatch --array=1-8 Tools/scale/slurm.sh --profile Profiles/adaptive-tag.yaml \
#       --sweep active=20ms..1s/20 --sweep idle=100ms..5s/20
#   peripheral-emu bench merge parts/*.json --csv sweep.csv
#
# Program and profiles must be where all nodes see them. A task that failed is run again alone, with
# the number of all: PARTS=8 sbatch --array=3 Tools/scale/slurm.sh ...
#SBATCH --job-name=bench
#SBATCH --cpus-per-task=1
#SBATCH --mem=256M
#SBATCH --time=01:00:00
set -euo pipefail
count=${PARTS:-$SLURM_ARRAY_TASK_COUNT}
mkdir -p parts
part=parts/$SLURM_ARRAY_TASK_ID.json
peripheral-emu bench "$@" --shard "$SLURM_ARRAY_TASK_ID/$count" >"$part.new"
mv "$part.new" "$part"
