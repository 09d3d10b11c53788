// A real Prometheus with the rules and jobs of docker/ scrapes a running service. Every query of the dashboards gets
// data, and so does everything that a rule looks at. Skipped, with a message, where Prometheus is not installed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>
#include <sys/stat.h>

#include <chrono>
#include <cmath>
#include <regex>
#include <set>

#include "attach_promise.h"
#include "free_port.h"
#include "measured_time.h"

namespace nustream::tests {
namespace {

namespace fs = std::filesystem;

constexpr const char* prometheus = "/usr/bin/prometheus";
const fs::path docker = fs::path(NUSTREAM_ROOT_DIR) / "docker";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  for (; at != std::string::npos; at = text.find(from, at + to.size())) text.replace(at, from.size(), to);
  return text;
}

/// The series from which a variable's list is made: that of label_values(SERIES, label).
std::string series_of(const std::string& variable) {
  const std::size_t begin = variable.find('(') + 1;
  return variable.substr(begin, variable.rfind(',') - begin);
}

/// Every query of a dashboard: those of its variables, and every "expr" of its panels.
std::vector<std::string> queries_of(const fs::path& dashboard) {
  simdjson::dom::parser parser;
  const simdjson::dom::element root = parser.load(dashboard.string());
  std::vector<std::string> queries;
  for (const simdjson::dom::element variable : root["templating"]["list"]) {
    if (variable["type"].get_string().value() != "query") continue;
    queries.push_back(series_of(std::string(variable["query"].get_string().value())));
  }
  for (const simdjson::dom::element panel : root["panels"]) {
    if (panel["type"].get_string().value() == "row") continue;
    for (const simdjson::dom::element target : panel["targets"]) {
      queries.emplace_back(target["expr"].get_string().value());
    }
  }
  return queries;
}

/// A query as Grafana sends it when the stream, its first lane and all coefficients are chosen.
std::string chosen(std::string query, const std::string& stream) {
  const std::vector<std::pair<std::string, std::string>> choice{
      {"$stream", stream}, {"$lane", "0"}, {"$feature", ".*"}};
  for (const auto& [variable, value] : choice) {
    if (query.find(variable) != std::string::npos) query = replaced(query, variable, value);
  }
  return query;
}

/// The series that a rule looks at, without its comparison: an alert that is quiet has no data of its own.
std::set<std::string> selectors_of(const std::string& query) {
  static const std::regex selector(R"re(\b(?:(?:nustream|process)_[a-z_]+|up)\b(?:\{[^}]*\})?)re");
  std::set<std::string> found;
  for (std::sregex_iterator next(query.begin(), query.end(), selector), end; next != end; ++next) {
    found.insert(next->str());
  }
  return found;
}

class Scraped : public ::testing::Test {
 protected:
  /// A stream with intervals, a combined model, and a budget that will stop the lanes but is a million steps away:
  /// with so small a nu, the spend grows as the logarithm of the steps.
  Scraped() {
    create_topic(AttachWorld::direct(), world_.name() + ".model", 1, {{"cleanup.policy", "compact"}});
    world_.change_config(
        {{"nu = 0.01", "nu = 1e-8"},
         {"rho = 0.5", "rho = 0.5\nbudget = 0.49"},
         {"[release]", "[intervals]\nkind = \"batch-means\"\n[release]"},
         {"[serve]", "model_topic = \"" + world_.name() + ".model\"\nmodel_seconds = 0.5\n[serve]"}});
  }
  void SetUp() override {
    if (::access(prometheus, X_OK) != 0) GTEST_SKIP() << prometheus << " is not installed (package prometheus)";
    const std::string at_public = loopback(free_port());
    const std::string at_operator = loopback(free_port());
    const TemporaryFolder& folder = world_.folder();
    const std::string token = folder.write("token", "dG9rZW4tb2YtdGhlLXRlc3Q=");
    ::chmod(token.c_str(), 0600);
    service_ = std::make_unique<Command>(
        NUSTREAM_COMMAND,
        world_.attach({"--set", "serve.public_address=\"" + at_public + "\"", "--set",
                       "serve.operator_address=\"" + at_operator + "\"", "--set",
                       "serve.operator_token_file=\"" + token + "\"", "--set", "state.commit_seconds=0.2"}));
    std::string config = read_file(docker / "prometheus" / "prometheus.yml");
    config = replaced(config, "nustream:9464", at_public);
    config = replaced(config, "nustream:9465", at_operator);
    config = replaced(config, "/run/secrets/operator_token", token);
    if (!scrapes_as_shipped()) config = replaced(config, "5s", "1s");
    for (const char* rules : {"public_rules.yml", "operator_rules.yml"}) {
      folder.write(rules, read_file(docker / "prometheus" / rules));
    }
    prometheus_ = std::make_unique<Command>(
        prometheus, std::vector<std::string>{"--config.file=" + folder.write("prometheus.yml", config),
                                             "--storage.tsdb.path=" + (folder.path() / "series").string(),
                                             "--web.listen-address=" + address_, "--log.level=warn"});
  }

  /// Whether it scrapes as often as shipped. Otherwise it scrapes every second, for a shorter test.
  [[nodiscard]] virtual bool scrapes_as_shipped() const { return false; }

  /// An answer of Prometheus' own interface; an error where there is none.
  simdjson::simdjson_result<simdjson::dom::element> ask(const std::string& path, const std::string& query = {}) {
    std::vector<std::string> arguments{"--silent", "--max-time", "20", "--noproxy", "*", "--get"};
    if (!query.empty()) arguments.insert(arguments.end(), {"--data-urlencode", "query=" + query});
    arguments.push_back("http://" + address_ + "/api/v1/" + path);
    return parser_.parse(run_command("/usr/bin/curl", arguments).out)["data"];
  }
  /// The values of an instant query.
  std::vector<double> values_of_query(const std::string& query) {
    simdjson::dom::array result;
    if (ask("query", query)["result"].get_array().get(result) != simdjson::SUCCESS) return {};
    std::vector<double> values;
    for (const simdjson::dom::element series : result) {
      values.push_back(std::stod(std::string(series["value"].at(1).get_string().value())));
    }
    return values;
  }
  void expect_data(const std::string& query) {
    const std::vector<double> values = values_of_query(query);
    EXPECT_FALSE(values.empty()) << query;
    for (const double value : values) EXPECT_FALSE(std::isnan(value)) << query;
  }
  /// Writes records for some scrapes, unusable ones among them.
  void run_for_some_scrapes() {
    const std::vector<std::string> values = AttachWorld::values(600);
    wait_until([&] {
      for (int p = 0; p < world_.partitions(); ++p) world_.write(values, p);
      const std::vector<double> scrapes = values_of_query(
          "min(count_over_time(nustream_releases_total[1m])) and "
          "min(count_over_time(nustream_records_total[1m])) and min(count_over_time(nustream_model_lanes[1m]))");
      return !scrapes.empty() && scrapes.front() >= 8;
    });
  }

  AttachWorld world_{2};
  std::unique_ptr<Command> service_;
  std::unique_ptr<Command> prometheus_;
  const std::string address_ = loopback(free_port());
  simdjson::dom::parser parser_;
};

TEST_F(Scraped, EveryQueryOfDashboardsAndRulesHasData) {
  run_for_some_scrapes();
  std::size_t queries = 0;
  for (const char* dashboard : {"public.json", "operator.json"}) {
    for (const std::string& query : queries_of(docker / "grafana" / "dashboards" / dashboard)) {
      expect_data(chosen(query, world_.name()));
      ++queries;
    }
  }
  EXPECT_GE(queries, 50U);
  std::size_t rules = 0;
  std::set<std::string> selectors;
  for (const simdjson::dom::element group : ask("rules")["groups"]) {
    for (const simdjson::dom::element rule : group["rules"]) {
      EXPECT_EQ(rule["health"].get_string().value(), "ok") << rule["query"];
      selectors.merge(selectors_of(std::string(rule["query"].get_string().value())));
      ++rules;
    }
  }
  EXPECT_EQ(rules, 15U);
  EXPECT_GE(selectors.size(), 16U);
  for (const std::string& selector : selectors) expect_data(selector);
  EXPECT_TRUE(values_of_query("ALERTS{alertstate=\"firing\"}").empty()) << "a service that is well alarms nobody";
  EXPECT_TRUE(values_of_query("nustream_of_nobody").empty()) << "the check could not fail";
  // There are two jobs, and nothing that depends on data is scraped from the public side.
  EXPECT_TRUE(
      values_of_query("{job=\"nustream-public\",__name__=~\"process_.*|nustream_(consumer|records|batch|commit|"
                      "transactions|lane_state).*\"}")
          .empty());
  service_->signal(SIGTERM);
  const CommandResult result = service_->wait();
  EXPECT_EQ(result.code, 0) << result.err;
}

/// A broker that may be killed.
class OwnBroker {
 protected:
  OwnBroker() { AttachWorld::use(cluster_); }
  ~OwnBroker() { AttachWorld::use(shared_broker()); }
  KafkaCluster cluster_;
};

class ScrapedAsShipped : private OwnBroker, public Scraped {
 protected:
  [[nodiscard]] bool scrapes_as_shipped() const override { return true; }
  void kill_the_broker() { cluster_.kill(); }
};

// Somebody has to be called within a minute and a half. The lanes' series leave with the lanes, so that an alert of
// the process itself has to fire.
TEST_F(ScrapedAsShipped, AKilledBrokerIsAnAlert) {
  world_.write(AttachWorld::values(600));
  wait_until([&] { return values_of_query("nustream_ready") == std::vector<double>{1}; });
  EXPECT_TRUE(values_of_query("ALERTS{alertstate=\"firing\"}").empty());
  const auto killed = std::chrono::steady_clock::now();
  kill_the_broker();
  const std::string alert = "ALERTS{alertname=\"NustreamNotReady\",alertstate=\"firing\"}";
  wait_until([&] { return values_of_query(alert) == std::vector<double>{1}; });
  const auto took = std::chrono::steady_clock::now() - killed;
  EXPECT_LT(took, std::chrono::seconds(90) + busy_allowance());
  RecordProperty("milliseconds_to_alert", static_cast<int>(took / std::chrono::milliseconds(1)));
  service_->signal(SIGTERM);
  static_cast<void>(service_->wait());
}

}  // namespace
}  // namespace nustream::tests
