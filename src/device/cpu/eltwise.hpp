// Activations as functions of oneDNN's post-ops.
#pragma once

#include <dnnl.hpp>

#include <string>
#include <vector>

namespace hone::device::cpu {

/// A function of oneDNN with its parameters.
struct Eltwise {
  dnnl::algorithm kind;
  float alpha = 0;
  float beta = 0;
};

/// The functions that make an activation one after the other; empty when oneDNN has none.
std::vector<Eltwise> eltwise_functions(const std::string& post_op, float alpha, float beta);
/// Appends functions to post-ops that have those `inside` already. False, and nothing done, when there are
/// none or the primitive cannot take them together with the others.
bool append_functions(const std::vector<Eltwise>& functions, std::vector<Eltwise>& inside,
                      dnnl::post_ops& ops);

}  // namespace hone::device::cpu
