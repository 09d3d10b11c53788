// What `nustream inspect` prints for a person.
#include <fmt/format.h>

#include "cli/inspected.h"
#include "console/main_path.h"
#include "console/path_printer.h"
#include "console/report_parts.h"
#include "console/terminal.h"
#include "publish/release_json.h"
#include "serve/page_parts.h"

namespace nustream::cli {
namespace {

/// Whom the entry's ρ is about, in the words of all other reports.
std::string text(const journal::LedgerEntry& entry) {
  const privacy::Neighbours& neighbours = entry.neighbours;
  publish::Promise promise{true, neighbours.target_only, std::string(privacy::name(neighbours.adjacency))};
  if (entry.user) promise.user = publish::PromisedUser{"user", entry.user->limits};
  promise.trusts_framing = entry.trusts_framing;
  return console::protected_unit(promise);
}

/// Where the input is read next. Positions go on from one pass into the next. So after the first pass they are no
/// places in the input; the ledger says which records they touched.
std::string place_in_input(const Inspected& report) {
  using console::with_separators;
  const std::uint64_t position = report.position.value();
  const auto& epochs = report.ledger.epochs;
  // Within the first pass a position is a place in the input.
  if (epochs.empty() || position <= epochs.back().to.value()) return "next record " + with_separators(position);
  return fmt::format("{} records read, in several passes over those before {}",
                     with_separators(position - epochs.back().from.value()),
                     with_separators(epochs.back().to.value()));
}

/// Prints how many users contributed in how many steps. The last row stands for that many steps and more.
void print_users(const users::UserTotals& counts) {
  using console::with_separators;
  fmt::print("operator only, not private: {} users, {} of them at their limits\n", with_separators(counts.entries),
             with_separators(counts.at_limit));
  for (std::size_t i = 0; i < counts.by_count.size(); ++i) {
    if (counts.by_count[i] == 0) continue;
    fmt::print("  {} {:>12} contributed in {} step{}\n", i + 1 == counts.by_count.size() ? ">=" : "  ",
               with_separators(counts.by_count[i]), i + 1, i == 0 ? "" : "s");
  }
  fmt::print("\n");
}

/// Prints the spend that the ledger charges if the state is lost.
void print_reserved(const journal::Ledger& ledger) {
  if (!ledger.reserving) return;
  fmt::print("{:<6} {:>5} {:>12} {:>12} {:>12} {:>12.6g} {:>12}  reserved by the ledger's last line\n", "",
             ledger.reserving->epoch.value(), "", "", console::with_separators(ledger.reserving->steps.value()),
             ledger.reserving->rho.value(), "");
}

/// Prints the coefficients, and the average where there is one.
void print_estimate(const publish::ShownRelease& release) {
  for (std::size_t j = 0; j < release.estimate.size(); ++j) {
    const auto& [name, value] = release.estimate[j];
    fmt::print("  {:<24} {:>14}", name,
               release.is_determined(name) ? console::shown_number(value) : "not determined");
    if (!release.average.empty()) fmt::print("  averaged {:>14}", console::shown_number(release.average[j].second));
    fmt::print("\n");
  }
}

/// How an epoch's records stand to those of the epochs before it. Where the unit is the user, their ranges do not
/// matter: the same user may have records in all of them, and it matters whether counts carried over.
std::string_view records_of(const journal::LedgerEntry& entry) {
  // "disjoint", "overlapping" or "unknown", as the line says it.
  if (!entry.user) return journal::name_of(entry.overlap);
  return entry.user->carries_over ? "users count on" : "users count anew";
}

}  // namespace

void print(const Inspected& report, const std::string& folder) {
  using console::with_separators;
  const secrets::StateIdentity& identity = report.identity;
  fmt::print("{}: stream {}, lane {}, epoch {}, {}\n", folder, identity.stream, identity.lane.value(),
             identity.epoch.value(),
             identity.is_private ? "private" : "private: false (insecure seed or comparison)");
  fmt::print("committed: {} steps, {}\nsettings digest: {}\npublic key: {}\n\n",
             with_separators(identity.steps.value()), place_in_input(report), identity.settings_digest,
             report.public_key);
  fmt::print("{:<6} {:>5} {:>12} {:>12} {:>12} {:>12} {:>12}  {}\n", "ledger", "epoch", "from", "to", "steps", "rho",
             "rho limit", "records");
  for (const journal::LedgerEntry& entry : report.ledger.epochs) {
    fmt::print("{:<6} {:>5} {:>12} {:>12} {:>12} {:>12.6g} {:>12.6g}  {}; {}\n", "", entry.epoch.value(),
               with_separators(entry.from.value()), with_separators(entry.to.value()),
               with_separators(entry.steps.value()), entry.rho.value(), entry.rho_limit.value(), records_of(entry),
               text(entry));
  }
  print_reserved(report.ledger);
  if (report.users) print_users(*report.users);
  const auto release = publish::read_release(report.last_release);
  fmt::print("total rho {}: {:.6g}\n",
             report.ledger.epochs.empty() ? "of one record" : text(report.ledger.epochs.back()),
             total_of(report.ledger).value());
  // ε needs a δ, which is a release's.
  if (!release) {
    fmt::print("\nnothing is released yet\n");
    return;
  }
  for (const publish::Epsilons& at : total_epsilons(report, *release)) {
    fmt::print("  epsilon {}\n", console::epsilon_text(at));
  }
  const Delta delta{release->delta};
  fmt::print("{}\n", publish::groups_text(groups_of(report, delta), delta.value()));
  fmt::print("last release: epoch {}, step {}; of this epoch rho {:.6g}, epsilon {:.4g} at delta {:g} ({}; {})\n",
             release->epoch.value(), with_separators(release->step), release->rho, release->epsilon, release->delta,
             release->conversion, console::protected_unit(release->promise));
  print_estimate(*release);
  const publish::ShownStatus& status = release->status;
  if (const std::string verdict = publish::in_words(status.verdict, status.asks_interval); !verdict.empty())
    fmt::print("  {}: {}\n", publish::is_warning(status.verdict) ? "warning" : "path", verdict);
  if (release->sums.floored > 0) {
    fmt::print("  hidden: noise hides {} direction{} of the features: the answer is a guess there\n",
               release->sums.floored, release->sums.floored == 1 ? "" : "s");
  }
  // The count of clipped gradients is a private figure of the release, with its own noise.
  if (release->status.clipped) fmt::print("  {}\n", publish::in_words(*release->status.clipped));
  if (!release->sums.grown.empty()) fmt::print("  scales grew: {}\n", publish::in_words(release->sums.grown));
}

void print_chart(const std::string& stream, const std::string& release, const serve::History& history) {
  const auto last = publish::read_release(release);
  if (!last || last->estimate.empty()) return;  // noise may hide the estimate of a release
  const std::size_t j = console::main_coefficient(*last);
  const std::string& name = last->estimate[j].first;
  if (!last->is_determined(name)) {
    fmt::print("\n{}: {} is not determined: there is nothing to draw\n", stream, name);
    return;
  }
  chart::Chart chart = serve::page::coefficient_chart(history, *last, j, name);
  chart.title = stream + ": " + chart.title;
  fmt::print("\n{}", chart::text_of(chart, console::style_of(stdout)));
}

}  // namespace nustream::cli
