#!/usr/bin/env bash
# Build and test in another Debian release, in build/distributions/RELEASE: what is there is not made again.
#   other_debian.sh RELEASE install   debootstrap, and the packages that latecomer.sh names
#   other_debian.sh RELEASE SLICE     a copy of the tree; what the tests of this slice need is built (release), and they run: the gate in parts
# Slices: logic (no program of MPI), sim (the simulated MPI), tools (analyses, commands, reports, of both MPIs), openmp, and of either MPI programs-MPI, faults-MPI,
# rest-MPI. LC_JOBS: how many compilers at a time.
# Exit status 77, with the reason as the last line, where it cannot be had.
set -euo pipefail
cd "$(dirname "$0")/../.."

release=$1 step=$2
root=$PWD/build/distributions/$release
# shellcheck source=tests/nightly/root_directory.sh
. tests/nightly/root_directory.sh
can_have_roots
! grep -qx "VERSION_CODENAME=$release" /etc/os-release || skip "$release is the release of this machine"

tests() { # PATTERN TARGET ..
  build_inside latecomer-cli latecomer-preload latecomer-core-{alone,openmpi,mpich} "${@:2}"
  inside "cd /latecomer && ctest --preset release -R '$1' -LE nightly --no-tests=error --output-on-failure --test-output-size-failed 4000"
}

[ "$step" = install ] || [ -e "$root/.made" ] || skip "$release is not installed: step install has not been done, or could not be"
mpi=${step#*-}
simulated="simulation-tests sim-cases sim-rules sim-kernels sim-budget latecomer-demo-mpich knobs-mpich bench-probed-mpich bench-late-mpich bench-plain-loop-mpich"
# shellcheck disable=SC2046,SC2086
case $step in
  install)
    make_root "$release"
    install_known git patch $(packages build_packages test_packages)
    ;;
  logic)
    build_inside latecomer-cli # so that the folder is there
    rm -rf "$root/latecomer/.git"
    git clone -q --bare . "$root/latecomer/.git" # the sources are judged as those of a repository
    git -C "$root/latecomer" config core.bare false
    git -C "$root/latecomer" reset -q
    tests '^(unit|structure|gate|measure|nightly)\.' unit-tests
    ;;
  sim) tests '^sim\.(budget|truth|kernels|constructed|logged|what|gains|nodes|sustained|shrink|faults|clocks|bench|openmp|hybrid)' $simulated ;;
  tools) tests '^(analysis|cli|run|bench|page|virtual|real|nodes|sim)\.([a-z_]*|.*\.(oracle|golden|random|ranks|memory))$' all ;;
  openmp) tests '^openmp\.' all ;;
  programs-openmpi | programs-mpich) tests "^programs\\..*\\.$mpi\$" all ;;
  faults-openmpi | faults-mpich) tests "^faults\\..*\\.$mpi\$" all ;;
  rest-openmpi | rest-mpich) tests "^(piggyback|trace|call_paths|samples|real|run|nodes|analysis|page|cli|bench)\\..*\\.$mpi\$" all ;;
  *) sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
