#!/usr/bin/env bash
# Tests the hook before a commit: it takes what is right, and refuses a file of another form, an arrow that
# points up and a second clip.
# Usage: pre_commit_test.sh ROOT. A stand-in takes the place of clang-tidy, whose rules (.clang-tidy) are not tested here.
set -euo pipefail
root=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
git init -q .
git config user.name test
git config user.email test@example.invalid
mkdir -p tests/style tests/rooms src/lane src/base include/nustream streaming
cp "$root/tests/style/pre-commit" tests/style/
cp "$root/tests/rooms/arrows.py" tests/rooms/
cp "$root/.clang-format" .
# A stand-in for the search for a second clip, which knows every file of the product by name.
printf 'import pathlib, sys\nsys.exit(pathlib.Path("src/lane/second_clip.cpp").is_file())\n' >tests/rooms/one_step.py
printf '#!/bin/bash\necho "$@" >asked\n' >tests/style/tidy
chmod +x tests/style/tidy
ln -s "$PWD/tests/style/pre-commit" "$(git rev-parse --git-path hooks)/pre-commit"

failed=0
# try NAME WANTED: commits src/ with the message NAME, and notes a failure unless the commit is made (WANTED is yes) or
# refused (WANTED is no).
try() {
  local made=yes
  git add src
  git commit -qm "$1" >out 2>&1 || made=no
  [ "$made" = "$2" ] || { printf 'pre_commit_test: %s: made %s\n' "$1" "$made" >&2 && cat out >&2 && failed=1; }
}
printf 'int one() {\n  return 1;\n}\n' >src/lane/one.cpp
printf '#pragma once\n' >src/lane/two.h
try 'what is right' yes
[ "$(cat asked)" = src/lane/one.cpp ] || { printf 'pre_commit_test: tidy looked at: %s\n' "$(cat asked)" >&2 && failed=1; }
printf 'int one() { return    1; }\n' >src/lane/one.cpp
try 'another form' no
git checkout -q HEAD -- src && printf '#include "../lane/two.h"\n' >src/base/up.cpp
try 'an arrow that points up' no
rm src/base/up.cpp && printf 'int second() {\n  return 2;\n}\n' >src/lane/second_clip.cpp
try 'a second clip' no
git rm -q --cached src/lane/second_clip.cpp && rm src/lane/second_clip.cpp && printf 'int three() {\n  return 3;\n}\n' >src/lane/three.cpp
try 'what is right again' yes
exit "$failed"
