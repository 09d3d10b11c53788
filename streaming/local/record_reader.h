// The users' records one by one, each with its name: what `local randomize` reads.
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

/// Reads records as the other commands do (docs/formats/input.md), and beside each the text that names it. One thread
/// at a time.
class RecordReader {
 public:
  /// `settings` outlive it. Failure(configuration) where a column is not there, Failure(data) where a file has no
  /// header, Failure(io) where one cannot be read: here or when it is reached.
  explicit RecordReader(const Settings& settings);
  ~RecordReader();
  RecordReader(const RecordReader&) = delete;
  RecordReader& operator=(const RecordReader&) = delete;

  enum class Found : std::uint8_t {
    record,
    nothing_yet,  ///< without `wait`: a pipe has no more at hand
    interrupted,  ///< by a signal, or nothing came for a moment; call again to go on
    end,
  };
  [[nodiscard]] Found next(bool wait);

  /// Of the record that next() found. An unusable one is all zeros, as if of nobody.
  [[nodiscard]] std::span<double> x() noexcept { return rows_.x; }
  [[nodiscard]] double y() const noexcept { return rows_.y.front(); }
  [[nodiscard]] bool usable() const noexcept { return rows_.rejects.empty(); }
  /// From 0, over all files; headers are not counted.
  [[nodiscard]] std::uint64_t ordinal() const noexcept { return ordinal_ - 1; }
  /// The text of settings.record_key; nothing where there is no such setting, or where the record has none of 1 to
  /// 1024 bytes.
  [[nodiscard]] std::optional<std::string_view> key() const noexcept { return key_; }
  /// Makes it one of nobody.
  void forget();
  /// Its bytes; empty where it is longer than record_bytes_max.
  [[nodiscard]] std::string_view line() const noexcept { return line_; }

 private:
  class KeyColumn;

  void use(std::string_view line);
  void use_over_long();

  record::RowBuilder builder_;
  std::unique_ptr<decode::LineDecoder> decoder_;
  std::unique_ptr<KeyColumn> key_column_;
  Lines lines_;
  record::RowBatch rows_;  // of one record
  std::optional<std::string_view> key_;
  std::string_view line_;
  std::uint64_t ordinal_ = 0;
};

}  // namespace nustream::local
