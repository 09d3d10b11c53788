// What `nustream plan` says where the unit of privacy is the user: limits side by side, from public guesses.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/users_suggestion.h"
#include "config/mechanism.h"
#include "nustream/users/over_windows.h"
#include "publish/json_writer.h"

namespace nustream::cli {

/// What the columns of the table are, in words.
inline constexpr const char* what_is_predicted =
    "kept: of the records, by what their contributions weigh; noise, limits and error: standard deviations of one "
    "coefficient of what is quoted, from the noise, from what limits and bounds cost (records that do not count or "
    "are "
    "shortened), and from both; curvature 1. They follow from the guesses of [plan] alone. What is estimated is the "
    "model of the records that count.";

struct UsersPlan {
  /// For limits that hold within windows of time: what a user with records in `windows` windows may have spent.
  struct OverWindows {
    std::uint64_t windows;
    users::OverWindows spent;
  };
  std::vector<LimitsReach> reach;        ///< the settings' own choice comes first
  std::optional<std::size_t> counted{};  ///< which of them is the best (k, b)
  std::optional<std::size_t> massed{};   ///< which of them is the best mass
  std::optional<UsersSuggestion> suggestion{};
  std::vector<OverWindows> over;    ///< empty where limits hold for ever
  std::vector<std::string> advice;  ///< sentences
};

[[nodiscard]] UsersPlan users_plan(const config::Config& config);
void print(const UsersPlan& plan);
/// Writes "limits":[…], and where limits hold within windows "windows":[{"windows":2,"rho":…,"reached":…},…].
void append_json(const UsersPlan& plan, publish::JsonWriter& json);

}  // namespace nustream::cli
