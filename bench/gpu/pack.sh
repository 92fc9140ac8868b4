#!/usr/bin/env bash
# Packs what bench/gpu/visit.sh needs for a machine with a GPU that lacks our libraries: programs, plugins, scripts,
# and in deb/ the shared libraries of this system that they need.
#
#   bench/gpu/pack.sh BUILD ARCHIVE.tgz
#   there: tar -xzf ARCHIVE.tgz; LD_LIBRARY_PATH=$PWD/tree/deb:… tree/bench/gpu/visit.sh tree OUTPUT PART…
#
# BUILD is a build folder (build/release) whose targets hone, hone_cuda, hone_inject, hone_threads, kernels_check,
# implicit_gemm_check, fault_check, memory_check, binding_check, two_gpus_check, fault_preload, tactics_check and known_path are up to date. CUDA's own libraries and
# cuDNN are left out. VIDEO=1 adds what bench/gpu/detect.sh needs, FFmpeg's libraries among it (150 MB): targets hone_video, detect_check and
# serial_loop.
set -euo pipefail
build=$(realpath "${1:?the build folder}") archive=$(realpath -m "${2:?the archive to write}")
root=$(cd "$(dirname "$0")/../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
tree=$folder/tree
mkdir -p "$tree"/{bin,lib,deb,bench,share/hone}
cp "$build"/bin/{hone,kernels_check,implicit_gemm_check,fault_check,memory_check,binding_check,two_gpus_check,tactics_check,known_path} "$tree/bin/"
cp -P "$build"/lib/libhone.so* "$tree/lib/"
cp "$build"/lib/lib{hone-cuda,hone-inject,hone-threads,fault_preload}.so "$build"/lib/libhone-*.json "$tree/lib/"
# The headers of TensorRT may have been found: pack its plugins, too.
for plugin in "$build"/lib/libhone-tensorrt*.so; do [ ! -e "$plugin" ] || cp "$plugin" "$tree/lib/"; done
cp -r "$root/bench/gpu" "$tree/bench/"
# partition.sh tries these models first.
mkdir -p "$tree/models"
cp -r "$root/models/digits" "$tree/models/"
# An installed hone looks for them there.
cp -r "$root/bench/peers" "$tree/share/hone/"
programs=("$build/bin/hone" "$build/lib/libhone-cuda.so")
if [ -n "${VIDEO:-}" ]; then
  cp "$build"/bin/{detect_check,serial_loop} "$tree/bin/"
  cp "$build/lib/libhone-video.so" "$tree/lib/"
  cp -r "$root/models/shapes" "$tree/models/"
  programs+=("$build/lib/libhone-video.so")
fi
strip "$tree"/bin/* && strip --strip-unneeded "$tree"/lib/*.so.*.* "$tree"/lib/libhone-*.so
# The C and C++ libraries are those of the machine there.
ldd "${programs[@]}" | awk '$3 ~ "^/(usr/)?lib/" {print $3}' | sort -u |
  grep -vE '/(libc|libm|libstdc\+\+|libgcc_s|libpthread|libdl|librt|libcudnn[^/]*|libcublas[^/]*|libnvrtc[^/]*)\.so' |
  xargs -r cp -Lt "$tree/deb/"
tar -C "$folder" -czf "$archive" tree
printf '%s: %d MB\n' "$archive" "$(($(stat -c %s "$archive") / 1000000))"
