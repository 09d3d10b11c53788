#include "nustream/lane/lane.h"

namespace nustream::lane {

std::size_t row_entries(const Settings& settings) {
  if (settings.first_stage) return settings.first_stage->shape.row();
  return settings.dimension / model::predictors(settings.loss);
}

std::vector<Stage> stages(const Settings& settings) {
  const auto& first = settings.first_stage;
  std::vector<Stage> all{{settings.dimension, settings.clip, "descent"}};
  if (first) all.front() = {first->shape.second_stage(), settings.clip, "second stage"};
  if (first && first->clip) all.push_back({first->shape.first_stage(), *first->clip, "first stage"});
  if (settings.moments) {
    const std::size_t triangle = descent::triangle_size(row_entries(settings));
    all.push_back({triangle, settings.moments->bread, "second moments"});
    if (settings.moments->meat) all.push_back({triangle, *settings.moments->meat, "residual moments"});
  }
  if (settings.counts_clipped) all.push_back({1, ClipNorm{1}, "clipped gradients", true});
  return all;
}

}  // namespace nustream::lane
