// One lane's run over given rows, by processes that die and are followed by others, and what anybody sees of the run.
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

/// What anybody sees of one run, and more than that, namely the lane's state: all that a lane holds is made of
/// clipped records and noise. That includes its second moments, of which few releases show anything.
struct Shown {
  std::map<std::uint64_t, std::string> lanes;  ///< the lane's state at each commit, by its step
  std::string releases;
  std::string ledger;
  std::string metrics;
  std::string state;
  bool operator==(const Shown&) const = default;
};

/// What a mechanism claims of a run of so many steps, and the twins with which the claims are compared.
struct Claims {
  std::vector<EncoderTwin> encoders;  ///< one for each stage
  /// The deviation of each stage's noise in grid units, measured on the noise that the stage is really given.
  std::vector<double> stddevs;
  std::vector<double> spend;  ///< the running ρ after 0, 1, … steps

  Claims() = default;
  Claims(const config::Mechanism& mechanism, std::uint64_t steps);
};

/// Settings that many pairs share.
struct World {
  RandomStream stream;
  folder::Window window;
  std::optional<Settings> settings;
  Claims claims;
  std::uint64_t steps = 0;  ///< the steps of a whole run, unless a limit ends it
  /// What the epoch continues from. The values may be any, because they are public.
  std::optional<lane::Carried> carried{};

  /// `beside_values`: the stream is that of a topic, whose keys and headers may be features.
  World(std::uint64_t seed, std::uint64_t passes_max, bool beside_values);
  /// Draws where the epoch begins: one epoch in three continues from a release of an epoch before it.
  void draw_beginning(std::uint64_t seed);
};

/// Whether all that two runs show is the same, at the commits that both have. Where a ledger has a line depends on
/// the commits, so the ledgers are compared only where the runs commit at the same steps.
[[nodiscard]] bool show_the_same(const Shown& one, const Shown& two, bool same_commits);

/// When a run's process commits and dies. In another run both may happen at other steps.
struct Fate {
  std::vector<std::uint64_t> commits;  ///< steps in rising order, the last step of the run among them
  /// The step at which a process dies, by the commit that does not come.
  std::map<std::uint64_t, std::uint64_t> deaths;
  /// The number of processes that died with steps that were not committed.
  std::uint64_t lost = 0;
};

[[nodiscard]] engine::EpochLedger ledger_of(const World& world, const secrets::Keyring& keys);

/// Runs one lane over the rows, by processes that die and are followed by others.
[[nodiscard]] Shown run(const World& world, std::uint64_t seed, const record::RowBatch& rows, const Shifts& shifts,
                        Fate& fate);

/// The lane's states before the steps `stops`, which are in rising order.
[[nodiscard]] std::vector<std::string> states_before(const World& world, std::uint64_t seed,
                                                     const record::RowBatch& rows,
                                                     const std::vector<std::uint64_t>& stops);

}  // namespace nustream::tests
