// Edits of a folder's users go the way of a batch: the state is opened as a resume opens it, changed, sealed and
// committed by the protocol of docs/formats/releases-folder.md. No step is taken and nothing is spent, so that the
// state's step count, noise and ledger head stay.
#include "folder/user_edits.h"

#include <functional>
#include <memory>
#include <string>

#include "error.h"
#include "folder/account_share.h"
#include "folder/users.h"
#include "journal/outbox_folder.h"
#include "located.h"
#include "secrets/key_file.h"
#include "secrets/keyring.h"
#include "users/closing.h"
#include "users/open_table.h"

namespace nustream::folder {
namespace {

/// The keys of the folder's state; `key_file` is set to their file, and stays empty under an insecure seed.
secrets::Keyring keys_of(const config::Config& config, std::optional<std::uint64_t> insecure_seed,
                         std::string& key_file) {
  if (insecure_seed) return secrets::Keyring::insecure(*insecure_seed);
  key_file = key_file_for(config, true);
  return secrets::load_key_file(key_file);
}

/// Refuses a folder that its witness knows to be an older copy. Its changed state would be committed as the newest
/// one, and what users did since the copy was made would be forgotten.
void require_newest(const config::Config& config, const std::string& key_file, const secrets::Keyring& keys,
                    const journal::State& state, journal::Disk& disk) {
  auto witness = witness_for(config, key_file, keys);
  if (!witness) return;
  witness->find(state.record.account, &state);
  if (witness->is_held_by(disk, state.identity.epoch, state.identity.steps, state.record)) return;
  throw Failure(Exit::data, config.state.directory + ": holds an older state than the last one that was committed (" +
                                witness->told() +
                                "); before its users are changed, restore the newest one, or begin a new noise "
                                "epoch, which is charged on top of all that was spent (replay or estimate, with "
                                "--new-epoch)");
}

/// A change of a state. It returns a function that makes durable what the changed state relies on, which is called
/// before the state is committed; the function may be empty.
using Change = std::function<std::function<void()>(journal::Disk& disk, journal::State& state)>;

/// What follows a change of a state, while the folder is still locked so that no run begins in between.
struct Afterwards {
  std::function<void(journal::Disk& disk)> does;  ///< may be empty
  /// Whether a state without users was changed before, by a command that ended before `does`. If not, such a state is
  /// refused.
  std::function<bool()> is_left;
};

/// Opens the folder as a resume does, lets `change` change its state, and commits that.
void change_state(const config::Config& config, std::optional<std::uint64_t> insecure_seed, const Change& change,
                  const Afterwards& after = {}) {
  if (!config.users || !config.users->are_kept) {
    throw Failure(Exit::configuration,
                  config.file +
                      ": privacy.unit is not \"user\": there are no users to change; name the configuration "
                      "of a run by user");
  }
  const std::filesystem::path folder = config.state.directory;
  const auto disk = journal::posix_disk();
  disk->require_trusted(folder);
  // Looked for before OutboxFolder::load(), which would make a missing folder and its lock.
  if (!disk->open(folder / journal::folder_files::state, journal::Access::read)) {
    throw Failure(Exit::data, folder.string() + ": there is no state here; check state.directory");
  }
  std::string key_file;
  const secrets::Keyring keys = keys_of(config, insecure_seed, key_file);
  journal::OutboxFolder files(*disk, {folder, keys.is_private()});
  const std::string sealed = *files.load();
  journal::State state = located(folder.string(), [&] {
    return journal::open_state(keys, sealed,
                               {config.stream, config.lane, std::nullopt, std::nullopt, keys.is_private()});
  });
  // A command that was killed between its commit and `after` finds a state without users. It then only does the rest.
  if (!state.record.users) {
    if (after.is_left && after.is_left()) return after.does(*disk);
    throw Failure(Exit::data, folder.string() + ": the state holds no users; check state.directory");
  }
  require_newest(config, key_file, keys, state, *disk);
  // The releases and the ledger lines that the state owes come first, as in a resume.
  files.recover(state.record.recovery());
  const std::function<void()> before_state = located(folder.string(), [&] { return change(*disk, state); });
  journal::StateRecord& record = state.record;
  // recover() has published what the state owed, so the changed state owes nothing.
  record.outbox.clear();
  record.ledger_entry.clear();
  record.bookmark = files.bookmark();
  // The identity stays: the edit is no step, so that ledger and releases still fit the state.
  journal::Batch batch{journal::seal_state(keys, state.identity, record), record.position, "", "", ""};
  batch.before_state = before_state;
  files.commit(batch);
  // `after` may destroy what the old state relied on. So it waits until the new state is durable.
  files.flush();
  if (after.does) after.does(*disk);
}

}  // namespace

users::UserTotals count_users(journal::Disk& disk, const std::filesystem::path& folder, const journal::State& state,
                              const users::Limits& limits) {
  if (!state.record.users)
    throw Failure(
        Exit::data,
        folder.string() + ": the state holds no users; leave out --users, or name the folder of a run by user");
  return located(folder.string(), [&] { return users::count_users(*look_at_store(disk, folder, state), limits); });
}

users::NamedUsers close_users(const config::Config& config, std::optional<std::uint64_t> insecure_seed,
                              std::istream& identifiers) {
  users::NamedUsers found;
  std::unique_ptr<FolderUsers> known;
  change_state(config, insecure_seed, [&](journal::Disk& disk, journal::State& state) {
    // The store outlives change_state(): its bytes are synced by the function that is returned here, before the state
    // that vouches for them is committed.
    known =
        std::make_unique<FolderUsers>(disk, config.state.directory, users::StoreIdentity{config.stream, config.lane},
                                      *config.users, *state.record.users);
    found = users::for_each_identifier(
        identifiers, known->key(), partitioner_of(config), config.users->nobody,
        [&](const users::Entry& of, std::uint32_t) { return users::close_user(of, known->open()); });
    // Without a user the command has a wrong list, and nothing is committed.
    users::require_any(found);
    journal::UsersOfState after = known->close();
    after.identity = state.record.users->identity;  // the present settings may tell users apart otherwise
    after.latest = state.record.users->latest;      // no step was taken, whatever period the settings have
    after.window = state.record.users->window;
    state.record.users = std::move(after);
    return [&known] { known->sync(); };
  });
  return found;
}

void end_users(const config::Config& config, std::optional<std::uint64_t> insecure_seed) {
  // The key goes first, with the state, and the store afterwards. In the other order a crash would leave a state
  // whose store is gone.
  const auto without_users = [](journal::Disk&, journal::State& state) {
    state.record.users.reset();
    return std::function<void()>();
  };
  const auto forget = [&config](journal::Disk& disk) {
    forget_store(disk, config.state.directory);
    users::forget_table(config.state.directory, config.lane);
  };
  // A store in files, or a table on disk: either of them is left where `forget` has not run to its end.
  const auto is_there = [&config] {
    return holds_store(config.state.directory) ||
           std::filesystem::exists(users::table_folder(config.state.directory, config.lane));
  };
  change_state(config, insecure_seed, without_users, {forget, is_there});
}

}  // namespace nustream::folder
