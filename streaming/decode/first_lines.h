// The beginning of a file of lines, and whether it may decide what the file is.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/input.h"

namespace nustream::decode {

/// The text without the spaces, tabs and line ends around it.
[[nodiscard]] std::string_view trimmed(std::string_view text);

// Each of the following takes a trimmed text.

/// Whether the text begins and ends as an object does.
[[nodiscard]] bool looks_like_object(std::string_view text);
/// Whether the text begins an object with its first member.
[[nodiscard]] bool begins_an_object(std::string_view text);
/// Whether the text begins an array of objects. No record of CSV begins so, with or without a header.
[[nodiscard]] bool begins_an_array_of_objects(std::string_view text);
/// Whether another object begins after the first object of the text, with nothing written between them.
[[nodiscard]] bool holds_several_objects(std::string_view text);
/// Whether the text begins with an object and something follows it, such as a comment.
[[nodiscard]] bool goes_on_behind_object(std::string_view text);

/// How much of a file's content is looked at.
inline constexpr std::size_t look_bytes = std::size_t{1} << 16;

/// What the decompressed content of a file begins with.
struct FirstContent {
  std::string bytes;
  bool is_all = false;  ///< the content ends there
  /// At most one line of the whole content is not empty, where lines that are skipped do not count, and no other file
  /// of the input has records. Only FirstContents finds that out; without it the value is false.
  bool is_one_line = false;
};

/// What becomes of a fault in a file's content.
enum class Faults {
  left,   ///< to the reader of the file's records, which reports it behind the records before it
  thrown  ///< at once
};

/// The first bytes of the content, at most `bytes_max`, as the reader of its lines finds them. Empty for a file that
/// cannot be read twice. Throws Failure(io) where the file cannot be read, if `faults` says so.
[[nodiscard]] std::optional<FirstContent> first_content(const std::string& path,
                                                        const config::InputSettings& settings, std::size_t bytes_max,
                                                        Faults faults = Faults::left);

/// The part of `first` behind the byte order mark and the lines that the settings say are no records.
[[nodiscard]] std::string_view behind_skipped(std::string_view first, const config::InputSettings& settings);

/// The first lines behind those that are skipped, except empty ones, without their line ends. A line that is not
/// whole in `first` is left out. At most 100.
[[nodiscard]] std::vector<std::string_view> first_lines(const FirstContent& first,
                                                        const config::InputSettings& settings);

/// Whether a line of a file without a header has the shape of a record, usable or not. For JSON lines it has to be
/// one object. For CSV it must not be a line of JSON, and needs as many fields as there are columns. If there is one
/// column only, its field has to be a number, empty, or a word for a missing value ("NA").
[[nodiscard]] bool looks_like_record(std::string_view line, const config::InputSettings& settings);

/// Whether a line may be somebody's record.
using RecordShape = std::function<bool(std::string_view line)>;

/// Whether a file may be refused for what it begins with. The rule is made so that no single record decides. A header
/// may decide, because it is public. Without a header the first line is a record. It decides only where it does not
/// look like a record, and fewer than half of the other lines do. There has to be another line, unless this is the
/// only line of the file.
[[nodiscard]] bool may_decide(const FirstContent& first, const config::InputSettings& settings,
                              const RecordShape& looks_like_record);

/// The beginnings of an input's files. With them a record that is alone in its file does not decide either.
class FirstContents {
 public:
  /// `settings` outlives it.
  FirstContents(const config::InputSettings& settings, RecordShape looks_like_record)
      : settings_(settings), looks_like_record_(std::move(looks_like_record)) {}
  /// Works as first_content(), and finds out for a file without a header whether it is one line. For that the file
  /// may be read further, up to 1 GiB.
  [[nodiscard]] std::optional<FirstContent> of(const std::string& path);

 private:
  [[nodiscard]] bool is_one_line(const std::string& path, const FirstContent& first) const;
  [[nodiscard]] bool other_files_hold_records();
  const config::InputSettings& settings_;
  RecordShape looks_like_record_;
  std::optional<bool> hold_records_;
};

}  // namespace nustream::decode
