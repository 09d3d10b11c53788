// The file of stored reports: lines with a check and with the number of bytes that were durable before them. From
// these numbers a reopened store tells a torn last commit, which nobody saw, from a loss of what was shown.
#include "local/report_store.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "error.h"
#include "journal/failpoint.h"
#include "journal/running_hash.h"
#include "nustream/base/error.h"
#include "secrets/fields.h"
#include "secrets/hex.h"

namespace nustream::local {
namespace {

using journal::Disk;

// A stored line is RECORD DURABLE CHECK REPORT; all but the report have fixed widths.
constexpr std::size_t record_digits = 64;
constexpr std::size_t durable_digits = 16;
constexpr std::size_t check_digits = 32;
constexpr std::size_t report_column = record_digits + durable_digits + check_digits + 3;
constexpr std::size_t chunk_bytes = 1 << 20;

/// Sixteen hexadecimal digits, the most significant first; append_integer() gives the least significant byte first.
std::string durable_text(std::uint64_t bytes) {
  std::string integer;
  secrets::append_integer(bytes, integer);
  std::ranges::reverse(integer);
  return secrets::to_hex({reinterpret_cast<const std::uint8_t*>(integer.data()), integer.size()});
}

/// The check over everything else in the line.
std::string check_of(std::string_view record, std::string_view durable, std::string_view report) {
  std::string text(record);
  text += ' ';
  text += durable;
  text += ' ';
  text += report;
  return secrets::to_hex(journal::hash_of(text)).substr(0, check_digits);
}

/// What one stored line says.
struct Line {
  RecordName record{};
  std::uint64_t durable = 0;  ///< how many bytes of the file were durable when the line was written
};

/// A stored line; nothing where its form or its check is wrong.
std::optional<Line> parse(std::string_view text) {
  Line line;
  if (text.size() <= report_column || text[record_digits] != ' ' || text[record_digits + durable_digits + 1] != ' ' ||
      text[report_column - 1] != ' ') {
    return std::nullopt;
  }
  const std::string_view record = text.substr(0, record_digits);
  const std::string_view durable = text.substr(record_digits + 1, durable_digits);
  const std::string_view check = text.substr(record_digits + durable_digits + 2, check_digits);
  if (check != check_of(record, durable, text.substr(report_column))) return std::nullopt;
  const auto parsed = std::from_chars(durable.data(), durable.data() + durable.size(), line.durable, 16);
  if (parsed.ec != std::errc{} || !secrets::from_hex(record, line.record)) return std::nullopt;
  return line;
}

/// The kind keeps names of keys, positions and lines apart: the key "7" is not record 7.
RecordName hash_of(char kind, std::string_view text) {
  std::string bytes(1, kind);
  bytes += text;
  return journal::hash_of(bytes);
}

/// The store goes on only if it is sure of what was shown. Otherwise a second draw would spend a record's budget
/// again.
Failure contradiction(const Disk::Path& path, const std::string& what) {
  return {Exit::data, path.string() + " " + what +
                          "; nothing was changed: restore it as it was. A new store (local.reports_directory) makes "
                          "second reports of the same records, and each of them costs its epsilon again"};
}

}  // namespace

RecordName name_of_key(std::string_view key) {
  return hash_of('k', key);
}

RecordName name_of_position(std::uint64_t ordinal) {
  std::string text;
  secrets::append_integer(ordinal, text);
  return hash_of('p', text);
}

RecordName name_of_line(std::string_view line, std::uint64_t before) {
  std::string text;
  secrets::append_integer(before, text);
  text += line;
  return hash_of('l', text);
}

// Goes through the file's lines in order, and says where each stands.
class ReportStore::Scan {
 public:
  explicit Scan(const journal::File& file) : file_(file), size_(file.size()) {}

  /// Goes on to the next line. Returns false at the end, and where what is left has no newline.
  bool next() {
    while (true) {
      const std::size_t newline = text_.find('\n', begin_);
      if (newline != std::string::npos) {
        place_ = offset_ + begin_;
        line_ = std::string_view(text_).substr(begin_, newline - begin_);
        begin_ = newline + 1;
        return true;
      }
      if (!read_more()) return false;
    }
  }
  /// The line without its newline, valid until the next call.
  [[nodiscard]] std::string_view line() const noexcept { return line_; }
  /// Where the line begins, and where the next one would begin.
  [[nodiscard]] std::uint64_t place() const noexcept { return place_; }
  [[nodiscard]] std::uint64_t end() const noexcept { return offset_ + begin_; }
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

 private:
  bool read_more() {
    const std::uint64_t at = offset_ + text_.size();
    if (at >= size_) return false;
    // What was read already is dropped, and the rest of a line that goes on is kept.
    offset_ += begin_;
    text_.erase(0, std::exchange(begin_, 0));
    const std::size_t kept = text_.size();
    text_.resize(kept + chunk_bytes);
    const std::size_t got = file_.read(at, std::span(text_).subspan(kept));
    text_.resize(kept + got);
    return got > 0;
  }

  const journal::File& file_;
  std::uint64_t size_;
  std::uint64_t offset_ = 0;  // where text_ begins in the file
  std::string text_;
  std::size_t begin_ = 0;
  std::string_view line_;
  std::uint64_t place_ = 0;
};

ReportStore::ReportStore(Disk& disk, const Disk::Path& folder, const std::string& heading)
    : disk_(disk), folder_(folder) {
  disk_.make_folder(folder_);
  disk_.require_trusted(folder_);
  try {
    lock_ = disk_.lock(folder_ / "lock");
  } catch (const Failure& failure) {
    if (failure.code() != Exit::locked) throw;
    throw Failure(Exit::locked,
                  "the reports in " + folder_.string() +
                      " are in use by another run; wait for it, or name another local.reports_directory");
  }
  file_ = disk_.open(folder_ / "reports", journal::Access::write);
  file_ ? load(heading) : begin(heading);
}

// Begins the file with its heading. Nothing is shown before the heading is durable, so that a file without a whole
// heading may be begun again.
void ReportStore::begin(const std::string& heading) {
  file_ = disk_.create(folder_ / "reports", journal::Audience::operators);
  const std::string line = heading + "\n";
  file_->write(0, line);
  NUSTREAM_FAILPOINT("after-begin-reports");
  file_->sync();
  disk_.sync_folder(folder_);
  durable_ = line.size();
}

/// Reads the stored lines. Lines are shown only once they are durable, and every line says how many bytes were
/// durable before it. A damaged line is therefore what a crash left of the last commit, of which nothing was shown,
/// unless a later line says that it was durable.
void ReportStore::load(const std::string& heading) {
  const Disk::Path path = folder_ / "reports";
  Scan scan(*file_);
  if (!scan.next()) return begin(heading);
  if (scan.line() != heading) {
    throw contradiction(path, "holds reports of other settings, of another stream or of records named otherwise");
  }
  std::uint64_t whole = scan.end();  // all bytes before are whole lines
  std::uint64_t promised = 0;        // a line says that these bytes are durable
  bool damaged = false;
  while (scan.next()) {
    const std::optional<Line> line = parse(scan.line());
    damaged = damaged || !line;
    if (!line) continue;
    promised = std::max(promised, line->durable);
    if (damaged) continue;
    const Place place{scan.place() + report_column, static_cast<std::uint32_t>(scan.line().size() - report_column)};
    if (!places_.emplace(line->record, place).second) throw contradiction(path, "holds two reports of one record");
    whole = scan.end();
  }
  if (promised > whole) throw contradiction(path, "lost reports that were shown");
  // What lies behind was never shown, since no later line says that it was durable.
  if (whole < scan.size()) file_->truncate(whole);
  write_again(promised, whole);
}

/// Writes the bytes of the last commit again. Nobody knows whether its sync ended or failed. Where it failed, readers
/// see bytes that may never reach the disk, and another sync alone would not help.
void ReportStore::write_again(std::uint64_t from, std::uint64_t to) {
  std::string bytes(to - from, '\0');
  if (file_->read(from, bytes) != bytes.size()) throw contradiction(folder_ / "reports", "was cut");
  file_->write(from, bytes);
  file_->sync();
  disk_.sync_folder(folder_);
  durable_ = to;
}

void ReportStore::add(const RecordName& record, std::string_view report) {
  const std::string name = secrets::to_hex(record);
  const std::string durable = durable_text(durable_);
  // Where the report will be in the file once it is written.
  const std::uint64_t at = durable_ + added_.size() + report_column;
  const bool fresh = places_.emplace(record, Place{at, static_cast<std::uint32_t>(report.size())}).second;
  NUSTREAM_REQUIRE(fresh, "a record has one report");
  added_ += name + ' ' + durable + ' ' + check_of(name, durable, report) + ' ';
  added_ += report;
  added_ += '\n';
}

void ReportStore::commit() {
  if (added_.empty()) return;
  std::uint64_t offset = durable_;
  const auto write = [&](std::string_view bytes) {
    file_->write(offset, bytes);
    offset += bytes.size();
  };
  NUSTREAM_TORN_WRITE("during-write-reports", std::string_view(added_), write);
  NUSTREAM_FAILPOINT("after-write-reports");
  file_->sync();
  NUSTREAM_FAILPOINT("after-sync-reports");
  // The reports may be shown from here on, and not earlier.
  durable_ = offset;
  added_.clear();
}

std::string ReportStore::report(const RecordName& record) const {
  const Place place = places_.at(record);
  NUSTREAM_REQUIRE(place.offset + place.bytes <= durable_, "a report is shown once it is durable");
  std::string text(place.bytes, '\0');
  if (file_->read(place.offset, text) != text.size()) throw contradiction(folder_ / "reports", "was cut");
  return text;
}

}  // namespace nustream::local
