// All files of a run at once: they are made by the constructor, before anything is spent, and written at the end.
#include "report/files.h"

namespace nustream::report {

Files::Files(const std::string& operators, const std::string& report, const std::string& chart)
    : has_report_(!report.empty()),
      has_chart_(!chart.empty()),
      operators_(operators),
      report_(report, journal::Audience::everyone),
      chart_(chart, journal::Audience::everyone) {}

void Files::write(std::string_view for_operator, const config::Config& config, const config::Mechanism& mechanism,
                  const Run& run) {
  // A file that was not asked for is skipped by write(); pages and charts are not even made then.
  operators_.write(for_operator);
  if (has_report_) report_.write(page(config, mechanism, run));
  if (has_chart_) chart_.write(chart_file(config, mechanism, run));
}

}  // namespace nustream::report
