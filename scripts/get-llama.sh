#!/usr/bin/env bash
# scripts/get-llama.sh [PREFIX]
#
# Builds the llama.cpp library (shared, CPU, without OpenMP) and installs it with its headers under
# PREFIX, by default ${XDG_CACHE_HOME:-~/.cache}/headway/llama-<version>. The source is the one that
# the PyPI source package llama-cpp-python carries, so nothing but pip is needed to fetch it.
# A second run sees the stamp and ends at once. Progress goes to standard error; the last line on
# standard output is PREFIX.
#
#   GGML_NATIVE=OFF   a library that runs on other x86-64 or ARM machines than this one
#   JOBS=N            compile jobs at once (default: one per core)
#   PYTHON=python3    the Python whose pip fetches the source
set -euo pipefail

version=0.3.36 # of llama-cpp-python; src/llama/library.cc was written against its llama.h
native=${GGML_NATIVE:-ON}
jobs=${JOBS:-$(nproc)}
python=${PYTHON:-python3}
prefix=$(realpath -m "${1:-${XDG_CACHE_HOME:-$HOME/.cache}/headway/llama-$version}")
stamp=$prefix/.headway-stamp
want="llama-cpp-python $version native=$native openmp=OFF"

say() { printf 'get-llama: %s\n' "$*" >&2; }
die() { say "$*"; exit 3; }
installed() { [[ $(cat "$stamp" 2>/dev/null) == "$want" && -e $prefix/lib/libllama.so ]]; }
done_already() { say "llama.cpp is there already: $prefix"; echo "$prefix"; exit 0; }

if installed; then done_already; fi
for tool in cmake c++ tar flock "$python"; do
  command -v "$tool" >/dev/null ||
    die "$tool is missing; on Debian: apt-get install -y cmake g++ ninja-build python3-pip"
done
"$python" -m pip --version >/dev/null 2>&1 ||
  die "pip is missing; on Debian: apt-get install -y python3-pip"

mkdir -p "$prefix"
exec 9>"$prefix/.lock"
flock -n 9 || { say "another run is building it; waiting for that one"; flock 9; }
if installed; then done_already; fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
log=$work/log
# step WHAT COMMAND...: runs it quietly, says how long it took, shows the log's end when it fails
step() {
  local what=$1 began=$SECONDS
  shift
  say "$what ..."
  "$@" >"$log" 2>&1 || { tail -n 30 "$log" >&2; die "$what failed"; }
  say "$what took $((SECONDS - began)) s"
}

began=$SECONDS
say "building llama.cpp into $prefix (about 4 CPU minutes; native=$native, $jobs jobs)"
# --no-deps: its Python dependencies are of no use here. pip prepares the metadata of a source
# package, which is most of this step's minute.
step "fetching the source (77 MB)" "$python" -m pip download --disable-pip-version-check --no-deps \
  --no-binary llama-cpp-python --dest "$work" "llama-cpp-python==$version"
step "unpacking" tar -xzf "$work"/llama_cpp_python-"$version".tar.gz -C "$work"
source_dir=$work/llama_cpp_python-$version/vendor/llama.cpp
rm -f "$source_dir/.git" # a dangling link that would make git write errors into the build's version

generator=()
if command -v ninja >/dev/null; then generator=(-G Ninja); fi
# $ORIGIN: libllama.so must find libggml*.so beside itself, for RUNPATH is not handed on.
# No OpenMP: its workers spin at every barrier, also while their peer is not scheduled, and libgomp
# reads its settings before main.
step "configuring" cmake "${generator[@]}" -S "$source_dir" -B "$work/build" \
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib \
  -DBUILD_SHARED_LIBS=ON '-DCMAKE_INSTALL_RPATH=$ORIGIN' \
  -DGGML_NATIVE="$native" -DGGML_OPENMP=OFF -DGGML_CCACHE=OFF \
  -DLLAMA_BUILD_COMMON=OFF -DLLAMA_BUILD_TOOLS=OFF -DLLAMA_BUILD_APP=OFF \
  -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_SERVER=OFF
step "compiling" cmake --build "$work/build" -j "$jobs"
rm -f "$stamp"
step "installing" cmake --install "$work/build"
printf '%s\n' "$want" >"$stamp"
say "done in $((SECONDS - began)) s"
echo "$prefix"
