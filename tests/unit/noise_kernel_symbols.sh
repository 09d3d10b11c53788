#!/bin/sh
# The files that are compiled for one instruction set share no function with the rest of the program: the linker keeps
# one copy of a shared (weak) one, and a processor without that instruction set would die in it.
#     noise_kernel_symbols.sh LIBRARY NM
set -eu
shared=$("$2" --defined-only "$1" 2>/dev/null | awk '
  /^kernels_(avx2|avx512)[.]/ { inside = 1; members++; next }
  /^[^ ]*:$/ { inside = 0 }
  inside && $2 ~ /^[WVuT]$/ { print $3 }
  END { if (members != 2) print "expected two members, found " members + 0 }')
[ -z "$shared" ] || { printf 'shared: %s\n' "$shared"; exit 1; }
