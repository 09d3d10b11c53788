// The lines of a path and the progress bar below them. What is printed is published already; the bar also shows how
// much of the input was read, on the operator's terminal alone.
#include "console/path_printer.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include <fmt/format.h>
#include <unistd.h>

namespace nustream::console {
namespace {

constexpr std::size_t shown_coordinates_max = 4;  // so that a line stays within 120 columns

/// How many coefficients a line shows: as many as a terminal's width has room for, and the most for a file or a pipe.
std::size_t shown_coordinates(std::FILE* lines) {
  if (::isatty(::fileno(lines)) != 1) return shown_coordinates_max;
  constexpr std::size_t beside = 13 + 11;  // columns of the count and of the spend
  const std::size_t columns = std::max<std::size_t>(style_of(lines).columns, beside + 16);
  return std::min(shown_coordinates_max, (columns - beside) / 16);
}

}  // namespace

std::string shown_number(double value) {
  const double size = std::abs(value);
  // Four decimals show at least one digit other than 0 from 0.001 on, and stay within their column up to a million.
  if (value == 0 || (size >= 1e-3 && size < 1e6)) return fmt::format("{:.4f}", value);
  return fmt::format("{:.4e}", value);
}

PathPrinter::PathPrinter(std::FILE* lines, Count count) : lines_(lines), counted_(count), bar_(lines != nullptr) {}

std::string PathPrinter::cells(const publish::NamedValues& values, bool names) const {
  std::string line;
  for (std::size_t j = 0; j < std::min(values.size(), shown_coordinates(lines_)); ++j) {
    const std::string& name = values[j].first;
    line += fmt::format(
        " {:>15}", names ? (name.size() > 15 ? name.substr(0, 14) + "~" : name) : shown_number(values[j].second));
  }
  return line;
}

void PathPrinter::published(std::string_view outbox) {
  while (!outbox.empty()) {
    const std::size_t end = std::min(outbox.find('\n'), outbox.size() - 1) + 1;
    last_line_ = outbox.substr(0, end);
    outbox.remove_prefix(end);
    ++count_;
    // The 1st, 2nd, 4th, 8th … release. The last one is shown by finish() where it is none of them.
    if (lines_ != nullptr && std::has_single_bit(count_)) {
      if (const auto release = publish::read_release(last_line_)) show(*release);
    }
  }
  // Only lines that are shown and the last line are parsed: an outbox may hold thousands of releases.
  if (!last_line_.empty()) last_ = publish::read_release(last_line_);
  if (last_ && bar_.is_on()) path_.add(*last_);
}

// For example:
//
//           records       intercept log(unit_price)  rho spent
//            32,000          2.3397         -0.7127    0.04381
//          averaged          2.2338         -0.6722
void PathPrinter::show(const publish::ShownRelease& release) {
  bar_.clear();
  // With the first line, since the names of the coefficients are those of a release.
  if (!header_shown_) {
    fmt::print(lines_, "{:>13}{}  {:>9}\n", counted_ == Count::steps ? "steps" : "records",
               cells(release.estimate, true), "rho spent");
    header_shown_ = true;
  }
  // Along a hidden direction an estimate is a guess, and must not look like the others.
  const std::string hidden = release.sums.floored > 0 ? fmt::format("  {} hidden", release.sums.floored) : "";
  fmt::print(lines_, "{:>13}{}  {:>9.5f}{}\n",
             with_separators(counted_ == Count::steps ? release.step : release.position),
             cells(release.estimate, false), release.rho, hidden);
  if (!release.average.empty()) fmt::print(lines_, "{:>13}{}\n", "averaged", cells(release.average, false));
  // A line is seen when its release is published, also where the output is a pipe.
  std::fflush(lines_);
  shown_step_ = release.step;
}

std::optional<double> InputProgress::share() const {
  const auto part = [](std::uint64_t done, std::uint64_t all) {
    return std::min(1.0, static_cast<double>(done) / static_cast<double>(all));
  };
  // Where both are known, records are the better measure: a window may end in the middle of a file.
  if (records_total && *records_total > 0) return part(records, *records_total);
  if (bytes_total && *bytes_total > 0) return part(bytes_read, *bytes_total);
  return std::nullopt;
}

void PathPrinter::progress(const InputProgress& input) {
  if (!bar_.is_due()) return;
  const std::optional<double> share = input.share();
  // seconds() is at least half a second here, since nothing is due before that.
  const double rate = static_cast<double>(input.records) / bar_.seconds();
  const std::string speed = rate < 1e4 ? fmt::format("{:.0f}/s", rate) : fmt::format("{:.2f} M/s", rate / 1e6);
  // For example "[============            ]  50%  1,000,000 records  1.25 M/s  ETA 1:05".
  const std::string line = fmt::format("{}{} records  {}{}", share ? bar_.bar(*share) : "",
                                       with_separators(input.records), speed, share ? bar_.eta(*share) : "");
  const chart::TextStyle style = TerminalBar::style();
  const std::size_t room = style.columns > line.size() + 1 ? style.columns - 1 - line.size() : 0;
  bar_.draw(line + path_.shown(room, style.unicode));
}

void PathPrinter::finish() {
  if (lines_ != nullptr && last_ && last_->step != shown_step_) show(*last_);
  bar_.clear();
}

}  // namespace nustream::console
