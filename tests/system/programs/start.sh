#!/bin/sh
# Starts a program as a job script does: helpers first, then the program in its place.
if [ "$(echo abc | sed s/b/x/)" != axc ] || ! true; then
  exit 99
fi
"$@"
