// The version of these headers, for programs that must choose at compile time.
#pragma once

#define HONE_VERSION_MAJOR 0
#define HONE_VERSION_MINOR 1
#define HONE_VERSION_PATCH 0

/// `hone --version` prints that of the loaded library; below 1.0, a minor version may change interfaces.
#ifndef HONE_VERSION
#define HONE_VERSION "0.1.0"
#endif
