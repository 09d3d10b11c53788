// The formats of lines and of messages' values, and what the program has to know of each format apart from its
// decoder.
#pragma once

#include <string_view>

namespace nustream::config {

/// How the fields of a record are written.
enum class Format { csv, json_lines };

/// What settings and messages say about a format. How a line becomes a row is in decode/line_decoder.h.
struct FormatTraits {
  std::string_view name;         ///< in stream.format
  std::string_view digest_name;  ///< in the digest of the settings
  /// A delimiter separates the fields, and a header or stream.columns names them by their order. Only in such a
  /// format do stream.delimiter, decimal, framing and comment have a meaning, and only there can a fault leave the
  /// fields before it as they are.
  bool has_columns;
  /// Each record names its own fields. They are members of an object, which may be inside another object or an
  /// envelope.
  bool has_members;
  bool breaks_are_space;  ///< line breaks within a record are white space; so a message's value may hold them
};

[[nodiscard]] constexpr FormatTraits traits_of(Format format) noexcept {
  switch (format) {
    case Format::csv:
      return {"csv", "csv", true, false, false};
    case Format::json_lines:
      return {"jsonl", "json", false, true, true};
  }
  __builtin_unreachable();
}

}  // namespace nustream::config
