#!/usr/bin/env bash
# Checks the Debian package of a build: lintian finds no error and no warning, it holds what the pages say, and its manual
# names every command and exit code. It is skipped (exit code 77) where lintian or dpkg-dev is not installed.
# Usage: debian_package.sh ROOT BUILD
set -euo pipefail
root=$1 build=$2
fail() {
  printf 'debian_package: %s\n' "$*" >&2
  exit 1
}
for tool in lintian dpkg-shlibdeps; do
  command -v "$tool" >/dev/null || { printf 'skipped: no %s here (packages lintian, dpkg-dev)\n' "$tool"; exit 77; }
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
(cd "$build" && cpack -B "$scratch/cpack") >"$scratch/log" 2>&1 || fail "cpack: $(tail -n 5 "$scratch/log")"
package=$(echo "$scratch"/cpack/nustream_*.deb)
lintian --allow-root --fail-on error,warning "$package" || fail "lintian does not accept it"
dpkg-deb -x "$package" "$scratch/unpacked"
dpkg-deb -e "$package" "$scratch/control"

program=$scratch/unpacked/usr/bin/nustream
version=$("$program" --version)
grep -qx "Version: ${version##* }" "$scratch/control/control" || fail "the package has not the version of its program: $version"
grep -qx 'nustream ('"${version##* }"') .*' "$root/packaging/debian/changelog" || fail "the changelog is of another version"
cmp "$root/docker/nustream.service" "$scratch/unpacked/lib/systemd/system/nustream.service"
for file in /usr/share/doc/nustream/kafka.md /usr/share/doc/nustream/examples/stream.toml /usr/share/man/man1/nustream.1.gz; do
  [ -f "$scratch/unpacked$file" ] || fail "it lacks $file"
done
[ -d "$scratch/unpacked/etc/nustream" ] && [ -z "$(ls "$scratch/unpacked/etc/nustream")" ] || fail "settings or keys are in the package"
digest=$(sha256sum "$build/nustream" | cut -d' ' -f1)
grep -q "\"checksumValue\": \"$digest\"" "$scratch/unpacked/usr/share/doc/nustream/nustream.spdx.json" ||
  fail "the bill of materials is of another program"

commands=$("$program" --help | sed -n '/^Subcommands:/,$s/^  \([a-z]*\) .*/\1/p')
[ "$(wc -w <<<"$commands")" -gt 10 ] || fail "the program has no commands: $commands"
manual=$(gzip -dc "$scratch/unpacked/usr/share/man/man1/nustream.1.gz" | sed -n 's/^\.B \([a-z]*\)$/\1/p' | sort -u | grep -vx nustream)
[ "$manual" = "$(sort <<<"$commands")" ] || fail "the manual's commands are others: $manual"
# The manual has to name each exit code of docs/exit-codes.md.
for code in $(sed -n 's/^| \([0-9]*\) |.*/\1/p' "$root/docs/exit-codes.md"); do
  gzip -dc "$scratch/unpacked/usr/share/man/man1/nustream.1.gz" | sed -n '/^\.SH EXIT/,/^\.SH FILES/p' | grep -qw "$code" ||
    fail "the manual lacks exit code $code"
done
printf '%s: lintian accepts it\n' "${package##*/}"
