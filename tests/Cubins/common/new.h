#define NEW_VALUE 1
