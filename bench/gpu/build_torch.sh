#!/usr/bin/env bash
# Compiles libhone-torch.so against the libtorch of another machine, which has a compiler but no hone build.
#
#   bench/gpu/build_torch.sh --pack ARCHIVE.tgz             here: the sources it takes, with fmt's headers
#   build_torch.sh INSTALL SOURCE TORCH_PREFIX              there: writes INSTALL/lib/libhone-torch.so
#
# INSTALL is an installed tree (bin/hone, lib/libhone.so.0), SOURCE the unpacked archive or a source tree,
# TORCH_PREFIX a folder with libtorch's include/ and lib/ (a Python wheel's site-packages/torch, or /usr). CUDA is used
# when that libtorch has it; its headers are looked for in CUDA_HOME, /usr/local/cuda, next to nvcc, and in the wheel's
# neighbour nvidia/. CXX is the compiler (g++).
set -euo pipefail

fail() {
  printf 'build_torch.sh: %s\n' "$1" >&2
  exit 4
}

if [ "${1:-}" = --pack ]; then
  archive=$(realpath -m "${2:?the archive to write}")
  root=$(cd "$(dirname "$0")/../.." && pwd)
  fmt=$(dirname "$(dirname "$(find /usr/include /usr/local/include -path '*/fmt/format.h' -print -quit)")")
  [ -n "$fmt" ] || fail "fmt's headers are missing (apt install libfmt-dev)"
  cd "$root"
  { find src/{base,tensor,graph,import,reference,backend} include -name '*.hpp'
    find src/backend/torch/plugin -name '*.cpp'
    echo bench/gpu/build_torch.sh; } | sort -u >"$archive.list"
  tar -czf "$archive" -T "$archive.list" -C "$fmt" --transform 's,^fmt/,include/fmt/,' fmt
  rm "$archive.list"
  exit 0
fi

[ $# -eq 3 ] || fail "usage: build_torch.sh INSTALL SOURCE TORCH_PREFIX"
install=$(realpath "$1") source=$(realpath "$2") prefix=$(realpath "$3")
[ -e "$install/lib/libhone.so.0" ] || fail "$install/lib has no libhone.so.0"
include=$prefix/include
[ -e "$include/torch/csrc/jit/api/module.h" ] || fail "$include has no headers of libtorch"
for libraries in "$prefix/lib" "$prefix/lib/$(uname -m)-linux-gnu" ""; do
  [ -e "$libraries/libtorch_cpu.so" ] && break
done
[ -n "$libraries" ] || fail "$prefix/lib has no libtorch_cpu.so"

compiler=${CXX:-g++}
flags=(-std=c++20 -O2 -DNDEBUG -fPIC -w -DAT_PER_OPERATOR_HEADERS "-I$source/src" "-I$source/include" "-I$include"
  "-I$include/torch/csrc/api/include")
links=("$libraries/libtorch_cpu.so" "$libraries/libc10.so")
skipped='*/plugin/cuda/*'
if [ -e "$libraries/libtorch_cuda.so" ]; then
  for cuda in "${CUDA_HOME:-}/include" /usr/local/cuda/include "$(dirname "$(command -v nvcc || echo /none/nvcc)")/../include" \
    "$prefix"/../nvidia/cu*/include "$prefix/../nvidia/cuda_runtime/include" ""; do
    [ -e "$cuda/cuda_runtime_api.h" ] && break
  done
  [ -n "$cuda" ] || fail "cuda_runtime_api.h not found; set CUDA_HOME"
  flags+=("-I$cuda")
  links+=("$libraries/libtorch_cuda.so" "$libraries/libc10_cuda.so")
  skipped='*/without_cuda.cpp'
fi

objects=$(mktemp -d)
trap 'rm -rf "$objects"' EXIT
cd "$source"
compile() {
  local object
  object=$objects/$(echo "${1%.cpp}.o" | tr / _)
  # 255: xargs starts no others.
  "$compiler" "${flags[@]}" -c "$1" -o "$object" || exit 255
}
export -f compile
export compiler objects
# Arrays cannot be exported.
declare -p flags >"$objects/flags"
find src/backend/torch/plugin -name '*.cpp' ! -path "$skipped" -print0 |
  xargs -0 -P "$(nproc)" -I {} bash -ec '. "$objects/flags"; compile "$1"' _ {}
# The CUDA runtime is not linked: the one that libtorch loads is the one to call.
"$compiler" -shared -o "$install/lib/libhone-torch.so" "$objects"/*.o "$install/lib/libhone.so.0" "${links[@]}" \
  "-Wl,--disable-new-dtags,--no-as-needed,--allow-shlib-undefined,-rpath,\$ORIGIN:$libraries"
"$install/bin/hone" backends
