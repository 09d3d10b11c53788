// Writes the lines of a CSV as a recorded segment with the recorder's own writer: what `nustream record` makes of a
// topic that holds them. Usage: make_segment CSV SEGMENT; the first line, the header, is left out.
#include <cstdint>
#include <exception>
#include <fstream>
#include <string>

#include <fmt/format.h>

#include "journal/disk.h"
#include "recording/segment_writer.h"

int main(int argc, char** argv) try {
  using namespace nustream;
  if (argc != 3) {
    fmt::print(stderr, "usage: make_segment CSV SEGMENT\n");
    return 64;
  }
  std::ifstream rows(argv[1]);
  const auto disk = journal::posix_disk();
  auto writer =
      recording::SegmentWriter::create(*disk, argv[2], {.topic = "rows", .cluster = "", .partition = 0, .start = 0});
  std::string line;
  std::getline(rows, line);
  std::uint64_t offset = 0;
  while (std::getline(rows, line)) writer.add({.offset = offset++, .value = line});
  writer.finish(offset);
  if (offset == 0) fmt::print(stderr, "{} has no rows\n", argv[1]);
  return offset == 0 ? 65 : 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 74;
}
