// What a file is that is not what the settings say, told by its first bytes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "config/input.h"

namespace nustream::decode {

/// What the content of a file, decompressed, begins with.
struct FirstContent {
  std::string bytes;
  bool is_all = false;  ///< nothing follows
};
/// The first bytes of it, at most `bytes_max`; nothing of what cannot be read twice. What cannot be read is told by
/// who reads it in earnest, behind the records before it.
[[nodiscard]] std::optional<FirstContent> first_content(const std::string& path, std::size_t bytes_max);

/// So much of the content of a file is looked at.
inline constexpr std::size_t look_bytes = std::size_t{1} << 16;

/// One sentence that says what `path` is and what to type, where its content, decompressed, is not what
/// settings.format reads; else "". `first`: what the content begins with; `is_all`: nothing follows.
///
/// Formats of other programs are told by the bytes that they always begin with. One text for another (CSV as JSON
/// lines, an array, a document over many lines) is told by the header, or by all lines in `first`, two at least or
/// all there are: one record alone does not decide. The sentence holds nothing of the file.
[[nodiscard]] std::string other_kind(std::string_view first, bool is_all, const config::InputSettings& settings,
                                     const std::string& path);

/// Looks at those files of `settings` that can be read twice. Failure(data) with other_kind(); nothing else, since
/// what cannot be read is told by who reads it.
void refuse_other_kinds(const config::InputSettings& settings);

}  // namespace nustream::decode
