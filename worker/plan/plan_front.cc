#include "worker/plan/plan_front.h"

#include <algorithm>
#include <tuple>

namespace agoq {

PlanFront::PlanFront(const MemoryModelInput& input, const ChoiceRules& rules,
                     std::size_t most_points)
    : most_points_(most_points) {
  // Layers behind the first are alike.
  choices_.push_back(ListLayerChoices(input, rules, 0));
  if (input.model.num_layers > 1) choices_.push_back(ListLayerChoices(input, rules, 1));
  std::vector<Point> points = {{}};
  for (std::int64_t layer = 0; layer < input.model.num_layers; ++layer) {
    points = AddLayer(points, layer == 0 ? choices_.front() : choices_.back());
    steps_.push_back(points);
  }
}

std::vector<PlanFront::Point> PlanFront::AddLayer(const std::vector<Point>& before,
                                                  const std::vector<LayerChoice>& choices) const {
  std::vector<Point> sums;
  sums.reserve(before.size() * choices.size());
  for (std::uint32_t i = 0; i < before.size(); ++i) {
    for (std::uint32_t k = 0; k < choices.size(); ++k) {
      sums.push_back({before[i].bytes + choices[k].bytes, before[i].cost + choices[k].cost, i, k});
    }
  }
  std::sort(sums.begin(), sums.end(), [](const Point& a, const Point& b) {
    return std::tuple(a.bytes, a.cost) < std::tuple(b.bytes, b.cost);
  });
  std::vector<Point> front;
  for (const Point& point : sums) {
    if (front.empty() || point.cost < front.back().cost) front.push_back(point);
  }
  if (front.size() <= most_points_) return front;
  // Of the points of one step of the grid the cheapest stays: it is the last.
  const std::int64_t least = front.front().bytes;
  const std::int64_t grid =
      (front.back().bytes - least) / static_cast<std::int64_t>(most_points_) + 1;
  std::vector<Point> thinned;
  for (std::size_t i = 0; i < front.size(); ++i) {
    const bool is_last_of_step = i + 1 == front.size() || (front[i + 1].bytes - least) / grid !=
                                                              (front[i].bytes - least) / grid;
    if (is_last_of_step || i == 0) thinned.push_back(front[i]);
  }
  return thinned;
}

std::vector<LayerPlan> PlanFront::Layers(std::size_t index) const {
  std::vector<LayerPlan> layers(steps_.size());
  for (std::size_t layer = steps_.size(); layer-- > 0;) {
    const Point& point = steps_[layer][index];
    layers[layer] = (layer == 0 ? choices_.front() : choices_.back())[point.choice].plan;
    index = point.before;
  }
  return layers;
}

}  // namespace agoq
