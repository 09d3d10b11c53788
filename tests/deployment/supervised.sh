#!/usr/bin/env bash
# Tests the scripts of the compose file: after which exit codes docker/supervised lets nustream be restarted, that a signal
# reaches nustream, and that docker/play is as slow as it says. Usage: supervised.sh ROOT
set -euo pipefail
cd "$1/docker"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
  printf 'supervised: %s\n' "$*" >&2
  exit 1
}
cat >"$work/nustream" <<'TEXT'
#!/bin/sh
case $1 in
  exit) exit "$2" ;;
  killed) kill -KILL $$ ;;
  wait)
    trap 'echo drained; exit 0' TERM
    echo ready
    while :; do sleep .1; done ;;
esac
TEXT
chmod +x "$work/nustream"
export NUSTREAM=$work/nustream

ends_with() {  # CODE ARGUMENT…
  local code=0
  ./supervised "${@:2}" 2>"$work/said" || code=$?
  [ "$code" -eq "$1" ] || fail "${*:2} ends with $code, not $1"
}
# The codes of systemd's RestartPreventExitStatus become 0, after which Docker restarts nothing.
never=$(sed -n 's/^RestartPreventExitStatus=//p' nustream.service)
[[ " $never " == *" 65 73 77 78 "* ]] || fail "the unit restarts: $never"
for code in $never; do
  ends_with 0 exit "$code"
  grep -q "exit code $code," "$work/said" || fail "nothing says that the code was $code"
done
for code in 0 69 70 74 75 130; do
  ends_with "$code" exit "$code"
  [ ! -s "$work/said" ] || fail "of $code it says: $(cat "$work/said")"
done
ends_with 137 killed

# Either signal reaches the child as SIGTERM, and supervised ends with the child's exit code.
for signal in TERM INT; do
  mkfifo "$work/out"
  # Without job control a background command ignores SIGINT, and so would its trap: env gives it back.
  env --default-signal=INT ./supervised wait >"$work/out" &
  supervised=$!
  exec 3<"$work/out"
  read -r line <&3
  [ "$line" = ready ] || fail "the child said: $line"
  kill -"$signal" "$supervised"
  read -r line <&3
  [ "$line" = drained ] || fail "SIG$signal did not reach the child: $line"
  wait "$supervised" || fail "it ended with $? behind a child that drained"
  exec 3<&-
  rm "$work/out"
done

# There is a pause behind each hundred lines, so ten pauses before the thousand-and-first line; and the header never comes.
mkdir "$work/bin"
printf '#!/bin/sh\necho pause >>%s/pauses\n' "$work" >"$work/bin/sleep"
chmod +x "$work/bin/sleep"
{ echo header; seq 300; } | gzip >"$work/lines.gz"
PATH=$work/bin:$PATH ./play "$work/lines.gz" 100 2>/dev/null | head -n 1001 >"$work/played" || true
[ "$(wc -l <"$work/played")" -eq 1001 ] || fail "the producer ended"
cmp -s <(head -n 300 "$work/played") <(seq 300) || fail "the producer changes lines"
[ "$(sed -n 301p "$work/played")" = 1 ] || fail "the producer does not begin anew"
[ "$(wc -l <"$work/pauses")" -ge 10 ] || fail "the producer made $(wc -l <"$work/pauses") pauses in 1,001 lines"
printf 'supervised: codes, signals and pauses are as documented\n'
