-- compare: exact
-- about: the first and the last row of each window by event time
CREATE TABLE sensors (
  sensor STRING, temp DOUBLE, seq INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'data/sensors.csv', 'format' = 'csv', 'csv.null-literal' = '');
SELECT seq, window_end FROM (SELECT seq, temp, sensor, window_start, window_end, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY ts DESC) AS rn
  FROM TABLE(TUMBLE(TABLE sensors, DESCRIPTOR(ts), INTERVAL '20' SECOND))) WHERE rn = 1;
SELECT * FROM (SELECT seq, temp, sensor, window_start, window_end, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY ts) AS rn
  FROM TABLE(TUMBLE(TABLE sensors, DESCRIPTOR(ts), INTERVAL '20' SECOND))) WHERE rn = 1;
SELECT seq, ts, window_time FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY ts DESC) AS rn
  FROM TABLE(HOP(TABLE sensors, DESCRIPTOR(ts), INTERVAL '10' SECOND, INTERVAL '20' SECOND))) WHERE rn = 1;
