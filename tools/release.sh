# Sourced by ./hone: makes a release, a tree that can be moved and copied, as an archive with its checksum.
# Expects $root, $build and $program of a good build.

# The program and the plugins that need little; libtorch, CUDA and videos are installed by component.
release_components=(core image view plot inject threads dev)

# make_release [FOLDER]: writes hone-VERSION-linux-MACHINE.tar.gz and .sha256 there (default: build).
make_release() {
  if (($# > 1)) || [[ ${1:-} == -* ]]; then
    say "usage: ./hone release [FOLDER]"
    return 2
  fi
  local folder=${1:-$root/build} name work component
  name=hone-$("$program" --version)-linux-$(uname -m)
  if ! mkdir -p "$folder" 2>/dev/null || [[ ! -w $folder ]]; then
    say "$folder cannot be written; name another folder: ./hone release FOLDER"
    return 4
  fi
  work=$(mktemp -d "$folder/.release.XXXXXX")
  trap 'rm -rf "$work"' RETURN
  for component in "${release_components[@]}"; do
    if ! cmake --install "$build" --prefix "$work/$name" --component "$component" >>"$log" 2>&1; then
      tail -n 5 "$log" >&2
      say "The component $component could not be installed (log: $log)."
      return 4
    fi
  done
  mkdir -p "$work/$name/share/man/man1" "$work/$name/share/bash-completion/completions"
  "$work/$name/bin/hone" help man >"$work/$name/share/man/man1/hone.1" || return
  "$work/$name/bin/hone" completion bash >"$work/$name/share/bash-completion/completions/hone" || return
  cp "$root/LICENSE" "$root/CHANGELOG.md" "$work/$name"
  # Names in order, nobody's numbers: one build gives one archive.
  tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner -czf "$work/$name.tar.gz" "$name"
  (cd "$work" && sha256sum "$name.tar.gz" >"$name.tar.gz.sha256")
  mv "$work/$name.tar.gz" "$work/$name.tar.gz.sha256" "$folder"
  say "$(du -h "$folder/$name.tar.gz" | cut -f 1) $folder/$name.tar.gz, with its checksum in $name.tar.gz.sha256"
}
