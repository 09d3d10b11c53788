// The figures of local privacy (NLDP appendix A.1): the error of a logistic model against the number of reports and
// against ε.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
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

/// "as_drawn", figure 1a: p = 10, n = 1, 3, …, 29 times 10⁴, ε = 10, 5, 3, 2; the mean over the repetitions of the
/// squared relative error, beside the median and how many of the collected matrices are indefinite.
///
/// "dimension", figure 1b: p = 5, 10, 12, 15, ε = 10; the relative error, at the paper's n (here 1, 3 and 4.8 times
/// 10⁵) and at 10⁸ and 10⁹. Each is drawn `repetitions` times; 0 stands for the paper's 1,000 in "as_drawn", and for
/// 100 in the others.
///
/// "public_rows": p = 10, ε = 10, n = 10⁹ and m = 10², …, 10⁷ public rows: the relative error, and how far the
/// estimate is from that of the same reports with 10⁹ public rows, in units of w*.
///
/// The noise is by the paper's constants in "as_drawn" and "dimension", and by the ℓ2 sensitivity in "dimension" and
/// "public_rows".
[[nodiscard]] std::vector<DrawnFigure> figures_as_drawn(std::size_t repetitions);
/// "public_rows" alone.
[[nodiscard]] DrawnFigure figure_of_public_rows(std::size_t repetitions);

/// "covertype", figure 2, at the first n of the paper: accuracy of a model of 44 features from 10⁴ reports at ε = 20,
/// 10, 5, by the paper's constants and by the ℓ2 sensitivity, over random divisions of DATA/covtype_15120.csv. Empty
/// where this file cannot be read.
[[nodiscard]] std::optional<DrawnFigure> figure_of_covertype(const std::string& data, std::size_t repetitions);

}  // namespace nustream::benchmarks
