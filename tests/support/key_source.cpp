// A random source in the hands of a test: loaded before the C library (LD_PRELOAD), it takes the place of getrandom.
// Without NUSTREAM_HANDED_OUT it fails; with it, it hands out bytes of its own and writes each call's to that file, a
// line of hexadecimal digits a call.
#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace {

std::uint64_t next_word() {
  static std::uint64_t state = 0x243f6a8885a308d3U;  // splitmix64
  std::uint64_t word = state += 0x9e3779b97f4a7c15U;
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9U;
  word = (word ^ (word >> 27)) * 0x94d049bb133111ebU;
  return word ^ (word >> 31);
}

}  // namespace

extern "C" ssize_t getrandom(void* buffer, std::size_t size, unsigned /*flags*/) {
  const char* const path = std::getenv("NUSTREAM_HANDED_OUT");
  if (path == nullptr) {
    errno = ENOSYS;
    return -1;
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
