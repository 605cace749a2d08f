// Defines the arguments of strict.cl for the host and the kernel.
#pragma once

#include "common/args.h"

BEGIN_ARGS

typedef struct {
  i64 count;
} StrictArgs;
ARGS(StrictArgs)

END_ARGS
