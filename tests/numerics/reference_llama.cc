#include "tests/numerics/reference_llama.h"

#include <cmath>

#include "kernels/ops/dequantize.h"
#include "kernels/ops/quantize.h"

namespace agoq {
namespace {

using torch::Tensor;

// Has the value of `copy` and passes gradients on to `x`.
Tensor At(const Tensor& x, const Tensor& copy) { return x + (copy - x).detach(); }

// The value of `exact` with the derivative of `at_copies`.
Tensor Exactly(const Tensor& exact, const Tensor& at_copies) {
  return at_copies + (exact - at_copies).detach();
}

Tensor StoredCopy(const Tensor& x, const SitePolicy& policy) {
  const Tensor value = x.detach().contiguous();
  if (policy.kind != PolicyKind::kPacked) return value;
  return ops::Dequantize(ops::Quantize(value, policy.spec, 0, nullptr), at::kDouble);
}

Tensor Norm(const Tensor& x, const Tensor& weight, double epsilon) {
  return x * torch::rsqrt(x.pow(2).mean(-1, /*keepdim=*/true) + epsilon) * weight;
}

// Hugging Face's layout: the halves of a head are the two coordinates.
Tensor Rotate(const Tensor& x_TE, const Tensor& positions_T, std::int64_t head_size, double theta) {
  const std::int64_t half = head_size / 2;
  const Tensor frequency =
      torch::pow(theta, -torch::arange(half, torch::kDouble) * 2.0 / head_size);
  const Tensor angle = positions_T.to(torch::kDouble).unsqueeze(1) * frequency;
  const Tensor cos = torch::cat({angle, angle}, 1).cos().unsqueeze(1);
  const Tensor sin = torch::cat({angle, angle}, 1).sin().unsqueeze(1);
  const Tensor x = x_TE.view({x_TE.size(0), -1, head_size});
  const Tensor turned = torch::cat({-x.slice(2, half), x.slice(2, 0, half)}, 2);
  return (x * cos + turned * sin).reshape(x_TE.sizes());
}

struct Dims {
  std::int64_t batch, sequence, heads, kv_heads, head_size;

  Tensor ByHead(const Tensor& x_TE) const {
    return x_TE.reshape({batch, sequence, -1, head_size}).transpose(1, 2);
  }
  Tensor Expanded(const Tensor& x_TE) const {
    return ByHead(x_TE).repeat_interleave(heads / kv_heads, 1);
  }
  Tensor ByToken(const Tensor& x_BHSd) const {
    return x_BHSd.transpose(1, 2).reshape({batch * sequence, -1});
  }
  Tensor Mask() const {
    return torch::full({sequence, sequence}, -INFINITY, torch::kDouble).triu(1);
  }
  double scale() const { return 1.0 / std::sqrt(static_cast<double>(head_size)); }
};

// Attention whose derivative is taken by the formula at given copies: P = exp(q k^T s - lse), dS =
// P (dP - rowsum(dO o)).
struct Attention : torch::autograd::Function<Attention> {
  static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& q, const Tensor& k,
                        const Tensor& v, const Tensor& lse, const std::vector<Tensor>& copies,
                        const Tensor& exact_o, Dims dims) {
    static_cast<void>(q), static_cast<void>(k), static_cast<void>(v);
    context->saved_data["lse"] = lse;
    context->saved_data["copies"] = copies;
    context->saved_data["dims"] = std::vector<std::int64_t>{dims.batch, dims.sequence, dims.heads,
                                                            dims.kv_heads, dims.head_size};
    return exact_o.clone();
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list grads) {
    const auto d = context->saved_data["dims"].toIntVector();
    const Dims dims = {d[0], d[1], d[2], d[3], d[4]};
    const std::vector<Tensor> copies = context->saved_data["copies"].toTensorVector();
    const Tensor q = dims.ByHead(copies[0]);
    const Tensor k = dims.Expanded(copies[1]);
    const Tensor v = dims.Expanded(copies[2]);
    const Tensor grad_o = dims.ByHead(grads[0]);
    const Tensor lse = context->saved_data["lse"].toTensor().unsqueeze(-1);
    const Tensor p = (torch::matmul(q, k.transpose(2, 3)) * dims.scale() + dims.Mask() - lse).exp();
    const Tensor row = (grad_o * dims.ByHead(copies[3])).sum(-1, /*keepdim=*/true);
    const Tensor grad_s = p * (torch::matmul(grad_o, v.transpose(2, 3)) - row) * dims.scale();
    const auto grouped = [&](const Tensor& grad) {
      return dims.ByToken(
          grad.reshape({dims.batch, dims.kv_heads, -1, dims.sequence, dims.head_size}).sum(2));
    };
    return {dims.ByToken(torch::matmul(grad_s, k)),
            grouped(torch::matmul(grad_s.transpose(2, 3), q)),
            grouped(torch::matmul(p.transpose(2, 3), grad_o)),
            Tensor(),
            Tensor(),
            Tensor(),
            Tensor()};
  }
};

class Reference {
 public:
  Reference(const ModelShape& shape, std::map<std::string, Tensor> weights, const TokenBatch& batch)
      : shape_(shape), weights_(std::move(weights)), batch_(batch) {}

  Tensor Loss(const std::vector<LayerPlan>& plans) const {
    Tensor x = weights_.at("model.embed_tokens.weight").index_select(0, batch_.ids_T);
    for (std::size_t layer = 0; layer < plans.size(); ++layer) {
      x = Block(x, "model.layers." + std::to_string(layer) + ".", plans[layer]);
    }
    const Tensor norm = Norm(x, weights_.at("model.norm.weight"), shape_.norm_epsilon);
    const Tensor logits = torch::matmul(norm, Head().t());
    return torch::nn::functional::cross_entropy(
        logits, batch_.targets_T,
        torch::nn::functional::CrossEntropyFuncOptions().ignore_index(-100).reduction(torch::kSum));
  }

 private:
  const Tensor& Head() const {
    return weights_.at(shape_.tied_head ? "model.embed_tokens.weight" : "lm_head.weight");
  }

  struct Qkv {
    Tensor q, k, v;
  };

  Qkv Project(const Tensor& x1, const std::string& prefix) const {
    const Tensor norm =
        Norm(x1, weights_.at(prefix + "input_layernorm.weight"), shape_.norm_epsilon);
    const auto product = [&](const char* name) {
      return torch::matmul(norm, weights_.at(prefix + "self_attn." + name + ".weight").t());
    };
    const auto rotated = [&](const Tensor& x) {
      return Rotate(x, batch_.positions_T, shape_.head_size, shape_.rope_theta);
    };
    return {rotated(product("q_proj")), rotated(product("k_proj")), product("v_proj")};
  }

  Tensor Attend(const Qkv& exact, const Qkv& at_copy, const LayerPlan& plan,
                const Tensor& output_weight) const {
    const Dims dims = {batch_.batch, batch_.sequence, shape_.num_heads, shape_.num_kv_heads,
                       shape_.head_size};
    const Tensor scores = torch::matmul(dims.ByHead(exact.q.detach()),
                                        dims.Expanded(exact.k.detach()).transpose(2, 3)) *
                              dims.scale() +
                          dims.Mask();
    const Tensor lse = scores.logsumexp(-1);
    const Tensor o =
        dims.ByToken(torch::matmul(scores.softmax(-1), dims.Expanded(exact.v.detach())));
    const auto copy = [&](const Tensor& value, const Tensor& made_again, Site site) {
      const SitePolicy& policy = plan.at(site);
      return policy.kind == PolicyKind::kRecompute ? made_again.detach()
                                                   : StoredCopy(value, policy);
    };
    const Tensor o_copy =
        plan.at(Site::kO).kind == PolicyKind::kRecompute ? o : StoredCopy(o, plan.at(Site::kO));
    const std::vector<Tensor> copies = {copy(exact.q, at_copy.q, Site::kQ),
                                        copy(exact.k, at_copy.k, Site::kK),
                                        copy(exact.v, at_copy.v, Site::kV), o_copy};
    const Tensor out = Attention::apply(exact.q, exact.k, exact.v, lse, copies, o, dims);
    return Exactly(torch::matmul(out, output_weight.t()),
                   torch::matmul(At(out, o_copy), output_weight.t()));
  }

  struct GateUp {
    Tensor gate, up;
  };

  GateUp Expand(const Tensor& x2, const std::string& prefix) const {
    const Tensor norm =
        Norm(x2, weights_.at(prefix + "post_attention_layernorm.weight"), shape_.norm_epsilon);
    return {torch::matmul(norm, weights_.at(prefix + "mlp.gate_proj.weight").t()),
            torch::matmul(norm, weights_.at(prefix + "mlp.up_proj.weight").t())};
  }

  Tensor Contract(const Tensor& gate, const Tensor& up, const std::string& prefix) const {
    return torch::matmul(torch::silu(gate) * up, weights_.at(prefix + "mlp.down_proj.weight").t());
  }

  Tensor Block(const Tensor& x1, const std::string& prefix, const LayerPlan& plan) const {
    const Qkv exact = Project(x1, prefix);
    const Qkv at_copy = Project(At(x1, StoredCopy(x1, plan.at(Site::kX1))), prefix);
    const Qkv qkv = {Exactly(exact.q, at_copy.q), Exactly(exact.k, at_copy.k),
                     Exactly(exact.v, at_copy.v)};
    const Tensor x2 =
        x1 + Attend(qkv, at_copy, plan, weights_.at(prefix + "self_attn.o_proj.weight"));

    const Tensor x2_copy = plan.at(Site::kX2).kind == PolicyKind::kRecompute
                               ? x2.detach()
                               : StoredCopy(x2, plan.at(Site::kX2));
    const GateUp inner_exact = Expand(x2, prefix);
    const GateUp inner_at_copy = Expand(At(x2, x2_copy), prefix);
    const auto inner = [&](const Tensor& value, const Tensor& made_again, Site site) {
      const Tensor through = Exactly(value, made_again);
      const Tensor copy = plan.at(site).kind == PolicyKind::kRecompute
                              ? made_again.detach()
                              : StoredCopy(value, plan.at(site));
      return std::pair(through, At(through, copy));
    };
    const auto [gate, gate_copy] = inner(inner_exact.gate, inner_at_copy.gate, Site::kGate);
    const auto [up, up_copy] = inner(inner_exact.up, inner_at_copy.up, Site::kUp);
    return x2 + Exactly(Contract(gate, up, prefix), Contract(gate_copy, up_copy, prefix));
  }

  const ModelShape& shape_;
  const std::map<std::string, Tensor> weights_;
  const TokenBatch& batch_;
};

}  // namespace

ReferenceResult RunReference(const ModelShape& shape, const std::map<std::string, Tensor>& weights,
                             const TokenBatch& batch, const std::vector<LayerPlan>& plans,
                             double scale) {
  std::map<std::string, Tensor> leaves;
  for (const auto& [name, weight] : weights) {
    leaves[name] = weight.detach().clone().requires_grad_(true);
  }
  const Tensor loss = Reference(shape, leaves, batch).Loss(plans);
  (loss * scale).backward();
  ReferenceResult result = {.loss_sum = loss.item<double>()};
  for (const auto& [name, leaf] : leaves) result.gradients[name] = leaf.grad();
  return result;
}

}  // namespace agoq
