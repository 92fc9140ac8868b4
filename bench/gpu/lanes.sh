#!/usr/bin/env bash
# Sweeps side by side on all GPUs of a machine, each GPU with an equal part of the cores; physical ones are not shared.
#
#   bench/gpu/lanes.sh INSTALL OUTPUT < SWEEPS
#
# A sweep a line: MODEL PRECISIONS BATCHES BACKENDS [OPTION...], lists with commas: resnet50 fp32,tf32 8,32 hone,torch-graph. They are
# taken in this order, the next one by the GPU that is free first; # begins a comment. goal_sweeps.txt has those of the networks
# that docs/performance/h200.md has goals for. LIMIT: seconds after which none begins (3600); what did not run,
# or was cut off, stands in OUTPUT/left.txt, as such lines. DURATION: of a configuration (1).
# INSTALL, and how to keep what is measured, as for visit.sh. hone judges a run on a GPU by the cores that it may use, so that the
# others do not make it INVALID.
set -uo pipefail
install=$1 output=$2
mkdir -p "$output"
gpus=$(nvidia-smi -L | wc -l)
# In the order of sockets and physical cores.
order=$(lscpu -p=CPU,SOCKET,CORE | grep -v '^#' | sort -t, -k2,2n -k3,3n | cut -d, -f1 | tr '\n' ' ')
export install output order cores=$(($(wc -w <<<"$order") / gpus)) end=$(($(date +%s) + ${LIMIT:-3600}))

sweep() {
  local own left=$((end - $(date +%s)))
  own=$(cut -d' ' -f$((LANE * cores + 1))-$(((LANE + 1) * cores)) <<<"$order" | tr ' ' ,)
  local name=$* log
  log=$output/$(tr -c 'a-zA-Z0-9_.\n' - <<<"${name//[\*]/}").log
  if [ "$left" -le 0 ]; then
    echo "$*" >>"$output/left.txt"
    return
  fi
  local begin=$SECONDS
  CUDA_VISIBLE_DEVICES=$LANE timeout "$left" taskset -c "$own" "$install/bin/hone" bench "$1" --device cuda \
    --precisions ${2//,/ } --batches ${3//,/ } --backends "$4" "${@:5}" --duration "${DURATION:-1}" -o "$output" >"$log" 2>&1
  local code=$?
  [ "$code" -eq 0 ] || echo "$*" >>"$output/left.txt"
  printf 'GPU %d, %s: exit %d after %d s\n' "$LANE" "$*" "$code" "$((SECONDS - begin))"
  grep -E "^(model|$1) |^INVALID .* hone " "$log"
}
export -f sweep
grep -v '^ *#' | xargs -L 1 -P "$gpus" --process-slot-var=LANE bash -c 'sweep "$@"' _
