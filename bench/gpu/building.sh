#!/usr/bin/env bash
# How long engines take to build, and what the limit of that time costs: each model is built with an empty timing cache within
# the default budget, again from the cache, and without a limit at level 4; then the first and the last engine take turns.
#
#   bench/gpu/building.sh INSTALL OUTPUT MODEL…
#
# INSTALL is an installed tree (bin/hone, lib/libhone-cuda.so); export_models.py makes ONNX files of transformers and others.
set -uo pipefail
hone=$1/bin/hone output=$2
shift 2
mkdir -p "$output"

# built CACHE WHAT OPTION…: builds $model and says how long it took.
built() {
  local cache=$1 what=$2
  shift 2
  HONE_CACHE_DIR=$cache timeout "${LIMIT:-240}" "$hone" build "$model" --device cuda --precision fp16 -o "$output/engine.hone" "$@" \
    2>>"$output/progress.log" | sed "s|^|$name, $what: |" | tee -a "$output/builds.log"
  rm -f "$output/engine.hone"
}

for model in "$@"; do
  name=$(basename "$model" .onnx)
  limited=$(mktemp -d) unlimited=$(mktemp -d)
  echo "$name" >>"$output/progress.log"
  built "$limited" "default budget"
  built "$limited" "from the cache"
  built "$unlimited" "no limit" --builderOptimizationLevel 4
  printf '#!/bin/sh\nHONE_CACHE_DIR=%s exec %s "$@"\n' "$unlimited" "$hone" >"$output/other"
  chmod +x "$output/other"
  HONE_CACHE_DIR=$limited HONE_KEPT=$output/other "$hone" bench "$model" --device cuda --backends hone,kept_hone \
    --precisions fp16 --batches ${BATCHES:-1} --duration "${DURATION:-1}" -o "$output" 2>>"$output/errors.log" | tee -a "$output/compared.log"
  rm -rf "$limited" "$unlimited" "$output/other"
done
