// Defines the tiles of a program with its macro TILE: rows of one or two vectors. ONE_ZERO, ONE_STEP and ONE_SET, or
// TWO_ZERO and so on, clear, multiply and store the rows. Each definition has a line of its own, so that a sequence of
// kernels finds its name (see group/unit.cpp).
#if REGISTERS == 32
TILE(two_of_12, FOR_12, TWO_ZERO, TWO_STEP, TWO_SET)
TILE(two_of_8, FOR_8, TWO_ZERO, TWO_STEP, TWO_SET)
#else
TILE(two_of_6, FOR_6, TWO_ZERO, TWO_STEP, TWO_SET)
#endif
TILE(two_of_4, FOR_4, TWO_ZERO, TWO_STEP, TWO_SET)
TILE(one_of_12, FOR_12, ONE_ZERO, ONE_STEP, ONE_SET)
TILE(one_of_8, FOR_8, ONE_ZERO, ONE_STEP, ONE_SET)
TILE(one_of_4, FOR_4, ONE_ZERO, ONE_STEP, ONE_SET)
