-- compare: exact
-- about: STDDEV and VAR of integers and decimals over frames: cut and rounded at every step
CREATE TABLE ticks (
  symbol STRING, ts TIMESTAMP(3), price INT, volume BIGINT, WATERMARK FOR ts AS ts
) WITH ('connector' = 'filesystem', 'path' = 'data/ticks.csv', 'format' = 'csv');
SELECT symbol, ts, STDDEV_POP(price) OVER w AS sp, STDDEV_SAMP(price) OVER w AS ss, VAR_POP(price) OVER w AS vp, VAR_SAMP(price) OVER w AS vs FROM ticks
WINDOW w AS (PARTITION BY symbol ORDER BY ts);
SELECT symbol, ts, STDDEV_POP(volume) OVER w AS sp, STDDEV_SAMP(volume) OVER w AS ss, VAR_POP(volume) OVER w AS vp, VAR_SAMP(volume) OVER w AS vs FROM ticks
WINDOW w AS (PARTITION BY symbol ORDER BY ts ROWS BETWEEN 3 PRECEDING AND CURRENT ROW);
SELECT symbol, ts, STDDEV_POP(CAST(price AS DECIMAL(10, 2)) / 3) OVER w AS sp, STDDEV_SAMP(CAST(price AS DECIMAL(10, 2)) / 3) OVER w AS ss, VAR_POP(CAST(price AS DECIMAL(10, 2)) / 3) OVER w AS vp, VAR_SAMP(CAST(price AS DECIMAL(10, 2)) / 3) OVER w AS vs FROM ticks
WINDOW w AS (PARTITION BY symbol ORDER BY ts);
SELECT symbol, ts, STDDEV_POP(CAST(price AS DECIMAL(6, 2))) OVER w AS sp, VAR_SAMP(CAST(price AS DECIMAL(6, 2))) OVER w AS vs FROM ticks
WINDOW w AS (PARTITION BY symbol ORDER BY ts ROWS BETWEEN 2 PRECEDING AND CURRENT ROW);
SELECT symbol, ts, STDDEV_POP(CASE WHEN price > 45 THEN price END) OVER w AS sp, VAR_SAMP(CASE WHEN price > 45 THEN price END) OVER w AS vs FROM ticks
WINDOW w AS (PARTITION BY symbol ORDER BY ts);
