# Sourced by ./hone and ./check: installs Debian packages, configures and builds.
# Everything said here goes to stderr, so that the program's own output stays clean.
# Expects $root (the checkout); provides $build, cuda_cache, cuda_files, ensure_packages, ensure_plugin_packages, configure,
# lacks_cuda, wants_cuda, make_cuda_toolkit, offer_cuda_toolkit, build_targets, say_what_is_left_out, with_lock.

build=$root/build/release
log=$root/build/bootstrap.log

say() { printf '%s\n' "$*" >&2; }

# Reads "[12/340] ..." lines (ninja) and "dlstatus:1:22.3:..." lines (apt) and shows how far it is:
# one line redrawn on a terminal, a line per tenth elsewhere.
show_progress() {
  local label=$1 line percent shown=-1 detail
  while IFS= read -r line; do
    if [[ $line == *"Re-checking globbed directories"* ]]; then
      continue
    elif [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]]; then
      percent=$((100 * BASH_REMATCH[1] / BASH_REMATCH[2]))
      detail="${BASH_REMATCH[1]}/${BASH_REMATCH[2]}, "
    elif [[ $line =~ ^(dl|pm)status:[^:]*:([0-9]+) ]]; then
      percent=${BASH_REMATCH[2]}
      detail=$([[ ${BASH_REMATCH[1]} == dl ]] && echo "download, " || echo "unpacking, ")
    else
      continue
    fi
    if [[ -t 2 ]]; then
      printf '\r\033[K%s: %s%d %%' "$label" "$detail" "$percent" >&2
    elif ((percent / 10 != shown)); then
      shown=$((percent / 10))
      printf '%s: %s%d %%\n' "$label" "$detail" "$percent" >&2
    fi
  done
  if [[ -t 2 ]]; then printf '\r\033[K' >&2; fi
}

# Prints the packages of the named groups that are not installed.
missing_packages() {
  local group package wanted=() installed
  while read -r group package _; do
    [[ -n $group && $group != \#* && " $* " == *" $group "* ]] || continue
    if [[ $package == *\?* ]]; then
      command -v "${package#*\?}" >/dev/null && continue
      package=${package%%\?*}
    fi
    wanted+=("$package")
  done <"$root/packages.txt"
  installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${wanted[@]}" 2>/dev/null || true)
  for package in "${wanted[@]}"; do
    grep -qxF "installed $package" <<<"$installed" || printf '%s\n' "$package"
  done
}

# Runs apt-get as root with its progress on stdout and everything else in the log.
apt_get() {
  "${as_root[@]}" sh -c 'log=$1; shift
    exec env DEBIAN_FRONTEND=noninteractive apt-get -y -q -o APT::Status-Fd=3 -o Dpkg::Use-Pty=0 \
      -o DPkg::Lock::Timeout=300 "$@" 3>&1 >>"$log" 2>&1 </dev/null' sh "$log" "$@"
}

install_packages() {
  local label="installing $# Debian package$( (($# > 1)) && echo s)"
  say "$label (log: $log)"
  if compgen -G '/var/lib/apt/lists/*_Packages*' >/dev/null &&
    apt_get install --no-install-recommends "$@" | show_progress "$label"; then
    return
  fi
  apt_get update | show_progress "reading package lists" || true
  apt_get install --no-install-recommends "$@" | show_progress "$label" && return
  tail -n 15 "$log" >&2
  say "The packages could not be installed; the last lines of $log are above. Install them with"
  say "    apt-get install $*"
  exit 4
}

# Installs what the groups need. If that is impossible, it says what to install and exits with 4; HONE_NO_INSTALL=1
# trusts that everything is there under other names.
ensure_packages() {
  [[ -z ${HONE_NO_INSTALL:-} ]] || return 0
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    not_debian "$@"
    return
  fi
  local missing
  mapfile -t missing < <(missing_packages "$@")
  ((${#missing[@]})) || return 0
  if ((EUID == 0)); then
    as_root=()
  elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    as_root=(sudo -n)
  else
    say "These Debian packages are missing, and installing them takes root. Run this once, then try again:"
    say "    sudo apt-get install --no-install-recommends ${missing[*]}"
    exit 4
  fi
  install_packages "${missing[@]}"
}

# Installs what plugins need. Where that is impossible it says in one line what is missing, and the build goes on.
ensure_plugin_packages() {
  [[ -z ${HONE_NO_INSTALL:-} ]] && command -v dpkg-query >/dev/null && command -v apt-get >/dev/null || return 0
  local missing
  mapfile -t missing < <(missing_packages plugin)
  ((${#missing[@]})) || return 0
  if (ensure_packages plugin) 2>/dev/null; then return; fi
  say "Going on without plugins that need these packages: ${missing[*]} (sudo apt-get install them, then run this again)"
}

# Without apt nothing can be installed; the build goes on when the tools it starts with are there.
not_debian() {
  command -v cmake >/dev/null && command -v ninja >/dev/null && return
  say "This system has no apt, so nothing can be installed for you. hone needs what these Debian packages hold:"
  needed_packages "$@" >&2
  say "Install them, then run again with HONE_NO_INSTALL=1."
  exit 4
}

needed_packages() {
  local group package why
  while read -r group package why; do
    [[ -n $group && $group != \#* && " $* " == *" $group "* ]] || continue
    printf '    %-26s %s\n' "${package%%\?*}" "$why"
  done <"$root/packages.txt"
}

# Runs a function while holding the build's lock, so that two commands never build at once.
with_lock() {
  if ! mkdir -p "$root/build" 2>/dev/null || [[ ! -w $root/build ]]; then
    say "The build needs to write into $root/build, and may not."
    exit 4
  fi
  exec 9>"$root/build/.lock"
  if ! flock -n 9; then
    say "waiting for another build of this checkout"
    flock 9
  fi
  "$@"
  exec 9>&-
}

cache_has() { grep -qxF -- "$1" "$build/CMakeCache.txt" 2>/dev/null; }

# The folder in which tools/cuda_toolkit.py puts CUDA's compiler and libraries.
cuda_cache() {
  local group
  group=$(sed -n 's/^\[\(cuda-.*\)\]$/\1/p' "$root/python-packages.txt")
  echo "${XDG_CACHE_HOME:-${HOME:-/}/.cache}/hone/$group"
}

# True if the build was configured without CUDA because the toolkit or cuDNN was not found.
lacks_cuda() { grep -qE '^(HONE_NVCC|CUDNN_LIBRARY|CUDNN_INCLUDE_DIR):[A-Z]+=.*NOTFOUND$' "$build/CMakeCache.txt" 2>/dev/null; }

# Files of CUDA and cuDNN that the system has, and that may have come after the last build.
cuda_files() {
  local file
  for file in "$(command -v nvcc)" /usr/local/cuda/bin/nvcc /usr/include/cudnn.h /usr/include/*/cudnn.h \
    /usr/local/cuda/include/cudnn.h; do
    if [[ -n $file && -e $file ]]; then echo "$file"; fi
  done
}

# True if something that CMake did not find may be there now: packages, or CUDA, that came after it looked.
something_came() {
  local cache=$build/CMakeCache.txt
  [[ -f $cache ]] || return
  if lacks_cuda && [[ -d $(cuda_cache) ]]; then return; fi
  local files
  mapfile -t files < <(cuda_files)
  if [[ -e /var/lib/dpkg/status ]]; then files+=(/var/lib/dpkg/status); fi
  ((${#files[@]})) || return
  [[ -n $(find "${files[@]}" -cnewer "$cache" -print -quit 2>/dev/null) ]]
}

# Prints what the last configuration left out, and why, a line each.
say_what_is_left_out() {
  local line
  while IFS= read -r line; do
    say "left out: ${line#-- }"
  done < <(sed -n '/left out/p' "$root/build/configure.log" 2>/dev/null)
  if cache_has HONE_CUDA:BOOL=OFF; then
    say "left out: the device cuda, as no NVIDIA driver is here; it is built when there is one, or a command names --device cuda"
  fi
}

has_nvidia_driver() { [[ -e /proc/driver/nvidia/version ]] || command -v nvidia-smi >/dev/null; }

# wants_cuda ARGS: whether the GPU half, which takes minutes to compile, can be of use: an NVIDIA driver is here, or the
# command names the device.
wants_cuda() {
  local word
  if has_nvidia_driver; then return; fi
  for word; do
    if [[ $word =~ ^(--device=)?cuda(:[0-9]+)?$ ]]; then return; fi
  done
  return 1
}

# Fetches CUDA's compiler and libraries into the user's cache, unless they are there.
make_cuda_toolkit() {
  local python=/usr/bin/python3
  [[ -x $python ]] || python=python3
  "$python" "$root/tools/cuda_toolkit.py" >/dev/null
}

# Where an NVIDIA driver is there and the build found no toolkit: asks whether to fetch one, and configures again with it.
# Nobody can answer where standard input is no terminal; then it only says how.
offer_cuda_toolkit() {
  lacks_cuda && has_nvidia_driver || return 0
  local answer=
  say "An NVIDIA driver is here, but no CUDA 13 toolkit with cuDNN 9: hone is being built without its GPU half."
  if [[ -t 0 && -t 2 ]]; then
    read -r -p "Fetch NVIDIA's packages into $(cuda_cache) now (1.1 GB, no root)? [y/N] " answer
  fi
  if [[ $answer != [yY]* ]]; then
    say "To fetch them later, without root: tools/cuda_toolkit.py, then $0 again."
    return 0
  fi
  make_cuda_toolkit && configure "$1" ON
}

# configure TESTS CUDA, each ON or OFF: with or without the tests and the GPU half; does nothing when that is how the
# build stands. A build with more than that is kept.
configure() {
  local tests=$1 cuda=$2 came=
  if cache_has HONE_CUDA:BOOL=ON; then cuda=ON; fi
  if something_came; then came=1; fi
  if [[ -f $build/CMakeCache.txt ]] && ! cache_has "CMAKE_HOME_DIRECTORY:INTERNAL=$root"; then
    rm -rf "$build"  # the checkout was moved or copied
  fi
  if [[ -z $came && -f $build/build.ninja ]] && ! { [[ $cuda == ON ]] && cache_has HONE_CUDA:BOOL=OFF; } && { [[ $tests == OFF ]] || cache_has BUILD_TESTING:BOOL=ON; }; then
    return
  fi
  say "configuring"
  if (cd "$root" && cmake --preset release "-DBUILD_TESTING=$tests" "-DHONE_CUDA=$cuda") >"$root/build/configure.log" 2>&1 </dev/null; then
    touch "$build/CMakeCache.txt"  # CMake leaves it as old as it was where nothing changed
    return
  fi
  cat "$root/build/configure.log" >>"$log"
  grep -A 12 'CMake Error' "$log" | tail -n 30 >&2
  say "The build could not be configured (log: $log). hone needs what these Debian packages hold:"
  needed_packages run >&2
  exit 4
}

# As many compilers as there are cores, and 1.5 GB of memory for each.
job_count() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/^MemAvailable/ {print int($2 / 1500000)}' /proc/meminfo)
  echo $((memory < 1 ? 1 : memory < cores ? memory : cores))
}

# build_targets TARGET...: shows progress only when there is something to do.
build_targets() {
  local output=$root/build/ninja.log
  NINJA_STATUS='[%f/%t] ' ninja -C "$build" -j "$(job_count)" "$@" 2>&1 </dev/null |
    tee "$output" | show_progress building && return
  sed -n '/^FAILED/,$p' "$output" | head -n 80 >&2
  say "The build failed (log: $output)."
  exit 1
}
