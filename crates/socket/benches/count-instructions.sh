#!/bin/sh
# Prints the instructions of a round trip over a Unix socket, both ends together and without the system's own, counted by
# callgrind: over an endpoint of known type, over one in a box, as every run has it, and over that of a breakdown. Fails if
# the box costs more than 100, if an instruction of an ordinary connection belongs to the stamps (stamper.rs, stamped.rs),
# or if none of a breakdown's does. Needs valgrind; to be run in the repository.
set -eu
program=$(cargo bench --quiet --package bandgap-socket --no-run --bench instructions --message-format=json |
    sed -n 's/.*"name":"instructions".*"executable":"\([^"]*\)".*/\1/p' | tail -n 1)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
few=1000
many=3000
for which in ordinary boxed stamped; do
    for count in $few $many; do
        valgrind --quiet --tool=callgrind --callgrind-out-file="$folder/$which.$count" \
            "$program" $which $count 2>"$folder/log" || { cat "$folder/log" >&2; exit 1; }
    done
    awk -v name="round_trip_$which" -v calls=$((many - few)) '/^(summary|totals):/ && !(FILENAME in seen) { seen[FILENAME]; total = $2 - total }
        END { printf "%-28s %.2f\n", name, total / calls }' "$folder/$which.$few" "$folder/$which.$many" |
        tee -a "$folder/counts"
done
awk '{ counted[$1] = $2 } END { exit counted["round_trip_boxed"] > counted["round_trip_ordinary"] + 100 }' \
    "$folder/counts" || { echo "the box costs more than 100 instructions a round trip" >&2; exit 1; }
# A file is named where one of its instructions was executed, also within a function of another one.
stamps='^f[lie]=([0-9]*) .*/src/stamp\(er\|ed\)\.rs$'
if grep "$stamps" "$folder/ordinary.$many" "$folder/boxed.$many" >&2; then
    echo "an ordinary connection executes instructions of the stamps" >&2
    exit 1
fi
if ! grep -q "$stamps" "$folder/stamped.$many"; then
    echo "no instruction of the stamps was found where there are some" >&2
    exit 1
fi
