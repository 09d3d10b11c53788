// The files that a run writes beside its answer: what its operator alone is told, its report, and its chart.
#pragma once

#include <string>
#include <string_view>

#include "config/mechanism.h"
#include "console/operator_file.h"
#include "report/report.h"

namespace nustream::report {

/// Files beside the answer. They are made before anything is spent, so that a path that cannot be written is told in
/// time. Each may be left out by an empty path.
class Files {
 public:
  /// Throws Failure(io) where a file cannot be made.
  Files(const std::string& operators, const std::string& report, const std::string& chart);

  /// Writes the files that are asked for; `for_operator` is an object of JSON. Throws Failure(io).
  void write(std::string_view for_operator, const config::Config& config, const config::Mechanism& mechanism,
             const Run& run);

 private:
  bool has_report_;
  bool has_chart_;
  console::OperatorFile operators_;
  console::OperatorFile report_;
  console::OperatorFile chart_;
};

}  // namespace nustream::report
