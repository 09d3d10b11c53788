// The document of the status page: its head, its sections in their order, and the small texts that all sections
// share. Texts that come from settings are escaped.
#include "serve/status_page.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "chart/chart.h"
#include "publish/json_text.h"
#include "serve/page_parts.h"
#include "version.h"

namespace nustream::serve {
namespace page {

std::string shown(double value) {
  return std::isfinite(value) ? fmt::format("{:.5g}", value) : "–";
}

std::string count(std::uint64_t value) {
  std::string digits = std::to_string(value);
  // From the end to the front, so that the places of the later separators do not move.
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

std::string data(double value) {
  if (!std::isfinite(value)) return "–";
  std::string exact;
  publish::append_number(value, exact);
  // For example <data value="0.1234567">0.12346</data>: a reader sees five digits, and a program finds all of them.
  return fmt::format("<data value=\"{}\">{}</data>", exact, shown(value));
}

void append_fact(std::string_view term, std::string_view html, std::string& out) {
  fmt::format_to(std::back_inserter(out), "<div><dt>{}</dt><dd>{}</dd></div>", term, html);
}

}  // namespace page

const ShownLane* lane_of(const PageView& view) {
  const auto found = std::ranges::find_if(
      view.lanes, [&](const ShownLane* lane) { return lane->settings.header.lane == view.lane; });
  return found == view.lanes.end() ? nullptr : *found;
}

namespace {

/// Takes a whole number off the front of `path`; empty where there is none.
template <class Number>
std::optional<Number> take_number(std::string_view& path) {
  Number number = 0;
  const auto [end, error] = std::from_chars(path.data(), path.data() + path.size(), number);
  if (error != std::errc{}) return std::nullopt;
  path.remove_prefix(static_cast<std::size_t>(end - path.data()));
  return number;
}

/// Takes `begin` off the front of `path`; returns false and leaves it as it is where it does not begin so.
bool take(std::string_view& path, std::string_view begin) {
  if (!path.starts_with(begin)) return false;
  path.remove_prefix(begin.size());
  return true;
}

}  // namespace

std::optional<PagePlace> page_place(std::string_view path) {
  if (path == "/") return PagePlace{};
  if (!take(path, "/lanes/")) return std::nullopt;
  const auto lane = take_number<std::uint32_t>(path);
  if (!lane) return std::nullopt;
  if (path.empty()) return PagePlace{LaneId{*lane}, 0};
  if (!take(path, "/from/")) return std::nullopt;
  const auto first = take_number<std::size_t>(path);
  // Pages of coefficients begin at multiples only, so that each coefficient is on one page.
  if (!first || !path.empty() || *first % coefficients_of_a_page != 0) return std::nullopt;
  return PagePlace{LaneId{*lane}, *first};
}

std::string status_page(const PageView& view) {
  const std::string stream = chart::escaped(view.stream);
  // The empty icon keeps browsers from asking for one at another path. data-seen is the id of the event that tells of
  // this page: the page's script is told what is newer.
  std::string out = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width,initial-scale=1\"><meta name=\"color-scheme\" content=\"light dark\"><title>{} · "
      "nustream</title><link rel=\"icon\" href=\"data:,\"><link rel=\"stylesheet\" href=\"/assets/page.css\"><script "
      "src=\"/assets/page.js\" defer></script></head>\n<body><a class=\"skip\" href=\"#content\">To the "
      "content</a>\n<header><p class=\"product\">nustream{}</p><h1>{}</h1><p id=\"live\" "
      "role=\"status\"></p></header>"
      "\n<main id=\"content\" data-seen=\"{}\">\n",
      stream, view.operators != nullptr ? " · operator" : "", stream, view.seen);
  // What is estimated and how well comes before what it costs, and the settings come last. The operator's figures,
  // where there are any, stand right behind the summary, under their warning.
  const ShownLane* const lane = lane_of(view);
  page::append_summary(view, lane, out);
  if (view.operators != nullptr) page::append_operator(*view.operators, out);
  page::append_model(view, out);
  if (lane != nullptr) {
    page::append_coefficients(view, *lane, out);
    page::append_privacy(*lane, out);
  }
  page::append_lanes(view, out);
  if (lane != nullptr) page::append_settings(*lane, out);
  out += fmt::format(
      "</main>\n<footer><p>The same as data: <a href=\"/api/v1/state\">state</a>, <a "
      "href=\"/api/v1/history{}\">history</a>, <a href=\"/metrics\">metrics</a>. nustream "
      "{}</p></footer></body></html>"
      "\n",
      lane != nullptr && view.is_open ? fmt::format("/{}", view.lane.value()) : std::string(),
      chart::escaped(version));
  return out;
}

}  // namespace nustream::serve
