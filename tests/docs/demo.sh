#!/usr/bin/env bash
# Runs the demo of ./run attach --demo with the program of this build: it shows a step within a minute, and after a signal
# no process and no file of it is left, except the broker's jars in the user's cache. Usage: demo.sh ROOT NUSTREAM
set -euo pipefail
root=$(cd "$1" && pwd)
program=$2
work=$(mktemp -d)
export TMPDIR=$work
demo=
clean() {
  [ -z "$demo" ] || kill -KILL -- "-$demo" 2>/dev/null || true
  rm -rf "$work"
}
trap clean EXIT
fail_with() {
  printf 'demo.sh: %s\n' "$*" >&2
  tail -n 5 "$work/out" "$work/err" >&2
  exit 1
}
for tool in kcat setsid pgrep ps; do
  command -v $tool >/dev/null || fail_with "$tool is not installed"
done
cd "$root"
# The demo gets a session of its own. A process that it starts and forgets is found by this session, or by the demo's
# folder on its command line.
setsid bash -c 'set -euo pipefail; source cmake/setup.sh; source cmake/kafka.sh; source cmake/demo.sh; nustream=$0; demo "$@"' \
  "$program" --set 'serve.public_address="127.0.0.1:19464"' --set 'serve.operator_address="127.0.0.1:19465"' \
  >"$work/out" 2>"$work/err" &
demo=$!
for look in $(seq 240); do
  curl --silent --max-time 2 --noproxy '*' http://127.0.0.1:19464/metrics 2>/dev/null | grep -q '^nustream_steps_total{.*} [1-9]' && break
  kill -0 "$demo" 2>/dev/null || fail_with "it ended"
  [ "$look" -lt 240 ] || fail_with "no step is shown after a minute"
  sleep 0.25
done
pgrep -f "$work" >/dev/null || fail_with "its processes cannot be told by their folder"
kill -TERM "$demo"
code=0
wait "$demo" || code=$?
[ "$code" -eq 0 ] || fail_with "it ended with $code"
sleep 0.5
left=$(ps -s "$demo" -o stat=,pid=,args= | grep -v '^Z' || true; pgrep -af "$work" || true)
[ -z "$left" ] || fail_with "still there: $left"
find "$work" -mindepth 1 ! -name out ! -name err | grep . && fail_with "files are left"
exit 0
