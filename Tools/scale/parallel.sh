#!/bin/bash
# A sweep under GNU parallel, on this machine or, with PARALLEL_HOSTS=a,b, on several by ssh.
#
#   Tools/scale/parallel.sh 16 --profile Profiles/adaptive-tag.yaml --sweep idle=100ms..5s/50
#   peripheral-emu bench merge parts/*.json
#
# The first argument is the number of parts. Parts that are there already are not run again.
set -euo pipefail
count=${1:?how many parts: Tools/scale/parallel.sh 16 --profile FILE ...}
shift
mkdir -p parts
hosts=()
[ -z "${PARALLEL_HOSTS:-}" ] || hosts=(--sshlogin "$PARALLEL_HOSTS" --workdir "$PWD")
command=$(printf '%q ' peripheral-emu bench "$@")
for part in $(seq "$count"); do
    [ -s "parts/$part.json" ] || echo "$part"
done | parallel --halt soon,fail=1 ${hosts[@]+"${hosts[@]}"} \
    "$command --shard {}/$count > parts/{}.json.new && mv parts/{}.json.new parts/{}.json"
