#include "users/topic_mark.h"

#include "error.h"

namespace nustream::users {
namespace {

constexpr const char* malformed =
    "what the state holds of users is not that of a topic's store; a state of a folder is for replay";

void append_start(const SegmentStart& start, std::string& out) {
  secrets::append_integer(start.number, out);
  secrets::append_integer(start.offset, out);
}

SegmentStart take_start(secrets::FieldReader& fields) {
  SegmentStart start;
  start.number = fields.integer<std::uint64_t>();
  start.offset = fields.integer<std::uint64_t>();
  return start;
}

}  // namespace

std::string encode_mark(const TopicMark& mark) {
  std::string out;
  append_mark(mark.store, out);
  secrets::append_integer(mark.lanes, out);
  secrets::append_integer(mark.segment, out);
  append_start(mark.before, out);
  append_start(mark.current, out);
  return out;
}

TopicMark decode_topic_mark(std::string_view bytes) {
  secrets::FieldReader fields(bytes, malformed);
  TopicMark mark;
  mark.store = take_mark(fields);
  mark.lanes = fields.integer<std::uint32_t>();
  mark.segment = fields.integer<std::uint64_t>();
  mark.before = take_start(fields);
  mark.current = take_start(fields);
  if (!fields.rest().empty() || mark.lanes == 0) throw Failure(Exit::data, malformed);
  return mark;
}

}  // namespace nustream::users
