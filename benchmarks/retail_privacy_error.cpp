// Measures what privacy adds to the estimate of the retail stream: the distance of private runs from the run without
// noise, in working coordinates. Usage: retail_privacy_error [RUNS [JSON file]]; 200 runs by default. Exits with 1
// where a mean differs from that of an independent implementation by more than 3 standard errors of the difference.
// Keys are fixed, so the result does not vary by chance.

#include <cmath>
#include <cstdlib>
#include <memory>

#include <fmt/format.h>

#include "private_path.h"
#include "retail_stream.h"

namespace {

using namespace nustream;
using namespace nustream::benchmarks;

struct Row {
  std::string correlation;
  double rho;
  Estimate last;
  Estimate average;
};

/// The mean and standard error over 200 keys according to an independent implementation.
struct Reference {
  Estimate last;
  Estimate average;
};
constexpr Reference references[] = {{{0.741, 0.030}, {0.0700, 0.0026}},
                                    {{0.100, 0.004}, {0.00399, 0.00015}},
                                    {{0.0100, 0.0004}, {0.00040, 0.000015}}};

bool agree(const Estimate& ours, const Estimate& reference) {
  return std::abs(ours.mean - reference.mean) <= 3 * std::hypot(ours.standard_error, reference.standard_error);
}

Row measure(const RetailStream& stream, const std::string& name, const noise::Correlation& correlation, Rho rho,
            std::uint64_t runs) {
  const PathEnd off = descend(stream.config.descent, stream.rows, correlation, rho, nullptr);
  std::vector<double> last, average;
  for (std::uint64_t run = 0; run < runs; ++run) {
    const noise::KeyBytes key = numbered_key(run);
    const PathEnd end = descend(stream.config.descent, stream.rows, correlation, rho, &key);
    last.push_back(distance(end.last, off.last));
    average.push_back(distance(end.average, off.average));
  }
  return {name, rho.value(), estimate(last), estimate(average)};
}

std::string to_json(const std::vector<Row>& rows, std::uint64_t runs, const PathEnd& off, double off_distance) {
  std::string text = fmt::format(
      "{{\"figure\": \"retail privacy error\", \"runs\": {}, \"noise_off\": {{\"last\": [{}, {}], \"average\": [{}, "
      "{}], \"distance_to_least_squares\": {:.4f}}}, \"rows\": [",
      runs, off.last[0], off.last[1], off.average[0], off.average[1], off_distance);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Row& row = rows[i];
    text += fmt::format(
        "{}\n  {{\"correlation\": \"{}\", \"rho\": {}, \"last\": {:.5g}, \"last_se\": {:.2g}, \"average\": {:.5g}, "
        "\"average_se\": {:.2g}}}",
        i == 0 ? "" : ",", row.correlation, row.rho, row.last.mean, row.last.standard_error, row.average.mean,
        row.average.standard_error);
  }
  return text + "]}\n";
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t runs = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 200;
  const RetailStream stream = read_retail(NUSTREAM_ROOT_DIR);
  const noise::Correlation nu{noise::Rational::nu_ftrl(Damping{0.002})};
  const noise::Correlation independent{noise::Independent{}};
  const std::vector<double> least_squares{1.987337 - 1.5 - 0.529010 * 0.7, -0.529010};
  const PathEnd off = descend(stream.config.descent, stream.rows, nu, Rho{0.01}, nullptr);

  const std::vector<Row> rows{measure(stream, "independent", independent, Rho{0.01}, runs),
                              measure(stream, "rational nu = 0.002", nu, Rho{0.01}, runs),
                              measure(stream, "rational nu = 0.002", nu, Rho{1}, runs)};
  const std::string json = to_json(rows, runs, off, distance(off.last, least_squares));
  std::FILE* out = argc > 2 ? std::fopen(argv[2], "w") : stdout;
  if (out == nullptr) return 74;
  fmt::print(out, "{}", json);
  bool all = std::abs(distance(off.last, least_squares) - 0.141) < 0.0005;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    all = all && agree(rows[i].last, references[i].last) && agree(rows[i].average, references[i].average);
  }
  return all ? 0 : 1;
}
