#include "config/read_sections.h"

namespace nustream::config {
namespace {

using descent::Projection;
using descent::Schedule;

/// Runs `make`, and refuses `key` with what the constructor allows.
template <class Make>
auto refusing(const Section& section, std::string_view key, Make make) {
  try {
    return make();
  } catch (const InvalidParameter& error) {
    section.refuse(key, error.name() + ": " + error.allowed());
  }
}

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
  const double radius = section.number("radius").value_or(0);
  const std::vector<double> lower = section.number_or_numbers("lower");
  const std::vector<double> upper = section.number_or_numbers("upper");
  switch (kind) {
    case Kind::ball:
      return refusing(section, "radius", [&] { return Projection{descent::Ball{radius}}; });
    case Kind::box:
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

}  // namespace nustream::config
