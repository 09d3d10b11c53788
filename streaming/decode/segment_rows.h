// Reads the records of a recorded segment as rows; their positions are their offsets.
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "decode/message.h"
#include "decode/message_decoder.h"
#include "decode/reader.h"
#include "decode/segment_reader.h"

namespace nustream::decode {

/// Whether `path` is a regular file that begins as a segment does. Throws Failure(io) as stored_size() does.
[[nodiscard]] bool is_segment(const std::string& path);

/// Reads the one segment of the settings. To be used by one thread at a time.
class SegmentRows final : public Reader {
 public:
  /// Throws Failure(usage) where the settings name other files too, and Failure(data) where the segment's partition
  /// is not settings.partition or its first offset is beyond settings.from.
  SegmentRows(const InputSettings& settings, const record::Schema& schema);

  bool read(record::RowBatch& batch, std::size_t rows_max) override;
  bool pass(std::span<const std::uint64_t> positions, const Look& look) override;
  [[nodiscard]] std::vector<ReadRecord> at_hand(std::uint64_t position) const override;
  [[nodiscard]] std::uint64_t bytes_read() const noexcept override { return segment_.bytes_read(); }
  [[nodiscard]] std::optional<std::uint64_t> bytes_total() const noexcept override { return bytes_total_; }

 private:
  [[nodiscard]] bool step(record::RowBatch& batch, std::size_t rows_max);
  [[nodiscard]] bool next_block(std::uint64_t from);
  [[nodiscard]] std::span<const Message> given() const;
  void keep_given();

  std::uint64_t from_;
  std::uint64_t to_;
  SegmentReader segment_;
  MessageDecoder decoder_;
  mutable MessageBatch messages_;
  std::optional<ReadRecord> first_;         // the first record that was read
  std::optional<ReadRecord> before_given_;  // the last record before messages_
  RecordParser records_;
  std::uint64_t records_left_ = 0;  // of the present block
  std::optional<std::uint64_t> bytes_total_;
  std::exception_ptr failure_;
};

/// The header of the segment of the settings.
[[nodiscard]] SegmentHeader segment_header(const InputSettings& settings);
/// The offsets of the segment, from its start to the end of its last record. Throws Failure(data) where one is
/// missing.
[[nodiscard]] PositionRange contiguous_offsets(const InputSettings& settings, const Between& between);
/// See ordinal_at_or_after(); the times are the messages' own.
[[nodiscard]] std::uint64_t offset_at_or_after(const InputSettings& settings, double epoch_seconds,
                                               const Between& between);

}  // namespace nustream::decode
