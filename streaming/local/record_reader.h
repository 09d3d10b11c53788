// Reads the users' records one by one, each with its name, for `local randomize`.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "decode/line_decoder.h"
#include "local/lines.h"
#include "local/settings.h"
#include "nustream/record/batch.h"
#include "nustream/record/row.h"

namespace nustream::local {

/// Reads records as the other commands do (docs/formats/input.md), and beside each the text that names it. To be used
/// by one thread at a time.
class RecordReader {
 public:
  /// `settings` has to outlive it. Throws Failure(configuration) where a column is missing, Failure(data) where a
  /// file has no header, and Failure(io) where a file cannot be read, here or when its turn comes.
  explicit RecordReader(const Settings& settings);
  ~RecordReader();
  RecordReader(const RecordReader&) = delete;
  RecordReader& operator=(const RecordReader&) = delete;

  enum class Found : std::uint8_t {
    record,
    nothing_yet,  ///< without `wait`: a pipe has no more at hand
    interrupted,  ///< a signal arrived, or nothing came for a moment; call again to go on
    end,
  };
  [[nodiscard]] Found next(bool wait);

  /// The record that next() found. One that cannot be used is all zeros, as if it were nobody's.
  [[nodiscard]] std::span<double> x() noexcept { return rows_.x; }
  [[nodiscard]] double y() const noexcept { return rows_.y.front(); }
  [[nodiscard]] bool usable() const noexcept { return rows_.rejects.empty(); }
  /// The number of the record, from 0 over all files; headers are not counted.
  [[nodiscard]] std::uint64_t ordinal() const noexcept { return ordinal_ - 1; }
  /// The text in the column settings.record_key. Empty where there is no such setting, or where the record has no
  /// text of 1 to 1024 bytes there.
  [[nodiscard]] std::optional<std::string_view> key() const noexcept { return key_; }
  /// Makes the record all zeros, as if it were nobody's.
  void forget();
  /// The record's bytes; empty where it is longer than record_bytes_max.
  [[nodiscard]] std::string_view line() const noexcept { return line_; }

 private:
  class KeyColumn;

  void use(std::string_view line);
  void use_over_long();

  record::RowBuilder builder_;
  std::unique_ptr<decode::LineDecoder> decoder_;
  std::unique_ptr<KeyColumn> key_column_;
  Lines lines_;
  record::RowBatch rows_;  // holds one record
  std::optional<std::string_view> key_;
  std::string_view line_;
  std::uint64_t ordinal_ = 0;
};

}  // namespace nustream::local
