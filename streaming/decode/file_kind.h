// Recognises, by its first bytes, a file that is not what the settings say.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "config/input.h"
#include "decode/first_lines.h"

namespace nustream::decode {

struct TextKind {
  std::string what;    ///< in words; "" where it is what the settings say, or where that cannot be decided
  std::string remedy;  ///< what to type, where % stands for the path between two single quotes of a shell
};

/// Says what a text is that begins with `first`, where it is not what `settings` say. Its caller other_kind() asks
/// only where may_decide().
[[nodiscard]] TextKind text_kind(const FirstContent& first, const config::InputSettings& settings);

/// A sentence that says what `path` is and what to type, where its decompressed content, which begins with `first`,
/// is not what settings.format reads; else "".
///
/// Formats of other programs are recognised by the bytes that they always begin with. Text of another kind (CSV
/// instead of JSON lines, an array, a document over many lines) is recognised by its header, or by all of its first
/// lines. No single record decides (may_decide()): without a header the sentence is "" where the lines behind the
/// first one look like records, or where no second line is known. The exception is a file of one line, which has no
/// other record. The sentence holds nothing of the file.
[[nodiscard]] std::string other_kind(const FirstContent& first, const config::InputSettings& settings,
                                     const std::string& path);

/// The name for a file in a command to type. What comes from a pipe has none, and is written to FILE first.
[[nodiscard]] std::string name_to_type(const std::string& path);

/// What `tell` says of the content of `path`, by the name that it is given. Where the file is compressed, the
/// commands in that sentence are for its content, and the command that unpacks it follows; "" where `tell` says
/// nothing.
[[nodiscard]] std::string told_of_content(const std::string& path,
                                          const std::function<std::string(const std::string& name)>& tell);

/// What a file is whose first line is the one word `header`, if the files of another program begin so and the
/// settings have no such column, and what to type; else "". An example is "an ORC file: write it as …".
[[nodiscard]] std::string kind_by_word(std::string_view header);

/// Looks at those files of `settings` that can be read twice. Throws Failure(data) with other_kind(). It throws
/// nothing else: a file that cannot be read is reported by the reader of its records.
void refuse_other_kinds(const config::InputSettings& settings);

}  // namespace nustream::decode
