// What the program says a file is: one sentence or none, which holds nothing of the file's content, whatever the
// bytes are.
#include "decode/file_kind.h"

#include "fuzz.h"

namespace nustream::fuzz {
namespace {

void target(std::string_view input) {
  const unsigned choice = take_byte(input);
  config::InputSettings settings;
  settings.format = (choice & 1U) != 0 ? config::Format::json_lines : config::Format::csv;
  settings.header = (choice & 2U) != 0;
  settings.skip_lines = (choice & 4U) != 0 ? 1 : 0;
  if ((choice & 8U) != 0) settings.comment = "#";
  if (!settings.header) settings.columns = {"a", "b"};
  const decode::FirstContent first{std::string(input), (choice & 16U) != 0, (choice & 32U) != 0};
  const std::string found = decode::other_kind(first, settings, "in");
  require(found.empty() || found.starts_with("'in' is "), "a sentence about the file");
  require(found.find('\n') == std::string::npos, "one line");
  require(found == decode::other_kind(first, settings, "in"), "the same again");
  const auto shape = [&](std::string_view line) { return decode::looks_like_record(line, settings); };
  require(found.empty() || decode::may_decide(first, settings, shape), "no single record decides");
}

}  // namespace
}  // namespace nustream::fuzz

NUSTREAM_FUZZ_TARGET(kind)
