#include "worker/plan/layer_choices.h"

#include <algorithm>
#include <tuple>

#include "worker/plan/recompute_cost.h"

namespace agoq {
namespace {

constexpr int kLeastBitsOfQueriesAndKeys = 8;
constexpr int kLeastBitsOfOutput = 5;
constexpr int kLeastBitsOfRecomputeSource = 8;

std::int64_t Elements(const MemoryModelInput& input, Site site) {
  const ModelShape& model = input.model;
  const std::int64_t tokens = input.micro_batch_size * input.sequence_length;
  switch (site) {
    case Site::kX1:
    case Site::kX2:
      return tokens * model.hidden_size;
    case Site::kQ:
    case Site::kO:
      return tokens * model.query_size();
    case Site::kK:
    case Site::kV:
      return tokens * model.kv_size();
    case Site::kGate:
    case Site::kUp:
      return tokens * model.ffn_size;
  }
  return 0;
}

int LeastBits(Site site) {
  if (site == Site::kQ || site == Site::kK) return kLeastBitsOfQueriesAndKeys;
  return site == Site::kO ? kLeastBitsOfOutput : 0;
}

bool IsSource(Site site) { return site == Site::kX1 || site == Site::kX2 || site == Site::kO; }

std::vector<SitePolicy> PoliciesOf(Site site, const ChoiceRules& rules) {
  std::vector<SitePolicy> policies = {{PolicyKind::kFull, {}}};
  for (const ErrorTable::Column& column : rules.errors.columns) {
    if (BitsOf(column.format) < LeastBits(site)) continue;
    policies.push_back({PolicyKind::kPacked, {column.format, kActivationBlock}});
  }
  if (rules.allows_recompute && !IsSource(site)) policies.push_back({PolicyKind::kRecompute, {}});
  return policies;
}

bool IsExactEnoughSource(const SitePolicy& policy) {
  return policy.kind == PolicyKind::kFull ||
         BitsOf(policy.spec.format) >= kLeastBitsOfRecomputeSource;
}

bool IsValid(const LayerPlan& plan) {
  if (IsExactEnoughSource(plan.at(Site::kX1))) return true;
  return std::none_of(kAllSites.begin(), kAllSites.end(), [&](Site site) {
    const bool is_of_attention = site == Site::kQ || site == Site::kK || site == Site::kV;
    return is_of_attention && plan.at(site).kind == PolicyKind::kRecompute;
  });
}

// Every combination of policies of `sites`, on top of each of `plans`.
std::vector<LayerPlan> Combine(std::vector<LayerPlan> plans, const ChoiceRules& rules,
                               std::initializer_list<Site> sites) {
  for (const Site site : sites) {
    std::vector<LayerPlan> next;
    for (const LayerPlan& plan : plans) {
      for (const SitePolicy& policy : PoliciesOf(site, rules)) {
        next.push_back(plan);
        next.back().at(site) = policy;
      }
    }
    plans = std::move(next);
  }
  std::erase_if(plans, [](const LayerPlan& plan) { return !IsValid(plan); });
  return plans;
}

// Keeps what no other choice beats in both bytes and cost.
std::vector<LayerChoice> Front(std::vector<LayerChoice> choices) {
  std::sort(choices.begin(), choices.end(), [](const LayerChoice& a, const LayerChoice& b) {
    return std::tuple(a.bytes, a.cost) < std::tuple(b.bytes, b.cost);
  });
  std::vector<LayerChoice> front;
  for (LayerChoice& choice : choices) {
    if (front.empty() || choice.cost < front.back().cost) front.push_back(std::move(choice));
  }
  return front;
}

}  // namespace

std::int64_t SavedBytes(const MemoryModelInput& input, const LayerPlan& plan, Site site) {
  const SitePolicy& policy = plan.at(site);
  if (policy.kind == PolicyKind::kRecompute) return 0;
  const std::int64_t elements = Elements(input, site);
  std::int64_t bytes = policy.kind == PolicyKind::kPacked ? PackedBytes(policy.spec, elements)
                                                          : elements * BytesOf(input.compute);
  if (site == Site::kO) {  // with its log-sum-exp
    const std::int64_t width = input.compute == ComputeType::kFloat64 ? 8 : 4;
    bytes += input.micro_batch_size * input.sequence_length * input.model.num_heads * width;
  }
  return bytes;
}

std::int64_t SavedBytes(const MemoryModelInput& input, const LayerPlan& plan) {
  std::int64_t bytes = 0;
  for (const Site site : kAllSites) bytes += SavedBytes(input, plan, site);
  return bytes;
}

std::vector<LayerChoice> ListLayerChoices(const MemoryModelInput& input, const ChoiceRules& rules,
                                          std::int64_t layer) {
  const auto judge = [&](const LayerPlan& plan) {
    return LayerChoice{.plan = plan,
                       .bytes = SavedBytes(input, plan),
                       .cost = SquaredError(rules.errors, plan, layer, input.model.num_layers) +
                               rules.recompute_weight *
                                   RecomputeSlowdown(input.model, input.sequence_length, plan)};
  };
  // Attention and MLP share no rule: each has a front of its own, and their sums have one.
  const auto front_of = [&](std::initializer_list<Site> sites) {
    std::vector<LayerChoice> choices;
    for (const LayerPlan& plan : Combine({LayerPlan()}, rules, sites)) {
      choices.push_back(judge(plan));
    }
    return Front(std::move(choices));
  };
  const auto attention = front_of({Site::kX1, Site::kQ, Site::kK, Site::kV, Site::kO});
  const auto mlp = front_of({Site::kX2, Site::kGate, Site::kUp});
  std::vector<LayerChoice> choices;
  if (rules.allows_recompute) choices.push_back(judge(RecomputeLayer()));
  for (const LayerChoice& left : attention) {
    for (const LayerChoice& right : mlp) {
      LayerPlan plan = left.plan;
      for (const Site site : {Site::kX2, Site::kGate, Site::kUp})
        plan.at(site) = right.plan.at(site);
      choices.push_back(judge(plan));
    }
  }
  return Front(std::move(choices));
}

}  // namespace agoq
