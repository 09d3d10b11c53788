// What histories of both kinds share: their settings, the undisturbed run, and the reader that never forgets.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/mechanism.h"
#include "journal/ledger_chain.h"
#include "journal/sealed_state.h"
#include "nustream/lane/lane.h"
#include "nustream/record/batch.h"
#include "random_stream.h"
#include "secrets/keyring.h"
#include "simulated_broker.h"

namespace nustream::tests {

/// Where settings are written, since they are read from files; one folder a process.
[[nodiscard]] const std::string& scratch_folder();

/// The settings of a stream with `more` of them. Nothing where they are refused: not every correlation accounts for
/// everything.
struct Settings {
  config::Config config;
  config::Mechanism mechanism;
  std::string digest;
};
inline constexpr int settings_tries_max = 100;
[[nodiscard]] std::optional<Settings> settings_of(const RandomStream& stream, const std::string& more,
                                                  const privacy::Participation& participation);
/// Draws until settings are accepted; nothing where none were in many tries.
template <class Draw>
[[nodiscard]] auto first_accepted(Draw draw) -> decltype(draw()) {
  for (int tries = 0; tries < settings_tries_max; ++tries) {
    if (auto drawn = draw()) return drawn;
  }
  return std::nullopt;
}

/// An epoch behind another: with what the ledger holds before it, and where it goes on from.
struct LaterEpoch {
  EpochId epoch;
  journal::Ledger ledger;
  lane::Carried carried;
};

/// What a run that nothing disturbs comes to.
struct Reference {
  EpochId epoch{0};
  std::vector<std::string> lines;       ///< releases, newlines not included
  std::vector<std::string> every_step;  ///< one for each, as if it were released
  std::uint64_t steps = 0;
  std::uint64_t position = 0;
  std::uint64_t rejected = 0;  ///< among the records that were stepped
  bool at_limit = false;
};

/// One lane over `rows`, straight through: decoder's rows, noise, steps, encoder. `end_release`: of a run that ends.
/// `later`: of an epoch that is not the lane's first.
[[nodiscard]] Reference undisturbed(const Settings& settings, const secrets::Keyring& keys, LaneId lane,
                                    record::RowBatch rows, Position start, bool end_release,
                                    const std::optional<LaterEpoch>& later = {});

/// What can be read of the releases, at every moment, by somebody who never forgets.
class Watcher {
 public:
  /// A line that is readable now. False where its step was seen with another value.
  [[nodiscard]] bool look(const std::string& line);
  /// Step of the furthest release in the epoch seen last.
  [[nodiscard]] std::uint64_t furthest() const noexcept { return furthest_; }

 private:
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::string> seen_;  // by epoch and step
  std::uint64_t furthest_ = 0;
};

/// Whether `lines` are those of the undisturbed run, apart from extra releases on shutdown and by the clock, which
/// may stand in the place of the one at the end: those are what the undisturbed run would have released after their
/// steps. Where the noise was fresh, compares steps, positions and spends alone. Empty, or what differs.
[[nodiscard]] std::string difference(const std::vector<std::string>& lines, const Reference& reference,
                                     bool same_noise);

/// Whether all releases of a lane, from its first on, are chained as one process would have done it. Empty, or what
/// is wrong.
[[nodiscard]] std::string chain_fault(const std::vector<std::string>& lines, std::uint64_t every,
                                      const secrets::Keyring& keys);

/// The same of the last state: steps, position, unusable records and the epoch.
[[nodiscard]] std::string difference(const journal::State& state, const Reference& reference);

/// Lines of a whole text.
[[nodiscard]] std::vector<std::string> lines_of_text(const std::string& text);

}  // namespace nustream::tests
