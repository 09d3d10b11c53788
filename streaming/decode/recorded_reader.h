// The reader of recorded streams, made of files, framing and decoder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "decode/byte_source.h"
#include "decode/line_buffer.h"
#include "decode/line_decoder.h"
#include "decode/reader.h"
#include "decode/seen_lines.h"
#include "nustream/record/row.h"

namespace nustream::decode {

/// Reads the files one after the other. To be used by one thread at a time.
class RecordedReader : public Reader {
 public:
  RecordedReader(InputSettings settings, const record::Schema& schema);

  bool read(record::RowBatch& batch, std::size_t rows_max) override;
  bool pass(std::span<const std::uint64_t> positions, const Look& look) override;
  [[nodiscard]] std::vector<ReadRecord> at_hand(std::uint64_t position) const override;
  [[nodiscard]] std::span<const SeenLine> first_records() const noexcept override { return first_records_; }
  [[nodiscard]] std::uint64_t bytes_read() const noexcept override;
  [[nodiscard]] std::optional<std::uint64_t> bytes_total() const noexcept override { return bytes_total_; }

  /// Opens the first file and reads its header, unless a signal arrives first. With `columns`, which records have, it
  /// refuses (Failure(data)) a first file whose beginning is not what the settings say (other_kind(),
  /// one_document()). It looks only at a file that can be read only once, because the other files were looked at
  /// before. Such a file without a header gives its first record when its second line is there, or its end, whatever
  /// the first line holds.
  void open(std::optional<std::vector<std::string>> columns = {});
  /// Where a record stands that was read or passed over; the text of the result is left empty.
  [[nodiscard]] SeenLine place_of(std::uint64_t ordinal) const;
  /// The ordinal of the next record.
  [[nodiscard]] std::uint64_t ordinal() const noexcept { return ordinal_; }

 private:
  enum class Step { progress, pause, finished };
  [[nodiscard]] std::unique_ptr<LineDecoder> make_decoder() const;
  [[nodiscard]] Step step(record::RowBatch& batch, std::size_t rows_before, std::size_t rows_max);
  [[nodiscard]] Step read_lines(bool batch_has_rows);
  [[nodiscard]] Step use_over_long(record::RowBatch& batch);
  [[nodiscard]] Step end_file();
  void pass_over_long();
  void keep_first(std::string_view lines);
  void open_next();
  [[nodiscard]] bool begin_content();
  [[nodiscard]] LineBuffer::Behind read_second_line();
  [[nodiscard]] bool refuse_other_pipes(const std::string& path);
  [[nodiscard]] std::uint64_t lines_held() const;
  [[nodiscard]] bool skip_above();
  void read_header();
  void skip_lines(std::uint64_t to);
  [[nodiscard]] ReadRecord next_record() const;
  [[nodiscard]] std::string_view run() const;
  void keep_run();

  InputSettings settings_;
  record::RowBuilder builder_;
  std::string private_column_;
  std::unique_ptr<LineDecoder> decoder_;
  LineBuffer buffer_;
  std::unique_ptr<ByteSource> source_;
  std::size_t files_opened_ = 0;
  std::optional<std::vector<std::string>> columns_;  // where files of other kinds are refused
  bool at_beginning_ = false;                        // before the first line of the file
  bool is_above_ = false;                            // before its first record
  std::uint64_t lines_to_skip_ = 0;                  // of the file, above its header
  bool header_pending_ = false;
  bool file_has_lines_ = false;
  bool over_long_ = false;  // the next record is too long
  std::uint64_t ordinal_ = 0;
  struct FileBegin {
    std::uint64_t ordinal;          // of the file's first record
    std::uint64_t lines_above = 0;  // the header is one of them
    std::string header{};
  };
  std::vector<FileBegin> begins_;  // of the files that were opened
  // at_hand() needs these: the used lines that are still in the buffer, which begin at run_; the lines before them;
  // and the first line that was read.
  const char* run_ = nullptr;
  std::uint64_t run_first_ = 0;  // ordinal of the first line at run_
  RecentLines before_run_;
  std::optional<ReadRecord> first_;
  std::vector<SeenLine> first_records_;
  std::uint64_t bytes_of_closed_files_ = 0;
  std::optional<std::uint64_t> bytes_total_ = 0;
  std::exception_ptr failure_;
};

}  // namespace nustream::decode
