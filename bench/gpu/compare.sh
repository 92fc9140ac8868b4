#!/usr/bin/env bash
# Two builds of hone on one GPU, taking turns: what a change of the engine's walls must not cost.
#
#   bench/gpu/compare.sh NEW KEPT OUTPUT
#
# NEW and KEPT are installed trees (bin/hone, lib/libhone-cuda.so); pack.sh makes one for a machine without our libraries.
# bench/summarize.py OUTPUT/*Z*.json -o SUMMARY keeps what was measured.
set -uo pipefail
new=$1 kept=$2 output=$3
mkdir -p "$output"
export HONE_KEPT=$kept/bin/hone

# compare MODEL PRECISIONS BATCH…: the table of the bench.
compare() {
  local model=$1 precisions=$2
  shift 2
  "$new/bin/hone" bench "$model" --device cuda --backends hone,kept_hone --precisions "$precisions" --batches "$@" \
    --duration "${DURATION:-1}" -o "$output" 2>>"$output/errors.log" | tee -a "$output/compare.log"
}
compare resnet50 fp16 1 8 16 32 128
for model in mobilenet_v2 efficientnet_b0 vgg16 alexnet; do compare "$model" fp16 1 8 32; done

# Builds with nothing cached.
for tree in "$new" "$kept" "$new" "$kept"; do
  "$tree/bin/hone" build resnet50 --device cuda --precision fp16 --noTimingCache -o "$output/engine.hone" 2>>"$output/errors.log" |
    sed "s|^|$(basename "$tree"): |" | tee -a "$output/builds.log"
done
rm -f "$output/engine.hone"
