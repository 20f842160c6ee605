-- What users do, as JSON in Kafka, counted by hour and region into a topic that holds the newest count of
-- each: page views, and how many different users had any.

SET 'parallelism.default' = '2';

CREATE TABLE user_behavior (
  user_id BIGINT,
  item_id BIGINT,
  category_id BIGINT,
  behavior STRING,
  region STRING,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (
  'connector' = 'kafka',
  'topic' = 'user_behavior',
  'properties.bootstrap.servers' = 'localhost:9092',
  'properties.group.id' = 'user_behavior_counts',
  'scan.startup.mode' = 'earliest-offset',
  -- Without this line the job runs for ever.
  'scan.bounded.mode' = 'latest-offset',
  'format' = 'json'
);

CREATE TABLE region_stats (
  window_start TIMESTAMP(3),
  region STRING,
  pv BIGINT,
  uv BIGINT,
  PRIMARY KEY (window_start, region) NOT ENFORCED
) WITH (
  'connector' = 'upsert-kafka',
  'topic' = 'region_stats',
  'properties.bootstrap.servers' = 'localhost:9092',
  'scan.bounded.mode' = 'latest-offset',
  'key.format' = 'json',
  'value.format' = 'json',
  'sink.delivery-guarantee' = 'exactly-once',
  'sink.transactional-id-prefix' = 'region_stats'
);

INSERT INTO region_stats
SELECT window_start, region, COUNT(*) AS pv, COUNT(DISTINCT user_id) AS uv
FROM TABLE(TUMBLE(TABLE user_behavior, DESCRIPTOR(ts), INTERVAL '1' HOUR))
WHERE behavior = 'pv'
GROUP BY window_start, window_end, region;

SELECT * FROM region_stats;
