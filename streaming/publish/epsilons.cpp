// Converts ρ to ε where it is shown to people; accounting is in ρ alone. The file also says what the promise is to
// people with several records, and warns of a δ that promises nothing.
#include "publish/epsilons.h"

#include <algorithm>

#include <fmt/format.h>

namespace nustream::publish {
namespace {

constexpr double far_above = 10;  // how many times 1/n a δ has to be

}  // namespace

std::vector<Epsilons> epsilons_of(Rho rho, std::span<const Delta> deltas) {
  std::vector<Epsilons> all;
  for (const Delta& delta : deltas) {
    Epsilons& at = all.emplace_back(Epsilons{delta.value()});
    for (std::size_t i = 0; i < at.by.size(); ++i) {
      at.by[i] = privacy::epsilon(rho, delta, privacy::conversions[i]).value();
    }
  }
  return all;
}

void append_epsilons(MemberName key, std::span<const Epsilons> epsilons, JsonWriter& json) {
  const auto array = json.array(key);
  for (const Epsilons& at : epsilons) {
    const auto object = json.object();
    json.field("delta", at.delta);
    for (std::size_t i = 0; i < at.by.size(); ++i) json.field(name(privacy::conversions[i]), at.by[i]);
  }
}

// `rho` is that of the whole group already; how it grows with the number of records depends on the mechanism.
GroupSpend group_spend(std::uint64_t records, Rho rho, Delta delta) {
  return {records, rho, privacy::epsilon(rho, delta).value()};
}

void append_groups(std::span<const GroupSpend> groups, JsonWriter& json) {
  const auto array = json.array("groups");
  for (const GroupSpend& group : groups) {
    const auto object = json.object();
    json.field("records", group.records);
    json.field("rho", group.rho.value());
    json.field("epsilon", group.epsilon);
  }
}

std::string groups_text(std::span<const GroupSpend> groups, double delta) {
  std::string out;
  for (const GroupSpend& group : groups) {
    // ε may be so large that the promise is empty. The number alone would not tell a reader that.
    out += fmt::format("a person with {:>3} records: rho at most {:.4g}, epsilon {:.4g} at delta {:g}{}\n",
                       group.records, group.rho.value(), group.epsilon, delta,
                       group.epsilon > hardly_anything ? ": hardly anything is promised" : "");
  }
  return out;
}

std::string large_delta(std::span<const Delta> deltas, std::uint64_t records) {
  // The largest δ gives the weakest promise, so that it is the one to warn of.
  const Delta delta = std::ranges::max(deltas, {}, &Delta::value);
  const double share = delta.value() * static_cast<double>(records);
  // δ·n is how many of n records a mechanism may show whole, in expectation, and still keep the promise.
  if (!(share > far_above)) return {};
  return fmt::format(
      "privacy.delta = {:g} is far above 1/n of {} records: a program that shows {:.0f} of them whole could keep an "
      "(epsilon, delta) promise at it. The promise in rho does not depend on delta; quote epsilon at a "
      "delta below {:.2g}",
      delta.value(), records, share, 1 / static_cast<double>(records));
}

}  // namespace nustream::publish
