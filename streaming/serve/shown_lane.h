// What anybody may see of one epoch of a lane, as pages read it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "nustream/base/units.h"
#include "nustream/descent/schedule.h"
#include "nustream/privacy/zcdp.h"
#include "publish/epsilons.h"
#include "publish/json_writer.h"
#include "publish/release_json.h"
#include "serve/history.h"

namespace nustream::serve {

/// Pairs of age in steps and ρ, by rising age.
using SpendByAge = std::vector<std::pair<std::uint64_t, double>>;

/// The public settings of one epoch of a lane.
struct PublicLane {
  publish::ReleaseHeader header;     ///< stream, lane, epoch, δ, settings digest, private or not
  Rho rho_limit;                     ///< what the epoch never exceeds, however long the stream is
  NoiseMultiplier noise_multiplier;  ///< σ, per unit of Δ
  Sensitivity sensitivity;  ///< over the epoch's whole life, in units of Δ: rho_limit = sensitivity²/(2σ²)
  std::optional<descent::Schedule> schedule{};  ///< η_t; running sums have none
  std::optional<Rho> budget;                    ///< hard stop for the ledger's total over all epochs
  StepCount release_every;                      ///< in steps
  std::optional<StepCount> last_step{};         ///< the epoch's last step, where the budget ends it
  std::uint64_t records_of_a_step = 1;
  std::string subject{};  ///< what is estimated, in a sentence
  /// Gives ρ of a record by its age in steps, up to `most`; empty where the age alone does not tell it.
  std::function<SpendByAge(StepCount most)> spend_by_age{};
};

/// The settings, and what was committed and published since the epoch began.
struct ShownLane {
  PublicLane settings;
  History history;
  StepCount steps{0};
  Rho rho{0};
  Rho total{0};
  std::vector<publish::Epsilons> epsilons{};         ///< what rho comes to
  std::vector<publish::Epsilons> epsilons_ledger{};  ///< what total comes to
  std::optional<publish::ShownRelease> release{};
  SpendByAge spend_by_age{};  ///< up to the power of two above `steps`, at most 262,144
};

/// ρ at less than a hundred ages in equal ratios, from 1 to `most` or to the end of the noise's horizon. Empty where
/// records take part several times.
[[nodiscard]] SpendByAge spend_by_age(privacy::Spend spend, StepCount most);

/// Writes the members of an entry of "lanes" in /api/v1/state (docs/metrics.md).
void append_members(const ShownLane& lane, publish::JsonWriter& json);

/// Writes "points":[…], the points of the lane's history after `step`.
void append_points(const ShownLane& lane, std::uint64_t step, publish::JsonWriter& json);

}  // namespace nustream::serve
