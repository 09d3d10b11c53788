// The commit of a batch in a folder, and what a resume does with the files that it finds
// (docs/formats/releases-folder.md). The state is the one file that decides: it is replaced as a whole, and holds
// whatever the appended files may still lack. Each step between two syncs has a failpoint, so that tests can end the
// process there.
#include "journal/outbox_folder.h"

#include <string_view>
#include <utility>

#include "error.h"
#include "journal/failpoint.h"
#include "located.h"
#include "nustream/base/error.h"
#include "secrets/fields.h"

namespace nustream::journal {
namespace {

/// A file's length and hash, 40 bytes, of which a bookmark has two: first that of the releases, then of the ledger.
void append_extent(const Extent& extent, std::string& out) {
  secrets::append_integer(extent.length, out);
  secrets::append_bytes(extent.hash, out);
}

/// Reads what append_extent() wrote.
Extent read_extent(secrets::FieldReader& fields) {
  Extent extent;
  extent.length = fields.integer<std::uint64_t>();
  fields.bytes(extent.hash);
  return extent;
}

// A bookmark of topics has another length, so that it is found out here.
constexpr const char* no_bookmark =
    "the state's bookmark is not one of a folder: it was made by attach, and this command reads folders; check "
    "state.directory";

}  // namespace

std::string encode_bookmark(const Bookmark& bookmark) {
  std::string out;
  append_extent(bookmark.releases, out);
  append_extent(bookmark.ledger, out);
  return out;
}

Bookmark decode_bookmark(std::string_view bytes) {
  secrets::FieldReader fields(bytes, no_bookmark);
  const Extent releases = read_extent(fields);
  const Extent ledger = read_extent(fields);
  if (!fields.rest().empty()) throw Failure(Exit::data, no_bookmark);
  return {releases, ledger};
}

namespace {

/// A commit appends whole lines only: a resume would take a line without its newline for a torn one.
bool whole_lines_only(std::string_view lines) {
  return lines.empty() || lines.back() == '\n';
}

}  // namespace

OutboxFolder::OutboxFolder(Disk& disk, FolderOptions options)
    : disk_(disk),
      options_(std::move(options)),
      ledger_(disk, path(folder_files::ledger), Audience::operators),
      releases_(disk, path(folder_files::releases), Audience::everyone),
      rejects_(disk, path(folder_files::rejects), Audience::operators) {}

std::optional<std::string> OutboxFolder::load() {
  disk_.make_folder(options_.folder);
  disk_.require_trusted(options_.folder);
  // The lock is taken before the state is read. Otherwise another run could commit between the two, and this run
  // would go on from a state that is not the last one.
  lock_ = disk_.lock(path(folder_files::lock));
  if (const auto file = disk_.open(path(folder_files::state), Access::read)) {
    std::string sealed(file->size(), '\0');
    sealed.resize(file->read(0, sealed));
    loaded_state_ = std::move(sealed);
    return loaded_state_;
  }
  // Where there is nothing yet, nothing has to be judged; otherwise adopt() comes first.
  has_remains_ = ledger_.holds_anything() || releases_.holds_anything();
  ready_ = !has_remains_;
  return std::nullopt;
}

void OutboxFolder::judge_last_release() {
  // Private releases and others never follow on each other in one file.
  const std::string line = releases_.last_judged_line();
  last_release_.reset();
  if (!line.empty()) {
    // Such a line stops a new epoch too, so that only this leads on.
    const auto advice = [] { return "restore the file as it was, or take this line away if no run wrote it"; };
    last_release_ = located(path(folder_files::releases).string() + ", last line",
                            [&] { return with_own_advice(advice, [&] { return parse_last_release(line); }); });
  }
  if (last_release_ && last_release_->is_private != options_.is_private) {
    throw Failure(Exit::data,
                  path(folder_files::releases).string() +
                      (options_.is_private ? " holds releases that promise nothing (insecure seed or comparison)"
                                           : " holds private releases, this run is not private") +
                      "; name another state.directory");
  }
}

void OutboxFolder::recover(const Recovery& recovery) {
  NUSTREAM_REQUIRE(loaded_state_.has_value() && !ready_, "recover() follows a load() that gave a state");
  // Both files are judged before anything is changed, so that a folder that is refused stays as it was.
  const Bookmark mark = decode_bookmark(recovery.bookmark);
  ledger_.judge(mark.ledger, recovery.ledger_entry);
  releases_.judge(mark.releases, recovery.outbox);
  judge_last_release();
  // The run before may have died between renaming the state and syncing the folder, or of a failed sync, after which
  // the page cache may be ahead of the disk. The state that was read is then perhaps not durable, and its outbox must
  // not be readable before it is. So the state is written anew first.
  replace_state(*loaded_state_);
  ledger_.cut_torn_tail();
  releases_.cut_torn_tail();
  NUSTREAM_FAILPOINT("after-cut-torn-tails");
  ledger_.append(recovery.ledger_entry);
  NUSTREAM_FAILPOINT("after-recover-ledger");
  releases_.append(recovery.outbox);
  NUSTREAM_FAILPOINT("after-recover-releases");
  // Asked a second time: the last release may be one of the outbox now.
  judge_last_release();
  loaded_state_.reset();
  ready_ = true;
}

Adopted OutboxFolder::adopt() {
  NUSTREAM_REQUIRE(lock_ && !ready_, "adopt() follows a load()");
  // Nothing is written here. The torn tails stay until the first commit, whose state charges for what they may have
  // shown.
  ledger_.judge_without_state();
  std::optional<std::string> torn_release;
  if (releases_.judge_without_state()) torn_release = releases_.torn_tail();
  judge_last_release();
  loaded_state_.reset();
  ready_ = true;
  return {last_release_, std::move(torn_release)};
}

std::string OutboxFolder::bookmark() const {
  NUSTREAM_REQUIRE(ready_, "a state that was loaded is recovered first");
  return encode_bookmark({releases_.extent(), ledger_.extent()});
}

// For example batch 7: batch 6's lines are synced; state.new is written, synced and renamed to state; the folder is
// synced, by which batch 7 is committed; then its ledger line and its releases are appended.
void OutboxFolder::commit(const Batch& batch) {
  NUSTREAM_REQUIRE(ready_, "a state that was loaded is recovered first");
  NUSTREAM_REQUIRE(whole_lines_only(batch.outbox) && whole_lines_only(batch.ledger_entry), "whole lines");
  NUSTREAM_FAILPOINT("after-seal");
  // The file of rejects is made with the first batch, whether or not that has rejects, so that neither the names in
  // the folder nor a failure depend on data. Its name becomes durable together with the state's.
  if (options_.rejects) rejects_.make();
  sync_files();
  append_rejects(batch.rejects);
  if (batch.before_state) batch.before_state();
  replace_state(batch.sealed_state);
  // Files that were adopted may have torn tails. They are cut only now that the state which charges for them is
  // durable.
  ledger_.cut_torn_tail();
  releases_.cut_torn_tail();
  publish(batch.ledger_entry, batch.outbox);
  NUSTREAM_FAILPOINT("after-commit");
}

void OutboxFolder::flush() {
  NUSTREAM_REQUIRE(ready_, "a state that was loaded is recovered first");
  sync_files();
  NUSTREAM_FAILPOINT("after-flush");
}

// Rejects are written before the state that counts them, so that after a crash an entry may be there twice. Whether a
// record was unusable depends on data. So rejects that cannot be written must not stop the releases: they are given
// up, and the public sees nothing of that.
void OutboxFolder::append_rejects(const std::string& lines) try {
  if (!options_.rejects || rejects_given_up_ || lines.empty()) return;
  if (!std::exchange(rejects_begun_, true)) rejects_.go_on_at_end();
  rejects_.append(lines);
  NUSTREAM_FAILPOINT("after-append-rejects");
  rejects_.sync();
  NUSTREAM_FAILPOINT("after-sync-rejects");
} catch (const Failure&) {
  rejects_given_up_ = true;
}

// Makes durable what the commit before appended. That is early enough: until the next state replaces it, the state of
// that commit holds the same bytes, and a resume appends them again.
void OutboxFolder::sync_files() {
  ledger_.sync();
  NUSTREAM_FAILPOINT("after-sync-ledger");
  releases_.sync();
  NUSTREAM_FAILPOINT("after-sync-releases");
  const bool new_ledger = ledger_.take_new();
  const bool new_releases = releases_.take_new();
  if (new_ledger || new_releases) disk_.sync_folder(options_.folder);
  NUSTREAM_FAILPOINT("after-sync-new-files");
}

// Replaces the state by a new file under another name, which is synced and renamed: after a crash at any point there
// is either the old state or the new one, whole.
void OutboxFolder::replace_state(const std::string& sealed) {
  const auto next = disk_.create(path(folder_files::next_state), Audience::operators);
  std::uint64_t offset = 0;
  const auto write = [&](std::string_view bytes) {
    next->write(offset, bytes);
    offset += bytes.size();
  };
  NUSTREAM_TORN_WRITE("during-write-state", std::string_view(sealed), write);
  NUSTREAM_FAILPOINT("after-write-state");
  next->sync();
  NUSTREAM_FAILPOINT("after-sync-state");
  disk_.rename(path(folder_files::next_state), path(folder_files::state));
  NUSTREAM_FAILPOINT("after-rename-state");
  disk_.sync_folder(options_.folder);
  NUSTREAM_FAILPOINT("after-sync-folder");
}

// The ledger is appended first, so that the spend of a release that can be read is on record.
void OutboxFolder::publish(const std::string& ledger_entry, const std::string& outbox) {
  const auto append_ledger = [this](std::string_view bytes) { ledger_.append(bytes); };
  NUSTREAM_TORN_WRITE("during-append-ledger", std::string_view(ledger_entry), append_ledger);
  NUSTREAM_FAILPOINT("after-append-ledger");
  const auto append_releases = [this](std::string_view bytes) { releases_.append(bytes); };
  NUSTREAM_TORN_WRITE("during-append-releases", std::string_view(outbox), append_releases);
  NUSTREAM_FAILPOINT("after-append-releases");
}

}  // namespace nustream::journal
