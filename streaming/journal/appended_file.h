// A file of whole lines that only grows, and what a resume may find at its end (docs/formats/releases-folder.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "error.h"
#include "journal/disk.h"
#include "journal/running_hash.h"

namespace nustream::journal {

/// Length and hash of what was appended so far, and what is yet to be synced. Made on the first append, or by make().
/// One thread at a time; after any Failure(io) nothing is appended or synced again.
class AppendedFile {
 public:
  AppendedFile(Disk& disk, Disk::Path path, Audience audience);

  /// True where the file is there and holds anything.
  [[nodiscard]] bool holds_anything();

  /// Judges what is there against a state: the file must begin with `before`, and go on with whole lines of a prefix
  /// of `rest`, a torn tail aside. Changes nothing. Failure(data) where it is not so.
  void judge(const Extent& before, std::string_view rest);
  /// Judges what is there without a state: whole lines, a torn tail aside. Returns whether there is a torn tail.
  /// Changes nothing. Failure(data) where lines follow on NUL bytes.
  bool judge_without_state();

  /// Makes the file where it is missing.
  void make();
  /// Goes on at the end of whatever is there, on a new line; for a file that nothing is derived from.
  void go_on_at_end();

  /// The last whole line that judge() found, newline excluded; empty where there is none.
  [[nodiscard]] std::string last_judged_line() const;
  /// The first bytes, at most 4096, of what judge() found behind the last whole line.
  [[nodiscard]] std::string torn_tail() const;
  /// Removes the torn tail that judge() found.
  void cut_torn_tail();

  /// Appends after the extent: after judge(), over the same bytes where they are there already. Failure(data) where
  /// the file has another size than this run left it at.
  void append(std::string_view bytes);
  [[nodiscard]] Extent extent() const { return {length_, hash_.value()}; }

  /// Makes everything that was appended durable, but for the name of a new file.
  void sync();
  /// True once after the file was made.
  [[nodiscard]] bool take_new() noexcept;

 private:
  [[nodiscard]] bool open();
  [[nodiscard]] std::string read(std::uint64_t offset, std::uint64_t count) const;
  [[nodiscard]] Failure contradiction(const std::string& what) const;

  Disk& disk_;
  Disk::Path path_;
  Audience audience_;
  std::unique_ptr<File> file_;
  RunningHash hash_;          // of the first length_ bytes
  std::uint64_t length_ = 0;  // where the next append goes
  std::uint64_t keep_ = 0;    // end of the last whole line that was judged; may be beyond length_
  std::uint64_t size_ = 0;    // what the file's size has to be
  bool dirty_ = false;
  bool new_ = false;
};

}  // namespace nustream::journal
