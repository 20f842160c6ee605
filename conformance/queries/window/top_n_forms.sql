-- compare: exact
-- about: window top-N with an offset, over an aggregate, without both bounds, over other windows
CREATE TABLE sensors (
  sensor STRING, temp DOUBLE, seq INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'data/sensors.csv', 'format' = 'csv', 'csv.null-literal' = '');
SELECT seq, window_end FROM (SELECT seq, temp, sensor, window_start, window_end, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY temp DESC) AS rn
  FROM TABLE(TUMBLE(TABLE sensors, DESCRIPTOR(ts), INTERVAL '20' SECOND))) WHERE rn BETWEEN 2 AND 3;
SELECT seq, temp, window_start, rn FROM (SELECT seq, temp, window_start, window_end, ROW_NUMBER() OVER (PARTITION BY window_start ORDER BY temp DESC) AS rn
  FROM TABLE(TUMBLE(TABLE sensors, DESCRIPTOR(ts), INTERVAL '20' SECOND))) WHERE rn <= 2;
SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY s DESC) AS rn FROM (
  SELECT sensor, window_start, window_end, SUM(temp) AS s FROM TABLE(TUMBLE(TABLE sensors, DESCRIPTOR(ts), INTERVAL '20' SECOND)) GROUP BY sensor, window_start, window_end)) WHERE rn <= 2;
SELECT seq, temp, window_time FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY temp DESC) AS rn
  FROM TABLE(TUMBLE(TABLE sensors, DESCRIPTOR(ts), INTERVAL '20' SECOND))) WHERE rn <= 1;
SELECT seq, temp, window_start, rn FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY temp DESC) AS rn
  FROM TABLE(CUMULATE(TABLE sensors, DESCRIPTOR(ts), INTERVAL '10' SECOND, INTERVAL '20' SECOND)) WHERE seq > 3) WHERE rn <= 2 AND temp < 30;
SELECT seq, window_start FROM TABLE(TUMBLE(TABLE sensors, DESCRIPTOR(ts), INTERVAL '20' SECOND)) QUALIFY ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY temp) = 1;
