// The server's side of local privacy as a running state: sums of reports.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nustream/inference/local_mechanism.h"

namespace nustream::inference {

/// A sum of 64-bit integers that cannot overflow below 2^63 of them, two's complement.
struct WideSum {
  std::uint64_t low = 0;
  std::int64_t high = 0;

  void add(std::int64_t value) noexcept;
  /// Of two collectors' sums: below 2^63 numbers in both.
  void add(const WideSum& other) noexcept;
  /// The nearest double, to a relative error of 2^-52.
  [[nodiscard]] double value() const noexcept;
  friend bool operator==(const WideSum&, const WideSum&) = default;
};

/// Sums of reports of one mechanism, in units of its grids: exact, so that neither the order of the reports nor the
/// way in which collectors are merged changes a bit. Everything in it is a function of reports: it hides nothing.
class LocalCollector {
 public:
  /// Of reports over `dimension` features; none so far.
  explicit LocalCollector(std::size_t dimension);

  /// Adds one report, of local_report_size() numbers.
  void add(std::span<const std::int64_t> report) noexcept;
  /// Adds the reports of another collector of the same mechanism. Throws InvalidParameter for another dimension.
  void merge(const LocalCollector& other);

  [[nodiscard]] std::size_t dimension() const noexcept { return dimension_; }
  /// n.
  [[nodiscard]] std::uint64_t reports() const noexcept { return reports_; }
  /// Sums, in the order of a report.
  [[nodiscard]] std::span<const WideSum> sums() const noexcept { return sums_; }

  /// Canonical bytes (docs/formats/local.md): equal sums give equal bytes, on every machine.
  [[nodiscard]] std::string encode() const;
  /// The collector whose encode() gave `bytes`. Throws InvalidParameter where they are not such bytes.
  [[nodiscard]] static LocalCollector decode(std::string_view bytes);

  friend bool operator==(const LocalCollector&, const LocalCollector&) = default;

 private:
  std::size_t dimension_;
  std::uint64_t reports_ = 0;
  std::vector<WideSum> sums_;
};

/// Means over the reports in natural units: what the solver starts from.
struct LocalMoments {
  std::uint64_t reports;              ///< n > 0
  std::vector<double> second_moment;  ///< of x xᵀ with its noise: p × p, symmetric
  std::vector<double> cross_moment;   ///< of x(y − centre) with its noise: p
};
/// Throws InvalidParameter where there is no report yet.
[[nodiscard]] LocalMoments local_moments(const LocalCollector& collector, double second_moment_spacing,
                                         double cross_moment_spacing);

}  // namespace nustream::inference
