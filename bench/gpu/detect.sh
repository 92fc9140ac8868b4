#!/usr/bin/env bash
# Detection on a GPU: first that frames which the GPU preprocesses give the same boxes, then how fast it is.
#
#   bench/gpu/detect.sh INSTALL OUTPUT [PART…]
#
# INSTALL: a tree with bin/{hone,detect_check,kernels_check,serial_loop}, lib/libhone-cuda.so and lib/libhone-video.so, as
# VIDEO=1 bench/gpu/pack.sh packs it. Parts, all by default:
#   check     outputs, boxes and scores with preprocessing on the GPU and on the host; the kernel against plain loops
#   kernel    time of the kernel: 1080p NV12 to 640 x 640 fp16
#   latency   YOLOv4-tiny in fp16, batch 1: 416 x 416 and 960 x 540, hone and eager PyTorch (Python with torch)
#   fps       models/shapes and YOLOv4-tiny 960 x 540 on the committed clip, end to end: the pipeline with preprocessing on
#             the GPU and on the host, without and with a written video, and the same parts in one serial loop
#   streams   models/shapes on the committed clip, decoded by the GPU and by the CPU, in one stream and in several: the boxes
#             are those of the CPU's decoder in one stream, by one engine
#
# PYTHON      a Python with torch (python3). THREADS: cores that the pipeline and the loop may use (16). DURATION: seconds of a
# benchmark (1). A line that begins with SKIPPED names what is missing; the exit code is 1 where a check failed.
set -uo pipefail
install=$(realpath "${1:?an installed tree}") output=${2:?a folder for what is measured}
shift 2
here=$(cd "$(dirname "$0")" && pwd)
shapes=$(realpath "$here/../../models/shapes")
mkdir -p "$output"
output=$(realpath "$output")
parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=(check kernel latency fps streams)
python=${PYTHON:-python3} threads=${THREADS:-16} failed=0
hone=$install/bin/hone
# Later runs find the timings of earlier ones.
export HONE_CACHE_DIR=${HONE_CACHE_DIR:-$output/cache}
cores=0-$(($(nproc) < threads ? $(nproc) - 1 : threads - 1))

part() {
  local name
  for name in "${parts[@]}"; do [ "$name" = "$1" ] && return 0; done
  return 1
}

# step NAME COMMAND…: its output goes to NAME.txt. 4 is the exit code of a skipped step.
step() {
  local name=$1 code
  shift
  SECONDS=0
  "$@" >"$output/$name.txt" 2>&1
  code=$?
  printf '%s: exit %d after %d s\n' "$name" "$code" "$SECONDS"
  [ $code -eq 0 ] || [ $code -eq 4 ] || { failed=1; tail -n 5 "$output/$name.txt"; }
  grep -E '^SKIPPED' "$output/$name.txt"
  return $code
}

has() {
  [ -e "$install/$1" ] && return 0
  printf 'SKIPPED: %s, which %s needs, is not in %s\n' "$1" "$2" "$install"
  return 1
}

if part check; then
  has bin/detect_check "the check of detection" && step detect_check "$install/bin/detect_check" "$shapes" &&
    grep -v '^SKIPPED' "$output/detect_check.txt"
  has bin/kernels_check "the check of the kernels" && step frame_input "$install/bin/kernels_check" frame_input &&
    step box_search "$install/bin/kernels_check" box_search
fi

if part kernel && has bin/kernels_check "the time of the kernel"; then
  step frame_input_time "$install/bin/kernels_check" frame_input
  grep 'frame_input: 1080p' "$output/frame_input_time.txt"
fi

if part latency || part fps; then
  for size in "416 416" "960 540"; do
    "$python" "$here/yolov4_tiny.py" cfg $size >"$output/yolov4_tiny_${size// /x}.cfg" ||
      printf 'SKIPPED: %s wrote no cfg of %s\n' "$python" "$size"
  done
fi

if part latency; then
  for size in 416x416 960x540; do
    cfg=$output/yolov4_tiny_$size.cfg
    step "latency-$size" "$hone" bench "$cfg" --device cuda --backends hone --precisions fp16 --batches 1 \
      --duration "${DURATION:-1}" -o "$output/runs"
    grep -E '^(model|yolov4|Latency|GPU Compute|Result)' "$output/latency-$size.txt"
    step "eager-$size" "$python" "$here/yolov4_tiny.py" time "$cfg" --duration "${DURATION:-1}"
    grep -v '^SKIPPED' "$output/eager-$size.txt"
  done
fi

# fps NAME MODEL WEIGHTS THRESHOLD
fps() {
  local name=$1 model=$2 weights=$3 threshold=$4 where video arguments
  for where in auto cpu; do
    for video in results video; do
      arguments=(-o "$output/$name.jsonl")
      [ $video = video ] && arguments=(-o "$output/$name.mp4" --encoderThreads "$threads")
      [ -z "$weights" ] || arguments+=(--weights "$weights")
      # The first run tunes the engine, the second one takes it from the cache.
      for turn in first second; do
        step "fps-$name-$where-$video-$turn" taskset -c "$cores" "$hone" detect "$model" "$shapes/shapes.mp4" \
          --device cuda --precision fp16 --threshold "$threshold" --preprocess $where "${arguments[@]}" \
          --stats "$output/fps-$name-$where-$video.json" || break
      done
      grep -E '^(inference|frames were|bounded)|(to|on) (device|host) ' "$output/fps-$name-$where-$video-second.txt"
    done
  done
  step "serial-$name" taskset -c "$cores" "$install/bin/serial_loop" "$model" "$weights" "$shapes/shapes.mp4" \
    "$output/serial.mp4" cuda fp16 "$threads" "$threads" "$threshold"
  sed 's/^/serial loop: /' "$output/serial-$name.txt"
}

if part fps && has lib/libhone-video.so "a video" && has bin/serial_loop "the serial loop"; then
  fps shapes "$shapes/shapes.cfg" "$shapes/shapes.weights" 0.25
  # Weights from a seed find boxes everywhere, so that no score counts.
  fps yolov4_tiny_960x540 "$output/yolov4_tiny_960x540.cfg" "" 1
fi

if part streams && has lib/libhone-video.so "a video" &&
  step streams-build "$hone" build "$shapes/shapes.cfg" --weights "$shapes/shapes.weights" --device cuda --precision fp16 \
    -o "$output/shapes.hone"; then
  for accelerator in none auto; do
    for streams in 1 2 4; do
      name=streams-$accelerator-$streams
      step "$name" taskset -c "$cores" "$hone" detect "$output/shapes.hone" "$shapes/shapes.mp4" \
        --device cuda --hwaccel $accelerator --infStreams $streams -o "$output/$name.jsonl" || continue
      grep -E '^(inference|frames were|bounded)|(to|on) (device|host) ' "$output/$name.txt"
      cmp "$output/streams-none-1.jsonl" "$output/$name.jsonl" || failed=1
    done
  done
fi
exit $failed
