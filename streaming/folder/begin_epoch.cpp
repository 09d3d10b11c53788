// How a session begins an epoch: under a fresh noise key, and at the last release or where the settings say.
#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "engine/going_on.h"
#include "engine/noise_feed.h"
#include "folder/session.h"
#include "journal/last_release.h"
#include "secrets/random.h"
#include "users/closing.h"
#include "users/open_table.h"

namespace nustream::folder {
namespace {

/// What a state says of its users. Null where there is no state, or its records belong to nobody.
const journal::UsersOfState* users_of(const journal::State* state) {
  return state != nullptr && state->record.users ? &*state->record.users : nullptr;
}

/// The limits of users in the last epoch that is known. Empty where that epoch counted no users.
std::optional<users::Limits> limits_of_last_epoch(const std::vector<journal::LedgerEntry>& known) {
  if (known.empty() || !known.back().user) return std::nullopt;
  return known.back().user->limits;
}

}  // namespace

/// Refuses an epoch that keeps no users (estimate's) behind a state that knows of closed ones. The epoch would count
/// their rows, and its state would forget them, so that a later epoch counted them, too.
void Session::require_nobody_closed(const journal::State& before) const {
  try {
    if (!users::holds_closed(*look_at_store(*disk_, config_.state.directory, before))) return;
  } catch (const Failure& failure) {
    if (!users::tells_of_lost_store(failure)) throw;
    return;  // who was closed is forgotten already
  }
  throw Failure(Exit::data, config_.state.directory +
                                ": 'nustream users close' closed users here, and this command keeps no store of "
                                "users: it would count them, and so would a later epoch; name another "
                                "state.directory, and leave their records out of its input");
}

/// Notes a warning for the operator: a table counts users again that were closed before 'users end'.
void Session::tell_of_ended_users() {
  lost_users_ = config_.state.directory +
                ": what was known of its users was ended: users that 'nustream users close' closed there count again "
                "in this table; leave their records out of it";
}

/// Opens the users of an epoch that begins. Returns whether their counts carry over from the epoch before, which
/// needs its state, its store and limits of the same kind.
bool Session::begin_users(const journal::State* before, const engine::Found& found,
                          const std::vector<journal::LedgerEntry>& known_epochs) {
  const journal::UsersOfState* const known = users_of(before);
  // 'users end' leaves a state that knows no users, and the empty files of their store. Behind an estimate the files
  // are as they were, and nobody was closed there.
  const bool was_ended = before != nullptr && known == nullptr && was_store_emptied(config_.state.directory);
  if (!config_.users || !config_.users->are_kept) {
    if (known) require_nobody_closed(*before);
    if (config_.users && was_ended) tell_of_ended_users();
    return false;
  }
  // In an older copy of the folder, nobody knows what users have done since that copy was made.
  const bool may_carry_over = !found.behind_witness && found.state == engine::Found::State::committed;
  const std::optional<users::Limits> limits_before = limits_of_last_epoch(known_epochs);
  EpochUsers begun = users_of_epoch(*disk_, config_.state.directory, {config_.stream, config_.lane}, *config_.users,
                                    known, limits_before, may_carry_over);
  if (begun.is_store_lost || was_ended || (before == nullptr && limits_before)) {
    lost_users_ = fmt::format("{}: what {}: {}", config_.state.directory,
                              was_ended ? "was known of its users was ended" : "is known of its users is lost",
                              users::closed_count_again);
  }
  users_ = std::move(begun.users);
  return begun.carries_over;
}

/// Opens the users that the state `state` of a resumed epoch knows: its key, counts and store.
void Session::go_on_with_users(const journal::State& state) {
  if (!config_.users || !config_.users->are_kept) return;
  if (!state.record.users) {
    throw Failure(Exit::data, config_.state.directory + ": the state holds no users; begin another state.directory");
  }
  users_ = std::make_unique<FolderUsers>(*disk_, config_.state.directory,
                                         users::StoreIdentity{config_.stream, config_.lane}, *config_.users,
                                         *state.record.users);
}

void Session::use_ledger(EpochId epoch, Position start, journal::Overlap overlap, journal::Ledger ledger,
                         bool carries_over) {
  ledger_.emplace(engine::EpochIdentity{config_.stream, config_.lane, epoch, start, overlap, epoch_.digest,
                                        config_.privacy.neighbours(), keys_.ring->is_private(),
                                        digests_.text_of(epoch_.digest), config_.descent.users, carries_over,
                                        config_.privacy.budget, config_.input.framing_is_trusted},
                  mechanism_, std::move(ledger));
}

/// Where quotes may hold line breaks, the delimiter and the longest record decide where records end. So under other
/// settings the same positions may stand for other records.
bool Session::renumbers(const std::vector<journal::LedgerEntry>& known) const {
  return config_.input.framing_is_trusted && std::ranges::any_of(known, [&](const journal::LedgerEntry& entry) {
           return entry.settings_digest != epoch_.digest;
         });
}

void Session::begin_epoch(const engine::Begin& begin, const std::vector<journal::LedgerEntry>& lost,
                          journal::Ledger ledger, const Options& options, bool carries_over) {
  const std::vector<journal::LedgerEntry> owed = engine::lines_before_epoch(ledger, lost, begin.owed);
  use_ledger(begin.epoch, begin.start, begin.overlap, std::move(ledger), carries_over);
  for (const journal::LedgerEntry& line : owed) ledger_->owe(line);
  // The key of the marks is kept in the sealed state: without it a mark tells nothing of a record. Marks that were
  // kept bring theirs.
  if (marks_.seen.empty()) marks_.key = secrets::random_key();
  // In a private run the key is fresh, so that the noise of this epoch tells nothing of another's. Its only copies
  // are in `first`, which wipes itself, and in the feed.
  const journal::NoiseCheckpoints first =
      engine::noise_of_new_epoch(*keys_.ring, config_.stream, config_.lane, begin.epoch, mechanism_);
  lane_ = engine::first_estimator(config_, mechanism_, begin.start);
  if (begin.epoch.value() > 0) choose_beginning(begin.epoch, options);
  feed_.emplace(mechanism_, first, StepIndex{0}, &locked_, keys_.ring->healing(false));
}

/// Keeps the marks of the epoch before, where this one begins behind them over the same input. Without them a run
/// that stops before it has marked a record of its own could go on over any input, whose records the epoch before may
/// have read.
void Session::keep_marks(const journal::StateRecord& before, Position start) {
  if (before.seen.empty() || before.seen.back().position >= start) return;
  marks_.seen = before.seen;
  marks_.key = before.seen_key;
}

/// Lets the epoch begin at the last line of the releases file, or at the settings' start. What the epoch before owed
/// is published by now; and a release that can be read is public, whatever became of its state.
void Session::choose_beginning(EpochId epoch, const Options& options) {
  if (options.from_start) {
    epoch_.begun = engine::begun_from_start(epoch, config_);
    return;
  }
  const std::filesystem::path releases =
      std::filesystem::path(config_.state.directory) / journal::folder_files::releases;
  epoch_.begun =
      engine::go_on_from_last(*lane_, epoch, journal::last_line(*disk_, releases), config_, keys_.ring->is_private());
}

}  // namespace nustream::folder
