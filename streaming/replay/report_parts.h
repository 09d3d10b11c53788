// What the closing tables of `replay` and `estimate` have in common, for people and as JSON.
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "publish/json_text.h"
#include "publish/release_json.h"
#include "publish/reported.h"

namespace nustream::replay {

using publish::reported_intervals;
using publish::ReportedIntervals;

/// One line a coefficient: last, averaged where there is an average, bounds where there are intervals. `note` ends
/// the head line.
void print_estimates(const publish::ShownRelease& release, const std::optional<ReportedIntervals>& intervals,
                     std::string_view note, std::FILE* out);
/// What the intervals are worth at step `step`.
void print_intervals(const ReportedIntervals& intervals, std::uint64_t step, std::FILE* out);
/// F of the first stage, where the release carries one.
void print_strength(const publish::ShownRelease& release, std::FILE* out);

/// Whose ρ it is.
[[nodiscard]] std::string_view protected_unit(const publish::ShownRelease& release) noexcept;

template <class Number>
  requires std::is_arithmetic_v<Number>
void append_field(std::string_view key, Number number, std::string& out) {
  out += ",\"" + std::string(key) + "\":";
  publish::append_number(number, out);
}
void append_field(std::string_view key, std::string_view text, std::string& out);
void append_object(std::string_view key, const std::vector<std::pair<std::string, double>>& values, std::string& out);

}  // namespace nustream::replay
