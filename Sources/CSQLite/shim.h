/* SQLite: the database behind the SQLiteStore target. */
#include <sqlite3.h>

/* SQLITE_TRANSIENT is a cast that Swift does not import: SQLite copies the octets. */
static inline int peripheral_emu_bind_blob(
    sqlite3_stmt *statement, int index, const void *octets, int count)
{
    return sqlite3_bind_blob(statement, index, octets, count, SQLITE_TRANSIENT);
}

static inline int peripheral_emu_bind_text(sqlite3_stmt *statement, int index, const char *text)
{
    return sqlite3_bind_text(statement, index, text, -1, SQLITE_TRANSIENT);
}
