// Sums of reports as 128-bit integers, their bytes (docs/formats/local.md), and the means that a solver starts from.
// Integers add up exactly, so two collectors that saw the same reports in any order are equal.
#include "nustream/inference/local_collector.h"

#include <cmath>

#include "nustream/base/error.h"

namespace nustream::inference {
namespace {

constexpr std::string_view magic_and_version{"nu-sums\x01", 8};

[[noreturn]] void refuse(const char* value, const char* allowed) {
  throw InvalidParameter("collector", value, allowed);
}

/// Eight bytes, the least significant first.
void append(std::uint64_t value, std::string& out) {
  for (unsigned shift = 0; shift < 64; shift += 8) out += static_cast<char>(value >> shift & 0xff);
}

std::uint64_t take(std::string_view& left) {
  if (left.size() < 8) refuse("cut short", "whole sums");
  std::uint64_t value = 0;
  for (std::size_t byte = 8; byte-- > 0;) value = value << 8 | static_cast<unsigned char>(left[byte]);
  left.remove_prefix(8);
  return value;
}

}  // namespace

void WideSum::add(std::int64_t value) noexcept {
  // The sign fills the upper half (two's complement).
  add(WideSum{static_cast<std::uint64_t>(value), value < 0 ? -1 : 0});
}

void WideSum::add(const WideSum& other) noexcept {
  low += other.low;
  // An unsigned sum that is less than one of its terms has wrapped.
  const std::uint64_t carry = low < other.low ? 1 : 0;
  // The halves are added as unsigned numbers, because the overflow of signed ones is undefined.
  high = static_cast<std::int64_t>(static_cast<std::uint64_t>(high) + static_cast<std::uint64_t>(other.high) + carry);
}

double WideSum::value() const noexcept {
  if (high >= 0) return std::ldexp(static_cast<double>(high), 64) + static_cast<double>(low);
  // The value is computed from the magnitude, because the halves of a small negative number nearly cancel.
  const std::uint64_t magnitude_low = ~low + 1;
  const std::uint64_t magnitude_high = ~static_cast<std::uint64_t>(high) + (low == 0 ? 1 : 0);
  return -(std::ldexp(static_cast<double>(magnitude_high), 64) + static_cast<double>(magnitude_low));
}

LocalCollector::LocalCollector(std::size_t dimension) : dimension_(dimension), sums_(local_report_size(dimension)) {}

void LocalCollector::add(std::span<const std::int64_t> report) noexcept {
  NUSTREAM_REQUIRE(report.size() == sums_.size(), "a report of the collector's own size");
  for (std::size_t i = 0; i < report.size(); ++i) sums_[i].add(report[i]);
  ++reports_;
}

void LocalCollector::merge(const LocalCollector& other) {
  if (other.dimension_ != dimension_) refuse("sums over another number of features", "those of the same mechanism");
  for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i].add(other.sums_[i]);
  reports_ += other.reports_;
}

std::string LocalCollector::encode() const {
  std::string bytes(magic_and_version);
  append(dimension_, bytes);
  append(reports_, bytes);
  for (const WideSum& sum : sums_) {
    append(sum.low, bytes);
    append(static_cast<std::uint64_t>(sum.high), bytes);
  }
  return bytes;
}

LocalCollector LocalCollector::decode(std::string_view bytes) {
  if (!bytes.starts_with(magic_and_version))
    refuse("bytes of something else, or of another version", "sums, version 1");
  bytes.remove_prefix(magic_and_version.size());
  const std::uint64_t dimension = take(bytes);
  // The dimension is checked before anything of its size is allocated.
  if (dimension > bytes.size() || 16 * local_report_size(dimension) + 8 != bytes.size()) {
    refuse("of another length than its dimension", "whole sums and nothing else");
  }
  LocalCollector collector(dimension);
  collector.reports_ = take(bytes);
  for (WideSum& sum : collector.sums_) {
    sum.low = take(bytes);
    sum.high = static_cast<std::int64_t>(take(bytes));
  }
  return collector;
}

LocalMoments local_moments(const LocalCollector& collector, double second_moment_spacing,
                           double cross_moment_spacing) {
  if (collector.reports() == 0) throw InvalidParameter("reports", "0", "at least one report");
  const std::size_t p = collector.dimension();
  const auto n = static_cast<double>(collector.reports());
  LocalMoments moments{collector.reports(), std::vector<double>(p * p), std::vector<double>(p)};
  std::size_t at = 0;
  for (std::size_t i = 0; i < p; ++i) {
    for (std::size_t j = i; j < p; ++j) {
      // Spacings are powers of two, so the only roundings are those of value() and of the division.
      const double mean = collector.sums()[at++].value() * second_moment_spacing / n;
      moments.second_moment[i * p + j] = mean;
      moments.second_moment[j * p + i] = mean;
    }
  }
  for (double& entry : moments.cross_moment) entry = collector.sums()[at++].value() * cross_moment_spacing / n;
  return moments;
}

}  // namespace nustream::inference
