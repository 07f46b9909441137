#include "worker/plan/recompute_cost.h"

namespace agoq {
namespace {

// Multiplications and additions of a token's forward pass, in pairs.
struct LayerProducts {
  double q = 0, k = 0, v = 0, attention = 0, o = 0, gate = 0, up = 0, down = 0;

  LayerProducts(const ModelShape& model, std::int64_t sequence_length) {
    const auto hidden = static_cast<double>(model.hidden_size);
    const auto query = static_cast<double>(model.query_size());
    q = o = hidden * query;
    k = v = hidden * static_cast<double>(model.kv_size());
    // Scores and values, of the half that the causal mask leaves.
    attention = query * static_cast<double>(sequence_length);
    gate = up = down = hidden * static_cast<double>(model.ffn_size);
  }
  double total() const { return q + k + v + attention + o + gate + up + down; }
};

// Backward has two products for each of forward.
constexpr double kStepOverForward = 3;

}  // namespace

double RecomputeSlowdown(const ModelShape& model, std::int64_t sequence_length,
                         const LayerPlan& plan) {
  const LayerProducts products(model, sequence_length);
  const auto is_recomputed = [&](Site site) {
    return plan.at(site).kind == PolicyKind::kRecompute;
  };
  double again = 0;
  if (is_recomputed(Site::kQ)) again += products.q;
  if (is_recomputed(Site::kK)) again += products.k;
  if (is_recomputed(Site::kV)) again += products.v;
  if (is_recomputed(Site::kO)) again += products.attention + products.o;
  if (is_recomputed(Site::kGate)) again += products.gate;
  if (is_recomputed(Site::kUp)) again += products.up;
  const double head =
      static_cast<double>(model.hidden_size) * static_cast<double>(model.vocab_size);
  const double forward = static_cast<double>(model.num_layers) * products.total() + head;
  return again / (kStepOverForward * forward);
}

}  // namespace agoq
