// Records of a file as a person finds them in it: by their line, and by what stands there. For the operator alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "config/input.h"

namespace nustream::decode {

struct SeenLine {
  std::string file;
  std::uint64_t line = 0;  ///< from 1; lines above the records and the header are counted
  std::string text;        ///< of the record
  std::string header;      ///< of its file; empty where there is none
};

/// The records with these ordinals (increasing), of files of lines that can be read twice; else nothing. Failure(io).
[[nodiscard]] std::map<std::uint64_t, SeenLine> seen_lines(const config::InputSettings& settings,
                                                           std::span<const std::uint64_t> ordinals);

/// What stands in `column` of it, on one line and cut where it is long; empty where nothing does.
[[nodiscard]] std::optional<std::string> text_in(const SeenLine& seen, const std::string& column,
                                                 const config::InputSettings& settings);

/// How many fields it has, and how many columns there are.
struct FieldCounts {
  std::size_t fields = 0;
  std::size_t columns = 0;
};
/// Of CSV; nothing where either cannot be divided.
[[nodiscard]] std::optional<FieldCounts> field_counts(const SeenLine& seen, const config::InputSettings& settings);

}  // namespace nustream::decode
