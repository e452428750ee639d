#!/usr/bin/env bash
# clang-format, cppcheck and clang-tidy over the C sources. Usage: tests/lint.sh BUILD_DIR [format|cppcheck|tidy]
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
  mapfile -t units < <(git ls-files 'src/*.c')
  printf '%s\n' "${units[@]}" | xargs -P2 -n4 clang-tidy -p "$build" --quiet 2>/dev/null | grep -E 'error:|warning:' && status=1
fi
exit $status
