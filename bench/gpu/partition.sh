#!/usr/bin/env bash
# Models split between TensorRT, hone and PyTorch on one GPU, TensorRT's own calibrators next to hone's, and the layers of both
# systems. A step that is done is not made again, so the script can be ended and started anew.
#
#   bench/gpu/partition.sh INSTALL OUTPUT [PART…]
#
# INSTALL: a tree with bin/hone, lib/libhone-cuda.so and lib/libhone-tensorrt-<major>.so, as for visit.sh. Parts, all by default:
#   support       who takes which node, without building anything
#   partition     blocks of BACKENDS on the GPU: predicted, measured, and run in hone bench next to each backend by itself
#   calibrators   TensorRT's entropy and minmax calibrators on the data that hone calibrates with: the caches compared tensor
#                 by tensor, and engines built by TensorRT's calibrator, from hone's cache, and by hone's Q/DQ
#   layers        files for hone diff: the layers of TensorRT's engine and of hone's, and traces of both
#   newer         a TensorRT that can run but not build here, as one without the builder resource of this GPU: what it says of
#                 itself, which nodes its parser takes, how it refuses a node, a build, and a plan of the other version
#
# NEWER         folder of that TensorRT; without it the part newer does nothing
# MODELS        networks (resnet18); DIGITS: a small one with its data (the folder models/digits of the source tree)
# BACKENDS      of the partition, in the order of preference (tensorrt,hone); EXCLUDE: operators for the last one only (MaxPool)
# LEVEL         builder level of TensorRT (1, which builds ResNet-18 in seconds)
# LIMIT         seconds after which no step begins (no limit)
# TENSORRT, TACTICS   as in tensorrt.sh
set -uo pipefail
install=$(realpath "$1") output=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$output"
output=$(realpath "$output")
parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=(support partition calibrators layers newer)
hone=$install/bin/hone
digits=${DIGITS:-$here/../../models/digits}
models=${MODELS:-resnet18}
end=$(($(date +%s) + ${LIMIT:-1000000}))
. "$here/tensorrt_library.sh"
find_tensorrt "$install" "$output"
# Engines and times of an earlier run are found again in this cache.
export HONE_CACHE_DIR=${HONE_CACHE_DIR:-$output/cache}
tensorrt=(--tensorrt-level "${LEVEL:-1}")
[ -n "${TACTICS:-}" ] && tensorrt+=(--tensorrt-tactics "$TACTICS")

part() {
  local name
  for name in "${parts[@]}"; do [ "$name" = "$1" ] && return 0; done
  return 1
}

# step NAME COMMAND…: its output goes to NAME.txt; a difference that was looked for (exit code 5) is a result, too.
step() {
  local name=$1 code
  shift
  [ -e "$output/$name.done" ] && return
  [ "$(date +%s)" -ge "$end" ] && { say "$name: no time is left"; return; }
  SECONDS=0
  "$@" >"$output/$name.txt" 2>"$output/$name.err"
  code=$?
  printf '%s: exit %d after %d s\n' "$name" "$code" "$SECONDS"
  [ $code -eq 0 ] || [ $code -eq 5 ] || { tail -n 3 "$output/$name.err" >&2; return; }
  touch "$output/$name.done"
}

# refused NAME SENTENCE COMMAND…: has to end with 3 or 4, and to say this.
refused() {
  local name=$1 sentence=$2 code
  shift 2
  [ -e "$output/$name.done" ] && return
  "$@" >"$output/$name.txt" 2>"$output/$name.err"
  code=$?
  printf '%s: exit %d, %s\n' "$name" "$code" "$(tail -n 1 "$output/$name.err")"
  { [ $code -eq 3 ] || [ $code -eq 4 ]; } && grep -q "$sentence" "$output/$name.err" && touch "$output/$name.done"
}

short() { basename "$1" .onnx; }

partition() {
  local model=$1 name
  name=$(short "$model")
  step "partition-$name" "$hone" partition "$model" --device cuda --precision fp16 --backends "${BACKENDS:-tensorrt,hone}" \
    --exclude "${EXCLUDE:-MaxPool}" --min-block-size 1 --measure "${tensorrt[@]}" -o "$output/$name.partition.json"
  step "partition-bench-$name" "$hone" bench "$model" --device cuda --precisions fp16 --batches 1 --backends "${BACKENDS:-tensorrt,hone}" \
    --partition "$output/$name.partition.json" --duration 0.5 --timeout 600 "${tensorrt[@]}" -o "$output/runs"
}

# calibrators MODEL DATA
calibrators() {
  local model=$1 data=$2 name kind
  name=$(short "$model")
  for kind in entropy minmax; do
    step "calibrate-hone-$kind-$name" "$hone" quantize "$model" --calibrate "$data" --calibrator $kind --calib-format tensorrt \
      --no-equalization --target tensorrt -o "$output/$name-$kind.onnx"
    step "calibrate-tensorrt-$kind-$name" "$hone" bench "$model" --device cuda --precisions int8 --batches 1 --backends tensorrt \
      --duration 0.3 --timeout 600 "${tensorrt[@]}" --tensorrt-calibrator $kind --tensorrt-calibrate "$data" \
      --tensorrt-calib-output "$output/tensorrt-$name-$kind.cache" -o "$output/runs"
    step "compare-$kind-$name" python3 "$here/compare_calibration.py" "$output/tensorrt-$name-$kind.cache" \
      "$output/$name-$kind.calib.cache"
    cat "$output/compare-$kind-$name.txt"
  done
  step "from-hones-cache-$name" "$hone" bench "$model" --device cuda --precisions int8 --batches 1 --backends tensorrt \
    --duration 0.3 --timeout 600 "${tensorrt[@]}" --tensorrt-calibrator entropy \
    --tensorrt-calib "$output/$name-entropy.calib.cache" -o "$output/runs"
  step "by-hones-qdq-$name" "$hone" bench "$output/$name-entropy.onnx" --device cuda --precisions int8 --batches 1 --backends tensorrt \
    --duration 0.3 --timeout 600 "${tensorrt[@]}" -o "$output/runs"
}

layers() {
  local model=$1 name
  name=$(short "$model")
  step "layers-tensorrt-$name" "$hone" inspect "$model" --backend tensorrt --precision fp16 --batch 1 --runs 30 "${tensorrt[@]}" \
    --layer-files "$output/$name-layers" --json
  step "profile-hone-$name" "$hone" profile "$model" --device cuda --backends hone --precisions fp16 --batches 1 --active 20 \
    -o "$output/$name-hone.traces"
  step "profile-tensorrt-$name" "$hone" profile "$model" --device cuda --backends tensorrt --precisions fp16 --batches 1 --active 20 \
    -o "$output/$name-tensorrt.traces"
  step "diff-$name" "$hone" diff "$output/$name-layers" "$(echo "$output/$name-hone.traces"/*.sqlite)"
}

# A determinant between two functions that every parser takes.
unusual_model() {
  python3 -c "import onnx, sys
from onnx import TensorProto, helper
nodes = [helper.make_node('Relu', ['x'], ['y'], 'relu'), helper.make_node('Det', ['y'], ['z'], 'determinant'),
         helper.make_node('Neg', ['z'], ['w'], 'negative')]
value = helper.make_tensor_value_info
graph = helper.make_graph(nodes, 'unusual', [value('x', TensorProto.FLOAT, [1, 3, 3])], [value('w', TensorProto.FLOAT, [1])])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8), sys.argv[1])" "$1"
}

newer() {
  local support=(--device cuda --precision fp32 --backends "${BACKENDS:-tensorrt,hone}" --min-block-size 1 --dry-run) plan model
  # Plans of the other version, one of which is to be refused.
  plan=$(ls "$HONE_CACHE_DIR"/tensorrt/*.plan 2>/dev/null | head -n 1)
  local -x HONE_TENSORRT=$NEWER LD_LIBRARY_PATH=$NEWER${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  step newer-version "$hone" backends --device cuda
  grep '^tensorrt ' "$output/newer-version.txt"
  step newer-unusual unusual_model "$output/unusual.onnx"
  step newer-refusal "$hone" partition "$output/unusual.onnx" "${support[@]}"
  for model in "$digits/digits.onnx" $models; do
    step "newer-support-$(short "$model")" "$hone" partition "$model" "${support[@]}"
  done
  refused newer-build 'cannot build' "$hone" inspect "$digits/digits.onnx" --backend tensorrt --precision fp32 --batch 1 --runs 1
  [ -n "$plan" ] && refused newer-plan 'was built by TensorRT' "$hone" inspect "$plan"
}

samples() {
  python3 -c "import numpy, sys
numpy.savez(sys.argv[1], input=numpy.random.default_rng(1).standard_normal((16, 3, 224, 224), dtype='float32'))" "$1"
}

if part support; then
  for model in "$digits/digits.onnx" $models; do
    step "support-$(short "$model")" "$hone" partition "$model" --device cuda --precision fp16 --backends "${BACKENDS:-tensorrt,hone}" \
      --exclude "${EXCLUDE:-MaxPool}" --min-block-size 1 --dry-run "${tensorrt[@]}"
  done
fi
part partition && partition "$digits/digits.onnx"
part calibrators && calibrators "$digits/digits.onnx" "$digits/held_out.npz"
part layers && for model in $models; do layers "$model"; done
if part calibrators; then
  [ -e "$output/samples.npz" ] || samples "$output/samples.npz"
  for model in $models; do calibrators "$model" "$output/samples.npz"; done
fi
part partition && for model in $models; do partition "$model"; done
part newer && [ -n "${NEWER:-}" ] && newer
exit 0
