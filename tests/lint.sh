#!/usr/bin/env bash
# clang-format, cppcheck and clang-tidy over the C sources.
#   tests/lint.sh BUILD_DIR [format|cppcheck|tidy [FILE..]]   all three, or one
#   tests/lint.sh BUILD_DIR gate     all three, cppcheck with what no flavour of MPI defines (a fourth of the time), clang-tidy over the NEWEST sources
#                                    that were changed last, each as one of its targets compiles it: half a minute instead of an hour
# Exit status 1 if anything was found, 77 where the formatter is not that of VERSION (other versions break lines in other places).
set -uo pipefail
VERSION=14
NEWEST=10
build=$1
what=${2:-all}
cd "$(dirname "$0")/.." || exit 1
status=0

wanted() { [ "$what" = "$1" ] || [ "$what" = all ] || [ "$what" = gate ]; }

found_version=$(clang-format --version 2>/dev/null | sed -nE 's/.*version ([0-9]+)\..*/\1/p')
if [ "$what" = gate ] && [ "$found_version" != $VERSION ]; then
  echo "skipped: clang-format ${found_version:-is not installed}, $VERSION is wanted"
  exit 77
fi

mapfile -t sources < <(git ls-files 'src/*.c' 'src/*.h' 'include/*.h' 'tests/*.c' 'tests/*.h')
if wanted format; then
  clang-format --dry-run -Werror "${sources[@]}" || status=1
fi
if wanted cppcheck; then
  configurations=()
  [ "$what" != gate ] || configurations=(--max-configs=1 --suppress=toomanyconfigs)
  cppcheck -q -j2 "${configurations[@]}" --std=c11 --enable=warning,portability --inline-suppr --error-exitcode=1 \
    --suppress=missingInclude --suppress=missingIncludeSystem --suppress=unknownMacro -Isrc -Iinclude src include || status=1
fi

# Sources of which this build has a compile command, the last changed first.
compiled() {
  git log --name-only --format= -- 'src/*.c' 'tests/*.c' | awk '!seen[$0]++' | while read -r unit; do
    [ -f "$unit" ] && grep -qF "$PWD/$unit\"" "$database/compile_commands.json" && echo "$unit"
  done
}

if wanted tidy; then
  database=$(mktemp -d)
  trap 'rm -rf "$database"' EXIT
  # without the options that only GCC knows
  sed -E 's/-mmem(set|cpy)-strategy=[^ "]*//g; s/-Wno-(tsan|stringop-[a-z]+)|-fno-ipa-icf//g' "$build/compile_commands.json" >"$database/compile_commands.json"
  if [ "$what" = gate ]; then # clang-tidy judges a source once for each command: those of the core are compiled for five targets
    python3 -c 'import json, sys
commands = {command["file"]: command for command in reversed(json.load(open(sys.argv[1])))}
json.dump(list(commands.values()), open(sys.argv[1], "w"), indent=0)' "$database/compile_commands.json" || status=1
  fi
  units=("${@:3}")
  if [ "$what" = gate ]; then
    mapfile -t units < <(compiled 2>/dev/null | head -n $NEWEST)
  elif [ ${#units[@]} -eq 0 ]; then
    mapfile -t units < <(compiled)
  fi
  # one file per call: clang-tidy 14 carries the state of va_lists from file to file; tests/.clang-tidy has fewer checks
  # GCC's own limits of inlining say nothing to clang
  printf '%s\n' "${units[@]}" | xargs -P2 -n1 clang-tidy --extra-arg=-Wno-unused-command-line-argument -p "$database" --quiet 2>/dev/null >"$database/findings" || status=1
  grep -E 'error:|warning:' "$database/findings" && status=1
  echo "clang-tidy: ${#units[@]} sources"
fi
exit $status
