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
mirror=${LC_DEBIAN_MIRROR:-http://deb.debian.org/debian}

skip() { echo "$1"; exit 77; }

[ "$(id -u)" -eq 0 ] || skip "only root can make a root directory"
command -v debootstrap >/dev/null || skip "debootstrap is not installed"
! grep -qx "VERSION_CODENAME=$release" /etc/os-release || skip "$release is the release of this machine"

inside() { # COMMAND: in the other release, with /proc and /dev
  # shellcheck disable=SC2016
  unshare --mount --pid --fork sh -c 'mount --rbind /dev "$1/dev" && mount -t proc proc "$1/proc" && shift && exec chroot "$@"' sh \
    "$root" "$root" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
    LC_PATIENCE="${LC_PATIENCE:-3}" sh -c "$1"
}

packages() { # those for the build and the tests, as latecomer.sh lists them; names that the release does not have are left out
  sed -n '/^build_packages="/,/"$/p; /^test_packages="/,/"$/p' latecomer.sh | sed 's/^[a-z_]*="//; s/"$//' | tr '\n' ' '
}

install() {
  if [ ! -e "$root/.made" ]; then
    rm -rf --one-file-system "$root"
    mkdir -p "$root"
    debootstrap --variant=minbase "$release" "$root" "$mirror" >"$root.log" 2>&1 || { tail -n 3 "$root.log"; skip "$release cannot be had from $mirror"; }
    touch "$root/.made"
  fi
  # shellcheck disable=SC2016
  inside 'apt-get update -qq; wanted=; for p in '"$(packages)"'; do apt-cache show "$p" >/dev/null 2>&1 && wanted="$wanted $p" || echo "not in this release: $p"; done
    apt-get install -y -qq --no-install-recommends $wanted >/root/install.log 2>&1 || { tail -n 5 /root/install.log; exit 1; }'
}

build() {
  mkdir -p "$root/latecomer"
  git ls-files -z | xargs -0 cp -p --parents -t "$root/latecomer"
  # shellcheck disable=SC2016
  inside 'cd /latecomer && cmake --preset release >/root/build.log 2>&1 && cmake --build --preset release -j"$(nproc)" >>/root/build.log 2>&1 ||
    { tail -n 40 /root/build.log; exit 1; }'
}

tests() { # LABEL
  inside "cd /latecomer && ctest --preset release -L '^$1\$' -LE nightly --output-on-failure --test-output-size-failed 4000"
}

[ "$step" = install ] || [ -e "$root/.made" ] || skip "$release is not installed: step install has not been done, or could not be"
case $step in
  install) install ;;
  build) build ;;
  exact | real)
    [ -e "$root/latecomer/build/release/bin/latecomer" ] || skip "$release has no build: step build has not been done, or failed"
    tests "$step"
    ;;
  *) sed -n '2,7s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
