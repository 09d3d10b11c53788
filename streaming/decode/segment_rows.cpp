// Reads a recorded segment (docs/formats/segment.md) as rows: blocks by SegmentReader, messages by RecordParser, rows
// by MessageDecoder. Positions are offsets, as they are for a run over the topic itself.
#include "decode/segment_rows.h"

#include <algorithm>
#include <memory>

#include "decode/file_source.h"
#include "error.h"

namespace nustream::decode {
namespace {

// How many messages are decoded at once. This many stay in the first-level cache until they are rows.
constexpr std::size_t messages_per_step = 256;

const std::string& only_file(const InputSettings& settings) {
  if (settings.files.size() != 1) {
    throw Failure(Exit::usage,
                  "a recorded segment is read alone: its positions are offsets of a topic, those of other "
                  "files are ordinals; name one file");
  }
  return settings.files.front();
}

// Opens the file as it is stored: a segment compresses its blocks itself.
SegmentReader open_segment(const InputSettings& settings) {
  const std::string& path = only_file(settings);
  return {std::make_unique<FileSource>(path), path};
}

// Puts the next records of a block into `messages`. Throws where they are not the records that the block's header
// announces.
void parse_records(const SegmentReader& segment, RecordParser& records, std::uint64_t& records_left,
                   std::size_t count, MessageBatch& messages) {
  messages.clear();
  for (; count > 0 && records_left > 0; --count, --records_left) {
    if (!records.next(messages)) throw segment.failure_in_block();
  }
  if (records_left > 0) return;
  // The block's header was trusted for skipping and for the tally. Here the records have to agree with it.
  if (!records.at_end() || records.next_offset() != segment.block().last + 1) throw segment.failure_in_block();
}

/// How many of the messages, whose offsets increase, lie below the offset.
std::size_t count_below(std::span<const Message> messages, std::uint64_t offset) {
  const auto found = std::partition_point(messages.begin(), messages.end(),
                                          [&](const Message& message) { return message.offset < offset; });
  return static_cast<std::size_t>(found - messages.begin());
}

/// The message as a state keeps it, to recognise it again.
ReadRecord read_record(const Message& message) {
  return {message.offset, bytes_of(message)};
}

// Calls `take` for each message of the segment until it returns true.
template <class Take>
void scan(SegmentReader& segment, const Take& take) {
  MessageBatch messages;
  while (true) {
    const SegmentReader::State state = segment.advance();
    if (state == SegmentReader::State::end) return;
    if (state != SegmentReader::State::block) throw segment.failure();
    RecordParser records = segment.records();
    for (std::uint64_t left = segment.block().records; left > 0;) {
      parse_records(segment, records, left, messages_per_step, messages);
      for (const Message& message : messages.messages()) {
        if (take(message)) return;
      }
    }
  }
}

}  // namespace

bool is_segment(const std::string& path) {
  // A pipe cannot be looked at without taking bytes from it.
  if (!stored_size(path)) return false;
  FileSource file(path);
  return file.peek(segment_magic.size()) == segment_magic;
}

SegmentRows::SegmentRows(const InputSettings& settings, const record::Schema& schema)
    : from_(settings.from),
      to_(settings.to.value_or(UINT64_MAX)),
      segment_(open_segment(settings)),
      decoder_(settings, schema),
      bytes_total_(stored_size(settings.files.front())) {
  const SegmentHeader& header = segment_.header();
  const std::string what = "'" + settings.files.front() + "' is a recording of partition " +
                           std::to_string(header.partition) + " of topic " + header.topic;
  if (settings.partition && *settings.partition != header.partition) {
    throw Failure(Exit::data, what + ", and this is lane " + std::to_string(*settings.partition) +
                                  "; name the file of that partition, or the lane by --lane");
  }
  // Records between `from` and the start of the recording would be missing without a word. 0 stands for "from the
  // beginning", wherever that is.
  if (from_ != 0 && from_ < header.start) {
    throw Failure(Exit::data, what + " from offset " + std::to_string(header.start) + " on, and the records from " +
                                  std::to_string(from_) + " on are needed; record them too");
  }
}

bool SegmentRows::read(record::RowBatch& batch, std::size_t rows_max) {
  if (failure_) std::rethrow_exception(failure_);
  const std::size_t rows_before = batch.count();
  batch.dimension = decoder_.dimension();
  try {
    while (batch.count() - rows_before < rows_max) {
      if (!step(batch, rows_max - (batch.count() - rows_before))) return false;
    }
    return true;
  } catch (...) {
    // Rows that were read are given first; the next call throws the failure.
    failure_ = std::current_exception();
    if (batch.count() == rows_before) throw;
    return true;
  }
}

bool SegmentRows::step(record::RowBatch& batch, std::size_t rows_max) {
  // messages_ is filled anew below, and at_hand() may ask for the last of them.
  keep_given();
  // tally().next() is the offset behind the blocks so far. A block at or behind the stop is not even read.
  if (records_left_ == 0 && (segment_.tally().next() >= to_ || !next_block(from_))) return false;
  parse_records(segment_, records_, records_left_, std::min(rows_max, messages_per_step), messages_);
  const std::span<const Message> rows = given();
  if (!first_ && !rows.empty()) first_ = read_record(rows.front());
  decoder_.decode(rows, batch);
  // The last message may lie at or behind the stop, although the block began before it.
  return messages_.count() == 0 || messages_.messages().back().offset < to_;
}

// Those of messages_ that became rows.
std::span<const Message> SegmentRows::given() const {
  const std::span<const Message> all = messages_.messages();
  const std::size_t begin = count_below(all, from_), end = std::max(begin, count_below(all, to_));
  return all.subspan(begin, end - begin);
}

// Keeps the last of given(), before messages_ is filled anew.
void SegmentRows::keep_given() {
  if (const auto rows = given(); !rows.empty()) before_given_ = read_record(rows.back());
  messages_.clear();
}

bool SegmentRows::pass(std::span<const std::uint64_t> positions, const Look& look) {
  MessageBatch one;
  std::uint64_t passed = 0;  // after the last record that was taken
  for (const std::uint64_t position : positions) {
    // Offsets may have gaps. A position that no record has is passed without a look.
    while (passed <= position) {
      if (records_left_ == 0 && !next_block(position)) return true;
      parse_records(segment_, records_, records_left_, 1, one);
      const Message& message = one.messages().front();
      passed = message.offset + 1;
      if (message.offset == position) look(read_record(message));
    }
  }
  return true;
}

std::vector<ReadRecord> SegmentRows::at_hand(std::uint64_t position) const {
  std::vector<ReadRecord> found;
  if (first_ && first_->position < position) found.push_back(*first_);
  const std::span<const Message> rows = given();
  const std::size_t below = count_below(rows, position);
  if (below > 0) {
    // The first record is in `found` already.
    if (rows[below - 1].offset != first_->position) found.push_back(read_record(rows[below - 1]));
  } else if (before_given_ && before_given_->position < position && before_given_->position != first_->position) {
    found.push_back(*before_given_);
  }
  return found;
}

// Goes to the next block with a record at or after `from`; false where there is none.
bool SegmentRows::next_block(std::uint64_t from) {
  const SegmentReader::State state = segment_.advance(from);
  if (state == SegmentReader::State::end) return false;
  if (state != SegmentReader::State::block) throw segment_.failure();
  records_ = segment_.records();
  records_left_ = segment_.block().records;
  return true;
}

SegmentHeader segment_header(const InputSettings& settings) {
  return open_segment(settings).header();
}

PositionRange contiguous_offsets(const InputSettings& settings, const Between& between) {
  SegmentReader segment = open_segment(settings);
  std::uint64_t next = segment.header().start;
  scan(segment, [&](const Message& message) {
    if (between && message.offset % messages_per_step == 0) between();
    if (message.offset != next) {
      throw Failure(Exit::data, "'" + settings.files.front() + "' has no record at offset " + std::to_string(next) +
                                    " (a control record, an aborted or a compacted one): several passes need a "
                                    "recording without gaps; replay it once");
    }
    next = message.offset + 1;
    return false;
  });
  return {segment.header().start, next};
}

std::uint64_t offset_at_or_after(const InputSettings& settings, double epoch_seconds, const Between& between) {
  SegmentReader segment = open_segment(settings);
  std::optional<std::uint64_t> found;
  scan(segment, [&](const Message& message) {
    if (between && message.offset % messages_per_step == 0) between();
    // Such a record has no time that could be at or after the one that is asked for.
    if (message.time_kind == TimeKind::none) return false;
    // The ordinal that is found tells about times. The broker's are public as arrivals are; a producer's are data.
    if (message.time_kind == TimeKind::producer && !settings.times_public) {
      throw Failure(Exit::configuration,
                    "a start or stop by time shows the times that the producers gave their records: declare them "
                    "public (stream.times_public), or give an offset");
    }
    if (static_cast<double>(message.milliseconds) / 1000 < epoch_seconds) return false;
    found = message.offset;
    return true;
  });
  // scan() came to the end marker, so that end() is set.
  return found.value_or(segment.end().next);
}

}  // namespace nustream::decode
