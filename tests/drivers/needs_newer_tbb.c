/* Imitates a driver: links PoCL, and calls a function of the newer TBB. */
int function_of_a_newer_tbb(void);
int mokume_test_driver(void);
int mokume_test_driver(void) { return function_of_a_newer_tbb(); }
