#include "publish/age_spend.h"

#include "publish/json_text.h"

namespace nustream::publish {

void AgeSpend::append(StepCount steps, std::string& out) {
  for (; next_age_ != 0 && next_age_ <= steps.value(); next_age_ *= 2) {
    told_ += told_.empty() ? "\"" : ",\"";
    append_number(next_age_, told_);
    told_ += "\":";
    append_number(spend_.of_age(StepCount{next_age_}).value(), told_);
  }
  out += ",\"rho_by_age\":{";
  out += told_;
  out += '}';
}

}  // namespace nustream::publish
