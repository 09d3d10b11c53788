#!/bin/sh
# The files that are compiled for one instruction set must share no function with the rest of the program. The linker
# keeps a single copy of a shared (weak) function: if that is the copy with the special instructions, a processor that
# lacks them dies in it.
#     noise_kernel_symbols.sh LIBRARY NM
set -eu
shared=$("$2" --defined-only "$1" 2>/dev/null | awk '
  /^kernels_(avx2|avx512)[.]/ { inside = 1; members++; next }
  /^[^ ]*:$/ { inside = 0 }
  inside && $2 ~ /^[WVuT]$/ { print $3 }
  END { if (members != 2) print "expected two members, found " members + 0 }')
[ -z "$shared" ] || { printf 'shared: %s\n' "$shared"; exit 1; }
