#!/bin/sh
# How often --against finds a change: detect.sh TIMES VERDICT PROGRAM PLAN [--a-binary PATH] [--a-env NAME=VALUE]...
#   detect.sh 10 slower new/bandgap 'signature -t shm' --a-binary old/bandgap
#   detect.sh 10 faster bandgap 'comms1 -t mpi --sizes 8,1KiB' --a-env LD_PRELOAD=$PWD/late.so
times=$1 verdict=$2 program=$3 plan=$4
shift 4
place=$(mktemp -d) found=0 at=0
$program $plan -q --out "$place/run" > "$place/run.txt" || exit
while [ "$at" -lt "$times" ]; do
  at=$((at + 1)) begun=$(date +%s)
  $program "${plan%% *}" --against "$place/run" --fail-on "$verdict" -q "$@" > "$place/$at.txt"
  code=$?
  if [ "$code" = 1 ]; then found=$((found + 1)); fi
  echo "$at: exit $code after $(($(date +%s) - begun)) s"
done
echo "$verdict in $found of $times: $place"
