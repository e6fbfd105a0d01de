#!/bin/sh
# Prints the instructions of one request and of one poll with its dispatch, counted by callgrind, and
# those of the handlers (echo, store, count) that the polls include. Then those of two sends and of two
# receives (send, recv: of 8 bytes, in words; of 64, in a slot), one by each of two ranks.
# Counts are exact and do not depend on how busy the machine is. Needs valgrind; to be run in the
# repository.
set -eu
program=$(cargo bench --quiet --package bandgap-shm --no-run --bench instructions --message-format=json |
    sed -n 's/.*"name":"instructions".*"executable":"\([^"]*\)".*/\1/p' | tail -n 1)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
few=1000
many=3000
for count in $few $many; do
    valgrind --quiet --tool=callgrind --callgrind-out-file="$folder/$count" \
        "$program" "$count" 2>"$folder/log" || { cat "$folder/log" >&2; exit 1; }
done
# Inclusive instructions of a function: the difference of two counts, for one call. There is a row for each
# file from which something was inlined into it, and the one with the most is that of the whole function.
of() {
    callgrind_annotate --inclusive=yes --threshold=100 --auto=no "$folder/$1" |
        awk -v name=":instructions::$2 " '{ sub(/\r$/, "") }
            index($0 " ", name) { gsub(/,/, "", $1); if ($1 + 0 > most) most = $1 + 0 }
            END { print most }'
}
for name in request poll_request echo poll_reply store poll_nothing request_without_reply \
    poll_request_without_reply count send recv send_64 recv_64; do
    low=$(of $few "$name")
    high=$(of $many "$name")
    awk -v name=$name -v low="$low" -v high="$high" -v calls=$((many - few)) \
        'BEGIN { printf "%-28s %.2f\n", name, (high - low) / calls }'
done
