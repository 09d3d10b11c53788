#!/bin/sh
# The noise's loops have to give the same bits here and on aarch64 (under qemu-user): four million keystream words go
# through both. It is skipped (exit code 77) where the cross compiler or the emulator is missing.
#     noise_aarch64.sh ROOT WORK_FOLDER NATIVE_PROGRAM
set -eu
root=$1
work=$2
native=$3
{ command -v aarch64-linux-gnu-g++ && command -v qemu-aarch64; } >/dev/null || exit 77
mkdir -p "$work"
for source in tests/campaign/noise_kernels src/noise/gaussian src/noise/recurrent src/noise/kernels_baseline \
  src/base/error; do
  # src/noise/rational.cpp is not needed: recurrent.cpp uses only what the header of Rational defines.
  aarch64-linux-gnu-g++ -std=c++20 -O3 -fno-math-errno -ffp-contract=off -I"$root/include" -I"$root/src" \
    -c "$root/$source.cpp" -o "$work/$(basename "$source").o"
done
aarch64-linux-gnu-g++ -static "$work"/*.o -o "$work/noise_kernels.aarch64"
words() {
  head -c 33554432 /dev/zero | openssl enc -aes-256-ctr -K b580d4175631597fa1777c7aaeee025e4522e7cacee224714b5784ec258d9dc4 -iv 0
}
here=$(words 2>/dev/null | "$native" | sha256sum)
there=$(words 2>/dev/null | qemu-aarch64 "$work/noise_kernels.aarch64" | sha256sum)
printf 'here:    %s\naarch64: %s\n' "$here" "$there"
[ "$here" = "$there" ] && [ "$here" != "$(printf '' | sha256sum)" ]
