// The server's side of local privacy as a running state: the sums of reports.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nustream/inference/local_mechanism.h"

namespace nustream::inference {

/// A sum of 64-bit integers in two's complement, which cannot overflow below 2^63 of them.
struct WideSum {
  std::uint64_t low = 0;
  std::int64_t high = 0;

  void add(std::int64_t value) noexcept;
  /// Adds the sum of another collector. Both together must hold fewer than 2^63 numbers.
  void add(const WideSum& other) noexcept;
  /// The nearest double, to a relative error of 2^-52.
  [[nodiscard]] double value() const noexcept;
  friend bool operator==(const WideSum&, const WideSum&) = default;
};

/// The sums of reports of one mechanism, in units of its grids. They are exact, so that neither the order of the
/// reports nor the way in which collectors are merged changes a bit. Everything in a collector is a function of
/// reports, so it has nothing to hide.
class LocalCollector {
 public:
  /// A collector for reports over `dimension` features, with no report so far.
  explicit LocalCollector(std::size_t dimension);

  /// Adds one report, which has local_report_size() numbers.
  void add(std::span<const std::int64_t> report) noexcept;
  /// Adds the reports of another collector of the same mechanism. Throws InvalidParameter for another dimension.
  void merge(const LocalCollector& other);

  [[nodiscard]] std::size_t dimension() const noexcept { return dimension_; }
  /// n, the number of reports.
  [[nodiscard]] std::uint64_t reports() const noexcept { return reports_; }
  /// The sums, in the order of a report.
  [[nodiscard]] std::span<const WideSum> sums() const noexcept { return sums_; }

  /// The canonical bytes (docs/formats/local.md). Equal sums give equal bytes on every machine.
  [[nodiscard]] std::string encode() const;
  /// The collector whose encode() gave `bytes`. Throws InvalidParameter where they are not such bytes.
  [[nodiscard]] static LocalCollector decode(std::string_view bytes);

  friend bool operator==(const LocalCollector&, const LocalCollector&) = default;

 private:
  std::size_t dimension_;
  std::uint64_t reports_ = 0;
  std::vector<WideSum> sums_;
};

/// The means over the reports in natural units, from which the solver starts.
struct LocalMoments {
  std::uint64_t reports;              ///< n > 0
  std::vector<double> second_moment;  ///< mean of x xᵀ with its noise: p × p, symmetric
  std::vector<double> cross_moment;   ///< mean of x(y − centre) with its noise: p numbers
};
/// The means of a collector's reports. Throws InvalidParameter where there is no report yet.
[[nodiscard]] LocalMoments local_moments(const LocalCollector& collector, double second_moment_spacing,
                                         double cross_moment_spacing);

}  // namespace nustream::inference
