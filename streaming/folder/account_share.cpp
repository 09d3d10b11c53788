// A run is charged in three steps: take() reserves all that it may spend, before anything is opened; begin() raises
// that where the folder's ledger says that more was spent; settle() puts the total in its place. A crash before
// settle() leaves the reservation, which charges too much rather than too little (docs/formats/account.md).
#include "folder/account_share.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "error.h"
#include "journal/last_release.h"
#include "journal/lost_account.h"
#include "journal/outbox_folder.h"
#include "secrets/hex.h"
#include "secrets/key_place.h"
#include "secrets/random.h"

namespace nustream::folder {
namespace {

constexpr const char* member_file = "account-member";
constexpr const char* share_lock = "account-lock";
/// A relative difference that may come from adding the same spends in another order.
constexpr double rounding = 1e-9;

/// The path as one text for one place, links resolved, so that a folder which is reached by two paths is one member.
std::string absolute_text(const std::filesystem::path& path) {
  std::error_code unknown;
  const std::filesystem::path real = std::filesystem::weakly_canonical(path, unknown);
  return (unknown ? std::filesystem::absolute(path) : real).string();
}

/// What a folder's file says: its member id, and the paths of the folder and the account that the id was drawn for.
struct Known {
  journal::MemberId id{};
  std::string folder;
  std::string account;
};

/// Nothing where the file is missing or is no such file.
std::optional<Known> known_member(journal::Disk& disk, const std::filesystem::path& folder) {
  const std::string text = journal::read_file_if_any(disk, folder / member_file);
  Known known;
  // 32 hexadecimal digits and a newline come before the paths, and a newline after each of them.
  if (text.size() <= 33 || !text.ends_with('\n') || !secrets::from_hex(text.substr(0, 32), known.id)) return {};
  const std::string paths = text.substr(33, text.size() - 34);
  const std::size_t between = paths.rfind('\n');
  if (between == std::string::npos) return {};
  known.folder = paths.substr(0, between);
  known.account = paths.substr(between + 1);
  return known;
}

/// Whether the account that the folder was charged to is `account`, whose content is `book`. An account that was
/// moved knows the member. So does a copy of it: where the first one is still there, both would go on, and each would
/// count a part of what is spent.
bool is_same_account(journal::Disk& disk, const Known& known, const std::string& account,
                     const journal::AccountBook& book) {
  std::error_code unknown;
  if (known.account == absolute_text(account) || std::filesystem::equivalent(known.account, account, unknown))
    return true;
  if (book.charge_of(known.id) == nullptr) return false;
  try {
    return journal::read_account(disk, known.account).charge_of(known.id) == nullptr;
  } catch (const Failure&) {
    return !std::filesystem::exists(known.account, unknown) && !unknown;
  }
}

/// Refuses an account that is not the one that the folder was charged to. In the new one the folder would be charged
/// anew, and the first one would not count what it spends from now on.
[[noreturn]] void other_account(const ShareOf& whose, const Known& known) {
  throw Failure(Exit::configuration,
                fmt::format("{}: what it spends is counted in the account {}: name it with privacy.account (fit: "
                            "--account), or restore it there; or, to go on in {}, remove the folder's file {}: what "
                            "is spent stays charged there, and is charged here as well",
                            whose.folder.string(), known.account, whose.account, member_file));
}

/// The file is made under another name first. A crash then leaves the old member, or the new one as a whole.
void write_member(journal::Disk& disk, const std::filesystem::path& folder, const Known& member) {
  const std::filesystem::path next = folder / (std::string(member_file) + ".new");
  const auto file = disk.create(next, journal::Audience::operators);
  file->write(0, secrets::to_hex(member.id) + '\n' + member.folder + '\n' + member.account + '\n');
  file->sync();
  disk.rename(next, folder / member_file);
  disk.sync_folder(folder);
}

/// The folder's member id in the account. A file in the folder holds random bits, and the paths of the folder and the
/// account that they were drawn for. Where the folder's path does not match, new bits are drawn. So a copy of the
/// folder in another place is another member, which is charged in addition to the first one, because both may go on.
journal::MemberId member_of(journal::Disk& disk, const ShareOf& whose, const std::optional<Known>& known) {
  Known member{{}, absolute_text(whose.folder), absolute_text(whose.account)};
  if (known && known->folder == member.folder) {
    member.id = known->id;
    // The account may have been moved.
    if (known->account != member.account) write_member(disk, whose.folder, member);
    return member.id;
  }
  secrets::fill_random(member.id);
  write_member(disk, whose.folder, member);
  return member.id;
}

/// Whether the folder holds a ledger or a state, or it cannot be told whether it does.
bool may_have_spent(const std::filesystem::path& folder) {
  std::error_code unknown;
  return std::filesystem::exists(folder / journal::folder_files::ledger, unknown) || unknown ||
         std::filesystem::exists(folder / journal::folder_files::state, unknown) || unknown;
}

/// Refuses an account that has no line of the folder, although the folder was charged to it: another file has taken
/// its place, which would not count what the others have spent.
void require_charged(const ShareOf& whose, const Known& known, const journal::AccountBook& book) {
  if (book.charge_of(known.id) != nullptr || !may_have_spent(whose.folder)) return;
  throw Failure(
      Exit::configuration,
      fmt::format(
          "{}: the account knows nothing of {}, whose file {} names it: another one took its place, which may "
          "lack what the others have spent over the same people: then restore the newest copy of the account; or a "
          "run ended before it was charged: then remove that file, and all that the folder has spent is charged here",
          whose.account, whose.folder.string(), member_file));
}

/// What the folder's file says, once `book` is known to be the content of the account that it was charged to.
std::optional<Known> judged_member(journal::Disk& disk, const ShareOf& whose, const journal::AccountBook& book) {
  std::optional<Known> known = known_member(disk, whose.folder);
  if (!known && !journal::read_file_if_any(disk, whose.folder / member_file).empty()) {
    throw Failure(Exit::data,
                  fmt::format("{}: is damaged, so that nobody knows which account the folder was charged to; "
                              "restore it from a copy; or, to go on in {}, remove it: all that the folder "
                              "has spent is charged here",
                              (whose.folder / member_file).string(), whose.account));
  }
  if (!known) return known;
  if (!is_same_account(disk, *known, whose.account, book)) other_account(whose, *known);
  require_charged(whose, *known, book);
  return known;
}

/// Refuses an account over other neighbours: two values of ρ add up only where they are about the same ones.
void require_same_promise(const journal::AccountBook& book, const ShareOf& whose) {
  const privacy::Neighbours& own = whose.neighbours;
  const privacy::Neighbours& asked = book.neighbours;
  if (own.adjacency == asked.adjacency && own.target_only == asked.target_only && own.of_user == asked.of_user)
    return;
  throw Failure(Exit::configuration,
                fmt::format("{}: the account {} is about other neighbours (privacy.adjacency, privacy.protects, "
                            "privacy.unit): their spends do not add up; name an account of the same ones",
                            whose.named_in, whose.account));
}

}  // namespace

ShareOf share_of(const config::Config& config, bool is_private) {
  return {config.privacy.account,
          config.state.directory,
          config.stream,
          config.lane,
          config.privacy.neighbours(),
          is_private,
          config.file};
}

AccountShare::AccountShare(ShareOf whose, std::optional<Rho>& budget)
    : disk_(journal::posix_disk()), whose_(std::move(whose)) {
  require_named();
  // Without an account nothing is charged, and nothing that follows is needed.
  if (whose_.account.empty()) return;
  if (!whose_.is_private) {
    throw Failure(Exit::configuration, whose_.named_in +
                                           ": an account (privacy.account) counts what private runs spend; leave it "
                                           "out under an insecure seed, and beside answers that are not private");
  }
  // The account is read before the folder is made, so that a wrong name leaves nothing behind.
  require_same_promise(present_account(), whose_);
  disk_->make_folder(whose_.folder);
  disk_->require_trusted(whose_.folder);
  lock_ = disk_->lock(whose_.folder / share_lock);
  // Read once more: a run of the folder that has ended meanwhile may have charged it.
  member_ = {member_of(*disk_, whose_, judged_member(*disk_, whose_, journal::read_account(*disk_, whose_.account))),
             whose_.stream, whose_.lane};
  take(budget);
}

/// Reads the account. Where its file is gone, and the folder was charged to it, the failure says that a new one would
/// forget what others spent.
journal::AccountBook AccountShare::present_account() const {
  std::error_code unknown;
  const bool is_gone = !std::filesystem::exists(whose_.account, unknown) && !unknown;
  if (is_gone && std::filesystem::exists(whose_.folder / member_file, unknown)) {
    const std::optional<Known> known = known_member(*disk_, whose_.folder);
    if (known && known->account != absolute_text(whose_.account)) other_account(whose_, *known);
    throw Failure(
        Exit::configuration,
        fmt::format("{}: the account is gone, and {} was charged to it: restore it from a copy; a new account "
                    "would not know what the others have spent over the same people",
                    whose_.account, whose_.folder.string()));
  }
  return journal::read_account(*disk_, whose_.account);
}

/// Refuses to run without an account over a folder that was charged to one: the account would not count what the run
/// spends.
void AccountShare::require_named() const {
  if (lock_ || !whose_.account.empty() || !whose_.is_private) return;
  std::error_code unknown;  // the journal reports a folder that cannot be read
  if (!std::filesystem::exists(whose_.folder / member_file, unknown)) return;
  std::string account = journal::last_line(*disk_, whose_.folder / member_file);
  if (account.ends_with('\n')) account.pop_back();
  throw Failure(Exit::configuration,
                fmt::format("{}: what it spends is counted in the account {}: name it with privacy.account (fit: "
                            "--account), or, to count nothing more there, remove the folder's file {}",
                            whose_.folder.string(), account, member_file));
}

/// Reserves for the folder what it may spend, and lowers `budget` to that. Where nothing is left of the account, a
/// new folder is refused. A folder that may have spent before goes on until begin(), which charges what it spent.
void AccountShare::take(std::optional<Rho>& budget) {
  const bool is_new = !may_have_spent(whose_.folder);
  // The choice is made in the callback, under the account's lock, so that two runs never reserve the same rest.
  journal::charge(*disk_, whose_.account, member_, [&](const journal::AccountBook& book) {
    const journal::Charge* const before = book.charge_of(member_.id);
    if (before != nullptr) before_ = *before;
    const Rho room = book.room_for(member_);
    if (!before_ && room.value() <= 0 && is_new) {
      throw Failure(Exit::exhausted, fmt::format("{}: nothing is left of the account's budget {:g}; nustream account "
                                                 "show tells who was charged",
                                                 whose_.account, book.budget.value()));
    }
    if (!budget || room < *budget) {
      limit_ = fmt::format(
          "the {:g} that was left of the account {} (privacy.account), whose budget is {:g}; nustream account show "
          "tells who was charged",
          room.value(), whose_.account, book.budget.value());
      budget = room;
    }
    // A folder that ran before keeps its charge, at least, until begin() knows what it spent.
    charged_ = before_ ? std::max(before_->rho, *budget) : *budget;
    return journal::Charge{member_, charged_, true};
  });
}

void AccountShare::charge(Rho rho, bool is_reserved) {
  charged_ = rho;
  journal::charge(*disk_, whose_.account, member_, [&](const journal::AccountBook&) {
    return journal::Charge{member_, rho, is_reserved};
  });
}

/// Whether the folder has spent nothing: without a state, nothing was ever committed.
bool AccountShare::has_spent_nothing() const {
  std::error_code unknown;
  return begun_ && begun_->value() == 0 &&
         !std::filesystem::exists(whose_.folder / journal::folder_files::state, unknown) && !unknown;
}

AccountShare::~AccountShare() {
  if (whose_.account.empty() || !lock_) return;
  try {
    // The run has spent nothing. So the line that it wrote is taken back by another one that says the same as before.
    if (!begun_ || has_spent_nothing()) charge(before_ ? before_->rho : Rho{0}, before_ && before_->is_reserved);
  } catch (const Failure&) {
    // The reservation stays in the account: that charges too much rather than too little.
  }
}

void AccountShare::begin(Rho spent) {
  require_named();
  if (whose_.account.empty()) return;
  const Rho known = before_ ? before_->most_spent : Rho{0};
  if (spent.value() < known.value() * (1 - rounding)) {
    throw Failure(
        Exit::data,
        fmt::format("{}: its ledger comes to rho {:.6g}, and the account {} knows that {:.6g} is spent: an "
                    "older copy of the folder lacks what was spent since; restore the newest one, or choose "
                    "another state.directory, which is charged beside it",
                    whose_.folder.string(), spent.value(), whose_.account, known.value()));
  }
  begun_ = spent;
  // What is spent counts, even beyond the account's budget: it cannot be taken back.
  if (spent > charged_) charge(spent, false);
}

void AccountShare::settle(Rho total) {
  if (whose_.account.empty()) return;
  charge(total, false);
  // A settled share has nothing more to charge, also not in the destructor.
  whose_.account.clear();
}

namespace {

journal::WitnessSettings witness_settings_of(const config::Config& config, const std::filesystem::path& key_file) {
  const config::State& state = config.state;
  return journal::witness_settings(state.witness, key_file, state.directory, state.key_directory, config.stream,
                                   config.lane);
}

}  // namespace

void require_no_other_stream(const config::Config& config) {
  const secrets::KeySettings settings{config.state.key_file, config.state.key_directory};
  journal::require_no_other_stream(
      witness_settings_of(config, secrets::key_file_of(config.state.directory, config.stream, settings)));
}

std::string key_file_for(const config::Config& config, bool state_exists) {
  const secrets::KeySettings settings{config.state.key_file, config.state.key_directory};
  const std::filesystem::path folder = config.state.directory;
  return (state_exists ? secrets::key_file_of(folder, config.stream, settings)
                       : secrets::make_key_file(folder, config.stream, settings))
      .string();
}

std::optional<journal::FolderWitness> witness_for(const config::Config& config, const std::string& key_file,
                                                  const secrets::Keyring& keys) {
  if (!keys.is_private()) return std::nullopt;
  return journal::FolderWitness(witness_settings_of(config, key_file), keys);
}

std::vector<std::string> warnings_of(const config::Config& config, const std::string& key_file,
                                     const std::optional<journal::FolderWitness>& witness) {
  std::vector<std::string> all;
  std::string place = key_file.empty() ? std::string() : secrets::warning_of_place(key_file, config.state.directory);
  if (!place.empty()) all.push_back(std::move(place));
  if (witness && !witness->warning().empty()) all.push_back(witness->warning());
  return all;
}

}  // namespace nustream::folder
