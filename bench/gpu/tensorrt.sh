#!/usr/bin/env bash
# hone next to TensorRT, cell by cell: one engine of TensorRT a network and precision, with an optimization profile a batch,
# both systems in one CUDA graph with inputs on the device. A cell that is done is not measured again, so the script can
# be ended and started anew; at the end it prints the table, and which cells are missing.
#
#   bench/gpu/tensorrt.sh INSTALL OUTPUT [MODEL:PRECISION[:BATCH,BATCH…]…]
#
# INSTALL: a tree with bin/hone and lib/libhone-tensorrt-<major>.so, as for visit.sh. MODEL: a built-in architecture or a file.
# Without cells: those of the table in docs/performance/h200.md, of which those that take the least time come first. A build takes
# minutes, and one at a time runs on each GPU; OUTPUT/cache keeps the times that it took, for all cells, and for another
# machine with such a GPU.
#
# TENSORRT   folder with libnvinfer.so.N and libnvonnxparser.so.N; otherwise what hone finds, or else 8.6.1, which Maven
#            fetches (825 MB, once, into ~/.cache/hone/tensorrt-8.6.1)
# LEVEL      builder level of TensorRT (3)
# THREADS    threads of its builder (the cores of a GPU)
# TACTICS    its tactic sources, edge,jit,cublas,cublaslt,cudnn (its own default, in which 8.6 leaves cuBLAS and cuDNN to plugins;
#            edge,jit where 8.6 finds no cuBLAS 12 and cuDNN 8, for which empty libraries then stand in)
# DURATION   seconds of a configuration (5)
# LIMIT      seconds after which no cell begins (no limit)
# STOP       seconds after which those under way are ended; what they have measured counts (no limit)
# BACKENDS   systems next to each other (tensorrt,hone)
# GPUS       numbers of the GPUs to use ("0 1"; all)
set -uo pipefail
install=$(realpath "$1") output=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$output"
output=$(realpath "$output")
cells=("$@")
if [ ${#cells[@]} -eq 0 ]; then
  cells=(resnet18:fp16 alexnet:fp16 vgg16:fp16 mobilenet_v2:fp16 mobilenet_v2:int8+fp16 resnet50:fp16 resnet50:int8+fp16 resnet50:tf32
    resnet50:fp32 vit_b_16:fp16 bert_base:fp16 swin_t:fp16 bert_base:int8+fp16 efficientnet_b0:fp16)
fi

. "$here/tensorrt_library.sh"
find_tensorrt "$install" "$output"
export HONE_CACHE_DIR=${HONE_CACHE_DIR:-$output/cache}

options=(--tensorrt-level "${LEVEL:-3}" --timeout 7200 --duration "${DURATION:-5}" --compare-to tensorrt)
[ -n "${TACTICS:-}" ] && options+=(--tensorrt-tactics "$TACTICS")
# An equal part of the cores for each GPU, in the order of sockets and physical cores, as lanes.sh has it: a builder next to it
# would make a run INVALID.
gpus=$(nvidia-smi -L | grep -c '^GPU')
used=${GPUS:-$(seq -s ' ' 0 $((gpus - 1)))}
order=$(lscpu -p=CPU,SOCKET,CORE | grep -v '^#' | sort -t, -k2,2n -k3,3n | cut -d, -f1 | tr '\n' ' ')
export order used cores=$(($(wc -w <<<"$order") / gpus))
options+=(--tensorrt-threads "${THREADS:-$((cores > 0 ? cores : 1))}")
begin=$(date +%s)
export end=$((begin + ${LIMIT:-1000000})) stop=$((begin + ${STOP:-1000000}))
export install output here options_text="${options[*]}" backends=${BACKENDS:-tensorrt,hone}

measure() {
  IFS=: read -r model precision batches <<<"$1"
  local name=${1//[\/:,+]/-} begin=$SECONDS own gpu
  gpu=$(cut -d' ' -f$((LANE + 1)) <<<"$used")
  own=$(cut -d' ' -f$((gpu * cores + 1))-$(((gpu + 1) * cores)) <<<"$order" | tr ' ' ,)
  [ -e "$output/$name.done" ] && return
  local left=$((stop - $(date +%s)))
  [ "$(date +%s)" -ge "$end" ] || [ $left -le 0 ] && return
  # shellcheck disable=SC2086
  CUDA_VISIBLE_DEVICES=$gpu taskset -c "$own" timeout -k 15 "$left" \
    "$install/bin/hone" bench "$model" --device cuda --precisions "$precision" --batches ${batches//,/ } \
    --backends "$backends" $options_text -o "$output/runs" >"$output/$name.log" 2>&1
  local code=$? file
  file=$(sed -n 's/^written: //p' "$output/$name.log" | tail -n 1)
  # A system that failed leaves a row that says why; the cell is to be measured again.
  [ $code -eq 0 ] && python3 "$here/tensorrt_table.py" --complete "$file" && echo "$file" >"$output/$name.done"
  printf 'GPU %d, %s: exit %d after %d s\n' "$gpu" "$1" "$code" "$((SECONDS - begin))"
}
export -f measure
printf '%s\n' "${cells[@]}" | sed 's/^\([^:]*:[^:]*\)$/\1:1,8,16,32/' |
  xargs -L 1 -P "$(wc -w <<<"$used")" --process-slot-var=LANE bash -c 'measure "$1"' _
printf '%s\n' "${cells[@]}" | sed 's/^\([^:]*:[^:]*\)$/\1:1,8,16,32/' | while read -r cell; do
  name=${cell//[\/:,+]/-}
  [ -e "$output/$name.done" ] || echo "$cell $(grep -hom 1 'FAILED: .*' "$output/$name.log" 2>/dev/null)"
done >"$output/missing.txt"
python3 "$here/tensorrt_table.py" "$output"
