// A state machine over bytes that knows whether it is inside a quoted field. It changes line breaks there to spaces,
// one for one, so that no byte moves. It is used only where the settings trust that records close their quotes, since
// one that does not would take in those behind it.
#include "decode/byte_source.h"

#include <utility>

#include "decode/csv_line.h"

namespace nustream::decode {
namespace {

class JoinedQuotes : public ByteSource {
 public:
  /// What is found of the file `path` is noted in `longest`, unless that is null.
  JoinedQuotes(std::unique_ptr<ByteSource> source, char delimiter, std::uint64_t lines_above,
               std::size_t quoted_bytes_max, std::shared_ptr<config::LongestRecord> longest = {},
               std::string path = {})
      : source_(std::move(source)),
        delimiter_(delimiter),
        lines_above_(lines_above),
        quoted_bytes_max_(quoted_bytes_max),
        longest_(std::move(longest)),
        path_(std::move(path)) {}

  Result read(std::span<char> buffer) override {
    const Result result = source_->read(buffer);
    for (char& byte : buffer.first(result.bytes)) byte = next(byte);
    if (result.end) end_record(place_ == Place::quoted);
    return result;
  }
  [[nodiscard]] bool ready(int milliseconds) override { return source_->ready(milliseconds); }
  [[nodiscard]] std::uint64_t bytes_read() const noexcept override { return source_->bytes_read(); }

 private:
  enum class Place { field_begins, field, quoted, quote_in_quoted };

  /// The byte that replaces this one.
  char next(char byte) {
    // Behind a byte order mark the first field still begins, so that a quotation mark there opens it.
    if (mark_bytes_ < byte_order_mark.size() && byte == byte_order_mark[mark_bytes_]) {
      ++mark_bytes_;
      return byte;
    }
    // Bytes that began as a mark but are none are the first field's text.
    if (mark_bytes_ > 0 && mark_bytes_ < byte_order_mark.size()) place_ = Place::field;
    mark_bytes_ = byte_order_mark.size();  // no mark is looked for after the file's beginning
    if (lines_above_ > 0) {
      // Quotation marks in lines above the records mean nothing.
      lines_above_ -= byte == '\n' ? 1 : 0;
      line_ += byte == '\n' ? 1 : 0;
      return byte;
    }
    // A line break is replaced only where the field goes on behind it.
    const bool is_inside = place_ == Place::quoted;
    place_ = behind(byte);
    const bool is_line_break = byte == '\n' || byte == '\r';
    const bool is_joined = is_inside && place_ == Place::quoted && is_line_break;
    if (byte == '\n') is_joined ? static_cast<void>(++breaks_) : end_record(false);
    return is_joined ? ' ' : byte;
  }

  /// Notes the record that has ended, if it goes over more lines than any before it, or if the file has ended inside
  /// its quotation mark. A file is opened more than once, and the same record is then noted again.
  void end_record(bool is_open) {
    const bool is_longest = longest_ && breaks_ >= longest_->breaks && !longest_->is_open;
    if (longest_ && breaks_ > 0 && (is_longest || is_open)) *longest_ = {path_, line_, breaks_, is_open};
    line_ += breaks_ + 1;
    breaks_ = 0;
  }

  /// The place of the byte that follows this one.
  Place behind(char byte) noexcept {
    constexpr char quote = '"';
    switch (place_) {
      case Place::field_begins:
        quoted_bytes_ = 0;
        if (byte == quote) return Place::quoted;
        break;
      case Place::field:
        break;
      // Once a field is longer than a record may be, its quotation mark counts as never closed, and line
      // breaks end records again.
      case Place::quoted:
        if (byte == quote) return Place::quote_in_quoted;
        if (++quoted_bytes_ <= quoted_bytes_max_) return Place::quoted;
        break;
      case Place::quote_in_quoted:
        // A doubled quotation mark is a character of the field, and counts as one.
        if (byte == quote && ++quoted_bytes_ <= quoted_bytes_max_) return Place::quoted;
        break;
    }
    return byte == delimiter_ || byte == '\n' ? Place::field_begins : Place::field;
  }

  std::unique_ptr<ByteSource> source_;
  char delimiter_;
  std::uint64_t lines_above_;
  std::size_t quoted_bytes_max_;
  std::size_t quoted_bytes_ = 0;
  std::size_t mark_bytes_ = 0;  // how many bytes of a byte order mark were seen
  Place place_ = Place::field_begins;
  std::shared_ptr<config::LongestRecord> longest_;
  std::string path_;
  std::uint64_t line_ = 1;    // at which the record begins
  std::uint64_t breaks_ = 0;  // line feeds that were replaced in it
};

}  // namespace

std::unique_ptr<ByteSource> joined_quotes(std::unique_ptr<ByteSource> source, char delimiter,
                                          std::uint64_t lines_above, std::size_t quoted_bytes_max) {
  return std::make_unique<JoinedQuotes>(std::move(source), delimiter, lines_above, quoted_bytes_max);
}

std::unique_ptr<ByteSource> open_lines(const std::string& path, const config::InputSettings& settings) {
  auto source = open_source(path);
  if (!settings.framing_is_trusted) return source;
  return std::make_unique<JoinedQuotes>(std::move(source), settings.delimiter, settings.skip_lines,
                                        settings.record_bytes_max, settings.longest, path);
}

}  // namespace nustream::decode
