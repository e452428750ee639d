#!/usr/bin/env bash
# Build and test in another Debian release, in build/distributions/RELEASE: what is there is not made again.
#   other_debian.sh RELEASE install   debootstrap, and the packages that latecomer.sh names
#   other_debian.sh RELEASE SLICE     a copy of the tree; what the tests of this slice need is built (release), and they run: the gate in parts
# Slices: logic (no program of MPI), sim (the simulated MPI), tools (analyses, commands, reports, of both MPIs), openmp, nodes (several hosts, Slurm), and of either
# MPI programs-MPI, faults-MPI, rest-MPI. LC_JOBS: how many compilers at a time.
# Exit status 77, with the reason as the last line, where it cannot be had.
set -euo pipefail
cd "$(dirname "$0")/../.."

release=$1 step=$2
root=$PWD/build/distributions/$release
# shellcheck source=tests/nightly/root_directory.sh
. tests/nightly/root_directory.sh
can_have_roots
! grep -qx "VERSION_CODENAME=$release" /etc/os-release || skip "$release is the release of this machine"

# As many at a time as there are cores: half of what the gate starts, since nothing is repeated here.
tests() { # TARGET, OPTION OF CTEST ..
  build_inside latecomer-cli latecomer-preload latecomer-core-{alone,openmpi,mpich} "$1"
  inside "cd /latecomer && ctest --preset release -j$(nproc) --no-tests=error --output-on-failure --test-output-size-failed 4000$(printf ' %q' "${@:2}")"
}

[ "$step" = install ] || [ -e "$root/.made" ] || skip "$release is not installed: step install has not been done, or could not be"
mpi=${step#*-}
# shellcheck disable=SC2046
case $step in
  install)
    make_root "$release"
    # nodejs and npm: as node_packages of latecomer.sh has them; dpkg-dev and file: for run.package
    install_known git patch dpkg-dev file nodejs npm $(packages build_packages test_packages)
    ;;
  logic)
    build_inside latecomer-cli # so that the folder is there
    rm -rf "$root/latecomer/.git"
    git clone -q --bare . "$root/latecomer/.git" # the sources are judged as those of a repository
    git -C "$root/latecomer" config core.bare false
    git -C "$root/latecomer" reset -q
    tests unit-tests -R '^(unit|structure|gate|measure|nightly)\.' -LE nightly
    ;;
  sim | openmp) tests all -R "^$step\\." -LE nightly ;;
  tools) tests all -R '^(analysis|apps|bench|cli|page|real|run|samples|trace|virtual)\.' -E '[.-](openmpi|mpich)$' -LE nightly ;;
  nodes) tests all -R '^nodes\.' -E '_often' -LE figure ;; # by night, too
  programs-openmpi | programs-mpich) tests all -R "^(programs|piggyback)\\..*\\.$mpi\$" -LE nightly ;;
  faults-openmpi | faults-mpich) tests all -R "^faults\\..*\\.$mpi\$" -LE nightly ;;
  rest-openmpi | rest-mpich) tests all -R "^(analysis|apps|bench|call_paths|cli|page|real|run|samples|trace|virtual)\\..*[.-]$mpi\$" -LE nightly ;;
  *) sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
