#include "random_stream.h"

#include <cmath>

#include <fmt/format.h>

#include "random_settings.h"

namespace nustream::tests {
namespace {

using settings::one_of;
using settings::Random;

/// One stream in so many has a model that is solved from running sums.
constexpr std::uint64_t one_in_sums = 4;

std::string schedule(Random& random, double step_size) {
  return fmt::format("step_size = {}\n", step_size) +
         one_of(random, "", "schedule = \"inverse-sqrt\"\nknee = 10\n", "schedule = \"inverse\"\nknee = 20\n",
                "schedule = \"warm-up\"\nwarm_up_steps = 8\n",
                "schedule = \"piecewise\"\npieces = [{from = 0, step_size = 0.05}, {from = 9, step_size = 0.01}]\n");
}

/// The lines of a correlation. Where `anew` is not 0, a correlation with a horizon gets a short one, and begins anew
/// behind it.
std::string correlation(Random& random, const StreamLimits& limits, std::uint64_t anew) {
  const bool early = limits.may_end_early && random() % 6 == 0;
  const std::uint64_t horizon = std::max<std::uint64_t>(2, early ? limits.steps / 2 : limits.steps + random() % 20);
  const auto with = [&](const char* name, const std::string& more) {
    return fmt::format("correlation = \"{}\"\n{}", name, more);
  };
  const std::string until = anew == 0 ? fmt::format("horizon = {}\n", horizon)
                                      : fmt::format("horizon = {}\nrestarts = true\n", 5 + anew % 12);
  unsigned height = 0;
  while ((std::uint64_t{1} << height) < limits.steps + 1) ++height;
  switch (random() % 15) {
    case 0:
      return with("independent", "");
    case 1:
      return with("nu", "nu = 0.02\n" + until);
    case 2:
      return with("nu", "nu = 0\n" + until);
    case 3:
      return with("damped-anti-pgd", "nu = 0.1\n");
    case 4:
      return with("anti-pgd", until);
    case 5:
      return with("windowed", "nu = 0.05\nwindow = 12\n" + until);
    case 6:
      return with("windowed", "beta = [1.0, -0.4, -0.2]\n");
    case 7:
      return with("strategy", "c = [1.0, 0.5, 0.3, 0.1]\n" + until);
    case 8:
      return with("tree", random() % 2 == 0 ? std::string("height = 3\nrestarts = true\n")
                                            : fmt::format("height = {}\n", height));
    case 9:
      return with("honaker", random() % 2 == 0 ? std::string("height = 3\nrestarts = true\n")
                                               : fmt::format("height = {}\n", height));
    case 10:
      return with("optimised", "objective = \"prefix-sum\"\nbands = 5\n" + until);
    case 11:
      return with("optimised", "objective = \"prefix-sum\"\nerror = \"mean\"\ndense = true\n" + until);
    case 12:
      return with("rational", one_of(random, "nu = 0.05\npoles = 2\n", "q = [0.9, 0.5]\nb = [0.2, 0.1]\n"));
    case 13:
      return with("optimised",
                  one_of(random, "objective = \"prefix-sum\"\npoles = 3\n" + until,
                         "objective = \"descent\"\nstrong_convexity = 0.2\nsmoothness = 1.0\ntaps = 4\nbands = 12\n",
                         "objective = \"descent\"\neigenvalues = [1.0, 0.3]\nbands = 12\n",
                         "objective = \"descent\"\neigenvalues = [1.0, 0.3]\npoles = 2\n"));
    default:
      return with("rational", fmt::format("nu = {}\n", random() % 2 == 0 ? 0.01 : 0.3));
  }
}

/// What the settings say about steps once everything else is known: momentum where one stage takes plain steps, and a
/// cooldown where the noise has an end.
std::string course(Random& random, bool one_stage, bool one_size, const std::string& noise) {
  std::string text;
  if (one_stage && random() % 3 == 0) text += one_of(random, "momentum = 0.5\n", "momentum = 0.95\n");
  const bool ends = noise.find("horizon = ") != noise.npos && noise.find("restarts") == noise.npos;
  if (one_size && ends && random() % 2 == 0) {
    text += one_of(random, "cooldown = 0.25\ncooldown_to = 0.05\n", "cooldown = 1\n");
  }
  return text;
}

/// Whether the size of the noise in a sum over many steps is known. A count of clipped gradients needs it.
bool may_be_counted_under(const std::string& noise) {
  static constexpr const char* names[] = {"independent", "nu", "damped-anti-pgd", "anti-pgd", "windowed", "rational"};
  const bool has_end = noise.find("horizon = ") != noise.npos;
  for (const char* const name : names) {
    const bool is_endless_table = std::string_view(name) == "windowed" && !has_end;
    if (noise.starts_with(fmt::format("correlation = \"{}\"", name)) && !is_endless_table) {
      return noise.find("restarts") == noise.npos;
    }
  }
  return false;
}

/// A user's text, JSON or not. Few users have most of the records, and some records belong to nobody.
std::string random_user(Random& random, bool json) {
  std::string who = random() % 20 == 0 ? one_of(random, "", "0") : fmt::format("u{}", random() % (1 + random() % 24));
  return json ? '"' + who + '"' : who;
}

}  // namespace

RandomStream random_stream(std::uint64_t seed, const StreamLimits& limits) {
  Random of_kind(seed * 0xd1b54a32d192ed03U + 3);
  if (of_kind() % one_in_sums == 0) return settings::random_sums(of_kind, limits);
  Random random(seed * 0x9e3779b97f4a7c15U + 5);
  RandomStream stream;
  const std::uint64_t kind = random() % 9;
  const bool two_stages = kind == 8;
  const bool sandwich = kind == 7;
  const bool mean = kind == 0;
  stream.json = random() % 4 == 0;
  stream.target_only = two_stages && !stream.json && random() % 2 == 0;
  // A first stage without noise takes nothing of the budget.
  const bool public_first_stage = stream.target_only && random() % 2 == 0;
  std::string features;
  if (two_stages) {
    stream.stages = 2;
    settings::add_columns(features, stream, "instruments", "z", 2 + random() % 2, public_first_stage, random);
    settings::add_columns(features, stream, "endogenous", "e", 1, public_first_stage, random);
    settings::add_columns(features, stream, "features", "x", random() % 2, public_first_stage, random);
  } else {
    settings::add_columns(features, stream, "features", "x", 1 + random() % 4, false, random);
  }
  std::string model = "[model]\n";
  static constexpr const char* losses[] = {"mean",        "linear",  "huber",  "quantile", "logistic",
                                           "multinomial", "poisson", "linear", "linear"};
  model += fmt::format("loss = \"{}\"\n", losses[kind]);
  if (kind == 5) {
    stream.labels = 2 + random() % 3;
    model += fmt::format("classes = {}\n", stream.labels);
  }
  if (kind == 4 || kind == 5) stream.target = RandomStream::Target::label;
  if (kind == 6) stream.target = RandomStream::Target::count;
  if (mean) stream.target = RandomStream::Target::none;
  if (!sandwich && random() % 3 == 0) model += "l2 = 0.1\n";
  if (!mean && random() % 4 == 0) model += "intercept = false\n";

  stream.minibatch = random() % 2 == 0 ? 1 : 1 + random() % 4;
  stream.clip_norm = 0.5 + static_cast<double>(random() % 3);
  std::string descent = "[descent]\n" + (sandwich ? "step_size = 0.05\n" : schedule(random, 0.05)) +
                        fmt::format("clip_norm = {}\n", stream.clip_norm);
  if (stream.minibatch > 1) descent += fmt::format("minibatch = {}\n", stream.minibatch);
  if (sandwich) {
    descent += fmt::format("average = \"tail\"\naverage_from = {}\n", random() % 30) +
               "[intervals]\nkind = \"sandwich\"\nsecond_moment_clip = 2.0\nsquared_residual_clip = 1.5\n";
  } else {
    descent += one_of(random, "", "", "projection = \"ball\"\nradius = 0.8\n",
                      "projection = \"box\"\nlower = -0.5\nupper = 0.6\n");
    stream.batch_means = random() % 4 == 0;
    descent +=
        one_of(random, "", fmt::format("average = \"tail\"\naverage_from = {}\n", random() % 30),
               fmt::format("average = \"exponential\"\naverage_from = {}\naverage_decay = 0.9\n", random() % 30));
  }
  if (stream.batch_means) {
    descent += fmt::format("[intervals]\nkind = \"batch-means\"\nbatches = {}\nbatch_steps = {}\n", 2 + random() % 3,
                           1 + random() % 4);
  }
  if (two_stages) {
    descent +=
        "[first_stage]\n" + schedule(random, 0.03) + (public_first_stage ? "private = false\n" : "clip_norm = 0.7\n");
    if (!public_first_stage && random() % 2 == 0) descent += "strength_share = 0.2\nstrength_clip = 3.0\n";
  }

  std::string privacy = "[privacy]\ndelta = 1e-6\n";
  privacy += one_of(random, "rho = 0.5\n", "rho = 1e-3\n", "epsilon = 2.0\n");
  if (stream.target_only) privacy += "protects = \"target\"\n";
  if (two_stages && random() % 4 == 0) privacy += "calibration = \"proposition-3.1\"\n";
  if (limits.replace_one && random() % 2 == 0) privacy += "adjacency = \"replace-one\"\n";
  if (limits.may_end_early && random() % 12 == 0) privacy += "budget = 0.4\n";

  features += settings::add_beside_values(random, limits, stream);

  if (!mean) stream.columns.emplace_back("y");
  Random of_users(seed * 0x94d049bb133111ebU + 9);
  const std::string users = limits.by_user ? settings::add_users(of_users, limits, stream) : "";
  std::string format = settings::format_of(stream);
  if (random() % 8 == 0) format += "record_bytes_max = 64\n";
  // These settings draw random numbers of their own, so that seeds give what they gave before these settings existed.
  Random apart(seed * 0xbf58476d1ce4e5b9U + 7);
  const std::string noise = correlation(random, limits, !sandwich && apart() % 3 == 0 ? 1 + apart() % 64 : 0);
  descent.insert(descent.find('\n') + 1,
                 course(apart, !two_stages && !sandwich, !sandwich && !stream.batch_means, noise));
  if (!two_stages && may_be_counted_under(noise) && apart() % 3 == 0) privacy += "clipped_share = 0.05\n";
  stream.toml = "[stream]\nname = \"simulated\"\n" + format + (mean ? "" : "[target]\ncolumn = \"y\"\n") + model +
                descent + privacy + users + "[noise]\n" + noise +
                fmt::format("[release]\nevery = {}\n", 1 + random() % 6) + features;
  return stream;
}

std::string random_garbage(std::uint64_t seed, bool one_line) {
  Random random(seed ^ 0x51ed270b);
  std::string text(random() % 40, ' ');
  static constexpr std::string_view likely = "0123456789.,-+eE\"{}[]:nulltrueNaNinfx0y ";
  const bool any = random() % 2 == 0;
  for (char& byte : text) {
    byte = any ? static_cast<char>(random()) : likely[random() % likely.size()];
    if (one_line && (byte == '\n' || byte == '\r')) byte = '?';
  }
  return text;
}

std::string random_correlation(std::uint64_t seed, const StreamLimits& limits) {
  Random random(seed);
  return correlation(random, limits, random() % 3 == 0 ? 1 + random() % 64 : 0);
}

std::string random_record(const RandomStream& stream, std::uint64_t seed, const std::string& time) {
  Random random(seed * 0xd6e8feb86659fd93U + 11);
  if (random() % 16 == 0) return random_garbage(random(), true);
  std::normal_distribution<double> normal;
  const double length = random() % 10 == 0 ? 1e6 : random() % 10 == 0 ? 20 : 1;
  std::string text;
  for (std::size_t i = 0; i < stream.columns.size(); ++i) {
    const bool is_time = stream.times == RandomStream::Times::of_column && stream.columns[i] == random_time;
    if (stream.columns[i] == stream.user || is_time) {
      const std::string field =
          is_time ? (stream.json && time.empty() ? "null" : time) : random_user(random, stream.json);
      text += stream.json ? fmt::format("{}\"{}\":{}", i == 0 ? "{" : ",", stream.columns[i], field)
                          : (i == 0 ? "" : ",") + field;
      continue;
    }
    const bool is_target = i + 1 == stream.columns.size() && stream.target != RandomStream::Target::none;
    double number = (is_target ? 2 : length) * normal(random);
    // Most values of a transform are ones that it takes, because a record that cannot be used has no gradient to look
    // for.
    if (i < stream.non_negative.size() && stream.non_negative[i] && random() % 16 != 0) number = std::abs(number);
    std::string value = fmt::format("{:.4g}", number);
    if (is_target && stream.target == RandomStream::Target::label)
      value = fmt::format("{}", random() % stream.labels);
    if (is_target && stream.target == RandomStream::Target::count) value = fmt::format("{}", random() % 6);
    if (random() % 60 == 0) value = one_of(random, "", "n/a", "nan", "1e999", "-", "99", "0x1p3");
    if (stream.json) {
      text += fmt::format("{}\"{}\":{}", i == 0 ? "{" : ",", stream.columns[i], value);
    } else {
      text += (i == 0 ? "" : ",") + value;
    }
  }
  if (stream.json) text += "}";
  return text;
}

RandomRecord random_message(const RandomStream& stream, std::uint64_t seed) {
  Random random(seed * 0xa0761d6478bd642fU + 13);
  std::normal_distribution<double> normal;
  const auto number = [&](bool is_read) {
    if (!is_read && random() % 2 == 0) return random_garbage(random(), false);
    return random() % 40 == 0 ? one_of(random, "", "n/a", "1e999") : fmt::format("{:.4g}", normal(random));
  };
  RandomRecord record;
  if (random() % 50 != 0) record.value = random_record(stream, seed);
  // A record without a key cannot be used where the key is read.
  if (random() % 30 != 0 && (stream.reads_key || random() % 4 == 0)) record.key = number(stream.reads_key);
  if (stream.reads_header || random() % 4 == 0)
    record.headers.emplace_back(random_header, number(stream.reads_header));
  if (random() % 10 == 0) record.headers.emplace_back("another", std::nullopt);
  return record;
}

}  // namespace nustream::tests
