// Puts the end of a run into the form that a terminal, --json and the report share. Public and operator's figures are
// kept apart: the counts are in OperatorCounts, and nothing of them goes into the public part.
#include "replay/summarise.h"

#include <filesystem>
#include <optional>
#include <string>

#include "engine/release_encoder.h"
#include "journal/last_release.h"
#include "publish/release_json.h"

namespace nustream::replay {
namespace {

const char* name(Ending ending) {
  switch (ending) {
    case Ending::input:
      return "input ended";
    case Ending::interrupted:
      return "interrupted";
    case Ending::drained:
      return "drained";
    case Ending::exhausted:
      return "budget or horizon reached";
  }
  return "";
}

std::string path_in(const config::Config& config, const char* name) {
  return (std::filesystem::path(config.state.directory) / name).string();
}

/// The last public release of the session's epoch. This run made it, or an earlier run of the same epoch did. A
/// release of an earlier epoch is not taken: the table shows this epoch's spend beside the estimate, and that release
/// was paid for by another epoch.
std::optional<publish::ShownRelease> last_published(const config::Config& config, const folder::Session& session,
                                                    const console::PathPrinter& printer) {
  if (printer.last()) return printer.last();
  const auto disk = journal::posix_disk();
  // The folder's last line was made durable by finish().
  auto last = publish::read_release(journal::last_line(*disk, path_in(config, journal::folder_files::releases)));
  if (!last || last->lane != config.lane || last->epoch != session.epoch()) return std::nullopt;
  return last;
}

}  // namespace

console::RejectsList rejects_of(const folder::Session& session) {
  const std::string file = session.rejects_file();
  return file.empty() ? console::RejectsList{} : console::RejectsList{file, session.rejects_are_written()};
}

console::OperatorCounts counted(const config::Config& config, const RecordLoop& loop, folder::Session& session) {
  console::OperatorCounts counts = loop.counts();
  // Each usable record has one gradient, except under limits of users, where a step may leave a user's records out.
  counts.gradients = counts.records - counts.rejected;
  counts.of_sums = config.moments.has_value();
  if (session.user_key() != nullptr) {
    counts.gradients = session.lane().contributions();
    counts.of_users = true;
    counts.used_up = session.lane().beyond_limits();
    const auto& windows = config.users->limits->windows();
    if (windows && windows->times_are_trusted) counts.windows = check::windows_seen(session.lane().clock());
  }
  counts.clipped = session.lane().clipped();
  return counts;
}

console::Summary summarise(const config::Config& config, const config::Mechanism& mechanism, folder::Session& session,
                           const console::PathPrinter& printer, const RecordLoop& loop, Ending ending) {
  const StepCount steps = session.lane().steps();
  const Rho spent = mechanism.spend.after(steps);
  console::Summary summary;
  summary.stream = config.stream;
  summary.epoch = session.epoch().value();
  summary.steps = steps.value();
  summary.rho = spent.value();
  summary.rho_limit = mechanism.spend.limit().value();
  // The ledger's total is over all epochs of the folder, and `rho` is over this one.
  summary.ledger_rho = session.ledger_total(steps).value();
  summary.epsilons = publish::epsilons_of(spent, config.privacy.deltas());
  summary.ledger_epsilons = publish::epsilons_of(session.ledger_total(steps), config.privacy.deltas());
  summary.promise = engine::promise_of(config, session.is_private());
  if (config.descent.averaging.kind != descent::Averaging::Kind::last) {
    summary.average_from = config.descent.averaging.from;
  }
  summary.release = last_published(config, session, printer);
  summary.ending = name(ending);
  summary.counts = counted(config, loop, session);
  summary.counts.of_sums = config.moments.has_value();
  summary.rejects = rejects_of(session);
  // Only files that are there are named. A run without a step may have made none.
  const auto made = [&, disk = journal::posix_disk()](const char* name) {
    const std::string path = path_in(config, name);
    return disk->open(path, journal::Access::read) ? path : std::string();
  };
  summary.ranges = config.ranges;
  summary.places = {made(journal::folder_files::releases), made(journal::folder_files::state),
                    made(journal::folder_files::ledger), session.key_file(), session.witness_file()};
  return summary;
}

}  // namespace nustream::replay
