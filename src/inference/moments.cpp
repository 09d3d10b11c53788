// XᵀX and Xᵀy of the rows whose target is there. Missing targets cut the table into stretches, and each stretch is
// one product of matrices.
#include "moments.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "nustream/base/error.h"

namespace nustream::inference {
namespace {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

bool is_missing(double target) {
  return std::isnan(target);
}

}  // namespace

Moments moments_of(const TableView& table) {
  NUSTREAM_REQUIRE(table.x.size() == table.rows() * table.dimension, "a table has d numbers in each row");
  const auto d = static_cast<Eigen::Index>(table.dimension);
  Moments sums{Eigen::MatrixXd::Zero(d, d), Eigen::VectorXd::Zero(d)};
  auto begin = std::find_if_not(table.y.begin(), table.y.end(), is_missing);
  while (begin != table.y.end()) {
    const auto end = std::find_if(begin, table.y.end(), is_missing);
    const auto first = static_cast<std::size_t>(std::distance(table.y.begin(), begin));
    const Eigen::Index rows = std::distance(begin, end);
    const Eigen::Map<const RowMatrix> x(table.x.data() + first * table.dimension, rows, d);
    const Eigen::Map<const Eigen::VectorXd> y(table.y.data() + first, rows);
    // A stretch between missing targets is multiplied as a whole matrix, which Eigen does in blocks.
    sums.gram.noalias() += x.transpose() * x;
    sums.targets.noalias() += x.transpose() * y;
    begin = std::find_if_not(end, table.y.end(), is_missing);
  }
  return sums;
}

}  // namespace nustream::inference
