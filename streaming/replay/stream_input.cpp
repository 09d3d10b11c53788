// Recognises an input by the marks in a state: keyed hashes of a few records that were read (docs/formats/state.md).
// A mark tells nothing without the key in the sealed state, and the check reads the records that it passes over
// anyway.
#include "replay/stream_input.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "decode/byte_source.h"
#include "error.h"
#include "journal/state_record.h"

namespace nustream::replay {
namespace {

[[noreturn]] void refuse(std::uint64_t position) {
  throw Failure(
      Exit::data,
      fmt::format("record {} of the input is not the one that was read there: records were added, removed or "
                  "reordered, or this is another input; nothing was published: go on with the input as it "
                  "was (more records may follow), or have what is read again charged by --new-epoch --from 0",
                  position));
}

}  // namespace

void StreamInput::open(std::uint64_t position) {
  if (reader_ && position_ == position) return;
  if (reader_ && !reader_->bytes_total()) {
    throw Failure(Exit::io,
                  fmt::format("a pipe was read up to record {} and cannot be read from record {} on: name a "
                              "file, or --from",
                              position_, position));
  }
  reader_ = open_window(config_, window_, position, other_kinds_);
  position_ = position;
}

void StreamInput::pass_marked(decode::Reader& reader, const journal::StateRecord& record) const {
  std::vector<std::uint64_t> positions;
  positions.reserve(record.seen.size());
  for (const journal::SeenRecord& seen : record.seen) positions.push_back(seen.position.value());
  // `next` goes through the marks as they are met, in the order of positions. The reader is asked for exactly those.
  auto next = record.seen.begin();
  const auto look = [&](const decode::ReadRecord& read) {
    const Position position{read.position};
    if (position != next->position) refuse(next->position.value());
    if (journal::record_mark(position, read.bytes, record.seen_key) != next->mac) refuse(read.position);
    ++next;
  };
  do {
    // The signal is looked at before each part of the reading, also before the first one: it may have come while the
    // input was opened.
    if (stop_.load() != 0) {
      throw Failure(Exit::interrupted,
                    "interrupted while the input was looked at; nothing has changed: give the same command again");
    }
  } while (!reader.pass(positions, look));
  // The input ended before the last mark.
  if (next != record.seen.end()) refuse(next->position.value());
}

/// Looks for the marked records by reading the input once for that, from its beginning to the last mark.
void StreamInput::look_apart(const journal::StateRecord& record) const {
  decode::InputSettings marked = config_.input;
  // The reader is opened behind the last mark, and pass() looks at the records on the way there.
  marked.from = record.seen.back().position.value() + 1;
  marked.to.reset();
  pass_marked(*decode::open_reader(marked, config_.schema, decode::OtherKinds::read), record);
}

bool StreamInput::holds(const journal::StateRecord& record) {
  other_kinds_ = decode::OtherKinds::read;
  // A pipe can be read once. Looking at it here would take its records away from the run.
  const auto is_read_once = [](const std::string& file) {
    return decode::is_standard_input(file) || !decode::stored_size(file);
  };
  const std::vector<std::string>& files = config_.input.files;
  // Without marks nothing can be compared, and the answer is no.
  if (record.seen.empty() || std::any_of(files.begin(), files.end(), is_read_once)) return false;
  try {
    look_apart(record);
    return true;
  } catch (const Failure& failure) {
    // A mark that does not fit says that it is another input. Any other failure is a failure.
    if (failure.code() != Exit::data) throw;
    return false;
  }
}

void StreamInput::check(const journal::StateRecord& record) {
  other_kinds_ = decode::OtherKinds::read;
  if (window_.passes > 1 && !record.seen.empty()) look_apart(record);
  open(record.position.value());
  if (window_.passes == 1) pass_marked(*reader_, record);
}

std::vector<decode::ReadRecord> StreamInput::at_hand(Position position) const {
  return reader_ ? reader_->at_hand(position.value()) : std::vector<decode::ReadRecord>();
}

}  // namespace nustream::replay
