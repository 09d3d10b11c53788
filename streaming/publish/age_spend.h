// Tells what records of several ages have cost, where the settings ask for it (release.spend_by_age).
#pragma once

#include <optional>
#include <string>

#include "nustream/base/units.h"
#include "nustream/privacy/zcdp.h"
#include "publish/json_writer.h"

namespace nustream::publish {

/// The member "rho_by_age" of a lane's releases. Only the newest age of a release is computed, because the others
/// were told before; so releases are appended in the order of their steps. Not thread-safe.
class AgeSpend {
 public:
  /// `spend` is that of records which take part once: with several participations an age does not tell a spend.
  explicit AgeSpend(privacy::Spend spend) : spend_(std::move(spend)) {}

  /// Writes `"rho_by_age":{"1":0.001,"2":0.0013}` for the ages 1, 2, 4, … up to `steps`, in steps. A record has age
  /// 1 once its own step is taken. Throws Unsupported where records take part several times.
  void append(StepCount steps, JsonWriter& json) {
    for (; next_age_ != 0 && next_age_ <= steps.value(); next_age_ *= 2) {
      JsonWriter::behind(told_).field(std::to_string(next_age_), spend_.of_age(StepCount{next_age_}).value());
    }
    const auto by_age = json.object("rho_by_age");
    json.raw_members(told_);
  }

 private:
  privacy::Spend spend_;
  std::string told_;  // the members of all ages below next_age_
  std::uint64_t next_age_ = 1;
};

}  // namespace nustream::publish
