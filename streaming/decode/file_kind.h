// Recognises, by its first bytes, a file that is not what the settings say.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "config/input.h"

namespace nustream::decode {

/// What the decompressed content of a file begins with.
struct FirstContent {
  std::string bytes;
  bool is_all = false;  ///< the content ends there
};
/// The first bytes of the content, at most `bytes_max`; empty for a file that cannot be read twice. A file that
/// cannot be read is reported by whoever reads its records, after those before the fault.
[[nodiscard]] std::optional<FirstContent> first_content(const std::string& path, std::size_t bytes_max);

/// How much of a file's content is looked at.
inline constexpr std::size_t look_bytes = std::size_t{1} << 16;

/// A sentence that says what `path` is and what to type, where its decompressed content is not what settings.format
/// reads; else "". `first` is what the content begins with, and `is_all` says that it ends there.
///
/// Formats of other programs are recognised by the bytes that they always begin with. Text of another kind (CSV
/// instead of JSON lines, an array, a document over many lines) is recognised by its header, or by all lines in
/// `first`; there have to be two, unless the file has only one, so that a single record does not decide. A single
/// record does decide in three cases: it begins with the byte 0x1e or with the first words of another program's text
/// format; it is longer than `first` and begins as an array or holds several objects; or it has a zero byte and is
/// the only whole line in `first`. docs/privacy.md says what this can tell ("Not covered"). The sentence holds
/// nothing of the file.
[[nodiscard]] std::string other_kind(std::string_view first, bool is_all, const config::InputSettings& settings,
                                     const std::string& path);

/// Looks at those files of `settings` that can be read twice. Throws Failure(data) with other_kind(). It throws
/// nothing else: what cannot be read is reported by whoever reads it.
void refuse_other_kinds(const config::InputSettings& settings);

}  // namespace nustream::decode
