// A file of whole lines that only grows, and how a resume judges what it finds at the end of one
// (docs/formats/releases-folder.md).
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

/// Appends to one file, and keeps the length and hash of what was appended so far. The file is made by the first
/// append, or by make(). To be used from one thread at a time. After any Failure(io) nothing may be appended or
/// synced again.
class AppendedFile {
 public:
  AppendedFile(Disk& disk, Disk::Path path, Audience audience);

  /// True where the file is there and holds anything.
  [[nodiscard]] bool holds_anything();

  /// Compares the file with what a state says: it has to begin with `before`, and go on with whole lines from the
  /// beginning of `rest`; a torn tail may follow. Changes nothing. Throws AdvisedFailure(data) where the file does
  /// not.
  void judge(const Extent& before, std::string_view rest);
  /// Reads the file without a state: whole lines, behind which there may be a torn tail. Returns whether there is
  /// one. Changes nothing. Throws Failure(data) where lines follow NUL bytes.
  bool judge_without_state();

  /// Makes the file where it is missing.
  void make();
  /// Goes on at the end of the file on a new line, without judging what is there. That is for a file that nothing
  /// else relies on.
  void go_on_at_end();

  /// The last whole line that judge() found, newline excluded; empty where there is none.
  [[nodiscard]] std::string last_judged_line() const;
  /// The bytes that judge() found behind the last whole line, at most the first 4,096 of them.
  [[nodiscard]] std::string torn_tail() const;
  /// Removes the torn tail that judge() found.
  void cut_torn_tail();

  /// Appends behind extent(). After judge(), bytes of `rest` that are in the file already are written over with the
  /// same bytes. Throws Failure(data) where the file has another size than this run left it at.
  void append(std::string_view bytes);
  [[nodiscard]] Extent extent() const { return {length_, hash_.value()}; }

  /// Makes everything that was appended durable. The name of a new file becomes durable only by Disk::sync_folder().
  void sync();
  /// True at the first call after the file was made, and false from then on.
  [[nodiscard]] bool take_new() noexcept;

 private:
  [[nodiscard]] bool open();
  [[nodiscard]] std::string read(std::uint64_t offset, std::uint64_t count) const;
  [[nodiscard]] AdvisedFailure contradiction(const std::string& what) const;

  Disk& disk_;
  Disk::Path path_;
  Audience audience_;
  std::unique_ptr<File> file_;
  RunningHash hash_;          // the hash of the first length_ bytes
  std::uint64_t length_ = 0;  // where the next append goes
  std::uint64_t keep_ = 0;    // end of the last whole line that was judged; may be beyond length_
  std::uint64_t size_ = 0;    // what the file's size has to be
  bool dirty_ = false;
  bool new_ = false;
};

}  // namespace nustream::journal
