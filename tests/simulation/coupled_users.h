// Two streams whose unit of privacy is the user. They differ in all records of one user, and the noise of one of them
// is shifted at each step in which that user contributes.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>

#include "coupled_pair.h"
#include "coupled_run.h"
#include "nustream/users/table.h"
#include "users/identifiers.h"

namespace nustream::tests {

/// Settings that many pairs share: limits of either kind or both, for ever or within windows of time, by descent or
/// in running sums.
struct WorldOfUsers {
  explicit WorldOfUsers(std::uint64_t seed);

  std::string toml;
  std::size_t features = 1;
  bool is_label = false;                            ///< whether the target is 0 or 1
  std::unique_ptr<users::Identifiers> identifiers;  ///< reads users from records as the settings' schema says
  std::optional<Settings> settings;
  Claims claims;
  std::uint64_t steps = 0;

  [[nodiscard]] std::uint64_t minibatch() const { return settings->config.descent.minibatch; }
  [[nodiscard]] const users::Limits& limits() const { return *settings->config.descent.users; }
};

struct ShownOfUsers {
  Shown shown;
  users::Table users;  ///< what each user has used up when the run ends
};

/// The two streams, what the first one shows, and the shifts that hide the user in the second.
struct PairOfUsers {
  record::RowBatch rows;
  record::RowBatch other;
  users::UserHash user;  ///< the user who is in the first stream alone
  Fate fate;
  ShownOfUsers here;
  Shifts shifts;
  std::uint64_t steps = 0;          ///< the number of steps taken: as far as a horizon allows
  std::uint64_t contributions = 0;  ///< the number of steps in which the user moves a sum
};

[[nodiscard]] PairOfUsers draw_pair(const WorldOfUsers& world, std::uint64_t seed);

/// Runs one lane over the rows, by processes that die and are followed by others, with the table of the committed
/// steps.
[[nodiscard]] ShownOfUsers run(const WorldOfUsers& world, std::uint64_t seed, const record::RowBatch& rows,
                               const Shifts& shifts, Fate& fate);

/// Whether everybody has used up the same in both streams, except for the user in whom the pair differs and for those
/// who came in that user's place.
[[nodiscard]] bool others_stand_alike(const PairOfUsers& pair, const users::Table& one, const users::Table& two);

}  // namespace nustream::tests
