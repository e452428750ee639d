#!/usr/bin/env bash
# Build and test in another Debian release, in build/distributions/RELEASE: what is there is not made again.
#   other_debian.sh RELEASE install   debootstrap, and the packages that latecomer.sh names
#   other_debian.sh RELEASE build     a copy of the tree, built (release)
#   other_debian.sh RELEASE exact     its tests labelled exact
#   other_debian.sh RELEASE real      its tests labelled real, of the gate
# Exit status 77, with the reason as the last line, where it cannot be had.
set -euo pipefail
cd "$(dirname "$0")/../.."

release=$1 step=$2
root=$PWD/build/distributions/$release
# shellcheck source=tests/nightly/root_directory.sh
. tests/nightly/root_directory.sh
can_have_roots
! grep -qx "VERSION_CODENAME=$release" /etc/os-release || skip "$release is the release of this machine"

tests() { # LABEL
  inside "cd /latecomer && ctest --preset release -L '^$1\$' -LE nightly --output-on-failure --test-output-size-failed 4000"
}

[ "$step" = install ] || [ -e "$root/.made" ] || skip "$release is not installed: step install has not been done, or could not be"
case $step in
  install)
    make_root "$release"
    # shellcheck disable=SC2046
    install_known $(packages build_packages test_packages)
    ;;
  build) build_inside ;;
  exact | real)
    [ -e "$root/latecomer/build/release/bin/latecomer" ] || skip "$release has no build: step build has not been done, or failed"
    tests "$step"
    ;;
  *) sed -n '2,7s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
