#!/bin/sh
# A program that looks like bandgap from outside, and breaks the rule that FAKE names. It has ranks, shows that it
# received twelve batches, and ends when one of its ranks does.
out=run n=2
while [ $# -gt 0 ]; do
  case $1 in
  --out) out=$2 ;;
  -n) n=$2 ;;
  esac
  shift
done

keep() {
  printf '{"format": "bandgap-run", "version": 1, "bandgap": {"version": "0", "revision": null}, "command": [],
    "started": "", "seed": 1, "interrupted": true, "results": [{"kind": "not yet known", "transport": "shm",
    "state": {"batches": %d}}]}' "$1" > "$out/run.json"
}

mkdir -p "$out"
mkfifo rank
i=0 ranks=
while [ $i -lt "$n" ]; do
  # Waits for a writer that never comes.
  cat rank &
  ranks="$ranks $!"
  i=$((i + 1))
done
printf 'round 1, 12 batches\n' >&2

dead=
while [ -z "$dead" ]; do
  i=0
  for pid in $ranks; do
    kill -0 "$pid" 2>/dev/null || dead=$i
    i=$((i + 1))
  done
  [ -n "$dead" ] || sleep 0.05
done
[ "$FAKE" = hangs ] && while :; do sleep 0.05; done
[ "$FAKE" = leaves-rank ] || kill -9 $ranks 2>/dev/null

kept=12 code=5 message="rank $dead: its process was killed by signal 9 (SIGKILL)"
case $FAKE in
leaves-process) sleep 60 & ;;
leaves-file) : > "$TMPDIR/temporary" ;;
leaves-unfinished) : > "$out/.unfinished-1" ;;
loses-some) kept=11 ;;
defect) code=70 ;;
undocumented) code=77 ;;
silent) message="something happened" ;;
panics) message="$message: panicked" ;;
esac
[ "$FAKE" = loses ] || keep $kept
[ "$FAKE" = half ] && printf '{"format": "bandgap-run", "ver' > "$out/run.json"
printf 'bandgap: %s\n' "$message" >&2
exit $code
