// What a file of lines begins with, and whether that may decide what the file is.
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

/// Whether the text has the ends of an object.
[[nodiscard]] bool looks_like_object(std::string_view text);
/// Whether the text begins an object with its first member.
[[nodiscard]] bool begins_an_object(std::string_view text);
/// Whether the text begins an array of objects. No record of CSV begins so, with or without a header.
[[nodiscard]] bool begins_an_array_of_objects(std::string_view text);
/// Whether behind the first object of the text another one begins, as where nothing was written between objects.
[[nodiscard]] bool holds_several_objects(std::string_view text);

/// How much of a file's content is looked at.
inline constexpr std::size_t look_bytes = std::size_t{1} << 16;

/// What the decompressed content of a file begins with.
struct FirstContent {
  std::string bytes;
  bool is_all = false;  ///< the content ends there
  /// At most one line of the whole content holds anything, lines that are skipped not counted, and no other file of
  /// the input has records. Only FirstContents finds out; otherwise it is not known, and false.
  bool is_one_line = false;
};

/// The first bytes of the content, at most `bytes_max`, as the reader of its lines finds them; empty for a file that
/// cannot be read twice. A file that cannot be read is reported by whoever reads its records, after those before the
/// fault.
[[nodiscard]] std::optional<FirstContent> first_content(const std::string& path,
                                                        const config::InputSettings& settings, std::size_t bytes_max);

/// What follows in `first` on the byte order mark and on the lines that the settings say are no records.
[[nodiscard]] std::string_view behind_skipped(std::string_view first, const config::InputSettings& settings);

/// The first lines behind those that are skipped, as far as they hold anything, without their line ends. A line that
/// is not whole in `first` is left out. At most 100.
[[nodiscard]] std::vector<std::string_view> first_lines(const FirstContent& first,
                                                        const config::InputSettings& settings);

/// Whether a line of a file without a header has the shape of a record, usable or not. It has to be one object for
/// JSON lines. For CSV it has as many fields as there are columns; it is no line of JSON, and where there is one
/// column alone, its field is a number or empty, or says that there is none ("NA").
[[nodiscard]] bool looks_like_record(std::string_view line, const config::InputSettings& settings);

/// Whether a line may be somebody's record.
using RecordShape = std::function<bool(std::string_view line)>;

/// Whether a file may be refused for what it begins with, so that no single record decides. A header may decide,
/// because it is public. Without a header the first line is a record: it decides where it does not look like one, and
/// fewer than half of the other lines do, of which there has to be one, unless it is the only line of the file.
[[nodiscard]] bool may_decide(const FirstContent& first, const config::InputSettings& settings,
                              const RecordShape& looks_like_record);

/// The beginnings of an input's files, so that a record which is alone in its file does not decide either.
class FirstContents {
 public:
  /// `settings` outlives it.
  FirstContents(const config::InputSettings& settings, RecordShape looks_like_record)
      : settings_(settings), looks_like_record_(std::move(looks_like_record)) {}
  /// As first_content(), and tells of a file without a header whether it is one line. For that the file may be read
  /// further, up to 1 GiB.
  [[nodiscard]] std::optional<FirstContent> of(const std::string& path);

 private:
  [[nodiscard]] bool is_one_line(const std::string& path, const FirstContent& first) const;
  [[nodiscard]] bool other_files_hold_records();
  const config::InputSettings& settings_;
  RecordShape looks_like_record_;
  std::optional<bool> hold_records_;
};

}  // namespace nustream::decode
