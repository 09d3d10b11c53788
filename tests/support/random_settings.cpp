#include "random_settings.h"

#include <fmt/format.h>

namespace nustream::tests::settings {
namespace {

/// The lines of [privacy] and of [users] where the unit is the user, who is in the column `user`.
std::string unit_of_users(Random& random, const std::string& user) {
  const std::string often = fmt::format("participations = {}\nseparation = {}\n", 1 + random() % 6, 1 + random() % 4);
  const std::string much = fmt::format("mass = {}\n", 0.5 * static_cast<double>(1 + random() % 8));
  return fmt::format("unit = \"user\"\nuser = \"{}\"\nuser_null = [\"0\"]\n[users]\n", user) +
         one_of(random, often, much, often + much);
}

}  // namespace

std::string add_users(Random& random, const StreamLimits& limits, RandomStream& stream) {
  const auto add_first = [&](const std::string& column) {
    stream.columns.insert(stream.columns.begin(), column);
    stream.non_negative.insert(stream.non_negative.begin(), false);
  };
  stream.user = "who";
  add_first(stream.user);
  std::string users = unit_of_users(random, stream.user);
  if (random() % 3 != 0) return users;
  using Times = RandomStream::Times;
  users += "period = " + one_of(random, "\"PT10S\"\n", "\"PT1M\"\n", "\"PT3M\"\n");
  stream.times = limits.beside_values ? Times::of_broker : Times::of_column;
  if (stream.times == Times::of_broker) return users;
  add_first(random_time);
  return users + "times = \"trusted\"\n";
}

std::string format_of(const RandomStream& stream) {
  std::string format = stream.json ? "format = \"jsonl\"\n" : "header = false\n";
  if (!stream.json) {
    format += "columns = [";
    for (const std::string& column : stream.columns) format += "\"" + column + "\", ";
    format += "]\n";
  }
  if (stream.times == RandomStream::Times::of_column) format += fmt::format("time = \"{}\"\n", random_time);
  return format;
}

void add_columns(std::string& toml, RandomStream& stream, const char* section, const std::string& prefix,
                 std::uint64_t count, bool bounded, Random& random) {
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string column = fmt::format("{}{}", prefix, i);
    toml += fmt::format("[[{}]]\ncolumn = \"{}\"\n", section, column);
    bool non_negative = false;
    if (random() % 4 == 0 || bounded) toml += "clamp = [-3.0, 3.0]\n";
    if (random() % 4 == 0) toml += "center = 0.25\nscale = 2.0\n";
    // A single column is never an indicator, which takes any text: no text would make a null record then.
    if (random() % 4 == 0) {
      const std::string numeric =
          one_of(random, "transform = \"square\"\n", "transform = \"sqrt\"\n", "transform = \"log1p\"\n");
      toml += i > 0 && random() % 4 == 0 ? "transform = \"indicator\"\nequals = \"99\"\n" : numeric;
      non_negative = true;
    }
    stream.columns.push_back(column);
    stream.non_negative.push_back(non_negative);
  }
}

std::string add_beside_values(Random& random, const StreamLimits& limits, RandomStream& stream) {
  std::string features;
  if (limits.beside_values && random() % 4 == 0) {
    stream.reads_key = true;
    features += "[[features]]\ncolumn = \"@key\"\n";
  }
  if (limits.beside_values && random() % 4 == 0) {
    stream.reads_header = true;
    features += fmt::format("[[features]]\ncolumn = \"@header:{}\"\n", random_header);
  }
  return features;
}

std::string privacy_of(Random& random, const StreamLimits& limits) {
  std::string privacy =
      "[privacy]\ndelta = 1e-6\n" + one_of(random, "rho = 0.5\n", "rho = 1e-3\n", "epsilon = 2.0\n");
  if (limits.replace_one && random() % 2 == 0) privacy += "adjacency = \"replace-one\"\n";
  if (limits.may_end_early && random() % 12 == 0) privacy += "budget = 0.4\n";
  return privacy;
}

}  // namespace nustream::tests::settings
