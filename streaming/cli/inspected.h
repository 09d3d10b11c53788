// What `nustream inspect` shows of a lane, and the forms in which it shows it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "journal/ledger_chain.h"
#include "nustream/base/units.h"
#include "publish/release_json.h"
#include "secrets/seal.h"
#include "serve/history.h"
#include "users/user_totals.h"

namespace nustream::cli {

/// All that inspect may show: committed and published values, the ledger and the identity. It never holds the outbox,
/// an unreleased iterate, a key or noise.
struct Inspected {
  secrets::StateIdentity identity;
  Position position{0};
  journal::Ledger ledger;
  std::string last_release;                  ///< the line as it was published
  std::string public_key;                    ///< in digits; checks releases and ledger (nustream verify)
  std::string past{};                        ///< earlier releases of a lane whose path is drawn, one a line
  std::string key_file{};                    ///< of a folder; empty under an insecure seed
  std::string witness_file{};                ///< empty where there is none
  std::optional<users::UserTotals> users{};  ///< where --users asks for them; NOT PRIVATE
  std::uint64_t rejected = 0;                ///< records of this epoch that could not be used; NOT PRIVATE
  std::uint64_t records = 0;                 ///< records that this epoch has read, by its positions
};

/// ρ of all epochs, for neighbours as the present epoch defines them, which is the ledger's last.
[[nodiscard]] Rho total_of(const journal::Ledger& ledger);

/// ε of all epochs, at the δ of the last release.
[[nodiscard]] std::vector<publish::Epsilons> total_epsilons(const Inspected& report,
                                                            const publish::ShownRelease& release);

/// What persons with several records are promised; empty where the unit is the user, because a user has all records
/// of one person.
[[nodiscard]] std::vector<publish::GroupSpend> groups_of(const Inspected& report, Delta delta);

/// Prints it for a person, on standard output; `folder` names its place.
void print(const Inspected& report, const std::string& folder);

/// One object of JSON.
[[nodiscard]] std::string to_json(const Inspected& report);

/// Prints an empty line and the path of the main coefficient of an epoch, in letters. `stream` is the picture's
/// title, and `release` the epoch's last release as it was published. Draws nothing where `release` is not one.
void print_chart(const std::string& stream, const std::string& release, const serve::History& history);

}  // namespace nustream::cli
