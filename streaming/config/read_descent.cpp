// Reads [descent]: the course of step sizes, projection, average, horizon, momentum and cooldown. Ranges are judged
// by the constructors of the core; `refusing` turns what they throw into a message at the key's own line.
#include <memory>
#include <optional>

#include "config/read_sections.h"

namespace nustream::config {
namespace {

using descent::Projection;
using descent::Schedule;

/// Runs `make`. Where it throws InvalidParameter, `key` is refused with what the constructor allows. A parameter that
/// is another key of the section is refused at its own place.
template <class Make>
auto refusing(const Section& section, std::string_view key, Make make) {
  try {
    return make();
  } catch (const InvalidParameter& error) {
    section.refuse(section.has(error.name()) ? std::string_view(error.name()) : key, error.allowed());
  }
}

/// Reads [[descent.pieces]]: from which step on which step size holds.
descent::Piecewise read_pieces(const Section& section) {
  descent::Piecewise piecewise;
  for (const Section& piece : section.tables("pieces")) {
    const auto from = piece.count("from");
    if (!from) piece.missing("from");
    piecewise.pieces.push_back({*from, piece.required<StepSize>("step_size")});
  }
  return piecewise;
}

}  // namespace

descent::Schedule read_schedule(const Section& section) {
  enum class Kind { constant, inverse_sqrt, inverse, warm_up, piecewise };
  const Kind kind = section.choice<Kind>("schedule", Kind::constant,
                                         {{"constant", Kind::constant},
                                          {"inverse-sqrt", Kind::inverse_sqrt},
                                          {"inverse", Kind::inverse},
                                          {"warm-up", Kind::warm_up},
                                          {"piecewise", Kind::piecewise}});
  if (kind == Kind::piecewise) {
    // Pieces have step sizes of their own. The key may stay in the file, for comparison with another schedule.
    static_cast<void>(section.has("step_size"));
    return refusing(section, "pieces", [&] { return Schedule{read_pieces(section)}; });
  }
  const auto size = section.required<StepSize>("step_size");
  const double knee = section.number("knee").value_or(1);
  const std::uint64_t warm_up = section.count("warm_up_steps").value_or(1);
  switch (kind) {
    case Kind::inverse_sqrt:
      return refusing(section, "knee", [&] { return Schedule{descent::InverseSqrt{size, knee}}; });
    case Kind::inverse:
      return refusing(section, "knee", [&] { return Schedule{descent::Inverse{size, knee}}; });
    case Kind::warm_up:
      return refusing(section, "warm_up_steps", [&] { return Schedule{descent::WarmUp{size, warm_up}}; });
    default:
      return Schedule{descent::Constant{size}};
  }
}

descent::Projection read_projection(const Section& section) {
  enum class Kind { none, ball, box };
  const Kind kind = section.choice<Kind>("projection", Kind::none,
                                         {{"none", Kind::none}, {"ball", Kind::ball}, {"box", Kind::box}});
  const auto radius = section.number("radius");
  const std::vector<double> lower = section.number_or_numbers("lower");
  const std::vector<double> upper = section.number_or_numbers("upper");
  switch (kind) {
    case Kind::ball:
      if (!radius) section.missing("radius");
      return refusing(section, "radius", [&] { return Projection{descent::Ball{*radius}}; });
    case Kind::box:
      for (const char* const key : {"lower", "upper"}) {
        if (!section.has(key)) section.missing(key);
      }
      return refusing(section, "lower", [&] { return Projection{descent::Box{lower, upper}}; });
    default:
      return Projection{};
  }
}

descent::Averaging read_averaging(const Section& section) {
  using Kind = descent::Averaging::Kind;
  descent::Averaging averaging;
  averaging.kind = section.choice<Kind>(
      "average", Kind::last, {{"last", Kind::last}, {"tail", Kind::tail}, {"exponential", Kind::exponential}});
  averaging.from = section.count("average_from").value_or(0);
  averaging.decay = section.number("average_decay").value_or(averaging.decay);
  refusing(section, "average_decay", [&] {
    check(averaging);
    return 0;
  });
  return averaging;
}

namespace {

/// Reads μ of heavy ball; 0 is a descent without momentum.
double read_momentum(const Section& descent) {
  const double momentum = descent.number("momentum").value_or(0);
  if (!(momentum >= 0 && momentum < 1)) descent.refuse("momentum", "a number with 0 <= momentum < 1");
  return momentum;
}

/// Reads the largest number of steps of an epoch. The noise is then made for that number of steps.
void read_horizon(const Section& descent, Purpose purpose, Config& config) {
  const std::optional<std::uint64_t> steps = descent.count("horizon");
  if (!steps) return;
  if (purpose == Purpose::table) descent.refuse("horizon", "nothing for a table: estimate.steps says how many");
  if (*steps == 0) descent.refuse("horizon", "a whole number of steps > 0");
  // The noise of a correlation with an end is not defined behind it.
  const std::optional<StepCount> end = config.noise.correlation.horizon();
  if (end && *steps > end->value()) {
    descent.refuse("horizon", "at most the " + std::to_string(end->value()) + " steps that the correlation has");
  }
  // The correlation ends with the steps. Its sensitivity over these steps may be smaller than over an endless stream,
  // so that less noise is needed for the same ρ.
  config.noise.correlation = noise::Correlation{config.noise.correlation.family(), StepCount{*steps}};
}

/// How many steps there will be; nothing for a stream without a horizon.
std::optional<StepCount> steps_of(Purpose purpose, const Config& config) {
  if (purpose == Purpose::table) return StepCount{config.estimate.steps};
  return config.noise.correlation.horizon();
}

/// Reads the cooldown, which both stages of a two-stage model have.
void read_cooldown(const Section& descent, Purpose purpose, Config& config) {
  const std::optional<double> share = descent.number("cooldown");
  const double floor = descent.number("cooldown_to").value_or(0);
  if (!share) {
    if (descent.has("cooldown_to")) descent.refuse("cooldown_to", "only together with cooldown");
    return;
  }
  const std::optional<StepCount> horizon = steps_of(purpose, config);
  // A cooldown is a share of the steps at the end, whose number has to be known for that.
  if (!horizon) {
    descent.refuse("cooldown", "only where it is known how many steps there will be: set descent.horizon");
  }
  // The schedule is wrapped, and goes on underneath: a cooldown multiplies its sizes.
  const auto cooled = [&](const Schedule& of) {
    return refusing(descent, "cooldown", [&] {
      return Schedule{descent::Cooldown{std::make_shared<const Schedule>(of), *share, floor, *horizon}};
    });
  };
  config.descent.schedule = cooled(config.descent.schedule);
  // The two stages converge together, and so both cool down.
  if (config.descent.first_stage) config.descent.first_stage->schedule = cooled(config.descent.first_stage->schedule);
}

/// Refuses what is computed for plain steps of one size, and would be wrong for other steps.
void refuse_course(const Section& root, const Config& config) {
  const Section intervals = root.section("intervals");
  const bool batches = config.descent.batching.has_value();
  const bool cools = config.descent.schedule.cools_down();
  const char* const why = cools ? "descent.cooldown" : "descent.momentum";
  if (config.intervals.kind == Intervals::Kind::sandwich) {
    intervals.refuse("kind", std::string("\"batch-means\" or none: a sandwich is of plain steps, not with ") + why);
  }
  // Batches and checkpoints take the iterates for draws of one distribution. Under a cooldown they are not.
  if (cools && (batches || config.intervals.kind == Intervals::Kind::checkpoints)) {
    intervals.refuse("kind",
                     "\"none\" (of a table also \"runs\"), without release.status, where there is "
                     "descent.cooldown: the last iterates vary less than those before");
  }
}

}  // namespace

StepSize effective_step_size(const Section& descent) {
  // A step with momentum carries η(1 + μ + μ² + …) in all.
  return StepSize{read_schedule(descent).at(StepIndex{0}) / (1 - read_momentum(descent))};
}

void read_course(const Section& root, Purpose purpose, Config& config) {
  const Section descent = root.section("descent");
  read_horizon(descent, purpose, config);
  config.descent.momentum = read_momentum(descent);
  if (config.descent.momentum > 0 && config.descent.first_stage) {
    descent.refuse("momentum", "0 where there are [[endogenous]] regressors: two stages take plain steps");
  }
  read_cooldown(descent, purpose, config);
  if (config.descent.momentum > 0 || config.descent.schedule.cools_down()) refuse_course(root, config);
}

}  // namespace nustream::config
