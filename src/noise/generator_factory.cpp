// Chooses which generator computes which correlation.
#include <cstddef>
#include <memory>
#include <string>

#include "generator.h"
#include "overload.h"

namespace nustream::noise {
namespace {

// Up to this window the plain sum is as fast as a transform, and it equals the definition to the bit.
constexpr std::size_t widest_direct = 64;
// Wider windows are refused: the buffers of a transform hold a few times the window for every coordinate.
constexpr std::uint64_t widest_window = std::uint64_t{1} << 26;

[[noreturn]] void refuse_pair(const Correlation& correlation, const std::string& kind, const std::string& reason) {
  throw Unsupported("the " + kind + " generator cannot generate the correlation \"" + correlation.name() +
                    "\": " + reason);
}

std::size_t checked_window(const Correlation& correlation, std::uint64_t terms) {
  if (terms > widest_window) {
    refuse_pair(correlation, "direct or fft", "its window exceeds 2^26 steps; use a rational correlation");
  }
  return static_cast<std::size_t>(terms);
}

// How many entries of β are not zero by definition. Throws Unsupported where there are infinitely many.
std::size_t window(const Correlation& correlation) {
  return std::visit(
      Overload{[](const Independent&) { return std::size_t{1}; }, [](const DampedAntiPgd&) { return std::size_t{2}; },
               [](const AntiPgd&) { return std::size_t{2}; },
               [&](const NuFtrl&) -> std::size_t {
                 if (const auto horizon = correlation.horizon()) return checked_window(correlation, horizon->value());
                 throw Unsupported(
                     "exact nu without a horizon needs all earlier noise: use the correlation \"rational\", which "
                     "is as good to 2.5e-4 and has no end, or set a horizon");
               },
               [&](const Rational&) -> std::size_t {
                 if (const auto horizon = correlation.horizon()) return checked_window(correlation, horizon->value());
                 refuse_pair(correlation, "direct or fft", "its window is infinite; use recurrent");
               },
               [&](const Windowed& family) { return checked_window(correlation, family.beta.size()); },
               [&](const Strategy&) { return checked_window(correlation, correlation.horizon()->value()); },
               [&](const Tree&) -> std::size_t { refuse_pair(correlation, "direct or fft", "use tree"); },
               [&](const Dense&) -> std::size_t { refuse_pair(correlation, "direct or fft", "use dense"); },
               [](const Restarted& restarted) { return window(restarted.block()); }},
      correlation.family());
}

std::unique_ptr<Generator> recurrent(const Correlation& correlation, std::size_t dimension) {
  if (const auto* rational = std::get_if<Rational>(&correlation.family()))
    return make_recurrent(*rational, dimension);
  if (!std::holds_alternative<Independent>(correlation.family())) {
    refuse_pair(correlation, "recurrent", "use rational or independent");
  }
  // Independent noise is a filter without poles, so that it goes through the same fast loops.
  return make_recurrent(Rational::from_poles({}, {}), dimension);
}

std::unique_ptr<Generator> tree(const Correlation& correlation, std::size_t dimension) {
  const auto* family = std::get_if<Tree>(&correlation.family());
  if (family == nullptr) refuse_pair(correlation, "tree", "it is no tree");
  return make_tree(*family, dimension);
}

std::unique_ptr<Generator> dense(const Correlation& correlation, std::size_t dimension) {
  const auto* encoder = std::get_if<Dense>(&correlation.family());
  if (encoder == nullptr) refuse_pair(correlation, "dense", "it is not given as a matrix");
  return make_forward(*encoder, dimension);
}

}  // namespace

// Where a filter can do it, it is taken: it reads no old seed noise, so that a state keeps a single key.
GeneratorKind automatic_kind(const Correlation& correlation) {
  return std::visit(
      Overload{[](const Independent&) { return GeneratorKind::recurrent; },
               [](const Rational&) { return GeneratorKind::recurrent; },
               [](const Tree&) { return GeneratorKind::tree; }, [](const Dense&) { return GeneratorKind::dense; },
               [](const Restarted& restarted) { return automatic_kind(restarted.block()); },
               [&](const auto&) {
                 return window(correlation) <= widest_direct ? GeneratorKind::direct : GeneratorKind::fft;
               }},
      correlation.family());
}

std::unique_ptr<Generator> make_generator(const Correlation& correlation, GeneratorKind kind, std::size_t dimension) {
  // Whatever the kind, it generates the block, and the restarts are put around it.
  if (const auto* restarted = std::get_if<Restarted>(&correlation.family())) {
    return make_restarted(make_generator(restarted->block(), kind, dimension), restarted->every(), dimension);
  }
  switch (kind) {
    case GeneratorKind::automatic:
      return make_generator(correlation, automatic_kind(correlation), dimension);
    case GeneratorKind::recurrent:
      return recurrent(correlation, dimension);
    case GeneratorKind::tree:
      return tree(correlation, dimension);
    case GeneratorKind::dense:
      return dense(correlation, dimension);
    case GeneratorKind::direct:
      return make_direct(noise_coefficients(correlation, window(correlation)), dimension);
    case GeneratorKind::fft:
      return make_fft(noise_coefficients(correlation, window(correlation)), dimension, correlation.horizon());
  }
  throw Unsupported("unknown kind of generator");
}

}  // namespace nustream::noise
