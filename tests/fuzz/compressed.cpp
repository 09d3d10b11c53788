// gzip and zstd around CSV: whatever the bytes are, they give content or a failure, in the memory of a buffer.
#include "compressed_content.h"

namespace nustream::fuzz {
namespace {

void target(std::string_view input) {
  const std::string content = ((take_byte(input) & 1U) != 0 ? "\x1f\x8b" : "\x28\xb5\x2f\xfd") + std::string(input);
  read_compressed(content);
}

}  // namespace
}  // namespace nustream::fuzz

NUSTREAM_FUZZ_TARGET(compressed)
