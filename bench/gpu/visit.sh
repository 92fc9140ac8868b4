#!/usr/bin/env bash
# Everything that wants a GPU, in one go: kernels against plain loops, conformance, then timings.
#
#   bench/gpu/visit.sh INSTALL OUTPUT [PART…]
#
# INSTALL is an installed tree (bin/hone, lib/libhone-cuda.so, bin/*_check), OUTPUT a folder for what is measured.
# Parts: kernels, gemm, stable, models, sweep (the default); peers (needs lib/libhone-torch.so, see build_torch.sh),
# figures, layers, profile, soak, conformance (needs CASES), tactics (CASES: those of tests/conformance/network_cases.py), sanitize
# (SANITIZE: what of sanitize.sh).
# libcudnn.so.9 and libcublasLt.so.13 must be findable.
# pack.sh makes INSTALL for a machine without our libraries.
# bench/summarize.py OUTPUT/*Z*.json -o bench/results/MACHINE/summary.json keeps what hone bench measured, for the tables of documents.
set -uo pipefail
install=$1 output=$2
shift 2
parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=(kernels gemm stable models sweep)
hone=$install/bin/hone
models=${MODELS:-resnet50}
sanitizer=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
mkdir -p "$output"
nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.mem,temperature.gpu,power.draw,utilization.gpu \
  --format=csv,noheader | tee "$output/gpu.txt"

# The next of the machine's GPUs, for programs that run side by side.
gpus=$(nvidia-smi -L | grep -c '^GPU') gpu=0
next_gpu() { gpu=$(((gpu + 1) % gpus)); }

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
  step fault_check "$install/bin/fault_check"
  step memory_check "$install/bin/memory_check"
  step binding_check "$install/bin/binding_check"
  step two_gpus_check "$install/bin/two_gpus_check"
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
if part peers; then
  for model in $models; do
    step "peers-$model" "$hone" bench "$model" --device cuda \
      --backends "${BACKENDS:-hone,torch,torchscript,torch-graph,torch_compile}" \
      --precisions ${PRECISIONS:-fp16} --batches ${BATCHES:-1 8 32} --duration "${DURATION:-1}" -o "$output"
    grep -E "^(model|$model) |FAILED" "$output/peers-$model.log"
  done
fi
if part conformance; then
  # In every precision at once: each case is mostly work of the processor.
  for precision in ${PRECISIONS:-fp32 tf32 bf16 fp16}; do
    next_gpu
    CUDA_VISIBLE_DEVICES=$gpu step "conformance-$precision" "$hone" conformance "${CASES:?the folder of ONNX cases}" --backend hone --device cuda \
      --precision "$precision" --timeout 20 --json "$output/conformance-$precision.json" &
  done
  wait
  tail -qn 1 "$output"/conformance-*.log
fi

if part tactics; then
  # By every tactic, the folders side by side, on all GPUs.
  for precision in ${PRECISIONS:-fp32 tf32 bf16 fp16}; do
    for folder in "${CASES:?the folder of device cases}"/*; do
      next_gpu
      CUDA_VISIBLE_DEVICES=$gpu step "tactics-$precision-$(basename "$folder")" "$install/bin/tactics_check" cuda "$precision" 1e-5 1.01e-4 "$folder" &
    done
  done
  wait
  tail -qn 1 "$output"/tactics-*.log
fi

# Whole runs of all that `hone bench` can report about a GPU; each prints its summary.
figures() {
  local name=$1
  shift
  step "figures-$name" "$hone" bench "${models%% *}" --device cuda --backends hone --precisions "${FIGURES_PRECISION:-fp16}" \
    --batches "${FIGURES_BATCH:-1}" --duration "${DURATION:-1}" -o "$output" "$@"
  grep -E "^(Latency|Enqueue|H2D|GPU Compute|D2H|Throughput|Pipelined|Device memory|Result|  )" "$output/figures-$name.log" \
    | sed -E 's/, percentile\(9[05]%\) = [^,]*//g'
}
if part figures; then
  figures warm
  figures cold --coldL2
  for streams in 2 4; do figures "streams-$streams" --infStreams $streams; done
  figures transfers --includeDataTransfers
  for streams in 2 4; do figures "transfers-streams-$streams" --includeDataTransfers --infStreams $streams; done
  # Does watching disturb? Repeats the figures without NVML.
  HONE_NVML=/nonexistent figures unwatched
  figures watched-again
fi
if part layers; then
  # By the stamps of the engine's own kernels; tables as in docs/performance/h200-layers.md.
  for model in $models; do
    for batch in ${BATCHES:-1}; do
      name=layers-$model-${PRECISIONS:-fp16}-$batch
      step "$name" "$hone" profile "$model" --device cuda --backends hone --precisions "${PRECISIONS:-fp16}" --batches "$batch" \
        --active 20 -o "$output/$name.traces"
      "$hone" analyze "$output/$name.traces"/*.sqlite --only layers --json >"$output/$name.json" &&
        python3 "$(dirname "$0")/layers.py" "$output/$name.json" | tee "$output/$name.md"
    done
  done
fi
if part profile; then
  # Traces of a program whose critical path is known, of an engine, and what recording costs it.
  step profile-known "$hone" profile -o "$output/known_path.sqlite" -- "$install/bin/known_path"
  tail -n 3 "$output/profile-known.log"
  for model in $models; do
    for way in "" --cupti; do
      step "profile-$model$way" "$hone" profile "$model" --device cuda --backends "${BACKENDS:-hone}" \
        --precisions "${PRECISIONS:-fp16}" --batches ${BATCHES:-1} --active 3 --record-shapes --profile-memory $way \
        -o "$output/traces"
      grep -E "ms recorded|hone:" "$output/profile-$model$way.log"
    done
    step "counters-$model" "$hone" profile "$model" --device cuda --precisions fp16 --counters -o "$output/counters"
    grep -E "ms recorded|hone:" "$output/counters-$model.log"
    step "metrics-$model" "$hone" profile "$model" --device cuda --precisions fp16 \
      --metrics achieved_occupancy,tensor_precision_fu_utilization,dram_read_bytes -o "$output/metrics"
    grep "hone:" "$output/metrics-$model.log"
  done
fi
if part soak; then
  # Its samples are kept in the result, with the memory after the first and after the last round.
  step soak "$hone" bench "${SOAK_MODEL:-resnet18}" --device cuda --backends hone --precisions fp16 --batches 1 \
    --iterations 100000 --duration "${SOAK_SECONDS:-20}" --rounds 20 -o "$output/soak"
  grep -E "Memory growth|Device memory|^Result" "$output/soak.log"
  step soak-growth python3 "$(dirname "$0")/growth.py" "$output"/soak/*.json
  cat "$output/soak-growth.log"
fi
if part sanitize; then
  step sanitize "$(dirname "$0")/sanitize.sh" "$install" "$output/sanitize" ${SANITIZE:-kernels gemm}
  python3 - "$output/input.npy" <<'EOF'
import sys
import struct
# One image of zeros to ones, as .npy: numpy may be missing.
count = 3 * 224 * 224
header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 3, 224, 224), }".ljust(117) + "\n"
with open(sys.argv[1], "wb") as file:
    file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
    file.write(struct.pack(f"<{count}f", *(i % 255 / 255 for i in range(count))))
EOF
  for model in resnet18 mobilenet_v2; do
    # Built outside: the search times hundreds of candidates.
    step "build-$model" "$hone" build "$model" --device cuda --precision fp16 -o "$output/$model.hone"
    step "memcheck-run-$model" timeout 300 "$sanitizer" --tool memcheck --leak-check full --error-exitcode 9 --print-limit 5 \
      "$hone" run "$output/$model.hone" --input "$output/input.npy" -o "$output/$model.npz"
    grep -E "ERROR SUMMARY|LEAK SUMMARY" "$output/memcheck-run-$model.log"
    rm -f "$output/$model.hone"
  done
fi
