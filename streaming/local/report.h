// One report as a line of JSON, and what the server makes of a line (docs/formats/local.md).
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

/// Names a report: random bits that come with it, so that one that is sent twice is counted once.
using ReportId = std::array<std::uint8_t, 16>;

/// What all reports of a mechanism have in common.
class ReportFormat {
 public:
  ReportFormat(const Settings& settings, const inference::LocalMechanism& mechanism);

  /// The line of a report, without its newline. `numbers` are mechanism.report_size() integers.
  [[nodiscard]] std::string encode(const ReportId& id, std::span<const std::int64_t> numbers) const;

  /// No line of a report is longer, white space that a sender may add included.
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

/// Why a line is no report of this mechanism. Every such line is counted and dropped.
enum class Reject : std::uint8_t {
  none,
  too_long,         ///< longer than any report
  not_json,         ///< no JSON object
  members,          ///< a member is missing, there twice, unknown or of another type
  other_format,     ///< another format version
  other_stream,     ///< of another stream
  other_mechanism,  ///< made under other settings
  size,             ///< another number of numbers
  range,            ///< a number that no noise reaches
};
inline constexpr std::size_t reject_kinds = 9;
/// "too-long", "not-json", …: as shown.
[[nodiscard]] const char* name(Reject reject) noexcept;

/// Reads lines that anybody may have written. One thread at a time.
class ReportReader {
 public:
  /// `format` outlives it.
  explicit ReportReader(const ReportFormat& format);
  ~ReportReader();
  ReportReader(const ReportReader&) = delete;
  ReportReader& operator=(const ReportReader&) = delete;

  /// What is wrong with the line, or none: then id() and numbers() are the report's.
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
