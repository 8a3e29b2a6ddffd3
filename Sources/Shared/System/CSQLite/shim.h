#pragma once
#include <sqlite3.h>
// SQLITE_TRANSIENT is a cast macro, which Swift does not import.
static inline int sq_bind_text(sqlite3_stmt *s, int i, const char *t, int n) {
  return sqlite3_bind_text(s, i, t, n, SQLITE_TRANSIENT);
}
static inline int sq_bind_blob(sqlite3_stmt *s, int i, const void *b, int n) {
  return sqlite3_bind_blob(s, i, b, n, SQLITE_TRANSIENT);
}
