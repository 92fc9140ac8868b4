#!/usr/bin/env bash
# compute-sanitizer over the programs that check kernels and tactics: a process a case, side by side on all GPUs and cores of a
# machine, since the tool prepares every kernel when it first runs, and has one thread for it.
#
#   bench/gpu/sanitize.sh INSTALL OUTPUT WHAT…
#
# INSTALL as for visit.sh. WHAT: kernels (each family of kernels_check), gemm (implicit_gemm_check --quick), tactics (tactics_check on
# each case below the folder CASES, in each of PRECISIONS). A line a process goes to OUTPUT/summary.txt, the rest to OUTPUT.
# TOOLS: racecheck memcheck initcheck by default. FAMILIES: of kernels_check, instead of all. WITHOUT: tactics to leave out ("cudnn
# cublaslt" leaves hone's own kernels). LONG: families and cases that PARTS processes share (of families, those that kernels_check
# can share); they begin first. SECONDS_EACH: of a process; LIMIT: of all, after it the remaining ones are only listed.
# Exit code 1 where a process found something, failed or did not end, 4 without a GPU.
set -uo pipefail
install=$1 output=$2
shift 2
sanitizer=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
gpus=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU')
if [ "$gpus" -eq 0 ]; then
  echo "sanitize.sh: this machine has no NVIDIA GPU" >&2
  exit 4
fi
end=$(($(date +%s) + ${LIMIT:-36000}))
export sanitizer gpus end output
mkdir -p "$output"

watch() {
  local tool=$1 name=$2 log=$output/$1-$2.log left=$((end - $(date +%s))) code
  shift 2
  if [ "$left" -le 5 ]; then
    printf '%s %s: left out of time\n' "$tool" "$name"
    return
  fi
  CUDA_VISIBLE_DEVICES=$((SLOT % gpus)) timeout "$((left < ${SECONDS_EACH:-300} ? left : ${SECONDS_EACH:-300}))" \
    "$sanitizer" --tool "$tool" --error-exitcode 9 --print-limit 5 "$@" >"$log" 2>&1
  code=$?
  printf '%s %s: exit %d after %d s, %s\n' "$tool" "$name" "$code" "$SECONDS" "$(grep -oE '(RACECHECK|ERROR) SUMMARY.*' "$log")"
}
export -f watch

# Jobs, a line each: how many processes share it, then tool, name and command.
jobs() {
  local tool what precision folder folders family families
  for tool in ${TOOLS:-racecheck memcheck initcheck}; do
    for what in "$@"; do
      case $what in
        kernels)
          families=${FAMILIES:-$("$install/bin/kernels_check" --names)} || exit 2
          for family in $families; do
            printf '%s %s %s %s %s\n' "$(shares "$family")" "$tool" "$family" "$install/bin/kernels_check --part %" "$family"
          done
          ;;
        gemm) printf '%s %s gemm %s\n' "${PARTS:-8}" "$tool" "$install/bin/implicit_gemm_check --part % --quick" ;;
        tactics)
          folders=$(find -L "${CASES:?the folder of device cases}" -name model.onnx -printf '%h\n' | sort) || exit 2
          if [ -z "$folders" ]; then
            echo "sanitize.sh: no model.onnx is below $CASES" >&2
            exit 2
          fi
          for precision in ${PRECISIONS:-fp16}; do
            while read -r folder; do
              printf '%s %s %s-%s %s %s\n' "$(shares "$(basename "$folder")")" "$tool" "$precision" "$(basename "$folder")" \
                "$install/bin/tactics_check --once --part % ${WITHOUT:+$(printf -- '--without %s ' $WITHOUT)}cuda $precision 1e-5 1.01e-4" \
                "$folder"
            done <<<"$folders"
          done
          ;;
        *)
          echo "sanitize.sh: there is no part '$what'" >&2
          exit 2
          ;;
      esac
    done
  done
}
shares() { case " ${LONG:-} " in *" $1 "*) echo "${PARTS:-8}" ;; *) echo 1 ;; esac; }

jobs "$@" >"$output/jobs.txt" || exit 2
if [ ! -s "$output/jobs.txt" ]; then
  echo "sanitize.sh: name kernels, gemm or tactics" >&2
  exit 2
fi
sort -s -k1,1nr "$output/jobs.txt" | while read -r parts tool name command; do
  for ((k = 1; k <= parts; ++k)); do
    echo "$tool $name$([ "$parts" -gt 1 ] && echo "-$k-of-$parts") ${command/\%/$k/$parts}"
  done
done | xargs -L 1 -P "$(nproc)" --process-slot-var=SLOT bash -c 'SECONDS=0; watch "$@"' _ | tee "$output/summary.txt" | grep -v ": exit 0 "
! grep -qv ": exit 0 " "$output/summary.txt"
