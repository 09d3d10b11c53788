#include "publish/estimand.h"

#include "publish/promise.h"

namespace nustream::publish {

std::string estimand_words(const users::Limits& limits) {
  return "the model of the contributions that the limits of a user let in (" + words_of(limits) +
         within_words(limits) + ")";
}

}  // namespace nustream::publish
