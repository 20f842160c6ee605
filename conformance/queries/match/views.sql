-- compare: exact
-- about: in a view, a sub-query, over a window, and matched again
CREATE TABLE letters (
  id INT, k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts
) WITH ('connector' = 'filesystem', 'path' = 'data/letters.csv', 'format' = 'csv');
CREATE VIEW runs AS SELECT * FROM letters MATCH_RECOGNIZE (ORDER BY ts MEASURES FIRST(A.id) AS fa, LAST(A.id) AS la, FIRST(A.ts) AS t0, MATCH_ROWTIME() AS rt AFTER MATCH SKIP PAST LAST ROW PATTERN (A+ B) DEFINE A AS A.v > 2, B AS B.v <= 2);
SELECT fa, la FROM runs WHERE la > fa;
SELECT window_start, COUNT(*) AS n, SUM(la - fa) AS s FROM TABLE(TUMBLE(TABLE runs, DESCRIPTOR(rt), INTERVAL '10' SECOND)) GROUP BY window_start, window_end;
SELECT * FROM runs MATCH_RECOGNIZE (ORDER BY rt MEASURES A.fa AS a, B.fa AS b PATTERN (A B) DEFINE B AS B.la - B.fa >= A.la - A.fa);
SELECT * FROM (SELECT window_time, SUM(v) AS s FROM TABLE(TUMBLE(TABLE letters, DESCRIPTOR(ts), INTERVAL '3' SECOND)) GROUP BY window_start, window_end, window_time) MATCH_RECOGNIZE (ORDER BY window_time MEASURES A.s AS a, B.s AS b PATTERN (A B) DEFINE B AS B.s > A.s);
SELECT T.a, T.b FROM (SELECT id, v * 2 AS d, ts FROM letters WHERE v <> 5) MATCH_RECOGNIZE (ORDER BY ts MEASURES A.d AS a, B.d AS b PATTERN (A B) DEFINE B AS B.d > A.d) AS T;
SELECT L.id, T.b FROM letters AS L JOIN (SELECT * FROM letters MATCH_RECOGNIZE (ORDER BY ts MEASURES A.id AS a, B.id AS b PATTERN (A B) DEFINE B AS B.v > A.v + 5)) AS T ON L.id = T.a;
