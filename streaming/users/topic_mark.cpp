// The bytes of a topic's mark inside the sealed state (docs/formats/users.md, "Mark"): the 40 bytes that a folder's
// mark has too, then 49 that only a topic needs.
#include "users/topic_mark.h"

#include "error.h"

namespace nustream::users {
namespace {

// The state around these bytes is authenticated, so that bytes of another length are no damage. They are the shorter
// mark that `replay` writes into the state of a folder, and the message names that mistake.
constexpr const char* malformed =
    "what the state holds of users is not that of a topic's store: it was made by a command that writes a folder, "
    "and this command reads topics; check kafka.state_topic";

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

void append_division(const Division& division, std::string& out) {
  secrets::append_integer(division.lanes, out);
  secrets::append_integer(division.change, out);
  secrets::append_integer(static_cast<std::uint8_t>(division.partitioner), out);
}

Division take_division(secrets::FieldReader& fields) {
  Division division;
  division.lanes = fields.integer<std::uint32_t>();
  division.change = fields.integer<std::uint32_t>();
  const auto partitioner = fields.integer<std::uint8_t>();
  division.partitioner = static_cast<Partitioner>(partitioner);
  // user_hash is the last of the partitioners. Any greater byte is one that a later version may have added.
  const bool is_known = partitioner <= static_cast<std::uint8_t>(Partitioner::user_hash);
  // A division by zero lanes would be a modulus of zero where a user's lane is computed.
  if (division.lanes == 0 || !is_known) throw Failure(Exit::data, malformed);
  return division;
}

// Of one length always. decode_topic_mark() refuses any other.
std::string encode_mark(const TopicMark& mark) {
  std::string out;
  append_mark(mark.store, out);
  append_division(mark.division, out);
  secrets::append_integer(mark.segment, out);
  append_start(mark.before, out);
  append_start(mark.current, out);
  return out;
}

TopicMark decode_topic_mark(std::string_view bytes) {
  secrets::FieldReader fields(bytes, malformed);
  TopicMark mark;
  mark.store = take_mark(fields);
  mark.division = take_division(fields);
  mark.segment = fields.integer<std::uint64_t>();
  mark.before = take_start(fields);
  mark.current = take_start(fields);
  if (!fields.rest().empty()) throw Failure(Exit::data, malformed);
  return mark;
}

}  // namespace nustream::users
