#!/usr/bin/env bash
# Tests what ./run and ./test do about packages and builds, and installs and builds nothing itself: stand-ins take the place
# of apt-get, sudo, id, dpkg-query and cmake, and note what they were asked to do. Usage: setup.sh ROOT
set -euo pipefail
root=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/no_sudo"

stand_in() { # FOLDER NAME BODY
  printf '#!/bin/bash\n%s\n' "$3" >"$work/$1/$2"
  chmod +x "$work/$1/$2"
}
for folder in bin no_sudo; do
  stand_in $folder dpkg-query 'exit 1' # nothing is installed
  stand_in $folder id 'echo "$FAKE_UID"'
  stand_in $folder apt-get 'echo "apt-get $*" >>"$ASKED"; echo "what apt-get says"; exit "${APT_FAILS:-0}"'
  stand_in $folder cmake 'echo "what cmake says"; exit 1'
  for tool in bash env mkdir cat grep date awk; do ln -s "$(command -v $tool)" "$work/$folder/$tool"; done
done
stand_in bin sudo '[ "$1 $2" = "-n true" ] && exit 0; echo "sudo $*" >>"$ASKED"; exec "$@"'

export ASKED=$work/asked
failed=0
mistake() {
  printf 'setup.sh: %s\n' "$*" >&2
  failed=1
}
# try NAME FOLDER UID COMMAND: sources cmake/setup.sh and runs COMMAND, as user UID and with no other programs than the
# stand-ins of FOLDER. It sets code, out and asked; NAME only tells readers what is tried.
try() {
  rm -rf "$work/project" "$ASKED"
  mkdir "$work/project"
  touch "$ASKED"
  code=0
  out=$(cd "$work/project" && FAKE_UID=$3 PATH=$work/$2 bash -c "set -euo pipefail; source '$root/cmake/setup.sh'; $4" 2>&1 </dev/null) ||
    code=$?
  asked=$(cat "$ASKED")
}

try root bin 0 'install_packages one two'
[ "$code" -eq 0 ] || mistake "root: exit code $code: $out"
[[ $asked == *"apt-get install -y --no-install-recommends one two"* ]] || mistake "root: asked for $asked"
[[ $asked != *sudo* ]] || mistake "root: went through sudo"
grep -q 'what apt-get says' "$work/project/build/setup.log" || mistake "root: apt-get's output is not in the log"
[[ $out != *'what apt-get says'* ]] || mistake "root: apt-get's output is on the terminal"

try 'with sudo' bin 1000 'install_packages one two'
[ "$code" -eq 0 ] || mistake "with sudo: exit code $code: $out"
[[ $asked == *"sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends one two"* ]] ||
  mistake "with sudo: asked for $asked"

try 'without sudo' no_sudo 1000 'install_packages one two'
[ "$code" -eq 74 ] || mistake "without sudo: exit code $code: $out"
[[ $out == *"type: apt-get install --no-install-recommends one two (as root)"* ]] || mistake "without sudo: said $out"
[ -z "$asked" ] || mistake "without sudo: asked for $asked"

APT_FAILS=100 try 'apt-get fails' bin 0 'APT_FAILS=100 install_packages one'
[ "$code" -eq 74 ] || mistake "apt-get fails: exit code $code: $out"
[[ $out == *"apt-get failed; its output is at the end of build/setup.log"* ]] || mistake "apt-get fails: said $out"

try 'cmake fails' bin 0 'build_target release nustream'
[ "$code" -eq 74 ] || mistake "cmake fails: exit code $code: $out"
[[ $out == *"cmake failed; its output is at the end of build/setup.log"* ]] || mistake "cmake fails: said $out"
grep -q 'what cmake says' "$work/project/build/setup.log" || mistake "cmake fails: its output is not in the log"
exit $failed
