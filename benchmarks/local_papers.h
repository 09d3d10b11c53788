// Figure 1 of NLDP as its appendix A.1 draws it, where noise exceeds the signal, and where it no longer does.
#pragma once

#include <cstddef>
#include <vector>

#include "local_figure.h"

namespace nustream::benchmarks {

/// "as_drawn", figure 1a: p = 10, n = 1, 3, …, 29 times 10⁴, ε = 10, 5, 3, 2; the mean over the repetitions of the
/// squared relative error, beside the median and how many of the collected matrices are indefinite.
///
/// "dimension", figure 1b: p = 5, 10, 12, 15, ε = 10; the relative error, at the paper's n (here 1, 3 and 4.8 times
/// 10⁵) and at 10⁸ and 10⁹. "repetitions": of each, where 0 stands for the paper's 1,000 of the first, and 100.
///
/// "public_rows": p = 10, ε = 10, n = 10⁹ and m = 10², …, 10⁷ public rows: the relative error, and how far the
/// estimate is from that of the same reports with 10⁹ public rows, in units of w*.
///
/// The first two by the paper's constants, and "dimension" and "public_rows" by the ℓ2 sensitivity.
[[nodiscard]] std::vector<DrawnFigure> figures_as_drawn(std::size_t repetitions);
/// "public_rows" alone.
[[nodiscard]] DrawnFigure figure_of_public_rows(std::size_t repetitions);

}  // namespace nustream::benchmarks
