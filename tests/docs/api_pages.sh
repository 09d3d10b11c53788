#!/usr/bin/env bash
# The pages of the public headers are made without a warning, and a comment that is wrong does not pass.
# Usage: api_pages.sh ROOT FOLDER. It is skipped (exit code 77) where there is no doxygen.
set -euo pipefail
cd "$1"
folder=$2
command -v doxygen >/dev/null || exit 77
mkdir -p "$folder"

# make_pages LINE…: makes the pages by cmake/Doxyfile with these lines behind it.
make_pages() { { cat cmake/Doxyfile && printf '%s\n' "OUTPUT_DIRECTORY = $folder" "$@"; } | doxygen -; }

make_pages
[ -s "$folder/html/index.html" ] || { printf 'there is no index.html\n' >&2 && exit 1; }
grep -q 'The private descent loop: it takes noisy clipped steps' "$folder/html/descent_2loop_8h.html" ||
  { printf 'the page of descent/loop.h does not say what the header is about\n' >&2 && exit 1; }

# These pages are of a header that is not the project's, and so without the project's main page.
wrong=$folder/wrong
mkdir -p "$wrong"
printf '// A wrong comment.\n#pragma once\n/// \\param b is not there.\nvoid f(int a);\n' >"$wrong/wrong.h"
if make_pages "INPUT = $wrong" 'USE_MDFILE_AS_MAINPAGE =' >/dev/null 2>&1; then
  printf 'a comment about a parameter that is not there was taken\n' >&2
  exit 1
fi
