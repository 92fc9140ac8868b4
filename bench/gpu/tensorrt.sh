#!/usr/bin/env bash
# hone beside TensorRT, cell by cell: one engine of TensorRT a network and precision, with an optimization profile a batch,
# both systems in one CUDA graph with inputs on the device. A cell that is done is not measured again, so the script can
# be ended and started anew; at the end it prints the table, and which cells are missing.
#
#   bench/gpu/tensorrt.sh INSTALL OUTPUT [MODEL:PRECISION[:BATCH,BATCH…]…]
#
# INSTALL: a tree with bin/hone and lib/libhone-tensorrt-<major>.so, as for visit.sh. MODEL: a built-in architecture or a file.
# Without cells: those of the table in docs/PERFORMANCE.md. A build takes minutes, and one at a time runs on each GPU.
#
# TENSORRT   folder with libnvinfer.so.N and libnvonnxparser.so.N; otherwise what hone finds, or else 8.6.1, which Maven
#            fetches (825 MB, once, into ~/.cache/hone/tensorrt-8.6.1)
# LEVEL      builder level of TensorRT (3)
# TACTICS    its tactic sources, edge,jit,cublas,cublaslt,cudnn (its own default; edge,jit where 8.6 finds no cuBLAS 12
#            and cuDNN 8, for which empty libraries then stand in)
# DURATION   seconds of a configuration (5)
# LIMIT      seconds after which no cell begins (no limit)
# BACKENDS   systems beside each other (tensorrt,hone)
set -uo pipefail
install=$(realpath "$1") output=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$output"
output=$(realpath "$output")
cells=("$@")
if [ ${#cells[@]} -eq 0 ]; then
  for model in resnet50 resnet18 mobilenet_v2 alexnet efficientnet_b0 vgg16 vit_b_16 bert_base swin_t; do
    cells+=("$model:fp16:1,8,16,32")
  done
  for model in resnet50 mobilenet_v2 bert_base; do cells+=("$model:int8+fp16:1,8,16,32"); done
  cells+=(resnet50:fp32:1,8,16,32 resnet50:tf32:1,8,16,32)
fi

say() { printf '%s\n' "$*" >&2; }

fetch() {
  local folder=$1 work
  command -v mvn >/dev/null || { say "no TensorRT is installed, and Maven, which could fetch 8.6.1, is not either"; return 4; }
  work=$(mktemp -d)
  mvn -q -B dependency:copy -DoutputDirectory="$work" -Dartifact=org.bytedeco:tensorrt:8.6-1.5.10:jar:linux-x86_64-redist &&
    unzip -qjo "$work"/*.jar 'org/bytedeco/tensorrt/linux-x86_64/*.so*' -d "$work/libraries" &&
    mkdir -p "$(dirname "$folder")" && mv "$work/libraries" "$folder"
  local code=$?
  rm -rf "$work"
  [ $code -eq 0 ] || say "TensorRT 8.6.1 could not be fetched"
  return $code
}

found() { "$install/bin/hone" backends --device cuda | grep '^tensorrt '; }

# An empty library under this name, where the loader finds none: what needs it is not called.
stand_in() {
  python3 -c "import ctypes, sys; ctypes.CDLL(sys.argv[1])" "$1" 2>/dev/null && return 1
  mkdir -p "$output/empty"
  echo | cc -shared -fPIC -x c - -Wl,-soname,"$1" -o "$output/empty/$1"
}

if [ -n "${TENSORRT:-}" ]; then
  export HONE_TENSORRT=$TENSORRT
elif found | grep -q 'no TensorRT was found'; then
  cached=${XDG_CACHE_HOME:-$HOME/.cache}/hone/tensorrt-8.6.1
  [ -d "$cached" ] || fetch "$cached" || exit 4
  export HONE_TENSORRT=$cached
fi
if [ -e "${HONE_TENSORRT:-}/libnvinfer.so.8" ]; then
  for library in libcublas.so.12 libcublasLt.so.12 libcudnn.so.8; do
    stand_in $library && TACTICS=${TACTICS:-edge,jit}
  done
  export LD_LIBRARY_PATH=$HONE_TENSORRT:$output/empty${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
fi
found | tee "$output/tensorrt.txt"
grep -q 'not available' "$output/tensorrt.txt" && exit 4

options=(--tensorrt-level "${LEVEL:-3}" --timeout 7200 --duration "${DURATION:-5}" --compare-to tensorrt)
[ -n "${TACTICS:-}" ] && options+=(--tensorrt-tactics "$TACTICS")
# An equal part of the cores for each GPU, in the order of sockets and physical cores, as lanes.sh has it: a builder beside it
# would make a run INVALID.
gpus=$(nvidia-smi -L | grep -c '^GPU')
order=$(lscpu -p=CPU,SOCKET,CORE | grep -v '^#' | sort -t, -k2,2n -k3,3n | cut -d, -f1 | tr '\n' ' ')
export order cores=$(($(wc -w <<<"$order") / gpus))
export install output here options_text="${options[*]}" end=$(($(date +%s) + ${LIMIT:-1000000})) backends=${BACKENDS:-tensorrt,hone}

measure() {
  IFS=: read -r model precision batches <<<"$1"
  local name=${1//[\/:,+]/-} begin=$SECONDS own
  own=$(cut -d' ' -f$((LANE * cores + 1))-$(((LANE + 1) * cores)) <<<"$order" | tr ' ' ,)
  [ -e "$output/$name.done" ] && return
  [ "$(date +%s)" -ge "$end" ] && return
  # shellcheck disable=SC2086
  CUDA_VISIBLE_DEVICES=$LANE taskset -c "$own" "$install/bin/hone" bench "$model" --device cuda --precisions "$precision" \
    --batches ${batches//,/ } --backends "$backends" $options_text -o "$output/runs" >"$output/$name.log" 2>&1
  local code=$? file
  file=$(sed -n 's/^written: //p' "$output/$name.log" | tail -n 1)
  # A system that failed leaves a row that says why; the cell is to be measured again.
  [ $code -eq 0 ] && python3 "$here/tensorrt_table.py" --complete "$file" && echo "$file" >"$output/$name.done"
  printf 'GPU %d, %s: exit %d after %d s\n' "$LANE" "$1" "$code" "$((SECONDS - begin))"
}
export -f measure
printf '%s\n' "${cells[@]}" | sed 's/^\([^:]*:[^:]*\)$/\1:1,8,16,32/' |
  xargs -L 1 -P "$gpus" --process-slot-var=LANE bash -c 'measure "$1"' _
printf '%s\n' "${cells[@]}" | sed 's/^\([^:]*:[^:]*\)$/\1:1,8,16,32/' | while read -r cell; do
  name=${cell//[\/:,+]/-}
  [ -e "$output/$name.done" ] || echo "$cell $(grep -hom 1 'FAILED: .*' "$output/$name.log" 2>/dev/null)"
done >"$output/missing.txt"
python3 "$here/tensorrt_table.py" "$output"
