// Finds and keeps the witness of a state folder (docs/formats/witness.md). The first half looks for the file and
// decides whether it can be believed; the rest hands commits to the thread that writes the file (witness_keeper.h).
// witness_charges.cpp compares the witness with the folder's state and ledger.
#include "journal/folder_witness.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "error.h"
#include "journal/lost_account.h"
#include "journal/witness_files.h"
#include "secrets/folder_trust.h"
#include "secrets/key_place.h"

namespace nustream::journal {
namespace {

namespace fs = std::filesystem;

/// For a damaged witness where there is no state, which alone could say whether the witness is this folder's.
Failure cannot_be_known(const fs::path& file) {
  return {Exit::data, "the witness " + file.string() +
                          " is damaged, and may tell what this state folder has spent; restore the witness, or the "
                          "folder, or move the "
                          "witness away once you know that it is another folder's or that nothing was spent"};
}

/// For a file with this folder's account or path whose MAC does not fit, and for one with the name of the account's
/// witness that is no witness.
Failure damaged(const fs::path& file) {
  return {Exit::data, "the witness " + file.string() +
                          " is damaged, or was written by somebody without the key; move it away once you know that "
                          "the state folder is the newest one"};
}

/// A witness of another version is not damaged, and must not be moved away as if it were.
void require_known_format(const fs::path& file, std::string_view bytes) {
  const std::optional<std::uint32_t> format = format_of_witness(bytes);
  if (!format || *format == witness_format) return;
  throw Failure(Exit::data, "the witness " + file.string() + " has format " + std::to_string(*format) +
                                ", this version reads format " + std::to_string(witness_format) +
                                "; use the version that wrote it");
}

/// The bytes of the account's own file, which is there. Throws Failure(permission) where it cannot be read.
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

/// The folder where keys are made; empty where there is no such place.
fs::path usual_place(const fs::path& key_directory) try {
  return secrets::key_directory(key_directory);
} catch (const Failure&) {
  return {};
}

/// The place as it really is; empty where it is in the state folder.
fs::path outside(const fs::path& place, const fs::path& folder) {
  if (place.empty() || secrets::lies_in(place, folder)) return {};
  return secrets::real_path(place);
}

/// The folder of the key to which the state folder's link leads. Without a link it is the folder where keys are made:
/// a key that was made there may be named elsewhere now, and a folder may have been deleted together with its link.
/// Empty where that is in the state folder.
fs::path beside_key_of(const fs::path& folder, const fs::path& key_directory) {
  std::error_code unknown;
  const fs::path target = fs::read_symlink(folder / secrets::key_link, unknown);
  // The key may have been moved away from there, and the witness left behind.
  const bool has_link = !unknown && !target.empty();
  return outside(
      has_link ? (target.is_absolute() ? target : folder / target).parent_path() : usual_place(key_directory),
      folder);
}

/// Why no witness can be kept in the folder, which has to be this user's and not to be changed by anybody else; empty
/// where it can. The folder is made where `may_make` says so.
std::string why_not_written(const fs::path& place, bool may_make) try {
  if (may_make) posix_disk()->make_folder(place);
  posix_disk()->require_trusted(place);
  secrets::require_trusted_above(place, "the folder", "name another one");
  return ::access(place.c_str(), W_OK | X_OK) == 0 ? std::string() : std::generic_category().message(errno);
} catch (const Failure& failure) {
  return failure.what();
}

/// Whether `a` tells of a later commit than `b`. Steps are counted from the beginning of their epoch, so that the
/// epoch comes first.
bool is_further(const Witness& a, const Witness& b) {
  return std::pair(a.epoch, a.steps) > std::pair(b.epoch, b.steps);
}

}  // namespace

fs::path witness_place(const std::string& setting, const fs::path& key_file, const fs::path& folder,
                       const fs::path& key_directory) {
  if (setting == "none") return {};
  if (!setting.empty()) return setting;
  // The witness lies beside the key itself. The state folder has a link to the key, and the witness must not lie
  // beside that: it would be restored together with the folder.
  if (!secrets::lies_in(key_file, folder)) return secrets::real_path(key_file).parent_path();
  return usual_place(key_directory);
}

WitnessSettings witness_settings(const std::string& setting, const fs::path& key_file, const fs::path& folder,
                                 const fs::path& key_directory, std::string stream, LaneId lane) {
  const bool is_asked_for = !setting.empty() && setting != "none";
  return {witness_place(setting, key_file, folder, key_directory),
          is_asked_for,
          folder,
          std::move(stream),
          lane,
          beside_key_of(folder, key_directory),
          key_directory.empty() ? fs::path() : outside(usual_place({}), folder)};
}

FolderWitness::FolderWitness(WitnessSettings settings, secrets::Keyring keys)
    : settings_(std::move(settings)), keys_(std::move(keys)) {
  if (!settings_.place.empty()) settings_.place = secrets::real_path(settings_.place);
  // What lies in the place of the settings is looked at as such.
  for (fs::path* other : {&settings_.beside_own_key, &settings_.usual}) {
    if (*other == settings_.place) other->clear();
  }
}

void FolderWitness::require_place_outside() const {
  if (!secrets::lies_in(settings_.place, settings_.folder)) return;
  throw Failure(Exit::configuration, "state.witness: " + settings_.place.string() +
                                         " lies in the state folder, with which it would be restored: name a folder "
                                         "outside it");
}

/// Judges a file that has the name of this account's witness, but is no witness under this key.
void FolderWitness::judge_own_file(const State* held) {
  std::error_code unknown;
  if (!fs::exists(fs::symlink_status(file_, unknown))) return;
  bytes_ = bytes_of_own(file_);
  require_known_format(file_, bytes_);
  if (kind_of_witness(bytes_, keys_) != WitnessKind::under_another_key) throw damaged(file_);
  judge_other_key(file_, read_witness(bytes_, keys_).witness, held);
}

/// Judges this account's witness under another key. It may be under an earlier key, left by a crash inside a rotation
/// or in a place that the rotation did not know. Then the folder holds the commit that the file tells of, and the
/// file may be written over. Or this folder is a copy: one from before the key was rotated lacks that commit's line
/// in its ledger; one that was itself rotated may hold the line, and went on behind it from an earlier step. Such a
/// copy is refused, even for a new epoch, since what a file under another key tells of spends cannot be charged.
void FolderWitness::judge_other_key(const fs::path& file, const Witness& claimed, const State* held) const {
  if (held == nullptr || claimed.ledger_head == empty_ledger_head) return;
  const secrets::StateIdentity& identity = held->identity;
  if (holds(*posix_disk(), claimed, identity.epoch, identity.steps, held->record).value_or(false)) return;
  throw Failure(Exit::data,
                "the witness " + file.string() + " is under another key and tells of epoch " +
                    std::to_string(claimed.epoch.value()) + ", step " + std::to_string(claimed.steps.value()) +
                    ", which this folder does not hold: it is an older copy, from before a rotation of "
                    "its key; go on with the newest folder and its key, or seal the copy under the newest "
                    "folder's key with: nustream key rotate");
}

/// Whether the witness in `file` is the folder's. Without an account it is the one that names the folder's path:
/// require_no_other_stream() has refused those of other streams. Notes where the account's witness is seen, and where
/// another account's names the path.
bool FolderWitness::is_this(const fs::path& file, const Witness& witness, bool has_account) {
  const bool is_here = witness.folder == folder_;
  if (!has_account) return is_here;
  const bool is_own = witness.account == account_;
  is_known_ = is_known_ || is_own;
  // Only the place of the settings counts, which belongs to this machine: a key's folder may be another one's as
  // well.
  if (is_here && !is_own && file.parent_path() == settings_.place) replaced_.emplace(file, witness);
  return is_own;
}

/// Looks at one file that may be the folder's witness. It is recognised by the account that the folder's state names,
/// or, where there is no account, by the path of the folder. An account's file under another key is left to
/// judge_own_file().
void FolderWitness::look_at(const fs::path& file, bool has_account) {
  std::optional<WitnessFile> one = read_witness_file(file, keys_);
  if (!one) {
    std::error_code unknown;
    if (has_account || !has_name_of(settings_.stream, file) || !fs::exists(fs::symlink_status(file, unknown))) return;
    require_known_format(file, bytes_of_own(file));
    throw cannot_be_known(file);
  }
  const Witness& witness = one->read.witness;
  if (!is_this(file, witness, has_account)) return;
  if (kind_of_witness(one->bytes, keys_) != WitnessKind::ours) {
    if (has_account) return;
    throw lost_account(file, witness, "under a key that is not this one");
  }
  if (!one->read.is_authentic) throw damaged(file);
  // A new epoch could be charged for one of the two accounts alone.
  if (found_ && found_->account != witness.account)
    throw lost_account(file, witness, "and the witness " + found_in_.string() + " tells of another account there");
  if (found_ && !is_further(witness, *found_)) return;  // of several witnesses the furthest counts
  found_ = witness;
  found_in_ = file;
  bytes_ = std::move(one->bytes);
  file_ = file;
}

/// The place of witnesses cannot be listed, so that nobody can tell whether there is one. Fails where the operator
/// asked for that place, and warns otherwise.
void FolderWitness::cannot_be_listed(const std::error_code& why) {
  const std::string what = "no witness can be looked for in " + settings_.place.string() + ": " + why.message();
  if (settings_.is_asked_for) {
    throw Failure(Exit::permission, what + "; let state.witness name a folder that this user may read");
  }
  warning_ = what + "; whether this state folder is an older copy cannot be told";
}

void FolderWitness::find(const std::optional<AccountId>& account, const State* held) {
  // Zeros stand for no account, as states of earlier versions have it. Such a folder gets a new account here, or
  // below that of the witness which names its path.
  const bool has_account = account && *account != AccountId{};
  account_ = has_account ? *account : new_account();
  if (settings_.place.empty()) return;
  require_place_outside();
  if (!has_account) require_no_other_stream(settings_);
  folder_ = secrets::real_path(settings_.folder).string();
  std::error_code unknown;
  const std::vector<fs::path> files = witness_files(settings_.place, unknown);
  for (const fs::path& file : files) look_at(file, has_account);
  is_in_place_ = found_.has_value();
  look_beside_own_key(has_account, held);
  judge_replaced();
  if (found_) account_ = found_->account;
  if (is_in_place_) return;
  if (unknown) cannot_be_listed(unknown);
  // No witness that can be believed lies in the place. A file that has its name all the same is judged, since keep()
  // would write over it.
  file_ = witness_file(settings_.place, settings_.stream, account_);
  judge_own_file(held);
  if (has_account && !unknown && !found_) {
    warning_ = "no witness of this state folder is in " + settings_.place.string() +
               ": it cannot be told whether the folder is an older copy; from now on there is one";
  }
}

/// Judges a folder whose path another account's witness names: that account was here before. If a witness tells of
/// the folder's own account, the folder may have been moved here, which is no reason to end a run. Otherwise nothing
/// but the folder itself speaks for its account, which may have begun where nobody looked for the old one.
void FolderWitness::judge_replaced() {
  if (!replaced_) return;
  const auto& [file, claimed] = *replaced_;
  if (!is_known_) {
    throw lost_account(file, claimed, "but an account of which no witness in " + settings_.place.string() + " tells");
  }
  warning_ = "the witness " + file.string() + " tells of another account in " + folder_ +
             ", whose spend the folder's ledger may lack; move it away once you know that this is not to be counted";
}

/// Looks at the witnesses in a place where this run writes none; an empty one is no place.
void FolderWitness::look_only(const fs::path& place, bool has_account) {
  if (place.empty()) return;
  // look_at() sets the file that it finds as the one to write. Here it is only to be read.
  const auto [file, bytes] = std::pair(file_, bytes_);
  std::error_code unknown;  // a place that nobody named and that cannot be listed says nothing
  for (const fs::path& each : witness_files(place, unknown)) look_at(each, has_account);
  if (file_ != file) found_beside_ = file_;
  file_ = file;
  bytes_ = bytes;
}

/// A witness beside the key that the folder itself leads to counts where it tells of more. The file that is written
/// from now on stays the one in the place of the settings. A witness of the account there under another key is
/// judged, too: it is what a rotation leaves beside the old key, to which copies from before that rotation lead.
void FolderWitness::look_beside_own_key(bool has_account, const State* held) {
  if (!has_account) look_only(settings_.usual, has_account);
  const fs::path& place = settings_.beside_own_key;
  look_only(place, has_account);
  if (!has_account || place.empty()) return;
  const fs::path own = witness_file(place, settings_.stream, account_);
  const std::optional<WitnessFile> there = read_witness_file(own, keys_);
  if (!there || there->read.witness.account != account_) return;
  if (kind_of_witness(there->bytes, keys_) == WitnessKind::under_another_key)
    judge_other_key(own, there->read.witness, held);
}

void FolderWitness::doubt_files() {
  warning_ = "no witness of " + settings_.folder.string() +
             " is known by its path, and no state names one: it cannot "
             "be told whether its ledger and releases are an older copy; from now on there is a witness";
}

bool FolderWitness::make_place() {
  // A place that was asked for has to work; one that nobody named may fail, and the run goes on with a warning.
  std::string what = why_not_written(settings_.place, true);
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
  found_beside_.clear();
  if (settings_.place.empty()) {
    warning_ = "no witness is kept (state.witness): an older copy of the state folder would go unnoticed";
  } else if (make_place()) {
    // From here on the thread of the keeper is the only one of this run that writes the file.
    keeper_ = std::make_unique<WitnessKeeper>(file_, std::move(bytes_), keys_);
    keep_beside_own_key();
  }
  if (!keeper_) file_.clear();
}

/// The file is kept where it is this account's, under this key, or under an earlier one whose commit the ledger
/// holds. Otherwise it stays as it is, as it does where it cannot be written any more. One place may have two paths,
/// and must not be kept twice.
void FolderWitness::keep_beside_own_key() {
  const fs::path& place = settings_.beside_own_key;
  std::error_code unknown;
  if (place.empty() || fs::equivalent(place, settings_.place, unknown)) return;
  if (::access(place.c_str(), R_OK) != 0 || !why_not_written(place, false).empty()) return;
  const fs::path file = witness_file(place, settings_.stream, account_);
  std::optional<WitnessFile> there = read_witness_file(file, keys_);
  if (!there || there->read.witness.account != account_) return;
  const bool is_of_earlier_key = kind_of_witness(there->bytes, keys_) == WitnessKind::under_another_key &&
                                 ledger_holds(*posix_disk(), settings_.folder, there->read.witness.ledger_head);
  if (!there->read.is_authentic && !is_of_earlier_key) return;
  beside_ = std::make_unique<WitnessKeeper>(file, std::move(there->bytes), keys_);
}

void FolderWitness::committed(EpochId epoch, StepCount steps, const Hash& ledger_head,
                              std::vector<LedgerEntry> epochs) {
  if (!keeper_) return;
  Witness latest{account_, settings_.stream, settings_.lane, folder_, epoch, steps, ledger_head, std::move(epochs)};
  // Both files tell of the same commit, and each has a thread and a pace of its own.
  if (beside_) beside_->committed(latest);
  keeper_->committed(std::move(latest));
}

void FolderWitness::finish() {
  if (!keeper_) return;
  keeper_->flush();
  if (beside_) beside_->flush();
  check();
}

void FolderWitness::check() {
  if (!keeper_) return;
  // Both are asked: the failure of one must not hide that another run writes the other.
  const std::array<std::exception_ptr, 2> failures{keeper_->take_failure(),
                                                   beside_ ? beside_->take_failure() : nullptr};
  std::exception_ptr another_run;
  for (const std::exception_ptr& failure : failures) {
    if (!failure) continue;
    try {
      std::rethrow_exception(failure);
    } catch (const Failure& told) {
      // Another run writes the witness: this ends the run. A disk that is full does not, because the state is safe
      // without a witness.
      if (told.code() == Exit::data) another_run = failure;
      warning_ = std::string("the witness could not be written, which is tried again: ") + told.what();
    }
  }
  if (another_run) std::rethrow_exception(another_run);
}

}  // namespace nustream::journal
