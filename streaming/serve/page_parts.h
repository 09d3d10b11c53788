// The sections of the status page, each appended to the document.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "chart/chart.h"
#include "publish/epsilons.h"
#include "serve/status_page.h"

namespace nustream::serve::page {

/// The value with five significant digits; "–" where it is not a number.
[[nodiscard]] std::string shown(double value);
/// The number with separators, such as "12,345".
[[nodiscard]] std::string count(std::uint64_t value);
/// <data value="EXACT">SHOWN</data>, where EXACT is the number that /api/v1/state has.
[[nodiscard]] std::string data(double value);

/// Appends <div><dt>TERM</dt><dd>HTML</dd></div>.
void append_fact(std::string_view term, std::string_view html, std::string& out);

/// The ε that some ρ comes to.
struct Converted {
  std::string_view what;  ///< in HTML, such as "spent in this epoch"
  std::vector<publish::Epsilons> epsilons;
};
/// Appends ε of each row at every δ, by every conversion, as a table that opens on a click.
void append_conversions(std::span<const Converted> rows, std::string& out);

/// Says what is estimated, how long it has run, and whether it goes on.
void append_summary(const PageView& view, const ShownLane* lane, std::string& out);
/// Says what a reader of all this can learn about one unit, in words, numbers and a picture.
void append_privacy(const ShownLane& lane, std::string& out);
/// Appends the table of all coefficients and the charts of some.
void append_coefficients(const PageView& view, const ShownLane& lane, std::string& out);
/// The path of the j-th coefficient with its interval, up to `release`.
[[nodiscard]] chart::Chart coefficient_chart(const History& history, const publish::ShownRelease& release,
                                             std::size_t j, const std::string& name);
/// Appends the mean of the lanes, where this process publishes it.
void append_model(const PageView& view, std::string& out);
void append_lanes(const PageView& view, std::string& out);
void append_settings(const ShownLane& lane, std::string& out);
/// Appends what depends on data.
void append_operator(const OperatorView& view, std::string& out);

/// The largest probability of guessing right in which of two equally likely worlds a ρ-zCDP mechanism was run:
/// Φ(√(2ρ)/2), by the exact curve of the Gaussian mechanism. It is 1/2 for ρ = 0.
[[nodiscard]] double right_guesses(double rho);
/// The share in words, rounded up, such as "56.4 times in 100".
[[nodiscard]] std::string times_in_hundred(double share);

}  // namespace nustream::serve::page
