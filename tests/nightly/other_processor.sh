#!/usr/bin/env bash
# Build and test on aarch64, by emulation (qemu-user), in build/distributions/RELEASE-arm64: what is there is not made again.
#   other_processor.sh RELEASE install   debootstrap, and the packages that latecomer.sh names
#   other_processor.sh RELEASE SLICE     a copy of the tree; what the tests of this slice need is built (release), and they run
# Slices: unit, sim (the tool on the simulated MPI). An emulator has the memory order of the machine that it runs on. It has no performance events, no
# timers of threads, no process_vm_readv (windows of the simulated MPI), not all signals, and another /proc/PID/exe: tests of those are left out.
# LC_JOBS: how many compilers at a time. Exit status 77, with the reason as the last line, where it cannot be had.
set -euo pipefail
cd "$(dirname "$0")/../.."

release=$1 step=$2
root=$PWD/build/distributions/$release-arm64
# shellcheck source=tests/nightly/root_directory.sh
. tests/nightly/root_directory.sh
can_have_roots
can_run arm64

tests() { # TARGET, EXPRESSION OF TESTS, EXPRESSION OF THOSE LEFT OUT
  build_inside latecomer-cli latecomer-preload latecomer-core-{alone,openmpi,mpich} "$1"
  inside "cd /latecomer && ctest --preset release -j$(nproc) --no-tests=error --output-on-failure --test-output-size-failed 4000 -R '$2' -E '$3' -LE 'nightly|figure'"
}

[ "$step" = install ] || [ -e "$root/.made" ] || skip "$release-arm64 is not installed: step install has not been done, or could not be"
case $step in
  install)
    make_root "$release" arm64
    install_known patch $(packages build_packages) ninja-build clang libomp-dev binutils patchelf util-linux procps numactl iproute2 libgsl-dev zstd
    ;;
  unit) tests unit-tests '^unit\.' '^unit\.(measure\.perf_ring|run\.(sentinel|sure_ends|hold)|symbols\.names)$' ;;
  sim) tests simulation-tests '^sim\.tool$' none ;;
  *) sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
