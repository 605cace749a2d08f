// Combines convolutions of one channel and their gradients in one program, so that the compiler reads shared code once.
#include "conv/direct_grad.cl"
#include "conv/flat.cl"
