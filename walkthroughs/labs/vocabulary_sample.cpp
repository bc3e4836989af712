// Stands for a submission when the build is configured: submissions are compiled with the command
// of this file, and with the vocabulary that is precompiled for it. See kit.h.
#include "kernels/cuda.h"
