#!/usr/bin/env bash
# Fails a pipeline when a model became slower or less accurate.
#
# usage: ci_gate.sh MODEL BASELINE.json [more options of hone bench]
#
# The first run measures and keeps the baseline; later ones compare with it. Exit codes are those of hone: 0 good, 5 worse.
# HONE names the program where it is not in PATH, MAX_REGRESSION and MAX_ERROR the limits (10%, 1e-3). On a shared runner
# be generous with the former: its times vary.
set -euo pipefail
model=$1 baseline=$2
shift 2
hone=${HONE:-hone}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
bench=("$hone" bench "$model" --backends hone --precisions fp32 --batches 1 --max-error "${MAX_ERROR:-1e-3}" -o "$folder")
if [[ ! -f $baseline ]]; then
  "${bench[@]}" "$@"
  cp "$folder"/*.json "$baseline"
  echo "kept as the baseline: $baseline"
  exit
fi
"${bench[@]}" --baseline "$baseline" --max-regression "${MAX_REGRESSION:-10%}" "$@"
