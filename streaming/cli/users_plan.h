// What `nustream plan` says where the unit of privacy is the user: limits side by side, from public guesses.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/mechanism.h"
#include "nustream/users/limits.h"
#include "publish/json_writer.h"

namespace nustream::cli {

/// One choice of limits, under the budget that the settings ask for.
struct LimitsReach {
  users::Limits limits;
  Sensitivity sensitivity;
  double step_noise;           ///< σΔ/m: seed noise of one entry of a step's mean gradient
  std::optional<double> kept;  ///< share of the records that count; empty without guesses
  /// Standard deviation in a coordinate of the iterate; empty where it is not computed.
  std::optional<double> predicted;
};

struct UsersPlan {
  /// For limits that hold within windows of time: what a user with records in `windows` windows may have spent.
  struct OverWindows {
    std::uint64_t windows;
    Rho rho;
  };
  std::vector<LimitsReach> reach;   ///< the settings' own choice comes first
  std::vector<OverWindows> over;    ///< empty where limits hold for ever
  std::vector<std::string> advice;  ///< sentences
};

[[nodiscard]] UsersPlan users_plan(const config::Config& config);
void print(const UsersPlan& plan);
/// Writes "limits":[…], and where limits hold within windows "windows":[{"windows":2,"rho":…},…].
void append_json(const UsersPlan& plan, publish::JsonWriter& json);

}  // namespace nustream::cli
