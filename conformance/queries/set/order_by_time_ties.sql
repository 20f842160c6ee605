-- compare: exact
-- about: rows of the same time, late rows and NULL times in ORDER BY time
CREATE TABLE sensors (
  sensor STRING, temp DOUBLE, seq INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'filesystem', 'path' = 'data/sensors.csv', 'format' = 'csv', 'csv.null-literal' = '');
CREATE TABLE nulls (id INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = 'filesystem', 'path' = 'data/null_time.csv', 'format' = 'csv', 'csv.null-literal' = '');
SELECT seq, ts FROM sensors ORDER BY ts;
SELECT seq, sensor FROM sensors ORDER BY ts, sensor DESC, seq;
SELECT seq FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY sensor ORDER BY ts) AS rn FROM sensors) WHERE rn = 1;
SELECT seq FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY sensor ORDER BY ts DESC) AS rn FROM sensors) WHERE rn = 1;
