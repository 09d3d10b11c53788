// A client of the tests' own: librdkafka alone and nothing of the product, so that neither can hide the other's
// mistakes.
#pragma once

#include <librdkafka/rdkafka.h>

#include <map>
#include <stdexcept>
#include <string>

namespace nustream::tests {

class TestClient {
 public:
  /// `adjust` sets what is not a property, such as callbacks.
  TestClient(rd_kafka_type_t type, const std::map<std::string, std::string>& properties,
             void (*adjust)(rd_kafka_conf_t*) = nullptr) {
    char text[512] = {};
    rd_kafka_conf_t* configuration = rd_kafka_conf_new();
    rd_kafka_conf_set(configuration, "log_level", "2", text, sizeof text);
    for (const auto& [name, value] : properties) {
      if (rd_kafka_conf_set(configuration, name.c_str(), value.c_str(), text, sizeof text) != RD_KAFKA_CONF_OK) {
        throw std::runtime_error(text);
      }
    }
    if (adjust != nullptr) adjust(configuration);
    client_ = rd_kafka_new(type, configuration, text, sizeof text);
    if (client_ == nullptr) throw std::runtime_error(text);
  }
  ~TestClient() { rd_kafka_destroy_flags(client_, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE); }
  TestClient(const TestClient&) = delete;
  TestClient& operator=(const TestClient&) = delete;

  [[nodiscard]] rd_kafka_t* get() const noexcept { return client_; }

 private:
  rd_kafka_t* client_;
};

}  // namespace nustream::tests
