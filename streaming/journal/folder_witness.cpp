#include "journal/folder_witness.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "error.h"
#include "secrets/hex.h"
#include "secrets/key_place.h"

namespace nustream::journal {
namespace {

namespace fs = std::filesystem;

constexpr const char* ending = ".witness";

/// "mine-0123456789abcdef.witness"
fs::path file_of(const WitnessSettings& settings, const AccountId& account) {
  return settings.place / (settings.stream + "-" + secrets::to_hex(account).substr(0, 16) + ending);
}

/// A witness's file as it was read.
struct Candidate {
  fs::path file;
  std::string bytes;
  ReadWitness read;
};

/// The witnesses in a folder that claim to be under this key. Files of other users are nobody's. What is no regular
/// file is not opened: a pipe would hold up the start.
std::vector<Candidate> candidates(const fs::path& place, const secrets::Keyring& keys) {
  std::vector<Candidate> all;
  const auto disk = posix_disk();
  std::error_code unknown;  // a folder that is not there, or cannot be read, holds none
  for (fs::directory_iterator entry(place, unknown), end; !unknown && entry != end; entry.increment(unknown)) {
    std::error_code gone;
    if (entry->path().extension() != ending || !fs::is_regular_file(entry->symlink_status(gone))) continue;
    try {
      std::string bytes = read_file_if_any(*disk, entry->path());
      if (kind_of_witness(bytes, keys) != WitnessKind::ours) continue;
      ReadWitness read = read_witness(bytes, keys);
      all.push_back({entry->path(), std::move(bytes), std::move(read)});
    } catch (const Failure&) {
      continue;
    }
  }
  std::sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) { return a.file < b.file; });
  return all;
}

Failure damaged(const fs::path& file) {
  return {Exit::data, "the witness " + file.string() +
                          " is damaged, or was written by somebody without the key; move it away once you know that "
                          "the state folder is the newest one"};
}

/// The account's own file, which is there: Failure(permission) where it cannot be read.
std::string bytes_of_own(const fs::path& file) {
  try {
    if (!fs::is_regular_file(fs::symlink_status(file))) throw Failure(Exit::permission, "it is no regular file");
    return read_file_if_any(*posix_disk(), file);
  } catch (const Failure& failure) {
    throw Failure(Exit::permission, "the witness " + file.string() +
                                        " is there and cannot be believed: " + failure.what() +
                                        "; mend that, or move it away once you know that the state folder is the "
                                        "newest one");
  }
}

bool is_further(const Witness& a, const Witness& b) {
  return std::pair(a.epoch, a.steps) > std::pair(b.epoch, b.steps);
}

}  // namespace

fs::path witness_place(const std::string& setting, const fs::path& key_file, const fs::path& folder,
                       const fs::path& key_directory) {
  if (setting == "none") return {};
  if (!setting.empty()) return setting;
  // Beside the key itself, not beside a link to it: one lies in the state folder.
  if (!secrets::lies_in(key_file, folder)) return secrets::real_path(key_file).parent_path();
  try {
    return secrets::key_directory(key_directory);
  } catch (const Failure&) {
    return {};
  }
}

WitnessSettings witness_settings(const std::string& setting, const fs::path& key_file, const fs::path& folder,
                                 const fs::path& key_directory, std::string stream, LaneId lane) {
  const bool is_asked_for = !setting.empty() && setting != "none";
  return {witness_place(setting, key_file, folder, key_directory), is_asked_for, folder, std::move(stream), lane};
}

FolderWitness::FolderWitness(WitnessSettings settings, secrets::Keyring keys)
    : settings_(std::move(settings)), keys_(std::move(keys)) {
  if (!settings_.place.empty()) settings_.place = secrets::real_path(settings_.place);
}

void FolderWitness::require_place_outside() const {
  if (!secrets::lies_in(settings_.place, settings_.folder)) return;
  throw Failure(Exit::configuration, "state.witness: " + settings_.place.string() +
                                         " lies in the state folder, with which it would be restored: name a folder "
                                         "outside it");
}

/// The file that this account's witness would have is there, and is none under this key. One of an earlier key was
/// left by a crash inside a rotation, and is written over: but only where the folder holds the commit that it tells
/// of. One of a later key was left by a rotation, for copies from before it. Whose step is the further one says
/// nothing: a copy may have gone on by itself.
void FolderWitness::judge_own_file(const std::optional<Hash>& ledger_head) {
  std::error_code unknown;
  if (!fs::exists(fs::symlink_status(file_, unknown))) return;
  bytes_ = bytes_of_own(file_);
  if (kind_of_witness(bytes_, keys_) != WitnessKind::under_another_key) throw damaged(file_);
  const Witness claimed = read_witness(bytes_, keys_).witness;
  if (!ledger_head || claimed.ledger_head == empty_ledger_head || claimed.ledger_head == *ledger_head) return;
  if (ledger_holds(*posix_disk(), settings_.folder, claimed.ledger_head)) return;
  throw Failure(Exit::data, "the witness " + file_.string() + " is under another key and tells of epoch " +
                                std::to_string(claimed.epoch.value()) + ", step " +
                                std::to_string(claimed.steps.value()) +
                                ", which this folder does not hold: it is an older copy, from before a rotation of "
                                "its key; go on with the newest folder and its key, or seal the copy under that key "
                                "with: nustream key rotate");
}

void FolderWitness::find(const std::optional<AccountId>& account, const std::optional<Hash>& ledger_head) {
  const bool has_account = account && *account != AccountId{};
  account_ = has_account ? *account : new_account();
  if (settings_.place.empty()) return;
  require_place_outside();
  const std::string folder = secrets::real_path(settings_.folder).string();
  for (Candidate& candidate : candidates(settings_.place, keys_)) {
    const Witness& witness = candidate.read.witness;
    const bool is_this = has_account ? witness.account == account_
                                     : witness.folder == folder && witness.stream == settings_.stream &&
                                           witness.lane == settings_.lane;
    if (!is_this) continue;
    if (!candidate.read.is_authentic) throw damaged(candidate.file);
    if (found_ && !is_further(witness, *found_)) continue;
    found_ = witness;
    bytes_ = std::move(candidate.bytes);
    file_ = candidate.file;
  }
  if (found_) {
    account_ = found_->account;
    return;
  }
  file_ = file_of(settings_, account_);
  judge_own_file(ledger_head);
  if (has_account) {
    warning_ = "no witness of this state folder is in " + settings_.place.string() +
               ": it cannot be told whether the folder is an older copy; from now on there is one";
  }
}

void FolderWitness::doubt_files() {
  warning_ = "no witness of " + settings_.folder.string() +
             " is known by its path, and no state names one: it cannot "
             "be told whether its ledger and releases are an older copy; from now on there is a witness";
}

bool FolderWitness::is_held_by(Disk& disk, EpochId epoch, const StateRecord& record) const {
  if (!found_ || found_->ledger_head == empty_ledger_head || found_->ledger_head == record.ledger_head) return true;
  if (ledger_holds(disk, settings_.folder, found_->ledger_head)) return true;
  return epoch > found_->epoch && is_charged(disk, record);
}

/// A new epoch was begun behind the witness, and its run ended before the witness was told of a commit.
bool FolderWitness::is_charged(Disk& disk, const StateRecord& record) const try {
  return not_charged_by(read_committed_ledger(disk, settings_.folder, keys_, record)).empty();
} catch (const Failure&) {
  return false;  // what is wrong with the ledger is told by whoever recovers it
}

/// The epochs whose spend the witness knows and `ledger` lacks. The witness's last epoch may have gone on behind it,
/// at its limit at most, over records that nobody knows: nothing but a line that says so covers it.
std::vector<LedgerEntry> FolderWitness::not_charged_by(const Ledger& ledger) const {
  std::vector<LedgerEntry> lacking;
  for (LedgerEntry entry : found_->epochs) {
    const bool is_last = entry.epoch == found_->epoch;
    if (is_last) entry.rho = entry.rho_limit;
    entry.overlap = Overlap::unknown;
    const bool is_charged = std::any_of(ledger.epochs.begin(), ledger.epochs.end(), [&](const LedgerEntry& known) {
      if (known.lane != entry.lane || known.epoch != entry.epoch) return false;
      return is_last ? known.rho >= entry.rho && known.overlap == Overlap::unknown : known.steps >= entry.steps;
    });
    if (!is_charged) lacking.push_back(std::move(entry));
  }
  return lacking;
}

std::vector<LedgerEntry> FolderWitness::lost(Disk& disk, const Ledger& ledger) const {
  if (!found_ || found_->ledger_head == empty_ledger_head || found_->ledger_head == ledger.head) return {};
  if (ledger_holds(disk, settings_.folder, found_->ledger_head)) return {};
  return not_charged_by(ledger);
}

std::string FolderWitness::told() const {
  return "epoch " + std::to_string(found_->epoch.value()) + ", step " + std::to_string(found_->steps.value());
}

bool FolderWitness::make_place() {
  std::string what;
  try {
    posix_disk()->make_folder(settings_.place);
    posix_disk()->require_trusted(settings_.place);
    if (::access(settings_.place.c_str(), W_OK | X_OK) != 0) what = std::generic_category().message(errno);
  } catch (const Failure& failure) {
    what = failure.what();
  }
  if (what.empty()) return true;
  what = "the witness cannot be kept in " + settings_.place.string() + ": " + what;
  if (settings_.is_asked_for) {
    throw Failure(Exit::permission, what + "; let state.witness name a folder that this user may write");
  }
  warning_ = what +
             "; an older copy of the state folder would go unnoticed: set state.witness to a folder outside it that "
             "can be written";
  return false;
}

void FolderWitness::keep() {
  if (settings_.place.empty()) {
    warning_ = "no witness is kept (state.witness): an older copy of the state folder would go unnoticed";
  } else if (make_place()) {
    keeper_ = std::make_unique<WitnessKeeper>(file_, std::move(bytes_), keys_);
  }
  if (!keeper_) file_.clear();
}

void FolderWitness::committed(EpochId epoch, StepCount steps, const Hash& ledger_head,
                              std::vector<LedgerEntry> epochs) {
  if (!keeper_) return;
  keeper_->committed({account_, settings_.stream, settings_.lane, secrets::real_path(settings_.folder).string(),
                      epoch, steps, ledger_head, std::move(epochs)});
}

void FolderWitness::finish() {
  if (!keeper_) return;
  keeper_->flush();
  check();
}

void FolderWitness::check() {
  if (!keeper_) return;
  const std::exception_ptr failure = keeper_->take_failure();
  if (!failure) return;
  try {
    std::rethrow_exception(failure);
  } catch (const Failure& told) {
    if (told.code() == Exit::data) throw;
    warning_ = std::string("the witness could not be written, which is tried again: ") + told.what();
  }
}

}  // namespace nustream::journal
