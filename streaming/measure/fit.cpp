// From a table of raw values to settings: which settings can be measured (require_measurable()), the fit with noise
// of the epoch's key, and the lines that a state keeps of it. Where the unit is the user, rows are told apart by user
// and window.
#include "measure/fit.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "config/growing_stages.h"
#include "config/mechanism.h"
#include "config/ranges.h"
#include "decode/byte_source.h"
#include "error.h"
#include "journal/running_hash.h"
#include "nustream/base/error.h"
#include "nustream/ranges/likelihood_fit.h"
#include "nustream/ranges/linear_fit.h"
#include "nustream/ranges/sizes.h"
#include "secrets/hex.h"
#include "secrets/locked_memory.h"

namespace nustream::measure {
namespace {

using LossKind = model::Loss::Kind;

/// Refuses a setting that is to be measured. `why` goes on from "cannot be measured".
[[noreturn]] void refuse(const config::Config& asked, const std::string& why,
                         const std::string& advice = "give a number") {
  throw Failure(Exit::configuration, fmt::format("{}: {} = \"private\" cannot be measured {}; {}",
                                                 asked.measuring.place, asked.measuring.keys.front(), why, advice));
}

/// Refuses [[features]] that stand for several columns where a setting of a feature is to be measured: settings are
/// named by the number of their [[features]] table, which is then no longer the number of the column.
void require_plain_features(const config::Config& asked) {
  // Keys look like "features.3.scale"; the number begins behind the ninth character.
  std::size_t tables = 0;
  for (const std::string& key : asked.measuring.keys) {
    if (!key.starts_with("features.")) continue;
    tables = std::max(tables, static_cast<std::size_t>(std::stoul(key.substr(9))) + 1);
  }
  const bool any_indicator = std::ranges::any_of(asked.schema.features, [](const record::Feature& feature) {
    return record::is_indicator(feature.first.transform);
  });
  if (tables > asked.schema.features.size() || (tables > 0 && any_indicator)) {
    refuse(asked, "where [[features]] have indicators", "give numbers: center = 0 and scale = 1 suit indicators");
  }
}

/// Draws all noise of the measuring and reads the records privately. Every refusal before this goes by public
/// figures.
ranges::TableFit fit(const config::Config& asked, const RawTable& table, const secrets::Keyring& keys,
                     EpochId epoch) {
  noise::KeyBytes key = keys.epoch_key(asked.stream);
  secrets::LockedMemory locked;
  const ranges::DrawNoise draw = ranges::keyed_noise(key, asked.lane, epoch, &locked);
  // The draws hold a copy in locked memory. This one is on the stack and ends here.
  noise::wipe(key);
  const ranges::FitSettings settings{rhos_of(asked).ranges, asked.privacy.adjacency, 0, kept_of(asked)};
  const ranges::Table view{table.features, table.x, table.y, table.weights, table.users, table.units};
  const LossKind kind = asked.descent.loss.kind;
  if (kind == LossKind::logistic) return fit_likelihood(ranges::Likelihood::logistic, view, settings, draw);
  if (kind == LossKind::poisson) return fit_likelihood(ranges::Likelihood::poisson, view, settings, draw);
  return fit_linear(view, settings, draw);
}

/// How the reason begins where noise hides all targets but one value.
constexpr std::string_view hidden_targets = "noise hides all values of ";

/// Why nothing was found, by noisy shares alone. The state keeps these words, and a resume shows them again.
std::string why_stopped(const config::Config& asked, const ranges::TableFit& fit) {
  if (fit.is_target_hidden) return fmt::format("{}'{}' but one", hidden_targets, asked.schema.target->name);
  // A record that lacks one column is null in all columns, so that no column is at fault alone.
  const double share = fit.unusable_column ? fit.shares[*fit.unusable_column] : fit.usable;
  return fmt::format("records (a noisy share of {:.2f})", share);
}

/// What the operator may do about a measuring that found nothing. Where the unit is the user, each user counts once
/// in a histogram, so that noise hides everything of few users, however many records they have.
std::string cure_of(const config::Config& asked, bool is_hidden) {
  if (is_hidden) {
    return fmt::format("Give more rho, more {}, or numbers for what is \"private\"",
                       asked.users ? "users" : "records");
  }
  const std::string of_input =
      asked.input.look +
      " shows what is the matter with them: mend the input or the settings (names and transforms of columns, "
      "stream.delimiter)";
  if (!asked.users) return of_input;
  return fmt::format(
      "Either there are too few users, since each counts once: at this rho it takes about {} to show through the "
      "noise; then give numbers for what is \"private\", or more rho. Or the records are of no use: {}",
      enough_users(asked), of_input);
}

/// The user in a window, as a user of its own. The multipliers are odd, so that no two windows of a user are one; and
/// that two users become one is as unlikely as that their hashes are equal.
record::RowUser within_window(record::RowUser user, std::int64_t window) {
  if (user.is_nobody()) return user;
  const auto number = static_cast<std::uint64_t>(window);
  user.high += number * 0x9e3779b97f4a7c15U;
  user.low += number * 0xc2b2ae3d27d4eb4fU;
  return user;
}

/// Refuses keys that cannot be measured under these settings.
void require_measurable_keys(const config::Config& asked) {
  const LossKind kind = asked.descent.loss.kind;
  const bool has_units = kind == LossKind::linear || kind == LossKind::huber;
  for (const std::string& key : asked.measuring.keys) {
    if (key.ends_with(".start") && !asked.schema.intercept) {
      refuse(asked, "where model.intercept = false and a start is to be measured");
    }
    if (!has_units && key.starts_with("target.")) {
      refuse(asked, "where the target of this loss has units of its own", "leave the target's center and scale out");
    }
  }
}

}  // namespace

void require_measurable(const config::Config& asked) {
  const LossKind kind = asked.descent.loss.kind;
  const bool is_fitted =
      kind == LossKind::linear || kind == LossKind::huber || kind == LossKind::logistic || kind == LossKind::poisson;
  if (!is_fitted) refuse(asked, "for this loss: only linear, huber, logistic and poisson are");
  if (asked.descent.first_stage) refuse(asked, "where there are [[endogenous]] regressors");
  if (asked.privacy.protects != config::Protects::record)
    refuse(asked, "where features are public (privacy.protects)");
  if (asked.descent.momentum > 0) {
    refuse(asked, "where there is descent.momentum: a step size is measured for plain steps");
  }
  require_measurable_keys(asked);
  require_plain_features(asked);
  const bool reads_pipe = std::ranges::any_of(asked.input.files, decode::is_standard_input);
  if (reads_pipe && asked.kafka.brokers.empty()) {
    refuse(asked, "of a pipe, which cannot be read twice", "record it to a file first, or give a number");
  }
}

void require_measurable_by_any(const config::Config& asked) {
  if (asked.measuring.keys.empty()) return;
  const bool is_of_topic = !asked.kafka.brokers.empty() && asked.input.files.empty();
  is_of_topic ? require_measurable_in_topic(asked) : require_measurable(asked);
  require_budget(asked);
}

void require_budget(const config::Config& asked) {
  if (!asked.privacy.budget || config::rho_asked(asked.privacy) <= *asked.privacy.budget) return;
  throw Failure(
      Exit::exhausted,
      fmt::format(
          "measuring what is \"private\" takes rho {:.6g}, and the run behind it {:.6g}: privacy.budget = {:g} "
          "does not pay for both, and would end the run early, maybe before it takes a step; nothing was read "
          "privately, nothing is spent: lower privacy.rho to what the budget leaves, or raise the budget",
          rhos_of(asked).ranges.value(), rhos_of(asked).rest.value(), asked.privacy.budget->value()));
}

void require_measurable_in_topic(const config::Config& asked) {
  require_measurable(asked);
  require_enough(asked, asked.measuring.records);
}

std::optional<journal::UserSpend> user_spend(const config::Config& asked) {
  if (!asked.users) return std::nullopt;
  const users::Limits once({{1, 1}}, {}, asked.users->limits->windows());
  return journal::UserSpend{once, false, {Rho{0}, rhos_of(asked).ranges}};
}

Rhos rhos_of(const config::Config& asked) {
  constexpr double below = 1 - 0x1p-48;  // composing both parts rounds up, and must not exceed what was asked for
  const double all = config::rho_asked(asked.privacy).value() * below;
  const double charged = asked.measuring.share;
  return {Rho{all * asked.measuring.share}, Rho{all * (1 - charged)}};
}

std::string rule_digest(const config::Config& asked, bool is_private, std::uint64_t records) {
  std::string text =
      fmt::format("nustream ranges 1\nrho={}\nadjacency={}\nprivate={}\nmodel={}\n", rhos_of(asked).ranges.value(),
                  privacy::name(asked.privacy.adjacency), is_private, config::model_digest(asked));
  if (records > 0) text += fmt::format("records={}\n", records);
  if (asked.users) {
    text += fmt::format("user={}\n", asked.users->column);
    for (const std::string& nobody : asked.users->nobody) text += fmt::format("user_null={}\n", nobody);
  }
  for (const std::string& key : asked.measuring.keys) text += key + '\n';
  const auto add = [&text](const record::Feature& feature) {
    text += fmt::format("{} {} {} {}\n", feature.center, feature.scale, feature.lower, feature.upper);
  };
  for (const record::Feature& feature : asked.schema.features) add(feature);
  if (asked.schema.target) add(*asked.schema.target);
  return secrets::to_hex(journal::hash_of(text));
}

record::Schema raw_schema(const config::Config& asked) {
  record::Schema schema = asked.schema;
  // The fit adds an intercept of its own.
  schema.intercept = false;
  return schema;
}

RawTable raw_table(const config::Config& asked) {
  RawTable table;
  table.features = raw_schema(asked).dimension();
  if (asked.schema.weight) table.units.weight = asked.schema.weight->most;
  if (asked.schema.exposure) table.units.exposure = asked.schema.exposure->most;
  const auto windows = asked.users ? asked.users->limits->windows() : std::nullopt;
  if (windows) table.clock.emplace(windows->period);
  return table;
}

void RawTable::add(const record::RowBatch& rows, const std::vector<std::size_t>& unusable) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  x.insert(x.end(), rows.x.begin(), rows.x.end());
  y.insert(y.end(), rows.y.begin(), rows.y.end());
  weights.insert(weights.end(), rows.weights.begin(), rows.weights.end());
  users.insert(users.end(), rows.users.begin(), rows.users.end());
  if (clock) {
    NUSTREAM_REQUIRE(rows.times.size() == rows.users.size(), "where users have windows, each row has a time");
    divide_by_windows(rows.times);
  }
  for (const std::size_t row : unusable) {
    y.at(row) = none;
    std::fill_n(x.begin() + static_cast<std::ptrdiff_t>(row * features), features, none);
  }
}

/// Moves the users of the rows that were appended last into the windows that the lane's clock is in at these rows
/// (users::WindowClock). Rows before the first known time belong to the window of that time.
void RawTable::divide_by_windows(std::span<const double> times) {
  std::size_t row = users.size() - times.size();
  for (const double time : times) {
    static_cast<void>(clock->record(users::milliseconds_of(time), true));
    ++row;
    if (!clock->window()) continue;
    for (; divided_ < row; ++divided_) users[divided_] = within_window(users[divided_], *clock->window());
  }
}

std::uint64_t enough_users(const config::Config& asked) {
  return ranges::enough_users(
      {0, asked.schema.features.size() + 1, rhos_of(asked).ranges, asked.privacy.adjacency, true});
}

void require_enough(const config::Config& asked, std::uint64_t records) {
  if (records == 0) throw Failure(Exit::data, "the input holds no record; nothing was measured");
  const Rho rho = rhos_of(asked).ranges;
  try {
    static_cast<void>(ranges::sizes(
        {records, asked.schema.features.size() + 1, rho, asked.privacy.adjacency, asked.users.has_value()}));
  } catch (const InvalidParameter& error) {
    refuse(
        asked,
        fmt::format("with ranges.share = {:g}, which leaves rho = {:.6g} to measure with; for that, {} has to be {}",
                    asked.measuring.share, rho.value(), error.name(), error.allowed()),
        "nothing is spent: give a number, or a larger ranges.share, rho or input");
  }
}

Measured find_ranges(const config::Config& asked, config::Purpose purpose, const RawTable& table,
                     const secrets::Keyring& keys, EpochId epoch, const std::string& rule) {
  Measured found{"rule " + rule + '\n'};
  try {
    const ranges::TableFit fitted = fit(asked, table, keys, epoch);
    if (fitted.is_stopped) {
      found.ranges += "stopped " + why_stopped(asked, fitted) + '\n';
      return found;
    }
    for (const auto& [key, value] : values_of(asked, purpose, fitted, table.y.size())) {
      found.ranges += key + '=' + value + '\n';
    }
  } catch (const std::exception&) {
    // Whether measuring fails depends on the data. So the caller throws the failure only after the cost is committed.
    found = {"rule " + rule + "\nstopped rows: no bounds follow from the noisy counts\n", std::current_exception()};
  }
  return found;
}

std::string lines_of_a_part(const config::Config& asked) {
  const auto is_unit = [](const std::string& key) {
    return key == "moments.row_norm" || (key.starts_with("features.") && key.ends_with(".scale"));
  };
  if (!asked.moments || !std::ranges::any_of(asked.measuring.keys, is_unit)) return {};
  const bool may_grow = !asked.moments->names_stages && !asked.users && config::why_units_stay(asked).empty();
  return may_grow ? "moments.stages=\"growing\"\n" : "";
}

config::Config settled_config(const config::Config& asked, config::Purpose purpose, const std::string& ranges,
                              const std::string& where, const std::string& remedy) {
  const Rhos rhos = rhos_of(asked);
  if (const std::string stopped = config::stopped_by(ranges); !stopped.empty()) {
    const bool is_hidden = stopped.starts_with(hidden_targets);
    throw Failure(Exit::data,
                  fmt::format("{}: {}{}; the settings that are \"private\" were not found, and rho "
                              "{:.6g} is spent on that, and in the ledger; nothing of the rest is. {}, and {}",
                              where, is_hidden ? "" : "hardly any usable ", stopped, rhos.ranges.value(),
                              cure_of(asked, is_hidden), remedy));
  }
  // The measured values are laid over the settings as --set would, and the file is read once more: so they pass the
  // same checks as numbers that somebody wrote.
  std::vector<std::string> overrides = asked.overrides;
  const bool may_grow = !lines_of_a_part(asked).empty();
  for (const auto& [key, value] : config::measured_settings(ranges)) {
    if (key == "moments.stages" && !may_grow) continue;  // the settings have changed since, and have another rule
    overrides.push_back(key + '=' + value);
  }
  config::Config settled = config::read_config(asked.file, overrides, purpose);
  // Values that were measured are no overrides of the user's: they are kept as `ranges`, in the state.
  settled.overrides = asked.overrides;
  settled.input = asked.input;
  settled.lane = asked.lane;
  settled.ranges = ranges;
  // An account may have lowered the budget below what the file says.
  settled.privacy.budget = asked.privacy.budget;
  // The run has what the measuring left. An ε was turned into ρ before it was divided.
  settled.privacy.rho = rhos.rest;
  settled.privacy.epsilon.reset();
  return settled;
}

}  // namespace nustream::measure
