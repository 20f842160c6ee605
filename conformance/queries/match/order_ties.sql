-- compare: exact
-- about: further sort keys decide between rows of one time
CREATE TABLE mixed (
  id INT NOT NULL, p STRING, k STRING NOT NULL, v INT NOT NULL, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '3' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'data/mixed.csv', 'format' = 'csv', 'csv.null-literal' = '');
SELECT * FROM mixed MATCH_RECOGNIZE (ORDER BY ts, v DESC, id MEASURES A.id AS a, B.id AS b PATTERN (A B) DEFINE A AS A.v >= B.v OR TRUE);
SELECT * FROM mixed MATCH_RECOGNIZE (ORDER BY ts, id DESC MEASURES A.id AS a, B.id AS b, MATCH_ROWTIME() AS rt AFTER MATCH SKIP PAST LAST ROW PATTERN (A B) DEFINE A AS TRUE);
SELECT * FROM mixed MATCH_RECOGNIZE (ORDER BY ts, p, id MEASURES A.id AS a, B.id AS b, A.p AS ap AFTER MATCH SKIP PAST LAST ROW PATTERN (A B) DEFINE B AS TRUE);
SELECT * FROM mixed MATCH_RECOGNIZE (ORDER BY ts MEASURES A.id AS a, B.id AS b PATTERN (A B) DEFINE B AS B.v > A.v);
