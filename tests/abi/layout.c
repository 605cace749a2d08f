/* layout.h as C11 sees it. */
#include "layout.h"
