#!/bin/sh
# Fitted correlations have to have the same bits here and on aarch64 (under qemu-user). It is skipped (exit code 77) where
# the cross compiler or the emulator is missing.
#     optimised_aarch64.sh ROOT WORK_FOLDER NATIVE_PROGRAM
set -eu
root=$1
work=$2
native=$3
{ command -v aarch64-linux-gnu-g++ && command -v qemu-aarch64; } >/dev/null || exit 77
mkdir -p "$work"
noise="coefficients correlation dense elliptic noise_matrix rational rational_nu_ftrl tree"
privacy="dense_encoder encoder_norm exponential_encoder nu_encoder numeric_encoder participation restarted_encoder sensitivity
transfer tree_encoder window_encoder"
sources="tests/campaign/optimised_bits src/base/error"
for name in $noise; do sources="$sources src/noise/$name"; done
for name in $privacy; do sources="$sources src/privacy/$name"; done
for file in "$root"/src/privacy/optimised/*.cpp; do sources="$sources src/privacy/optimised/$(basename "$file" .cpp)"; done
objects=
for source in $sources; do
  object=$work/$(echo "$source" | tr / _).o
  aarch64-linux-gnu-g++ -std=c++20 -O3 -ffp-contract=off -Wno-psabi -I"$root/include" -I"$root/tests/support" \
    -c "$root/$source.cpp" -o "$object"
  objects="$objects $object"
done
# shellcheck disable=SC2086  # a list of files
aarch64-linux-gnu-g++ -static $objects -o "$work/optimised_bits.aarch64"
here=$("$native")
there=$(qemu-aarch64 "$work/optimised_bits.aarch64")
printf 'here:\n%s\naarch64:\n%s\n' "$here" "$there"
[ "$here" = "$there" ] && [ -n "$here" ]
