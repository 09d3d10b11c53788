// bzip2, xz and zip around CSV: whatever the bytes are, rows or a failure, in the memory of a buffer.
#include "line_rows.h"

namespace nustream::fuzz {
namespace {

constexpr std::size_t rows_max = 1000;

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
  decode::InputSettings settings;
  settings.files = {file_of(front + std::string(input))};
  settings.header = false;
  settings.columns = {"a", "b"};
  try {
    decode::RecordedReader reader(settings, tests::columns({"a"}, "b"));
    reader.open();
    record::RowBatch batch;
    for (std::size_t rows = 0; rows < rows_max && reader.read(batch, 100); rows += batch.count()) batch.clear();
  } catch (const Failure& failure) {
    require(failure.code() == Exit::io || failure.code() == Exit::data, "damage is a failure of input");
  }
}

}  // namespace
}  // namespace nustream::fuzz

NUSTREAM_FUZZ_TARGET(archive)
