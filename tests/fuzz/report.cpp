// Lines that anybody may have sent to a collector of local reports.
#include <cstdlib>
#include <span>
#include <vector>

#include "fuzz.h"
#include "local/report.h"

namespace nustream::fuzz {
namespace {

using local::Reject;

/// A collector of reports on the features, and one report that it accepts.
struct Collector {
  explicit Collector(const char* features)
      : settings(local::read_settings(
            file_of(std::string("[stream]\nname = \"survey\"\n[target]\ncolumn = \"y\"\n") + features +
                    "[local]\nepsilon = 8\ndelta = 1e-5\nx_l2_max = 1.0\n"
                    "record_key = \"user\"\n"),
            {})) {
    std::vector<std::int64_t> numbers(mechanism.report_size());
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = (i % 2 == 0 ? 7 : -40'000'000'000) + 1;
    good = format.encode({1, 2, 3, 0xff}, numbers);
  }

  local::Settings settings;
  inference::LocalMechanism mechanism = local::make_mechanism(settings);
  local::ReportFormat format{settings, mechanism};
  local::ReportReader reader{format};
  std::string good;
};

Collector& collector(bool of_two_features) {
  static Collector one("[[features]]\ncolumn = \"a\"\n");
  static Collector two("[[features]]\ncolumn = \"a\"\n[[features]]\ncolumn = \"b\"\n");
  return of_two_features ? two : one;
}

/// The good report with bytes changed, cut off and followed by others, as `input` says.
std::string damaged(std::string line, std::string_view input) {
  for (int changes = take_byte(input) % 8; changes > 0; --changes) {
    const std::size_t at = (take_byte(input) * std::size_t{256} + take_byte(input)) % line.size();
    line.replace(at, take_byte(input) % 4, take_part(input));
    if (line.empty()) break;
  }
  return line;
}

void target(std::string_view input) {
  const std::uint8_t choice = take_byte(input);
  Collector& all = collector((choice & 1U) != 0);
  const std::string line = (choice & 2U) != 0 ? std::string(input) : damaged(all.good, input);
  if (all.reader.read(line) == Reject::none) {
    require(line.size() <= all.format.line_bytes_max() + 2, "a report is no longer than any report");
    const std::span<const std::int64_t> numbers = all.reader.numbers();
    const std::size_t second_moments = all.mechanism.report_size() - all.mechanism.bounds().dimension;
    require(numbers.size() == all.mechanism.report_size(), "as many numbers as a report has");
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const std::int64_t limit =
          i < second_moments ? all.mechanism.second_moment_limit() : all.mechanism.cross_moment_limit();
      require(-limit <= numbers[i] && numbers[i] <= limit, "no number that no noise reaches");
    }
    const std::vector<std::int64_t> taken(numbers.begin(), numbers.end());
    const local::ReportId id = all.reader.id();
    require(all.reader.read(all.format.encode(id, taken)) == Reject::none,
            "what was taken is written and read again");
    require(all.reader.id() == id && std::equal(taken.begin(), taken.end(), all.reader.numbers().begin()),
            "as it was");
  }
  require(all.reader.read(all.good) == Reject::none, "no line spoils the next");
}

}  // namespace
}  // namespace nustream::fuzz

NUSTREAM_FUZZ_TARGET(report)
