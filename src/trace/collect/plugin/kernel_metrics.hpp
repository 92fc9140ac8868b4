// Measures each kernel that the process launches, if metrics are wanted.
#pragma once

#include <cupti.h>

#include <string>

namespace hone::trace::inject {

/// True if $HONE_TRACE_METRICS names metrics: nothing else of the GPU may be recorded then, since CUPTI
/// cannot do both at the same time.
bool are_metrics_wanted();
/// Call once, after CUPTI was loaded. Returns a description of the error, or an empty text.
std::string start_kernel_metrics();
/// Called at the begin and the end of each of launch_calls().
void on_launch(CUpti_CallbackId id, const CUpti_CallbackData& call);
/// Called before the context is destroyed.
void on_context_end(CUcontext context);
/// Reports the launches that were not measured.
void finish_kernel_metrics();

}  // namespace hone::trace::inject
