-- compare: exact
-- about: types of measures over NOT NULL columns
CREATE TABLE mixed (
  id INT NOT NULL, p STRING, k STRING NOT NULL, v INT NOT NULL, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '3' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'data/mixed.csv', 'format' = 'csv', 'csv.null-literal' = '');
SELECT * FROM mixed MATCH_RECOGNIZE (ORDER BY ts MEASURES A.v AS a, A.v + C.v AS ac, SUM(A.v) AS s, MIN(A.v) AS mi, AVG(A.v) AS av, A.k AS k, UPPER(A.k) AS uk, k AS anyk, COUNT(*) AS n AFTER MATCH SKIP PAST LAST ROW PATTERN (A C) DEFINE A AS A.v > 4, C AS C.v <= 4);
SELECT * FROM mixed MATCH_RECOGNIZE (ORDER BY ts MEASURES COUNT(B.v) AS cb, SUM(B.v) AS sb, MAX(B.k) AS kb AFTER MATCH SKIP PAST LAST ROW PATTERN (A B? C) DEFINE A AS A.v > 4, B AS B.v > 6, C AS C.v <= 4);
