#!/usr/bin/env bash
# The one set-up script: installs what is missing (Debian packages), builds, runs.
#   ./latecomer.sh demo             the main job, on a bundled program and on LAMMPS
#   ./latecomer.sh build            build/release, runnable in place
#   ./latecomer.sh test [--nightly] all tests; ends with "N passed, N failed"
#   ./latecomer.sh test --apps      real applications (installs 3 GB of them): docs/applications.md
#   ./latecomer.sh nightly PART [--minutes M] [--seed S]
#                                   a slice of the long tests, 60 minutes at most; parts: tests/nightly/nightly.py --list
#   ./latecomer.sh measure [PART] [--quick]   what the tool costs and how exact it is, on a quiet machine (--quick: 10 minutes); --list
#   ./latecomer.sh lint             clang-format, cppcheck, clang-tidy
#   ./latecomer.sh install PREFIX
set -euo pipefail
cd "$(dirname "$0")"

build_packages="cmake pkg-config gcc g++ gfortran make python3 python3-otf2 python3-six xz-utils
  libopenmpi-dev openmpi-bin libmpich-dev mpich libotf2-trace-dev otf2-tools libunwind-dev libdw-dev
  libjansson-dev libzstd-dev libsmartcols-dev libcmocka-dev libexpat1-dev zlib1g-dev"
demo_packages="lammps"
test_packages="ninja-build lammps locales fasttree iqtree xtb hpcc mocassin scalapack-mpi-test netpipe-mpich2 python3-mpi4py python3-numpy libgsl-dev numactl
  util-linux iproute2 slurm-wlm munge bash-completion man-db elfutils eztrace binutils procps patchelf clang libomp-dev zstd chromium chromium-headless-shell"
app_packages="abinit abinit-data cp2k freefem++ gpaw gromacs nwchem-mpich nwchem-openmpi openfoam python3-dolfinx python3-matplotlib python3-meep-openmpi quantum-espresso"
reader_packages="python3-pandas r-base-core"
lint_packages="clang-format clang-tidy cppcheck"

say() { printf 'latecomer.sh: %s\n' "$*" >&2; }

missing_of() {
  local package missing=
  for package in "$@"; do
    dpkg-query -W -f='${Status}\n' "$package" 2>/dev/null | grep -q '^install ok installed' || missing+=" $package"
  done
  printf '%s' "$missing"
}

# need WHAT PACKAGE..: installs what is missing; as a normal user prints the one command that does it.
need() {
  local what=$1 missing
  shift
  command -v dpkg-query >/dev/null || { say "no dpkg here: install the equivalents of: $*"; return 0; }
  missing=$(missing_of "$@")
  [ -z "$missing" ] && return 0
  if [ "$(id -u)" -ne 0 ]; then
    say "$what needs Debian packages that are missing; run: sudo apt-get install -y --no-install-recommends$missing"
    return 1
  fi
  say "installing for $what:$missing"
  export DEBIAN_FRONTEND=noninteractive
  three_times apt-get update -qq >/dev/null || say "apt-get update failed; trying with what is known"
  # shellcheck disable=SC2086
  three_times apt-get install -y -qq --no-install-recommends $missing >/dev/null
}

# The network, and locks of other package managers.
three_times() {
  "$@" && return 0
  sleep 10
  "$@" && return 0
  sleep 30
  "$@"
}

# A second OpenMP runtime for the tests, unpacked and not installed: Debian's packages of two versions exclude each other.
newer_openmp() {
  local folder=build/libomp-19
  [ -e $folder/usr/lib/llvm-19/lib/libomp.so.5 ] && return 0
  say "fetching LLVM's OpenMP runtime 19 into $folder"
  mkdir -p $folder
  (cd $folder && apt-get download -qq libomp5-19 2>download.log && dpkg -x libomp5-19_*.deb .) ||
    say "it cannot be had here ($folder/download.log): its tests are skipped"
}

jobs() { nproc 2>/dev/null || echo 2; }

# New builds are ninja's where it is installed: make starts CMake once for each object and several times for each target.
configure() { # PRESET [OPTION ..]
  local generator=()
  [ -f "build/$1/CMakeCache.txt" ] || ! command -v ninja >/dev/null || generator=(-G Ninja)
  cmake --preset "$1" "${generator[@]}" "${@:2}"
}

# What is built is in the log; here only warnings, and the end of the log if it fails.
build() { # PRESET [TARGET ..]
  local log=build/$1/build.log targets=("${@:2}")
  [ $# -gt 1 ] || targets=(all)
  mkdir -p "build/$1"
  say "building ${targets[*]} in build/$1 (log: $log)"
  if { [ -f "build/$1/CMakeCache.txt" ] || configure "$1"; } >"$log" 2>&1 &&
    cmake --build --preset "$1" --target "${targets[@]}" -j"$(jobs)" >>"$log" 2>&1; then
    grep -A3 -F 'warning:' "$log" >&2 || true
  else
    tail -n 60 "$log" >&2
    say "the build failed; all of it: $log"
    return 1
  fi
}

# The page of `latecomer report`, where its sources are newer than the copy that comes with them and Node is there.
build_page() {
  command -v npm >/dev/null || return 0
  [ -z "$(find web/src web/build.mjs web/package-lock.json -newer web/dist/page.html -print -quit)" ] && return 0
  say "building web/dist/page.html"
  (cd web && npm ci --ignore-scripts --no-audit --no-fund --silent && npm run --silent build >/dev/null) ||
    say "web/ cannot be built here: the copy in web/dist is used"
}

mpirun_openmpi() {
  local flags="--oversubscribe"
  [ "$(id -u)" -eq 0 ] && flags+=" --allow-run-as-root"
  # shellcheck disable=SC2086
  mpirun.openmpi $flags "$@"
}

# npm comes with Node of some makers, and from Debian only where there is none.
node_packages() {
  command -v npm >/dev/null || printf 'nodejs npm'
}

demo() {
  local wanted=$build_packages
  # who cannot install is told once
  # shellcheck disable=SC2086
  [ "$(id -u)" -ne 0 ] && [ -n "$(missing_of $build_packages)" ] && wanted+=" $demo_packages"
  # shellcheck disable=SC2086
  need "the demo" $wanted
  build release
  local latecomer=$PWD/build/release/bin/latecomer out=build/demo
  local pages=$out/imbalanced/report.html
  rm -rf "$out"
  mkdir -p "$out"
  say "1. a bundled imbalanced program on 4 ranks (Open MPI)"
  mpirun_openmpi -n 4 "$latecomer" run --trace -o "$out/imbalanced" -- build/release/bin/latecomer-demo-openmpi
  "$latecomer" -q analyze "$out/imbalanced"
  "$latecomer" show "$out/imbalanced"
  "$latecomer" -q report "$out/imbalanced"
  say "   what \`show\` predicts without each of the planted causes, and what comes out without it"
  /usr/bin/python3 tests/system/real/demo_gains.py "$latecomer" openmpi build/release/bin/latecomer-demo-openmpi "$out/cured" "$out/imbalanced"
  # shellcheck disable=SC2086
  if command -v lmp >/dev/null || need "the LAMMPS part of the demo" $demo_packages; then
    say "2. LAMMPS (melt) on 4 ranks, unchanged"
    mpirun_openmpi -n 4 "$latecomer" run -o "$out/lammps" -- lmp -in tests/system/real/melt.in -log none -screen none
    "$latecomer" show "$out/lammps"
    "$latecomer" -q report "$out/lammps"
    pages+=", $out/lammps/report.html"
  else
    say "2. LAMMPS cannot be installed here: skipped"
  fi
  say "results: $out/imbalanced, $out/lammps; next: build/release/bin/latecomer help"
  say "open in a browser: $pages"
}

# However the tests end before they have begun, the last lines say where.
at=start
begin=$SECONDS
tests_end() {
  local code=$?
  [ "$1" = EXIT ] && [ $code -eq 0 ] && return
  trap - EXIT
  echo "FAILED: ended by ${1/EXIT/an error} after $((SECONDS - begin)) s, at: $at"
  echo "0 passed, 1 failed"
  exit 1
}

# All tests of the builds given to tests/gate/gate.py, which repeats, keeps logs and sums up.
run_tests() {
  local node signal patience times limit=() nightly=()
  for signal in EXIT TERM INT HUP; do
    # shellcheck disable=SC2064
    trap "tests_end $signal" $signal
  done
  node=$(node_packages)
  at="installing packages"
  # shellcheck disable=SC2086
  need "the tests" $build_packages $test_packages $lint_packages $node
  newer_openmp
  times="install $((SECONDS - begin)) s"
  patience=$(/usr/bin/python3 tests/gate/gate.py --patience)
  export LC_PATIENCE=$patience
  unset DEBUGINFOD_URLS # tests do without the network
  case "${1:-}" in
    --apps)
      at="installing applications"
      # shellcheck disable=SC2086
      need "the applications" $app_packages
      build_for_tests release
      build_for_tests release apps-stopwatch
      trap - EXIT TERM INT HUP
      exec /usr/bin/python3 tests/gate/gate.py --nightly --times "$times" release:apps
      ;;
    --nightly) nightly=(--nightly) ;;
  esac
  local what=(release "asan:unit|fuzz|sanitizer:unit-tests sanitizer-tests" "tsan:sanitizer:sanitizer-tests")
  [ ${#nightly[@]} -eq 0 ] || what=(release "asan:unit|fuzz|sanitizer:all" tsan:sanitizer:all)
  build_for_tests release
  trap - EXIT TERM INT HUP
  [ ${#nightly[@]} -gt 0 ] || limit=(--limit "$((${LC_GATE_LIMIT_S:-5000} - SECONDS))")
  # Leaks are not looked for in MPI programs (label sanitizer): the MPI libraries have them.
  exec /usr/bin/python3 tests/gate/gate.py "${nightly[@]}" "${limit[@]}" --times "$times" "${what[@]}"
}

build_for_tests() { # PRESET [TARGET ..]
  local from=$SECONDS options=("-DLC_PATIENCE=${LC_PATIENCE:-3}") mpi="openmpi;mpich"
  at="building build/$1"
  mkdir -p "build/$1"
  # The library's sources are compiled once for each MPI, and are the same: by day one under each of both sanitizers (over messages MPICH does not start under that of threads).
  case "$1 ${*:2} " in
    asan*" sanitizer-tests "*) mpi=mpich ;;
    tsan*" sanitizer-tests "*) mpi=openmpi ;;
  esac
  [ "$1" = release ] || options+=("-DLC_MPI=$mpi")
  # threads are in the library alone
  [ "$1" != tsan ] || [ ! -x build/release/bin/latecomer ] || options+=("-DLC_COMMANDS_OF=$PWD/build/release")
  configure "$1" "${options[@]}" >"build/$1/configure.log" 2>&1 || { tail -n 40 "build/$1/configure.log" >&2; return 1; }
  build "$@"
  times+=", build $1 $((SECONDS - from)) s"
}

# One slice of a part of the long tests: tests/nightly/nightly.py has the parts, and what they need built.
nightly() { # PART [OPTION ..]
  local node preset targets
  [[ " $* " =~ \ (-h|--help|--list|--sums)\  ]] && exec /usr/bin/python3 tests/nightly/nightly.py "$@"
  /usr/bin/python3 tests/nightly/nightly.py "$@" --builds >/dev/null
  node=$(node_packages)
  # shellcheck disable=SC2086
  need "the tests" $build_packages $test_packages $lint_packages $node
  newer_openmp
  # what cannot be installed is skipped with a reason
  # shellcheck disable=SC2086
  [ "$1" != long ] || need "the lines for pandas and R" $reader_packages || true
  [ "$1" != distributions ] || need "other releases of Debian, and another processor" debootstrap qemu-user-static || true
  LC_PATIENCE=$(/usr/bin/python3 tests/gate/gate.py --patience)
  export LC_PATIENCE
  while read -r preset targets; do
    # shellcheck disable=SC2086
    build_for_tests "$preset" $targets
  done < <(/usr/bin/python3 tests/nightly/nightly.py "$@" --builds)
  exec /usr/bin/python3 tests/nightly/nightly.py "$@"
}

# Times and how exact they are, which the gate leaves out: tests/measure/measure.py judges each figure and writes build/measure.json.
measure() {
  local word patience
  for word in "$@"; do
    case $word in
      --list | --help | -h | --document*) exec /usr/bin/python3 tests/measure/measure.py "$@" ;;
    esac
  done
  # shellcheck disable=SC2086
  need "the measurements" $build_packages $test_packages
  newer_openmp
  build release
  build release overhead-twins
  build release apps-stopwatch
  build release overhead-programs-openmp || say "constructs of OpenMP are left out" # not part of all: clang may lack OpenMP
  build release overhead-programs-native || say "constructs of OpenMP on libgomp are left out"
  patience=$(/usr/bin/python3 tests/gate/gate.py --patience)
  export LC_PATIENCE=$patience
  exec /usr/bin/python3 tests/measure/measure.py build/release "$@"
}

lint() {
  # shellcheck disable=SC2086
  need "the checks" $build_packages $lint_packages
  configure release >/dev/null
  tests/lint.sh build/release
}

case "${1:-}" in
  demo) demo ;;
  build)
    # shellcheck disable=SC2086
    need "the build" $build_packages
    build_page
    build release
    ;;
  test) run_tests "${2:-}" ;;
  build-for-tests) build_for_tests "${@:2}" ;; # for tests/gate/gate.py
  nightly) nightly "${@:2}" ;;
  measure) measure "${@:2}" ;;
  lint) lint ;;
  install)
    [ $# -eq 2 ] || { say "usage: ./latecomer.sh install PREFIX"; exit 2; }
    # shellcheck disable=SC2086
    need "the build" $build_packages
    build release
    cmake --install build/release --prefix "$2"
    ;;
  *)
    sed -n '2,11s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
