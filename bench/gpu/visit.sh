#!/usr/bin/env bash
# Everything that wants a GPU, in one go: kernels against plain loops, conformance, then timings.
#
#   bench/gpu/visit.sh INSTALL OUTPUT [PART…]
#
# INSTALL is an installed tree (bin/hone, lib/libhone-cuda.so, bin/*_check), OUTPUT a folder for what is measured.
# Parts: kernels, gemm, stable, models, sweep, conformance (default: all but the last, which needs CASES). libcudnn.so.9 and libcublasLt.so.13 must be findable.
set -uo pipefail
install=$1 output=$2
shift 2
parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=(kernels gemm stable models sweep)
hone=$install/bin/hone
models=${MODELS:-resnet50}
mkdir -p "$output"
nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.mem,temperature.gpu,power.draw,utilization.gpu \
  --format=csv,noheader | tee "$output/gpu.txt"

part() {
  local name
  for name in "${parts[@]}"; do [ "$name" = "$1" ] && return 0; done
  return 1
}

step() {
  local name=$1
  shift
  SECONDS=0
  "$@" >"$output/$name.log" 2>&1
  local code=$?
  printf '%s: exit %d after %d s\n' "$name" "$code" "$SECONDS"
  [ "$code" -eq 0 ] || tail -n 12 "$output/$name.log"
}

if part kernels; then
  step kernels_check "$install/bin/kernels_check"
  tail -n 3 "$output/kernels_check.log"
  step implicit_gemm_check "$install/bin/implicit_gemm_check"
  tail -n 3 "$output/implicit_gemm_check.log"
fi
if part gemm; then
  step implicit_gemm_bench "$install/bin/implicit_gemm_check" --bench "$output/implicit_gemm.csv"
  tail -n 4 "$output/implicit_gemm_bench.log"
fi
if part stable; then
  # The same configuration again and again, searched anew and from the cache: its error must not move.
  for turn in 1 2 3; do
    cache=$(mktemp -d)
    for state in searched cached; do
      XDG_CACHE_HOME=$cache step "stable-$turn-$state" "$hone" bench ${models%% *} --device cuda --backends hone \
        --precisions fp16 --batches 1 --duration 0.3 -o "$output"
      grep -E "fp16 +1 |INVALID" "$output/stable-$turn-$state.log"
    done
    rm -rf "$cache"
  done
fi
if part models; then
  for model in $models; do
    for batch in ${BATCHES:-1}; do
      for precision in ${PRECISIONS:-fp16}; do
        step "build-$model-$precision-$batch" "$hone" build "$model" --device cuda --precision "$precision" \
          --minShapes "input:${batch}x3x224x224" -o "$output/engine.hone"
        tail -n 1 "$output/build-$model-$precision-$batch.log"
        step "inspect-$model-$precision-$batch" "$hone" inspect "$output/engine.hone" --json
        rm -f "$output/engine.hone"
      done
    done
  done
fi
if part sweep; then
  for model in $models; do
    step "sweep-$model" "$hone" bench "$model" --device cuda --backends hone \
      --precisions ${PRECISIONS:-fp16 bf16 tf32 fp32} --batches ${BATCHES:-1 8 16 32 128} \
      --duration "${DURATION:-1}" -o "$output"
    grep -v "left" "$output/sweep-$model.log" | tail -n 30
  done
fi
if part conformance; then
  step conformance "$hone" conformance "${CASES:?the folder of ONNX cases}" --backend hone --device cuda --timeout 20 \
    --json "$output/conformance.json"
  tail -n 1 "$output/conformance.log"
fi
