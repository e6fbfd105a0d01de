#!/bin/sh
# A program that looks like bandgap from outside, and breaks the rule that FAKE names. It has ranks, shows that it
# received twelve batches, and ends when one of its ranks does. Of MESSAGES it says that so many were COMPARED, and that so
# many points were LEFT_OUT.
if [ "$1" = --help ]; then
  printf 'Commands:\n  signature  LogP\n  comms4     COMMS4\n'
  exit
fi
out=run n=2
while [ $# -gt 0 ]; do
  case $1 in
  --out) out=$2 ;;
  -n) n=$2 ;;
  esac
  shift
done
own=$(dirname "$0")

keep() {
  printf '{"format": "bandgap-run", "version": 1, "bandgap": {"version": "0", "revision": null}, "command": [],
    "started": "", "seed": 1, "interrupted": %s, "results": [{"kind": "not yet known", "transport": "shm",
    "checked": {"messages": %d, "compared": %d, "points": 3, "points_left_out": %d},
    "state": {"batches": %d}}]}' "$2" "${MESSAGES-9}" "${COMPARED-9}" "${LEFT_OUT-0}" "$1" > "$out/run.json"
}

progress() {
  printf ' shm ██░░ %3d%% round 1, 12 batches\n' "$1" >&2
}

[ "$FAKE" = measures-nothing ] && exit 8

# Each rank waits for a writer that never comes. The pipe lies where no trial looks.
place=$(mktemp -d "$own/XXXXXX")
mkfifo "$place/rank"
mkdir -p "$out"
start() {
  cd "$place" || exit 70
  if [ "$FAKE" = leaves-socket ]; then
    # What holds the socket after the end has none of the run's environment.
    exec bash -c "exec 9<>/dev/tcp/127.0.0.1/$PORT; env -i sleep 20 & exec cat rank"
  fi
  exec cat rank
}
i=0 ranks=
while [ $i -lt "$n" ]; do
  start &
  ranks="$ranks $!"
  i=$((i + 1))
done
[ "$FAKE" = quiet ] || progress 50
: > "$own/began"

# Waits until the limit that LIMIT names is low, without another process.
until_low() {
  most=1000
  while [ "$most" -gt 100 ]; do
    while read -r line; do
      case $line in
      "Max $LIMIT "*)
        for word in $line; do
          case $word in [0-9]*) most=$word && break ;; esac
        done
        ;;
      esac
    done < "/proc/$$/limits"
  done
}

dead=
case $FAKE in
goes-on | refused | refused-silently) until_low && dead=none ;;
esac
while [ -z "$dead" ]; do
  i=0
  for pid in $ranks; do
    kill -0 "$pid" 2>/dev/null || dead=$i
    i=$((i + 1))
  done
  case $FAKE in
  ends | quiet | too-little | fails-late | names-file | names-none) sleep 0.5 && dead=none ;;
  esac
  [ -n "$dead" ] || sleep 0.05
done
[ "$FAKE" = hangs ] && while :; do sleep 0.05; done
[ "$FAKE" = swallows ] && sleep 2
[ "$FAKE" = leaves-rank ] || kill -9 $ranks 2>/dev/null

kept=12 interrupted=true code=5 message="rank $dead: its process was killed by signal 9 (SIGKILL)"
case $FAKE in
leaves-process) sleep 60 & ;;
leaves-file) : > "$TMPDIR/temporary" ;;
leaves-unfinished) : > "$out/.unfinished-1" ;;
leaves-beside) : > core ;;
leaves-pipe) mkfifo "$out/pipe" ;;
leaves-empty) mkdir "$out/empty" ;;
loses-some) kept=11 ;;
loses-mark) interrupted=false ;;
defect) code=70 ;;
undocumented) code=77 ;;
silent) message="something happened" ;;
panics) message="$message: panicked" ;;
swallows | finishes | ends | quiet | goes-on) code=0 message= interrupted=false ;;
swallows-at-once) code=0 message= ;;
refused) code=7 message="look at the machine: Resource temporarily unavailable, too many open files" ;;
refused-silently) code=7 message="look at the machine" ;;
fails-late) code=4 message="cannot write: no space left" && sleep 1 ;;
names-file) code=4 message="failed to write $out/run.json: no space left, or file too large" ;;
names-none) code=4 message="failed to write: no space left, or file too large" ;;
too-little) code=8 interrupted=false ;;
esac
case $FAKE in
swallows-at-once | quiet) ;;
*) [ $code = 0 ] && progress 100 ;;
esac
case $FAKE in
names-*)
  # What its directory does not take is elsewhere.
  [ -z "$REMOVED" ] || while [ -d "$out" ]; do sleep 0.05; done
  out=$TMPDIR/kept
  mkdir "$out"
  message="$message; the run is kept in $out"
  ;;
esac
[ "$FAKE" = loses ] || keep $kept $interrupted
[ "$FAKE" = half ] && printf '{"format": "bandgap-run", "ver' > "$out/run.json"
[ "$FAKE" = quiet ] || printf 'bandgap: %s\n' "$message" >&2
exit $code
