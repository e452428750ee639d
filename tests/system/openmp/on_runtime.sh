#!/bin/sh
# on_runtime.sh FOLDER COMMAND..: the command, with the OpenMP runtime of that folder instead of the system's; left out where it is not there.
if [ ! -e "$1/libomp.so.5" ]; then
  echo "left out: no $1/libomp.so.5 (./latecomer.sh test fetches it from the package source)"
  exit 77
fi
LD_LIBRARY_PATH=$1${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
shift
exec "$@"
