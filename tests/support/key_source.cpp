// A random source under a test's control. Loaded before the C library (LD_PRELOAD), it replaces getrandom.
//
// Without NUSTREAM_HANDED_OUT it gives neither key nor nonce, and fails with the errno of NUSTREAM_SOURCE_ERRNO
// (ENOSYS unless set; 0: it returns no byte). With NUSTREAM_HANDED_OUT it hands out bytes of its own, and writes
// those of each call to that file as a line of hexadecimal digits. Processes with another number in
// NUSTREAM_SOURCE_START get other bytes. NUSTREAM_SOURCE_BYTES_MAX is the most that a call hands out; every second
// call is then interrupted by a signal.
#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace {

// What libraries draw at their start is shorter, and has to be given: they would wait for ever.
constexpr std::size_t key_or_nonce_bytes = 24;

std::uint64_t number_of(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

std::uint64_t next_word() {
  static std::uint64_t state = 0x243f6a8885a308d3U ^ (number_of("NUSTREAM_SOURCE_START", 0) << 32U);  // splitmix64
  std::uint64_t word = state += 0x9e3779b97f4a7c15U;
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9U;
  word = (word ^ (word >> 27)) * 0x94d049bb133111ebU;
  return word ^ (word >> 31);
}

}  // namespace

extern "C" ssize_t getrandom(void* buffer, std::size_t size, unsigned /*flags*/) {
  const char* const path = std::getenv("NUSTREAM_HANDED_OUT");
  if (path == nullptr && size < key_or_nonce_bytes) {
    for (std::size_t i = 0; i < size; ++i) static_cast<unsigned char*>(buffer)[i] = static_cast<unsigned char>(i);
    return static_cast<ssize_t>(size);
  }
  if (path == nullptr) {
    errno = static_cast<int>(number_of("NUSTREAM_SOURCE_ERRNO", ENOSYS));
    return errno == 0 ? 0 : -1;
  }
  if (const std::uint64_t most = number_of("NUSTREAM_SOURCE_BYTES_MAX", 0); most > 0) {
    static bool interrupted = false;
    interrupted = !interrupted;
    if (interrupted) {
      errno = EINTR;
      return -1;
    }
    size = std::min<std::size_t>(size, most);
  }
  constexpr const char* digits = "0123456789abcdef";
  std::string line;
  for (std::size_t i = 0; i < size; ++i) {
    const auto byte = static_cast<unsigned char>(next_word());
    static_cast<unsigned char*>(buffer)[i] = byte;
    line += digits[byte >> 4];
    line += digits[byte & 15];
  }
  line += '\n';
  const int file = ::open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
  const ssize_t written = ::write(file, line.data(), line.size());
  ::close(file);
  return written < 0 ? -1 : static_cast<ssize_t>(size);
}
