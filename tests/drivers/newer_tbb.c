/* Imitates a release of TBB with a function that the system's release lacks. */
int function_of_a_newer_tbb(void);
int function_of_a_newer_tbb(void) { return 1; }
