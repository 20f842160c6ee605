-- compare: final
-- about: STDDEV, VAR and AVG of integers and decimals over the rows of a match
CREATE TABLE ticks (
  symbol STRING, ts TIMESTAMP(3), price INT, volume BIGINT, WATERMARK FOR ts AS ts
) WITH ('connector' = 'filesystem', 'path' = 'data/ticks.csv', 'format' = 'csv');
SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts
  MEASURES STDDEV_POP(A.price) AS sp, STDDEV_SAMP(A.price) AS ss, VAR_POP(A.price) AS vp, VAR_SAMP(A.price) AS vs, AVG(A.price) AS av
  AFTER MATCH SKIP TO NEXT ROW PATTERN (A+ B) DEFINE A AS COUNT(A.price) < 5) AS m;
SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts
  MEASURES STDDEV_POP(A.volume) AS sp, STDDEV_SAMP(A.volume) AS ss, VAR_POP(CAST(A.price AS DECIMAL(12, 8)) / 7) AS vp, VAR_SAMP(CAST(A.price AS DECIMAL(12, 8)) / 7) AS vs, STDDEV_POP(CAST(A.price AS DECIMAL(10, 2)) / 3) AS sd
  AFTER MATCH SKIP TO NEXT ROW PATTERN (A+ B) DEFINE A AS COUNT(A.price) < 5) AS m;
