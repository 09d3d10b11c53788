#include "folder/user_edits.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <string>

#include "error.h"
#include "folder/account.h"
#include "folder/users.h"
#include "journal/outbox_folder.h"
#include "located.h"
#include "secrets/key_file.h"
#include "secrets/keyring.h"
#include "users/partition_number.h"

namespace nustream::folder {
namespace {

constexpr std::size_t counts_max = 64;

secrets::Keyring keys_of(const config::Config& config, std::optional<std::uint64_t> insecure_seed,
                         std::string& key_file) {
  if (insecure_seed) return secrets::Keyring::insecure(*insecure_seed);
  key_file = key_file_for(config, true);
  return secrets::load_key_file(key_file);
}

void require_newest(const config::Config& config, const std::string& key_file, const secrets::Keyring& keys,
                    const journal::State& state, journal::Disk& disk) {
  auto witness = witness_for(config, key_file, keys);
  if (!witness) return;
  witness->find(state.record.account, state.record.ledger_head);
  if (witness->is_held_by(disk, state.identity.epoch, state.record)) return;
  throw Failure(Exit::data, config.state.directory + ": holds an older state than the last one that was committed (" +
                                witness->told() + "); restore the newest one before its users are changed");
}

/// Opens the folder as a resume does, has the state changed, and commits it. `change` returns what has to be durable
/// before the state is.
using Change = std::function<std::function<void()>(journal::Disk& disk, journal::State& state)>;

void change_state(const config::Config& config, std::optional<std::uint64_t> insecure_seed, const Change& change) {
  if (!config.users || !config.users->are_kept) {
    throw Failure(Exit::configuration, config.file + ": privacy.unit is not \"user\": there are no users to change");
  }
  const std::filesystem::path folder = config.state.directory;
  const auto disk = journal::posix_disk();
  disk->require_trusted(folder);
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
  if (!state.record.users) {
    throw Failure(Exit::data, folder.string() + ": the state holds no users; check state.directory");
  }
  require_newest(config, key_file, keys, state, *disk);
  files.recover(state.record.recovery());
  const std::function<void()> before_state = change(*disk, state);
  journal::StateRecord& record = state.record;
  record.outbox.clear();
  record.ledger_entry.clear();
  record.bookmark = files.bookmark();
  journal::Batch batch{journal::seal_state(keys, state.identity, record), record.position, "", "", ""};
  batch.before_state = before_state;
  files.commit(batch);
  files.flush();
}

void add(const users::Standing& standing, const users::Limits& limits, UserCounts& counts) {
  ++counts.entries;
  const StepIndex later{standing.next + (std::uint64_t{1} << 40)};  // no separation stands in the way
  if (!users::may_contribute(limits, standing, later)) ++counts.at_limit;
  if (standing.count == users::closed_count) return;
  ++counts.by_count[std::min<std::size_t>(standing.count, counts.by_count.size()) - 1];
}

}  // namespace

UserCounts count_users(journal::Disk& disk, const std::filesystem::path& folder, const journal::State& state,
                       const users::Limits& limits) {
  if (!state.record.users) throw Failure(Exit::data, folder.string() + ": the state holds no users");
  const users::UserKey key(state.record.users->key);
  users::Table table;
  users::UserLog log(disk, folder, key, {state.identity.stream, state.identity.lane}, table);
  log.look(mark_of(*state.record.users));
  UserCounts counts;
  const auto& participation = limits.participation();
  counts.by_count.resize(participation ? std::min<std::uint64_t>(participation->times(), counts_max) : counts_max);
  for (unsigned part = 0; part < users::Table::parts; ++part) {
    table.visit_part(part, [&](const users::Entry& entry) { add(entry.standing, limits, counts); });
  }
  return counts;
}

std::uint64_t close_users(const config::Config& config, std::optional<std::uint64_t> insecure_seed,
                          std::istream& identifiers) {
  std::uint64_t lines = 0;
  std::unique_ptr<FolderUsers> known;
  change_state(config, insecure_seed, [&](journal::Disk& disk, journal::State& state) {
    known =
        std::make_unique<FolderUsers>(disk, config.state.directory, users::StoreIdentity{config.stream, config.lane},
                                      *config.users, *state.record.users);
    for (std::string line; std::getline(identifiers, line); ++lines) {
      if (line.ends_with('\r')) line.pop_back();
      const users::UserHash user = known->key().hash(line);
      const std::uint32_t number =
          known->key().masked(user, users::partition_number(partitioner_of(config), line, user));
      known->open().put({user, number, users::closed(known->open().find(user))});
    }
    state.record.users = known->close();
    return [&known] { known->sync(); };
  });
  return lines;
}

void end_users(const config::Config& config, std::optional<std::uint64_t> insecure_seed) {
  change_state(config, insecure_seed, [](journal::Disk&, journal::State& state) {
    state.record.users.reset();
    return std::function<void()>();
  });
  forget_store(*journal::posix_disk(), config.state.directory);
}

}  // namespace nustream::folder
