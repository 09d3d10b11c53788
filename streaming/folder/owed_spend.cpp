// Finds what a folder's releases show and no ledger line pays for: the part of refusals.h about spends. A release
// tells its own ρ, so that its line can be written again. What it cannot tell is charged at the most that it can be.
#include "folder/refusals.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "engine/epoch_decision.h"
#include "error.h"

namespace nustream::folder {
namespace {

/// The line for the epoch of `release`, with the spend that the release itself tells; nothing where the ledger has
/// it.
std::optional<journal::LedgerEntry> owed_for(const journal::LastRelease& release, const journal::Ledger& ledger,
                                             const config::Config& config, bool is_private) {
  if (release.lane != config.lane) {
    throw Failure(Exit::data, fmt::format("{}: releases.jsonl is of lane {}, not of this lane; choose another "
                                          "state.directory",
                                          config.state.directory, release.lane.value()));
  }
  if (engine::covers(ledger.epochs, release)) return std::nullopt;
  // At most the lines since the last sync are lost, so the release's epoch is the ledger's last one or the next.
  const bool next = !ledger.epochs.empty() && release.epoch.value() <= ledger.epochs.back().epoch.value() + 1;
  if (!release.rho || release.digest.empty() || !next) {
    throw Failure(Exit::data, fmt::format("{}: releases.jsonl shows epoch {}, step {}, which the ledger has no spend "
                                          "for; restore the folder, or begin in another one",
                                          config.state.directory, release.epoch.value(), release.steps.value()));
  }
  std::optional<journal::UserSpend> of_user;
  if (release.neighbours.of_user) {
    if (!release.limits) {
      throw Failure(Exit::data, config.state.directory +
                                    ": the last release does not say which limits its users have; restore "
                                    "the folder, or begin in another one");
    }
    // The release tells only the spend of a user that used up its limits. As ρ of k alone it is charged to every
    // user.
    of_user = journal::UserSpend{*release.limits, false, {}, std::nullopt};
    if (release.limits->participation()) of_user->by_count.push_back(*release.rho);
    if (release.limits->mass()) of_user->of_mass = *release.rho;
  }
  // A release does not say where its epoch began, and the lines that did are lost. So the overlap is unknown, and any
  // record may have been in the epoch.
  return journal::LedgerEntry{config.stream,
                              config.lane,
                              release.epoch,
                              Position{0},
                              release.position,
                              release.steps,
                              *release.rho,
                              release.rho_limit.value_or(*release.rho),
                              release.digest,
                              release.neighbours,
                              is_private,
                              journal::Overlap::unknown,
                              of_user,
                              {},
                              {},
                              release.trusts_framing};
}

/// The epoch of a torn release; nothing where its number is not there, or may have been cut.
std::optional<std::uint64_t> epoch_of(std::string_view torn_release) {
  constexpr std::string_view field = "\"epoch\":";
  const std::size_t at = torn_release.find(field);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = torn_release.substr(at + field.size());
  // A number that ends where the bytes end may have lost digits: "1" may have been "12".
  std::uint64_t epoch = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), epoch);
  if (error != std::errc() || end == rest.data() + rest.size() || *end != ',') return std::nullopt;
  return epoch;
}

/// The line of the last known epoch, charged the most that it can have spent, over a range that nobody knows. A torn
/// release may show more of that epoch than any ledger line pays for.
journal::LedgerEntry at_its_limit(const std::string& folder, std::string_view torn_release,
                                  const std::optional<journal::LedgerEntry>& owed, const journal::Ledger& ledger) {
  const auto epoch = epoch_of(torn_release);
  const bool known = owed || !ledger.epochs.empty();
  if (!known || epoch != (owed ? *owed : ledger.epochs.back()).epoch.value()) {
    throw Failure(Exit::data, folder +
                                  ": releases.jsonl ends with a part of a release, of an epoch that the ledger "
                                  "has no spend for; restore the folder, or begin in another one");
  }
  // The last known line has the epoch's identity and its limit, `rho_limit`, beyond which no step of the epoch was
  // ever allowed.
  journal::LedgerEntry last = owed ? *owed : ledger.epochs.back();
  journal::charge_limit(last);
  last.taken.reset();
  last.run.clear();
  return last;
}

}  // namespace

std::optional<journal::LedgerEntry> owed_by(const journal::Adopted& adopted, const journal::Ledger& ledger,
                                            const config::Config& config, bool is_private) {
  std::optional<journal::LedgerEntry> owed;
  if (adopted.last_release) owed = owed_for(*adopted.last_release, ledger, config, is_private);
  // What the release shows is owed beside the line that is known of its epoch.
  for (const journal::LedgerEntry& known : ledger.epochs) {
    if (owed && known.lane == owed->lane && known.epoch == owed->epoch) journal::charge_beside(*owed, known);
  }
  // After `owed_for`: a torn release comes behind the last whole one, and says that the epoch had gone on.
  if (adopted.torn_release) owed = at_its_limit(config.state.directory, *adopted.torn_release, owed, ledger);
  return owed;
}

}  // namespace nustream::folder
