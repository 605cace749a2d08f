// Convolutions of one channel and their gradients in one program, which the compiler reads once.
#include "conv/direct_grad.cl"
#include "conv/flat.cl"
