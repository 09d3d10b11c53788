// What a file of lines begins with, and whether that may decide what the file is.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/input.h"

namespace nustream::decode {

/// How much of a file's content is looked at.
inline constexpr std::size_t look_bytes = std::size_t{1} << 16;

/// What the decompressed content of a file begins with.
struct FirstContent {
  std::string bytes;
  bool is_all = false;       ///< the content ends there
  bool is_one_line = false;  ///< the whole content is known to have one line that holds anything, or none
};

/// The first bytes of the content, at most `bytes_max`, as the reader of its lines finds them; empty for a file that
/// cannot be read twice. Where no line ends in them, the whole content is read to learn whether it is one line. A
/// file that cannot be read is reported by whoever reads its records, after those before the fault.
[[nodiscard]] std::optional<FirstContent> first_content(const std::string& path,
                                                        const config::InputSettings& settings, std::size_t bytes_max);

/// Whether the first line of a file is no record but names the columns, and so is public.
[[nodiscard]] bool has_header(const config::InputSettings& settings) noexcept;

/// What follows in `first` on the byte order mark and on the lines that the settings say are no records.
[[nodiscard]] std::string_view behind_skipped(std::string_view first, const config::InputSettings& settings);

/// The first lines behind those that are skipped, as far as they hold anything, without white space around them. A
/// line that is not whole in `first` is left out. At most 100.
[[nodiscard]] std::vector<std::string_view> first_lines(const FirstContent& first,
                                                        const config::InputSettings& settings);

/// Whether behind the first object of the line another one begins, as where nothing was written between objects.
[[nodiscard]] bool holds_several_objects(std::string_view line);

/// Whether more than half of `lines` without the first one look like records: one object each, or as many fields as
/// there are columns, without control bytes. (The header tells how many, or stream.columns.) False where there is
/// only one.
[[nodiscard]] bool others_look_like_records(const std::vector<std::string_view>& lines,
                                            const config::InputSettings& settings);

/// Whether a file may be refused for what it begins with, so that no single record decides. A header may decide,
/// because it is public. Without a header the first line is a record: it decides together with others, where at least
/// two lines are known and the others do not look like records, or where it is the only line of the file.
[[nodiscard]] bool may_decide(const FirstContent& first, const config::InputSettings& settings);

}  // namespace nustream::decode
