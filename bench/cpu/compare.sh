#!/usr/bin/env bash
# Compares hone with ONNX Runtime on two cores: exports the architectures and runs one interleaved sweep each.
#
#   bench/cpu/compare.sh HONE PEER OUTPUT [ARCHITECTURE…]
#
# HONE is the program (build/release/bin/hone or that of an installed tree), PEER a folder of bench/peers, OUTPUT
# the folder for the result files. DURATION (seconds a configuration, default 4), BATCHES, BACKENDS and CORES can be
# set in the environment. bench/summarize.py OUTPUT/*.json -o bench/results/MACHINE/summary.json keeps what was measured.
set -euo pipefail
hone=$1 peer=$2 output=$3
shift 3
architectures=("$@")
[ ${#architectures[@]} -gt 0 ] ||
  architectures=(resnet50 mobilenet_v2 resnet18 alexnet squeezenet1_1 efficientnet_b0 densenet121)
root=$(cd "$(dirname "$0")/../.." && pwd)
models=$(mktemp -d)
trap 'rm -rf "$models"' EXIT
mkdir -p "$output"
for architecture in "${architectures[@]}"; do
  "$hone" export "$architecture" -o "$models/$architecture.onnx" --dynamic-batch >/dev/null
  taskset -c "${CORES:-0,1}" "$hone" bench "$models/$architecture.onnx" \
    --backends ${BACKENDS:-hone "$peer"} --peer "$peer=$root/bench/peers/$peer/worker" \
    --precisions ${PRECISIONS:-fp32} --batches ${BATCHES:-1 8} --threads 2 --duration "${DURATION:-4}" \
    --compare-to "$peer" -o "$output"
done
