#!/bin/bash
# Asks the wristband of wristband.json, on one link, for its battery level and three days of steps. Alarms that it sends meanwhile are told.
#
#     export BLECTL_ADAPTER=sim:man/examples/wristband.json
#     man/examples/wristband.sh [PEER]
set -euo pipefail

coproc BAND { exec "${BLECTL:-blectl}" connect "${1:-name:Band-C}" --json; }
# Kept: bash forgets them when the program ends.
answers=${BAND[0]} commands=${BAND[1]} band=$BAND_PID

# The string member $1 of the record $2; records are one line each, and hex has no quotation marks in it.
member() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p" <<<"$2"; }

# Runs the command $1 and puts the values of ff01 that were its answers into `values`.
run() {
  values=()
  printf '%s\n' "$1" >&"$commands"
  local record
  while read -r record <&"$answers"; do
    case $record in
      *'"event":"done"'*'"status":0'*) return 0 ;;
      *'"event":"done"'*) echo "$1: $(member message "$record")" >&2; return 1 ;;
      *'"id":'*'"uuid":"ff01"'* | *'"uuid":"ff01"'*'"id":'*) values+=("$(member value "$record")") ;;
      *'"value":"56f0'*) echo "the band looks for the phone" ;;
    esac
  done
  echo "$1: blectl has ended" >&2
  return 1
}

# So that what the band sends by itself is told, whatever runs.
run 'subscribe ff01'
run 'write ff02 1b9901 --expect ff01=567b'
echo "battery: $((16#${values[0]:4:2})) %"
# The header, three days, the end.
run 'write ff02 1b990203 --expect ff01=567c00 --expect ff01=567c01 --expect ff01=567c01 --expect ff01=567c01 --expect ff01=567cff'
for value in "${values[@]}"; do
  case $value in
    567c01*) echo "day $((16#${value:6:2})): $((16#${value:10:2}${value:8:2})) steps" ;;
  esac
done
exec {commands}>&-
wait "$band"
