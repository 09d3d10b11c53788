// Writes one report as a line of JSON, and reads lines that may be reports (docs/formats/local.md).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "local/settings.h"
#include "nustream/inference/local_mechanism.h"

namespace nustream::local {

/// The name of a report: random bits that are sent with it, so that a report that is sent twice is counted once.
using ReportId = std::array<std::uint8_t, 16>;

/// What all reports of one mechanism have in common.
class ReportFormat {
 public:
  ReportFormat(const Settings& settings, const inference::LocalMechanism& mechanism);

  /// The line of a report, without its newline. `numbers` are mechanism.report_size() integers.
  [[nodiscard]] std::string encode(const ReportId& id, std::span<const std::int64_t> numbers) const;

  /// The largest length of a report's line, with room for white space that a sender may add.
  [[nodiscard]] std::size_t line_bytes_max() const noexcept { return line_bytes_max_; }
  [[nodiscard]] const std::string& mechanism() const noexcept { return mechanism_digest_; }

 private:
  friend class ReportReader;

  std::string stream_;
  std::string mechanism_digest_;
  std::array<double, 2> spacing_;
  std::array<std::size_t, 2> sizes_;
  std::array<std::int64_t, 2> limits_;
  std::size_t line_bytes_max_;
};

/// Why a line is not a report of this mechanism. Every such line is counted and dropped.
enum class Reject : std::uint8_t {
  none,
  too_long,         ///< longer than any report
  not_json,         ///< not an object of JSON
  members,          ///< a member is missing, comes twice, is unknown or has another type
  other_format,     ///< the report has another format version
  other_stream,     ///< the report is of another stream
  other_mechanism,  ///< the report was made under other settings
  size,             ///< the report has more or fewer numbers
  range,            ///< a number lies where no noise reaches
};
inline constexpr std::size_t reject_kinds = 9;
/// The name that is shown, such as "too-long" or "not-json".
[[nodiscard]] const char* name(Reject reject) noexcept;

/// Reads lines that anybody may have written. To be used by one thread at a time.
class ReportReader {
 public:
  /// `format` has to outlive it.
  explicit ReportReader(const ReportFormat& format);
  ~ReportReader();
  ReportReader(const ReportReader&) = delete;
  ReportReader& operator=(const ReportReader&) = delete;

  /// Reads a line. Returns Reject::none where it is a report, which id() and numbers() then hold, and else what is
  /// wrong with it.
  [[nodiscard]] Reject read(std::string_view line);
  [[nodiscard]] const ReportId& id() const noexcept { return id_; }
  [[nodiscard]] std::span<const std::int64_t> numbers() const noexcept { return numbers_; }

 private:
  class Document;
  [[nodiscard]] Reject read_values();
  [[nodiscard]] bool is_of_this_mechanism() const;
  [[nodiscard]] Reject read_numbers(std::size_t part);

  const ReportFormat& format_;
  std::unique_ptr<Document> document_;
  ReportId id_{};
  std::vector<std::int64_t> numbers_;
};

}  // namespace nustream::local
