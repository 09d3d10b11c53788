// One lane's run over given rows, by processes that die and are followed by others, and what anybody sees of it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "coupling.h"
#include "engine/epoch_ledger.h"
#include "history.h"
#include "random_stream.h"
#include "replay/input.h"

namespace nustream::tests {

using Texts = std::vector<RandomRecord>;

/// What anybody sees of one run, and more than that: all that a lane holds is made of clipped records and noise, its
/// second moments too, of which few releases show anything.
struct Shown {
  std::map<std::uint64_t, std::string> lanes;  ///< the lane's state at each commit, by its step
  std::string releases;
  std::string ledger;
  std::string metrics;
  std::string state;
  bool operator==(const Shown&) const = default;
};

/// What a mechanism claims of a run of so many steps, and what that is held against.
struct Claims {
  std::vector<EncoderTwin> encoders;  ///< one a stage
  std::vector<double> stddevs;        ///< of a stage's noise, grid units: by the noise that it is really given
  std::vector<double> spend;          ///< ρ as it runs: after 0, 1, … steps

  Claims() = default;
  Claims(const config::Mechanism& mechanism, std::uint64_t steps);
};

/// Settings that many pairs share.
struct World {
  RandomStream stream;
  folder::Window window;
  std::optional<Settings> settings;
  Claims claims;
  std::uint64_t steps = 0;  ///< of a whole run, unless a limit ends it
  /// Where the epoch goes on from: any values, for they are public.
  std::optional<lane::Carried> carried{};

  /// `beside_values`: of a topic, whose keys and headers may be features.
  World(std::uint64_t seed, std::uint64_t passes_max, bool beside_values);
  /// One in three goes on from a release of an epoch before it.
  void draw_beginning(std::uint64_t seed);
};

/// Of two runs: all that is shown, at the commits that both have. Where a ledger has a line depends on commits, and
/// they agree where they have the same ones.
[[nodiscard]] bool show_the_same(const Shown& one, const Shown& two, bool same_commits);

/// When a run's process commits and dies: neither needs to be when another one's does.
struct Fate {
  std::vector<std::uint64_t> commits;             ///< steps, rising, the last of the run among them
  std::map<std::uint64_t, std::uint64_t> deaths;  ///< by the commit that does not come: the step at which it dies
  std::uint64_t lost = 0;                         ///< processes that died with steps that were not committed
};

[[nodiscard]] engine::EpochLedger ledger_of(const World& world, const secrets::Keyring& keys);

/// One lane over the rows, by processes that die and are followed by others.
[[nodiscard]] Shown run(const World& world, std::uint64_t seed, const record::RowBatch& rows, const Shifts& shifts,
                        Fate& fate);

/// The iterates before the steps `stops`, which rise.
[[nodiscard]] std::vector<std::vector<double>> iterates(const World& world, std::uint64_t seed,
                                                        const record::RowBatch& rows,
                                                        const std::vector<std::uint64_t>& stops);

}  // namespace nustream::tests
