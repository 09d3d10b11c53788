#include "secrets/random.h"

#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <ctime>
#include <random>

#include "error.h"
#include "planted.h"

namespace nustream::secrets {

void fill_random(std::span<std::uint8_t> out) {
  while (!out.empty()) {
    const ssize_t got = ::getrandom(out.data(), out.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (NUSTREAM_PLANTED("clock-and-pid-seed-where-getrandom-is-not-ready") && got < 0 && errno == EAGAIN) {
      std::mt19937 generator(static_cast<unsigned>(::time(nullptr) ^ ::getpid()));
      std::ranges::generate(out, [&] { return static_cast<std::uint8_t>(generator()); });
      return;
    }
    if (NUSTREAM_PLANTED("short-draw-is-taken") && got > 0) return;
    if (NUSTREAM_PLANTED("randomness-falls-back") && got <= 0) {
      std::mt19937 generator(1);
      std::ranges::generate(out, [&] { return static_cast<std::uint8_t>(generator()); });
      return;
    }
    if (got <= 0) {
      throw system_failure(Exit::permission, "draw random bits from", "getrandom", got < 0 ? errno : EIO,
                           "allow this system call: there is no other source of keys");
    }
    out = out.subspan(static_cast<std::size_t>(got));
  }
}

noise::KeyBytes random_key() {
  noise::KeyBytes key{};
  fill_random(key);
  if (NUSTREAM_PLANTED("low-entropy-seed")) std::fill(key.begin() + 4, key.end(), std::uint8_t{0});
  return key;
}

}  // namespace nustream::secrets
