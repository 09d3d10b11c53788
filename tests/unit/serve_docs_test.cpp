// docs/metrics.md names exactly the metrics that are registered, with their types, labels and surface.
#include <gtest/gtest.h>
#include <simdjson.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <utility>

#include "serve/operator_surface.h"
#include "serve/settings.h"
#include "serve_lanes.h"
#include "temporary_folder.h"

namespace nustream::serve {
namespace {

/// For each metric its type and the names of its labels, such as "histogram lane stream".
using Described = std::map<std::string, std::string>;

std::string described(const std::string& type, const std::set<std::string>& labels) {
  std::string text = type;
  for (const std::string& label : labels) text += ' ' + label;
  return text;
}

std::string documentation() {
  return tests::read_file(std::string(NUSTREAM_ROOT_DIR) + "/docs/metrics.md");
}

std::string section(const std::string& title) {
  const std::string text = documentation();
  const std::size_t begin = text.find("\n## " + title + "\n");
  EXPECT_NE(begin, std::string::npos) << title;
  return text.substr(begin, text.find("\n## ", begin + 1) - begin);
}

Described documented(const std::string& title) {
  static const std::regex row(R"(\n\| `([a-z_]+)` \| (counter|gauge|histogram) \| ([^|]+) \| ([^|]*)\|)");
  static const std::regex label("`([a-z]+)`");
  const std::string text = section(title);
  Described metrics;
  for (std::sregex_iterator at(text.begin(), text.end(), row), end; at != end; ++at) {
    const std::string name = (*at)[1];
    const std::string more = (*at)[4];
    std::set<std::string> labels;
    if (name != "nustream_build_info" && !name.starts_with("process_")) labels = {"lane", "stream"};
    for (std::sregex_iterator each(more.begin(), more.end(), label); each != end; ++each) labels.insert((*each)[1]);
    if (more.find("no `lane`") != more.npos) labels.erase("lane");
    EXPECT_FALSE(metrics.contains(name)) << name << " is there twice";
    metrics[name] = described((*at)[2], labels);
  }
  return metrics;
}

Described registered(const std::string& page) {
  const tests::MetricsPage metrics(page);
  Described out;
  for (const auto& [name, type] : metrics.type) out[name] = described(type, metrics.labels.at(name));
  return out;
}

/// Surfaces on which every series exists.
struct FullSurfaces {
  FullSurfaces() {
    PublicLane lane = tests::public_lane(0, 0, Rho{1}, StepCount{70});
    lane.header.public_key = std::string(64, 'a');
    shown.open_lane(std::move(lane));
    shown.update(tests::spend(0, 10, 0.1));
    shown.update(tests::release_with_interval(0, 10));
    shown.update(CommittedModel::published(R"({"parts":[{"lane":0}]})"));
    shown.open_lane(tests::public_lane(1));
    shown.update(tests::spend(1, 10, 0.1));
    shown.update(tests::release_of_sums(1, 10, 0));
    operators.open_lane(LaneId{0});
  }
  PublicSurface shown{"retail", [] { return 1.5; }};
  OperatorSurface operators{shown};
};

TEST(MetricsDocumentation, NamesExactlyThePublicMetrics) {
  const FullSurfaces surfaces;
  EXPECT_EQ(documented("Public metrics"), registered(surfaces.shown.metrics()));
}

TEST(MetricsDocumentation, NamesExactlyTheOperatorsMetrics) {
  const FullSurfaces surfaces;
  EXPECT_EQ(documented("Operator metrics"), registered(surfaces.operators.metrics()));
}

TEST(MetricsDocumentation, ExplainsEveryFieldOfTheState) {
  const FullSurfaces surfaces;
  const std::string text = section("/api/v1/state");
  simdjson::dom::parser parser;
  const simdjson::dom::element state = parser.parse(surfaces.operators.state());
  const auto expect_explained = [&](const simdjson::dom::object& object) {
    for (const auto field : object) {
      EXPECT_NE(text.find('`' + std::string(field.key) + '`'), text.npos) << field.key;
    }
  };
  expect_explained(state.get_object());
  std::size_t fields = 0;
  for (const simdjson::dom::element lane : state["lanes"].get_array()) {
    expect_explained(lane.get_object());
    fields = std::max(fields, lane.get_object().size());
  }
  EXPECT_GE(fields, 20U) << "a lane with most of them";
}

TEST(MetricsDocumentation, ExplainsEveryLabelValue) {
  const std::string text = section("Operator metrics");
  for (const RejectReason reason : reject_reasons)
    EXPECT_NE(text.find('`' + std::string(name(reason)) + '`'), text.npos);
  for (const TransactionOutcome outcome : transaction_outcomes) {
    EXPECT_NE(text.find('`' + std::string(name(outcome)) + '`'), text.npos) << name(outcome);
  }
  for (const LaneStatus state : lane_statuses) {
    const std::string row = "\n| `" + std::string(name(state)) + "` |";
    const std::size_t begin = text.find(row);
    ASSERT_NE(begin, text.npos) << name(state);
    const std::string line = text.substr(begin, text.find('\n', begin + 1) - begin);
    EXPECT_TRUE(line.ends_with(restored(state) ? "| yes |" : "| no |")) << line;
  }
}

TEST(MetricsDocumentation, SaysTheDefaults) {
  const Settings defaults;
  const std::string text = documentation();
  EXPECT_NE(text.find("`public_address`, `" + defaults.public_address + "`"), text.npos);
  EXPECT_NE(text.find("`operator_address`, `" + defaults.operator_address + "`"), text.npos);
}

// Every name of a metric that a page or a dashboard of this project may use looks like one of these.
TEST(MetricsDocumentation, MentionsNoUnknownMetric) {
  Described known = documented("Public metrics");
  known.merge(documented("Operator metrics"));
  static const std::regex mention("`((?:nustream|process)_[a-z_]+)`");
  const std::string text = documentation();
  for (std::sregex_iterator at(text.begin(), text.end(), mention), end; at != end; ++at) {
    EXPECT_TRUE(known.contains((*at)[1])) << (*at)[1];
  }
}

}  // namespace
}  // namespace nustream::serve
