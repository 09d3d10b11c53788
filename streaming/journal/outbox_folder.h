// Commits batches to a state folder by the protocol of docs/formats/releases-folder.md, one call after the other.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "journal/appended_file.h"
#include "journal/disk.h"
#include "journal/journal.h"
#include "journal/last_release.h"
#include "journal/running_hash.h"

namespace nustream::journal {

// How long the ledger and releases files are right before a batch's lines are appended (docs/formats/state.md).
struct Bookmark {
  Extent releases;
  Extent ledger;
};

[[nodiscard]] std::string encode_bookmark(const Bookmark& bookmark);
/// Throws Failure(data) where the bytes are no bookmark.
[[nodiscard]] Bookmark decode_bookmark(std::string_view bytes);

/// The names of files within the folder.
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
  bool is_private;       ///< whether the releases of this run are private
  bool rejects = false;  ///< records that cannot be used are written to rejects.jsonl
};

/// What releases.jsonl shows where no state tells what was released.
struct Adopted {
  std::optional<LastRelease> last_release;
  /// What is left of a torn release. It could be read, but neither its position nor what was spent for it is known.
  std::optional<std::string> torn_release;
};

/// A run calls load(); then recover() where there was a state, or adopt() where files are to be taken without one;
/// then bookmark() and commit() in turn; and flush() at the end. To be used from one thread at a time. After an
/// exception from commit() or flush() it must not be used again: what failed is never tried again.
class OutboxFolder {
 public:
  OutboxFolder(Disk& disk, FolderOptions options);

  /// As Journal::load(). Makes the folder where it is missing.
  std::optional<std::string> load();
  /// Whether load() found releases or a ledger, and no state. What becomes of them is not decided here
  /// (engine/epoch_decision.h): the files take no commit until adopt() was called.
  [[nodiscard]] bool has_remains() const noexcept { return has_remains_; }
  /// As Journal::recover(), to be called after load() gave a state. Where it throws Failure(data), nothing was
  /// changed.
  void recover(const Recovery& recovery);
  /// Takes the files as they are, for a new epoch, where the state is missing, does not open or was rolled back. It
  /// changes nothing: the first commit cuts torn tails, once its state holds what is charged for them.
  Adopted adopt();

  [[nodiscard]] std::string bookmark() const;
  void commit(const Batch& batch);
  void flush();

  /// The last release that is public, as of recover() or adopt().
  [[nodiscard]] const std::optional<LastRelease>& last_release() const noexcept { return last_release_; }
  /// True once rejects could not be written; from then on none are. This depends on data, and is for the operator
  /// alone.
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
  bool has_remains_ = false;
  bool ready_ = false;
};

}  // namespace nustream::journal
