// See options.hpp.
#include "import/darknet/options.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "import/darknet/limits.hpp"

namespace hone::importer::darknet {
namespace {

/// Options for training or for memory allocation, which change no output.
constexpr std::string_view kOfTraining[] = {
    "B1",
    "B2",
    "absolute",
    "adam",
    "adversarial_lr",
    "angle",
    "aspect",
    "assisted_excitation",
    "attention",
    "augment_speed",
    "badlabels_rejection_percentage",
    "batch",
    "batches_per_cycle",
    "bias_match",
    "blur",
    "burn_in",
    "burnin_update",
    "class_scale",
    "cls_normalizer",
    "contrastive",
    "contrastive_color",
    "contrastive_jit_flip",
    "coord_scale",
    "counters_per_class",
    "cutmix",
    "decay",
    "delta_normalizer",
    "dets_for_show",
    "dets_for_track",
    "dont_update",
    "dot",
    "dropblock",
    "dropblock_size_abs",
    "dropblock_size_rel",
    "dynamic_minibatch",
    "ema_alpha",
    "embedding_layer",
    "eps",
    "equidistant_point",
    "exposure",
    "flip",
    "focal_loss",
    "forced",
    "gamma",
    "gaussian_noise",
    "grad_centr",
    "hue",
    "ignore_thresh",
    "iou_loss",
    "iou_normalizer",
    "iou_thresh",
    "iou_thresh_kind",
    "jitter",
    "label_smooth_eps",
    "learning_rate",
    "learning_rate_min",
    "learning_rate_scale",
    "log",
    "loss_scale",
    "mask_scale",
    "max",
    "max_batches",
    "max_chart_loss",
    "max_crop",
    "max_delta",
    "maxpool_zero_nonmax",
    "mean",
    "min_crop",
    "mixup",
    "momentum",
    "mosaic",
    "mosaic_bound",
    "noloss",
    "noobject_scale",
    "num_sigmas_reject_badlabels",
    "numload",
    "obj_normalizer",
    "object_scale",
    "objectness_smooth",
    "onlyforward",
    "optimized_memory",
    "policy",
    "power",
    "probability",
    "random",
    "ratio",
    "rescore",
    "resize",
    "resize_step",
    "saturation",
    "scale",
    "scales",
    "seq_scales",
    "sequential_subdivisions",
    "sgdr_cycle",
    "sgdr_mult",
    "shift",
    "show_details",
    "show_receptive_field",
    "sim_thresh",
    "smooth",
    "std",
    "step",
    "steps",
    "stopbackward",
    "stream",
    "subdivisions",
    "time_steps",
    "track",
    "track_ciou_norm",
    "track_history_size",
    "train_only_bn",
    "truth_thresh",
    "try_fix_nan",
    "type",
    "uc_normalizer",
    "unsupervised",
    "use_cuda_graph",
    "wait_stream",
    "weights_reject_freq",
    "workspace_size_limit_MB",
};

/// Errors name the option and its line.
template <class F>
auto of_option(const CfgOption& option, F&& parse) {
  try {
    return parse(*option.value);
  } catch (const Error& error) {
    throw error.within(fmt::format("line {}: {}", option.line, option.key.substr(0, 60)));
  }
}

const CfgOption* first_of(const Section& section, std::string_view key) {
  const auto found = std::ranges::find(section.options, key, &CfgOption::key);
  return found == section.options.end() ? nullptr : &*found;
}

}  // namespace

const std::string* Options::find(std::string_view key) {
  asked_.emplace(key);
  const CfgOption* option = first_of(section_, key);
  return option == nullptr || !option->value ? nullptr : &*option->value;
}

int Options::integer(std::string_view key, int otherwise) {
  if (find(key) == nullptr) return otherwise;
  return of_option(*first_of(section_, key), parse_int);
}

double Options::number(std::string_view key, double otherwise) {
  if (find(key) == nullptr) return otherwise;
  return of_option(*first_of(section_, key), parse_number);
}

std::string Options::text(std::string_view key, std::string_view otherwise) {
  const std::string* value = find(key);
  return value == nullptr ? std::string(otherwise) : *value;
}

template <class T>
std::optional<std::vector<T>> Options::list(std::string_view key, T (*parse)(std::string_view),
                                            Comments comments) {
  if (find(key) == nullptr) return std::nullopt;
  return of_option(*first_of(section_, key), [&](std::string_view text) {
    if (comments == Comments::kEnd) text = text.substr(0, text.find('#'));
    std::vector<T> result;
    for (size_t begin = 0; begin <= text.size();) {
      const size_t end = std::min(text.find(',', begin), text.size());
      if (result.size() == kMaxListItems) fail_bad_input("the list has more than {} numbers", kMaxListItems);
      result.push_back(parse(text.substr(begin, end - begin)));
      begin = end + 1;
    }
    return std::optional(std::move(result));
  });
}

std::optional<std::vector<int>> Options::integers(std::string_view key) {
  return list(key, parse_int, Comments::kBelong);
}

std::optional<std::vector<double>> Options::numbers(std::string_view key) {
  return list(key, parse_number, Comments::kBelong);
}

std::optional<std::vector<int>> Options::integers_before_comment(std::string_view key) {
  return list(key, parse_int, Comments::kEnd);
}

std::optional<std::vector<double>> Options::numbers_before_comment(std::string_view key) {
  return list(key, parse_number, Comments::kEnd);
}

void Options::warn_of_unknown(std::vector<std::string>* warnings) const {
  for (const CfgOption& option : section_.options) {
    if (asked_.contains(option.key) || std::ranges::find(kOfTraining, option.key) != std::end(kOfTraining))
      continue;
    warnings->push_back(fmt::format("line {}: [{}] has no option '{}', it is ignored", option.line,
                                    section_.type, option.key.substr(0, 60)));
  }
}

}  // namespace hone::importer::darknet
