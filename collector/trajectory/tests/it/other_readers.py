"""Reads a store with DuckDB and Polars, the way their users would, and checks what they see."""

import sys

import duckdb
import polars as pl

root = sys.argv[1]
connection = duckdb.connect()
tables = ["episodes", "calls", "messages", "scores", "tools"]
expected = {"episodes": 33, "calls": 90, "messages": 33, "scores": 33, "tools": 3}


def query(sql):
    return connection.execute(sql).fetchall()


def same(found, wanted, what):
    if found != wanted:
        sys.exit(f"{what}: found {found!r}, expected {wanted!r}")


for table in tables:
    path = f"{root}/{table}/*/*.parquet"
    duck = {row[0]: row[1] for row in query(f"describe select * from '{path}'")}
    same(query(f"select count(*) from '{path}'"), [(expected[table],)], f"duckdb rows of {table}")
    polars = pl.read_parquet(path)
    same(polars.height, expected[table], f"polars rows of {table}")
    lazy = pl.scan_parquet(f"{root}/{table}", hive_partitioning=True).collect()
    same(lazy.height, expected[table], f"polars rows of {table} as a folder")
    same(sorted(duck), sorted(polars.columns), f"columns of {table}")
    for name, kind in duck.items():
        if name in ("started_us", "ended_us", "first_seen_us", "last_seen_us"):
            same(kind, "TIMESTAMP WITH TIME ZONE", f"duckdb type of {table}.{name}")
            same(polars.schema[name], pl.Datetime("us", "UTC"), f"polars type of {table}.{name}")
        elif kind not in ("VARCHAR", "INTEGER", "BIGINT", "DOUBLE", "BOOLEAN"):
            sys.exit(f"duckdb type of {table}.{name}: {kind}")
    for name, kind in polars.schema.items():
        if kind.is_unsigned_integer() or kind == pl.Object or kind == pl.Binary:
            sys.exit(f"polars type of {table}.{name}: {kind}")

episodes, calls = f"'{root}/episodes/*/*.parquet'", f"'{root}/calls/*/*.parquet'"
joined = query(
    f"""select e.arm, count(*), sum(c.is_error::int), max((c.arguments::json->>'price')::int)
        from {episodes} e join {calls} c using (experiment, episode_id)
        where e.experiment = '2026' group by e.arm order by e.arm"""
)
same(joined, [("baseline", 15, 5, 10), ("candidate", 15, 5, 11)], "duckdb join")
same(query(f"select count(*) from {episodes} where price is null"), [(15,)], "duckdb nulls")
times = query(
    f"select distinct epoch_us(started_us) from {episodes} where episode_id = 'ep_007' and experiment = 'reference'"
)
same(times, [(1764547200000007,)], "duckdb times")

left = pl.scan_parquet(f"{root}/episodes/*/*.parquet").filter(pl.col("experiment") == "2026-11-30")
right = pl.scan_parquet(f"{root}/calls/*/*.parquet")
both = left.join(right, on=["experiment", "episode_id"], how="left").collect()
same(both.height, 31, "polars join")
same(both["result"].drop_nulls().unique().to_list(), ["na\u00efve \U0001f600\x1b[0m"], "polars texts")
same(both["attributes"].unique().to_list(), ['{"item":"lamp"}'], "polars JSON text")
print("all checks passed")
