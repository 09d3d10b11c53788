# Installs packages and builds, for ./run and ./test. The output of both goes to build/setup.log, which the message of a
# failure names.
# shellcheck shell=bash

setup_log=build/setup.log
mkdir -p build

product_packages=(cmake ninja-build g++ pkg-config libssl-dev libfftw3-dev libeigen3-dev libsodium-dev libcli11-dev
  libtomlplusplus-dev libsimdjson-dev libfmt-dev libzstd-dev zlib1g-dev libbz2-dev
  liblzma-dev libutf8proc-dev librdkafka-dev libboost1.81-dev prometheus-cpp-dev librocksdb-dev)
# shellcheck disable=SC2034  # used by ./test
test_packages=(openssl libgtest-dev libgmock-dev libbenchmark-dev clang-16 clang-tidy-16 clang-format-16 libclang-rt-16-dev
  binutils openssl python3 python3-yaml zstd gzip curl prometheus kcat procps chromium iproute2
  iptables faketime)
# shellcheck disable=SC2034  # used by ./test
docs_packages=(doxygen)
# shellcheck disable=SC2034  # used by tests/campaign/run
campaign_packages=(libarchive-dev qemu-user g++-aarch64-linux-gnu buildah debootstrap lintian dpkg-dev)

now() { date +%s%N; }
elapsed() { awk -v from="$1" -v to="$2" 'BEGIN { printf "%.1f", (to - from) / 1e9 }'; }

fail() {
  printf 'error: %s\n' "$*" >&2
  exit 74
}

missing_packages() {
  local package
  for package in "$@"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || printf '%s ' "$package"
  done
}

# Installs the packages that are missing: as root with apt-get, else with sudo; where neither is possible it prints the
# exact line to type.
install_packages() {
  local missing as_root=()
  command -v dpkg-query >/dev/null || fail "dpkg-query not found: this script installs Debian 12 packages; install $* yourself"
  missing=$(missing_packages "$@")
  [ -z "$missing" ] && return 0
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null || ! { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
      fail "packages are missing and installing them needs root; type: apt-get install --no-install-recommends ${missing% } (as root), then run this again"
    fi
    as_root=(sudo)
  fi
  printf 'installing packages: %s(log: %s)\n' "$missing" "$setup_log" >&2
  # shellcheck disable=SC2086  # the list is meant to split
  { "${as_root[@]}" apt-get update &&
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing
  } >>"$setup_log" 2>&1 </dev/null || fail "apt-get failed; its output is at the end of $setup_log"
}

# The browser's tests need npm. Any npm will do; where there is none, Debian's is installed.
install_npm() { command -v npm >/dev/null || install_packages nodejs npm; }

# build_target PRESET TARGET…: configures once, and then builds. A preset keeps everything in its own folder
# build/PRESET, so that folder alone has to be carried from one machine to another.
build_target() {
  local preset=$1
  shift
  if [ ! -f "build/$preset/build.ninja" ]; then
    printf 'configuring and building (log: %s)\n' "$setup_log" >&2
    cmake --preset "$preset" >>"$setup_log" 2>&1 || fail "cmake failed; its output is at the end of $setup_log"
  elif ninja -C "build/$preset" -n "$@" 2>/dev/null | grep -q '^\[1/'; then
    printf 'building what has changed (log: %s)\n' "$setup_log" >&2
  fi
  cmake --build "build/$preset" --target "$@" >>"$setup_log" 2>&1 ||
    fail "the build failed; the compiler's output is at the end of $setup_log"
}
