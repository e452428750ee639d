# shellcheck shell=bash
# Sourced: root directories of Debian releases in build/distributions, made by debootstrap once. Whoever sources it sets `root`, and `mirror` may be
# set by LC_DEBIAN_MIRROR.
root=${root:?is set by the script that reads this one}
mirror=${LC_DEBIAN_MIRROR:-http://deb.debian.org/debian}

skip() { echo "$1"; exit 77; }

can_have_roots() {
  [ "$(id -u)" -eq 0 ] || skip "only root can make a root directory"
  command -v debootstrap >/dev/null || skip "debootstrap is not installed"
}

# By pivot_root: under chroot the kernel refuses namespaces of users, and tests that make namespaces need a mount point as the root. Shared memory is its own,
# since process numbers, which name it, repeat in a namespace of processes. npm gets the certificates that it is given here.
inside() { # COMMAND: in the other root, with /proc, /dev and /sys
  [ -z "${NODE_EXTRA_CA_CERTS:-}" ] || cp "$NODE_EXTRA_CA_CERTS" "$root/root/certificates.crt"
  # shellcheck disable=SC2016
  unshare --mount --pid --fork --kill-child sh -c 'root=$1 && shift && mount --bind "$root" "$root" && mount --rbind /dev "$root/dev" &&
    mount -t tmpfs -o mode=1777 shm "$root/dev/shm" && mount --rbind /sys "$root/sys" && mount -t proc proc "$root/proc" &&
    cd "$root" && pivot_root . mnt && umount -l /mnt && exec "$@"' sh \
    "$root" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
    LC_PATIENCE="${LC_PATIENCE:-3}" ${NODE_EXTRA_CA_CERTS:+NODE_EXTRA_CA_CERTS=/root/certificates.crt} sh -c "$1"
}

# Programs of another processor run where the kernel knows their emulator and keeps it open (binfmt_misc, flag F), so that it needs not be in the root.
can_run() { # ARCHITECTURE of dpkg
  [ "$1" != "$(dpkg --print-architecture)" ] || return 0
  [ "$1" = arm64 ] || skip "no emulator is known for $1"
  local known=/proc/sys/fs/binfmt_misc
  [ -e $known/register ] || mount -t binfmt_misc none $known 2>/dev/null || skip "the kernel has no binfmt_misc"
  [ ! -e $known/qemu-aarch64 ] || return 0
  [ -e /usr/lib/binfmt.d/qemu-aarch64.conf ] || skip "qemu-user-static is not installed"
  printf %s "$(cat /usr/lib/binfmt.d/qemu-aarch64.conf)" >$known/register
}

make_root() { # RELEASE [ARCHITECTURE of dpkg: this machine's]
  [ ! -e "$root/.made" ] || return 0
  rm -rf --one-file-system "$root"
  mkdir -p "$root"
  debootstrap --variant=minbase ${2:+--arch="$2"} "$1" "$root" "$mirror" >"$root.log" 2>&1 || { tail -n 3 "$root.log"; skip "$1 cannot be had from $mirror"; }
  touch "$root/.made"
}

packages() { # LIST..: the names in these lists of latecomer.sh
  local list
  for list in "$@"; do
    sed -n "/^$list=\"/,/\"\$/p" latecomer.sh | sed 's/^[a-z_]*="//; s/"$//' | tr '\n' ' '
  done
}

install_known() { # NAME..: names that the release does not have are said and left out
  # shellcheck disable=SC2016
  inside 'apt-get update -qq; wanted=; for p in '"$*"'; do apt-cache policy "$p" | grep -q "Candidate: [^(]" && wanted="$wanted $p" || echo "not in this release: $p"; done
    apt-get install -y -qq --no-install-recommends $wanted >/root/install.log 2>&1 || { tail -n 5 /root/install.log; exit 1; }'
}

build_inside() { # [TARGET ..]: all, if none is named
  mkdir -p "$root/latecomer"
  git ls-files -z | xargs -0 cp -p --parents -t "$root/latecomer"
  # shellcheck disable=SC2016
  inside 'cd /latecomer && { [ -f build/release/CMakeCache.txt ] || ! command -v ninja >/dev/null || set -- -G Ninja; } && cmake --preset release "$@" >/root/build.log 2>&1 &&
    cmake --build --preset release -j'"${LC_JOBS:-$(nproc)}"' --target '"${*:-all}"' >>/root/build.log 2>&1 || { tail -n 40 /root/build.log; exit 1; }'
}
