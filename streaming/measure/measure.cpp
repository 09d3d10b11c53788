#include "measure/measure.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <filesystem>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "config/mechanism.h"
#include "config/ranges.h"
#include "console/signals.h"
#include "decode/byte_source.h"
#include "decode/reader.h"
#include "error.h"
#include "folder/account.h"
#include "folder/one_step_account.h"
#include "folder/refusals.h"
#include "journal/running_hash.h"
#include "journal/sealed_state.h"
#include "measure/values.h"
#include "nustream/base/error.h"
#include "nustream/ranges/likelihood_fit.h"
#include "nustream/ranges/linear_fit.h"
#include "nustream/ranges/sizes.h"
#include "planted.h"
#include "publish/json_text.h"
#include "secrets/hex.h"
#include "secrets/key_file.h"
#include "secrets/locked_memory.h"

namespace nustream::measure {
namespace {

using LossKind = model::Loss::Kind;

constexpr std::size_t rows_per_read = 4096;

[[noreturn]] void refuse(const config::Config& asked, const std::string& allowed) {
  throw Failure(Exit::configuration,
                fmt::format("{}: {} = \"private\": allowed is {}", asked.file, asked.private_keys.front(), allowed));
}

/// What can be measured: by settings and the kind of the files alone.
void require_measurable(const config::Config& asked) {
  const LossKind kind = asked.descent.loss.kind;
  const bool is_fitted =
      kind == LossKind::linear || kind == LossKind::huber || kind == LossKind::logistic || kind == LossKind::poisson;
  if (!is_fitted) refuse(asked, "a number for this loss: linear, huber, logistic and poisson are measured");
  if (asked.descent.first_stage) refuse(asked, "a number where there are [[endogenous]] regressors");
  if (asked.users) {
    refuse(asked, "a number where privacy.unit is \"user\": how many records of one user are measured has no bound");
  }
  if (asked.privacy.protects != config::Protects::record) refuse(asked, "a number where features are public");
  for (const std::string& key : asked.private_keys) {
    if (!key.ends_with(".start") || asked.schema.intercept) continue;
    refuse(asked, "a number where model.intercept = false, and a start is asked for");
  }
  if (kind != LossKind::linear && kind != LossKind::huber) {
    for (const std::string& key : asked.private_keys) {
      if (key.starts_with("target."))
        refuse(asked, "nothing for the target of this loss, which has units of its own");
    }
  }
  for (const std::string& file : asked.input.files) {
    if (!decode::is_standard_input(file) && decode::stored_size(file)) continue;
    refuse(asked, "a number for a pipe, which cannot be read twice: record it to a file first");
  }
}

/// A number of the settings' own index for each feature: [[features]] that stand for several columns shift it.
void require_plain_features(const config::Config& asked) {
  std::size_t tables = 0;
  for (const std::string& key : asked.private_keys) {
    if (!key.starts_with("features.")) continue;
    tables = std::max(tables, static_cast<std::size_t>(std::stoul(key.substr(9))) + 1);
  }
  const bool any_indicator = std::ranges::any_of(asked.schema.features, [](const record::Feature& feature) {
    return feature.first.transform == record::Transform::indicator;
  });
  if (tables > asked.schema.features.size() || (tables > 0 && any_indicator)) {
    refuse(asked, "a number where [[features]] have indicators: center = 0 and scale = 1 suit them");
  }
}

struct Rhos {
  Rho ranges;
  Rho rest;
};

Rhos rhos_of(const config::Config& asked) {
  constexpr double below = 1 - 0x1p-48;  // composing rounds up
  const double all = config::rho_asked(asked.privacy).value() * below;
  const double charged = NUSTREAM_PLANTED("ranges-are-not-charged") ? 0 : asked.ranges_share;
  return {Rho{all * asked.ranges_share}, Rho{all * (1 - charged)}};
}

bool is_private_run(const folder::Options& options) {
  return !options.insecure_seed && !options.compared;
}

/// Of what is measured, at which ρ, over values read how: not of what is found.
std::string rule_digest(const config::Config& asked, const folder::Options& options) {
  std::string text =
      fmt::format("nustream ranges 1\nrho={}\nadjacency={}\nprivate={}\nmodel={}\n", rhos_of(asked).ranges.value(),
                  privacy::name(asked.privacy.adjacency), is_private_run(options), config::model_digest(asked));
  for (const std::string& key : asked.private_keys) text += key + '\n';
  const auto add = [&text](const record::Feature& feature) {
    text += fmt::format("{} {} {} {}\n", feature.center, feature.scale, feature.lower, feature.upper);
  };
  for (const record::Feature& feature : asked.schema.features) add(feature);
  if (asked.schema.target) add(*asked.schema.target);
  return secrets::to_hex(journal::hash_of(text));
}

/// Rows without an intercept; one that cannot be used has no number.
struct RawTable {
  std::size_t features = 0;
  std::vector<double> x;
  std::vector<double> y;
};

RawTable read_raw(const config::Config& asked) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  record::Schema schema = asked.schema;
  schema.intercept = false;
  const auto reader = decode::open_reader(asked.input, schema);
  RawTable table{schema.dimension(), {}, {}};
  record::RowBatch rows;
  rows.dimension = table.features;
  for (bool more = true; more;) {
    rows.clear();
    console::require_no_signal();
    more = reader->read(rows, rows_per_read);
    table.x.insert(table.x.end(), rows.x.begin(), rows.x.end());
    table.y.insert(table.y.end(), rows.y.begin(), rows.y.end());
    for (const record::Reject& reject : rows.rejects) {
      const std::size_t at = reject.position.value();
      table.y.at(at) = none;
      std::fill_n(table.x.begin() + static_cast<std::ptrdiff_t>(at * table.features), table.features, none);
    }
  }
  return table;
}

folder::AccountPlace place_of(const config::Config& asked, const folder::Options& options) {
  const auto keys = [&asked, &options](bool state_exists) -> std::pair<secrets::Keyring, std::string> {
    if (options.insecure_seed) return {secrets::Keyring::insecure(*options.insecure_seed), ""};
    const std::string file = folder::key_file_for(asked, state_exists);
    secrets::Keyring ring = secrets::load_key_file(file);
    return {options.compared ? ring.beside_nonprivate() : ring, file};
  };
  const auto witness = [&asked](const std::string& key_file, const secrets::Keyring& ring) {
    return folder::witness_for(asked, key_file, ring);
  };
  return {asked.state.directory, asked.stream, asked.lane, is_private_run(options), keys, witness};
}

ranges::TableFit measured(const config::Config& asked, const RawTable& table, const folder::OneStepAccount& account) {
  noise::KeyBytes key = account.keys().epoch_key(asked.stream);
  secrets::LockedMemory locked;
  const ranges::DrawNoise draw = ranges::keyed_noise(key, asked.lane, account.epoch(), &locked);
  noise::wipe(key);
  const ranges::FitSettings settings{rhos_of(asked).ranges, asked.privacy.adjacency, false, kept_of(asked)};
  const ranges::Table view{table.features, table.x, table.y};
  const LossKind kind = asked.descent.loss.kind;
  if (kind == LossKind::logistic) return fit_likelihood(ranges::Likelihood::logistic, view, settings, draw);
  if (kind == LossKind::poisson) return fit_likelihood(ranges::Likelihood::poisson, view, settings, draw);
  return fit_linear(view, settings, draw);
}

std::string why_stopped(const config::Config& asked, const ranges::TableFit& fit) {
  if (!fit.unusable_column) return "rows: a column of theirs is no number in most of them";
  const std::size_t column = *fit.unusable_column;
  const bool is_target = column == asked.schema.features.size();
  return fmt::format("values of '{}' (a noisy share of {:.2f})",
                     is_target ? asked.schema.target->name : asked.schema.features[column].name, fit.shares[column]);
}

Failure hardly_usable(const config::Config& asked, const std::string& which) {
  return {
      Exit::data,
      fmt::format(
          "{}: hardly any usable {}; the settings that are \"private\" were not found, and rho "
          "{:.6g} is spent on that, and in the ledger; nothing of the rest is. Mend the input "
          "or the settings (names and transforms of columns, stream.delimiter), and choose another state.directory",
          asked.state.directory, which, rhos_of(asked).ranges.value())};
}

/// By public figures, before a folder is made.
void require_enough(const config::Config& asked, const RawTable& table) {
  if (table.y.empty()) throw Failure(Exit::data, "the input holds no record; nothing was measured");
  const Rho rho = rhos_of(asked).ranges;
  try {
    static_cast<void>(ranges::sizes({table.y.size(), table.features + 1, rho, asked.privacy.adjacency}));
  } catch (const InvalidParameter& error) {
    refuse(asked,
           fmt::format("a number, or a larger ranges.share, rho or input: ranges.share = {:g} leaves rho = {:.6g} "
                       "to measure with, and {} is to be {}; nothing is spent",
                       asked.ranges_share, rho.value(), error.name(), error.allowed()));
  }
  if (!asked.privacy.budget || rho <= *asked.privacy.budget) return;
  throw Failure(
      Exit::exhausted,
      fmt::format("measuring what is \"private\" takes rho {:.6g}, which would cross privacy.budget = {:g}; "
                  "nothing was read privately, nothing is spent",
                  rho.value(), asked.privacy.budget->value()));
}

/// Where a ledger is without its state, nobody knows what was spent.
void require_no_remains(const config::Config& asked) {
  for (const char* name : {journal::folder_files::releases, journal::folder_files::ledger}) {
    std::error_code missing;
    const auto size = std::filesystem::file_size(std::filesystem::path(asked.state.directory) / name, missing);
    if (missing || size == 0) continue;
    throw Failure(Exit::data,
                  fmt::format("{}: holds {} and no state; restore the folder as it was, or choose another "
                              "state.directory",
                              asked.state.directory, name));
  }
}

/// Measures, and returns what is committed by then.
std::string measure_now(const config::Config& asked, config::Purpose purpose, const folder::Options& options,
                        const std::string& rule) {
  const RawTable table = read_raw(asked);
  require_enough(asked, table);
  require_no_remains(asked);
  folder::OneStepAccount account(place_of(asked, options));
  folder::OneStep spent{rhos_of(asked).ranges, table.y.size(), asked.privacy.neighbours(), rule, {},
                        "rule " + rule + '\n'};
  ranges::TableFit fit;
  try {
    fit = measured(asked, table, account);
    if (fit.is_stopped) {
      spent.ranges += "stopped " + why_stopped(asked, fit) + '\n';
    } else {
      for (const auto& [key, value] : values_of(asked, purpose, fit, table.y.size())) {
        spent.ranges += key + '=' + value + '\n';
      }
    }
  } catch (const std::exception&) {
    spent.ranges += "stopped rows: no bounds follow from the noisy counts\n";
    account.commit(spent);  // that nothing was found may tell of the records
    throw;
  }
  account.commit(spent);
  return spent.ranges;
}

struct Held {
  std::string ranges;
  bool is_measuring;  ///< no run has begun behind it
};

/// What the folder's state says; nothing where there is no state.
std::optional<Held> held_by(const config::Config& asked, const folder::Options& options, const std::string& rule) {
  const std::unique_ptr<journal::Disk> disk = journal::posix_disk();
  const std::filesystem::path folder = asked.state.directory;
  if (!disk->open(folder / journal::folder_files::state, journal::Access::read)) return std::nullopt;
  disk->require_trusted(folder);
  journal::FileJournal journal(*disk, journal::FolderOptions{folder, is_private_run(options)});
  const std::optional<std::string> sealed = journal.load();
  if (!sealed) return std::nullopt;
  if (options.start == folder::Start::fresh) {
    throw folder::state_is_there(secrets::read_identity(*sealed), asked, options);
  }
  const secrets::Keyring keys = place_of(asked, options).keys(true).first;
  const secrets::ExpectedIdentity expected{asked.stream, asked.lane, std::nullopt, std::nullopt, keys.is_private()};
  const journal::State state = journal::open_state(keys, *sealed, expected);
  if (config::rule_of(state.record.ranges) != rule) {
    throw Failure(Exit::data,
                  fmt::format("{}: {}; choose another state.directory to measure there, or the settings as they were",
                              asked.state.directory,
                              state.record.ranges.empty() ? "its state holds no settings that were measured"
                                                          : "its settings were measured under other ones"));
  }
  return Held{state.record.ranges, state.identity.settings_digest == rule};
}

}  // namespace

Settled settle(const config::Config& asked, config::Purpose purpose, const folder::Options& options) {
  require_measurable(asked);
  require_plain_features(asked);
  const std::string rule = rule_digest(asked, options);
  std::optional<Held> held = held_by(asked, options, rule);
  if (!held && options.start == folder::Start::resume) throw folder::nothing_to_resume(asked.state.directory);
  if (!held) held = Held{measure_now(asked, purpose, options, rule), true};
  const std::string stopped = config::stopped_by(held->ranges);
  if (!stopped.empty()) throw hardly_usable(asked, stopped);
  std::vector<std::string> overrides = asked.overrides;
  for (const auto& [key, value] : config::measured_settings(held->ranges)) overrides.push_back(key + '=' + value);
  Settled settled{config::read_config(asked.file, overrides, purpose), options};
  settled.config.overrides = asked.overrides;
  settled.config.input = asked.input;
  settled.config.lane = asked.lane;
  settled.config.ranges = held->ranges;
  settled.config.privacy.rho = rhos_of(asked).rest;
  settled.config.privacy.epsilon.reset();
  if (held->is_measuring) {
    settled.options.start = folder::Start::new_epoch;
    settled.options.from_start = true;
    if (!settled.options.from) settled.options.from = "0";
  }
  return settled;
}

void show(const Settled& settled, const config::Config& asked) {
  fmt::print("measured privately over the whole input, rho {:.6g} in the ledger beside the {:.6g} of this run:\n",
             rhos_of(asked).ranges.value(), settled.config.privacy.rho->value());
  for (const auto& [key, value] : config::measured_settings(settled.config.ranges)) {
    fmt::print("  {} = {}\n", key, value);
  }
  std::fflush(stdout);
}

std::string used_settings(const Settled& settled, const config::Config& asked) {
  std::vector<std::string> overrides = asked.overrides;
  for (const auto& [key, value] : config::measured_settings(settled.config.ranges)) {
    overrides.push_back(key + '=' + value);
  }
  if (asked.input.files.size() == 1) {
    std::string quoted;
    publish::append_string(std::filesystem::absolute(asked.input.files.front()).string(), quoted);
    overrides.push_back("stream.input=" + quoted);
  }
  return fmt::format(
             "# The settings that a run measured privately, at rho = {0}, and used. What this file says is spent.\n"
             "# WARNING: a run of it over the same records is a second spend: it adds to "
             "what "
             "{1} holds.\n",
             rhos_of(asked).ranges.value(), asked.state.directory) +
         config::settings_as_toml(asked.file, overrides);
}

}  // namespace nustream::measure
