// bzip2, xz and zip around CSV: whatever the bytes are, they give content or a failure, in the memory of a buffer.
#include "compressed_content.h"

namespace nustream::fuzz {
namespace {

std::string begun(std::string_view& input) {
  switch (take_byte(input) % 3) {
    case 0:
      return "BZh1\x31\x41\x59\x26\x53\x59";
    case 1:
      return std::string("\xfd\x37zXZ\0", 6);
    default:
      return "PK\x03\x04";
  }
}

void target(std::string_view input) {
  const std::string front = begun(input);
  read_compressed(front + std::string(input));
}

}  // namespace
}  // namespace nustream::fuzz

NUSTREAM_FUZZ_TARGET(archive)
