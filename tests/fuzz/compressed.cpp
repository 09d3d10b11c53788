// gzip and zstd around CSV: whatever the bytes are, rows or a failure, in the memory of a buffer.
#include "line_rows.h"

namespace nustream::fuzz {
namespace {

constexpr std::size_t rows_max = 1000;

void target(std::string_view input) {
  const std::string content = ((take_byte(input) & 1U) != 0 ? "\x1f\x8b" : "\x28\xb5\x2f\xfd") + std::string(input);
  decode::InputSettings settings;
  settings.files = {file_of(content)};
  settings.header = false;
  settings.columns = {"a", "b"};
  const record::Schema schema = tests::columns({"a"}, "b");
  try {
    decode::RecordedReader reader(settings, schema);
    reader.open();
    record::RowBatch batch;
    for (std::size_t rows = 0; rows < rows_max && reader.read(batch, 100); rows += batch.count()) batch.clear();
  } catch (const Failure& failure) {
    require(failure.code() == Exit::io || failure.code() == Exit::data, "damage is a failure of input");
  }
}

}  // namespace
}  // namespace nustream::fuzz

NUSTREAM_FUZZ_TARGET(compressed)
