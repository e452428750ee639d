#!/usr/bin/env bash
# What users do on a new machine: this Debian release made by debootstrap, with nothing but what is asked for, in build/distributions/clean-WHAT.
#   clean_root.sh FLAVOUR deb      cpack's .deb of build/release is installed with the packages that it needs and this MPI alone: demo, show, analyze
#   clean_root.sh FLAVOUR build    a build with this MPI alone: unit tests, and the demo
# FLAVOUR: openmpi or mpich. Exit status 77, with the reason as the last line, where it cannot be had.
set -euo pipefail
cd "$(dirname "$0")/../.."

flavour=${1:-} step=${2:-}
root=$PWD/build/distributions/clean-$flavour-$step
# shellcheck source=tests/nightly/root_directory.sh
. tests/nightly/root_directory.sh
can_have_roots
# shellcheck source=/dev/null
release=$(. /etc/os-release && echo "$VERSION_CODENAME")
other=$([ "$flavour" = mpich ] && echo openmpi || echo mpich)

# As a user who may not be root: Open MPI refuses to start as root.
demo() { # FOLDER of the programs
  inside "id tester >/dev/null 2>&1 || useradd -m tester; cd /home/tester && rm -rf result && runuser -u tester -- sh -e -c '
    export PATH=$1:\$PATH OMPI_MCA_rmaps_base_oversubscribe=1
    mpirun -n 2 latecomer run --trace -o result latecomer-demo-$flavour 3
    latecomer show --full result | grep -q MPI_Allreduce
    latecomer analyze -n 2 result
    latecomer show --json result >result.json
    latecomer doctor $1/latecomer-demo-$flavour'"
}

case $step in
  deb)
    [ -e build/release/CPackConfig.cmake ] || skip "build/release is not there: ./latecomer.sh build"
    make_root "$release"
    rm -rf "$root/root/package"
    mkdir "$root/root/package"
    cpack -G DEB --config build/release/CPackConfig.cmake -B "$root/root/package" >"$root.log" 2>&1 || { tail -n 5 "$root.log"; exit 1; }
    runtime=$([ "$flavour" = mpich ] && echo mpich || echo openmpi-bin)
    inside "apt-get update -qq; apt-get install -y -qq --no-install-recommends /root/package/*.deb $runtime >/root/install.log 2>&1 ||
      { tail -n 5 /root/install.log; exit 1; }"
    demo /usr/bin
    ;;
  build)
    make_root "$release"
    # shellcheck disable=SC2046
    install_known $(packages build_packages | tr ' ' '\n' | grep -v "$other")
    build_inside
    inside "cd /latecomer && ctest --preset release -L '^unit\$' --output-on-failure --test-output-size-failed 4000"
    inside "chmod a+rx /latecomer /latecomer/build"
    demo /latecomer/build/release/bin
    ;;
  *) sed -n '2,6s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
