/* Stands for a release of TBB that has a function which the one of the system lacks. */
int function_of_a_newer_tbb(void);
int function_of_a_newer_tbb(void) { return 1; }
