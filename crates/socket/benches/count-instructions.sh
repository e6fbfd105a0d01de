#!/bin/sh
# Prints the instructions of a round trip over a Unix socket, both ends together and without the system's own, counted by
# callgrind: over ordinary connections, and over those of a breakdown. Fails if an instruction of the ordinary ones belongs
# to the stamps (stamper.rs, stamped.rs), or if none of the others does. Needs valgrind; to be run in the repository.
set -eu
program=$(cargo bench --quiet --package bandgap-socket --no-run --bench instructions --message-format=json |
    sed -n 's/.*"name":"instructions".*"executable":"\([^"]*\)".*/\1/p' | tail -n 1)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
few=1000
many=3000
for which in ordinary stamped; do
    for count in $few $many; do
        valgrind --quiet --tool=callgrind --callgrind-out-file="$folder/$which.$count" \
            "$program" $which $count 2>"$folder/log" || { cat "$folder/log" >&2; exit 1; }
    done
    awk -v name="round_trip_$which" -v calls=$((many - few)) '/^(summary|totals):/ && !(FILENAME in seen) { seen[FILENAME]; total = $2 - total }
        END { printf "%-28s %.2f\n", name, total / calls }' "$folder/$which.$few" "$folder/$which.$many"
done
# A file is named where one of its instructions was executed, also within a function of another one.
stamps='^f[lie]=([0-9]*) .*/src/stamp\(er\|ed\)\.rs$'
if grep "$stamps" "$folder/ordinary.$many" >&2; then
    echo "an ordinary connection executes instructions of the stamps" >&2
    exit 1
fi
if ! grep -q "$stamps" "$folder/stamped.$many"; then
    echo "no instruction of the stamps was found where there are some" >&2
    exit 1
fi
