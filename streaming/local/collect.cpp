// The command `local collect`: count reports of files, of a topic or of standard input, then solve for the model.
// With --show nothing is counted, and the folder's lock is not taken.
#include "local/commands.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <memory>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "console/signals.h"
#include "local/collector_folder.h"
#include "local/counting.h"
#include "local/lines.h"
#include "local/model_text.h"
#include "secrets/locked_memory.h"

namespace nustream::local {
namespace {

/// Counts until the files end or a signal comes. While something is uncommitted it does not wait for a pipe, so that
/// a pause is used for a commit.
void count_lines(std::vector<std::string> files, const ReportFormat& format, Counting& counting,
                 const std::atomic<int>& signal) {
  Lines lines(std::move(files), format.line_bytes_max());
  while (signal == 0) {
    switch (lines.next(counting.folder().uncommitted() == 0)) {
      case Lines::Found::line:
        counting.use(lines.text());
        break;
      case Lines::Found::over_long:
        counting.reject(Reject::too_long);
        break;
      case Lines::Found::nothing_yet:
        // The sender may be waiting to see what it sent, so that nothing stays uncommitted over a pause.
        counting.commit();
        break;
      case Lines::Found::interrupted:
        break;
      case Lines::Found::end:
        return counting.commit();
    }
    counting.commit_if_due();
  }
  counting.commit();
}

/// Refuses a file without a single report: it is another file, most likely the records themselves.
void require_reports(const std::string& file, const Counted& counted) {
  const auto of = [&](Reject reason) { return counted.rejects[static_cast<std::size_t>(reason)]; };
  const std::uint64_t no_report = of(Reject::not_json) + of(Reject::members) + of(Reject::too_long);
  const std::uint64_t all = std::accumulate(counted.rejects.begin(), counted.rejects.end(), std::uint64_t{0});
  if (counted.added + counted.duplicates > 0 || no_report == 0 || no_report != all) return;
  throw Failure(Exit::data, fmt::format("{}: none of {} lines is a report; give what nustream local randomize wrote, "
                                        "not the records",
                                        file, all));
}

/// The sums after counting; with --show, the sums that another run has committed.
inference::LocalCollector sums(const Settings& settings, const CollectOptions& options, const ReportFormat& format,
                               const std::atomic<int>& signal, Counted& counted) {
  const auto disk = journal::posix_disk();
  if (options.show) {
    // The state is replaced by rename, so what is read here is a whole one, whoever counts meanwhile.
    const std::optional<CollectorState> state = read_state(*disk, settings.directory, settings, format);
    return state ? state->sums : inference::LocalCollector(settings.bounds.dimension);
  }
  CollectorFolder folder(*disk, settings.directory, settings, format);
  Counting counting(settings, format, folder);
  if (options.files.empty() && !settings.kafka.brokers.empty()) {
    if (options.from_start) folder.forget_positions(settings.kafka.topics.input);
    count_topic(settings, options.until_end, counting, signal);
  } else {
    count_lines(options.files.empty() ? std::vector<std::string>{"-"} : options.files, format, counting, signal);
  }
  counted = counting.counted();
  const bool is_file = !options.files.empty() && options.files.front() != "-";
  if (is_file && signal == 0 && folder.sums().reports() == 0) require_reports(options.files.front(), counted);
  return folder.sums();
}

}  // namespace

Exit collect(const Settings& settings, const CollectOptions& options) {
  secrets::harden_process();
  const std::atomic<int>& signal = console::watch_signals();
  const inference::LocalMechanism mechanism = make_mechanism(settings);
  const ReportFormat format(settings, mechanism);
  // The rows are loaded before anything is counted, so that what is wrong with them is reported at once.
  LoadedRows rows;
  if (!settings.public_rows.empty()) rows = load_public_rows(settings);
  Collected collected{.settings = settings, .mechanism = mechanism, .rows = rows};
  const inference::LocalCollector total = sums(settings, options, format, signal, collected.counted);
  collected.reports = total.reports();
  if (total.reports() > 0) {
    const inference::LocalMoments moments =
        inference::local_moments(total, mechanism.second_moment_spacing(), mechanism.cross_moment_spacing());
    collected.estimate = inference::solve_local(moments, mechanism.noise(), {.x = rows.x}, settings.solver);
  }
  fmt::print("{}", options.json ? model_json(collected) : model_table(collected));
  // SIGTERM is how a service is stopped, and everything is committed then, too.
  return signal == SIGINT ? Exit::interrupted : Exit::done;
}

}  // namespace nustream::local
