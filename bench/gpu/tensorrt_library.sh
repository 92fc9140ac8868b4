# Sourced by the scripts that run TensorRT: makes hone find it, or ends with exit code 4.
#
#   find_tensorrt INSTALL OUTPUT
#
# TENSORRT names a folder with libnvinfer.so.N and libnvonnxparser.so.N; otherwise what hone finds is taken, or else 8.6.1,
# which Maven fetches (825 MB, once, into ~/.cache/hone/tensorrt-8.6.1). Where 8.6 finds no cuBLAS 12 and cuDNN 8, empty
# libraries stand in, and TACTICS is edge,jit unless it is set. OUTPUT/tensorrt.txt says what was found.

say() { printf '%s\n' "$*" >&2; }

fetch_tensorrt() {
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

# An empty library under this name, where the loader finds none: what needs it is not called.
stand_in() {
  python3 -c "import ctypes, sys; ctypes.CDLL(sys.argv[1])" "$1" 2>/dev/null && return 1
  # One that another run may be loading stays as it is.
  [ -e "$2/$1" ] && return 0
  mkdir -p "$2"
  echo | cc -shared -fPIC -x c - -Wl,-soname,"$1" -o "$2/$1"
}

find_tensorrt() {
  local install=$1 output=$2 cached library
  found() { "$install/bin/hone" backends --device cuda | grep '^tensorrt '; }
  if [ -n "${TENSORRT:-}" ]; then
    export HONE_TENSORRT=$TENSORRT
  elif found | grep -q 'no TensorRT was found'; then
    cached=${XDG_CACHE_HOME:-$HOME/.cache}/hone/tensorrt-8.6.1
    [ -d "$cached" ] || fetch_tensorrt "$cached" || exit 4
    export HONE_TENSORRT=$cached
  fi
  if [ -e "${HONE_TENSORRT:-}/libnvinfer.so.8" ]; then
    export LD_LIBRARY_PATH=$HONE_TENSORRT${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    for library in libcublasLt.so.12 libcublas.so.12 libcudnn.so.8; do
      stand_in $library "$output/empty" && TACTICS=${TACTICS:-edge,jit}
    done
    LD_LIBRARY_PATH=$LD_LIBRARY_PATH:$output/empty
  fi
  found | tee "$output/tensorrt.txt"
  grep -q 'not available' "$output/tensorrt.txt" && exit 4
  return 0
}
