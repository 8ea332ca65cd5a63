/** The group of the tests that are run with the program as it is. */
export const control = "the program as it is";
