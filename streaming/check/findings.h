// What a dry run found out about an input. All of it depends on data and is not private.
#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "check/column_profile.h"
#include "check/tally.h"
#include "config/config.h"

namespace nustream::check {

/// What was found of one number of the row, or of the target, over the usable records.
struct ColumnFinding {
  std::string name;
  double center = 0;
  double scale = 1;
  bool center_is_measured = false;  ///< the setting is "private": `center` is then a placeholder
  bool scale_is_measured = false;
  bool clamp_is_measured = false;  ///< no value is clamped then
  ColumnProfile profile{};         ///< of values in original units: clamped, before center and scale
  std::uint64_t at_bounds = 0;     ///< how many of the values lie on a bound of the clamp
  /// The text of an indicator that no usable record has. Empty where a record has it, or the number is no indicator.
  std::optional<std::string> never{};

  /// A value in original units, converted to the units of the row.
  [[nodiscard]] double working(double value) const noexcept { return (value - center) / scale; }
  /// Whether the units of the row are known before anything is measured.
  [[nodiscard]] bool is_placed() const noexcept { return !center_is_measured && !scale_is_measured; }
};

struct Findings {
  std::string source;                     ///< which input was read, in words
  Tally tally{};                          ///< its clips are those at the start iterate
  std::vector<std::string> to_measure{};  ///< Config::measuring.keys: settings that a run measures first
  bool clips_are_known = true;  ///< false where measured settings decide what is clipped; then none are counted
  std::string start;            ///< which iterate the run starts at, in words
  std::optional<std::uint64_t> users{};  ///< different users of usable records, up to users_max; of users alone
  std::vector<ColumnFinding> columns{};
  std::optional<ColumnFinding> target{};
  bool target_has_units = false;  ///< the loss takes the target as it is: it may have neither center nor scale
  /// The columns of [weight] and [exposure], unscaled: `at_bounds` counts the values that count as the maximum.
  std::optional<ColumnFinding> weight{}, exposure{};
  std::map<std::string, std::string> examples{};  ///< for each reason, examples_of()
  std::string missing{};          ///< members that none of the first records has (decode::MemberNames); else empty
  std::string times{};            ///< odd_times() (times.h)
  bool is_used_up_known = false;  ///< whether tally.used_up was counted: there are users, and they have limits
  std::string no_step{};          ///< config::too_few_for_a_step(), where the whole input was read
  std::string long_record{};      ///< long_record() (long_records.h)
  std::vector<std::string> foreign{};  ///< columns with texts that are not UTF-8 (foreign_texts.h), in sentences
  std::string files{};                 ///< decode::files_of_one_line()
  std::string present{};               ///< members that the first records have, where one is missing
  std::vector<std::pair<std::string, std::uint64_t>> refused_labels{};  ///< texts, and the number of their records
  std::vector<std::pair<std::string, std::uint64_t>> taken_labels{};    ///< texts taken as labels, and their records
  std::size_t classes_without_records = 0;                              ///< of those that the model tells apart
  std::string label_setting{};  ///< model.labels = […] of the texts that are there, where one is refused; and their
                                ///< number, where it is another
  std::string label_fault{};    ///< why there is none, where a text cannot be typed
  std::uint64_t refused_others = 0;  ///< records whose text came once texts_max texts were counted
};

/// No more users than this are counted.
inline constexpr std::uint64_t users_max = std::uint64_t{1} << 20;

/// Whether what is clipped where a run begins depends on no setting that is measured first.
[[nodiscard]] bool clips_are_known(const config::Config& config);

/// What every output of a dry run says about itself.
inline constexpr const char* not_private =
    "NOT PRIVATE: what follows was read from the data, without noise; it is for the operator alone, and settings "
    "chosen "
    "by looking at it are not covered by the promise";

void print(const Findings& findings, std::FILE* out);
/// The findings as one object, which begins with "private":false.
[[nodiscard]] std::string to_json(const Findings& findings);

}  // namespace nustream::check
