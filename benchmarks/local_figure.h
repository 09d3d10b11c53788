// The figures of local privacy (NLDP appendix A.1): the error of a logistic model against the number of reports and
// against ε.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "line_chart.h"

namespace nustream::benchmarks {

struct LocalFigure {
  std::size_t repetitions = 200;
  std::vector<double> epsilons{10, 5, 3, 2};
  std::vector<double> reports{1e4, 5e4, 1e5, 3e5, 1e6, 1e7, 1e8, 1e9};  ///< n; as many public rows
  /// Up to this n the noise of every report is drawn. Beyond it the sum of all noise is drawn as one Gaussian, which
  /// has the same distribution.
  double drawn_up_to = 1e5;
  std::uint64_t seed = 1;
};

/// One figure, as numbers and as a picture.
struct DrawnFigure {
  std::string name;
  std::string json;
  Picture chart;
};

/// p = 10 features ±1/p, w* = (1, …, 1)/√p, δ = 1e-5, and the squared relative error ‖ŵ − w*‖∞²/‖w*‖∞². It gives
/// medians with standard errors (the errors have heavy tails where the noise is larger than the signal), and the
/// slopes of their logarithms. The signal itself is drawn exactly at every n: there are 2^p kinds of records, which
/// are counted by multinomial draws. All mechanisms of a repetition see the same records and the same noise, scaled.
///
/// "reports" is over n; its slopes begin at four times the n from which on the noise is no longer larger than the
/// signal, and its picture is at the first ε, without a repair. "epsilon" is over ε at the largest n. Each row is
///
///     {"mechanism": …, "repair": …, "epsilon": …, "n": …, "noise_xx": …, "noise_xy": …, "median": …,
///      "standard_error": …, "indefinite": …, "no_scale": …}
[[nodiscard]] std::vector<DrawnFigure> local_figures(const LocalFigure& figure);

}  // namespace nustream::benchmarks
