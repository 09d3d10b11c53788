#include "publish/age_spend.h"

namespace nustream::publish {

void AgeSpend::append(StepCount steps, JsonWriter& json) {
  for (; next_age_ != 0 && next_age_ <= steps.value(); next_age_ *= 2) {
    JsonWriter::behind(told_).field(std::to_string(next_age_), spend_.of_age(StepCount{next_age_}).value());
  }
  const auto by_age = json.object("rho_by_age");
  json.raw_members(told_);
}

}  // namespace nustream::publish
