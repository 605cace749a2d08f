/* A driver: PoCL, which it is linked with, and a function of the newer TBB beside it. */
int function_of_a_newer_tbb(void);
int mokume_test_driver(void);
int mokume_test_driver(void) { return function_of_a_newer_tbb(); }
