// What is said of a header in which a column is not found. A "header" may be somebody's record, so that its words are
// shown only where it is proven that they are names, or where the reader may see the data.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nustream::decode {

/// The hints for one header. `names` and `configured`, the columns that are wanted of it, have to outlive it.
class HeaderHints {
 public:
  /// `may_show`: the person who reads the message may see the line. `delimiter` is the one that divided the names.
  HeaderHints(const std::vector<std::string>& names, std::span<const std::string> configured, bool may_show,
              char delimiter);

  /// Behind a column that is missing: what was probably meant, such as " (did you mean 'X'? it differs in its capital
  /// letters: copy it from there)"; "" where nothing is near, or where no name may be shown.
  [[nodiscard]] std::string on_column(const std::string& column) const;
  /// Behind the header's place: its names, their number, or what probably divides them.
  [[nodiscard]] std::string on_header() const;

 private:
  [[nodiscard]] bool is_there(const std::string& column) const;
  [[nodiscard]] std::string looking_alike(const std::string& column) const;
  [[nodiscard]] bool is_proven() const;
  [[nodiscard]] std::string one_column() const;
  [[nodiscard]] std::string listed() const;

  const std::vector<std::string>& names_;
  std::span<const std::string> configured_;
  char delimiter_;
  bool are_shown_;
};

/// The text without spaces and tabs around it.
[[nodiscard]] std::string_view without_blanks(std::string_view text);

/// A command that takes away the spaces around quoted fields.
[[nodiscard]] std::string take_spaces_away(char delimiter);

}  // namespace nustream::decode
