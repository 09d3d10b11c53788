// Random settings of models that are solved from running sums.
#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "random_settings.h"

namespace nustream::tests::settings {
namespace {

/// The lines of [moments], of a stream whose steps take `every` records; `bounds` are those of endogenous regressors.
std::string moments_of(Random& random, std::uint64_t every, const std::string& bounds) {
  const auto some = [&](std::uint64_t values) { return static_cast<double>(1 + random() % values); };
  std::string text = fmt::format("[moments]\nrow_norm = {}\nresidual_bound = {}\nsecond_moment_share = {}\n", some(4),
                                 some(3), .1 + .1 * some(6)) +
                     bounds;
  const bool forgets = random() % 2 == 0;
  if (forgets) text += fmt::format("memory = {}\n", every * (4 + random() % 40));
  if (forgets && random() % 2 == 0) text += fmt::format("restage_every = {}\n", every * (8 + random() % 30));
  if (random() % 4 == 0) text += fmt::format("releases = {}\n", 10 + random() % 60);
  std::uint64_t from = 0;
  for (std::uint64_t stages = random() % 3; stages > 0; --stages) {
    from += every * (2 + random() % 20);
    text += fmt::format("[[moments.stages]]\nfrom = {}\nresidual_bound = {}\n", from, .5 * some(3));
  }
  return text;
}

/// The settings that every stream of running sums has.
std::string toml_of_sums(Random& random, const RandomStream& stream, const std::string& moments,
                         const std::string& privacy, const std::string& release) {
  return "[stream]\nname = \"simulated\"\n" + format_of(stream) +
         fmt::format("[target]\ncolumn = \"y\"\n[model]\nestimator = \"moments\"\nintercept = {}\n",
                     random() % 2 == 0) +
         moments + privacy + fmt::format("[release]\nevery = {}\n", stream.minibatch) + release;
}

/// Random settings of users whose model is solved from running sums.
RandomStream random_sums_of_users(Random& random, const StreamLimits& limits) {
  RandomStream stream;
  stream.json = random() % 4 == 0;
  stream.minibatch = 1 + random() % 4;
  std::string features;
  add_columns(features, stream, "features", "x", 1 + random() % 3, false, random);
  stream.columns.emplace_back("y");
  const std::string privacy = privacy_of(random, limits) + add_users(random, limits, stream);
  const std::string moments = moments_of(random, stream.minibatch, "");
  stream.toml = toml_of_sums(random, stream, moments, privacy, features);
  return stream;
}

/// The bounds of these lines of [moments], with units that grow: then there is neither a memory nor another stage.
std::string growing(Random& random, const std::string& moments) {
  return moments.substr(0, moments.find("second_moment_share")) +
         fmt::format("stages = \"growing\"\nreleases = {}\n", 20 + random() % 60);
}

/// Random settings of records whose model is solved from running sums: with instrumental variables or without, with
/// private targets alone, and with intervals where a stage recentres.
RandomStream random_sums_of_records(Random& random, const StreamLimits& limits) {
  RandomStream stream;
  stream.json = random() % 4 == 0;
  stream.target_only = !stream.json && random() % 4 == 0;
  stream.minibatch = 1 + random() % 4;
  const bool two_stages = random() % 3 == 0;
  std::string columns;
  std::string bounds;
  if (two_stages) {
    stream.stages = 2;
    const std::uint64_t endogenous = 1 + random() % 2;
    add_columns(columns, stream, "instruments", "z", endogenous + random() % 2, false, random);
    add_columns(columns, stream, "endogenous", "e", endogenous, false, random);
    bounds = fmt::format("regressor_bound = {}\nregressor_share = {}\n", 1 + random() % 3,
                         .2 + .1 * static_cast<double>(random() % 6));
  }
  add_columns(columns, stream, "features", "x", two_stages ? random() % 2 : 1 + random() % 3, false, random);
  std::string moments = moments_of(random, stream.minibatch, bounds);
  Random of_growth(random);  // of its own, so that seeds give what they gave before units could grow
  of_growth.discard(1000);   // far from the numbers that come next
  const bool grows = !two_stages && of_growth() % 3 == 0;
  if (grows) moments = growing(of_growth, moments);
  std::string privacy = privacy_of(random, limits);
  if (stream.target_only) privacy += "protects = \"target\"\n";
  columns += add_beside_values(random, limits, stream);
  stream.columns.emplace_back("y");
  std::string release = random() % 3 == 0 && !grows ? "moments = true\n" : "";
  const bool recentres = moments.find("stages") != moments.npos || moments.find("restage_every") != moments.npos;
  if (recentres && random() % 2 == 0) {
    release +=
        fmt::format("[intervals]\nkind = \"{}\"\n", two_stages || random() % 2 == 0 ? "residuals" : "sandwich");
  }
  stream.toml = toml_of_sums(random, stream, moments, privacy, release + columns);
  const std::string without = "intercept = false";
  const std::size_t at = stream.toml.find(without);
  if (grows && at != std::string::npos) stream.toml.replace(at, without.size(), "intercept = true");  // counts rows
  return stream;
}

}  // namespace

RandomStream random_sums(Random& random, const StreamLimits& limits) {
  return limits.by_user ? random_sums_of_users(random, limits) : random_sums_of_records(random, limits);
}

}  // namespace nustream::tests::settings
