// Mirrors docs/formats/kafka.md.
#include "kafka/topic_bookmark.h"

#include "error.h"
#include "secrets/fields.h"

namespace nustream::kafka {
namespace {

constexpr const char* malformed =
    "the state's bookmark is not one of topics: it was made by a command that writes a folder, and this command "
    "reads topics; check "
    "kafka.state_topic";

Offset offset_of(std::uint64_t value) {
  if (value > static_cast<std::uint64_t>(INT64_MAX)) throw Failure(Exit::data, malformed);
  return Offset{static_cast<std::int64_t>(value)};
}

}  // namespace

std::string encode_bookmark(const TopicBookmark& bookmark) {
  std::string out = "topic";
  secrets::append_integer(static_cast<std::uint64_t>(bookmark.releases_from.value()), out);
  // The number is one more than the offset, so that 0 stands for no line.
  const std::uint64_t line = bookmark.ledger_line ? static_cast<std::uint64_t>(bookmark.ledger_line->value()) + 1 : 0;
  secrets::append_integer(line, out);
  return out;
}

TopicBookmark decode_bookmark(std::string_view bytes) {
  secrets::FieldReader fields(bytes, malformed);
  if (fields.bytes(5) != "topic") throw Failure(Exit::data, malformed);
  TopicBookmark bookmark;
  bookmark.releases_from = offset_of(fields.integer<std::uint64_t>());
  const auto line = fields.integer<std::uint64_t>();
  if (line > 0) bookmark.ledger_line = offset_of(line - 1);
  if (!fields.rest().empty()) throw Failure(Exit::data, malformed);
  return bookmark;
}

}  // namespace nustream::kafka
