-- compare: final
-- about: window top-N and deduplication by window and key, sessions
CREATE TABLE sensors (
  sensor STRING, temp DOUBLE, seq INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'data/sensors.csv', 'format' = 'csv', 'csv.null-literal' = '');
SELECT * FROM (SELECT seq, temp, sensor, window_start, window_end, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, sensor ORDER BY temp DESC) AS rn
  FROM TABLE(TUMBLE(TABLE sensors, DESCRIPTOR(ts), INTERVAL '20' SECOND))) WHERE rn <= 2;
SELECT seq, temp, window_start, rn FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, sensor ORDER BY temp DESC) AS rn
  FROM TABLE(SESSION(TABLE sensors PARTITION BY sensor, DESCRIPTOR(ts), INTERVAL '5' SECOND))) WHERE rn <= 2;
SELECT seq, sensor, window_end FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, sensor ORDER BY ts DESC) AS rn
  FROM TABLE(TUMBLE(TABLE sensors, DESCRIPTOR(ts), INTERVAL '20' SECOND))) WHERE rn = 1;
SELECT sensor, COUNT(*) AS n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY temp DESC) AS rn
  FROM TABLE(TUMBLE(TABLE sensors, DESCRIPTOR(ts), INTERVAL '20' SECOND))) WHERE rn <= 2 GROUP BY sensor;
