/* Compiles the checks of layout.h as C11. */
#include "layout.h"
