// Settings of a linear model over the bundled table of bike rentals.
#pragma once

#include <string>

namespace nustream::tests {

/// log(count) on temp, hum and windspeed, each in units of about its spread. Any other section may follow.
inline std::string bike_columns() {
  return R"([stream]
name = "bike"
input = ")" +
         std::string(NUSTREAM_TESTS_DIR) + R"(/golden/data/bike_hour.csv.gz"
[target]
column = "cnt"
transform = "log"
center = 4.5
[[features]]
column = "temp"
center = 0.5
scale = 0.19
[[features]]
column = "hum"
center = 0.63
scale = 0.19
[[features]]
column = "windspeed"
center = 0.19
scale = 0.12
)";
}

}  // namespace nustream::tests
