# Steps that say what they do and how long it takes, and a count of tests. To be sourced by
# scripts/up, scripts/test and .ci/run; everything here speaks on standard error.

steps_name=${0##*/}
passed=0
failed=0

say() { printf '%s: %s\n' "$steps_name" "$*" >&2; }

# seconds_since MICROSECONDS: the time gone by, with one decimal.
seconds_since() {
  local tenths=$(((${EPOCHREALTIME/[.,]/} - $1) / 100000))
  printf '%d.%d' $((tenths / 10)) $((tenths % 10))
}

# on_terminal COMMAND...: for commands that talk much. Where standard error is no terminal their
# output is shown only if they fail, and then the end of it.
on_terminal() {
  if [[ -t 2 ]]; then
    "$@" >&2
    return
  fi
  local log code=0
  log=$(mktemp)
  "$@" >"$log" 2>&1 || code=$?
  if ((code != 0)); then tail -n 60 "$log" >&2; fi
  rm -f "$log"
  return "$code"
}

# step WHAT COMMAND...: runs the command with its output on standard error, says how long it took.
step() {
  local what=$1 began=${EPOCHREALTIME/[.,]/} code=0
  shift
  say "$what ..."
  "$@" >&2 </dev/null || code=$?
  if ((code != 0)); then
    say "$what: failed with exit code $code after $(seconds_since "$began") s"
    return "$code"
  fi
  say "$what: $(seconds_since "$began") s"
}

# build PRESET TARGET...: configures once, and again when llama.cpp has come since; builds.
build() {
  local preset=$1 ninja=build/$1/build.ninja stamp stale=no
  shift
  for stamp in "${XDG_CACHE_HOME:-$HOME/.cache}"/headway/llama-*/.headway-stamp; do
    if [[ $stamp -nt $ninja ]]; then stale=yes; fi
  done
  if [[ ! -f $ninja || $stale == yes ]]; then cmake --preset "$preset" || return; fi
  cmake --build --preset "$preset" --target "$@"
}

# tested MODULE...: those of the modules that have tests, one a line; says which have none.
tested() {
  local module
  for module in "$@"; do
    if compgen -G "src/$module/*_test.cc" >/dev/null; then
      echo "$module"
    else
      say "the module $module has no tests, NOT run"
    fi
  done
}

# tests WHAT COMMAND...: runs a suite with its output on standard error and adds to `passed` and
# `failed` what the last line `N passed, N failed` says; a suite without that line is one test.
tests() {
  local what=$1 began=${EPOCHREALTIME/[.,]/} code=0 log last
  shift
  say "$what ..."
  log=$(mktemp)
  "$@" </dev/null > >(tee "$log" >&2) 2>&1 || code=$?
  wait $! # for tee, which may still be writing
  last=$(grep -oE '^[0-9]+ passed, [0-9]+ failed$' "$log" | tail -n 1 || true)
  rm -f "$log"
  if [[ $last =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
    passed=$((passed + BASH_REMATCH[1]))
    failed=$((failed + BASH_REMATCH[2]))
    if ((code != 0 && BASH_REMATCH[2] == 0)); then failed=$((failed + 1)); fi
  elif ((code == 0)); then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
  fi
  if ((code == 0)); then
    say "$what: ${last:-passed}, $(seconds_since "$began") s"
  else
    say "$what: ${last:-failed}, exit code $code, $(seconds_since "$began") s"
  fi
}

# finish: the closing line, and an exit code that agrees with it.
finish() {
  printf '%d passed, %d failed\n' "$passed" "$failed"
  exit $((failed > 0))
}
