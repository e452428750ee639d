#!/usr/bin/env bash
# clang-format, cppcheck and clang-tidy over the C sources. Usage: tests/lint.sh BUILD_DIR [format|cppcheck|tidy [FILE..]]
set -uo pipefail
build=$1
what=${2:-all}
cd "$(dirname "$0")/.."
status=0
mapfile -t sources < <(git ls-files 'src/*.c' 'src/*.h' 'include/*.h' 'tests/*.c' 'tests/*.h')
if [ "$what" = all ] || [ "$what" = format ]; then
  clang-format --dry-run -Werror "${sources[@]}" || status=1
fi
if [ "$what" = all ] || [ "$what" = cppcheck ]; then
  cppcheck -q -j2 --std=c11 --enable=warning,portability --inline-suppr --error-exitcode=1 \
    --suppress=missingInclude --suppress=missingIncludeSystem --suppress=unknownMacro -Isrc -Iinclude src include || status=1
fi
if [ "$what" = all ] || [ "$what" = tidy ]; then
  database=$(mktemp -d) # without the options that only GCC knows
  sed -E 's/-mmem(set|cpy)-strategy=[^ "]*//g; s/-Wno-(tsan|stringop-[a-z]+)|-fno-ipa-icf//g' "$build/compile_commands.json" >"$database/compile_commands.json"
  units=("${@:3}")
  # those that this build compiles; tests/.clang-tidy has fewer checks
  [ ${#units[@]} -gt 0 ] || mapfile -t units < <(git ls-files 'src/*.c' 'tests/*.c' | while read -r unit; do
    grep -qF "$PWD/$unit\"" "$database/compile_commands.json" && echo "$unit"
  done)
  # one file per call: clang-tidy 14 carries the state of va_lists from file to file
  printf '%s\n' "${units[@]}" | xargs -P2 -n1 clang-tidy -p "$database" --quiet 2>/dev/null >"$database/findings" || status=1
  grep -E 'error:|warning:' "$database/findings" && status=1
  rm -rf "$database"
fi
exit $status
