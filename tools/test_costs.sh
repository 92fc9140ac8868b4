# Sourced by ./check: keeps the times of tests in the user's cache. ctest begins with those that took longest before, so that
# none of them runs by itself at the end; without this a new checkout has no times. Expects $build.

costs=$build/Testing/Temporary/CTestCostData.txt
kept_costs=${XDG_CACHE_HOME:-${HOME:-/}/.cache}/hone/test_costs.txt

recall_costs() {
  [[ ! -e $costs && -f $kept_costs ]] || return 0
  mkdir -p "${costs%/*}" && cp "$kept_costs" "$costs" || true
}

keep_costs() {
  [[ -f $costs ]] || return 0
  { mkdir -p "${kept_costs%/*}" && cp "$costs" "$kept_costs"; } 2>/dev/null || true
}
