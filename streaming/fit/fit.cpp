// The command: read the file, look at it for the operator, refuse what public figures refuse, charge the account,
// fit, and commit spend and release together. Nothing public that depends on a record's value is printed before that
// commit; what the operator is told earlier is marked as not private.
#include "fit/fit.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "console/operator_counts.h"
#include "console/operator_file.h"
#include "console/signals.h"
#include "console/warnings.h"
#include "fit/opened.h"
#include "fit/report.h"
#include "folder/account_share.h"
#include "folder/one_step_account.h"
#include "journal/lost_account.h"
#include "journal/running_hash.h"
#include "nustream/base/error.h"
#include "nustream/ranges/linear_fit.h"
#include "nustream/ranges/sizes.h"
#include "secrets/hex.h"
#include "secrets/key_file.h"
#include "secrets/key_place.h"
#include "secrets/locked_memory.h"

namespace nustream::fit {
namespace {

std::vector<Delta> deltas_of(const Options& options) {
  std::vector<Delta> deltas;
  for (const double delta : options.deltas) {
    if (std::ranges::count(options.deltas, delta) > 1)
      throw Failure(Exit::usage, "--delta: one of them is there twice");
    deltas.emplace_back(delta);
  }
  if (deltas.empty() || deltas.size() > most_deltas) {
    throw Failure(Exit::usage, fmt::format("--delta: from one to {} numbers", most_deltas));
  }
  return deltas;
}

privacy::Neighbours neighbours_of(const Options& options) {
  return {options.replace_one ? privacy::Adjacency::replace_one : privacy::Adjacency::zero_out, false};
}

const char* model_name(const Options& options) {
  if (!options.likelihood) return "linear";
  return *options.likelihood == ranges::Likelihood::logistic ? "logistic" : "poisson";
}

/// The state folder of a fit, FILE.fit by default.
std::string state_of(const Options& options) {
  return options.state.empty() ? options.file + ".fit" : options.state;
}

/// The state folder, and where its key and its witness are.
folder::AccountPlace place_of(const Options& options) {
  constexpr const char* stream = "fit";
  constexpr LaneId lane{0};
  const std::string folder = state_of(options);
  const auto beside = [options, folder](const std::string& key_file) {
    return journal::witness_settings(options.witness, key_file, folder, options.key_directory, stream, lane);
  };
  const auto keys = [options, folder, beside](bool state_exists) -> std::pair<secrets::Keyring, std::string> {
    if (options.insecure_seed) return {secrets::Keyring::insecure(*options.insecure_seed), ""};
    const secrets::KeySettings settings{{}, options.key_directory};
    std::string file = secrets::key_file_of(folder, stream, settings).string();
    if (!state_exists) {
      journal::require_no_other_stream(beside(file));
      file = secrets::make_key_file(folder, stream, settings).string();
    }
    return {secrets::load_key_file(file), file};
  };
  const auto witness = [options, beside](const std::string& key_file,
                                         const secrets::Keyring& keyring) -> std::optional<journal::FolderWitness> {
    if (options.insecure_seed) return std::nullopt;
    return journal::FolderWitness(beside(key_file), keyring);
  };
  const auto way_on = [] { return "name another one for other records with --state"; };
  return {folder, stream, lane, !options.insecure_seed, keys, witness, way_on};
}

/// A digest of everything that decides what a fit does, except the file: of the rule, not of what the rule finds.
std::string digest_of(const Options& options, const Columns& columns) {
  std::string text =
      fmt::format("nustream fit 2\nrho={}\nadjacency={}\nlisted={}\nprivate={}\n", options.rho,
                  privacy::name(neighbours_of(options).adjacency), columns.is_listed, !options.insecure_seed);
  // Each name stands after its length, so that no name can look like the next line.
  for (const record::Feature& feature : columns.features) {
    text += fmt::format("feature={}:{}\n", feature.name.size(), feature.name);
    for (const std::string& known : feature.first.labels) text += fmt::format("known={}:{}\n", known.size(), known);
    // A column of the file may be called like a bin.
    if (feature.first.transform == record::Transform::bin) {
      text +=
          fmt::format("bin={:.17g} {:.17g} of {}\n", feature.first.from, feature.first.below, feature.first.column);
    }
  }
  if (options.hash_buckets > 0) text += fmt::format("hash={}\n", options.hash_buckets);
  text += fmt::format("target={}:{}\n", columns.target.name.size(), columns.target.name);
  if (columns.weight) {
    text += fmt::format("weight={}:{} most {}\n", columns.weight->name.size(), columns.weight->name,
                        columns.weight->upper);
  }
  if (columns.exposure) {
    text += fmt::format("{}={}:{} most {}\n", columns.is_offset ? "offset" : "exposure",
                        columns.exposure->name.size(), columns.exposure->name, columns.exposure->upper);
  }
  if (options.likelihood) text += fmt::format("model={}\n", model_name(options));
  return secrets::to_hex(journal::hash_of(text));
}

/// The failure for a file that has too few records for its ρ, with the number that would be enough. Its exit code is
/// 78, as for a setting, because ρ is a setting.
Failure too_few_records(const Options& options, const ranges::MeasuredTable& design) {
  const std::uint64_t enough = ranges::least_records(design);
  // At the largest ρ there is hardly any noise, so what is refused even then is a matter of the number of records
  // alone.
  ranges::MeasuredTable spending_more = design;
  spending_more.rho = Rho{1e6};
  std::string remedy = fmt::format("{} records at this rho", enough);
  const std::uint64_t fewest = ranges::least_records(spending_more);
  if (design.records >= fewest)
    remedy += fmt::format(
        ", or --rho {:.3g}, or fewer columns by --features (one of text that is found in the header "
        "counts, until it is left out)",
        1.005 * ranges::least_rho(design));
  else
    remedy += fmt::format(
        " (no rho does for fewer than {}), or public ranges in a configuration (nustream estimate, "
        "docs/estimate.md)",
        fewest);
  return {Exit::configuration,
          fmt::format("'{}' has {} records, too few to see {} columns through the noise at --rho {:g}: {} would do; "
                      "nothing was read privately, nothing is spent",
                      options.file, design.records, design.columns, options.rho, remedy)};
}

/// Refuses a file of too few records before a folder is made. At that time the number of records is all that was
/// read.
void require_enough_records(const Options& options, std::uint64_t records, std::size_t columns) {
  const ranges::MeasuredTable design{records, columns, Rho{options.rho}, neighbours_of(options).adjacency};
  try {
    static_cast<void>(ranges::sizes(design));
  } catch (const InvalidParameter&) {
    if (options.rho > 0 && options.rho <= 1e6) throw too_few_records(options, design);
    throw;  // ρ itself is out of range
  }
}

/// Every sum is rounded up, and 0.1 + 0.1 + 0.1 is above 0.3 in binary. Decimals that add up to a budget may be spent
/// all the same, so that budgets are compared with this margin for rounding.
constexpr double rounding = 1 + 0x1p-40;

/// Refuses a fit that would take the folder's total above --budget. This goes by the ledger and by options alone.
void require_budget(const Options& options, const folder::OneStepAccount& account) {
  if (!options.budget) return;
  const privacy::Neighbours neighbours = neighbours_of(options);
  const double total = account.with(Rho{options.rho}, neighbours).value();
  if (total <= *options.budget * rounding) return;
  throw Failure(
      Exit::exhausted,
      fmt::format("rho {:.6g} is spent in this folder ({}), and {:g} more would cross --budget {:g}; nothing was "
                  "read privately, nothing is spent",
                  account.spent(neighbours).value(), account.folder(), options.rho, *options.budget));
}

/// Reads the records privately, under the noise key of this fit's epoch. A fit that is killed before its commit takes
/// this noise with it, since the key is nowhere else.
ranges::TableFit measured(const Options& options, const Columns& columns, const FileTable& table,
                          const folder::OneStepAccount& account) {
  noise::KeyBytes key = account.keys().epoch_key("fit");
  secrets::LockedMemory locked;
  const ranges::DrawNoise draw = ranges::keyed_noise(key, LaneId{0}, account.epoch(), &locked);
  noise::wipe(key);
  const ranges::FitSettings settings{Rho{options.rho}, neighbours_of(options).adjacency, columns.found, {}};
  return options.likelihood ? ranges::fit_likelihood(*options.likelihood, table.view(), settings, draw)
                            : ranges::fit_linear(table.view(), settings, draw);
}

/// What noise hides of the target, and what would help.
std::string what_is_hidden(const Options& options, const Columns& columns, const ranges::TableFit& fit) {
  if (options.likelihood == ranges::Likelihood::logistic) {
    return fmt::format(
        "one of the two labels of '{}': nearly all that count are {}, so that nothing can be said of how they depend "
        "on anything: more rho, or more records, may show the other label, if there is any",
        columns.target.name, fit.intervals.back().is_zero() ? 0 : 1);
  }
  return fmt::format(
      "all values of '{}' but one, which is about {:.4g}, so that nothing can be said of how they depend on "
      "anything: "
      "more rho, or more records, may show others, if there are any. If its values lie close together and far from "
      "0, subtract a constant from them first",
      columns.target.name, fit.placements.back().centre);
}

/// The failure where noise hides all targets but one value. An answer would be that of this value alone.
Failure hidden_targets(const Options& options, const Columns& columns, const ranges::TableFit& fit) {
  return {Exit::data, fmt::format("'{}': noise hides {}. rho {:g} is spent on finding that out, and is in the ledger",
                                  options.file, what_is_hidden(options, columns, fit), options.rho)};
}

/// What there is hardly any of: values of one column, or rows as a whole.
std::string what_is_scarce(const Options& options, const Columns& columns, const ranges::TableFit& fit) {
  if (!fit.unusable_column) {
    return fmt::format("rows: most of them lack a number in some column{}{}, or noise hides them",
                       options.weight.empty() ? "" : " or have a negative weight",
                       columns.exposure ? " or have no exposure above 0" : "");
  }
  const std::size_t column = *fit.unusable_column;
  const bool is_target = column == columns.features.size();
  const bool are_labels = is_target && options.likelihood == ranges::Likelihood::logistic;
  const std::string over =
      is_target && columns.exposure ? ", over a '" + columns.exposure->name + "' that can be used" : "";
  return fmt::format("values of '{}'{} (a noisy share of {:.2f}){}",
                     is_target ? columns.target.name : columns.features[column].name, over, fit.shares[column],
                     are_labels ? ", which have to be 0 and 1" : "");
}

Failure hardly_usable(const Options& options, const Columns& columns, const ranges::TableFit& fit) {
  return {Exit::data,
          fmt::format(
              "'{}': hardly any usable {}; what is the matter with records is on standard error above, and "
              "--look shows it before anything is spent. rho {:g} is spent on finding that out, and is in the ledger",
              options.file, what_is_scarce(options, columns, fit), options.rho)};
}

/// The public figures of the report; the fit's own are added by fill_table().
Report report_of(const Options& options, const Columns& columns, const FileTable& table,
                 const folder::OneStepAccount& account) {
  Report report;
  report.file = options.file;
  report.target = columns.target.name;
  report.records = table.y.size();
  report.weight = options.weight;
  report.weight_bound = options.weight_bound;
  if (columns.exposure) report.exposure = {columns.exposure->name, columns.exposure->upper, columns.is_offset};
  report.rho = options.rho;
  report.model = model_name(options);
  report.epsilons = publish::epsilons_of(Rho{options.rho}, deltas_of(options));
  const Rho total = account.with(Rho{options.rho}, neighbours_of(options));
  report.total_rho = total.value();
  report.total_epsilons = publish::epsilons_of(total, deltas_of(options));
  const privacy::Neighbours absent{privacy::Adjacency::zero_out, false};
  report.counts_others_more = account.spent(neighbours_of(options)) > account.spent(absent);
  report.fits = account.fits() + 1;
  report.epoch = account.epoch();
  report.digest = digest_of(options, columns);
  report.adjacency = privacy::name(neighbours_of(options).adjacency);
  report.is_private = account.keys().is_private();
  report.folder = account.folder();
  report.key_file = account.key_file();
  return report;
}

/// Refuses a configuration that would be of another model than the fit, before anything is spent.
void require_config_of(const Options& options, const Columns& columns) {
  if (options.output.write_config.empty()) return;
  const std::string why = why_no_config(columns);
  if (!why.empty()) throw Failure(Exit::usage, "--write-config: " + why);
}

/// Charges the account that other streams over the same people share (--account), before anything is read privately.
/// Throws Failure(exhausted), with nothing spent, where less than the whole `total` is allowed.
void take_share(const Options& options, const folder::OneStepAccount& account, folder::AccountShare& share,
                const std::optional<Rho>& allowed, Rho total) {
  share.begin(account.spent(neighbours_of(options)));
  // As for --budget, decimals that add up to the account's budget do not cross it.
  if (total.value() <= allowed->value() * rounding) return;
  share.settle(account.spent(neighbours_of(options)));
  throw Failure(Exit::exhausted, fmt::format("{}: {:g} more would cross the account's budget; nothing was read "
                                             "privately, nothing is spent; nustream account show tells who was "
                                             "charged",
                                             options.account, options.rho));
}

/// The places of key and witness as absolute paths, since the configuration may be run from another folder.
StatePlaces places_of(const Options& options) {
  const auto absolute = [](const std::string& place) {
    return place.empty() || place == "none" ? place : std::filesystem::absolute(place).string();
  };
  return {runs_of(options.output.write_config), absolute(options.key_directory), absolute(options.witness)};
}

void write_configuration(const Options& options, const Columns& columns, const Report& report) {
  if (options.output.write_config.empty()) return;
  console::write_new_file(options.output.write_config, to_config(columns, report, places_of(options)),
                          "what the fit found is committed and stays so");
  fmt::print(stderr,
             "nustream: {} holds the ranges; a run of it over the same records is a second spend, which adds to "
             "this one\n",
             options.output.write_config);
}

}  // namespace

Exit run(const Options& options) {
  // Core dumps are off, and other processes cannot read this one's memory, before any key is there.
  secrets::harden_process();
  const std::vector<Delta> deltas = deltas_of(options);
  static_cast<void>(console::watch_signals());
  console::require_outside(state_of(options), {{"--report", options.output.report},
                                               {"--chart", options.output.chart},
                                               {"--write-config", options.output.write_config}});
  console::require_new_file(options.output.write_config);
  // Files that cannot be made are reported now, while nothing is spent.
  console::OperatorFile page_file(options.output.report, journal::Audience::everyone);
  console::OperatorFile picture(options.output.chart, journal::Audience::everyone);
  const Opened input = open_table(options);
  const Columns& columns = input.columns;
  const FileTable& table = input.table;
  require_config_of(options, columns);
  if (options.look) return print_look(options, input.look);
  for (const std::string& line : input.look.lines) console::say_for_operator(line);
  require_usable(options, input.look);
  // From here on refusals go by the number of records and by settings, which are public.
  require_enough_records(options, table.y.size(), columns.features.size() + 1);
  console::warn(publish::large_delta(deltas, table.y.size()));
  folder::OneStepAccount account(place_of(options));
  require_budget(options, account);
  const Rho total = account.with(Rho{options.rho}, neighbours_of(options));
  // AccountShare lowers this to what the shared account still allows.
  std::optional<Rho> allowed = total;
  folder::AccountShare share({options.account, account.folder(), "fit", LaneId{0}, neighbours_of(options),
                              !options.insecure_seed, "--account"},
                             allowed);
  take_share(options, account, share, allowed, total);
  Report report = report_of(options, columns, table, account);
  folder::OneStep spent{Rho{options.rho}, report.records, neighbours_of(options), report.digest, {}};
  ranges::TableFit fit;
  try {
    fit = measured(options, columns, table, account);
  } catch (const std::exception&) {
    account.commit(spent);  // the spend counts even without an answer: its absence may tell of the records
    share.settle(total);
    throw;
  }
  fill_table(columns, fit, report);
  // A fit that stopped has no answer, but its spend is committed all the same.
  if (!fit.is_stopped && !fit.is_target_hidden) spent.release = release_line(report);
  account.commit(spent);
  share.settle(total);
  if (!account.warning().empty()) fmt::print(stderr, "nustream: warning: {}\n", account.warning());
  say_why_left_out(input, fit);
  if (fit.is_target_hidden) throw hidden_targets(options, columns, fit);
  if (fit.is_stopped) throw hardly_usable(options, columns, fit);
  // The release is durable by now, so whoever reads this has read something that is accounted for.
  if (!options.output.quiet) fmt::print("{}", options.output.json ? to_json(report) : to_text(report));
  if (!options.output.report.empty()) page_file.write(page(options, columns, report));
  if (!options.output.chart.empty()) picture.write(chart_file(report));
  write_configuration(options, columns, report);
  return Exit::done;
}

}  // namespace nustream::fit
