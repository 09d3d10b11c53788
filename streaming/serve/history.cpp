// Thins published releases for charts. Lines are looked at for their step first and parsed only if they are kept,
// since the past of a restored lane may have any number of lines.
#include "serve/history.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "nustream/base/error.h"
#include "publish/json_writer.h"

namespace nustream::serve {
namespace {

// 512 points with 16 coefficients each are 32,768 numbers: a point has an estimate, an average and two ends of an
// interval.
constexpr std::size_t most_points = 512;
constexpr std::size_t least_points = 16;
constexpr std::size_t most_numbers = 32'768;

struct Line {
  std::uint64_t step;
  std::string_view text;
};

/// The number behind the first key "step". A release's step stands before every object whose keys are features, and
/// quotation marks within a string are escaped, so that no name can pass for it.
std::optional<std::uint64_t> step_of(std::string_view line) {
  constexpr std::string_view key = "\"step\":";
  const std::size_t at = line.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  std::uint64_t step = 0;
  const char* const begin = line.data() + at + key.size();
  const auto [end, error] = std::from_chars(begin, line.data() + line.size(), step);
  if (error != std::errc{} || end == begin) return std::nullopt;
  return step;
}

/// The lines that have a step, by rising step.
std::vector<Line> lines_of(std::string_view text) {
  std::vector<Line> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    const std::string_view line = text.substr(0, end);
    if (const auto step = step_of(line)) lines.push_back({*step, line});
    text.remove_prefix(end);
  }
  std::ranges::sort(lines, {}, &Line::step);
  return lines;
}

/// The span that a step falls into. Steps count from 1 and a span ends with a multiple of its width: with width 100,
/// the steps 1 to 100 are span 0.
std::uint64_t span_of(std::uint64_t step, std::uint64_t width) {
  return (std::max<std::uint64_t>(step, 1) - 1) / width;
}

/// How many spans hold at least one of the lines, which are sorted by step.
std::size_t spans_of(const std::vector<Line>& lines, std::uint64_t width) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    count += i == 0 || span_of(lines[i].step, width) != span_of(lines[i - 1].step, width) ? 1U : 0U;
  }
  return count;
}

std::vector<double> values_of(const publish::NamedValues& named) {
  std::vector<double> values;
  for (const auto& [name, value] : named) values.push_back(value);
  return values;
}

/// The largest power of two for which the points stay within the bound on numbers.
std::size_t points_for(std::size_t features) {
  std::size_t points = most_points;
  while (points > least_points && points * features * 4 > most_numbers) points /= 2;
  return points;
}

/// A finite number with six digits, which is more than a picture shows.
class ShortNumber {
 public:
  explicit ShortNumber(double value)
      : size_(std::to_chars(text_, text_ + sizeof text_, value, std::chars_format::general, 6).ptr - text_) {}

  [[nodiscard]] std::string_view text() const { return {text_, static_cast<std::size_t>(size_)}; }

 private:
  char text_[32]{};
  std::ptrdiff_t size_;
};

/// Writes a number with a chart's precision, or null.
void append_short(publish::MemberName name, double value, publish::JsonWriter& json) {
  if (!std::isfinite(value)) return json.field(name, nullptr);
  json.raw(name, ShortNumber(value).text());
}

void append_array(publish::MemberName name, const std::vector<double>& values, publish::JsonWriter& json) {
  if (values.empty()) return json.field(name, nullptr);
  const auto array = json.array(name);
  for (const double value : values) {
    if (std::isfinite(value)) {
      json.raw(ShortNumber(value).text());
    } else {
      json.element(nullptr);
    }
  }
}

}  // namespace

History::History(StepCount cadence) : width_(std::max<std::uint64_t>(cadence.value(), 1)), points_max_(most_points) {}

void History::add(std::string_view text) {
  const std::vector<Line> lines = lines_of(text);
  if (lines.empty()) return;
  // The width is chosen before anything is parsed, so that at most one line of each span is.
  while (spans_of(lines, width_) > points_max_) widen();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    // Of the lines in one span only the last can be kept, so that only that is parsed.
    const bool last = i + 1 == lines.size() || span_of(lines[i].step, width_) != span_of(lines[i + 1].step, width_);
    if (!last) continue;
    const auto kept = points_.find(span_of(lines[i].step, width_));
    // The last release of a span counts, also where lines come late or a second time.
    if (kept != points_.end() && kept->second.step >= lines[i].step) continue;
    if (const auto release = publish::read_release(lines[i].text)) keep(*release);
  }
  while (points_.size() > points_max_) widen();
}

void History::add(const publish::ShownRelease& release) {
  keep(release);
  while (points_.size() > points_max_) widen();
}

// The first release that has an estimate decides which features there are, and so how many points there is room for.
void History::name_features(const publish::ShownRelease& first) {
  for (const auto& [name, value] : first.estimate) features_.push_back(name);
  points_max_ = points_for(features_.size());
}

void History::keep(const publish::ShownRelease& release) {
  const bool is_hidden = release.estimate.empty();
  if (features_.empty() && !is_hidden) name_features(release);
  // A release of other settings cannot be drawn on the same lines.
  if (!is_hidden && release.estimate.size() != features_.size()) return;
  HistoryPoint point{.step = release.step,
                     .rho = release.rho,
                     .epsilon = release.epsilon,
                     .estimate = values_of(release.estimate),
                     .average = values_of(release.average)};
  for (const auto& [lower, upper] : release.interval.bounds) {
    point.lower.push_back(lower);
    point.upper.push_back(upper);
  }
  points_.insert_or_assign(span_of(point.step, width_), std::move(point));
}

void History::widen() {
  NUSTREAM_REQUIRE(width_ <= UINT64_MAX / 2, "a span of steps is a number");
  width_ *= 2;
  std::map<std::uint64_t, HistoryPoint> wider;
  // In the order of steps, so that of two points that now share a span the later one stays.
  for (auto& [span, point] : points_) wider.insert_or_assign(span_of(point.step, width_), std::move(point));
  points_ = std::move(wider);
}

void append_point(const HistoryPoint& point, publish::JsonWriter& json) {
  const auto object = json.object();
  json.field("step", point.step);
  append_short("rho", point.rho, json);
  append_short("epsilon", point.epsilon, json);
  append_array("estimate", point.estimate, json);
  append_array("average", point.average, json);
  append_array("lower", point.lower, json);
  append_array("upper", point.upper, json);
}

}  // namespace nustream::serve
