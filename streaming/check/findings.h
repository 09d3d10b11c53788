// What a dry run over an input found out. All of it depends on data and is not private.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "check/column_profile.h"
#include "check/tally.h"

namespace nustream::check {

/// One number of the row, or the target, over the usable records.
struct ColumnFinding {
  std::string name;
  double center = 0;
  double scale = 1;
  ColumnProfile profile{};      ///< of the value before center and scale, clamped: original units
  std::uint64_t at_bounds = 0;  ///< of the values, how many lie on a bound of the clamp
  /// The text of an indicator that no usable record has; empty where one has, or where it is none.
  std::optional<std::string> never{};

  /// A value in the units of the row.
  [[nodiscard]] double working(double value) const noexcept { return (value - center) / scale; }
};

struct Findings {
  std::string source;  ///< of which input, in words
  Tally tally{};       ///< clipped: at the start iterate
  std::string start;   ///< which iterate that is, in words
  std::vector<ColumnFinding> columns{};
  std::optional<ColumnFinding> target{};
  std::map<std::string, std::string> examples{};  ///< for each reason, examples_of()
  std::string missing{};  ///< members that none of the first records has (decode::MemberNames); else empty
  std::string present{};  ///< those that they have, where one is missing
  std::vector<std::pair<std::string, std::uint64_t>> refused_labels{};  ///< texts, and how many records had them
  std::vector<std::pair<std::string, std::uint64_t>> taken_labels{};    ///< the same of those that are labels
  std::string label_setting{};       ///< model.labels = [...] of those that are there, where one is refused
  std::uint64_t refused_others = 0;  ///< records whose label is refused or not: texts beyond those that are counted
};

}  // namespace nustream::check
