// Texts as characters, whatever their bytes are. For messages: no record is read by it.
#pragma once

#include <string>
#include <string_view>

namespace nustream::config {

/// The text's characters. A byte that belongs to no character of UTF-8 (RFC 3629) is one by itself, with a number
/// beyond Unicode, so that no two different texts have the same characters.
[[nodiscard]] std::u32string characters(std::string_view text);

/// Whether the whole text is UTF-8.
[[nodiscard]] bool is_utf8(std::string_view text);

/// The text as it can be shown: each byte that belongs to no character is written as "\xe9", and all else is as it
/// is.
[[nodiscard]] std::string with_bytes_escaped(std::string_view text);

/// The same, with control characters written as "\f", "\r" or "\x01" too, so that it is on one line and a terminal
/// does nothing but show it.
[[nodiscard]] std::string with_all_escaped(std::string_view text);

/// The text as UTF-8 for a parser that takes nothing else: a character for private use (from U+10FF00 on) stands for
/// each byte that belongs to no character.
[[nodiscard]] std::string bytes_as_characters(std::string_view text);
/// A part of such a text with its own bytes again.
[[nodiscard]] std::string characters_as_bytes(std::string_view text);

/// "WHAT not UTF-8: iconv …": what to type for a file whose text is not UTF-8, of which `what` names a part with its
/// verb. Most such files come from Windows; other encodings have names of their own for iconv.
[[nodiscard]] std::string not_utf8(std::string_view what = "this is");

}  // namespace nustream::config
