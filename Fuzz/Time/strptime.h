#include <time.h>

// Declared there for those alone who ask for X/Open's functions.
char *strptime(const char *text, const char *form, struct tm *parts);
