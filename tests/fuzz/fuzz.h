// Each file of this folder has one kind of input: bytes from anywhere, and what must hold whatever they are. The
// preset fuzz builds the files as targets of libFuzzer; a test that plays the corpora again contains all of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>

#include <sys/mman.h>
#include <unistd.h>

namespace nustream::fuzz {

/// A property that does not hold. Nothing catches it, so a fuzzer sees a crash and the test shows the message.
struct Violation : std::logic_error {
  using std::logic_error::logic_error;
};

inline void require(bool holds, const char* what) {
  if (!holds) throw Violation(what);
}

using Target = void (*)(std::string_view input);

/// Every kind of input by its name, which is also the name of its corpus.
inline std::map<std::string, Target>& targets() {
  static std::map<std::string, Target> all;
  return all;
}

/// Takes the first byte off an input. The byte chooses settings.
inline std::uint8_t take_byte(std::string_view& input) {
  if (input.empty()) return 0;
  const auto byte = static_cast<std::uint8_t>(input.front());
  input.remove_prefix(1);
  return byte;
}

/// Takes some bytes off an input; the first of them says how many.
inline std::string_view take_part(std::string_view& input) {
  std::size_t size = take_byte(input);
  size = std::min(size, input.size());
  const std::string_view part = input.substr(0, size);
  input.remove_prefix(size);
  return part;
}

/// The path of the one file, which holds `content` from now on.
inline const std::string& file_of(std::string_view content) {
  static const int file = ::memfd_create("input", MFD_CLOEXEC);
  static const std::string path = "/proc/self/fd/" + std::to_string(file);
  if (::ftruncate(file, 0) != 0 ||
      ::pwrite(file, content.data(), content.size(), 0) != static_cast<ssize_t>(content.size())) {
    throw std::runtime_error("no file in memory");
  }
  return path;
}

}  // namespace nustream::fuzz
#ifdef NUSTREAM_LIBFUZZER
#define NUSTREAM_FUZZ_TARGET(kind)                                                     \
  extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) { \
    nustream::fuzz::target({reinterpret_cast<const char*>(bytes), size});              \
    return 0;                                                                          \
  }
#else
#define NUSTREAM_FUZZ_TARGET(kind)              \
  [[maybe_unused]] const bool kind##_is_known = \
      nustream::fuzz::targets().emplace(#kind, nustream::fuzz::target).second;
#endif
