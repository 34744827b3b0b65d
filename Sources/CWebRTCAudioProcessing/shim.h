#pragma once
// Carries the include and library paths of the installed package to CWebRTCAudio; the C++ headers are not for Swift.
