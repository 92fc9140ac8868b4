// Measures each kernel that the process launches, when metrics are wanted.
#pragma once

#include <cupti.h>

#include <string>

namespace hone::trace::inject {

/// $HONE_TRACE_METRICS names metrics: then nothing else of the GPU may be recorded, since CUPTI does not do
/// both at a time.
bool are_metrics_wanted();
/// Call once, after CUPTI was loaded. Returns what is wrong, or an empty text.
std::string start_kernel_metrics();
/// Called at both sides of each of launch_calls().
void on_launch(CUpti_CallbackId id, const CUpti_CallbackData& call);
/// Called before the context goes.
void on_context_end(CUcontext context);
/// Says what was not measured.
void finish_kernel_metrics();

}  // namespace hone::trace::inject
