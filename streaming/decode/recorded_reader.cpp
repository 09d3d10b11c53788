#include "decode/recorded_reader.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "error.h"

namespace nustream::decode {
namespace {

// How long a batch that has rows already waits for a slow pipe to give more.
constexpr int pipe_patience_milliseconds = 20;

// The largest record_bytes_max: a record has to fit into memory.
constexpr std::size_t record_bytes_limit = std::size_t{1} << 30;

std::size_t checked_record_bytes(std::size_t bytes) {
  if (bytes == 0 || bytes > record_bytes_limit) {
    throw Failure(Exit::configuration, "record_bytes_max = " + std::to_string(bytes) + " is not allowed: 1 to " +
                                           std::to_string(record_bytes_limit));
  }
  return bytes;
}

// Behind the first `count` lines of `lines`, or behind all; `count` becomes the number of lines passed.
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
      decoder_(make_line_decoder(settings_, builder_.fields())),
      buffer_(checked_record_bytes(settings_.record_bytes_max)) {
  if (settings_.files.empty()) throw Failure(Exit::usage, "no input: name a file, or - for standard input");
  if (std::count_if(settings_.files.begin(), settings_.files.end(), is_standard_input) > 1) {
    throw Failure(Exit::usage, "standard input (-) is named more than once; it can be read once");
  }
  for (const std::string& path : settings_.files) {
    const auto size = stored_size(path);
    bytes_total_ = size && bytes_total_ ? std::optional{*bytes_total_ + *size} : std::nullopt;
  }
}

std::uint64_t RecordedReader::bytes_read() const noexcept {
  return bytes_of_closed_files_ + (source_ ? source_->bytes_read() : 0);
}

void RecordedReader::open() {
  open_next();
  static_cast<void>(read_lines(false));
}

bool RecordedReader::read(record::RowBatch& batch, std::size_t rows_max) {
  if (failure_) std::rethrow_exception(failure_);
  const std::size_t rows_before = batch.count();
  batch.dimension = builder_.dimension();
  try {
    Step last = Step::progress;
    while (last == Step::progress && batch.count() - rows_before < rows_max)
      last = step(batch, rows_before, rows_max);
    return last != Step::finished;
  } catch (...) {
    // What was read is given first, and the failure at the next call.
    failure_ = std::current_exception();
    if (batch.count() == rows_before) throw;
    return true;
  }
}

RecordedReader::Step RecordedReader::step(record::RowBatch& batch, std::size_t rows_before, std::size_t rows_max) {
  if (settings_.to && ordinal_ >= *settings_.to) return Step::finished;
  if (over_long_) return use_over_long(batch);
  if (buffer_.lines().empty()) return read_lines(batch.count() != rows_before);
  if (ordinal_ < settings_.from) {
    skip_lines();
    return Step::progress;
  }
  std::size_t rows = rows_max - (batch.count() - rows_before);
  if (settings_.to) rows = static_cast<std::size_t>(std::min<std::uint64_t>(rows, *settings_.to - ordinal_));
  RowWriter writer(builder_, !settings_.time_column.empty(), ordinal_, batch);
  const LineDecoder::Progress progress = decoder_->decode(buffer_.lines(), rows, writer);
  buffer_.consume(progress.bytes);
  ordinal_ += progress.rows;
  return Step::progress;
}

RecordedReader::Step RecordedReader::read_lines(bool batch_has_rows) {
  if (!source_) {
    if (files_opened_ == settings_.files.size()) return Step::finished;
    open_next();
  }
  if (batch_has_rows && !source_->ready(pipe_patience_milliseconds)) return Step::pause;
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
  file_has_lines_ = true;
  if (header_pending_) read_header();
  return Step::progress;
}

RecordedReader::Step RecordedReader::use_over_long(record::RowBatch& batch) {
  over_long_ = false;
  if (ordinal_ >= settings_.from) {
    RowWriter writer(builder_, !settings_.time_column.empty(), ordinal_, batch);
    writer.reserve(1);
    writer.write_unusable(too_long);
  }
  ++ordinal_;
  return Step::progress;
}

RecordedReader::Step RecordedReader::end_file() {
  if (!file_has_lines_) {
    throw Failure(Exit::data, "'" + settings_.files[files_opened_ - 1] + "' is empty; give it records" +
                                  (decoder_->has_header() ? " and a header" : ""));
  }
  bytes_of_closed_files_ += source_->bytes_read();
  source_.reset();
  return Step::progress;
}

void RecordedReader::open_next() {
  source_ = open_source(settings_.files[files_opened_++]);
  buffer_.reset();
  header_pending_ = decoder_->has_header();
  file_has_lines_ = false;
}

void RecordedReader::read_header() {
  const std::string& path = settings_.files[files_opened_ - 1];
  if (over_long_) {
    throw Failure(Exit::data,
                  "'" + path + "' has no header: its first line is longer than record_bytes_max; add one");
  }
  const std::string_view lines = buffer_.lines();
  const std::string_view header = lines.substr(0, lines.find('\n') + 1);
  decoder_->begin_file(header, path);
  buffer_.consume(header.size());
  header_pending_ = false;
}

void RecordedReader::skip_lines() {
  std::uint64_t lines = settings_.from - ordinal_;
  buffer_.consume(pass_lines(buffer_.lines(), lines));
  ordinal_ += lines;
}

}  // namespace nustream::decode
