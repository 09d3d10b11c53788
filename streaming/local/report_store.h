// Keeps the user's reports: one for each record for ever, durable before it is shown (docs/formats/local.md).
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "journal/disk.h"

namespace nustream::local {

/// The name of a record within a store: a hash of its key or of its position.
using RecordName = std::array<std::uint8_t, 32>;
[[nodiscard]] RecordName name_of_key(std::string_view key);
[[nodiscard]] RecordName name_of_position(std::uint64_t ordinal);
/// The name of a record whose key cannot be read: a hash of its bytes, and of the number of records before it with
/// the same bytes.
[[nodiscard]] RecordName name_of_line(std::string_view line, std::uint64_t before);

/// The folder of a user's reports, for one run at a time. A second draw for a record would spend its budget again, so
/// nothing that may have been shown is ever drawn anew. Where the file contradicts that, the store throws
/// Failure(data) and changes nothing.
class ReportStore {
 public:
  /// Opens the folder, which it makes where it is missing, and takes its lock. `heading` says what the reports are
  /// of; a store with another heading is refused by Failure(data). Throws Failure(locked) and Failure(io). `disk` has
  /// to outlive the store.
  ReportStore(journal::Disk& disk, const journal::Disk::Path& folder, const std::string& heading);

  /// How many reports the store has.
  [[nodiscard]] std::size_t size() const noexcept { return places_.size(); }
  [[nodiscard]] bool contains(const RecordName& record) const { return places_.contains(record); }

  /// Adds the report of a record that has none. The report is durable, and may be shown, only after commit().
  void add(const RecordName& record, std::string_view report);
  /// Makes what was added durable.
  void commit();
  /// The stored report, byte for byte.
  [[nodiscard]] std::string report(const RecordName& record) const;

 private:
  struct Place {
    std::uint64_t offset;
    std::uint32_t bytes;
  };
  /// Names are hashes already, so that any eight bytes of one will do.
  struct Hasher {
    std::size_t operator()(const RecordName& record) const noexcept {
      std::size_t value = 0;
      std::memcpy(&value, record.data(), sizeof value);
      return value;
    }
  };
  class Scan;

  void load(const std::string& heading);
  void begin(const std::string& heading);
  void write_again(std::uint64_t from, std::uint64_t to);

  journal::Disk& disk_;
  journal::Disk::Path folder_;
  std::unique_ptr<journal::Lock> lock_;
  std::unique_ptr<journal::File> file_;
  std::unordered_map<RecordName, Place, Hasher> places_;
  std::uint64_t durable_ = 0;  // durable bytes of the file
  std::string added_;          // lines to follow them
};

}  // namespace nustream::local
