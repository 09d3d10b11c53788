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
#include "journal/state_record.h"
#include "nustream/lane/lane.h"
#include "nustream/record/batch.h"
#include "nustream/users/standings.h"
#include "random_stream.h"
#include "secrets/keyring.h"
#include "simulated_broker.h"

namespace nustream::tests {

/// The folder in which settings are written, since they are read from files; each process has one.
[[nodiscard]] const std::string& scratch_folder();

/// The settings of a stream with `more` settings added. Empty where they are refused: not every correlation can be
/// combined with every other setting.
struct Settings {
  config::Config config;
  config::Mechanism mechanism;
  std::string digest;
};
inline constexpr int settings_tries_max = 100;
[[nodiscard]] std::optional<Settings> settings_of(const RandomStream& stream, const std::string& more,
                                                  const privacy::Participation& participation);
/// Draws until settings are accepted; empty where none were in many tries.
template <class Draw>
[[nodiscard]] auto first_accepted(Draw draw) -> decltype(draw()) {
  for (int tries = 0; tries < settings_tries_max; ++tries) {
    if (auto drawn = draw()) return drawn;
  }
  return std::nullopt;
}

/// What each user has used up.
using Counts = std::map<users::UserHash, users::Standing>;
[[nodiscard]] Counts counts_of(const users::Standings& table);

/// What users have used up after some step, and how far the clock of their windows has come, in milliseconds and
/// windows since 1970. Both are empty where limits hold for ever, and before the first known time.
struct UsersAt {
  Counts counts;
  std::optional<std::int64_t> latest{};
  std::optional<std::int64_t> window{};
};

/// An epoch behind another one: what the ledger holds before it, and what it continues from.
struct LaterEpoch {
  EpochId epoch;
  journal::Ledger ledger;
  std::optional<lane::Carried> carried;  ///< empty where there is no release to go on from
  std::optional<Counts> users{};         ///< what users have used up already; empty where everybody counts anew
  bool tells_total = false;              ///< releases tell what all epochs of the lane come to, as those of topics do
};

/// The result of a run that nothing disturbs.
struct Reference {
  EpochId epoch{0};
  std::vector<std::string> lines;       ///< the releases, without their newlines
  std::vector<std::string> every_step;  ///< a release for each step, as if every step were released
  std::uint64_t steps = 0;
  std::uint64_t position = 0;
  std::uint64_t rejected = 0;  ///< the number of unusable records among those that were stepped
  bool at_limit = false;
  std::vector<UsersAt> users;       ///< after each number of steps from 0 on; empty where the unit is the record
  std::uint64_t borders = 0;        ///< the number of steps before which users began anew who had used something up
  std::uint64_t behind_border = 0;  ///< the number of users' records that came when the window of their step was over
};

/// Whether the stream's model is solved from running sums, and its stage at this step is not the first.
[[nodiscard]] bool is_behind_recentring(const config::Config& config, std::uint64_t steps);
/// Counts what the running sums of records have been through in a history.
void count_sums(const config::Config& config, const Reference& reference, FaultCounts& happened);

/// Takes one lane over `rows` straight through: the decoder's rows, noise, steps, encoder. `end_release`: whether the
/// run ends with a release. `later`: for an epoch that is not the lane's first.
[[nodiscard]] Reference undisturbed(const Settings& settings, const secrets::Keyring& keys, LaneId lane,
                                    record::RowBatch rows, Position start, bool end_release,
                                    const std::optional<LaterEpoch>& later = {});

/// What can be read of the releases, at every moment, by somebody who never forgets.
class Watcher {
 public:
  /// Looks at a line that is readable now. False where its step was seen with another value before.
  [[nodiscard]] bool look(const std::string& line);
  /// The step of the furthest release in the epoch that was seen last.
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

/// Checks that all releases of a lane, from its first on, are chained as one process would have chained them. Returns
/// what is wrong; empty where nothing is.
[[nodiscard]] std::string chain_fault(const std::vector<std::string>& lines, std::uint64_t every,
                                      const secrets::Keyring& keys);

/// Compares the last state in the same way: its steps, position, unusable records and epoch.
[[nodiscard]] std::string difference(const journal::State& state, const Reference& reference);

/// The lines of a whole text.
[[nodiscard]] std::vector<std::string> lines_of_text(const std::string& text);

}  // namespace nustream::tests
