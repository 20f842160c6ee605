-- compare: exact
-- about: a match waits for one that began earlier; what it says of its time
CREATE TABLE letters (
  id INT, k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts
) WITH ('connector' = 'filesystem', 'path' = 'data/letters.csv', 'format' = 'csv');
SELECT * FROM letters MATCH_RECOGNIZE (ORDER BY ts MEASURES FIRST(A.id) AS fa, B.id AS b, C.id AS c, MATCH_ROWTIME() AS rt, MATCH_ROWTIME(ts) AS rt2 AFTER MATCH SKIP PAST LAST ROW PATTERN (A B*? C) DEFINE A AS A.v <= 6, C AS C.v = 9);
SELECT * FROM letters MATCH_RECOGNIZE (ORDER BY ts MEASURES FIRST(A.id) AS fa, LAST(B.id) AS b, C.id AS c, MATCH_ROWTIME() AS rt PATTERN (A B*? C) WITHIN INTERVAL '5' SECOND DEFINE A AS A.v <= 6, B AS B.id < 100, C AS C.id = A.id + 2);
SELECT * FROM letters MATCH_RECOGNIZE (ORDER BY ts MEASURES FIRST(A.id) AS fa, LAST(B.id) AS b, C.id AS c, MATCH_ROWTIME() AS rt AFTER MATCH SKIP PAST LAST ROW PATTERN (A B*? C) WITHIN INTERVAL '7' SECOND DEFINE C AS MOD(A.id, 3) = 1 AND C.id = A.id + 2);
SELECT * FROM (SELECT * FROM letters MATCH_RECOGNIZE (ORDER BY ts MEASURES FIRST(A.id) AS fa, LAST(B.id) AS b, C.id AS c, MATCH_ROWTIME() AS rt PATTERN (A B*? C) WITHIN INTERVAL '7' SECOND DEFINE C AS MOD(A.id, 3) = 1 AND C.id = A.id + 2)) WHERE fa < 31;
SELECT * FROM letters MATCH_RECOGNIZE (ORDER BY ts MEASURES FIRST(A.id) AS fa, LAST(B.id) AS b, C.id AS c PATTERN (A B*? C) WITHIN INTERVAL '60' SECOND DEFINE C AS MOD(A.id, 3) = 1 AND C.id = A.id + 2);
SELECT * FROM letters MATCH_RECOGNIZE (ORDER BY ts MEASURES FIRST(A.id) AS fa, LAST(B.id) AS b, C.id AS c PATTERN (A B*? C) DEFINE C AS MOD(A.id, 3) = 1 AND C.id = A.id + 2);
