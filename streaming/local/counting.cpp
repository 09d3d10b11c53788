// Lines in, counts out: each line is read as a report and added once by its id; anything else is counted by its
// reason and dropped. Commits come by number or by time, whichever is first.
#include "local/counting.h"

namespace nustream::local {

Counting::Counting(const Settings& settings, const ReportFormat& format, CollectorFolder& folder)
    : settings_(settings), folder_(folder), reader_(format) {}

void Counting::use(std::string_view line) {
  const Reject reason = reader_.read(line);
  if (reason != Reject::none) return reject(reason);
  ++(folder_.add(reader_.id(), reader_.numbers()) ? counted_.added : counted_.duplicates);
}

void Counting::commit_if_due() {
  const std::chrono::duration<double> since = Clock::now() - committed_;
  if (folder_.uncommitted() >= settings_.commit_reports || since.count() >= settings_.commit_seconds) commit();
}

void Counting::commit() {
  folder_.commit();
  committed_ = Clock::now();
}

}  // namespace nustream::local
