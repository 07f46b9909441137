// All plans of a model that no other beats in both saved bytes and cost: a knapsack over layers.
// Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "worker/plan/layer_choices.h"

namespace agoq {

class PlanFront {
 public:
  // Exact as long as no more than `most_points` plans are worth keeping; beyond that bytes are
  // rounded up to a grid of that many steps.
  PlanFront(const MemoryModelInput& input, const ChoiceRules& rules,
            std::size_t most_points = 4096);

  std::size_t size() const { return steps_.back().size(); }
  // Fewest bytes first, cost falling strictly.
  std::int64_t bytes(std::size_t index) const { return steps_.back()[index].bytes; }
  double cost(std::size_t index) const { return steps_.back()[index].cost; }
  std::vector<LayerPlan> Layers(std::size_t index) const;

 private:
  // The best of the layers so far, for some number of bytes.
  struct Point {
    std::int64_t bytes = 0;
    double cost = 0;
    std::uint32_t before = 0;  // index in the step before
    std::uint32_t choice = 0;  // of this layer
  };

  std::vector<Point> AddLayer(const std::vector<Point>& before,
                              const std::vector<LayerChoice>& choices) const;

  const std::size_t most_points_;
  std::vector<std::vector<LayerChoice>> choices_;  // of the first layer, and of any other
  std::vector<std::vector<Point>> steps_;          // by layer
};

}  // namespace agoq
