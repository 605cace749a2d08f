/* The C11 view of layout.h. */
#include "layout.h"
