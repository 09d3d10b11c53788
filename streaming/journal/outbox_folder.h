// The sealed outbox in files: the protocol of docs/formats/releases-folder.md, one call after the other.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "journal/appended_file.h"
#include "journal/disk.h"
#include "journal/journal.h"
#include "journal/last_release.h"

namespace nustream::journal {

/// Names within the folder.
namespace folder_files {
inline constexpr const char* state = "state";
inline constexpr const char* next_state = "state.new";
inline constexpr const char* ledger = "ledger";
inline constexpr const char* releases = "releases.jsonl";
inline constexpr const char* rejects = "rejects.jsonl";
inline constexpr const char* lock = "lock";
inline constexpr const char* key = "key";
}  // namespace folder_files

struct FolderOptions {
  std::filesystem::path folder;
  bool is_private;         ///< of the releases of this run
  bool new_epoch = false;  ///< asked for: files without a state are for adopt() then, no failure
  bool rejects = false;    ///< unusable records are written down
};

/// What releases.jsonl shows where there is no state to tell.
struct Adopted {
  std::optional<LastRelease> last_release;
  /// What is left of a release that was torn: it was readable, and its position is not known. Spend beyond the last
  /// one is unknown.
  std::optional<std::string> torn_release;
};

/// The steps of a run: load(); then recover() where there was a state, or adopt() where files are to be taken without
/// one; then bookmark() and commit() in turn; flush() last. One thread at a time. After any exception from commit()
/// or flush() it is not used again: nothing failed is ever retried.
class OutboxFolder {
 public:
  OutboxFolder(Disk& disk, FolderOptions options);

  /// As Journal::load(). Makes the folder where it is missing. Failure(data) for releases or a ledger without a
  /// state, unless a new epoch was asked for.
  std::optional<std::string> load();
  /// As Journal::recover(); call after load() gave the state. Failure(data) changes nothing.
  void recover(const Recovery& recovery);
  /// Takes the files as they are, for a new epoch whose state is missing, does not open or was rolled back. Changes
  /// nothing: torn tails are cut by the first commit, whose state holds what they are charged.
  Adopted adopt();

  [[nodiscard]] std::string bookmark() const;
  void commit(const Batch& batch);
  void flush();

  /// The last release that is public, as of recover() or adopt().
  [[nodiscard]] const std::optional<LastRelease>& last_release() const noexcept { return last_release_; }
  /// True once rejects could not be written: from there on none are listed. Depends on data.
  [[nodiscard]] bool rejects_given_up() const noexcept { return rejects_given_up_; }

 private:
  [[nodiscard]] std::filesystem::path path(const char* name) const { return options_.folder / name; }
  void append_rejects(const std::string& lines);
  void sync_files();
  void replace_state(const std::string& sealed);
  void publish(const std::string& ledger_entry, const std::string& outbox);
  void judge_last_release();

  Disk& disk_;
  FolderOptions options_;
  std::unique_ptr<Lock> lock_;
  AppendedFile ledger_;
  AppendedFile releases_;
  AppendedFile rejects_;
  std::optional<std::string> loaded_state_;
  std::optional<LastRelease> last_release_;
  bool rejects_begun_ = false;
  bool rejects_given_up_ = false;
  bool ready_ = false;
};

}  // namespace nustream::journal
