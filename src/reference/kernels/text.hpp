// The kernel of TfIdfVectorizer, a part of the signal family.
#pragma once

#include "reference/kernel.hpp"

namespace hone::reference {

void tf_idf_vectorizer(KernelContext& context);

}  // namespace hone::reference
