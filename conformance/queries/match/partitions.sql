-- compare: final
-- about: partitions, NULL among them
CREATE TABLE mixed (
  id INT NOT NULL, p STRING, k STRING NOT NULL, v INT NOT NULL, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '3' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'data/mixed.csv', 'format' = 'csv', 'csv.null-literal' = '');
SELECT * FROM mixed MATCH_RECOGNIZE (PARTITION BY p ORDER BY ts MEASURES FIRST(A.id) AS fa, LAST(A.id) AS la, B.id AS b AFTER MATCH SKIP PAST LAST ROW PATTERN (A+ B) DEFINE A AS A.v < 5, B AS B.v >= 5);
SELECT * FROM mixed MATCH_RECOGNIZE (PARTITION BY p, k ORDER BY ts MEASURES FIRST(A.id) AS fa, LAST(A.id) AS la, B.id AS b PATTERN (A+? B) DEFINE A AS A.v < 7, B AS B.v >= 4);
SELECT * FROM mixed MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES FIRST(A.id) AS fa, B.id AS b PATTERN (A+? B) WITHIN INTERVAL '5' SECOND DEFINE A AS A.v < 7, B AS B.v >= 4);
SELECT p, COUNT(*) AS n, SUM(b) AS s FROM mixed MATCH_RECOGNIZE (PARTITION BY p ORDER BY ts MEASURES B.id AS b AFTER MATCH SKIP PAST LAST ROW PATTERN (A+ B) DEFINE A AS A.v < 5, B AS B.v >= 5) GROUP BY p;
