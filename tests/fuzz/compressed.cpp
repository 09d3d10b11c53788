// gzip and zstd around CSV: whatever the bytes are, they give rows or a failure, in the memory of a buffer.
#include "line_rows.h"

namespace nustream::fuzz {
namespace {

void target(std::string_view input) {
  const std::string content = ((take_byte(input) & 1U) != 0 ? "\x1f\x8b" : "\x28\xb5\x2f\xfd") + std::string(input);
  const std::string& path = file_of(content);
  try {
    read_content(path);
    // A frame of a few bytes can hold megabytes of rows, and they take longer than thousands of other inputs.
    if (std::hash<std::string_view>{}(content) % 16384 == 0) read_rows(path);
  } catch (const Failure& failure) {
    require(failure.code() == Exit::io || failure.code() == Exit::data, "damage is a failure of input");
  }
}

}  // namespace
}  // namespace nustream::fuzz

NUSTREAM_FUZZ_TARGET(compressed)
