// Reads [noise]: a table of readers by the correlation's name, one reader for each kind, and what all kinds share.
#include <chrono>
#include <utility>

#include "config/read_sections.h"
#include "nustream/privacy/known_length.h"

namespace nustream::config {
namespace {

using noise::Correlation;

std::optional<StepCount> horizon(const Section& section) {
  const std::optional<std::uint64_t> steps = section.count("horizon");
  return steps ? std::optional<StepCount>(StepCount{*steps}) : std::nullopt;
}

/// For correlations that are defined up to a horizon alone.
StepCount required_horizon(const Section& section) {
  const std::optional<StepCount> steps = horizon(section);
  if (!steps) section.missing("horizon");
  return *steps;
}

/// The default of a stream: poles that are written out, or those that stand in for the exact correlation of ν.
Correlation read_rational(const Section& section) {
  const std::vector<double> q = section.numbers("q");
  const std::vector<double> b = section.numbers("b");
  // Poles that are written out take the place of ν.
  if (!q.empty() || !b.empty()) return Correlation{noise::Rational::from_poles(q, b)};
  const auto poles = static_cast<std::size_t>(section.count("poles").value_or(0));
  return Correlation{noise::Rational::nu_ftrl(section.required<Damping>("nu"), poles)};
}

/// Whether restarts are asked for, but the correlation has no horizon. Trees restart on their own.
bool asks_in_vain(const Section& section, const Correlation& correlation) {
  const bool is_tree = std::holds_alternative<noise::Tree>(correlation.family());
  return section.flag("restarts").value_or(false) && !is_tree && !correlation.horizon();
}

/// The rational correlation with the ν that is best for the value that is quoted.
Noise default_rational(const Section& root, noise::GeneratorKind generator) {
  const Damping nu = default_nu(root);
  const auto poles = static_cast<std::size_t>(root.section("noise").count("poles").value_or(0));
  const Correlation correlation{noise::Rational::nu_ftrl(nu, poles)};
  return {correlation, generator, nu, std::nullopt, asks_in_vain(root.section("noise"), correlation)};
}

/// Reads coefficients that are written out, or cuts those of ν off after a window.
Correlation read_windowed(const Section& section) {
  const std::vector<double> beta = section.numbers("beta");
  if (!beta.empty()) return Correlation{noise::Windowed{beta, horizon(section)}};
  const auto window = section.count("window");
  if (!window) section.missing("window");
  return noise::windowed_nu(section.required<Damping>("nu"), static_cast<std::size_t>(*window), horizon(section));
}

/// Reads a tree, whose noise is that of sums over 1, 2, 4, … steps. Without restarts it ends after 2^height steps.
Correlation read_tree(const Section& section, noise::Tree::Estimator estimator) {
  const auto height = section.count("height");
  if (!height) section.missing("height");
  if (*height > 40) section.refuse("height", "a whole number from 0 to 40");
  return Correlation{
      noise::Tree{static_cast<unsigned>(*height), estimator, section.flag("restarts").value_or(false)}};
}

/// Reads the tree whose estimates use all nodes. Its matrix is kept entry by entry, hence the smaller height.
Correlation read_full_honaker(const Section& section) {
  const auto height = section.count("height");
  if (!height) section.missing("height");
  if (*height > 11) section.refuse("height", "a whole number from 0 to 11 for full-honaker");
  return privacy::full_honaker(static_cast<unsigned>(*height));
}

/// The default of a table: each step's noise is its own.
Correlation read_independent(const Section& /*section*/) {
  return Correlation{noise::Independent{}};
}

using Reader = Correlation (*)(const Section&);

/// The reader of the correlation that is named; null for an optimised one.
Reader reader_of(const Section& section, Purpose purpose) {
  return section.choice<Reader>(
      "correlation", purpose == Purpose::table ? read_independent : read_rational,
      {{"rational", read_rational},
       {"independent", read_independent},
       {"nu",
        [](const Section& s) {
          return Correlation{noise::NuFtrl{s.required<Damping>("nu"), horizon(s)}};
        }},
       {"damped-anti-pgd",
        [](const Section& s) { return Correlation{noise::DampedAntiPgd{s.required<Damping>("nu")}}; }},
       {"anti-pgd", [](const Section& s) { return Correlation{noise::AntiPgd{required_horizon(s)}}; }},
       {"windowed", read_windowed},
       {"strategy",
        [](const Section& s) {
          return Correlation{noise::Strategy{s.numbers("c"), required_horizon(s)}};
        }},
       {"tree", [](const Section& s) { return read_tree(s, noise::Tree::Estimator::plain); }},
       {"honaker", [](const Section& s) { return read_tree(s, noise::Tree::Estimator::honaker); }},
       {"full-honaker", read_full_honaker},
       {"circulant", [](const Section& s) { return privacy::circulant(required_horizon(s)); }},
       {"optimised", nullptr}});  // read by read_optimised(), because it gives more than a correlation
}

/// What an optimised correlation has to know of the descent.
FittedDescent fitted_descent(const Section& root) {
  const bool mean = root.section("model").text("loss") == "mean";
  return {effective_step_size(root.section("descent")),
          mean ? privacy::Curvature::fixed : privacy::Curvature::gaussian_features};
}

/// The correlation, begun anew at every horizon where the settings ask for that. A correlation without a horizon
/// stays unchanged; trees restart on their own.
Correlation with_restarts(const Section& section, const Correlation& correlation) {
  const bool asked = section.flag("restarts").value_or(false);
  if (!asked || !correlation.horizon()) return correlation;
  return Correlation{noise::Restarted{correlation}};
}

/// The parameters of all correlations.
constexpr const char* correlation_parameters[] = {"nu",
                                                  "poles",
                                                  "q",
                                                  "b",
                                                  "beta",
                                                  "c",
                                                  "window",
                                                  "horizon",
                                                  "height",
                                                  "restarts",
                                                  "objective",
                                                  "error",
                                                  "bands",
                                                  "dense",
                                                  "participations",
                                                  "separation",
                                                  "strong_convexity",
                                                  "smoothness",
                                                  "eigenvalues",
                                                  "taps"};

/// Reads how the noise is computed, which may be left to the program. Not every correlation has every generator.
noise::GeneratorKind read_generator(const Section& section) {
  using noise::GeneratorKind;
  return section.choice<GeneratorKind>("generator", GeneratorKind::automatic,
                                       {{"auto", GeneratorKind::automatic},
                                        {"direct", GeneratorKind::direct},
                                        {"fft", GeneratorKind::fft},
                                        {"recurrent", GeneratorKind::recurrent},
                                        {"tree", GeneratorKind::tree},
                                        {"dense", GeneratorKind::dense}});
}

}  // namespace

Noise read_noise(const Section& root, Purpose purpose) {
  const Section section = root.section("noise");
  const noise::GeneratorKind generator = read_generator(section);
  // Every parameter is known under every correlation, so that --set noise.correlation=… is enough to compare two of
  // them.
  for (const char* key : correlation_parameters) static_cast<void>(section.has(key));
  const Reader read = reader_of(section, purpose);
  try {
    if (read == nullptr) {
      // How long the fit took is shown in plans; nothing else depends on it.
      const auto start = std::chrono::steady_clock::now();
      OptimisedNoise fitted = read_optimised(section, fitted_descent(root));
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
      return {with_restarts(section, fitted.correlation), generator, std::nullopt,
              Fit{std::move(fitted.objective), took.count()}};
    }
    const bool rational = read == Reader{read_rational};
    if (rational && !section.has("nu") && !section.has("q") && !section.has("b")) {
      return default_rational(root, generator);
    }
    // A few poles stand in for the exact correlation of ν. Plans compare the two, so that ν is kept.
    const bool approximates = rational && !section.has("q");
    const Correlation correlation = read(section);
    // A matrix does not know what it was made from, so that the settings' word is kept for people.
    const bool dense = std::holds_alternative<noise::Dense>(correlation.family());
    return {with_restarts(section, correlation),
            generator,
            approximates ? section.as<Damping>("nu") : std::nullopt,
            std::nullopt,
            asks_in_vain(section, correlation),
            dense ? section.text("correlation").value_or("") : std::string()};
  } catch (const InvalidParameter& error) {
    // A parameter that is a key of this section is refused at its own line, any other parameter at the line of the
    // correlation.
    if (section.has(error.name())) section.refuse(error.name(), error.allowed());
    section.refuse("correlation", std::string("a correlation with valid parameters (") + error.what() + ")");
  } catch (const Unsupported& error) {
    section.refuse("correlation", error.what());
  }
}

}  // namespace nustream::config
