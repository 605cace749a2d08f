// Convolutions of one channel and their gradients in a single program, so that the compiler reads the shared code once.
#include "conv/direct_grad.cl"
#include "conv/flat.cl"
