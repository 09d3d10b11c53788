#include "decode/recorded_reader.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "decode/byte_source.h"
#include "decode/csv_line.h"
#include "decode/file_kind.h"
#include "decode/first_lines.h"
#include "decode/line_decoder.h"
#include "decode/one_document.h"
#include "error.h"

namespace nustream::decode {
namespace {

// How long a batch that has rows waits for more rows from a slow pipe.
constexpr int pipe_patience_milliseconds = 20;

// The largest record_bytes_max, because a record has to fit into memory.
constexpr std::size_t record_bytes_limit = std::size_t{1} << 30;

std::size_t checked_record_bytes(std::size_t bytes) {
  if (bytes == 0 || bytes > record_bytes_limit) {
    throw Failure(Exit::configuration, "stream.record_bytes_max = " + std::to_string(bytes) + ": allowed is 1 to " +
                                           std::to_string(record_bytes_limit));
  }
  return bytes;
}

// Where the first `count` lines of `lines` end, or all of them; `count` becomes the number of lines that were passed.
std::size_t pass_lines(std::string_view lines, std::uint64_t& count) {
  const char* at = lines.data();
  const char* const end = at + lines.size();
  std::uint64_t passed = 0;
  while (at != end && passed < count) {
    at = static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at))) + 1;
    ++passed;
  }
  count = passed;
  return static_cast<std::size_t>(at - lines.data());
}

}  // namespace

RecordedReader::RecordedReader(InputSettings settings, const record::Schema& schema)
    : settings_(std::move(settings)),
      builder_(schema),
      private_column_(private_column(schema)),
      decoder_(make_decoder()),
      buffer_(checked_record_bytes(settings_.record_bytes_max)) {
  if (settings_.files.empty()) throw Failure(Exit::usage, "no input: name a file, or - for standard input");
  if (std::count_if(settings_.files.begin(), settings_.files.end(), is_standard_input) > 1) {
    throw Failure(Exit::usage, "standard input (-) is named more than once; it can be read once");
  }
  for (const std::string& path : settings_.files) {
    // One pipe among the files leaves the total unknown.
    const auto size = stored_size(path);
    bytes_total_ = size && bytes_total_ ? std::optional{*bytes_total_ + *size} : std::nullopt;
  }
}

std::uint64_t RecordedReader::bytes_read() const noexcept {
  return bytes_of_closed_files_ + (source_ ? source_->bytes_read() : 0);
}

void RecordedReader::open(std::optional<std::vector<std::string>> columns) {
  columns_ = std::move(columns);
  open_next();
  // The header, or the first lines, are read now, so that a fault in them is reported before a step is taken.
  while (read_lines(false) == Step::progress && source_ && !file_has_lines_) {
  }
}

std::unique_ptr<LineDecoder> RecordedReader::make_decoder() const {
  return make_line_decoder(settings_, builder_.fields(), private_column_);
}

bool RecordedReader::read(record::RowBatch& batch, std::size_t rows_max) {
  if (failure_) std::rethrow_exception(failure_);
  const std::size_t rows_before = batch.count();
  batch.dimension = builder_.dimension();
  builder_.forget_users();
  try {
    Step last = Step::progress;
    while (last == Step::progress && batch.count() - rows_before < rows_max)
      last = step(batch, rows_before, rows_max);
    return last != Step::finished;
  } catch (...) {
    // Rows that were read are given first; the next call throws the failure.
    failure_ = std::current_exception();
    if (batch.count() == rows_before) throw;
    return true;
  }
}

RecordedReader::Step RecordedReader::step(record::RowBatch& batch, std::size_t rows_before, std::size_t rows_max) {
  if (settings_.to && ordinal_ >= *settings_.to) return Step::finished;
  // Lines above the records are no records, even while some of them are in the buffer.
  if (is_above_) return read_lines(batch.count() != rows_before);
  if (over_long_) return use_over_long(batch);
  if (buffer_.lines().empty()) return read_lines(batch.count() != rows_before);
  if (ordinal_ < settings_.from) {
    skip_lines(settings_.from);
    // Passing over much of a long input takes its time. The caller may look at its flags meanwhile.
    return ordinal_ < settings_.from ? Step::pause : Step::progress;
  }
  if (!first_) first_ = next_record();
  std::size_t rows = rows_max - (batch.count() - rows_before);
  if (settings_.to) rows = static_cast<std::size_t>(std::min<std::uint64_t>(rows, *settings_.to - ordinal_));
  RowWriter writer(builder_, !settings_.time_column.empty(), ordinal_, batch);
  const LineDecoder::Progress progress = decoder_->decode(buffer_.lines(), rows, writer);
  if (first_records_.size() < first_records_max) keep_first(buffer_.lines().substr(0, progress.bytes));
  buffer_.consume(progress.bytes);
  ordinal_ += progress.rows;
  return Step::progress;
}

/// Keeps the first of these records, which begin with that of the present ordinal.
void RecordedReader::keep_first(std::string_view lines) {
  constexpr std::size_t kept_bytes = std::size_t{1} << 16;  // a longer one is hardly made of a few columns
  for (std::uint64_t at = ordinal_; !lines.empty() && first_records_.size() < first_records_max; ++at) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(line.size() + 1);
    if (line.size() > kept_bytes) continue;
    first_records_.push_back(place_of(at));
    first_records_.back().text = line;
  }
}

bool RecordedReader::pass(std::span<const std::uint64_t> positions, const Look& look) {
  while (ordinal_ < settings_.from) {
    if (is_above_ || (!over_long_ && buffer_.lines().empty())) {
      const Step step = read_lines(false);
      // The caller may look at its flags after each read, even where there was progress.
      if (step != Step::finished) return false;
      throw Failure(Exit::data, "the input ends behind record " + std::to_string(ordinal_) + ", and " +
                                    std::to_string(settings_.from) +
                                    " were read from it before; restore it as it was, or have what is read again "
                                    "charged by --new-epoch --from 0");
    }
    auto next = std::lower_bound(positions.begin(), positions.end(), ordinal_);
    if (next != positions.end() && *next == ordinal_) {
      look(next_record());
      ++next;
    }
    // A record that is too long is still one record with one ordinal, so that it is passed like any other.
    if (over_long_) {
      pass_over_long();
    } else {
      // Up to the next record that is asked for, or to the end of what is passed over.
      skip_lines(next != positions.end() ? std::min(*next, settings_.from) : settings_.from);
    }
  }
  return true;
}

std::vector<ReadRecord> RecordedReader::at_hand(std::uint64_t position) const {
  std::vector<ReadRecord> found;
  if (first_ && first_->position < position) found.push_back(*first_);
  // The record right before `position` is wanted, if it was read.
  const std::uint64_t end = std::min(position, ordinal_);
  if (end == 0 || (first_ && first_->position + 1 >= end)) return found;
  // It is in the buffer, or among the lines that were kept when the buffer dropped them.
  const auto line = end > run_first_ ? line_from_end(run(), ordinal_ - end) : before_run_.find(end - 1);
  if (line) found.push_back({end - 1, std::string(line->substr(0, settings_.record_bytes_max))});
  return found;
}

// The lines that were used and are still in the buffer.
std::string_view RecordedReader::run() const {
  if (run_first_ == ordinal_) return {};
  return {run_, static_cast<std::size_t>(buffer_.lines().data() - run_)};
}

// Keeps those lines, before the buffer drops them.
void RecordedReader::keep_run() {
  if (!run().empty()) before_run_.add(run(), ordinal_);
  run_first_ = ordinal_;
}

// The record that will be read next.
ReadRecord RecordedReader::next_record() const {
  if (over_long_) return {ordinal_, std::string(buffer_.over_long_begin())};
  const std::string_view line = buffer_.lines().substr(0, buffer_.lines().find('\n'));
  return {ordinal_, std::string(line.substr(0, settings_.record_bytes_max))};
}

// Reads more lines into the buffer, and opens the next file where the present one has ended.
RecordedReader::Step RecordedReader::read_lines(bool batch_has_rows) {
  if (!source_) {
    if (files_opened_ == settings_.files.size()) return Step::finished;
    open_next();
  }
  // Rows that are there should not wait for a pipe that may be silent for long. Without rows there
  // is nothing to lose.
  if (batch_has_rows && !source_->ready(pipe_patience_milliseconds)) return Step::pause;
  // A line that is too long was found by the call before, which then had to wait for more of the file's beginning.
  if (!over_long_) {
    keep_run();
    switch (buffer_.advance(*source_)) {
      case LineBuffer::State::interrupted:
        return Step::pause;
      case LineBuffer::State::end:
        return end_file();
      case LineBuffer::State::over_long:
        over_long_ = true;
        break;
      case LineBuffer::State::lines:
        break;
    }
  }
  // The order is that of the file: first what kind of file it is, then the lines above, then the header.
  if (at_beginning_ && !begin_content()) return Step::pause;
  if (!skip_above()) return Step::progress;
  file_has_lines_ = true;
  if (header_pending_) read_header();
  is_above_ = false;
  run_ = buffer_.lines().data();
  // The record that is too long is not among the lines of the run.
  if (over_long_) run_first_ = ordinal_ + 1;
  return Step::progress;
}

RecordedReader::Step RecordedReader::use_over_long(record::RowBatch& batch) {
  if (ordinal_ >= settings_.from) {
    if (!first_) first_ = next_record();
    RowWriter writer(builder_, !settings_.time_column.empty(), ordinal_, batch);
    writer.reserve(1);
    decoder_->decode_cut(buffer_.over_long_begin(), too_long, writer);
  }
  pass_over_long();
  return Step::progress;
}

void RecordedReader::pass_over_long() {
  over_long_ = false;
  ++ordinal_;
  // It may be asked for by at_hand(), so that its beginning is kept like a line.
  before_run_.add(std::string(buffer_.over_long_begin()) += '\n', ordinal_);
}

SeenLine RecordedReader::place_of(std::uint64_t ordinal) const {
  // Files are few, and the record is mostly in the last one that was opened.
  std::size_t file = begins_.size() - 1;
  while (file > 0 && begins_[file].ordinal > ordinal) --file;
  const FileBegin& begin = begins_[file];
  return {settings_.files[file], ordinal - begin.ordinal + begin.lines_above + 1, {}, begin.header};
}

// The present file has no more lines.
RecordedReader::Step RecordedReader::end_file() {
  // A file without a line is a mistake, such as a download that failed. If it were passed over, its records would be
  // missing without a word.
  if (!file_has_lines_) throw empty_file(settings_.files[files_opened_ - 1], settings_, decoder_->has_header());
  bytes_of_closed_files_ += source_->bytes_read();
  source_.reset();
  return Step::progress;
}

// Opens the next file. Nothing of it is read yet.
void RecordedReader::open_next() {
  source_ = open_lines(settings_.files[files_opened_++], settings_);
  begins_.push_back({ordinal_});
  buffer_.reset();
  // Files may order their columns differently, so that each header is read anew.
  header_pending_ = decoder_->has_header();
  lines_to_skip_ = settings_.skip_lines;
  at_beginning_ = is_above_ = true;
  file_has_lines_ = false;
}

/// The number of lines in the buffer, behind those that are skipped. An empty line counts as any other: what a record
/// holds must not decide how long the reader waits.
std::uint64_t RecordedReader::lines_held() const {
  const std::string_view lines = buffer_.lines();
  const auto held = static_cast<std::uint64_t>(std::count(lines.begin(), lines.end(), '\n')) + (over_long_ ? 1 : 0);
  return held - std::min(held, settings_.skip_lines);
}

/// Reads on until the second line of a pipe without a header is there, or its end. Returns what came last.
LineBuffer::Behind RecordedReader::read_second_line() {
  LineBuffer::Behind behind = LineBuffer::Behind::more;
  while (behind == LineBuffer::Behind::more && lines_held() < 2) behind = buffer_.read_behind(*source_);
  return behind;
}

/// Refuses a pipe of another kind. Without a header it waits for the second line, or the end, and refuses only a pipe
/// of a single line, or one of which enough lines are there at once: of the few lines of a slow pipe one record could
/// decide. Returns false where nothing came for a moment.
bool RecordedReader::refuse_other_pipes(const std::string& path) {
  // With nine lines there are eight behind the first one, of which fewer than half may look like
  // records (may_decide()).
  constexpr std::uint64_t enough = 9;
  bool has_ended = false;
  if (!has_header(settings_)) {
    try {
      const LineBuffer::Behind behind = read_second_line();
      if (behind == LineBuffer::Behind::interrupted) return false;
      has_ended = behind == LineBuffer::Behind::end;
    } catch (const Failure&) {
      return true;  // the next read meets it again, behind the records that are there
    }
    if (!has_ended && lines_held() < enough) return true;
  }
  const std::string_view text = over_long_ ? buffer_.over_long_begin() : buffer_.lines();
  const bool is_all = has_ended && !over_long_;
  FirstContent first{.bytes = std::string(text.substr(0, look_bytes)), .is_all = is_all && text.size() <= look_bytes};
  first.is_one_line = has_ended && lines_held() < 2 && settings_.files.size() == 1;
  std::string found = may_be_one_document(first, *columns_, settings_)
                          ? one_document(text, is_all, *columns_, settings_, path)
                          : std::string();
  if (found.empty()) found = other_kind(first, settings_, path);
  if (!found.empty()) throw Failure(Exit::data, found);
  return true;
}

/// Looks at the first lines of a file. Returns false where it has to wait for more of them.
bool RecordedReader::begin_content() {
  const std::string& path = settings_.files[files_opened_ - 1];
  if (columns_ && files_opened_ == 1 && !stored_size(path) && !refuse_other_pipes(path)) return false;
  at_beginning_ = false;
  if (!over_long_) buffer_.consume(buffer_.lines().size() - without_mark(buffer_.lines()).size());
  return true;
}

// Passes over the lines above the header, or above the records. Returns false where there may be more such lines than
// were read.
bool RecordedReader::skip_above() {
  const auto is_above = [&](std::string_view line) {
    if (lines_to_skip_ > 0) return true;
    return header_pending_ && !settings_.comment.empty() && line.starts_with(settings_.comment);
  };
  const auto passed = [&] {
    lines_to_skip_ -= lines_to_skip_ > 0 ? 1 : 0;
    ++begins_.back().lines_above;
  };
  if (over_long_) {
    if (!is_above(buffer_.over_long_begin())) return true;
    over_long_ = false;
    passed();
    return false;
  }
  while (!buffer_.lines().empty() && is_above(buffer_.lines())) {
    buffer_.consume(buffer_.lines().find('\n') + 1);
    passed();
  }
  return !buffer_.lines().empty();
}

// Takes the first line behind those that are skipped for the header.
void RecordedReader::read_header() {
  const std::string& path = settings_.files[files_opened_ - 1];
  if (over_long_) {
    throw Failure(Exit::data,
                  "'" + path + "' has no header: its first line is longer than record_bytes_max; add one");
  }
  const std::string_view lines = buffer_.lines();
  const std::string_view header = lines.substr(0, lines.find('\n') + 1);
  begin_file(*decoder_, header, path, settings_);
  ++begins_.back().lines_above;
  begins_.back().header = header;
  buffer_.consume(header.size());
  header_pending_ = false;
}

void RecordedReader::skip_lines(std::uint64_t to) {
  std::uint64_t lines = to - ordinal_;
  buffer_.consume(pass_lines(buffer_.lines(), lines));
  ordinal_ += lines;
}

}  // namespace nustream::decode
