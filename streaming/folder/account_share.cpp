#include "folder/account_share.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "error.h"
#include "journal/outbox_folder.h"
#include "secrets/hex.h"
#include "secrets/random.h"

namespace nustream::folder {
namespace {

constexpr const char* member_file = "account-member";

std::string absolute_text(const std::filesystem::path& path) {
  std::error_code unknown;
  const std::filesystem::path real = std::filesystem::weakly_canonical(path, unknown);
  return (unknown ? std::filesystem::absolute(path) : real).string();
}

/// Of the folder: random bits, and the folder and the account that they were drawn for. A copy of the folder in
/// another place, and the same folder under another account, is another member: it is charged beside the first one,
/// since both may go on.
journal::MemberId member_of(journal::Disk& disk, const std::filesystem::path& folder, const std::string& account) {
  const std::string place = absolute_text(folder) + '\n' + absolute_text(account) + '\n';
  const std::string known = journal::read_file_if_any(disk, folder / member_file);
  journal::MemberId id{};
  if (known.size() > 33 && secrets::from_hex(known.substr(0, 32), id) && known.substr(33) == place) return id;
  disk.make_folder(folder);
  secrets::fill_random(id);
  const std::filesystem::path next = folder / (std::string(member_file) + ".new");
  const auto file = disk.create(next, journal::Audience::operators);
  file->write(0, secrets::to_hex(id) + '\n' + place);
  file->sync();
  disk.rename(next, folder / member_file);
  disk.sync_folder(folder);
  return id;
}

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

AccountShare::AccountShare(ShareOf whose, std::optional<Rho>& budget) : whose_(std::move(whose)) {
  if (whose_.account.empty()) return;
  if (!whose_.is_private) {
    throw Failure(Exit::configuration, whose_.named_in +
                                           ": an account (privacy.account) counts what private runs spend; leave it "
                                           "out under an insecure seed, and beside answers that are not private");
  }
  disk_ = journal::posix_disk();
  require_same_promise(journal::read_account(*disk_, whose_.account), whose_);
  disk_->require_trusted(whose_.folder);
  member_ = {member_of(*disk_, whose_.folder, whose_.account), whose_.stream, whose_.lane};
  journal::charge(*disk_, whose_.account, member_, [&](const journal::AccountBook& book) {
    const journal::Charge* const before = book.charge_of(member_.id);
    is_new_ = before == nullptr;
    const Rho room = book.room_for(member_);
    if (is_new_ && room.value() <= 0) {
      throw Failure(Exit::exhausted, fmt::format("{}: nothing is left of the account's budget {:g}; nustream account "
                                                 "show tells who was charged",
                                                 whose_.account, book.budget.value()));
    }
    budget = budget ? std::min(*budget, room) : room;
    return journal::Charge{member_, is_new_ ? *budget : std::max(before->rho, *budget), true};
  });
}

AccountShare::~AccountShare() {
  if (whose_.account.empty() || !is_new_) return;
  std::error_code unknown;
  if (std::filesystem::exists(whose_.folder / journal::folder_files::state, unknown) || unknown) return;
  try {
    settle(Rho{0});
  } catch (const Failure&) {
    // It stays charged: too much rather than too little.
  }
}

void AccountShare::settle(Rho total) {
  if (whose_.account.empty()) return;
  const std::string account = std::exchange(whose_.account, {});
  journal::charge(*disk_, account, member_, [&](const journal::AccountBook&) {
    return journal::Charge{member_, total, false};
  });
}

}  // namespace nustream::folder
