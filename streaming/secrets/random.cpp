#include "secrets/random.h"

#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>

#include "error.h"

namespace nustream::secrets {

void fill_random(std::span<std::uint8_t> out) {
  while (!out.empty()) {
    const ssize_t got = ::getrandom(out.data(), out.size(), 0);
    if (got < 0 && errno == EINTR) continue;
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
  return key;
}

}  // namespace nustream::secrets
