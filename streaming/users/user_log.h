// The store of a lane's users in files. Two files are used in turn, so that their size is bounded by the number of
// users (docs/formats/users.md).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "journal/disk.h"
#include "nustream/users/changes.h"
#include "users/log_writer.h"
#include "users/rebuild.h"
#include "users/sealed_record.h"
#include "users/store_mark.h"

namespace nustream::users {

/// Appends what batches change, and between the changes parts of the table, so that older records are not needed any
/// more.
///
///     append(changes)   writes the batch's records, which a power failure may still lose
///     sync()            durable; the mark goes into the state that the caller then commits
///     committed()       the state is durable: the table takes the changes
///
/// To be used from one thread at a time. After a Failure nothing may be appended any more; the next process loads the
/// store again.
class UserLog {
 public:
  /// `table` is not looked at before load(). Tests give a smaller `segment_bytes_min`, for shorter files.
  UserLog(journal::Disk& disk, journal::Disk::Path folder, UserKey key, const StoreIdentity& identity,
          Standings& table, std::uint64_t segment_bytes_min = LogSizes().segment_bytes_min);

  /// Rebuilds the table up to `mark`, and cuts off what an uncommitted batch left. A mark of zeros is that of a new
  /// stream, whose folder holds no store, or what an uncommitted first batch left. Throws Failure(data) where the
  /// files are of another stream, lane or key, damaged, cut, out of order, or older or newer than the state.
  void load(const StoreMark& mark);
  /// As load(), for a caller that only looks, perhaps while another process appends: nothing is cut off, and nothing
  /// may be appended by this object.
  void look(const StoreMark& mark) { rebuild(mark, journal::Access::read); }

  /// Appends the records of a batch. Returns the mark of the table with them.
  [[nodiscard]] StoreMark append(const Changes& changes);
  /// Appends what an epoch adds when it begins, as LogWriter::append_epoch() gives it.
  [[nodiscard]] StoreMark append_epoch(std::optional<std::pair<Mass, Mass>> mass);
  /// Makes the records durable, and the name of a new file too.
  void sync();
  /// The state with the last mark is durable: the table takes the batch's changes.
  void committed(Changes& changes);

  /// The bytes of both files, for the operator.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return files_[0].size + files_[1].size; }
  /// The path of a file of the store: users-0.log or users-1.log in `folder`.
  [[nodiscard]] static journal::Disk::Path path(const journal::Disk::Path& folder, unsigned file);
  [[nodiscard]] journal::Disk::Path path(unsigned file) const { return path(folder_, file); }

 private:
  struct SegmentFile {
    std::unique_ptr<journal::File> file;
    std::uint64_t size = 0;  // where the next record goes; behind it lies at most what was not committed
    Segment segment;
  };

  [[nodiscard]] std::string header(std::uint64_t segment) const;
  [[nodiscard]] SegmentFile open_segment(unsigned file, journal::Access access) const;
  [[nodiscard]] unsigned open_segments(journal::Access access);
  void rebuild(const StoreMark& mark, journal::Access access);
  static void read(SegmentFile& segment, Rebuild& rebuild);
  [[nodiscard]] std::string begin_file();
  StoreMark write(Appended batch);

  journal::Disk& disk_;
  journal::Disk::Path folder_;
  UserKey key_;
  std::string context_;
  Standings& table_;
  LogWriter writer_;
  StoreMark written_{};  // of the store with what was written last
  std::array<SegmentFile, 2> files_{};
  unsigned current_ = 0;
  bool new_name_ = false;  // a file was made that its folder may not know yet
};

}  // namespace nustream::users
